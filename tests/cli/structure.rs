//! The structure of the code, and the files that the documents name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    files.filter(|path| path.extension().is_some_and(|of| of == ending)).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits code into words, `::` and other single characters.
fn tokens(mut code: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        code = code.trim_start();
        let first = code.chars().next()?;
        let length = match () {
            () if is_word(first) => code.find(|c| !is_word(c)).unwrap_or(code.len()),
            () if code.starts_with("::") => 2,
            () => first.len_utf8(),
        };
        let (token, rest) = code.split_at(length);
        code = rest;
        Some(token)
    })
}

/// Returns the modules directly below the root of a crate that the code of a file uses, where `depth` is the number of
/// parts of the path of the file's module. Comments and unit tests are left out.
fn used(text: &str, depth: usize) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    // The depth of the module in which the next word is looked up, that of the path before it, and those of open braces.
    let (mut at, mut reached, mut braces) = (None, None, Vec::new());
    let mut used = BTreeSet::new();
    for token in tokens(&code) {
        if at == Some(0) && token.starts_with(is_word) && !["self", "super"].contains(&token) {
            used.insert(token.to_owned());
        }
        if token == "{" {
            braces.push(at);
        } else if token == "}" {
            braces.pop();
        }
        (at, reached) = match token {
            "crate" => (None, Some(0)),
            "self" => (None, at.or(Some(depth))),
            "super" => (None, Some(at.unwrap_or(depth).saturating_sub(1))),
            "::" => (reached, None),
            "{" | "," => (braces.last().copied().flatten(), None),
            _ => (None, None),
        };
    }
    used
}

#[test]
fn every_form_of_an_import_is_found() {
    for (code, depth, expected) in [
        ("use crate::a::b;\nuse std::c::d;\nuse super::super::e::f;", 2, "a e"),
        ("use crate::{\n    a::{b, c::{d}}, e as f,\n    g::*,\n};\nuse h::{i};", 1, "a e g"),
        ("use super::{a, b::c, super::{d::{e}, f}};\nuse self::g;", 2, "d f"),
        ("use {crate::a::{b}, super::{self, c}};", 1, "a c"),
        ("pub(crate) fn f(a: crate::b::C, d: &super::e::F) { crate::g::h(i, j) }", 1, "b e g"),
        ("mod inner {\n    use super::super::a::B;\n}", 1, "a"),
        (
            "// crate::a\n/// [crate::b]\nuse crate::c;\n#[cfg(test)]\nmod tests { crate::d }",
            1,
            "c",
        ),
    ] {
        let expected: BTreeSet<_> = expected.split(' ').map(String::from).collect();
        assert_eq!(used(code, depth), expected, "{code}");
    }
}

/// In each package, a module uses only modules above it in the table of the package's documentation.
#[test]
fn imports_have_one_direction() {
    for package in ["crates/matrix/src", "crates/methods/src", "src"] {
        let folder = Path::new(ROOT).join(package);
        let root = fs::read_to_string(folder.join("lib.rs")).unwrap();
        let rows = root.lines().filter_map(|line| {
            let name = line.strip_prefix("//! | ")?.split(['`', ']']).nth(1)?;
            Some(name.trim_start_matches("mod@").to_owned())
        });
        let order: Vec<_> = rows.collect();
        let declared = root.lines().filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        let declared: BTreeSet<_> = declared.map(String::from).collect();
        assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), declared, "{package}");
        for file in files(&folder, "rs") {
            let path = file.strip_prefix(&folder).unwrap().with_extension("");
            let mut module: Vec<_> =
                path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            module.pop_if(|last| last == "mod");
            let Some(place) = order.iter().position(|name| *name == module[0]) else { continue };
            if module.iter().any(|part| part == "tests") {
                continue;
            }
            for used in used(&fs::read_to_string(&file).unwrap(), module.len()) {
                let below = order[place + 1..].contains(&used);
                assert!(!below, "{} uses {used}, which is below it", file.display());
            }
        }
    }
}

/// The documents name only files and folders that exist, apart from those that a reader may add.
#[test]
fn documents_name_existing_files() {
    let root = Path::new(ROOT);
    let mut documents = files(&root.join("docs"), "md");
    documents.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let folders =
        ["src/", "crates/", "tests/", "docs/", "cuda/", "scripts/", "plugins/", "experiments/"];
    let mut named = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let is_path = folders.iter().any(|folder| name.starts_with(folder));
            let is_new = ["your_", "ID", "*", " ", "\n"].iter().any(|new| name.contains(new));
            if is_path && !is_new {
                named += 1;
                assert!(root.join(name).exists(), "{}: there is no {name}", document.display());
            }
        }
    }
    assert!(named > 50, "{named}");
}
