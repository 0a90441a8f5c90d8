//! Zip archives: the files in them, and the one that is the matrix. A NumPy archive (`.npz`) is one too.

use std::collections::HashSet;
use std::io::{self, ErrorKind, Read, Seek};
use std::path::Path;

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::codec::{Bytes, DEFLATE_GROWTH};
use super::input::Input;

/// More files than these are not those of a matrix.
const MOST_FILES: usize = 1 << 12;

/// A file of an archive.
#[derive(Clone, Debug)]
pub struct File {
    /// The path in the archive.
    pub name: String,
    /// The position of its compressed data in the archive, and their length, in bytes.
    start: u64,
    compressed: u64,
    /// The length of its contents in bytes.
    pub size: u64,
    crc: u32,
    is_deflated: bool,
}

/// Returns the files of an archive, without folders and hidden files.
pub fn files(input: &Input) -> io::Result<Vec<File>> {
    let mut archive = ZipArchive::new(input.reader_at(0))?;
    if archive.len() > MOST_FILES {
        return Err(invalid(format!("the zip archive has {} files", archive.len())));
    }
    if archive.has_duplicate_names() {
        let name = repeated_name(input, archive.central_directory_start())?;
        let what = format!("the zip archive contains several files with the name {name}");
        return Err(invalid(format!("{what}; unpack it")));
    }
    let files = (0..archive.len()).map(|number| File::of(&mut archive, number, input.size));
    files.filter_map(Result::transpose).collect()
}

/// Returns the name that several files of an archive have, whose directory begins at `start`. The library knows only
/// the last one of them.
fn repeated_name(input: &Input, start: u64) -> io::Result<String> {
    let mut directory = input.reader_at(start);
    let mut names = HashSet::new();
    loop {
        let mut header = [0; 46];
        directory.read_exact(&mut header)?;
        let [length, extra, comment] = [28, 30, 32].map(|at| u16::from_le_bytes([header[at], header[at + 1]]));
        let mut name = vec![0; length.into()];
        directory.read_exact(&mut name)?;
        directory.seek_relative(i64::from(extra) + i64::from(comment))?;
        let shown = String::from_utf8_lossy(&name).escape_debug().to_string();
        if !names.insert(name) {
            return Ok(shown);
        }
    }
}

/// Returns the file of an archive that is the matrix: the only file, or the only one with the extension of a matrix.
pub fn matrix(mut files: Vec<File>, is_matrix: fn(&Path) -> bool) -> io::Result<File> {
    if files.len() > 1 {
        files.retain(|file| is_matrix(file.name.as_ref()));
    }
    let names = files.iter().map(|file| file.name.escape_debug().to_string()).collect::<Vec<_>>();
    match files.pop() {
        Some(file) if files.is_empty() => Ok(file),
        None => Err(invalid("the zip archive contains no matrix".into())),
        Some(_) => {
            Err(invalid(format!("the zip archive contains several matrices: {}; decompress it", names.join(", "))))
        }
    }
}

impl File {
    fn of(archive: &mut ZipArchive<impl Read + Seek>, number: usize, size: u64) -> io::Result<Option<Self>> {
        let file = archive.by_index_raw(number)?;
        let name = file.name()?.into_owned();
        let is_hidden = name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
        if !file.is_file() || is_hidden {
            return Ok(None);
        }
        let refused = |why: &str| Err(invalid(format!("{} in the zip archive {why}", name.escape_debug())));
        let is_deflated = match file.compression() {
            _ if file.encrypted() => return refused("is encrypted"),
            CompressionMethod::Stored => false,
            CompressionMethod::DEFLATE => true,
            other => {
                return refused(&format!("is compressed by the method {other}; only deflate is read"));
            }
        };
        let start = file.data_start().unwrap_or(u64::MAX);
        let compressed = file.compressed_size();
        if start.checked_add(compressed).is_none_or(|end| end > size) {
            return refused("lies beyond the end of the archive, which is damaged");
        }
        let growth = if is_deflated { DEFLATE_GROWTH } else { 1 };
        if file.size() > compressed.saturating_mul(growth) {
            return refused("has fewer bytes than stated, the archive is damaged");
        }
        Ok(Some(Self { start, compressed, size: file.size(), crc: file.crc32(), is_deflated, name }))
    }

    pub fn decompress<'a>(&self, input: &'a Input) -> Bytes<'a> {
        let compressed = input.reader_at(self.start).take(self.compressed);
        let contents: Bytes<'a> =
            if self.is_deflated { Box::new(DeflateDecoder::new(compressed)) } else { Box::new(compressed) };
        let size = self.size;
        let crc = self.crc;
        let contents = CrcReader::new(contents.take(size.saturating_add(1)));
        Box::new(Checked { contents, size, crc })
    }
}

/// Compares the length and the checksum of the contents at their end.
struct Checked<R> {
    contents: CrcReader<R>,
    size: u64,
    crc: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.contents.read(buffer)?;
        let crc = self.contents.crc();
        let is_whole = crc.sum() == self.crc && crc.amount() == self.size as u32;
        if bytes == 0 && !buffer.is_empty() && !is_whole {
            return Err(io::Error::other("another length or checksum than stated"));
        }
        Ok(bytes)
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}
