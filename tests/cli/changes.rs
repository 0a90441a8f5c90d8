//! A change of a method's code is noticed, so that older times are not taken for its own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use spmv_methods::METHODS;
use xxhash_rust::xxh3::xxh3_64;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const FILE: &str = "crates/results/src/papers/changes.toml";
const METHODS_IN: &str = "crates/methods/src";

/// Returns the lines of a file that are not comments, without its tests.
fn code(path: &Path) -> Option<String> {
    let text = fs::read_to_string(Path::new(ROOT).join(path)).ok()?;
    let text = text.replace("#[cfg(test)]\nmod tests;", "");
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    Some(own.lines().filter(is_code).collect::<Vec<_>>().join("\n"))
}

/// Returns the names after each `before` in a text.
fn names<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let rests = text.split(before).skip(1);
    rests.filter_map(move |rest| rest.split(|c| !is_of_name(c)).next())
}

/// Returns the files that a file uses: its modules and those beside it, formats, kernels of its own, and what these
/// include.
fn used(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap();
    let module = |name: &str| folder.join(format!("{name}.rs"));
    let format = |name: &str| Path::new(METHODS_IN).join(format!("formats/{name}.rs"));
    let included = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let mut used: Vec<_> = names(text, "super::").map(module).collect();
    used.extend(names(text, "formats::").map(format));
    used.extend(names(text, "\nmod ").map(|name| folder.join(stem).join(format!("{name}.rs"))));
    used.extend(included.map(|name| folder.join(name)));
    if folder.ends_with("gpu") {
        used.push(format!("cuda/{stem}.cu").into());
    }
    used
}

/// Returns the hash of the code of the file of a method, and of what it uses.
fn hash(start: PathBuf) -> u64 {
    let (mut read, mut left) = (BTreeMap::new(), vec![start]);
    while let Some(path) = left.pop() {
        // What all methods use is not that of one.
        let is_common = ["prelude.rs", "mod.rs", "common.cuh"].iter().any(|name| path.ends_with(name));
        if is_common || read.contains_key(&path) {
            continue;
        }
        if let Some(text) = code(&path) {
            left.extend(used(&path, &text));
            read.insert(path, text);
        }
    }
    xxh3_64(read.into_values().collect::<String>().as_bytes())
}

#[test]
fn a_change_of_a_method_is_noticed() {
    let text = fs::read_to_string(Path::new(ROOT).join(FILE)).unwrap();
    let (mut expected, _) = text.split_once("[code]\n").map(|(head, rest)| (head.to_owned(), rest)).unwrap();
    expected += "[code]\n";
    for method in METHODS {
        let own = match method.name.strip_prefix("gpu-") {
            Some(name) => format!("gpu/{name}.rs"),
            None => format!("cpu/{}.rs", method.name),
        };
        let path = Path::new(METHODS_IN).join(own.replace('-', "_"));
        if Path::new(ROOT).join(&path).is_file() {
            writeln!(expected, "{} = \"{:016x}\"", method.name, hash(path)).unwrap();
        }
    }
    expect_file![Path::new(ROOT).join(FILE)].assert_eq(&expected);
}
