//! Finds the libraries of vendors on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use super::isolate::{self, ask};
use crate::record::run::Library;
use spmv_methods::device::cuda::{cusparse, nvrtc};
use spmv_methods::method::Unavailable;
use spmv_methods::vendor::mkl::{self, Mkl};

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
        match self {
            Self::Mkl => vec![library(mkl::mkl())],
            Self::Nvrtc => self.editions(nvrtc::compilers(), |nvrtc| (nvrtc.name(), &nvrtc.file)),
            Self::Cusparse => {
                self.editions(cusparse::libraries(), |library| (library.name(), &library.file))
            }
        }
    }

    fn editions<L>(
        self,
        found: Result<&[L], Unavailable>,
        describe: fn(&L) -> (String, &PathBuf),
    ) -> Vec<Library> {
        let library = |(name, file): (String, &PathBuf)| Library::in_file(name, file);
        match found {
            Ok(editions) => editions.iter().map(describe).map(library).collect(),
            Err(absent) => vec![self.without(&absent)],
        }
    }

    fn without(self, reason: &dyn ToString) -> Library {
        Library { name: self.name().into(), place: reason.to_string() }
    }
}

/// Returns all libraries. Each is opened in a child process of `program`, so that a library that crashes or hangs
/// affects only its own entry. Without a program, they are opened in this process.
pub fn all(program: Option<&Path>) -> Vec<Library> {
    let find = |vendor: &Vendor| match program {
        None => vendor.find(),
        Some(program) => {
            let words = ["library", &vendor.name().to_lowercase()];
            let found = ask(program, &words, LIMIT);
            found
                .unwrap_or_else(|end| vec![vendor.without(&format!("{end:#} while it was opened"))])
        }
    };
    Vendor::value_variants().iter().flat_map(find).collect()
}

pub fn send_to_parent(vendor: Vendor) -> Result<()> {
    isolate::send_to_parent(&vendor.find())
}

/// Returns the vendor's CPU library, if a method has used it.
pub fn opened() -> Option<Library> {
    mkl::opened().map(library)
}

fn library(mkl: Result<&Mkl, Unavailable>) -> Library {
    match mkl {
        Ok(mkl) => Library::in_file(mkl.version.clone(), &mkl.file),
        Err(absent) => Vendor::Mkl.without(&absent),
    }
}
