//! Where a method runs.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How the names of modelled GPUs begin.
const MODEL: &str = "model:";

/// Where a method runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// The host's cores.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// A graphics processor whose times are modelled, as in `model:h200`.
    Model(&'static str),
}

impl Device {
    /// The modelled GPU of that name, without `model:`.
    pub fn model(name: &str) -> Self {
        Self::Model(kept(format!("{MODEL}{name}")))
    }

    /// As in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Model(name) => name,
        }
    }

    /// In headings.
    pub fn label(self) -> String {
        match self {
            Self::Cpu => "CPU".into(),
            Self::Gpu => "GPU".into(),
            Self::Model(name) => format!("{}, modelled", &name[MODEL.len()..]),
        }
    }

    /// The name of a modelled GPU, without `model:`.
    pub fn model_name(self) -> Option<&'static str> {
        match self {
            Self::Model(name) => Some(&name[MODEL.len()..]),
            Self::Cpu | Self::Gpu => None,
        }
    }

    /// Whether its times are modelled, not measured.
    pub fn is_modelled(self) -> bool {
        matches!(self, Self::Model(_))
    }
}

/// The text for as long as the program runs. Each is kept once, so few are kept in all.
fn kept(text: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.get(text.as_str()).copied().unwrap_or_else(|| {
        let text: &'static str = text.leak();
        all.insert(text);
        text
    })
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
            _ => Err(serde::de::Error::custom(format!(
                "unknown device `{text}`, expected `cpu`, `gpu` or `model:NAME`"
            ))),
        }
    }
}
