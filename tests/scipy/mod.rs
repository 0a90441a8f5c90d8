//! The reader beside scipy's two, its fast one and its Python one: what all of them read must be the same bit
//! for bit. Without scipy in .venv the tests say so and pass.
//!
//! Entries in one place are summed in the order of the file. Of a symmetric file scipy has the stored entries
//! first and then the mirrored ones, while here each image follows its entry: three entries in one place and its
//! image may therefore be summed in another order, so the random files have two at most.

mod random;
mod variants;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::skip;
use spmv_matrix::Csr;
use spmv_matrix::reader::{self, Options};

const READERS: [&str; 2] = ["fast", "python"];

/// What became of a text: here, and in each of scipy's readers. Matrices as `dump.py` writes them.
struct Read {
    ours: Result<Vec<u8>, String>,
    theirs: [Option<Vec<u8>>; 2],
}

/// Reads texts in all three ways; `None`, said aloud, without scipy.
fn read(texts: &[String]) -> Option<Vec<Read>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join(".venv/bin/python");
    let has_scipy = Command::new(&python).args(["-c", "import scipy.io"]).output();
    if !has_scipy.is_ok_and(|ran| ran.status.success()) {
        return skip(&format!("{} has no scipy", python.display()));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(format!("{number}.mtx"));
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(path(number), text).unwrap();
    }
    let script = root.join("tests/scipy/dump.py");
    let ran = Command::new(&python).arg(script).arg(folder.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some((0..texts.len()).map(|number| Read::of(path(number))).collect())
}

impl Read {
    fn of(path: PathBuf) -> Self {
        let ours = reader::read(&path, &Options::default());
        let theirs = READERS.map(|reader| std::fs::read(path.with_extension(format!("mtx.{reader}"))).ok());
        Self { ours: ours.map(|matrix| dump(&matrix.csr)).map_err(|error| error.to_string()), theirs }
    }

    /// `=`: the same matrix; `!`: another one; `-`: refused there only; `+`: here only; `0`: in both.
    fn compared(&self) -> String {
        let sign = |theirs: &Option<Vec<u8>>| match (&self.ours, theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => '=',
            (Ok(_), Some(_)) => '!',
            (Ok(_), None) => '-',
            (Err(_), Some(_)) => '+',
            (Err(_), None) => '0',
        };
        self.theirs.iter().map(sign).collect()
    }
}

fn dump(csr: &Csr<f64>) -> Vec<u8> {
    let sizes = [csr.rows(), csr.cols(), csr.nnz()];
    let ends = (0..csr.rows()).map(|row| csr.row(row).end);
    let columns = csr.column_indices().iter().map(|&column| column as usize);
    let whole = sizes.into_iter().chain(ends).chain(columns).flat_map(|n| (n as u64).to_ne_bytes());
    whole.chain(csr.values().iter().flat_map(|value| value.to_ne_bytes())).collect()
}

#[test]
fn variants_are_read_as_the_table_says() {
    let text = |variant: &&str| match &variant[3..] {
        text if text.starts_with(['%', '\u{feff}']) => text.to_owned(),
        text => format!("%%MatrixMarket matrix {text}"),
    };
    let Some(found) = read(&variants::VARIANTS.iter().map(text).collect::<Vec<_>>()) else {
        return;
    };
    for (variant, found) in variants::VARIANTS.iter().zip(found) {
        assert_eq!(found.compared(), variant[..2], "{variant}");
    }
}

#[test]
fn random_files_are_read_alike() {
    let texts: Vec<_> = (0..600).map(random::file).collect();
    let Some(found) = read(&texts) else { return };
    for (text, found) in texts.iter().zip(found) {
        assert_eq!(found.compared(), "==", "{:?}\n{text}", found.ours.err());
    }
}
