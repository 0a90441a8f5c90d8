//! The matrices in tar archives. One of the SuiteSparse collection, `NAME.tar.gz`, has one folder with the matrix,
//! `NAME/NAME.mtx`, and sometimes vectors and texts.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use tar::{Archive, EntryType};

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
pub fn locate(archive: impl Read, is_matrix: fn(&Path) -> bool) -> io::Result<Member> {
    let mut found: [Vec<Member>; RANKS] = Default::default();
    each(archive, |member| {
        let Some(rank) = rank(&member.path, is_matrix) else { return true };
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
    each(&mut rest, |member| {
        second = Some(member.path).filter(|path| matrix_name(path).is_some());
        second.is_none()
    })?;
    match second {
        Some(path) => Err(invalid(format!("the archive contains a second matrix, {}", shown(&path)))),
        None => expect_zeros(rest),
    }
}

/// Checks that what follows the end of an archive only fills its last block, as a further archive would not.
fn expect_zeros(mut rest: impl Read) -> io::Result<()> {
    let mut piece = [0; 1 << 12];
    loop {
        let bytes = rest.read(&mut piece)?;
        if piece[..bytes].iter().any(|byte| *byte != 0) {
            return Err(invalid("after the end of the archive come bytes that are not 0: unpack it"));
        }
        if bytes == 0 {
            return Ok(());
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

/// Calls `take` for each file of an archive, until it returns false.
fn each(archive: impl Read, mut take: impl FnMut(Member) -> bool) -> io::Result<()> {
    let (archive, ration) = Rationed::new(archive);
    for entry in Archive::new(archive).entries()? {
        ration.contents();
        let mut entry = entry?;
        if entry.header().entry_type() == EntryType::Regular {
            let path = entry.path()?.into_owned();
            let member = Member { path, start: entry.raw_file_position(), size: entry.size() };
            if !take(member) {
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
fn rank(path: &Path, is_matrix: fn(&Path) -> bool) -> Option<usize> {
    let is_hidden = |part: &str| part.starts_with('.') || part == "__MACOSX";
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    if parts.any(|part| is_hidden(&part.as_os_str().to_string_lossy())) {
        return None;
    }
    let is_own = folder_and_file(path).is_some_and(|(folder, file)| {
        let is_named = file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('.'));
        is_named && is_matrix(path) || file.starts_with("out.")
    });
    Some(if matrix_name(path).is_some() {
        0
    } else if is_own {
        1
    } else if is_matrix(path) {
        2
    } else {
        RANKS - 1
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
    fn only_the_file_with_the_name_of_its_folder_is_the_matrix() {
        let paths = "cant/cant.mtx ./cant/cant.mtx cant/cant_b.mtx cant.mtx /cant/cant.mtx ../cant/cant.mtx \
            cant/../cant.mtx x/cant/cant.mtx cant/cant.mtx/y cant/cant ";
        for (number, path) in paths.split(' ').enumerate() {
            assert_eq!(matrix_name(Path::new(path)), (number < 2).then_some("cant"), "{path}");
        }
    }
}
