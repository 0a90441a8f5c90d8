//! The structure of the code, and the files that the documents name.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    files.filter(|path| path.extension().is_some_and(|of| of == extension)).collect()
}

/// The file of a row is its first column. Other machines do not have the folders of the one that measured it.
#[test]
fn recorded_rows_name_no_folder_of_a_machine() {
    let tables = files(&Path::new(ROOT).join("results"), "csv");
    let has_path = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().any(|line| line.trim_start_matches('"').starts_with('/'))
    };
    let found: Vec<_> = tables.iter().filter(has_path).collect();
    assert!(!tables.is_empty() && found.is_empty(), "name --data relative to the repository: {found:?}");
}

/// Records that are older than this rule, until they are made anew.
const MODIFIED: [&str; 2] = [
    "gpu-campaign/2026-11-26-nvidia-h200",
    "gpu-methods/2026-11-26-intel-r-xeon-r-processor-16-cores-nvidia-h200",
];

/// What a revision measures can be built again only if it has no changes of its own.
#[test]
fn records_are_of_clean_trees() {
    let records = files(&Path::new(ROOT).join("results"), "json");
    assert!(!records.is_empty());
    let is_modified = |record: &&PathBuf| {
        let text = fs::read_to_string(record).unwrap();
        let revision = text.lines().find_map(|line| line.trim().strip_prefix("\"revision\": \""));
        let path = record.display().to_string();
        revision.is_some_and(|revision| revision.contains("-modified"))
            && !MODIFIED.iter().any(|known| path.contains(known))
    };
    let modified: Vec<_> = records.iter().filter(is_modified).collect();
    assert!(modified.is_empty(), "measured with uncommitted changes: {modified:#?}");
}

/// A published package has what is in its folder, where a link counts as what it leads to.
#[test]
fn packages_contain_what_their_code_includes() {
    let mut included = 0;
    for package in ["src", "crates/matrix/src", "crates/methods/src", "crates/results/src", "crates/ptx-machine/src"] {
        let folder = Path::new(ROOT).join(package);
        let package = folder.parent().unwrap().to_owned();
        for file in files(&folder, "rs").iter().filter(|file| !file.to_string_lossy().contains("tests")) {
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for part in code.split("include_str!(\"").skip(1) {
                included += 1;
                let name = part.split('"').next().unwrap_or_default();
                let ups = name.matches("../").count();
                let from = file.parent().unwrap().ancestors().nth(ups).unwrap();
                let found = from.join(name.trim_start_matches("../"));
                // A folder with a manifest is another package.
                let own = found.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").exists());
                let is_inside = found.exists() && own == Some(&package);
                assert!(is_inside, "{} includes {name}, which is not in its package", file.display());
            }
        }
    }
    assert!(included > 30, "{included}");
}

/// The documents name only files and folders that exist, apart from those that a reader may add.
#[test]
fn documents_name_existing_files() {
    let root = Path::new(ROOT);
    let mut documents = files(&root.join("docs"), "md");
    documents.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let folders = ["src/", "crates/", "tests/", "docs/", "cuda/", "scripts/", "plugins/", "experiments/"];
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

/// Returns the code of a Rust file with only the line ends of its raw strings.
fn without_raw_strings(text: &str) -> String {
    let mut parts = text.split("r#\"");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (raw, rest) = part.split_once("\"#").unwrap_or((part, ""));
        code.extend(raw.chars().filter(|&c| c == '\n').chain(rest.chars()));
    }
    code
}

/// Returns the numbers of the lines of a file that have more than 120 columns although they can be broken. Tables and
/// words of more than 78 characters cannot, nor headings and blocks of code of a document. The program writes the
/// blocks of a document between comments. Of a TOML file only comments count.
fn wide_lines(extension: &str, text: &str) -> Vec<usize> {
    let text = if extension == "rs" { &without_raw_strings(text) } else { text };
    let (is_document, mut is_code, mut is_generated) = (extension == "md", false, false);
    let mut wide = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let begin = line.trim_start_matches([' ', '/', '!']);
        is_code ^= is_document && begin.starts_with("```");
        if is_document && begin.starts_with("<!--") {
            is_generated = !begin.starts_with("<!-- end");
        }
        let is_exempt = begin.starts_with('|')
            || line.split_whitespace().any(|word| word.chars().count() > 78)
            || is_document && (is_code || is_generated || begin.starts_with(['#', '!', '<']))
            || extension == "toml" && !begin.starts_with('#');
        if line.chars().count() > 120 && !is_exempt {
            wide.push(number);
        }
    }
    wide
}

#[test]
fn lines_have_at_most_120_columns() {
    let wide = "word ".repeat(25);
    for (extension, text, expected) in [
        ("rs", format!("// {wide}\nlet a = r#\"\n{wide}\"#;\n/// | {wide}\n{wide}"), vec![1, 5]),
        ("md", format!("{wide}\n```\n{wide}\n```\n<!-- a -->\n{wide}\n<!-- end -->\n{wide}"), vec![1, 8]),
        ("toml", format!("# {wide}\ntext = \"{wide}\""), vec![1]),
        ("py", format!("# {}\n# {}", "é".repeat(118), "a ".repeat(60)), vec![2]),
    ] {
        assert_eq!(wide_lines(extension, &text), expected, "{text}");
    }
    let is_ours = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && !["target", "results", "book", "ufl_mtx", "artifact-results"].contains(&&*name)
    };
    let entries = WalkDir::new(ROOT).into_iter().filter_entry(|entry| entry.depth() == 0 || is_ours(entry.path()));
    let mut found = String::new();
    for path in entries.map(|entry| entry.unwrap().into_path()) {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if ["rs", "md", "cu", "cuh", "h", "c", "cpp", "py", "js", "toml"].contains(&&*extension) {
            let text = fs::read_to_string(&path).unwrap();
            for number in wide_lines(&extension, &text) {
                found += &format!("{}:{number}\n", path.strip_prefix(ROOT).unwrap().display());
            }
        }
    }
    assert!(found.is_empty(), "lines of more than 120 columns:\n{found}");
}
