//! The lists of the methods and of the baselines.

use crate::cpu;
use crate::gpu;
use crate::method::{Device, Method};
use crate::vendor;

/// All methods of this program, in the order in which they are shown and run.
// A constant would be compiled once more, with all kernels, in each crate that uses it.
pub static METHODS: &[Method] = &[
    cpu::seq::METHOD,
    cpu::csr_rows::METHOD,
    cpu::kokkos_style::METHOD,
    cpu::merge::METHOD,
    cpu::merge_numa::METHOD,
    cpu::csb::METHOD,
    cpu::oski_style::METHOD,
    cpu::csr5::METHOD,
    cpu::csr2::METHOD,
    cpu::csr3::METHOD,
    cpu::sell::METHOD,
    cpu::ell::METHOD,
    cpu::hyb::METHOD,
    cpu::coo::METHOD,
    cpu::dia::METHOD,
    cpu::bcsr::METHOD,
    cpu::csc::METHOD,
    cpu::packed::METHOD,
    cpu::auto::METHOD,
    cpu::sprs::METHOD,
    vendor::mkl_csrmv::METHOD,
    vendor::mkl_ie::METHOD,
    vendor::mkl_ie::METHOD_OPT,
    gpu::naive::METHOD,
    gpu::naive::METHOD_T,
    gpu::csr_scalar::METHOD,
    gpu::csr_vector::METHOD,
    gpu::csr_adaptive::METHOD,
    gpu::csr_lrb::METHOD,
    gpu::csr_bulk::METHOD,
    gpu::pcsr::METHOD,
    gpu::light::METHOD,
    gpu::merge::METHOD,
    gpu::merge::METHOD_BITS,
    gpu::csr5::METHOD,
    gpu::csr5_cached::METHOD,
    gpu::hola::METHOD,
    gpu::hola_t::METHOD,
    gpu::hola_t::METHOD_BUFFERED,
    gpu::csc::METHOD,
    gpu::csrk::METHOD_2,
    gpu::csrk::METHOD_3,
    gpu::csrk::METHOD_3_5,
    gpu::coo::METHOD,
    gpu::ell::METHOD,
    gpu::dia::METHOD,
    gpu::hyb::METHOD,
    gpu::bcsr::METHOD,
    gpu::sell::METHOD,
    gpu::kokkos_style::METHOD,
    gpu::bccoo::METHOD,
    gpu::tile::METHOD,
    gpu::dasp::METHOD,
    gpu::packed::METHOD,
    gpu::packed::METHOD_VALUES,
    gpu::auto::METHOD,
    vendor::cusparse::CSR,
    vendor::cusparse::CSR_PRE,
    vendor::cusparse::CSR_ALG1,
    vendor::cusparse::CSR_ALG1_PRE,
    vendor::cusparse::CSR_ALG2,
    vendor::cusparse::CSR_ALG2_PRE,
    vendor::cusparse::CSR_OP,
    vendor::cusparse::CSR_OP_ALG1,
    vendor::cusparse::CSR_OP_ALG2,
    vendor::cusparse::COO,
    vendor::cusparse::COO_ALG2,
    vendor::cusparse_bsr::METHOD,
    vendor::cusparse_sell::METHOD,
];

/// The baselines with which the other methods are compared, the best of each device first. A speed-up over
/// a single baseline misleads where that baseline is slow, so reports also show the ratio to the fastest
/// baseline of each matrix.
pub static BASELINES: &[Baseline] = &[
    Baseline::new(&vendor::mkl_ie::METHOD_OPT, Kind::Vendor),
    Baseline::new(&vendor::mkl_ie::METHOD, Kind::Vendor),
    Baseline::new(&vendor::mkl_csrmv::METHOD, Kind::Vendor),
    Baseline::new(&cpu::merge::METHOD, Kind::Merge),
    Baseline::new(&cpu::csr_rows::METHOD, Kind::Csr),
    Baseline::new(&cpu::coo::METHOD, Kind::Coo),
    Baseline::new(&cpu::seq::METHOD, Kind::Sequential),
    Baseline::new(&vendor::cusparse::CSR, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_PRE, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_ALG1, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_ALG1_PRE, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_ALG2, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_ALG2_PRE, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_OP, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_OP_ALG1, Kind::Vendor),
    Baseline::new(&vendor::cusparse::CSR_OP_ALG2, Kind::Vendor),
    Baseline::new(&vendor::cusparse::COO, Kind::Vendor),
    Baseline::new(&vendor::cusparse::COO_ALG2, Kind::Vendor),
    Baseline::new(&vendor::cusparse_sell::METHOD, Kind::Vendor),
    Baseline::new(&vendor::cusparse_bsr::METHOD, Kind::Vendor),
    Baseline::new(&gpu::merge::METHOD, Kind::Merge),
    Baseline::new(&gpu::csr_vector::METHOD, Kind::Csr),
    Baseline::new(&gpu::coo::METHOD, Kind::Coo),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    pub name: &'static str,
    pub device: Device,
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
    const fn new(method: &Method, kind: Kind) -> Self {
        Self { name: method.name, device: method.device(), kind }
    }

    pub fn is_library(&self) -> bool {
        self.kind == Kind::Vendor
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        BASELINES.iter().find(|baseline| baseline.name == name)
    }
}
