//! Versions of cuSPARSE.

use std::ffi::c_int;

use crate::device::Unavailable;

pub type Version = [c_int; 3];

pub fn named([major, minor, patch]: Version) -> String {
    format!("cuSPARSE {major}.{minor}.{patch}")
}

pub fn lacks(version: Version, what: &str, since: Version) -> Unavailable {
    Unavailable(format!("{} lacks {what}, which {} has", named(version), named(since)))
}
