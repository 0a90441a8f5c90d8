//! What is known about a setting, and the macro that makes the settings and these facts from one list.

/// What follows if two runs differ in a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The runs computed different products.
    Product,
    /// Times may differ for this reason.
    Times,
    /// The runs may have different rows, or rows that differ in a column.
    Rows,
    /// The runs are of different builds of this program.
    Build,
    /// The runs were on different machines.
    Machine,
    /// Nothing: run records do not contain the fact.
    Unrecorded,
}

/// A fact of a run that affects its rows or times.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    pub name: &'static str,
    /// The JSON pointer to the fact in the run record.
    pub place: &'static str,
    /// The option that sets the fact.
    pub option: Option<&'static str>,
    pub effect: Effect,
}

impl Fact {
    /// Creates a fact that no option sets.
    pub const fn new(name: &'static str, place: &'static str, effect: Effect) -> Self {
        Self { name, place, option: None, effect }
    }

    pub const fn set_by(self, option: &'static str) -> Self {
        Self { option: Some(option), ..self }
    }
}

/// A setting: its fact, and what the schema of run records says of it.
#[derive(Clone, Copy, Debug)]
pub struct SettingInfo {
    pub fact: Fact,
    pub meaning: &'static str,
    /// The type of the field, as in the source.
    pub kind: &'static str,
    /// The smallest value of a whole number.
    pub least: u32,
}

/// Defines the struct of settings by its fields: meaning with the unit, attributes of serde, name, type, the usual
/// value, the effect of a difference, the option, and the least value of a whole number if it is not 0.
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $settings:ident {$(
            $(#[doc = $doc:literal])+
            $(#[serde($($serde:tt)+)])?
            $field:ident: $type:ty = $usual:expr, $effect:ident $(, $option:literal)? $(, from $least:literal)?;
        )*}
    ) => {
        $(#[$outer])*
        pub struct $settings {$(
            $(#[doc = $doc])+
            $(#[serde($($serde)+)])?
            pub $field: $type,
        )*}

        impl $settings {
            pub const INFO: &[SettingInfo] = &[$(SettingInfo {
                fact: Fact::new(
                    stringify!($field),
                    concat!("/settings/", stringify!($field)),
                    Effect::$effect,
                )$(.set_by($option))?,
                meaning: concat!($($doc),+).trim_ascii_start(),
                kind: stringify!($type),
                least: 0 $(+ $least)?,
            }),*];

            fn usual() -> Self {
                Self {$($field: $usual,)*}
            }
        }
    };
}

pub(super) use settings;
