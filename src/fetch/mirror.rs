//! A folder laid out like the collection's site, with generated matrices in the archives: what stands in
//! for the collection where that is out of reach.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cache;
use crate::datasets::{Matrix, index};
use crate::matrix::generate::Generator;

/// Writes `MM/GROUP/NAME.tar.gz` with a file of that generated matrix, told to be of `kind`; returns the
/// archive's bytes.
///
/// # Errors
/// Those of the file system, and a matrix that cannot be.
pub fn add(folder: &Path, matrix: &Matrix, generator: &Generator, kind: &str) -> io::Result<u64> {
    let place = folder.join("MM").join(format!("{}.tar.gz", matrix.id));
    fs::create_dir_all(place.parent().unwrap_or(folder))?;
    // An archive tells a file's size before its contents.
    let mut text = tempfile::tempfile_in(folder)?;
    generator.write(kind, || Ok(BufWriter::with_capacity(1 << 20, &mut text)))?;
    let archive = tempfile::NamedTempFile::new_in(folder)?;
    pack(matrix.name(), text, archive.as_file())?;
    let archive = archive.persist(&place)?;
    // Temporary files are their owner's alone, those of a web server everybody's.
    archive.set_permissions(Permissions::from_mode(0o644))?;
    Ok(archive.metadata()?.len())
}

fn pack(name: &str, mut text: File, archive: &File) -> io::Result<()> {
    io::Seek::rewind(&mut text)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(text.metadata()?.len());
    header.set_mode(0o644);
    let gzip = GzEncoder::new(BufWriter::with_capacity(1 << 20, archive), Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    tar.append_data(&mut header, format!("{name}/{name}.mtx"), text)?;
    tar.into_inner()?.finish()?.flush()
}

/// Writes `files/ssstats.csv` of these matrices.
///
/// # Errors
/// Those of the file system.
pub fn write_index(folder: &Path, matrices: &[&Matrix], date: &str) -> io::Result<()> {
    let place = folder.join("files/ssstats.csv");
    let text = index::write(matrices, date);
    cache::replace(&place, |file| file.write_all(text.as_bytes()))
}
