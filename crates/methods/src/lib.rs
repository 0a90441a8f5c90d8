//! Methods for sparse matrix-vector multiplication, y ← αAx + βy, on CPU and GPU: those of the papers, of vendors'
//! libraries ([`vendor`]) and of the user ([`added`]).
//!
//! [`METHODS`] lists them. A method is prepared for a matrix and then multiplies as often as needed:
//!
//! ```
//! use spmv_matrix::{Csr, verify::Reference};
//! use spmv_methods::{method::Request, team::Team};
//!
//! let csr = Csr::from_triplets(2, 2, &[(0, 0, 3.0), (1, 0, 4.0)]);
//! let team = Team::floating(2);
//! let merge = spmv_methods::named("merge").ok_or("there is no such method")?;
//! let mut prepared = merge.prepare_on_host(&csr, &Request::new(&team))?;
//!
//! let x = vec![1.0; csr.cols()];
//! let mut y = vec![0.0; csr.rows()];
//! prepared.multiply(1.0, &x, 0.0, &mut y)?; // y ← 1·Ax + 0·y
//! assert_eq!(y, [3.0, 4.0]);
//!
//! let verdict = Reference::new(&csr, 1.0, &x, 0.0, &[]).judge(&y);
//! assert!(verdict.passes(), "{}", verdict.describe());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A method reads no clock and no files, apart from what its [`Request`](method::Request) gives it. A module uses only
//! modules above it, which a test checks:
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | finds and opens shared libraries, and undoes what they change in the floating-point state |
//! | [`simd`] | vector instructions chosen at run time: one kernel source for all precisions and instruction sets |
//! | [`team`] | pinned threads with a cheap fork and join |
//! | [`device`] | the GPU: memory, kernels, time; a `Driver` implements it: CUDA, or a model that executes PTX |
//! | [`method`] | what a method is |
//! | [`kernel_file`] | methods that are a `.cu` file |
//! | [`plugin`] | methods of plug-ins: shared objects with the interface of `plugins/spmv_method.h` |
//! | `formats` | conversions of CSR that methods of both devices use |
//! | [`cpu`] | methods of the CPU, one file each |
//! | [`gpu`] | methods of the GPU, one file each; their kernels are in `cuda/` |
//! | [`vendor`] | methods of MKL and cuSPARSE |
//! | [`added`] | methods of the user |

pub mod added;
pub mod cpu;
pub mod device;
mod formats;
pub mod gpu;
pub mod kernel_file;
pub mod library;
pub mod method;
pub mod plugin;
pub mod simd;
pub mod team;
pub mod vendor;

use crate::method::{Device, Method};

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

/// Returns all methods: those of this program, and then those that were added.
pub fn all() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().chain(added::own()).chain(added::methods())
}

pub fn named(name: &str) -> Option<&'static Method> {
    all().find(|method| method.name == name)
}

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

    pub fn named(name: &str) -> Option<&'static Self> {
        BASELINES.iter().find(|baseline| baseline.name == name)
    }
}
