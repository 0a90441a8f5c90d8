//! Tests of the reader and the writer. The result must not depend on the size of the chunks and the number of
//! threads.

mod archive;
mod cases;
mod compressed;
mod formats;
mod fuzz;
mod input;
mod market;
mod npz;

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Opened, Options, ReadError, ReadMatrix};
use crate::Csr;
use crate::memory::ReadBounds;

const CHUNKS: [usize; 6] = [0, 1, 2, 7, 30, 1 << 20];
const TEXT: &str = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2\n";

/// Creates a file in a folder of its own.
fn file(name: &str, contents: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    (folder, path)
}

/// Returns the message without the folder of the file.
fn message(error: &ReadError, path: &Path) -> String {
    error.to_string().replace(&format!("{}/", path.parent().unwrap().display()), "")
}

/// Reads a file with this name and contents. The message is without the folder.
fn read_within(name: &str, contents: &[u8], options: &Options, bounds: ReadBounds) -> Result<ReadMatrix, String> {
    let (_folder, path) = file(name, contents);
    let opened = Opened::open(&path, options, bounds);
    let read = opened.and_then(|opened| opened.read()).map_err(|error| message(&error, &path))?;
    assert!(read.csr.is_valid(), "{name}");
    Ok(read)
}

fn read(name: &str, contents: &[u8]) -> Result<ReadMatrix, String> {
    read_within(name, contents, &Options::default(), ReadBounds::NONE)
}

/// Reads a file named `a.mtx`.
fn read_text(text: &[u8], chunk: usize) -> Result<ReadMatrix, String> {
    read_within("a.mtx", text, &Options { chunk, ..Options::default() }, ReadBounds::NONE)
}

/// Returns what is read, or the message: the sizes, the entries with indices from 0, and the remarks.
fn shown(read: &Result<ReadMatrix, String>) -> String {
    let Ok(matrix) = read else { return read.as_ref().unwrap_err().clone() };
    let mut shown = format!("{}x{}", matrix.csr.rows, matrix.csr.cols);
    for (row, col, value) in triplets(&matrix.csr) {
        shown += &match value.abs() {
            1e-9..1e40 | 0.0 => format!(" {row},{col},{value}"),
            _ => format!(" {row},{col},{value:e}"),
        };
    }
    if matrix.duplicates > 0 {
        shown += &format!(" ({} duplicates)", matrix.duplicates);
    }
    matrix.remarks.iter().for_each(|remark| shown += &format!(" | {remark}"));
    shown
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn triplets(csr: &Csr<f64>) -> Vec<(usize, usize, f64)> {
    let entry = |row: usize, k: usize| (row, csr.column_indices[k] as usize, csr.values[k]);
    (0..csr.rows).flat_map(|row| csr.row(row).map(move |k| entry(row, k))).collect()
}
