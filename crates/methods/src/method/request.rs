//! What a method is told of the run before it is prepared.

use std::time::Instant;

use super::profile::Profile;
use crate::simd::Isa;
use crate::team::Team;

/// The settings of the run that a method can use in its preparation, before any vector is given.
pub struct Request<'a> {
    /// The threads on which a parallel method runs. The calling thread is the team's leader.
    pub team: &'a Team,
    /// The instruction set that this project's own kernels use.
    pub isa: Isa,
    /// Whether the product is y ← αAᵀx + βy. It is set only for methods whose [`Operations`](super::Operations) include
    /// the transpose.
    pub transpose: bool,
    /// The α and the β of every product of this run, for libraries that choose their algorithm by them.
    pub alpha: f64,
    pub beta: f64,
    /// The number of products that the run plans. Inspectors of libraries receive it as a hint.
    pub expected_products: usize,
    /// The machine's profile in the precision of the product, if it has been measured.
    pub profile: Option<&'a Profile>,
    /// The clock, for methods that choose by measured times.
    pub now: fn() -> Instant,
    /// The parameters that the user gave, as pairs of name and value. Each value is one of those of the
    /// [`Parameter`](super::Parameter).
    pub given: &'a [(&'static str, &'static str)],
    /// The groups of the Band-k order that the program has brought the matrix into, as in an
    /// [`Extent`](spmv_matrix::memory::extent::Extent).
    pub groups: &'a [Vec<u32>],
}

impl<'a> Request<'a> {
    /// Returns the request for 1000 products y ← Ax on this team, without parameters, with this machine's best
    /// instructions.
    pub fn new(team: &'a Team) -> Self {
        Self {
            team,
            isa: Isa::detect(),
            transpose: false,
            alpha: 1.0,
            beta: 0.0,
            expected_products: 1000,
            profile: None,
            now: Instant::now,
            given: &[],
            groups: &[],
        }
    }

    /// Returns the value of a parameter, or `None` if it was not given.
    pub fn word(&self, parameter: &str) -> Option<&'static str> {
        self.given.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }

    /// Returns the value of a parameter whose values are numbers, or `None` if it was not given.
    pub fn number(&self, parameter: &str) -> Option<usize> {
        self.word(parameter).map(|word| word.parse().expect("the values of this parameter are numbers"))
    }
}
