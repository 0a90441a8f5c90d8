//! Finds the matrices in folders. Not every file with the extension of a matrix is one that a user wants to measure:
//! hidden files are copies that other programs made, and a folder of the collection has a matrix in several files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::{DirEntry, WalkDir};

use spmv_matrix::reader::{is_archive, is_konect_file, is_matrix, packing};
use spmv_matrix::source::Source;
use spmv_results::report::names::{count, join, listed};
use spmv_results::row::{matrix_name, matrix_parts};

/// The number of files of each kind that the message on files that are left out names.
const NAMED: usize = 3;

#[derive(Default)]
pub struct LeftOut {
    /// Vectors and other matrices beside a matrix of the collection: `NAME/NAME_b.mtx` beside `NAME/NAME.mtx`.
    companions: BTreeSet<PathBuf>,
    /// Archives and compressed files beside the uncompressed file: `NAME.tar.gz` beside `NAME.mtx` or `NAME/NAME.mtx`.
    archives: BTreeSet<PathBuf>,
    /// Files whose name, or the name of a folder below the given one, begins with a dot.
    hidden: BTreeSet<PathBuf>,
}

/// Returns the matrices below a folder and their bytes, the smallest first; stderr tells what cannot be searched.
pub fn find(dir: &Path, left_out: &mut LeftOut, stderr: &mut dyn Write) -> Result<Vec<(Source, u64)>> {
    std::fs::read_dir(dir).with_context(|| format!("cannot read folder {}", dir.display()))?;
    let files = left_out.without_hidden(dir, stderr)?;
    let files = left_out.without_companions(files);
    let files = left_out.without_archives(files);
    let mut files: Vec<_> = files.into_iter().map(sized).collect();
    files.sort_by_key(|(_, bytes)| *bytes);
    Ok(files)
}

pub fn sized(file: PathBuf) -> (Source, u64) {
    let source = Source::File(file);
    let bytes = bytes_of(&source);
    (source, bytes)
}

/// Returns the size of a matrix file in bytes; 0 for a generated matrix or an unreadable file.
pub fn bytes_of(source: &Source) -> u64 {
    match source {
        Source::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
        Source::Generated(_) | Source::Surrogate(..) => 0,
    }
}

impl LeftOut {
    /// Writes how many files are left out and why, in one line, unless there are none. Files that are measured because
    /// they are named in another way are not counted.
    pub fn write(&self, measured: &[(Source, u64)], stderr: &mut dyn Write) -> io::Result<()> {
        let measured: BTreeSet<_> = measured.iter().map(|(source, _)| source.to_string()).collect();
        let kinds = [
            (&self.companions, "companion", " of a matrix"),
            (&self.archives, "archive", " beside the uncompressed file"),
            (&self.hidden, "hidden file", ""),
        ];
        let kinds = kinds.into_iter().filter_map(|(files, what, why)| {
            let names = files.iter().map(|file| Source::File(file.clone()).to_string());
            let names: Vec<_> = names.filter(|name| !measured.contains(name)).collect();
            let text = || format!("{}{why} ({})", count(names.len(), what), listed(names.iter(), NAMED));
            (!names.is_empty()).then(text)
        });
        let kinds = join(kinds, ", ");
        if kinds.is_empty() { Ok(()) } else { writeln!(stderr, "left out: {kinds}") }
    }

    /// Returns the files below a folder with the extensions of matrices, and those of KONECT, which have none. A
    /// dangling link is one of them: it causes an error when it is read. Hidden folders are searched, to count what is
    /// in them, but not where a link leads.
    fn without_hidden(&mut self, dir: &Path, stderr: &mut dyn Write) -> io::Result<Vec<PathBuf>> {
        let is_searched = |entry: &DirEntry| {
            let is_link_to_folder = entry.path_is_symlink() && entry.file_type().is_dir();
            !(is_link_to_folder && is_hidden(entry.path(), dir))
        };
        let walk = WalkDir::new(dir).follow_links(true).sort_by_file_name().into_iter();
        let mut files = Vec::new();
        for entry in walk.filter_entry(is_searched) {
            let (path, is_file) = match &entry {
                Ok(entry) => (entry.path(), entry.file_type().is_file()),
                Err(error) => error.path().map_or((dir, false), |path| (path, !path.is_dir())),
            };
            let is_wanted = is_file && (is_matrix(path) || is_konect_file(path));
            let file = is_wanted.then(|| path.to_owned());
            match (file, &entry) {
                (file, _) if is_hidden(path, dir) => self.hidden.extend(file),
                (Some(file), _) => files.push(file),
                (None, Err(error)) => writeln!(stderr, "not searched: {error}")?,
                (None, Ok(_)) => {}
            }
        }
        Ok(files)
    }

    fn without_companions(&mut self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let places: BTreeSet<_> = files.iter().map(|file| place(file)).collect();
        let is_companion = |file: &PathBuf| {
            let owner = owner(place(file)).filter(|_| !is_archive(file));
            owner.is_some_and(|owner| places.contains(&owner))
        };
        let (companions, others): (Vec<_>, _) = files.into_iter().partition(is_companion);
        self.companions.extend(companions);
        others
    }

    fn without_archives(&mut self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        let matrix = |file: &Path| matrix_parts(&full_name(file)).join("/");
        let mut packings = BTreeMap::new();
        for file in files.iter().filter(|file| file.exists()) {
            let least = packings.entry(matrix(file)).or_insert(packing(file));
            *least = packing(file).min(*least);
        }
        let is_uncompressed_too =
            |file: &PathBuf| packings.get(&matrix(file)).is_some_and(|least| packing(file) > *least);
        let (archives, others): (Vec<_>, _) = files.into_iter().partition(is_uncompressed_too);
        self.archives.extend(archives);
        others
    }
}

fn full_name(file: &Path) -> String {
    Source::File(file.to_owned()).full_name()
}

/// Returns the folder of a matrix file, and its name without extension.
fn place(file: &Path) -> (PathBuf, String) {
    let file = full_name(file);
    let folder = Path::new(&file).parent().unwrap_or(Path::new("/"));
    (folder.to_owned(), matrix_name(&file).to_owned())
}

/// Returns the place of the matrix that a file belongs to if it is a companion: `NAME/NAME` for `NAME/NAME_b`.
fn owner((folder, name): (PathBuf, String)) -> Option<(PathBuf, String)> {
    let owner = folder.file_name()?.to_str()?.to_owned();
    name.strip_prefix(&owner)?.starts_with('_').then_some((folder, owner))
}

/// Returns whether the name of the file, or of one of its folders below `dir`, begins with a dot.
fn is_hidden(file: &Path, dir: &Path) -> bool {
    let below = file.strip_prefix(dir).unwrap_or(file);
    below.iter().any(|part| part.as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates the files (`FILE -> TARGET` is a link) in a folder whose own name begins with a dot. Returns the files
    /// that are measured, and the message.
    fn found(files: &[&str]) -> (Vec<String>, String) {
        let dir = tempfile::Builder::new().prefix(".").tempdir().unwrap();
        for file in files {
            let (file, target) = file.split_once(" -> ").map_or((*file, None), |(f, t)| (f, Some(t)));
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match target {
                Some(target) => symlink(target, path).unwrap(),
                None => {
                    let is_konect = file == "a/out.a";
                    fs::write(path, if is_konect { "% sym\n" } else { "a log\n" }).unwrap();
                }
            }
        }
        let (mut left_out, mut stderr) = (LeftOut::default(), Vec::new());
        let found = find(dir.path(), &mut left_out, &mut stderr).unwrap();
        left_out.write(&[], &mut stderr).unwrap();
        let short = |text: String| text.replace(&format!("{}/", dir.path().display()), "");
        let mut found: Vec<_> = found.iter().map(|(file, _)| short(file.to_string())).collect();
        found.sort();
        (found, short(String::from_utf8(stderr).unwrap()))
    }

    #[test]
    fn files_that_are_not_a_matrix_of_their_own_are_left_out_and_counted() {
        for (files, measured, message) in [
            (
                &["1/t/t.mtx", "1/t/t_b.mtx", "1/t/t_x.mtx.gz", "1/t.tar.gz", "2/t/T.mtx"][..],
                &["1/t/t.mtx", "2/t/T.mtx"][..],
                "left out: 2 companions of a matrix (1/t/t_b.mtx, 1/t/t_x.mtx.gz), 1 archive beside the uncompressed \
                 file (1/t.tar.gz)\n",
            ),
            (&["t/t_b.mtx", "a.mtx", "a_b.mtx"], &["a.mtx", "a_b.mtx", "t/t_b.mtx"], ""),
            (
                &["t/t.mtx", "t/tt.mtx", "t/u_t.mtx", "t/t_2.tgz"],
                &["t/t.mtx", "t/t_2.tgz", "t/tt.mtx", "t/u_t.mtx"],
                "",
            ),
            (
                &["a.mtx.GZ", "a.MTX", "a.TAR.gz", "b.tgz", "b.mtx.gz", "b/c.mtx"],
                &["a.MTX", "b.mtx.gz", "b/c.mtx"],
                "left out: 3 archives beside the uncompressed file (a.TAR.gz, a.mtx.GZ, b.tgz)\n",
            ),
            (
                &["._x.mtx", "x.mtx", ".c/y.mtx", ".c/d/z.tgz", ".c/y.txt", ".e/x.mtx -> no", "f/x.mtx", ".f -> f"],
                &["f/x.mtx", "x.mtx"],
                "left out: 4 hidden files (._x.mtx, .c/d/z.tgz, .c/y.mtx and 1 more)\n",
            ),
            (&["a.mtx -> no", "a.tar.gz"], &["a.mtx", "a.tar.gz"], ""),
            (&["a.mtx", "b.mtx -> a.mtx"], &["a.mtx", "b.mtx"], ""),
            (&["a/out.a", "a/meta.a", "out.log", "b.mmio"], &["a/out.a", "b.mmio"], ""),
        ] {
            let measured: Vec<_> = measured.iter().map(|&file| file.to_owned()).collect();
            assert_eq!(found(files), (measured, message.to_owned()), "{files:?}");
        }
    }
}
