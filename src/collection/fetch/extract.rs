//! Extracts the files of an archive into temporary files, in one pass and with constant memory, and checks that the
//! matrix is among them.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use tar::{Archive, Entry};
use tempfile::{NamedTempFile, TempPath};

use super::contents::{Head, check};
use super::error::{FetchError, OrCannot, refused};
use super::folder::Folder;
use super::settings::{Form, Settings};
use crate::collection::Matrix;
use spmv_matrix::archive::{Ration, Rationed, folder_and_file, matrix_name};
use spmv_matrix::cache::hex;

/// The largest expected size of the comments in a Matrix Market file, in bytes.
const MOST_COMMENT_BYTES: u64 = 16 << 20;
/// The largest length of a value in bytes, with sign, exponent and blank. A complex entry has two values.
const LONGEST_VALUE: u64 = 32;
const USUAL_VALUE: u64 = 16;
const PIECE: usize = 1 << 17;

pub struct Extraction {
    /// The matrix first, if it is kept.
    pub files: Vec<Extracted>,
    pub archive_bytes: u64,
    pub archive_sha256: String,
}

/// A file under a temporary name, which is removed unless it is renamed.
pub struct Extracted {
    pub path: TempPath,
    /// The name of the file in the archive.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

pub fn bytes_estimate(matrix: &Matrix) -> u64 {
    let value = if matrix.binary { 0 } else { USUAL_VALUE };
    matrix.stored_at_most().saturating_mul(index_bytes(matrix) + value)
}

fn most_bytes(matrix: &Matrix) -> u64 {
    let line = index_bytes(matrix) + 2 * LONGEST_VALUE;
    matrix.entries.saturating_mul(line).saturating_add(MOST_COMMENT_BYTES)
}

/// Returns the largest length of a line's two indices in bytes, with blanks and the end of the line.
fn index_bytes(matrix: &Matrix) -> u64 {
    let digits = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
    digits(matrix.rows) + digits(matrix.cols) + 3
}

/// Extracts the files of a matrix's archive.
pub struct Extractor<'e> {
    pub matrix: &'e Matrix,
    pub folder: &'e Folder,
    pub settings: &'e Settings,
    pub interrupted: &'e AtomicBool,
}

impl Extractor<'_> {
    /// Reads an archive to its end, so that its checksum is verified. An archive that is damaged or does not contain
    /// the matrix is [`Refused`](FetchError::Refused).
    pub fn extract(&self, archive: &Path) -> Result<Extraction, FetchError> {
        let file = File::open(archive).or_cannot("open", archive)?;
        self.all(file).map_err(|error| match error.raw_os_error() {
            Some(_) => FetchError::Failed(format!("cannot read the archive: {error}")),
            None => error
                .downcast()
                .unwrap_or_else(|error| FetchError::Refused(format!("it cannot be extracted: {error}"))),
        })
    }

    fn all(&self, archive: File) -> io::Result<Extraction> {
        let matrix = self.matrix.name();
        let (mut tar, ration) = open(Tap::new(archive, self.interrupted));
        let mut is_found = false;
        let mut files = Vec::<Extracted>::new();
        for entry in tar.entries()? {
            ration.contents();
            let entry = entry?;
            let path = entry.path()?.into_owned();
            let is_matrix = matrix_name(&path) == Some(matrix);
            if is_matrix {
                self.check_entry(&entry, &path, is_found)?;
                is_found = true;
            }
            let is_wanted = if is_matrix { self.settings.form == Form::Mtx } else { self.settings.aux };
            let name = file_name(&path, matrix).filter(|_| is_wanted && is_file(&entry));
            if let Some(name) = name.filter(|name| files.iter().any(|file| file.name == *name)) {
                return refused(format!("it contains {name} twice"));
            }
            if let Some(file) = self.read_entry(entry, is_matrix, name)? {
                let place = if is_matrix { 0 } else { files.len() };
                files.insert(place, file);
            }
            ration.headers();
        }
        if !is_found {
            return refused(absent(matrix));
        }
        let mut rest = tar.into_inner();
        io::copy(&mut rest, &mut io::sink())?;
        let archive = rest.into_inner().into_inner().into_inner();
        Ok(Extraction { files, archive_bytes: archive.bytes, archive_sha256: hex(archive.sha256) })
    }

    /// Reads an entry to its end, checks it if it is the matrix, and extracts it if it has a name.
    fn read_entry(
        &self,
        entry: Entry<impl Read>,
        is_matrix: bool,
        name: Option<&str>,
    ) -> io::Result<Option<Extracted>> {
        let size = entry.size();
        let shown = String::from_utf8_lossy(&entry.path_bytes()).escape_debug().to_string();
        let tap = Tap {
            to: name.map(|name| self.folder.temporary(name, size)).transpose()?,
            is_hashed: name.is_some(),
            entry: Some((shown, size)),
            ..Tap::new(entry, self.interrupted)
        };
        let mut text = BufReader::with_capacity(PIECE, tap);
        if is_matrix {
            check(&mut text, self.matrix, &format!("{}.mtx", self.matrix.name()))?;
        }
        io::copy(&mut text, &mut io::sink())?;
        let Tap { to, bytes, sha256, .. } = text.into_inner();
        let (Some(name), Some(file)) = (name, to) else { return Ok(None) };
        let (path, name, sha256) = (file.into_temp_path(), name.to_owned(), hex(sha256));
        Ok(Some(Extracted { path, name, bytes, sha256 }))
    }

    fn check_entry(&self, entry: &Entry<impl Read>, path: &Path, is_second: bool) -> io::Result<()> {
        let (shown, bytes, most) = (path.display(), entry.size(), most_bytes(self.matrix));
        refused(if !is_file(entry) {
            format!("{shown} is not a file but a {:?}", entry.header().entry_type())
        } else if is_second {
            format!("it contains {shown} twice")
        } else if bytes > most {
            format!("{shown} has {bytes} bytes, but {} needs at most {most}", self.matrix.id)
        } else {
            return Ok(());
        })
    }
}

/// Reads the header of the matrix `name` in an archive. `shown` is the name of the archive for messages.
pub fn head(archive: File, name: &str, shown: &str) -> io::Result<Head> {
    let (mut tar, ration) = open(archive);
    for entry in tar.entries()? {
        ration.contents();
        let mut entry = entry?;
        if matrix_name(&entry.path()?) == Some(name) {
            return Head::read(&mut BufReader::new(entry), shown);
        }
        io::copy(&mut entry, &mut io::sink())?;
        ration.headers();
    }
    refused(format!("{shown}: {}", absent(name)))
}

type Tar<R> = Archive<Rationed<MultiGzDecoder<BufReader<R>>>>;

/// Opens an archive. It is positioned at its first header.
fn open<R: Read>(from: R) -> (Tar<R>, Ration) {
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(PIECE, from));
    let (rationed, ration) = Rationed::new(decoder);
    (Archive::new(rationed), ration)
}

fn is_file(entry: &Entry<impl Read>) -> bool {
    entry.header().entry_type().is_file()
}

/// Returns the name of a file in the folder of the matrix `name`, if it is a safe file name.
fn file_name<'p>(path: &'p Path, name: &str) -> Option<&'p str> {
    let (folder, file) = folder_and_file(path)?;
    let fits = !file.starts_with('.') && file.bytes().all(|c| c.is_ascii_graphic());
    (folder == name && fits).then_some(file)
}

fn absent(name: &str) -> String {
    format!("it does not contain {name}/{name}.mtx")
}

/// Hashes and counts what is read through it, copies it into a file, and ends at an interrupt.
struct Tap<'t, R> {
    from: R,
    to: Option<NamedTempFile>,
    is_hashed: bool,
    sha256: Sha256,
    bytes: u64,
    /// The name and the size of an entry, because a truncated archive ends an entry without an error.
    entry: Option<(String, u64)>,
    interrupted: &'t AtomicBool,
}

impl<'t, R> Tap<'t, R> {
    fn new(from: R, interrupted: &'t AtomicBool) -> Self {
        let (to, entry, sha256) = (None, None, Sha256::new());
        Self { from, to, is_hashed: true, sha256, bytes: 0, entry, interrupted }
    }
}

impl<R: Read> Read for Tap<'_, R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(FetchError::Interrupted.into());
        }
        let read = self.from.read(piece)?;
        if let Some(file) = &mut self.to {
            let written = file.as_file_mut().write_all(&piece[..read]);
            written.or_cannot("write", file.path())?;
        }
        if self.is_hashed {
            self.sha256.update(&piece[..read]);
        }
        self.bytes += read as u64;
        match &self.entry {
            Some((name, size)) if read == 0 && self.bytes != *size => {
                refused(format!("it ends within {name}, after {} of {size} bytes", self.bytes))
            }
            _ => Ok(read),
        }
    }
}

/// Returns the SHA-256 of a file. An interrupt is a [`FetchError`].
pub fn sha256(path: &Path, interrupted: &AtomicBool) -> io::Result<String> {
    let mut file = BufReader::with_capacity(PIECE, Tap::new(File::open(path)?, interrupted));
    io::copy(&mut file, &mut io::sink())?;
    Ok(hex(file.into_inner().sha256))
}
