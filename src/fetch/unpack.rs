//! Takes the matrix out of an archive, and nothing else: in one pass, in constant memory, checked,
//! to temporary names.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use tar::Entry;

use super::FetchError;
use super::contents::{Contents, Head};
use super::folder::Folder;
use super::reading::{self, Hashing};
use super::temporary::{Temporary, Writing};
use super::web::Web;
use crate::cache::hex;
use crate::datasets::Matrix;
use crate::matrix::archive::{folder_and_file, matrix_name};

/// Comments of a Matrix Market file at most.
const MOST_COMMENT_BYTES: u64 = 16 << 20;
/// Characters of a value at most, with sign, exponent and blank; a complex entry has two.
const LONGEST_VALUE: u64 = 32;
/// Those of most values.
const USUAL_VALUE: u64 = 16;
/// Bytes moved at once.
const PIECE: usize = 1 << 17;

/// What to take out.
pub struct Wanted<'w> {
    pub matrix: &'w Matrix,
    /// Whether the matrix is kept, or only checked.
    pub keep: bool,
    /// Whether the files beside it are kept.
    pub aux: bool,
}

/// What was taken out.
pub struct Unpacked {
    /// The matrix first.
    pub files: Vec<Temporary>,
    pub archive_bytes: u64,
    pub archive_sha256: String,
}

/// Why nothing was taken out.
pub enum Damage {
    /// The archive is not what it should be.
    Archive(String),
    Elsewhere(FetchError),
}

impl From<FetchError> for Damage {
    fn from(error: FetchError) -> Self {
        Self::Elsewhere(error)
    }
}

/// About how many bytes the matrix's file has.
pub fn bytes_estimate(matrix: &Matrix) -> u64 {
    let value = if matrix.binary { 0 } else { USUAL_VALUE };
    matrix.stored_at_most().saturating_mul(index_bytes(matrix) + value)
}

/// The most bytes that it can have.
fn most_bytes(matrix: &Matrix) -> u64 {
    let line = index_bytes(matrix) + 2 * LONGEST_VALUE;
    matrix.entries.saturating_mul(line).saturating_add(MOST_COMMENT_BYTES)
}

/// Bytes of a line's two indices, with blanks and the line's end.
fn index_bytes(matrix: &Matrix) -> u64 {
    let digits = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
    digits(matrix.rows) + digits(matrix.cols) + 3
}

/// Takes what is wanted out of an archive. It is read to its end, so that its checksum counts.
pub fn unpack(
    archive: &Path,
    wanted: &Wanted,
    folder: &Folder,
    web: &Web,
) -> Result<Unpacked, Damage> {
    let file = File::open(archive).map_err(|error| FetchError::file("open", archive, &error))?;
    let (mut tar, ration) = reading::open(Hashing::new(file));
    let mut unpacking = Unpacking { wanted, folder, web, matrix: None, aux: Vec::new() };
    for entry in tar.entries().map_err(unreadable)? {
        ration.contents();
        unpacking.entry(entry.map_err(unreadable)?)?;
        ration.headers();
    }
    let read = reading::end(tar).map_err(unreadable)?;
    let Some(matrix) = unpacking.matrix else {
        return Err(Damage::Archive(absent(wanted.matrix.name())));
    };
    let files = matrix.into_iter().chain(unpacking.aux).collect();
    Ok(Unpacked { files, archive_bytes: read.bytes, archive_sha256: hex(read.sha256) })
}

/// The head of the matrix in an archive that is called `shown` in messages.
///
/// # Errors
/// When there is none.
pub fn head(archive: File, name: &str, shown: &str) -> Result<Head, String> {
    let (mut tar, ration) = reading::open(archive);
    let unreadable = |error: io::Error| format!("{shown}: {error}");
    for entry in tar.entries().map_err(unreadable)? {
        ration.contents();
        let mut entry = entry.map_err(unreadable)?;
        if entry.path().is_ok_and(|path| matrix_name(&path) == Some(name)) {
            return Head::read(BufReader::new(entry), shown);
        }
        io::copy(&mut entry, &mut io::sink()).map_err(unreadable)?;
        ration.headers();
    }
    Err(format!("{shown}: {}", absent(name)))
}

fn absent(name: &str) -> String {
    format!("it holds no {name}/{name}.mtx")
}

/// An archive on its way through.
struct Unpacking<'u> {
    wanted: &'u Wanted<'u>,
    folder: &'u Folder,
    web: &'u Web<'u>,
    /// Whether the matrix came by, and its file if that is kept.
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
            return Err(Damage::Archive(format!("{shown} is no file but a {kind:?}")));
        }
        if self.matrix.is_some() {
            return Err(Damage::Archive(format!("it holds {shown} twice")));
        }
        let (bytes, most) = (entry.size(), most_bytes(matrix));
        if bytes > most {
            let id = &matrix.id;
            let message = format!("{shown} has {bytes} bytes, but {id} takes {most} at most");
            return Err(Damage::Archive(message));
        }
        let name = format!("{}.mtx", matrix.name());
        let mut contents = Contents::of(matrix, name.clone());
        let mut writing = match self.wanted.keep {
            true => Some(self.begin(entry, &name)?),
            false => None,
        };
        self.copy(entry, |piece| {
            contents.take(piece).map_err(Damage::Archive)?;
            writing.as_mut().map_or(Ok(()), |writing| Ok(writing.write(piece)?))
        })?;
        contents.end().map_err(Damage::Archive)?;
        self.matrix = Some(writing.map(Writing::finish).transpose()?);
        Ok(())
    }

    fn aux<R: Read>(&mut self, entry: &mut Entry<R>, name: &str) -> Result<(), Damage> {
        if self.aux.iter().any(|other| other.name == name) {
            return Err(Damage::Archive(format!("it holds {name} twice")));
        }
        let mut writing = self.begin(entry, name)?;
        self.copy(entry, |piece| Ok(writing.write(piece)?))?;
        self.aux.push(writing.finish()?);
        Ok(())
    }

    /// Begins the file that an entry goes to, if there is room for it.
    fn begin<R: Read>(&self, entry: &Entry<R>, name: &str) -> Result<Writing, Damage> {
        self.folder.has_room(entry.size(), &self.folder.file(name))?;
        Ok(Writing::begin(&self.folder.state(""), name)?)
    }

    /// Passes on all of an entry, up to an interrupt.
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

/// Whether all of an entry was read; the end of the file ends an entry too.
fn whole<R: Read>(entry: &Entry<R>, read: u64) -> Result<(), Damage> {
    let bytes = entry.size();
    if read == bytes {
        return Ok(());
    }
    let path = String::from_utf8_lossy(&entry.path_bytes()).escape_debug().to_string();
    Err(Damage::Archive(format!("it ends within {path}, after {read} of {bytes} bytes")))
}

/// The name of a file beside the matrix `name`, fit for a folder.
fn aux_name<'p>(path: &'p Path, name: &str) -> Option<&'p str> {
    let (folder, file) = folder_and_file(path)?;
    let fits = |file: &&str| !file.starts_with('.') && file.bytes().all(|c| c.is_ascii_graphic());
    Some(file).filter(|_| folder == name).filter(fits)
}

/// A source that cannot be read is no fault of the archive's.
fn unreadable(error: io::Error) -> Damage {
    match error.raw_os_error() {
        Some(_) => FetchError::Failed(format!("cannot read the archive: {error}")).into(),
        None => Damage::Archive(format!("it cannot be unpacked: {error}")),
    }
}
