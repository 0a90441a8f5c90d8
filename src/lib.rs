//! `spmv-bench`: the reference benchmark for sparse matrix-vector multiplication.
//!
//! A program can [`read`] a matrix and [`measure`] methods on it. It can also use the parts alone: prepare a method,
//! multiply, and verify the product:
//!
//! ```
//! use spmv_bench::method::Request;
//! use spmv_bench::team::Team;
//! use spmv_bench::verify::Reference;
//! use spmv_bench::{Csr, methods};
//!
//! let csr = Csr::from_triplets(2, 2, &[(0, 0, 3.0), (1, 0, 4.0)]);
//! let team = Team::floating(2);
//! let merge = methods::named("merge").ok_or("there is no such method")?;
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
//! `examples/measure.rs` measures a method of its own beside those of this crate.
//!
//! The modules, and which other modules each of them uses (without tests, and without [`scalar`], which most modules
//! use). A module uses only modules above it:
//!
//! | module | contents | uses |
//! |---|---|---|
//! | [`scalar`] | the two precisions | – |
//! | [`cache`] | files that only save time | – |
//! | [`near`] | suggestions for mistyped words | – |
//! | [`filter`] | the language of filters, which select matrices and recorded rows | near |
//! | [`guarded`] | vectors that show writes beyond their ends | – |
//! | [`system`] | facts about the machine and its limits | – |
//! | [`team`] | pinned threads with a cheap fork and join | system |
//! | [`terminal`] | escapes the control characters of text from files before it is printed | – |
//! | [`table`] | tables as data, written as text and Markdown | – |
//! | [`simd`] | vector instructions chosen at run time | – |
//! | [`profile`] | the machine's profile, which is measured once | – |
//! | [`library`] | finds and opens shared libraries, and undoes what they change in the floating-point state | – |
//! | [`matrix`] | CSR, Matrix Market files, cached matrices, generators, orderings, row statistics | cache, near, system, team |
//! | [`device`] | the GPU: memory, kernels, time; backed by CUDA or by a model that executes PTX on the CPU | cache, library, matrix, near, team |
//! | [`kernel_file`] | methods that are a `.cu` file | device |
//! | [`plugin`] | methods of plug-ins: shared objects with the interface of `include/spmv_method.h` | device, library, matrix, team |
//! | [`memory`] | how much memory is available and how much is needed | matrix, system |
//! | [`method`] | the definition of a method | device, matrix, memory, plugin, profile, simd, team |
//! | [`methods`] | `METHODS`, the list of all methods; one file per algorithm | device, kernel_file, library, matrix, memory, method, plugin, profile, simd, system, team |
//! | [`verify`] | reference product, error bound, verdict | matrix |
//! | [`mod@bench`] | plans and executes the measurements; a result for every method | device, guarded, library, matrix, memory, method, plugin, profile, simd, system, team, verify |
//! | [`record`] | the row, its CSV, JSON and text, the facts of a run | bench (results), cache, device, matrix, method, methods, system, table, terminal |
//! | `mpi` | one product on many processes, behind the feature `mpi`: partition, product, backend | bench, device, matrix, memory, method, methods, record, simd, system, verify |
//! | [`check`] | the battery for methods of plug-ins | device, guarded, matrix, plugin, team, verify |
//! | [`report`] | recorded rows as tables and charts, and the comparison of two files | bench, cache, filter, matrix, memory, method, methods, near, record, table |
//! | [`campaign`] | measures matrices one after the other: plan, child processes, resume, progress, run record | bench, cache, check, device, kernel_file, library, matrix, memory, method, methods, near, plugin, profile, record, report, simd, system, team, terminal |
//! | [`papers`] | the experiments of the papers: what is measured, shown and claimed | bench, device, matrix, method, methods, near, record, report, simd, table |
//! | [`datasets`] | the matrix collection: facts of its matrices, named sets | filter |
//! | [`fetch`] | downloads matrices of the collection | cache, datasets, matrix |
//! | [`cli`] | one file per verb | all others but api, guarded, kernel_file, library, profile and verify |
//! | [`api`] | what other programs need: `read` and `measure` | bench, campaign, cli, matrix, method, methods, record, system |
//!
//! The CUDA kernels are in `cuda/`, one file per GPU method.
//!
//! A method does not read the clock, write files or produce CSV. It uses another method only where one is built from
//! the other. `record` does not run methods.

#![warn(missing_docs)]

pub mod api;
pub mod bench;
pub mod cache;
pub mod campaign;
pub mod check;
pub mod cli;
pub mod datasets;
pub mod device;
pub mod fetch;
pub mod filter;
pub mod guarded;
pub mod kernel_file;
pub mod library;
pub mod matrix;
pub mod memory;
pub mod method;
pub mod methods;
#[cfg(any(feature = "mpi", test))]
pub mod mpi;
pub mod near;
pub mod papers;
pub mod plugin;
pub mod profile;
pub mod record;
pub mod report;
pub mod scalar;
pub mod simd;
pub mod system;
pub mod table;
pub mod team;
pub mod terminal;
pub mod verify;

pub use api::{Measurement, measure, read};
pub use matrix::Csr;
pub use matrix::source::LoadError;
pub use record::row::{Row, Status};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use walkdir::WalkDir;

    type Names = BTreeSet<String>;

    /// Returns the names that follow `crate::` in the code of a file, without comments and unit tests.
    fn imports(text: &str) -> Names {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        let words = |text: &str| {
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.map(String::from).collect::<Vec<_>>()
        };
        let of_path = |path: &str| match path.strip_prefix('{') {
            Some(list) => words(list.split('}').next().unwrap_or_default()),
            None => words(path).into_iter().take(1).collect(),
        };
        code.split("crate::").skip(1).flat_map(of_path).collect()
    }

    /// Returns the modules that the files of a module use.
    fn used_by(module: &str, all: &Names) -> Names {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = WalkDir::new(src.join(module))
            .into_iter()
            .filter_map(|entry| Some(entry.ok()?.into_path()));
        let files = files.chain([src.join(module).with_extension("rs")]);
        let is_code = |path: &Path| {
            let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
            path.is_file()
                && path.extension().is_some_and(|extension| extension == "rs")
                && !is_test
        };
        let texts =
            files.filter(|path| is_code(path)).map(|path| fs::read_to_string(path).unwrap());
        let used: Names = texts.flat_map(|text| imports(&text)).collect();
        let others = used.intersection(all).filter(|name| *name != module && *name != "scalar");
        others.cloned().collect()
    }

    /// The map of modules above lists exactly the modules that each module uses.
    #[test]
    fn the_map_shows_the_imports() {
        let rows = include_str!("lib.rs").lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix("//! | ")?.split_once(" | ")?;
            let (_, uses) = rest.strip_suffix(" |")?.rsplit_once(" | ")?;
            let name = name.trim_matches(['[', ']', '`']).trim_start_matches("mod@");
            (!["module", "---"].contains(&name)).then_some((name, uses))
        });
        let rows: Vec<_> = rows.collect();
        let all: Names = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert!(all.len() > 20, "{all:?}");
        let mut above = Names::new();
        for (name, uses) in rows {
            let used = used_by(name, &all);
            assert!(
                used.is_subset(&above),
                "{name} uses {used:?}, but only {above:?} are above it"
            );
            above.insert(name.to_owned());
            let listed: Names = match uses.strip_prefix("all others but ") {
                Some(but) => {
                    let left_out: Vec<_> = but
                        .split([',', ' '])
                        .filter(|word| !["", "and"].contains(word))
                        .chain([name, "scalar"])
                        .collect();
                    all.iter().filter(|other| !left_out.contains(&&***other)).cloned().collect()
                }
                None => uses
                    .split(", ")
                    .map(|part| part.split(" (").next().unwrap().to_owned())
                    .filter(|part| part != "–")
                    .collect(),
            };
            assert_eq!(
                used, listed,
                "the modules that `{name}` uses, and those in the map of src/lib.rs"
            );
        }
    }

    /// The documents name only files and folders that exist, apart from those that a reader may add.
    #[test]
    fn documents_name_existing_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let documents = WalkDir::new(root.join("docs")).into_iter();
        let documents = documents.map(|entry| entry.unwrap().into_path());
        let documents = documents.filter(|path| path.extension().is_some_and(|end| end == "md"));
        let documents =
            documents.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
        let folders =
            ["src/", "tests/", "docs/", "cuda/", "machine/", "scripts/", "schema/", "experiments/"];
        let mut named = 0;
        for document in documents {
            let text = fs::read_to_string(&document).unwrap();
            for name in text.split('`').skip(1).step_by(2) {
                let is_path = folders.iter().any(|folder| name.starts_with(folder));
                if is_path && !["your_", "ID", "*", " ", "\n"].iter().any(|new| name.contains(new))
                {
                    named += 1;
                    assert!(root.join(name).exists(), "{}: there is no {name}", document.display());
                }
            }
        }
        assert!(named > 50, "{named}");
    }
}
