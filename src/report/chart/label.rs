//! Formats the numbers along an axis.

/// Splits a positive number into the largest power of ten that is not greater, and a factor from 1 to 10.
pub fn decade(number: f64) -> (f64, f64) {
    let power = 10f64.powi((number.log10() + 1e-9).floor() as i32);
    (power, number / power)
}

/// Formats a number with the digits that a step size requires: `0.5`, `20k`, `1.5M`, `2×10⁻⁵`.
pub fn label(number: f64, step: f64) -> String {
    let size = number.abs() * (1.0 + 1e-9);
    if size <= step / 1e3 {
        return "0".into();
    }
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1e-4, "")];
    match units.into_iter().find(|unit| size >= unit.0) {
        Some((_, "")) => fixed(number, step),
        Some((unit, letter)) if size < 1e12 => fixed(number / unit, step / unit) + letter,
        _ => power(number, step),
    }
}

/// Formats a number as a multiple of a power of ten.
pub fn power(number: f64, step: f64) -> String {
    let (power, times) = decade(number.abs());
    let times = fixed(times.copysign(number), step / power);
    let exponent = power.log10().round() as i32;
    let raised = match exponent {
        0 => return times,
        1 => "10".to_owned(),
        _ => format!("10{}", superscript(exponent)),
    };
    match &times[..] {
        "1" => raised,
        "-1" => format!("-{raised}"),
        _ => format!("{times}×{raised}"),
    }
}

/// Formats a number with the digits that a step size requires, without trailing zeros.
fn fixed(number: f64, step: f64) -> String {
    let digits = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn superscript(number: i32) -> String {
    let raised = |digit: char| match digit.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    number.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_need() {
        for (number, step, expected) in [
            (0.0, 0.0, "0"),
            (1e-17, 0.1, "0"),
            (0.1 + 0.2, 0.1, "0.3"),
            (-2.5, 0.5, "-2.5"),
            (1000.0, 100.0, "1k"),
            (1500.0, 100.0, "1.5k"),
            (2e6, 1e6, "2M"),
            (1.2e9, 1e8, "1.2G"),
            (1e-4, 1e-4, "0.0001"),
            (2e-5, 1e-5, "2×10⁻⁵"),
            (-1e15, 1e15, "-10¹⁵"),
        ] {
            assert_eq!(label(number, step), expected);
        }
    }
}
