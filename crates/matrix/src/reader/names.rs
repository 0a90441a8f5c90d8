//! What the name of a file says: whether it is that of a matrix, and how the matrix is packed.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::codec::Codec;
use super::container::{Archive, Container};
use super::formats::FORMATS;
use super::formats::edges::comments::is_konect;

/// The largest length of the first line of a file of KONECT, in bytes.
const LONGEST_KONECT: u64 = 64;
/// The extension that is no part of the name of a matrix.
const USUAL: &str = ".mtx";

/// The end of a name, and the containers that it states, the outermost first.
type Ending = (&'static str, &'static [Container]);

const GZIP: Container = Container::Compressed(Codec::Gzip);
const BZIP2: Container = Container::Compressed(Codec::Bzip2);
const XZ: Container = Container::Compressed(Codec::Xz);
const ZSTD: Container = Container::Compressed(Codec::Zstd);
const TAR: Container = Container::Archive(Archive::Tar);
const ZIP: Container = Container::Archive(Archive::Zip);

/// The endings after the extension of a format.
const AFTER_EXTENSION: [Ending; 6] =
    [("", &[]), (".gz", &[GZIP]), (".bz2", &[BZIP2]), (".xz", &[XZ]), (".zst", &[ZSTD]), (".zip", &[ZIP])];
/// The endings of archives, in which a matrix is under another name.
const OF_ARCHIVES: [Ending; 6] = [
    (".tar.gz", &[GZIP, TAR]),
    (".tgz", &[GZIP, TAR]),
    (".tar.bz2", &[BZIP2, TAR]),
    (".tar.xz", &[XZ, TAR]),
    (".tar.zst", &[ZSTD, TAR]),
    (".zip", &[ZIP]),
];

/// How a matrix is packed. What is less is nearer to the uncompressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packing {
    pub is_archive: bool,
    containers: &'static [Container],
    /// The end of the name, after the extension of a format.
    ending: &'static str,
}

/// The name of a matrix file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixName<'a> {
    /// The name without what says how the matrix is packed, and without `.mtx`. The extensions of other formats are
    /// part of it, because `a.graph` and `a.mtx` may be different matrices.
    pub stem: &'a str,
    /// The extension of its format in lower case; `None` for an archive.
    pub(super) extension: Option<&'static str>,
    pub packing: Packing,
}

impl<'a> MatrixName<'a> {
    /// Returns what the name of a file says, if it is that of a matrix or of an archive.
    pub fn of(name: &'a str) -> Option<Self> {
        let with_extension = AFTER_EXTENSION.iter().find_map(|&(ending, containers)| {
            let name = without(name, ending)?;
            let extension = extension_of(&name.to_ascii_lowercase())?;
            let stem = without(name, extension).filter(|_| extension == USUAL).unwrap_or(name);
            let packing = Packing { is_archive: false, containers, ending };
            Some(Self { stem, extension: Some(extension), packing })
        });
        let archive = || {
            OF_ARCHIVES.iter().find_map(|&(ending, containers)| {
                let packing = Packing { is_archive: true, containers, ending };
                Some(Self { stem: without(name, ending)?, extension: None, packing })
            })
        };
        with_extension.or_else(archive)
    }

    /// Returns whether files in folders with this name are taken for matrices.
    fn counts_in_folders(&self) -> bool {
        let is_common = |extension| FORMATS.iter().any(|it| it.common_extensions.contains(&extension));
        !self.extension.is_some_and(is_common)
    }
}

fn extension_of(name: &str) -> Option<&'static str> {
    let all = FORMATS.iter().flat_map(|it| it.extensions.iter().chain(it.common_extensions));
    all.copied().find(|extension| name.ends_with(extension))
}

/// Returns a name without an extension in any case; `None` if it has another extension.
fn without<'a>(name: &'a str, extension: &str) -> Option<&'a str> {
    let (stem, found) = name.split_at_checked(name.len().checked_sub(extension.len())?)?;
    found.eq_ignore_ascii_case(extension).then_some(stem)
}

/// Returns the extension of a file without that of its compression, if a format has it.
pub fn extension(file: &Path) -> Option<&'static str> {
    MatrixName::of(&file.file_name()?.to_string_lossy())?.extension
}

/// Returns how a matrix file is packed; `None` if the file does not have the name of one.
pub fn packing(file: &Path) -> Option<Packing> {
    MatrixName::of(&file.file_name()?.to_string_lossy()).map(|name| name.packing)
}

pub fn is_archive(file: &Path) -> bool {
    packing(file).is_some_and(|packing| packing.is_archive)
}

/// Returns whether a file in a folder is one of a matrix.
pub fn is_matrix(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    MatrixName::of(&name).is_some_and(|name| name.counts_in_folders())
}

/// Returns whether a file has the name and the first line of a matrix of the KONECT collection, `out.NAME`.
pub fn is_konect_file(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    if !name.starts_with(b"out.") {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_KONECT).read_to_end(&mut head));
    read.is_ok() && is_konect(&head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_matrix_files_count_in_any_case() {
        for (name, expected) in [
            ("a.mtx", Some(("a", ""))),
            ("UPPER.MTX", Some(("UPPER", ""))),
            ("a.b.mtx.GZ", Some(("a.b", ".gz"))),
            ("a.mtx.zip", Some(("a", ".zip"))),
            ("a.graph", Some(("a.graph", ""))),
            ("a.RSA.xz", Some(("a.RSA", ".xz"))),
            ("a.npz", Some(("a.npz", ""))),
            ("a.gr.gz", Some(("a.gr", ".gz"))),
            ("a_adj.mmio", Some(("a_adj.mmio", ""))),
            ("a.Tar.gz", Some(("a", "archive .tar.gz"))),
            ("a.TGZ", Some(("a", "archive .tgz"))),
            ("a.zip", Some(("a", "archive .zip"))),
            ("a.tar", None),
            ("a.gz", None),
            ("a.mtx.aux", None),
            ("mtx", None),
            ("äöü", None),
        ] {
            let found = MatrixName::of(name);
            let ending = expected.map(|(stem, ending)| (stem, ending.trim_start_matches("archive ")));
            assert_eq!(found.map(|found| (found.stem, found.packing.ending)), ending, "{name}");
            let path = Path::new("b.tar.gz").join(name);
            assert_eq!(is_matrix(&path), expected.is_some(), "{name}");
            let is_expected = expected.is_some_and(|(_, ending)| ending.starts_with("archive"));
            assert_eq!(is_archive(&path), is_expected, "{name}");
        }
        let text = Path::new("a.txt.gz");
        assert!(!is_matrix(text) && extension(text) == Some(".txt"));
    }

    #[test]
    fn a_matrix_is_preferred_in_the_form_that_is_nearest_to_the_uncompressed_file() {
        let endings = ".mtx .mtx.gz .mtx.bz2 .mtx.xz .mtx.zst .mtx.zip .tar.gz .tgz .tar.bz2 .tar.xz .tar.zst .zip";
        let packings = endings.split(' ').map(|ending| packing(Path::new(&format!("a{ending}"))));
        assert!(packings.is_sorted_by(|a, b| a < b));
    }
}
