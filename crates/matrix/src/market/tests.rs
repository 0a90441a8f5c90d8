//! Tests of the reader and the writer. The result must not depend on the size of the chunks and the number of
//! threads.

mod archive;
mod fuzz;
mod input;
mod limits;
mod malformed;
mod size_hint;
mod wellformed;

use std::io::Write;
use std::path::Path;

use super::{Market, Options, read};

const CHUNKS: [usize; 6] = [0, 1, 2, 7, 30, 1 << 20];

/// Reads `text` from a file named `a.mtx`. An error message is returned without the folder.
fn read_text(text: &[u8], expand: bool, chunk: usize) -> Result<Market, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    std::fs::write(&path, text).unwrap();
    let market = read(&path, &Options { expand, chunk });
    let market = market.map_err(|error| {
        let shown = error.to_string();
        shown.replace(&format!("{}/", folder.path().display()), "")
    })?;
    assert!(market.csr.is_valid());
    Ok(market)
}

/// Reads `text` with every chunk size and 1 to 3 threads, plain and compressed. All results must be equal.
fn read_in_every_way(text: &[u8], expand: bool) -> Result<Market, String> {
    let expected = read_text(text, expand, CHUNKS[0]);
    let packed = gzip(text);
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for chunk in CHUNKS {
            for file in [text, &packed] {
                let found = pool.install(|| read_text(file, expand, chunk));
                assert_same(&found, &expected);
            }
        }
    }
    expected
}

fn assert_same(found: &Result<Market, String>, expected: &Result<Market, String>) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.csr, expected.csr);
            let facts = |m: &Market| (m.field, m.symmetry, m.stored, m.duplicates, m.text_bytes);
            assert_eq!(facts(found), facts(expected));
        }
        (found, expected) => {
            assert_eq!(found.as_ref().err(), expected.as_ref().err());
        }
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn triplets(csr: &super::Csr<f64>) -> Vec<(usize, usize, f64)> {
    let entry = |row: usize, k: usize| (row, csr.column_indices[k] as usize, csr.values[k]);
    (0..csr.rows).flat_map(|row| csr.row(row).map(move |k| entry(row, k))).collect()
}

#[test]
fn a_missing_file_and_a_folder_are_reported() {
    let read = |path: &str| super::read(Path::new(path), &Options::default()).unwrap_err();
    assert_eq!(
        read("no/such.mtx").to_string(),
        "no/such.mtx: No such file or directory (os error 2)"
    );
    assert_eq!(read(".").to_string(), ".: is a directory");
}
