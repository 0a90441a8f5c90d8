use std::fmt;

use serde::{Deserialize, Serialize};

/// The best rates measured, in GB/s (10^9 bytes per second).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Peak {
    Host {
        triad_gbs: f64,
        read_gbs: f64,
    },
    Gpu {
        /// The rate of a copy within its memory, counting bytes read and bytes written.
        copy_gbs: f64,
        #[serde(default)]
        read_gbs: f64,
        /// The nominal bandwidth: see [`Facts::nominal_gbs`](spmv_matrix::device::facts::Facts::nominal_gbs).
        nominal_gbs: f64,
    },
}

impl Default for Peak {
    fn default() -> Self {
        Self::Host { triad_gbs: 0.0, read_gbs: 0.0 }
    }
}

impl Peak {
    pub fn gbs(&self) -> f64 {
        match *self {
            Self::Host { triad_gbs, read_gbs } => triad_gbs.max(read_gbs),
            Self::Gpu { copy_gbs, read_gbs, .. } => copy_gbs.max(read_gbs),
        }
    }

    pub fn nominal_gbs(&self) -> Option<f64> {
        if let Self::Gpu { nominal_gbs, .. } = *self { Some(nominal_gbs) } else { None }
    }
}

impl fmt::Display for Peak {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Host { triad_gbs, read_gbs } => {
                write!(f, "triad {triad_gbs:.2}, read {read_gbs:.2}")
            }
            Self::Gpu { copy_gbs, read_gbs, nominal_gbs } => {
                write!(f, "copy {copy_gbs:.2}, read {read_gbs:.2}, nominal {nominal_gbs:.2}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Peak;

    #[test]
    fn the_peak_is_the_higher_rate() {
        let gpu = |copy_gbs, read_gbs| Peak::Gpu { copy_gbs, read_gbs, nominal_gbs: 9.0 }.gbs();
        assert_eq!([gpu(2.0, 3.0), gpu(3.0, 2.0)], [3.0, 3.0]);
        let host = |triad_gbs, read_gbs| Peak::Host { triad_gbs, read_gbs }.gbs();
        assert_eq!([host(2.0, 3.0), host(3.0, 2.0)], [3.0, 3.0]);
    }
}
