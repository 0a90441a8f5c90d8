//! The conversion of decimal numbers to the nearest `f64`. A fast path handles the numbers of most files;
//! `fast_float2` handles all others. Both round correctly.

use super::scan::{Window, eight_digits};

/// Parses the number at `at` and rounds it correctly. Returns `None` if it is invalid or not finite.
#[inline(always)]
pub fn number(text: Window, at: &mut usize) -> Option<f64> {
    if let Some((value, end)) = decimal(text, *at) {
        *at = end;
        return Some(value);
    }
    let (value, length) = fast_float2::parse_partial::<f64, _>(text.rest(*at)).ok()?;
    *at += length;
    value.is_finite().then_some(value)
}

/// Parses a number of at most 19 digits with a moderate exponent. Returns its value and its end.
#[inline(always)]
fn decimal(text: Window, mut at: usize) -> Option<(f64, usize)> {
    let negative = text.byte(at) == b'-';
    at += usize::from(negative);
    let (start, mut digits) = (at, 0);
    few_digits(text, &mut at, &mut digits);
    let mut count = at - start;
    let mut exponent = 0;
    if text.byte(at) == b'.' {
        at += 1;
        let point = at;
        many_digits(text, &mut at, &mut digits);
        exponent = -((at - point) as i64);
        count += at - point;
    }
    if let b'e' | b'E' = text.byte(at) {
        exponent += power_of_ten(text, &mut at)?;
    }
    // With more digits, `digits` overflows.
    let value = if (1..=19).contains(&count) { scaled(digits, exponent)? } else { return None };
    Some((if negative { -value } else { value }, at))
}

/// Appends the digits at `at` to `value`, one by one. The value wraps around if there are too many.
#[inline(always)]
fn few_digits(text: Window, at: &mut usize, value: &mut u64) {
    text.skip(at, |byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        digit < 10
    });
}

/// Appends the digits at `at` to `value`, eight at a time, which is faster if there are many digits.
#[inline(always)]
fn many_digits(text: Window, at: &mut usize, value: &mut u64) {
    const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    for _ in 0..2 {
        let (word, digits) = text.leading_digits(*at);
        if digits < 8 {
            let last = eight_digits((word << 8) << (56 - 8 * digits));
            *value = value.wrapping_mul(POWERS[digits]).wrapping_add(last);
            *at += digits;
            return;
        }
        *value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(word));
        *at += 8;
    }
    few_digits(text, at, value);
}

/// Parses the exponent whose letter is at `at`. Returns `None` if it does not have one to three digits.
#[inline(always)]
fn power_of_ten(text: Window, at: &mut usize) -> Option<i64> {
    let sign = text.byte(*at + 1);
    *at += 1 + usize::from(matches!(sign, b'+' | b'-'));
    let (start, mut power) = (*at, 0);
    few_digits(text, at, &mut power);
    let power = (1..=3).contains(&(*at - start)).then_some(power as i64)?;
    Some(if sign == b'-' { -power } else { power })
}

/// Returns `digits` · 10^`exponent`, correctly rounded, or `None` if the exponent is outside the fast path.
#[inline(always)]
pub fn scaled(digits: u64, exponent: i64) -> Option<f64> {
    const EXACT: u64 = 1 << 53;
    // Between 2^32 and 2^53, a floating-point division would also round correctly. But with a limit of 2^53,
    // values with 16 digits would take this branch at random, and it would be mispredicted.
    const SHORT: u64 = 1 << 32;
    match exponent {
        0 => Some(digits as f64),
        // Both operands are exact, so the single operation rounds correctly.
        -22..=-1 if digits < SHORT => Some(digits as f64 / POWERS[-exponent as usize]),
        1..=22 if digits <= EXACT => Some(digits as f64 * POWERS[exponent as usize]),
        -27..=-1 if digits > 0 => Some(quotient(digits, -exponent as u32)),
        _ => None,
    }
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Returns `digits` / 10^`power`, correctly rounded. `digits` must not be 0, and `power` must be from 1 to 27
/// (5^27 < 2^64).
#[inline(always)]
fn quotient(digits: u64, power: u32) -> f64 {
    let Five { divisor, up, reciprocal } = FIVES[power as usize];
    let digits_up = digits.leading_zeros();
    let digits = digits << digits_up;
    // 2^63 · `digits` / `divisor`, or up to 2 less. It has at least 62 bits, of which 53 remain.
    let estimate = ((u128::from(digits) * u128::from(reciprocal)) >> 64) as u64;
    let quotient = match estimate % 512 {
        // The exact quotient lies between the same multiples of 512 and is rounded to the same value.
        1..=509 => estimate,
        _ => exact_quotient(digits, divisor, estimate),
    };
    let exponent = 1023 - 62 + i64::from(up) - i64::from(digits_up) - i64::from(power);
    // Half of it, with the sticky bit, fits in a signed number, which one instruction converts.
    let half = (quotient >> 1 | quotient & 1) as i64;
    half as f64 * f64::from_bits((exponent as u64) << 52)
}

/// Returns 2^63 · `digits` / `divisor`, given an estimate that is not greater. The lowest bit is also set if the
/// division leaves a remainder (a sticky bit), so that rounding to fewer bits is correct.
fn exact_quotient(digits: u64, divisor: u64, estimate: u64) -> u64 {
    let (divisor, mut quotient) = (u128::from(divisor), estimate);
    let mut rest = (u128::from(digits) << 63) - u128::from(estimate) * divisor;
    while rest >= divisor {
        rest -= divisor;
        quotient += 1;
    }
    quotient | u64::from(rest > 0)
}

/// A power of five shifted left by `up` bits so that its highest bit is set (`divisor`), and 2^127 / `divisor`.
#[derive(Clone, Copy)]
struct Five {
    divisor: u64,
    up: u32,
    reciprocal: u64,
}

const FIVES: [Five; 28] = {
    let mut fives = [Five { divisor: 0, up: 0, reciprocal: 0 }; 28];
    let (mut power, mut five) = (1, 1u64);
    while power < fives.len() {
        five *= 5;
        let up = five.leading_zeros();
        let divisor = five << up;
        let reciprocal = ((1 << 127) / divisor as u128) as u64;
        fives[power] = Five { divisor, up, reciprocal };
        power += 1;
    }
    fives
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::market::scan::element;

    fn value(text: &str) -> Option<u64> {
        let line = format!("{text}\n");
        let (value, length) = element(Window::new(line.as_bytes(), &mut Window::room()))?;
        assert_eq!(length, text.len() + 1);
        Some(value.to_bits())
    }

    fn standard(text: &str) -> Option<u64> {
        text.parse().ok().map(f64::to_bits)
    }

    #[test]
    fn edge_cases_are_rounded_as_in_the_standard_library() {
        let texts = "0. .5 -0 -0.0e-5 0.000000000000000000 0e22 0e-27 9007199254740993 9007199254740993e-1 \
            9007199254740992e22 9007199254740993e22 1e23 1e-23 1e-27 1e-28 18446744073709551615e-27 \
            18446744073709551616 9999999999999999999e-27 9999999999999999999 0.9007199254740993 \
            900719925474099.3e+1 123456789012345678901234567890 2.2250738585072014e-308 4.9e-324 \
            1.7976931348623157e308 8.5e0000 1e-0005 0.30000000000000004 00000000000000000000000000001 \
            +5 +.5e+0";
        for text in texts.split_whitespace() {
            assert_eq!(value(text), standard(text), "{text}");
        }
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "--1", "1.2.3", "1e5.5", "nan", "-inf", "1e999", "0x1",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn decimals_are_rounded_as_in_the_standard_library(
            digits in any::<u64>(),
            drop in 0..64u32,
            point in 0..20usize,
            exponent in -40..40i32,
            style in 0..4,
        ) {
            let mut text = (digits >> drop).to_string();
            if style > 0 {
                text.insert(point.min(text.len()), '.');
            }
            if style > 1 {
                text += &format!("E{exponent}");
            }
            prop_assert_eq!(value(&text), standard(&text), "{}", text);
        }

        /// Tests values halfway between two floating-point numbers and the nearest decimals on both sides.
        #[test]
        fn halfway_cases_round_to_even(
            odd in (1..1u64 << 53).prop_map(|m| (1 << 53 | m) | 1),
            power in 0..=4u32,
            beside in -1..=1i64,
        ) {
            if let Some(digits) = odd.checked_mul(5u64.pow(power)) {
                let text = format!("{}e-{power}", digits.wrapping_add_signed(beside));
                prop_assert_eq!(value(&text), standard(&text), "{}", text);
            }
        }
    }
}
