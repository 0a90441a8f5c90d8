//! Tests of the way from a scaffold to a measured method, of the checks that a method must pass, and of the plug-ins of
//! libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::plugins::faulty;
use crate::support::all;
use crate::{Dir, Ran, at_once, compiled, rows, skip};

fn check(place: &Dir, library: &Path, words: &str) -> Ran {
    place.run(&format!("check-method {} {words}", library.display()))
}

/// Returns whether a command runs. What `scripts/test` installs is there on every machine that ran it.
fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_scaffold_of_each_language_is_right_when_it_is_built() {
    let place = Dir::with_matrices(&[30]);
    let languages = [("c", "cc"), ("c --openmp", "cc"), ("cpp", "c++"), ("fortran", "gfortran"), ("rust", "cargo")];
    at_once(&languages, |(language, compiler)| {
        if !exists(compiler) {
            return skip(&format!("no {compiler} for {language}; scripts/test --all installs gfortran"));
        }
        let name = format!("my-{}_1", language.replace(' ', ""));
        let ran = place.run(&format!("new-method {language} {name}")).exits(0);
        let folder = place.path(&name);
        let readme = place.read(&format!("{name}/README.md"));
        let [build, library] = ["\n```sh\n", "check-method "]
            .map(|before| readme.split(before).nth(1).unwrap().lines().next().unwrap().to_owned());
        assert!(ran.stdout.contains(&build) && ran.stdout.contains(&library), "{ran:?}");
        let mut words = build.split(' ');
        let mut command = Command::new(words.next().unwrap());
        let built = command.args(words).current_dir(&folder).env("CARGO_NET_OFFLINE", "true");
        let built = built.env_remove("CARGO_TARGET_DIR").output().unwrap();
        assert!(built.status.success(), "{language}: {built:?}");
        let warnings = String::from_utf8_lossy(&built.stderr).contains("warning");
        assert!(!warnings, "{language}: {built:?}");
        let library = folder.join(library);
        let checked = check(&place, &library, "").exits(0);
        assert!(checked.stdout.ends_with("all checks passed\n"), "{checked:?}");
        let words = format!("--mtx matrices/m1.mtx --plugin {}", library.display());
        let words = format!("{words} --methods {name} --iterations 10 --format csv");
        // OpenMP has fewer threads than the method was given.
        let ran = place.run_with(&words, &[("OMP_THREAD_LIMIT", "1")]);
        assert_eq!(ran.column("status"), ["ok"], "{ran:?}");
        place.run(&format!("new-method {language} {name}")).says("exists already");
    });
    place.run("new-method c Mine").says("'Mine' cannot be the name of a method");
}

#[test]
fn the_checks_find_each_fault_and_name_the_smallest_matrix() {
    let (place, library) = faulty(&[]);
    let right = check(&place, &library, "right").exits(0);
    let begin = "right 1.2 in f64\n  ok     small matrices, alpha and beta, 1 to 7 threads";
    assert!(right.stdout.starts_with(begin), "{right:?}");
    right
        .prints("repeated products: equal bit for bit")
        .prints("bytes in addition to CSR (0.00 times CSR)");
    let first = "0 x 0 (0 x 0, 0 nonzeros), alpha 1, beta 0, threads 1";
    let one = "1 x 1 (1 x 1, 1 nonzeros)";
    let segv = "ended by signal 11 (SIGSEGV) with";
    let cases = [
        ("crashes-in-multiply", format!("{segv} {first}")),
        ("crashes-in-prepare", format!("{segv} no nonzeros (6 x 4, 0 nonzeros)")),
        ("writes-after-y", format!("{first}: it has changed the memory before")),
        ("writes-matrix", format!("{one}, alpha 1, beta 0, threads 1: it has changed the matrix")),
        ("reads-y", format!("{one}, alpha 1, beta 0, threads 1: row 0 is NaN")),
        ("keeps-x", one.into()),
        ("leaks", "its function destroy has not released 72 bytes of ctx->allocate".into()),
        ("blocks-signals", "it has changed the signal mask, and not restored it".into()),
        ("changes-folder", "it has changed the working directory, and not restored it".into()),
        ("wrong-in-late-rows", "the facts, on a 7-point grid of 64000 rows: row 3000".into()),
        ("fails", "its file is missing".into()),
        ("hangs --timeout 0.2", "did not answer within 0.2 s with 0 x 0".into()),
    ];
    at_once(&cases, |(method, failure)| {
        let ran = check(&place, &library, method).exits(1);
        let mut failed = ran.stdout.lines().filter(|line| line.contains("FAILED"));
        assert!(failed.any(|line| line.contains(failure)), "{ran:?}");
    });
    check(&place, &library, "refuses").prints("  -      rows of 70000 nonzeros: refused, because it takes only");
    check(&place, &library, "rihgt").says("the plug-in has no such method; it has right, ");
    check(&place, Path::new("none.so"), "").says("none.so: there is no such file");
}

/// The methods of the plug-in of each library, and whether they are checked without `scripts/test --all`: a check takes
/// seconds. A check of `librsb-tuned` would take minutes, because its 500 preparations search for blocks.
const LIBRARIES: [(&str, &str, bool); 8] = [
    ("aocl", "aocl aocl-opt", false),
    ("armpl", "armpl armpl-opt", false),
    ("eigen", "eigen", true),
    ("graphblas", "graphblas", false),
    ("kokkos", "kokkos-kernels", false),
    ("librsb", "librsb", false),
    ("petsc", "petsc-aij petsc-sell", false),
    ("scripting", "scipy-style julia-style", true),
];

/// Builds the libraries of AMD and Arm in a folder: small ones with the same interface.
fn vendors(place: &Dir) -> PathBuf {
    for (name, library) in [("aoclsparse", "libaoclsparse.so"), ("armpl", "libarmpl_lp64_mp.so")] {
        let built = compiled(&format!("plugins/vendors/{name}.c"), &["-fopenmp", "-shared"]);
        let header = format!("{}/tests/plugins/vendors/{name}.h", env!("CARGO_MANIFEST_DIR"));
        place.write(&format!("vendors/lib/{library}"), fs::read(built.unwrap()).unwrap());
        place.write(&format!("vendors/include/{name}.h"), fs::read(header).unwrap());
    }
    place.path("vendors")
}

/// Builds the plug-ins of the libraries whose packages are installed, checks them, and measures them.
#[test]
fn plugins_of_libraries_are_right() {
    let place = Dir::with_matrices(&[400]);
    let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/plugins"));
    let vendors = vendors(&place);
    script.arg(place.path("plugins")).env("AOCL_ROOT", &vendors).env("ARMPL_DIR", &vendors);
    let built = script.output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let text = String::from_utf8_lossy(&built.stdout);
    let (skipped, there) = text.lines().partition::<Vec<_>, _>(|line| line.contains(": skipped"));
    skipped.iter().for_each(|line| eprintln!("{line}"));
    let there = there.iter().map(|line| line.split_once(": ").unwrap());
    let of = |name| LIBRARIES.iter().find(|library| library.0 == name).expect("a known library");
    let there: Vec<_> = there.map(|(name, path)| (of(name), Path::new(path))).collect();
    at_once(&there, |((_, methods, is_quick), path)| {
        if *is_quick || all() {
            check(&place, path, methods).exits(0);
        }
    });
    let methods: Vec<_> = there.iter().flat_map(|(library, _)| library.1.split(' ')).collect();
    let words = format!(
        "--mtx matrices/m1.mtx --plugin plugins --methods {} --threads 2 --iterations 100 --format csv",
        methods.join(",")
    );
    at_once(&["", "--transpose --alpha 2 --beta -0.5 --precision f32"], |options| {
        let ran = place.run(&format!("{words} {options}"));
        for row in rows(&ran.stdout) {
            assert!(row["status"] == "ok" || row["reason"].starts_with("it has no "), "{ran:?}");
        }
        assert_eq!(ran.column("method_name"), methods, "{ran:?}");
    });
}
