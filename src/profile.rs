//! What is measured of a machine once and for all: how fast blocks of each shape are multiplied, by which
//! `oski-style` chooses. Measuring it is installation, no part of any matrix' setup.

use crate::scalar::Precision;

/// Rows and columns of a block at most.
pub const MOST: usize = 8;

/// For each number of rows and of columns of a block, the MFLOP/s of a dense matrix stored in such blocks,
/// on one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile(pub [[f64; MOST]; MOST]);

impl Profile {
    /// For a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.as_flattened().iter().flat_map(|speed| speed.to_le_bytes()).collect()
    }

    /// From a file; `None` when it is no profile.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut profile = Self([[0.0; MOST]; MOST]);
        let speeds = profile.0.as_flattened_mut();
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        if words.len() != speeds.len() {
            return None;
        }
        for (speed, word) in speeds.iter_mut().zip(words) {
            *speed = f64::from_le_bytes(*word);
        }
        speeds.iter().all(|speed| speed.is_finite() && *speed > 0.0).then_some(profile)
    }
}

/// A profile for each precision for which there is one.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the precisions
pub struct Profiles {
    pub f64: Option<Profile>,
    pub f32: Option<Profile>,
}

impl Profiles {
    /// That of a precision.
    pub fn of(&self, precision: Precision) -> Option<&Profile> {
        match precision {
            Precision::F64 => self.f64.as_ref(),
            Precision::F32 => self.f32.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_survives_its_file_and_nonsense_is_none() {
        let profile =
            Profile(std::array::from_fn(|r| std::array::from_fn(|c| (r * 8 + c + 1) as f64)));
        let bytes = profile.to_bytes();
        assert_eq!(Profile::from_bytes(&bytes), Some(profile));
        assert_eq!(Profile::from_bytes(&bytes[..504]), None);
        assert_eq!(Profile::from_bytes(&[&bytes[..], &[0]].concat()), None);
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut bad = profile;
            bad.0[7][7] = speed;
            assert_eq!(Profile::from_bytes(&bad.to_bytes()), None, "{speed}");
        }
    }
}
