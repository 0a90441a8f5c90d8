//! The device on which a product runs, and what is known of a GPU and of the kernels of a product. Plain data.

pub mod counts;
pub mod facts;
mod stage;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::interned::interned;
pub use stage::Stage;

const MODEL: &str = "model:";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    #[default]
    Cpu,
    Gpu,
    /// A GPU whose times are modelled. The text is its full name, such as `model:h200`.
    Model(&'static str),
}

impl Device {
    /// Returns the modelled GPU with this name, which is given without `model:`.
    pub fn model(name: &str) -> Self {
        Self::Model(interned(format!("{MODEL}{name}")))
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Model(name) => name,
        }
    }

    pub fn label(self) -> String {
        match self {
            Self::Cpu => "CPU".into(),
            Self::Gpu => "GPU".into(),
            Self::Model(name) => format!("{}, modelled", &name[MODEL.len()..]),
        }
    }

    /// Returns the name of a modelled GPU without `model:`, or `None` for other devices.
    pub fn model_name(self) -> Option<&'static str> {
        let Self::Model(name) = self else { return None };
        Some(&name[MODEL.len()..])
    }

    /// Returns whether the times of this device are modelled, not measured.
    pub fn is_modelled(self) -> bool {
        matches!(self, Self::Model(_))
    }
}

impl Serialize for Device {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Device {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match (text.as_str(), text.strip_prefix(MODEL)) {
            ("cpu", _) => Ok(Self::Cpu),
            ("gpu", _) => Ok(Self::Gpu),
            (_, Some(name)) if !name.is_empty() => Ok(Self::model(name)),
            _ => {
                Err(serde::de::Error::custom(format!("unknown device `{text}`, expected `cpu`, `gpu` or `model:NAME`")))
            }
        }
    }
}
