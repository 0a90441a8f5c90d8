//! Rows for scripts: one line of `key=value` pairs each, which a regular expression can parse. Every line has all keys
//! in the same order; an unknown value is empty.

use std::borrow::Cow;

use super::row::{Row, Status};
use crate::bench::plan::CacheState;
use crate::matrix::order::Order;
use crate::method::Device;
use crate::scalar::Precision;

/// Returns the line of a row, with a line feed. The rate is computed from the median.
pub fn line(row: &Row) -> String {
    let number = |value: Option<f64>| value.filter(|v| v.is_finite()).map(|v| v.to_string());
    let text = |value: Option<&str>| value.map(|text| guarded(text).into_owned());
    let pairs = [
        ("matrix", text(Some(&row.file))),
        ("method", text(row.method_name.as_deref())),
        ("precision", text(row.precision.map(Precision::name))),
        ("device", text(row.device.map(Device::name))),
        ("threads", row.threads.map(|threads| threads.to_string())),
        ("cache", text(row.cache.map(CacheState::name))),
        ("order", text(row.order.map(Order::name))),
        ("status", text(row.status.map(Status::name))),
        ("median_ms", number(row.median_ms)),
        ("min_ms", number(row.min_ms)),
        ("ci95_low_ms", number(row.ci95_low_ms)),
        ("ci95_high_ms", number(row.ci95_high_ms)),
        ("setup_ms", number(row.setup_ms)),
        ("gflops", number(row.typical_gflops())),
        ("reason", text(row.reason.as_deref())),
    ];
    let pairs = pairs.map(|(key, value)| format!("{key}={}", value.unwrap_or_default()));
    pairs.join(" ") + "\n"
}

/// Returns the text unchanged, or in quotes with escapes if it contains a blank, `=`, or a character that must be
/// escaped: quotes, backslashes, line ends and other control characters.
fn guarded(text: &str) -> Cow<'_, str> {
    let quoted = format!("{text:?}");
    let is_plain = quoted.len() == text.len() + 2 && !text.contains([' ', '=']);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(quoted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_empty_and_numbers_have_no_exponent() {
        let row = Row {
            file: "a.mtx".into(),
            method_name: Some("seq".into()),
            status: Some(Status::Ok),
            threads: Some(2),
            avg_spmv_ms: Some(0.00003),
            median_ms: Some(0.00002),
            ci95_low_ms: Some(f64::NAN),
            gflops: Some(3.0),
            ..Row::default()
        };
        assert_eq!(
            line(&row),
            "matrix=a.mtx method=seq precision= device= threads=2 cache= order= status=ok median_ms=0.00002 \
             min_ms= ci95_low_ms= ci95_high_ms= setup_ms= gflops=4.5 reason=\n"
        );
    }

    #[test]
    fn no_value_can_end_its_line_or_imitate_another_key() {
        for (text, shown) in [
            ("größe,1.mtx", "größe,1.mtx"),
            ("", ""),
            ("a b", "\"a b\""),
            ("gen:grid2d,n=3", "\"gen:grid2d,n=3\""),
            ("a\"b", r#""a\"b""#),
            ("a\\b", r#""a\\b""#),
            ("a\nstatus=ok", r#""a\nstatus=ok""#),
            ("\t\u{1b}[2J\u{202e}\u{2028}\u{a0}", r#""\t\u{1b}[2J\u{202e}\u{2028}\u{a0}""#),
        ] {
            assert_eq!(guarded(text), shown);
        }
    }
}
