//! The methods with which others are compared.

use spmv_matrix::device::Device;

/// The baselines with which the other methods are compared, the best of each device first. A speed-up over
/// a single baseline misleads where that baseline is slow, so reports also show the ratio to the fastest
/// baseline of each matrix.
pub const BASELINES: &[Baseline] = &[
    Baseline::new("mkl-ie-opt", Kind::Vendor),
    Baseline::new("mkl-ie", Kind::Vendor),
    Baseline::new("mkl-csrmv", Kind::Vendor),
    Baseline::new("merge", Kind::Merge),
    Baseline::new("csr-rows", Kind::Csr),
    Baseline::new("coo", Kind::Coo),
    Baseline::new("seq", Kind::Sequential),
    Baseline::new("cusparse-csr", Kind::Vendor),
    Baseline::new("cusparse-csr-pre", Kind::Vendor),
    Baseline::new("cusparse-csr-alg1", Kind::Vendor),
    Baseline::new("cusparse-csr-alg1-pre", Kind::Vendor),
    Baseline::new("cusparse-csr-alg2", Kind::Vendor),
    Baseline::new("cusparse-csr-alg2-pre", Kind::Vendor),
    Baseline::new("cusparse-csr-op", Kind::Vendor),
    Baseline::new("cusparse-csr-op-alg1", Kind::Vendor),
    Baseline::new("cusparse-csr-op-alg2", Kind::Vendor),
    Baseline::new("cusparse-coo", Kind::Vendor),
    Baseline::new("cusparse-coo-alg2", Kind::Vendor),
    Baseline::new("cusparse-sell", Kind::Vendor),
    Baseline::new("cusparse-bsr", Kind::Vendor),
    Baseline::new("gpu-merge", Kind::Merge),
    Baseline::new("gpu-csr-vector", Kind::Csr),
    Baseline::new("gpu-coo", Kind::Coo),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    pub name: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Vendor,
    Merge,
    /// Plain parallel CSR, with which the break-even count of a setup is computed.
    Csr,
    Coo,
    Sequential,
}

impl Baseline {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }

    pub fn device(&self) -> Device {
        if is_of_gpu(self.name) { Device::Gpu } else { Device::Cpu }
    }

    pub fn is_library(&self) -> bool {
        self.kind == Kind::Vendor
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        BASELINES.iter().find(|baseline| baseline.name == name)
    }
}

/// Returns whether methods with this name run on a GPU, which is part of the names of those of this program.
pub fn is_of_gpu(method: &str) -> bool {
    ["gpu-", "cusparse-"].iter().any(|prefix| method.starts_with(prefix))
}
