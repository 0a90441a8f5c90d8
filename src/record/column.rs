//! What is known about a column, and the macro that makes the row, its schema and its documentation from one table.

mod value;

pub use value::{ColumnType, Value};

/// The facts about a column. Rows, JSON Schema, documents, reports and the judgement of claims use the same facts.
#[derive(Clone, Copy, Debug)]
pub struct ColumnInfo {
    /// The name in files, conditions and experiments.
    pub name: &'static str,
    /// The meaning, as Markdown.
    pub meaning: &'static str,
    /// The type of the values.
    pub kind: Kind,
    /// The smallest possible number.
    pub min: Option<u32>,
    /// The largest possible number.
    pub max: Option<u32>,
    /// Whether conditions can compare the column with a word.
    pub is_word: bool,
    /// The axis of the numbers; `None` if reports cannot use the column as a number.
    pub axis: Option<Axis>,
    /// What the numbers measure.
    pub measure: Measure,
    /// Why the column cannot be judged by modelled rows, if it cannot.
    pub not_modelled: Option<&'static str>,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, which every row has.
    Name,
    /// Any text.
    Text,
    /// A text that matches a regular expression.
    Pattern(&'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Whether something is true.
    Boolean,
    /// An integer.
    Count,
    /// A number.
    Number,
    /// A number or infinity, which is written as `inf`.
    NumberOrInfinity,
}

/// The axis that shows the numbers of a column.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The label, with the unit.
    pub label: &'static str,
    /// Whether the axis is logarithmic.
    pub is_log: bool,
}

/// What the numbers of a column measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The time of a product.
    Time,
    /// A rate: it is inversely proportional to the time of a product, and a greater one is better.
    Rate,
    /// The use of a resource, of which more is better.
    Efficiency,
    /// Anything else.
    Other,
}

/// The reason why models do not judge setups.
pub const SETUP: &str = "setups: it leaves out the host's work and the copies to the GPU";

/// These functions return the column with one fact changed; the table of columns lists them in brackets.
impl ColumnInfo {
    /// Creates the facts of a column of type `T` that reports do not use, with no negative numbers.
    pub const fn of<T: ColumnType>(name: &'static str, meaning: &'static str) -> Self {
        let meaning = meaning.trim_ascii_start();
        let is_number = matches!(T::KIND, Kind::Count | Kind::Number);
        Self {
            name,
            meaning,
            kind: T::KIND,
            min: if is_number { Some(0) } else { None },
            max: None,
            is_word: false,
            axis: None,
            measure: Measure::Other,
            not_modelled: None,
        }
    }

    /// Words that conditions can compare.
    pub const fn word(self) -> Self {
        Self { is_word: true, ..self }
    }

    /// Words that conditions can compare, each one of these.
    pub const fn one_of(self, words: &'static [&'static str]) -> Self {
        Self { kind: Kind::Words(words), ..self.word() }
    }

    /// Numbers on a linear axis.
    pub const fn linear(self, label: &'static str) -> Self {
        Self { axis: Some(Axis { label, is_log: false }), ..self }
    }

    /// Numbers on a logarithmic axis.
    pub const fn log(self, label: &'static str) -> Self {
        Self { axis: Some(Axis { label, is_log: true }), ..self }
    }

    /// Times of a product, on a logarithmic axis.
    pub const fn time(self, label: &'static str) -> Self {
        Self { measure: Measure::Time, ..self.log(label) }
    }

    /// Rates, on a linear axis.
    pub const fn rate(self, label: &'static str) -> Self {
        Self { measure: Measure::Rate, ..self.linear(label) }
    }

    /// Numbers of which greater ones are better, on a linear axis.
    pub const fn efficiency(self, label: &'static str) -> Self {
        Self { measure: Measure::Efficiency, ..self.linear(label) }
    }

    /// Numbers that may be negative.
    pub const fn signed(self) -> Self {
        Self { min: None, ..self }
    }

    /// Numbers up to a limit.
    pub const fn at_most(self, max: u32) -> Self {
        Self { max: Some(max), ..self }
    }

    /// Numbers that may be infinite.
    pub const fn or_infinity(self) -> Self {
        Self { kind: Kind::NumberOrInfinity, ..self }
    }

    /// Numbers that a modelled GPU does not provide, for this reason.
    pub const fn not_modelled(self, reason: &'static str) -> Self {
        Self { not_modelled: Some(reason), ..self }
    }
}

/// Defines the struct of a row by its columns. A column consists of its meaning as doc comment, its name, its type, and
/// the functions of [`ColumnInfo`] that describe it further. The attributes are those of serde.
macro_rules! columns {
    (
        $(#[$outer:meta])*
        pub struct $row:ident {$(
            $(#[doc = $doc:literal])+
            $(#[serde(rename = $name:literal)])?
            $(#[serde(with = $with:literal)])?
            $field:ident: $type:ty [$($fact:ident($($argument:expr),*)),*],
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
            /// The facts about all columns, in the order of the file.
            pub const COLUMNS: &[ColumnInfo] = &[$(
                ColumnInfo::of::<$type>(
                    $crate::record::column::name_of!($field $($name)?), concat!($($doc),+)
                )$(.$fact($($argument),*))*
            ),*];

            /// Returns the value in the column of that name, or `None` if it is unknown or there is no such column.
            pub fn value(&self, column: &str) -> Option<Value<'_>> {
                match column {
                    $($crate::record::column::name_of!($field $($name)?) => self.$field.value(),)*
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
