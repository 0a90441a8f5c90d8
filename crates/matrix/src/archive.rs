//! The names of matrix files, and the matrices in tar archives. One of the SuiteSparse collection, `NAME.tar.gz`, has
//! one folder with the matrix, `NAME/NAME.mtx`, and sometimes vectors and texts.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use tar::{Archive, EntryType};

/// The extensions of the files in which a matrix may be compressed, after the extension of the matrix.
const COMPRESSIONS: [&str; 6] = ["", ".gz", ".bz2", ".xz", ".zst", ".zip"];
/// The extensions of archives, which hold a matrix file.
const ARCHIVES: [&str; 6] = [".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip"];
const MARKET: &str = ".mtx";
/// The extension of the Matrix Market files of GraphChallenge.
const MMIO: &str = ".mmio";
/// The extensions of edge lists in folders. Texts (`TEXTS`) are edge lists if they are named on the command line.
pub const EDGE_LISTS: [&str; 6] = [".el", ".wel", ".edges", ".edgelist", ".txt", ".tsv"];
const TEXTS: [&str; 2] = [".txt", ".tsv"];
pub const METIS: [&str; 2] = [".graph", ".metis"];
pub const SMTX: &str = ".smtx";
/// The extensions of DIMACS files of shortest paths and of colourings.
const DIMACS: [&str; 2] = [".gr", ".col"];
/// The extensions of Rutherford-Boeing and Harwell-Boeing files: `.rb`, `.hb`, and the type of the matrix.
pub const HARWELL_BOEING: [&str; 11] =
    [".rb", ".hb", ".rua", ".rsa", ".rza", ".rra", ".pua", ".psa", ".pra", ".iua", ".isa"];
const NPZ: &str = ".npz";

/// Returns the extension of a matrix file without that of its compression, in lower case; `None` for other files.
pub fn inner_extension(file: &Path) -> Option<&'static str> {
    let name = file.file_name()?.to_string_lossy().to_ascii_lowercase();
    COMPRESSIONS.iter().find_map(|compression| extension_of(name.strip_suffix(compression)?))
}

fn extension_of(name: &str) -> Option<&'static str> {
    let single = [MARKET, MMIO, SMTX, NPZ];
    let graphs = EDGE_LISTS.iter().chain(&METIS).chain(&DIMACS);
    let mut extensions = single.iter().chain(graphs).chain(&HARWELL_BOEING);
    extensions.find(|extension| name.ends_with(**extension)).copied()
}

pub fn is_archive(file: &Path) -> bool {
    form(file).is_some_and(|form| form >= COMPRESSIONS.len())
}

/// Returns whether a file in a folder is one of a matrix.
pub fn is_matrix(file: &Path) -> bool {
    form(file).is_some()
        && inner_extension(file).is_none_or(|extension| !TEXTS.contains(&extension))
}

/// Returns how far a matrix file is from the uncompressed file: 0 for the uncompressed file itself, more for a
/// compressed file and an archive; `None` for other files.
pub fn form(file: &Path) -> Option<usize> {
    split_extension(&file.file_name()?.to_string_lossy()).map(|(_, form)| form)
}

/// Returns the name of a matrix file without its extension, and its [`form`]; `None` for other files. The extension of
/// a matrix in another format than Matrix Market is part of the name, because `a.graph` and `a.mtx` may be different
/// matrices.
pub fn split_extension(name: &str) -> Option<(&str, usize)> {
    let compressed = COMPRESSIONS.iter().enumerate().find_map(|(form, compression)| {
        let inner = without(name, compression)?;
        let extension = extension_of(&inner.to_ascii_lowercase())?;
        Some((if extension == MARKET { without(inner, MARKET)? } else { inner }, form))
    });
    let archives = ARCHIVES.iter().zip(COMPRESSIONS.len()..);
    compressed.or_else(|| {
        archives.clone().find_map(|(extension, form)| Some((without(name, extension)?, form)))
    })
}

/// Returns a name without an extension in any case; `None` if it has another extension.
fn without<'a>(name: &'a str, extension: &str) -> Option<&'a str> {
    let (stem, found) = name.split_at_checked(name.len().checked_sub(extension.len())?)?;
    found.eq_ignore_ascii_case(extension).then_some(stem)
}

/// A file in an uncompressed archive.
pub struct Member {
    pub path: PathBuf,
    /// The position and the length of its contents in bytes.
    pub start: u64,
    pub size: u64,
}

/// The number of kinds of files that [`rank`] tells apart.
const RANKS: usize = 4;

/// Returns the matrix of an archive: `NAME/NAME.mtx`, or else the only file that is named as matrices in other formats
/// are, the only one with the extension of a matrix, or the only one.
pub fn locate(archive: impl Read) -> io::Result<Member> {
    let mut found: [Vec<Member>; RANKS] = Default::default();
    each(archive, |rank, member| {
        if found[rank].len() < 2 {
            found[rank].push(member);
        }
        rank > 0
    })?;
    let several = found[..RANKS - 1].iter().find(|found| !found.is_empty());
    if let Some([one, two]) = several.map(Vec::as_slice) {
        let names = format!("{} and {}", shown(&one.path), shown(&two.path));
        return Err(invalid(format!("the archive contains several matrices, {names}; unpack it")));
    }
    let only = found.into_iter().find(|found| !found.is_empty());
    let only = only.filter(|found| found.len() == 1).and_then(|mut found| found.pop());
    only.ok_or_else(|| invalid("the archive contains no NAME/NAME.mtx, nor another matrix"))
}

/// Reads the rest of an archive, from the header after the matrix to the end. A second matrix is an error, because it
/// would be ambiguous.
pub fn expect_no_other(mut rest: impl Read) -> io::Result<()> {
    let mut second = None;
    each(&mut rest, |rank, member| {
        second = Some(member.path).filter(|_| rank == 0);
        second.is_none()
    })?;
    match second {
        Some(path) => {
            Err(invalid(format!("the archive contains a second matrix, {}", shown(&path))))
        }
        None => expect_zeros(rest),
    }
}

/// Checks that what follows the end of an archive only fills its last block, as a further archive would not.
fn expect_zeros(mut rest: impl Read) -> io::Result<()> {
    let mut piece = [0; 1 << 12];
    loop {
        let bytes = rest.read(&mut piece)?;
        if piece[..bytes].iter().any(|byte| *byte != 0) {
            return Err(invalid(
                "after the end of the archive come bytes that are not 0: unpack it",
            ));
        }
        if bytes == 0 {
            return Ok(());
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

/// Calls `take` for each file of an archive with its rank, until it returns false.
fn each(archive: impl Read, mut take: impl FnMut(usize, Member) -> bool) -> io::Result<()> {
    let (archive, ration) = Rationed::new(archive);
    for entry in Archive::new(archive).entries()? {
        ration.contents();
        let mut entry = entry?;
        if entry.header().entry_type() == EntryType::Regular {
            let (path, start) = (entry.path()?.into_owned(), entry.raw_file_position());
            let rank = rank(&path);
            let member = Member { path, start, size: entry.size() };
            if rank.is_some_and(|rank| !take(rank, member)) {
                return Ok(());
            }
        }
        io::copy(&mut entry, &mut io::sink())?;
        ration.headers();
    }
    Ok(())
}

/// Returns the order in which a file of an archive is taken for its matrix: `NAME/NAME.mtx`, then `NAME/NAME.rb` and
/// KONECT's `NAME/out.NAME`, files with the extension of a matrix, and others; `None` for hidden files.
fn rank(path: &Path) -> Option<usize> {
    let is_hidden = |part: &str| part.starts_with('.') || part == "__MACOSX";
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    if parts.any(|part| is_hidden(&part.as_os_str().to_string_lossy())) {
        return None;
    }
    let is_own = folder_and_file(path).is_some_and(|(folder, file)| {
        let is_named = file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('.'));
        is_named && is_matrix(path) || file.starts_with("out.")
    });
    Some(match () {
        () if matrix_name(path).is_some() => 0,
        () if is_own => 1,
        () if is_matrix(path) => 2,
        () => RANKS - 1,
    })
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

/// Returns `NAME` if `path` within an archive is that of its matrix, `NAME/NAME.mtx`.
pub fn matrix_name(path: &Path) -> Option<&str> {
    let (folder, file) = folder_and_file(path)?;
    (file.strip_suffix(".mtx")? == folder).then_some(folder)
}

/// Returns the folder and the file of a path within an archive, if the path has exactly these two parts.
pub fn folder_and_file(path: &Path) -> Option<(&str, &str)> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Component::Normal(folder)), Some(Component::Normal(file)), None) => {
            Some((folder.to_str()?, file.to_str()?))
        }
        _ => None,
    }
}

/// The limit on headers, long names and padding between two entries, in bytes. They are stored in memory.
const MOST_HEADER_BYTES: u64 = 1 << 20;

/// Sets the limit of a [`Rationed`] reader: the number of bytes that can be read until it is set again.
#[derive(Clone)]
pub struct Ration(Rc<Cell<u64>>);

impl Ration {
    pub fn headers(&self) {
        self.0.set(MOST_HEADER_BYTES);
    }

    /// Removes the limit within an entry, whose size is known from its header.
    pub fn contents(&self) {
        self.0.set(u64::MAX);
    }
}

/// A reader with a limit on the number of bytes, set by its [`Ration`].
pub struct Rationed<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R> Rationed<R> {
    pub fn new(inner: R) -> (Self, Ration) {
        let left = Rc::new(Cell::new(MOST_HEADER_BYTES));
        (Self { inner, left: left.clone() }, Ration(left))
    }

    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let most = piece.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        if most == 0 && !piece.is_empty() {
            let what = "bytes of headers between two entries";
            return Err(invalid(format!("more than {MOST_HEADER_BYTES} {what}")));
        }
        let bytes = self.inner.read(&mut piece[..most])?;
        self.left.set(self.left.get() - bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_matrix_files_count_in_any_case() {
        for (name, expected) in [
            ("a.mtx", Some(("a", 0))),
            ("UPPER.MTX", Some(("UPPER", 0))),
            ("a.b.mtx.GZ", Some(("a.b", 1))),
            ("a.mtx.zip", Some(("a", 5))),
            ("a.Tar.gz", Some(("a", 6))),
            ("a.TGZ", Some(("a", 7))),
            ("a.zip", Some(("a", 11))),
            ("a.graph", Some(("a.graph", 0))),
            ("a.RSA.xz", Some(("a.RSA", 3))),
            ("a.npz", Some(("a.npz", 0))),
            ("a.gr.gz", Some(("a.gr", 1))),
            ("a_adj.mmio", Some(("a_adj.mmio", 0))),
            ("a.tar", None),
            ("a.gz", None),
            ("a.mtx.aux", None),
            ("mtx", None),
            ("äöü", None),
        ] {
            assert_eq!(split_extension(name), expected, "{name}");
            let path = Path::new("b.tar.gz").join(name);
            assert_eq!(is_matrix(&path), expected.is_some(), "{name}");
            assert_eq!(is_archive(&path), expected.is_some_and(|(_, form)| form >= 6), "{name}");
        }
        let text = Path::new("a.txt.gz");
        assert!(!is_matrix(text) && inner_extension(text) == Some(".txt"));
    }

    #[test]
    fn only_the_file_with_the_name_of_its_folder_is_the_matrix() {
        let paths = "cant/cant.mtx ./cant/cant.mtx cant/cant_b.mtx cant.mtx /cant/cant.mtx ../cant/cant.mtx \
            cant/../cant.mtx x/cant/cant.mtx cant/cant.mtx/y cant/cant ";
        for (number, path) in paths.split(' ').enumerate() {
            assert_eq!(matrix_name(Path::new(path)), (number < 2).then_some("cant"), "{path}");
        }
    }
}
