//! Tests that compare the declarations with the headers and libraries of every installed version of cuSPARSE.
//! `scripts/test` installs those of CUDA 12, of CUDA 13.0 and the newest. The tests need no GPU.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::library::*;
use super::op_functions as op;
use super::version::{Version, named};
use crate::device::Unavailable;
use crate::device::cuda::editions::Edition;
use crate::device::cusparse::OpAlgorithm;
use crate::library;

const OLDEST: Version = [12, 0, 0];

struct Installed {
    folder: PathBuf,
    header: String,
    version: Version,
}

/// Returns the installed versions from `since` on that have a header; prints a message if there is none.
fn installed(since: Version) -> Vec<Installed> {
    let newest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/newest/nvidia/cu13/lib");
    let folders = library::folders().into_iter().chain([newest]);
    let all = folders.filter_map(Installed::new);
    let installed: Vec<_> = all.filter(|installed| installed.version >= since).collect();
    if installed.is_empty() {
        let reason = format!("no header of {} or newer is installed", named(since));
        let _ = writeln!(std::io::stderr(), "skipped: {reason}");
    }
    installed
}

impl Installed {
    fn new(folder: PathBuf) -> Option<Self> {
        let header = fs::read_to_string(folder.join("../include/cusparse.h")).ok()?;
        let version = ["MAJOR", "MINOR", "PATCH"].map(|part| {
            let define = format!("#define CUSPARSE_VER_{part} ");
            let value = header.split_once(&define).expect("a version").1.trim_start();
            value.split_whitespace().next().unwrap().parse().unwrap()
        });
        Some(Self { folder, header, version })
    }

    /// Returns the types of a function's arguments in Rust's notation.
    fn prototype(&self, function: &str) -> Option<Vec<String>> {
        let (_, rest) = self.header.split_once(&format!("\n{function}("))?;
        let (arguments, _) = rest.split_once(')')?;
        Some(arguments.split(',').map(rust_type).collect())
    }

    fn value(&self, name: &str) -> Option<u32> {
        self.header.match_indices(name).find_map(|(at, _)| {
            let value = self.header[at + name.len()..].trim_start().strip_prefix('=')?;
            value.trim_start().split([',', '}', '\n', ' ']).next()?.parse().ok()
        })
    }
}

/// Converts a declaration such as `const void* alpha` to its type in Rust's notation.
fn rust_type(argument: &str) -> String {
    let words = argument.replace('*', " * ");
    let mut words: Vec<_> = words.split_whitespace().collect();
    words.pop().expect("the argument's name");
    let constant = words.first() == Some(&"const");
    let pointer = words.last() == Some(&"*");
    let word = match words[usize::from(constant)] {
        "void" => "c_void",
        "int" => "c_int",
        "int64_t" => "i64",
        "size_t" => "usize",
        word => word,
    };
    match (pointer, constant) {
        (false, _) => word.into(),
        (true, true) => format!("*const {word}"),
        (true, false) => format!("*mut {word}"),
    }
}

/// Returns the functions that a source file declares, with the types of their arguments.
fn declared(source: &str) -> Vec<(&str, Vec<String>)> {
    let starts = source.match_indices("\n        cusparse").map(|(at, _)| &source[at..]);
    let declarations = starts.filter_map(|text| text.split_once(");")?.0.split_once('('));
    let types = |list: &str| -> Vec<String> {
        list.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    declarations.map(|(name, list)| (name.trim(), types(list))).collect()
}

#[test]
fn arguments_are_those_of_the_headers() {
    let bound = declared(include_str!("library.rs"));
    assert_eq!(bound.len(), Functions::REQUIRED.len() + Functions::OPTIONAL.len());
    for installed in installed(OLDEST) {
        for (function, arguments) in &bound {
            match installed.prototype(function) {
                Some(prototype) => assert_eq!(prototype, *arguments, "{function}"),
                None => assert!(Functions::OPTIONAL.contains(function), "{function}"),
            }
        }
    }
}

#[test]
fn arguments_of_the_planned_product_are_those_of_the_headers() {
    let declared = declared(include_str!("op_functions.rs"));
    assert_eq!(declared.len(), 4 + 2 + 2);
    for installed in installed(op::SINCE) {
        let is_named = installed.version >= op::NAMED_SINCE;
        let tables = if is_named { [0..4, 6..8] } else { [0..4, 4..6] };
        for (function, arguments) in tables.into_iter().flat_map(|table| &declared[table]) {
            let what = format!("{function} of {}", named(installed.version));
            assert_eq!(installed.prototype(function).as_ref(), Some(arguments), "{what}");
        }
    }
}

#[test]
fn functions_appear_in_the_stated_versions() {
    for Installed { header, version, .. } in installed(OLDEST) {
        for (name, since) in [
            ("cusparseCreateSlicedEll(", SLICED_ELL_SINCE),
            ("cusparseSpMV_preprocess(", PREPROCESS_SINCE),
            ("CUSPARSE_SPMV_BSR_ALG1", BSR_SINCE),
            ("cusparseSpMVOp_bufferSize(", op::SINCE),
            ("cusparseSpMVOpAlg_t", op::NAMED_SINCE),
        ] {
            assert_eq!(header.contains(name), version >= since, "{name} in {version:?}");
        }
    }
}

#[test]
fn values_are_those_of_the_headers() {
    let values = [
        ("CUSPARSE_STATUS_NOT_SUPPORTED", NOT_SUPPORTED),
        ("CUSPARSE_SPMVOP_ALG_DEFAULT", OpAlgorithm::Default as u32),
        ("CUSPARSE_SPMVOP_ALG1", OpAlgorithm::Alg1 as u32),
        ("CUSPARSE_SPMVOP_ALG2", OpAlgorithm::Alg2 as u32),
    ];
    for installed in installed(op::NAMED_SINCE) {
        for (name, value) in values {
            assert_eq!(installed.value(name), Some(value), "{name}");
        }
    }
}

#[test]
fn every_library_opens_and_reports_missing_functions() {
    for Installed { folder, version, .. } in installed(OLDEST) {
        let opened = library::open(library::RTLD_LOCAL, Some(&folder), SOUGHT.names[0]);
        let opened = opened.unwrap_or_else(|message| panic!("{}: {message}", folder.display()));
        let cusparse = CuSparseLibrary::find(&opened, folder).expect("the functions of every version");
        assert_eq!(cusparse.version, version);
        let functions = &cusparse.functions;
        assert_eq!(functions.cusparseCreateSlicedEll.is_some(), version >= SLICED_ELL_SINCE);
        assert_eq!(functions.cusparseSpMV_preprocess.is_some(), version >= PREPROCESS_SINCE);
        assert!(functions.cusparseCreateBsr.is_some() || version < BSR_SINCE);
        let name = cusparse.name();
        let lacking = format!("{name} lacks cusparseSpMVOp_bufferSize, which cuSPARSE 12.7.3 has");
        let expected = (version < op::SINCE).then_some(Unavailable(lacking));
        assert_eq!(cusparse.op.as_ref().err(), expected.as_ref());
        // The libraries' functions may still run when the process ends.
        std::mem::forget(opened);
    }
}
