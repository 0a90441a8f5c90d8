//! What is known about a column, and the macro that makes the row, its schema and its documentation from one table.

use std::fmt;

use super::status::Status;
use crate::settings::{CacheState, Values};
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// The facts about a column. Rows, schemas, documents, reports and the judgement of claims use the same facts.
#[derive(Clone, Copy, Debug)]
pub struct ColumnInfo {
    pub name: &'static str,
    pub meaning: &'static str,
    pub kind: Kind,
    pub min: Option<u32>,
    pub max: Option<u32>,
    /// How conditions and reports use the column.
    pub role: Role,
    /// The reason why models do not provide the number, if they do not.
    pub not_modelled: Option<&'static str>,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, which every row has.
    Name,
    Text,
    Pattern(&'static str),
    Words(&'static [&'static str]),
    Boolean,
    /// An integer that is not negative.
    Count,
    /// A finite number, possibly a fraction.
    Number,
    /// A number or infinity, which is written as `inf`.
    NumberOrInfinity,
}

/// How conditions and reports use a column. Numbers have the label of their axis, with the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Unused,
    Word,
    Linear(&'static str),
    Log(&'static str),
    /// The time of a product, on a logarithmic axis.
    Time(&'static str),
    /// A rate, on a linear axis: it is inversely proportional to the time of a product, and a greater one is better.
    Rate(&'static str),
    /// A number on a linear axis of which a greater one is better.
    Efficiency(&'static str),
}

impl Role {
    /// Returns the label of the axis; `None` if the column is not used as a number.
    pub const fn label(self) -> Option<&'static str> {
        match self {
            Self::Unused | Self::Word => None,
            Self::Linear(label) | Self::Log(label) | Self::Time(label) => Some(label),
            Self::Rate(label) | Self::Efficiency(label) => Some(label),
        }
    }
}

/// How the values of several processes become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// That of the process whose setup is in the row, or it follows from other columns of the joined row.
    Typical,
    Median,
    GeometricMean,
    /// The mean over all products.
    Mean,
    Least,
    Largest,
    Sum,
    /// What any of them saw, each once.
    Union,
    /// They must be equal; if they are not, the row says so.
    Same,
}

/// What a setup that is spread over a number of products does to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// The share of the setup is added.
    Add,
    /// A rate is lower by as much as the mean time is longer.
    Scale,
    /// The number is not known with a setup.
    Clear,
    Keep,
}

/// The reason why models do not provide numbers of setups.
pub const SETUP: &str = "setups: it leaves out the host's work and the copies to the GPU";

impl ColumnInfo {
    /// Creates the facts of a column of type `T`, with no negative numbers.
    pub const fn of<T: ColumnType>(name: &'static str, meaning: &'static str, role: Role) -> Self {
        let is_number = matches!(T::KIND, Kind::Count | Kind::Number);
        Self {
            name,
            meaning: meaning.trim_ascii_start(),
            kind: T::KIND,
            min: if is_number { Some(0) } else { None },
            max: None,
            role,
            not_modelled: None,
        }
    }

    /// Lets the compiler check that rules which compute are those of a column of numbers.
    pub const fn with_rules(self, join: Join, spread: Spread) -> Self {
        let is_number = matches!(self.kind, Kind::Count | Kind::Number);
        let computes = !matches!(join, Join::Typical | Join::Union | Join::Same)
            || !matches!(spread, Spread::Keep | Spread::Clear);
        assert!(is_number || !computes, "only numbers are computed with");
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A number; integers are converted.
    Number(f64),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl<'a> Value<'a> {
    pub fn text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn number(self) -> Option<f64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

pub trait ColumnType: Clone + Default {
    const KIND: Kind;

    fn value(&self) -> Option<Value<'_>>;

    /// Returns the value that is this number; `None` if the column has no numbers.
    fn of_number(_: f64) -> Option<Self> {
        None
    }

    /// Returns what any of the values has, for columns that are joined so.
    fn union(all: &[&Self]) -> Self {
        all.first().copied().cloned().unwrap_or_default()
    }
}

impl ColumnType for String {
    const KIND: Kind = Kind::Name;

    fn value(&self) -> Option<Value<'_>> {
        (!self.is_empty()).then_some(Value::Text(self))
    }
}

/// Implements [`ColumnType`] for optional values, with the expression for a known one, and for a number its type.
macro_rules! column_types {
    ($($type:ty, $kind:expr, |$known:ident| $value:expr $(, $number:ident)?;)*) => {$(
        impl ColumnType for Option<$type> {
            const KIND: Kind = $kind;

            fn value(&self) -> Option<Value<'_>> {
                let $known = self.as_ref()?;
                Some($value)
            }

            $(fn of_number(number: f64) -> Option<Self> {
                Some(Some(number as $number))
            })?
        }
    )*};
}

column_types! {
    String, Kind::Text, |text| Value::Text(text);
    bool, Kind::Boolean, |is_true| Value::Text(if *is_true { "true" } else { "false" });
    u32, Kind::Count, |count| Value::Number(f64::from(*count)), u32;
    u64, Kind::Count, |count| Value::Number(*count as f64), u64;
    usize, Kind::Count, |count| Value::Number(*count as f64), usize;
    f64, Kind::Number, |number| Value::Number(*number), f64;
    Device, Kind::Pattern("^(cpu|gpu|model:.+)$"), |device| Value::Text(device.name());
    Order,
        Kind::Pattern("^(natural|rcm|band-(k|3|volta|ampere)|(inverse-)?file:.+)$"),
        |order| Value::Text(order.name());
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
    Values { Stored, Random, Ones }
}

/// Defines the struct of a row by its columns: meaning, attributes of serde, name, type, role, and other facts.
macro_rules! columns {
    (
        $(#[$outer:meta])*
        pub struct $row:ident {$(
            $(#[doc = $doc:literal])+
            $(#[serde(rename = $name:literal)])?
            $(#[serde(with = $with:literal)])?
            $field:ident: $type:ty = $role:expr, $join:ident, $spread:ident $(, $fact:ident: $value:expr)*;
        )*}
    ) => {
        $(#[$outer])*
        pub struct $row {$(
            $(#[doc = $doc])+
            $(#[serde(rename = $name)])?
            $(#[serde(with = $with)])?
            pub $field: $type,
        )*}

        impl $row {
            pub const COLUMNS: &[ColumnInfo] = &[$({
                let name = $crate::row::column::name_of!($field $($name)?);
                let info = ColumnInfo::of::<$type>(name, concat!($($doc),+), $role);
                let info = info.with_rules(Join::$join, Spread::$spread);
                ColumnInfo { $($fact: $value,)* ..info }
            }),*];

            /// Joins rows column by column.
            pub(super) fn join(rows: &[&Self], joining: &mut Joining) -> Self {
                Self {$(
                    $field: {
                        let values: Vec<_> = rows.iter().map(|row| &row.$field).collect();
                        let name = $crate::row::column::name_of!($field $($name)?);
                        joining.join(name, Join::$join, &values)
                    },
                )*}
            }

            /// Spreads a setup over products: see [`spread`].
            pub(super) fn spread(self, share: Option<f64>, slower: Option<f64>) -> Self {
                Self {$($field: spread(Spread::$spread, self.$field, share, slower),)*}
            }

            pub fn value(&self, column: &str) -> Option<Value<'_>> {
                Self::reader(column)?(self)
            }

            /// Returns what reads the column of that name.
            pub fn reader(column: &str) -> Option<fn(&Self) -> Option<Value<'_>>> {
                match column {
                    $($crate::row::column::name_of!($field $($name)?) => Some(|row| row.$field.value()),)*
                    _ => None,
                }
            }
        }
    };
}

/// Returns the name of a column: that of the field, unless it is renamed.
macro_rules! name_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

pub(super) use {columns, name_of};
