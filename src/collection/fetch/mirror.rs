//! Writes a mirror: a folder with the same layout as the collection's web site and generated matrices in its
//! archives. It replaces the collection on machines without access to the Internet.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::collection::{Matrix, index};
use spmv_matrix::cache::{self, folder_of};
use spmv_matrix::generate::Generator;
use spmv_results::files::output::failed;

/// Writes `MM/GROUP/NAME.tar.gz` with the generated matrix. `kind` is the description in the file's comments.
/// Returns the size of the archive in bytes.
pub fn add(folder: &Path, matrix: &Matrix, generator: &Generator, kind: &str) -> Result<u64> {
    let place = folder.join("MM").join(format!("{}.tar.gz", matrix.id));
    let write = || archive(folder, &place, matrix.name(), generator, kind);
    cache::in_folder(folder_of(&place), write).map_err(failed(&place))
}

fn archive(folder: &Path, place: &Path, name: &str, generator: &Generator, kind: &str) -> io::Result<u64> {
    // A temporary file is needed because an archive states a file's size before its contents.
    let mut text = tempfile::tempfile_in(folder)?;
    generator.write(kind, || Ok(BufWriter::with_capacity(1 << 20, &mut text)))?;
    let archive = tempfile::NamedTempFile::new_in(folder)?;
    compress(name, text, archive.as_file())?;
    let archive = archive.persist(place)?;
    // Temporary files are readable only by their owner, but a web server must be able to read the archive.
    archive.set_permissions(Permissions::from_mode(0o644))?;
    Ok(archive.metadata()?.len())
}

fn compress(name: &str, mut text: File, archive: &File) -> io::Result<()> {
    io::Seek::rewind(&mut text)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(text.metadata()?.len());
    header.set_mode(0o644);
    let gzip = GzEncoder::new(BufWriter::with_capacity(1 << 20, archive), Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    tar.append_data(&mut header, format!("{name}/{name}.mtx"), text)?;
    tar.into_inner()?.finish()?.flush()
}

/// Writes `files/ssstats.csv`, the index of these matrices.
pub fn write_index(folder: &Path, matrices: &[&Matrix], date: &str) -> Result<()> {
    let place = folder.join("files/ssstats.csv");
    let text = index::write(matrices, date);
    cache::replace(&place, |file| file.write_all(text.as_bytes())).map_err(failed(&place))
}
