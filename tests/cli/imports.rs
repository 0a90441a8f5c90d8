//! The one rule of the structure, for each package and every level of its modules: a file uses only files that do not
//! use it, directly or through others.
//!
//! A path counts as a use of the file that defines what it names: where a module only passes a name on (`pub use`), the
//! file behind it. Passing a name on counts as a use as well. Unit tests may use everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// The names from the root of a package to a module; empty for the root.
type Module = Vec<String>;

const PACKAGES: [&str; 7] = [
    "crates/matrix/src",
    "crates/ptx-machine/src",
    "crates/methods/src",
    "crates/results/src",
    "src",
    "python/src",
    "fuzz/src",
];

/// What a file names.
#[derive(Debug, Default, PartialEq)]
struct Named {
    /// The paths in its code.
    paths: Vec<Vec<String>>,
    /// The names that it passes on, with their paths.
    passed_on: BTreeMap<String, Vec<String>>,
}

impl Named {
    fn of(text: &str) -> Self {
        let code = without_tests(text);
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        let code = lines.collect::<Vec<_>>().join("\n");
        let mut named = Self::default();
        let mut rest = code.as_str();
        while let Some((before, after)) = rest.split_once("use ") {
            let line = before.rsplit('\n').next().unwrap_or_default();
            let is_import = line.is_empty() || line.starts_with("pub") || line.trim().is_empty();
            let (tree, next) = if is_import { after.split_once(';').unwrap_or_default() } else { ("", after) };
            named.note_paths(before);
            named.note_import(&[], tree, line.starts_with("pub"));
            rest = next;
        }
        named.note_paths(rest);
        named
    }

    fn note_paths(&mut self, code: &str) {
        let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for word in code.split(|c| !is_of_path(c)) {
            let parts: Vec<_> = word.trim_end_matches("::").split("::").map(String::from).collect();
            if parts.len() > 1 && !parts[0].is_empty() {
                self.paths.push(parts);
            }
        }
    }

    /// Notes the paths of an import such as `a::{b, c::d}` below the path `above`.
    fn note_import(&mut self, above: &[String], tree: &str, is_passed_on: bool) {
        let (path, list) = match tree.trim().strip_suffix('}').and_then(|tree| tree.split_once('{')) {
            Some((path, list)) => (path.trim_end_matches("::"), Some(list)),
            None => (tree.trim(), None),
        };
        let (path, name) = path.split_once(" as ").unwrap_or((path, ""));
        let parts = path.split("::").filter(|part| !part.is_empty()).map(String::from);
        let mut parts: Vec<_> = above.iter().cloned().chain(parts).collect();
        if let Some(list) = list {
            branches(list).into_iter().for_each(|tree| self.note_import(&parts, tree, is_passed_on));
            return;
        }
        parts.pop_if(|last| last == "self");
        let Some(last) = parts.last() else { return };
        if is_passed_on {
            let name = if name.is_empty() { last } else { name };
            self.passed_on.insert(name.to_owned(), parts.clone());
        }
        self.paths.push(parts);
    }
}

/// Returns the code without a module of unit tests, and without the first line of what else only tests have.
fn without_tests(text: &str) -> String {
    let mut parts = text.split("#[cfg(test)]\n");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (line, rest) = part.split_once('\n').unwrap_or_default();
        if line.ends_with("mod tests {") {
            break;
        }
        code += rest;
    }
    code
}

/// Splits a list of imports at the commas that are not within braces.
fn branches(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.filter(|tree| !tree.trim().is_empty()).collect()
}

/// The files of a package, by their modules.
struct Package(BTreeMap<Module, Named>);

impl Package {
    fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for path in WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path()) {
            let name = path.strip_prefix(folder).unwrap().with_extension("");
            let mut module: Module = name.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            let is_code = path.extension().is_some_and(|extension| extension == "rs");
            if is_code && !module.iter().any(|part| part == "tests" || part == "main") {
                module.pop_if(|last| last == "mod" || last == "lib");
                files.insert(module, Named::of(&fs::read_to_string(path).unwrap()));
            }
        }
        Self(files)
    }

    /// Returns a path from the root of the package; `None` for a path into another package.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let (above, rest) = match path[0].as_str() {
            "crate" => (0, &path[1..]),
            "self" => (module.len(), &path[1..]),
            "super" => (module.len().checked_sub(ups)?, &path[ups..]),
            child => {
                let is_child = self.0.contains_key(&[module, &[child.to_owned()][..]].concat());
                (is_child.then_some(module.len())?, path)
            }
        };
        Some([&module[..above], rest].concat())
    }

    /// Returns the module whose file defines what a path from the root names.
    fn definer(&self, path: &[String]) -> Module {
        let depth = (0..=path.len()).rev().find(|&depth| self.0.contains_key(&path[..depth]));
        let (module, rest) = path.split_at(depth.unwrap_or_default());
        let module = module.to_vec();
        let passed_on = rest.first().and_then(|name| self.0.get(&module)?.passed_on.get(name));
        let behind = passed_on.and_then(|path| self.absolute(&module, path));
        match behind {
            Some(behind) if behind != path => self.definer(&[&behind, &rest[1..]].concat()),
            _ => module,
        }
    }

    /// Returns the modules whose files a module's file uses.
    fn uses(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let mut uses = BTreeMap::new();
        for (module, named) in &self.0 {
            let paths = named.paths.iter().filter_map(|path| self.absolute(module, path));
            let mut used: BTreeSet<_> = paths.map(|path| self.definer(&path)).collect();
            used.remove(module);
            uses.insert(module, used);
        }
        uses
    }
}

/// Returns the modules that use themselves through others.
fn circles(uses: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<String> {
    let reaches_itself = |module: &&&Module| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<_> = uses[**module].iter().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(&uses[next]);
            }
        }
        reached.contains(**module)
    };
    uses.keys().filter(reaches_itself).map(|module| module.join("::")).collect()
}

#[test]
fn no_file_uses_itself_through_others() {
    for package in PACKAGES {
        let package_files = Package::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(package));
        let circles = circles(&package_files.uses());
        assert!(circles.is_empty(), "{package}: these use each other: {circles:#?}");
    }
}

/// The modules of a package use only those above them in the table of its documentation, which has all of them.
#[test]
fn modules_use_those_above_them() {
    for package in &PACKAGES[..5] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
        let root = fs::read_to_string(folder.join("lib.rs")).unwrap();
        let rows = root.lines().filter_map(|line| {
            let name = line.strip_prefix("//! | ")?.split(['`', ']']).nth(1)?;
            Some(name.trim_start_matches("mod@").to_owned())
        });
        let order: Vec<_> = rows.collect();
        let declared = root.lines().filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        let declared: BTreeSet<_> = declared.map(String::from).collect();
        assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), declared, "{package}");
        let place = |module: &Module| order.iter().position(|name| Some(name) == module.first());
        for (module, used) in Package::read(&folder).uses() {
            let Some(own) = place(module) else { continue };
            for used in used {
                let is_above = place(&used).is_none_or(|place| place <= own);
                assert!(is_above, "{package}: {module:?} uses {used:?}, which is below it");
            }
        }
    }
}

#[test]
fn every_form_of_a_path_is_found() {
    for (code, paths, passed_on) in [
        (
            "use crate::a::b;\nuse super::e::{f, g::{self, h as i}};",
            "crate::a::b super::e::f super::e::g super::e::g::h",
            "",
        ),
        ("pub(crate) fn f(a: crate::b::C) { super::g(h::i(j)) }", "crate::b::C super::g h::i", ""),
        ("self.a::<B>(c::d::<B>())", "c::d", ""),
        ("// crate::a\nuse crate::c; // crate::d\n#[cfg(test)]\nmod tests { crate::e }", "crate::c", ""),
        ("pub use a::B;\npub(super) use c::D as E;", "a::B c::D", "B E"),
    ] {
        let named = Named::of(code);
        let found: Vec<_> = named.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(found.join(" "), paths, "{code}");
        let names: Vec<_> = named.passed_on.into_keys().collect();
        assert_eq!(names.join(" "), passed_on, "{code}");
    }
}

/// A circle through three files, one of which a module passes on.
#[test]
fn circles_are_found() {
    let files = [
        ("", "mod a; mod b;"),
        ("a", "mod c; pub use c::C; use crate::b::B;"),
        ("a::c", "struct C;"),
        ("b", "use crate::a::C;"),
    ];
    for (changed, expected) in [("struct C;", ""), ("use super::super::b::B;", "a::c b"), ("use super::X;", "a a::c b")]
    {
        let module = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
        let text = |name: &str, text: &str| Named::of(if name == "a::c" { changed } else { text });
        let files = files.iter().map(|(name, code)| (module(name), text(name, &code.replace("; ", ";\n"))));
        let package = Package(files.collect());
        assert_eq!(circles(&package.uses()).join(" "), expected, "{changed}");
    }
}
