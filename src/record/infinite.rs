//! Numbers of rows that may be infinite. JSON has no infinity and would have null, which means unknown. So infinity
//! is the text `inf` in every form. In a CSV file that is the usual word for the number.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What may stand for a number. CSV, JSON and the messages between processes all tell which of them it is.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(String),
}

/// For `#[serde(with)]`.
///
/// # Errors
/// When the output does not take it.
pub fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    let written = |number: f64| match number == f64::INFINITY {
        true => Written::Word("inf".into()),
        false => Written::Number(number),
    };
    number.map(written).serialize(to)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// When there is something else than a number, `inf` or `never`.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(match Option::<Written>::deserialize(from)? {
        None => None,
        Some(Written::Number(number)) => Some(number),
        Some(Written::Word(word)) if ["inf", "never"].contains(&&word[..]) => Some(f64::INFINITY),
        Some(Written::Word(word)) => {
            return Err(D::Error::custom(format!(
                "'{word}' is no number, and neither inf nor never"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::cells::{of_csv, to_csv};
    use super::super::row::Row;

    const NUMBERS: [Option<f64>; 4] = [None, Some(2.5), Some(7.0), Some(f64::INFINITY)];

    #[test]
    fn infinity_is_kept_in_every_form() {
        let rows = NUMBERS.map(|break_even| Row { break_even, ..Row::default() });
        let csv = to_csv(&rows, true).unwrap();
        assert_eq!(of_csv::<Row>(&csv[..]).unwrap(), rows);
        let json = serde_json::to_string(&rows).unwrap();
        assert!(json.contains(r#""break_even":"inf""#), "{json}");
        assert_eq!(serde_json::from_str::<[Row; 4]>(&json).unwrap(), rows);
        let mut cbor = Vec::new();
        ciborium::into_writer(&rows, &mut cbor).unwrap();
        assert_eq!(ciborium::from_reader::<[Row; 4], _>(&cbor[..]).unwrap(), rows);
    }

    #[test]
    fn other_words_are_refused() {
        let read = |word| of_csv::<Row>(format!("file,run_id,break_even\na,r,{word}\n").as_bytes());
        assert_eq!(read("never").unwrap()[0].break_even, Some(f64::INFINITY));
        let error = read("soon").unwrap_err().to_string();
        assert!(error.contains("'soon' is no number, and neither inf nor never"), "{error}");
    }
}
