//! Extracts the matrix from an archive into a temporary file, in one pass and with constant memory, and checks
//! it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use tar::Entry;

use super::client::Client;
use super::contents::{Contents, Head};
use super::error::{ContentsError, FetchError, Mismatch};
use super::folder::Folder;
use super::reading::{self, Hashing};
use super::temporary::{Temporary, Writing};
use crate::collection::{ArchiveError, Matrix};
use spmv_matrix::archive::{folder_and_file, matrix_name};
use spmv_matrix::cache::hex;

/// The largest expected size of the comments in a Matrix Market file, in bytes.
const MOST_COMMENT_BYTES: u64 = 16 << 20;
/// The largest length of a value in bytes, with sign, exponent and blank. A complex entry has two values.
const LONGEST_VALUE: u64 = 32;
/// The usual length of a value in bytes.
const USUAL_VALUE: u64 = 16;
/// The size of the copy buffer in bytes.
const PIECE: usize = 1 << 17;

/// The files to extract.
pub struct Wanted<'w> {
    pub matrix: &'w Matrix,
    /// Whether the matrix is extracted; otherwise it is only checked.
    pub keep: bool,
    /// Whether the other files are extracted.
    pub aux: bool,
}

/// The files that were extracted from an archive.
pub struct Unpacked {
    /// The temporary files, the matrix first.
    pub files: Vec<Temporary>,
    pub archive_bytes: u64,
    pub archive_sha256: String,
}

/// The reason why nothing was extracted.
pub enum Damage {
    /// The archive is damaged or does not contain the expected matrix.
    Archive(String),
    /// Another error, for which the archive is not the cause.
    Elsewhere(FetchError),
}

impl From<FetchError> for Damage {
    fn from(error: FetchError) -> Self {
        Self::Elsewhere(error)
    }
}

impl From<ContentsError> for Damage {
    fn from(error: ContentsError) -> Self {
        Self::Archive(error.to_string())
    }
}

impl From<ArchiveError> for Damage {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error.to_string())
    }
}

/// Returns the approximate size of the matrix file in bytes.
pub fn bytes_estimate(matrix: &Matrix) -> u64 {
    let value = if matrix.binary { 0 } else { USUAL_VALUE };
    matrix.stored_at_most().saturating_mul(index_bytes(matrix) + value)
}

/// Returns the largest possible size of the matrix file in bytes.
fn most_bytes(matrix: &Matrix) -> u64 {
    let line = index_bytes(matrix) + 2 * LONGEST_VALUE;
    matrix.entries.saturating_mul(line).saturating_add(MOST_COMMENT_BYTES)
}

/// Returns the largest length of a line's two indices in bytes, with blanks and the end of the line.
fn index_bytes(matrix: &Matrix) -> u64 {
    let digits = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
    digits(matrix.rows) + digits(matrix.cols) + 3
}

/// Extracts the wanted files from an archive. Reads the archive to its end, so that its checksum is verified.
pub fn unpack(
    archive: &Path,
    wanted: &Wanted,
    folder: &Folder,
    web: &Client,
) -> Result<Unpacked, Damage> {
    let file = File::open(archive).map_err(FetchError::file("open", archive))?;
    let (mut tar, ration) = reading::open(Hashing::new(file));
    let mut unpacking = Unpacking { wanted, folder, web, matrix: None, aux: Vec::new() };
    for entry in tar.entries().map_err(unreadable)? {
        ration.contents();
        unpacking.entry(entry.map_err(unreadable)?)?;
        ration.headers();
    }
    let read = reading::end(tar).map_err(unreadable)?;
    let Some(matrix) = unpacking.matrix else {
        let absent = Mismatch::Absent(wanted.matrix.name().to_owned());
        return Err(Damage::Archive(absent.to_string()));
    };
    let files = matrix.into_iter().chain(unpacking.aux).collect();
    Ok(Unpacked { files, archive_bytes: read.bytes, archive_sha256: hex(read.sha256) })
}

/// Reads the header of the matrix `name` in an archive. `shown` is the name of the archive for messages.
///
/// # Errors
/// Returns an error if the archive does not contain the matrix or its header is not valid.
pub fn head(archive: File, name: &str, shown: &str) -> Result<Head, ContentsError> {
    let (mut tar, ration) = reading::open(archive);
    let unreadable = |error: io::Error| Mismatch::Io(error).of(shown);
    for entry in tar.entries().map_err(unreadable)? {
        ration.contents();
        let mut entry = entry.map_err(unreadable)?;
        if entry.path().is_ok_and(|path| matrix_name(&path) == Some(name)) {
            return Head::read(BufReader::new(entry), shown);
        }
        io::copy(&mut entry, &mut io::sink()).map_err(unreadable)?;
        ration.headers();
    }
    Err(Mismatch::Absent(name.to_owned()).of(shown))
}

/// The state of unpacking an archive.
struct Unpacking<'u> {
    wanted: &'u Wanted<'u>,
    folder: &'u Folder,
    web: &'u Client<'u>,
    /// `Some` after the matrix has been read; the inner value is its file if it is extracted.
    matrix: Option<Option<Temporary>>,
    aux: Vec<Temporary>,
}

impl Unpacking<'_> {
    fn entry<R: Read>(&mut self, mut entry: Entry<R>) -> Result<(), Damage> {
        let path = entry.path().map_err(unreadable)?.into_owned();
        let name = self.wanted.matrix.name();
        if matrix_name(&path) == Some(name) {
            return self.matrix(&mut entry, &path);
        }
        let aux = aux_name(&path, name).filter(|_| self.wanted.aux);
        match aux.filter(|_| entry.header().entry_type().is_file()) {
            Some(name) => self.aux(&mut entry, name),
            None => self.copy(&mut entry, |_| Ok(())),
        }
    }

    fn matrix<R: Read>(&mut self, entry: &mut Entry<R>, path: &Path) -> Result<(), Damage> {
        let (matrix, shown) = (self.wanted.matrix, path.display());
        let kind = entry.header().entry_type();
        if !kind.is_file() {
            return Err(Damage::Archive(format!("{shown} is not a file but a {kind:?}")));
        }
        if self.matrix.is_some() {
            return Err(Damage::Archive(format!("it contains {shown} twice")));
        }
        let (bytes, most) = (entry.size(), most_bytes(matrix));
        if bytes > most {
            let id = &matrix.id;
            let message = format!("{shown} has {bytes} bytes, but {id} needs at most {most}");
            return Err(Damage::Archive(message));
        }
        let name = format!("{}.mtx", matrix.name());
        let mut contents = Contents::of(matrix, name.clone());
        let mut writing = match self.wanted.keep {
            true => Some(self.begin(entry, &name)?),
            false => None,
        };
        self.copy(entry, |piece| {
            contents.take(piece)?;
            writing.as_mut().map_or(Ok(()), |writing| Ok(writing.write(piece)?))
        })?;
        contents.end()?;
        self.matrix = Some(writing.map(Writing::finish).transpose()?);
        Ok(())
    }

    fn aux<R: Read>(&mut self, entry: &mut Entry<R>, name: &str) -> Result<(), Damage> {
        if self.aux.iter().any(|other| other.name == name) {
            return Err(Damage::Archive(format!("it contains {name} twice")));
        }
        let mut writing = self.begin(entry, name)?;
        self.copy(entry, |piece| Ok(writing.write(piece)?))?;
        self.aux.push(writing.finish()?);
        Ok(())
    }

    /// Creates the temporary file for an entry if there is room for it.
    fn begin<R: Read>(&self, entry: &Entry<R>, name: &str) -> Result<Writing, Damage> {
        self.folder.has_room(entry.size(), &self.folder.file(name))?;
        Ok(Writing::begin(&self.folder.state(""), name)?)
    }

    /// Reads an entry to its end and passes the data to `to`, unless the run is interrupted.
    fn copy<R: Read>(
        &self,
        entry: &mut Entry<R>,
        mut to: impl FnMut(&[u8]) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let (mut piece, mut copied) = (vec![0; PIECE], 0);
        while !self.web.is_interrupted() {
            let bytes = entry.read(&mut piece).map_err(unreadable)?;
            if bytes == 0 {
                return whole(entry, copied);
            }
            to(&piece[..bytes])?;
            copied += bytes as u64;
        }
        Err(FetchError::Interrupted.into())
    }
}

/// Checks whether an entry was read completely, because a truncated archive ends an entry without an error.
fn whole<R: Read>(entry: &Entry<R>, read: u64) -> Result<(), Damage> {
    let bytes = entry.size();
    if read == bytes {
        return Ok(());
    }
    let path = String::from_utf8_lossy(&entry.path_bytes()).escape_debug().to_string();
    Err(Damage::Archive(format!("it ends within {path}, after {read} of {bytes} bytes")))
}

/// Returns the name of a further file in the folder of the matrix `name`, if it is a safe file name.
fn aux_name<'p>(path: &'p Path, name: &str) -> Option<&'p str> {
    let (folder, file) = folder_and_file(path)?;
    let fits = |file: &&str| !file.starts_with('.') && file.bytes().all(|c| c.is_ascii_graphic());
    Some(file).filter(|_| folder == name).filter(fits)
}

/// Converts a read error. An error of the operating system is not counted as damage of the archive.
fn unreadable(error: io::Error) -> Damage {
    match error.raw_os_error() {
        Some(_) => FetchError::Failed(format!("cannot read the archive: {error}")).into(),
        None => Damage::Archive(format!("it cannot be unpacked: {error}")),
    }
}
