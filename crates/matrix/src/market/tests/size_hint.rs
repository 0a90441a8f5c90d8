//! Tests of the size that is known from the header of a file.

use super::super::Opened;
use super::{Options, gzip};
use crate::bounds::ReadBounds;
use crate::size::SizeHint;

/// Returns the size hint of a file with this name and contents. An error message is returned without the folder.
fn of(name: &str, contents: &[u8], expand: bool) -> Result<SizeHint, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    let options = Options { expand, ..Options::default() };
    let opened = Opened::open(&path, &options, ReadBounds::NONE);
    let announced = opened.and_then(|opened| opened.size_hint());
    let shown = |error: super::super::MarketError| error.to_string();
    let folder = format!("{}/", folder.path().display());
    announced.map_err(|error| shown(error).replace(&folder, ""))
}

fn sized(rows: usize, cols: usize, nnz: u64, scratch: u64) -> Result<SizeHint, String> {
    Ok(SizeHint { rows, cols, nnz, scratch })
}

/// The entries themselves are not read.
#[test]
fn the_size_is_that_of_the_header() {
    let entries = "this is ignored ".repeat(20);
    let file = |head: &str| format!("%%MatrixMarket matrix {head}\n{entries}");
    let general = file("coordinate real general\n% a comment\n5 6 7");
    // Each entry takes 2 bytes for the row, 4 for the column, 8 for the value, and 1 for the tables.
    assert_eq!(of("a.mtx", general.as_bytes(), true), sized(5, 6, 7, 7 * 15));
    assert_eq!(of("a.mtx.gz", &gzip(general.as_bytes()), true), sized(5, 6, 7, 7 * 15));
    let symmetric = file("coordinate pattern symmetric\n5 5 7");
    assert_eq!(of("a.mtx", symmetric.as_bytes(), true), sized(5, 5, 14, 14 * 7));
    assert_eq!(of("a.mtx", symmetric.as_bytes(), false), sized(5, 5, 7, 7 * 7));
    let array = file("array real skew-symmetric\n4 4");
    assert_eq!(of("a.mtx", array.as_bytes(), true), sized(4, 4, 12, 6 * 24));
}

#[test]
fn the_number_of_entries_is_limited_by_the_size_of_the_text() {
    let lie = "%%MatrixMarket matrix coordinate real general\n9 9 2000000000\n1 1 1\n";
    let most = (lie.len() as u64 + 1) / 4;
    assert_eq!(of("a.mtx", lie.as_bytes(), true), sized(9, 9, most, 15 * most));
    let too_many = lie.replace("2000000000", "1000000000000000000");
    let refused = "a.mtx:2: 1000000000000000000 entries are too many: 32-bit indices allow at most 2147483647";
    assert_eq!(of("a.mtx", too_many.as_bytes(), true), Err(refused.into()));
}
