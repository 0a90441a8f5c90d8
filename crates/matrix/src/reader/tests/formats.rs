//! Files of other formats than Matrix Market, as other programs write them.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::super::Edges;
use super::archive::zip_of;
use super::npz::{integers, npy};
use super::{Options, gzip, read, read_within, triplets};
use crate::memory::ReadBounds;

/// The files of `tests/formats` were made by the usual tools of each format, which `make.py` there names.
#[test]
fn files_of_other_programs_are_read_as_they_meant_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
    for line in expected.lines() {
        let mut words = line.split(' ').peekable();
        let name = words.next().unwrap();
        let declared = words.next_if(|word| word.contains("base"));
        let declared: Option<Edges> = declared.map(|words| words.parse().unwrap());
        let options = Options::new(true, declared);
        let [rows, cols] = [(); 2].map(|()| words.next().unwrap().parse().unwrap());
        let entries: Vec<_> = words.map(entry).collect();
        let contents = fs::read(folder.join(name)).unwrap();
        let read = |contents: &[u8]| read_within(name, contents, &options, ReadBounds::NONE);
        let matrix = read(&contents).unwrap();
        assert_eq!((matrix.csr.rows, matrix.csr.cols), (rows, cols), "{name}");
        assert_eq!(triplets(&matrix.csr), entries, "{name}");
        let never = AtomicBool::new(false);
        let bounds = ReadBounds::new(&never, 1 << 24, "a test");
        // A shorter text may be a shorter list, or its last number is shorter; compressed data show what they lack.
        let is_compressed = [".gz", ".bz2", ".xz", ".zst", "zip", ".npz"].iter().any(|it| name.ends_with(it));
        for length in (0..contents.len()).step_by(7) {
            let mut changed = contents.clone();
            changed[length] ^= 1 << (length % 8);
            let _ = read_within(name, &changed, &options, bounds);
            let cut = read(&contents[..length]).map(|cut| triplets(&cut.csr));
            let is_correct = cut.as_ref().map_or(true, |cut| !is_compressed || *cut == entries);
            assert!(is_correct, "{length} bytes of {name}: {cut:?}");
        }
    }
    let read = expected.lines().count();
    assert_eq!(read + 2, fs::read_dir(&folder).unwrap().count(), "a file is not expected");
}

fn entry(word: &str) -> (usize, usize, f64) {
    let [row, col, value] = word.split(',').collect::<Vec<_>>()[..] else { panic!("{word}") };
    (row.parse().unwrap(), col.parse().unwrap(), value.parse().unwrap())
}

/// A short line with very many numbers takes no memory.
#[test]
fn a_line_of_very_many_numbers_is_an_error() {
    for columns in ["300000000", "2000000000"] {
        let many = format!("t\n 3 1 1 1\nPUA 10 {columns} 0 0\n(300000001I1) (8I10)\n 1\n");
        let expected = "a.rb:5: a column offset must be a whole number of at least 0, not ``";
        assert_eq!(read("a.rb", many.as_bytes()).unwrap_err(), expected);
    }
}

/// The arrays that are held at the same time must fit together, whatever a header states and compressed data become.
#[test]
fn memory_is_compared_with_the_limit_before_it_is_taken() {
    let offsets = "0 ".repeat(100_001);
    let boeing = format!("t\n 3 1 1 1\nPUA 1 100000 0 0\n(1I1) (8I10)\n{}", "1\n".repeat(100_001));
    let octave = "# name: K\n# type: sparse matrix\n# rows: 100000\n# columns: 1\n# nnz: 1\n1 1 1\n";
    let edges: String = (0..20_000u64).map(|node| format!("{} 7\n", 1_000_000_007 * node)).collect();
    let coordinates = [
        ("format.npy", npy("|S3", "()", b"coo")),
        ("shape.npy", integers(&[100_000, 1])),
        ("row.npy", integers(&[1])),
        ("col.npy", integers(&[0])),
        ("data.npy", npy("|b1", "(1,)", &[1])),
    ];
    let market = "%%MatrixMarket matrix coordinate real general\n100000 1 1\n1 1 1\n";
    for (name, contents) in [
        ("a.mtx", market.as_bytes().to_vec()),
        ("a.gr", b"p sp 100000 1\na 1 2 3\n".to_vec()),
        ("a.txt", octave.as_bytes().to_vec()),
        ("a.smtx.gz", gzip(format!("100000, 1, 0\n{offsets}").as_bytes())),
        ("a.graph", format!("100000 0\n{}", "\n".repeat(100_000)).into_bytes()),
        ("a.rb", boeing.into_bytes()),
        ("a.npz", zip_of(&coordinates)),
        ("a.el", edges.into_bytes()),
    ] {
        let never = AtomicBool::new(false);
        let declared = (name == "a.el").then(|| "directed,compact".parse().unwrap());
        let options = Options::new(true, declared);
        let read = |most| read_within(name, &contents, &options, ReadBounds::new(&never, most, "it"));
        let error = read(300_000).map(|_| ()).unwrap_err();
        let expected = "bytes of memory, but only 300000 are available (it)";
        assert!(error.ends_with(expected), "{name}: {error}");
        assert!(read(8 << 20).is_ok(), "{name}");
    }
}
