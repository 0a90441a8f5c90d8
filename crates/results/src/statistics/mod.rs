//! Means, medians, intervals and fits.

pub mod fit;
