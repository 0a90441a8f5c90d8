//! Rows for scripts: one line of `key=value` pairs each, which a regular expression can parse. Every line has all keys
//! in the same order; an unknown value is empty.

use std::borrow::Cow;

use crate::row::Row;
use crate::row::column::Value;

const COLUMNS: &str = "file method_name precision device threads cache order status median_ms min_ms ci95_low_ms \
                       ci95_high_ms setup_ms gflops reason";

/// Returns the line of a row, with a line feed. The rate is computed from the median.
pub fn line(row: &Row) -> String {
    let row = Row { gflops: row.typical_gflops(), ..row.clone() };
    let pairs = COLUMNS.split(' ').map(|column| {
        let key = match column {
            "file" => "matrix",
            "method_name" => "method",
            _ => column,
        };
        let value = match row.value(column) {
            Some(Value::Text(text)) => guarded(text),
            Some(Value::Number(number)) if number.is_finite() => number.to_string().into(),
            _ => "".into(),
        };
        format!("{key}={value}")
    });
    pairs.collect::<Vec<_>>().join(" ") + "\n"
}

/// Returns the text, in quotes with escapes if it contains a blank, `=`, or a character that must be escaped.
fn guarded(text: &str) -> Cow<'_, str> {
    let quoted = format!("{text:?}");
    let is_plain = quoted.len() == text.len() + 2 && !text.contains([' ', '=']);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(quoted) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Status;

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
