//! Serialises numbers that may be infinite. JSON has no infinity: it would become null, which means unknown. Therefore
//! infinity is the text `inf` in every format, as usual in CSV files.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number or a word; CSV, JSON and the messages between processes distinguish them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(String),
}

pub fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(f64::INFINITY) => to.serialize_str("inf"),
        number => number.serialize(to),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    match Option::<Written>::deserialize(from)? {
        None => Ok(None),
        Some(Written::Number(number)) => Ok(Some(number)),
        Some(Written::Word(word)) if ["inf", "never"].contains(&&word[..]) => Ok(Some(f64::INFINITY)),
        Some(Written::Word(word)) => Err(D::Error::custom(format!("'{word}' is not a number, and not inf or never"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::files::cells::{of_csv, to_csv};
    use crate::row::Row;

    #[test]
    fn infinity_is_preserved_in_every_format() {
        let numbers = [None, Some(2.5), Some(7.0), Some(f64::INFINITY)];
        let rows = numbers.map(|break_even| Row { break_even, ..Row::default() });
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
        assert!(error.contains("'soon' is not a number, and not inf or never"), "{error}");
    }
}
