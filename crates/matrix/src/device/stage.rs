use serde::{Deserialize, Serialize};

use super::counts::Counts;

/// One kernel or library call of a product, with its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    /// The time in a product, in milliseconds.
    pub ms: f64,
    /// The theoretical occupancy (0 to 1): the resident threads that registers, shared memory and block size allow,
    /// divided by the maximum of the multiprocessors. `None` if the stage is not one of this program's kernels.
    pub occupancy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The modelled milliseconds per product without each problem of `ptx_machine::model::Cure::ALL`, if they were
    /// requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cured: Vec<f64>,
}
