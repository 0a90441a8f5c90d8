//! Lines that look as they should, read eight bytes at a time. Whatever is unusual is declined
//! and left to `entry`, which decides.

const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// `ROW COL` or `ROW COL VALUE` at the start of `text`, and the length of the line with its end.
/// Indices are as in the file; the value is finite.
#[inline(always)]
pub fn coordinate<const PATTERN: bool>(text: &[u8]) -> Option<(u64, u64, f64, usize)> {
    let mut at = 0;
    skip_blanks(text, &mut at);
    let row = index(text, &mut at)?;
    skip_blanks(text, &mut at);
    let col = index(text, &mut at)?;
    let value = match PATTERN {
        true => 1.0,
        false => {
            // Or `2.5` would pass for column 2 and value .5.
            text.get(at).filter(|byte| matches!(byte, b' ' | b'\t'))?;
            skip_blanks(text, &mut at);
            number(text, &mut at)?
        }
    };
    line_end(text, &mut at)?;
    Some((row, col, value, at))
}

/// `VALUE` at the start of `text`, and the length of the line with its end.
pub fn element(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = 0;
    skip_blanks(text, &mut at);
    let value = number(text, &mut at)?;
    line_end(text, &mut at)?;
    Some((value, at))
}

#[inline(always)]
fn skip_blanks(text: &[u8], at: &mut usize) {
    while let Some(b' ' | b'\t') = text.get(*at) {
        *at += 1;
    }
}

#[inline(always)]
fn line_end(text: &[u8], at: &mut usize) -> Option<()> {
    while let Some(b' ' | b'\t' | b'\r') = text.get(*at) {
        *at += 1;
    }
    let end = *text.get(*at)? == b'\n';
    *at += 1;
    end.then_some(())
}

/// A number of one to eight digits, or more of them one by one.
#[inline(always)]
fn index(text: &[u8], at: &mut usize) -> Option<u64> {
    let (word, digits) = leading_digits(text, *at)?;
    if digits == 0 {
        return None;
    }
    *at += digits;
    let value = eight_digits(word << (64 - 8 * digits));
    match digits {
        8 => further_digits(text, at, value),
        _ => Some(value),
    }
}

/// The eight bytes at `at` with '0' taken off, and how many of them are digits up to the first
/// that is not. None too near to the end of the text.
#[inline(always)]
fn leading_digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.get(at..)?.first_chunk()?) ^ ZEROS;
    // Bytes up to 9 stay below 16 when 6 is added; a carry out of the first other byte only
    // reaches bytes behind it.
    let others = (word | word.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
    Some((word, others.trailing_zeros() as usize / 8))
}

/// The number whose digits are the bytes of `word`, the first in the lowest byte.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

#[cold]
fn further_digits(text: &[u8], at: &mut usize, mut value: u64) -> Option<u64> {
    while let Some(digit @ b'0'..=b'9') = text.get(*at) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        *at += 1;
    }
    Some(value)
}

/// The value at `at`; correctly rounded.
#[inline(always)]
fn number(text: &[u8], at: &mut usize) -> Option<f64> {
    if let Some((value, length)) = decimal(text, *at) {
        *at = length;
        return Some(value);
    }
    let (value, length) = fast_float2::parse_partial::<f64, _>(&text[*at..]).ok()?;
    *at += length;
    value.is_finite().then_some(value)
}

/// A number of at most 19 digits and a moderate exponent, and where it ends.
#[inline(always)]
fn decimal(text: &[u8], mut at: usize) -> Option<(f64, usize)> {
    let negative = *text.get(at)? == b'-';
    at += usize::from(negative);
    let (start, mut digits) = (at, 0);
    few_digits(text, &mut at, &mut digits)?;
    let mut count = at - start;
    let mut exponent = 0;
    if *text.get(at)? == b'.' {
        at += 1;
        let point = at;
        many_digits(text, &mut at, &mut digits)?;
        exponent = -((at - point) as i64);
        count += at - point;
    }
    if let b'e' | b'E' = *text.get(at)? {
        exponent += power_of_ten(text, &mut at)?;
    }
    // More digits overflow.
    let value = if (1..=19).contains(&count) { scaled(digits, exponent)? } else { return None };
    Some((if negative { -value } else { value }, at))
}

/// Appends the few digits at `at` to `value`, no matter if more than fit.
#[inline(always)]
fn few_digits(text: &[u8], at: &mut usize, value: &mut u64) -> Option<()> {
    while let digit @ 0..=9 = text.get(*at)?.wrapping_sub(b'0') {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        *at += 1;
    }
    Some(())
}

/// The same for many digits.
#[inline(always)]
fn many_digits(text: &[u8], at: &mut usize, value: &mut u64) -> Option<()> {
    const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    loop {
        let (word, digits) = leading_digits(text, *at)?;
        if digits < 8 {
            let last = eight_digits((word << 8) << (56 - 8 * digits));
            *value = value.wrapping_mul(POWERS[digits]).wrapping_add(last);
            *at += digits;
            return Some(());
        }
        *value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(word));
        *at += 8;
    }
}

/// The exponent whose letter is at `at`, if it is short.
#[inline(always)]
fn power_of_ten(text: &[u8], at: &mut usize) -> Option<i64> {
    let sign = *text.get(*at + 1)?;
    *at += 1 + usize::from(matches!(sign, b'+' | b'-'));
    let (start, mut power) = (*at, 0);
    few_digits(text, at, &mut power)?;
    let power = (1..=3).contains(&(*at - start)).then_some(power as i64)?;
    Some(if sign == b'-' { -power } else { power })
}

/// `digits` times ten to the power `exponent`, where that is within reach of exact arithmetic.
#[inline(always)]
fn scaled(digits: u64, exponent: i64) -> Option<f64> {
    const EXACT: u64 = 1 << 53;
    match exponent {
        0 => Some(digits as f64),
        // Both operands are exact, so that the one operation rounds correctly.
        -22..=-1 if digits <= EXACT => Some(digits as f64 / POWERS[-exponent as usize]),
        1..=22 if digits <= EXACT => Some(digits as f64 * POWERS[exponent as usize]),
        -27..=-1 if digits > 0 => Some(quotient(digits, -exponent as u32)),
        _ => None,
    }
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// `digits` (not 0) divided by ten to the power `power` (1 to 27, as 5^27 < 2^64).
#[inline(always)]
fn quotient(digits: u64, power: u32) -> f64 {
    let Five { divisor, up, reciprocal } = FIVES[power as usize];
    let digits_up = digits.leading_zeros();
    let digits = digits << digits_up;
    // 2^63 `digits` / `divisor`, or up to 2 less. It has at least 62 bits, 53 of which are kept.
    let estimate = ((u128::from(digits) * u128::from(reciprocal)) >> 64) as u64;
    let quotient = match estimate % 512 {
        // The exact quotient lies between the same multiples of 512 and is rounded alike.
        1..=509 => estimate,
        _ => exact_quotient(digits, divisor),
    };
    let exponent = 1023 - 63 + i64::from(up) - i64::from(digits_up) - i64::from(power);
    quotient as f64 * f64::from_bits((exponent as u64) << 52)
}

/// 2^63 `digits` / `divisor`, both with the highest bit set. The lowest bit also stands for all
/// that follow, so that whoever rounds it to fewer bits does as if they were there.
#[cold]
fn exact_quotient(digits: u64, divisor: u64) -> u64 {
    let (dividend, divisor) = (u128::from(digits) << 63, u128::from(divisor));
    (dividend / divisor) as u64 | u64::from(dividend % divisor != 0)
}

/// A power of five, shifted `up` until its highest bit is set, and 2^127 divided by that.
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

    fn value(text: &str) -> Option<u64> {
        let line = format!("{text}\n        ");
        let (value, length) = element(line.as_bytes())?;
        assert_eq!(length, text.len() + 1);
        Some(value.to_bits())
    }

    fn standard(text: &str) -> Option<u64> {
        text.parse().ok().map(f64::to_bits)
    }

    #[test]
    fn values_at_the_edges_are_rounded_as_the_standard_library_does() {
        for text in [
            "0.",
            ".5",
            "-0",
            "-0.0e-5",
            "0.000000000000000000",
            "0e22",
            "0e-27",
            "9007199254740993",
            "9007199254740993e-1",
            "9007199254740992e22",
            "9007199254740993e22",
            "1e23",
            "1e-23",
            "1e-27",
            "1e-28",
            "18446744073709551615e-27",
            "18446744073709551616",
            "9999999999999999999e-27",
            "9999999999999999999",
            "0.9007199254740993",
            "900719925474099.3e+1",
            "123456789012345678901234567890",
            "2.2250738585072014e-308",
            "4.9e-324",
            "1.7976931348623157e308",
            "8.5e0000",
            "1e-0005",
            "0.30000000000000004",
            "00000000000000000000000000001",
            "+5",
            "+.5e+0",
        ] {
            assert_eq!(value(text), standard(text), "{text}");
        }
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "--1", "1.2.3", "1e5.5", "nan", "-inf", "1e999", "0x1",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn indices_of_any_length() {
        for number in (0..19).map(|power| 10u64.pow(power)).flat_map(|n| [n - 1, n, 9 * n]) {
            let line = format!("{number} {number}\n        ");
            assert_eq!(
                coordinate::<true>(line.as_bytes()),
                Some((number, number, 1.0, line.len() - 8))
            );
        }
        for line in ["", "1", "1 ", "1 2", "1 2 3\n", "a 1\n", "1 2x\n", "1:2\n", "1/2\n", "-1 2\n"]
        {
            assert_eq!(
                coordinate::<true>(format!("{line}\n        ").as_bytes())
                    .filter(|_| line != "1 2"),
                None,
                "{line}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn decimals_are_rounded_as_the_standard_library_does(
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

        /// Halfway between two neighbours, and the least bit beside it.
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
