//! What is known about a column, and the macro that makes the row, its schema and its documentation from one table.

mod value;

pub use value::{ColumnType, Value};

/// The facts about a column. Rows, schemas, documents, reports and the judgement of claims use the same facts.
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
    /// A text without restrictions.
    Text,
    /// A text that matches a regular expression.
    Pattern(&'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Whether something is true.
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
    /// They do not use it.
    Unused,
    /// A word, which conditions compare.
    Word,
    /// A number on a linear axis.
    Linear(&'static str),
    /// A number on a logarithmic axis.
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
}

/// Defines the struct of a row by its columns. A column consists of its meaning as a doc comment, its name, its type,
/// its role, and the fields of [`ColumnInfo`] that do not follow from these. The attributes are those of serde.
macro_rules! columns {
    (
        $(#[$outer:meta])*
        pub struct $row:ident {$(
            $(#[doc = $doc:literal])+
            $(#[serde(rename = $name:literal)])?
            $(#[serde(with = $with:literal)])?
            $field:ident: $type:ty = $role:expr $(, $fact:ident: $value:expr)*;
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
            pub const COLUMNS: &[ColumnInfo] = &[$({
                let name = $crate::record::column::name_of!($field $($name)?);
                ColumnInfo { $($fact: $value,)* ..ColumnInfo::of::<$type>(name, concat!($($doc),+), $role) }
            }),*];

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
