//! The fast conversion of decimal numbers to the nearest `f64`, for the numbers of most files.
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
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
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

    /// Asserts that a number is rounded as in the standard library, unless it is outside the fast path.
    fn check(digits: u64, exponent: i64) {
        let text = format!("{digits}e{exponent}");
        if let Some(value) = scaled(digits, exponent) {
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn edge_cases_are_rounded_as_in_the_standard_library() {
        let powers = [0, 1 << 32, 1 << 53, 10_000_000_000_000_000_000, u64::MAX - 1];
        for digits in powers.into_iter().flat_map(|power| power.saturating_sub(1)..=power + 1) {
            (-40..40).for_each(|exponent| check(digits, exponent));
        }
        assert!(scaled(u64::MAX, -27).is_some() && scaled(1 << 53, 22).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn decimals_are_rounded_as_in_the_standard_library(digits: u64, drop in 0..64u32, exponent in -30..25i64) {
            check(digits >> drop, exponent);
        }

        /// Tests values halfway between two floating-point numbers and the nearest decimals on both sides.
        #[test]
        fn halfway_cases_round_to_even(
            odd in (1..1u64 << 53).prop_map(|m| (1 << 53 | m) | 1),
            power in 0..=4u32,
            beside in -1..=1i64,
        ) {
            if let Some(digits) = odd.checked_mul(5u64.pow(power)) {
                check(digits.wrapping_add_signed(beside), -i64::from(power));
            }
        }
    }
}
