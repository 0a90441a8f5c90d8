//! The values of columns, and the types that the fields of rows have.

use super::Kind;
use crate::bench::plan::{CacheState, Values};
use crate::record::row::Status;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;

/// The value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A number; integers are converted.
    Number(f64),
}

impl<'a> Value<'a> {
    /// Returns the text; `None` for a number.
    pub fn text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number; `None` for a text.
    pub fn number(self) -> Option<f64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

/// A type that the fields of rows have.
pub trait ColumnType {
    /// The type of the column.
    const KIND: Kind;

    /// Returns the value, or `None` if it is unknown.
    fn value(&self) -> Option<Value<'_>>;
}

impl ColumnType for String {
    const KIND: Kind = Kind::Name;

    fn value(&self) -> Option<Value<'_>> {
        (!self.is_empty()).then_some(Value::Text(self))
    }
}

/// Implements [`ColumnType`] for optional values, with the expression for a known one.
macro_rules! column_types {
    ($($type:ty, $kind:expr, |$known:ident| $value:expr;)*) => {$(
        impl ColumnType for Option<$type> {
            const KIND: Kind = $kind;

            fn value(&self) -> Option<Value<'_>> {
                let $known = self.as_ref()?;
                Some($value)
            }
        }
    )*};
}

column_types! {
    String, Kind::Text, |text| Value::Text(text);
    bool, Kind::Boolean, |is_true| Value::Text(if *is_true { "true" } else { "false" });
    u32, Kind::Count, |count| Value::Number(f64::from(*count));
    u64, Kind::Count, |count| Value::Number(*count as f64);
    usize, Kind::Count, |count| Value::Number(*count as f64);
    f64, Kind::Number, |number| Value::Number(*number);
    Device, Kind::Pattern("^(cpu|gpu|model:.+)$"), |device| Value::Text(device.name());
}

/// Implements [`ColumnType`] for the enums whose variants are the words of a column.
macro_rules! words {
    ($($type:ident { $($variant:ident),* })*) => {
        column_types! {$(
            $type, Kind::Words(&[$($type::$variant.name()),*]), |word| match word {
                $($type::$variant)|* => Value::Text(word.name()),
            };
        )*}
    };
}

words! {
    Precision { F64, F32 }
    Status { Ok, Skipped, Wrong, Failed, Timeout }
    CacheState { Hot, Cold }
    Order { Natural, Rcm, BandK }
    Values { Stored, Random, Ones }
}
