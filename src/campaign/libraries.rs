//! Finds the libraries of vendors on this machine.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use super::isolate::{ask, send_to_parent as send};
use spmv_methods::device::cuda::{cusparse, nvrtc};
use spmv_methods::vendor::mkl::{self, Mkl};
use spmv_results::run::Library;

/// The time limit for opening a library.
const LIMIT: Duration = Duration::from_secs(60);

/// A vendor's library, of which several versions may be installed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Vendor {
    Mkl,
    Nvrtc,
    Cusparse,
}

impl Vendor {
    fn name(self) -> &'static str {
        match self {
            Self::Mkl => "MKL",
            Self::Nvrtc => "NVRTC",
            Self::Cusparse => "cuSPARSE",
        }
    }

    /// Returns the installed versions, the best first, or how to install one. GPU libraries are found without a GPU.
    fn find(self) -> Vec<Library> {
        let found = match self {
            Self::Mkl => mkl::mkl().map(|mkl| vec![of_mkl(mkl)]),
            Self::Nvrtc => {
                nvrtc::compilers().map(|all| all.iter().map(|it| Library::in_file(it.name(), &it.file)).collect())
            }
            Self::Cusparse => {
                cusparse::libraries().map(|all| all.iter().map(|it| Library::in_file(it.name(), &it.file)).collect())
            }
        };
        found.unwrap_or_else(|absent| vec![self.without(&absent)])
    }

    fn without(self, reason: &dyn ToString) -> Library {
        Library { name: self.name().into(), place: reason.to_string() }
    }
}

/// Returns all libraries. Each is opened in a child process of `program`, so that a library that crashes or hangs
/// affects only its own entry. Without a program, they are opened in this process.
pub fn all(program: Option<&Path>) -> Vec<Library> {
    let find = |vendor: &Vendor| {
        let Some(program) = program else { return vendor.find() };
        let found = ask(program, &["library", &vendor.name().to_lowercase()], LIMIT);
        found.unwrap_or_else(|end| vec![vendor.without(&format!("{end:#} while it was opened"))])
    };
    Vendor::value_variants().iter().flat_map(find).collect()
}

pub fn send_to_parent(vendor: Vendor) -> Result<()> {
    send(&vendor.find())
}

/// Returns the vendor's CPU library, if a method has used it.
pub fn opened() -> Option<Library> {
    let opened = mkl::opened()?;
    Some(opened.map_or_else(|absent| Vendor::Mkl.without(&absent), of_mkl))
}

fn of_mkl(mkl: &Mkl) -> Library {
    let code = mkl.processors.iter().map(|processors| format!(", code for {processors}"));
    Library::in_file(mkl.version.clone() + &code.collect::<String>(), &mkl.file)
}
