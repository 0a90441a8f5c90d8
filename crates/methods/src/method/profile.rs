//! The machine's profile: the speed of multiplying register blocks of each shape, by which `oski-style`
//! chooses a shape. It is measured once per machine and is not part of the setup of any matrix.

pub const MAX_BLOCK_SIDE: usize = 8;

/// The speed in MFLOP/s, on one thread, of multiplying a dense matrix stored in register blocks: entry `[r
/// - 1][c - 1]` is for blocks of r rows and c columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile(pub [[f64; MAX_BLOCK_SIDE]; MAX_BLOCK_SIDE]);

impl Profile {
    /// Encodes the profile for a file of this machine: all entries row by row.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytemuck::bytes_of(&self.0).to_vec()
    }

    /// Decodes the contents of a file. Returns `None` if they are not a valid profile.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let speeds: [[f64; MAX_BLOCK_SIDE]; MAX_BLOCK_SIDE] = bytemuck::try_pod_read_unaligned(bytes).ok()?;
        let is_valid = |speed: &f64| speed.is_finite() && *speed > 0.0;
        speeds.as_flattened().iter().all(is_valid).then_some(Self(speeds))
    }
}

#[cfg(test)]
#[test]
fn a_profile_is_decoded_as_it_was_encoded_and_invalid_bytes_give_none() {
    let profile = Profile(std::array::from_fn(|r| std::array::from_fn(|c| (r * 8 + c + 1) as f64)));
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
