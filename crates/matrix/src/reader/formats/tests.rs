mod memory;
mod npz;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::super::tests::{file, message, triplets};
use super::super::{Edges, Opened, Options, ReadMatrix};
use crate::memory::ReadBounds;

/// Returns what is read from a file with this name and contents, or the message without the folder.
pub fn read_file(name: &str, contents: &[u8], edges: &str) -> Result<ReadMatrix, String> {
    read_within(name, contents, edges, ReadBounds::NONE)
}

fn read_within(
    name: &str,
    contents: &[u8],
    edges: &str,
    bounds: ReadBounds,
) -> Result<ReadMatrix, String> {
    let (_folder, path) = file(name, contents);
    let edges: Option<Edges> = (!edges.is_empty()).then(|| edges.parse().unwrap());
    let opened = Opened::open(&path, &Options::new(true, edges), bounds);
    let market = opened.and_then(|opened| opened.read());
    let market = market.map_err(|error| message(&error, &path))?;
    assert!(market.csr.is_valid(), "{name}");
    Ok(market)
}

fn error(name: &str, contents: impl AsRef<[u8]>) -> String {
    read_file(name, contents.as_ref(), "").map(|market| triplets(&market.csr)).unwrap_err()
}

/// The files of `tests/formats` were made by the usual tools of each format, which `make.py` there names.
#[test]
fn files_of_other_programs_are_read_as_they_meant_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
    for line in expected.lines() {
        let mut words = line.split(' ').peekable();
        let name = words.next().unwrap();
        let declared = words.next_if(|word| word.contains("base")).unwrap_or_default();
        let [rows, cols] = [(); 2].map(|()| words.next().unwrap().parse().unwrap());
        let entries: Vec<_> = words.map(entry).collect();
        let contents = fs::read(folder.join(name)).unwrap();
        let market = read_file(name, &contents, declared).unwrap();
        assert_eq!((market.csr.rows, market.csr.cols), (rows, cols), "{name}");
        assert_eq!(triplets(&market.csr), entries, "{name}");
        let never = AtomicBool::new(false);
        let bounds = ReadBounds::new(&never, 1 << 24, "a test");
        // A shorter text may be a shorter list, or its last number is shorter; compressed data show what they lack.
        let is_compressed =
            [".gz", ".bz2", ".xz", ".zst", "zip", ".npz"].iter().any(|it| name.ends_with(it));
        for length in (0..contents.len()).step_by(7) {
            let mut changed = contents.clone();
            changed[length] ^= 1 << (length % 8);
            let _ = read_within(name, &changed, declared, bounds);
            let cut = read_file(name, &contents[..length], declared).map(|cut| triplets(&cut.csr));
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

#[test]
fn what_a_file_is_instead_of_a_matrix_is_named() {
    for (name, contents, expected) in [
        ("a.mtx", &b"\x89HDF\r\n\x1a\n..."[..], "this is an HDF5 file"),
        ("a.mat", b"MATLAB 5.0 MAT-file, Platform", "this is a MATLAB file: write the matrix"),
        ("a.mtx.gz", b"version https://git-lfs.github.com/spec/v1\n", "this is a Git LFS pointer"),
        ("a.mtx", b"\xff\xfe%\0%\0M\0", "this is UTF-16 text: convert it by `iconv"),
        ("a.tar.gz", b"\n <!DOCTYPE html>\n", "this is a web page, not a matrix: the address"),
        (
            "a.mtx",
            b"%%MatrixMarket matrix coordinate real general\r1 1 0\r",
            "this is a text whose lines end",
        ),
        ("a.mtx", b"1 2\n", "not `1 2`; an edge list needs a name that ends in .el"),
        ("a.zip", b"PK\x03\x04", "invalid Zip archive"),
        ("a.dat", b"\0\x12\x7bP\0\0\0\x02", "this is a binary file of PETSc: `scipy.io.mmwrite("),
        (
            "a.net",
            b"% c\n*Vertices 3\n1 \"a\"\n",
            "this is a file of Pajek: `scipy.io.mmwrite('a.mtx'",
        ),
        ("a.adj", b"AdjacencyGraph\n3\n4\n", "this is a graph of Ligra: in Python, `a = numpy."),
        ("a.adj", b"WeightedAdjacencyGraph\n3\n", "this is a graph of Ligra"),
        ("a.gml", b"Creator \"x\"\ngraph [\n", "this is a GML file"),
        ("a.txt", b"graph\n[\n", "this is a GML file"),
        ("a.dot", b"// c\n\ndigraph G {\n", "this is a graph of Graphviz"),
        ("a.gv", b"graph G {\n", "this is a graph of Graphviz"),
        ("a.xml", b"<?xml version=\"1.0\"?>\n<graphml xmlns=\"h", "this is a GraphML file: `scipy"),
        ("a.xml", b"<?xml version=\"1.0\"?>\n<html>", "this is a web page, not a matrix"),
        ("a.mps", b"* c\nNAME          TEST\nROWS\n N  COST\n", "this is an MPS file: `highspy`"),
        (
            "a.txt",
            b"+1 1:0.5 3:2\n-1 2:1\n",
            "this is a file of LIBSVM: `scipy.io.mmwrite('a.mtx', sk",
        ),
        ("a.txt", b"0.25 17:3\n", "this is a file of LIBSVM"),
        ("a.txt", b"   (1,1)        1\n   (2,1)   4\n", "this is a sparse matrix as it is shown"),
        ("a.txt", b"A =\n\n   (12,1)        1\n", "this is a sparse matrix as it is shown"),
        ("a.txt", b"  (0, 1)\t2.0\n", "this is a sparse matrix as it is shown: write the matrix"),
        ("a.mtx", b"{\"nodes\": []}", "this is a JSON file"),
        ("a.csv", b",0,1\n0,1,0\n", "this is a table whose first column has no name"),
        ("a.gr", b"c\np max 3 2\n", "a DIMACS file of the problem `max`, not sp, edge or col"),
        (
            "a.txt",
            b"# Created by Octave 8\n# name: K\n# type: matrix\n# rows: 1\n",
            "3: this is a text of",
        ),
        (
            "a.txt",
            b"# name: K\n# type: sparse complex matrix\n",
            "2: a text of Octave with complex",
        ),
        ("a.mtx.7z", b"7z\xbc\xaf'\x1c", "this is a 7-Zip archive: decompress it"),
    ] {
        let error = error(name, contents);
        let place = error.split_once(": ").map_or("", |(_, message)| message);
        let place = place.strip_prefix("1: ").unwrap_or(place);
        assert!(place.starts_with(expected) || error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn defects_of_other_formats_are_named_with_their_line() {
    for (name, contents, expected) in [
        ("a.el", "1 x\n", "a.el:1: the second node must be a whole number of at least 0, not `x`"),
        ("a.el", "# c\n1 2\n\n3\n", "a.el:4: the second node is missing at the end of the line"),
        ("a.el", "1 2 3\n1 2\n", "a.el:2: this edge has no weight, unlike those before it"),
        ("a.el", "1 2 nan\n", "a.el:1: value `nan` is not finite"),
        (
            "a.el",
            "1 2147483648\n",
            "a.el:1: the second node `2147483648` is larger than 2147483647",
        ),
        (
            "a.el",
            "% sym\n2 1\n1 0\n0 1\n",
            "a.el:3: node 0: nodes are counted from 1 here; --edges base=0 if it is a node",
        ),
        (
            "a.el",
            "% asym\n% 1 2147483648 2\n1 2\n",
            "a.el:2: 2147483648 nodes are too many: 32-bit indices allow at most 2147483647",
        ),
        ("a.graph", "% c\n3 2\n2\n1 3\n", "a.graph:4: the file ends after 2 of 3 vertices"),
        ("a.graph", "2 1\n2\n3\n", "a.graph:3: neighbour `3` is larger than 2"),
        ("a.graph", "2 1\n2\n0\n", "a.graph:3: neighbour 0: vertices are counted from 1"),
        (
            "a.graph",
            "2 1\n2\n\n",
            "a.graph:3: the vertices have 1 neighbours, not 2: each of the 1 edges must",
        ),
        ("a.graph", "2 1 001\n2 5\n1\n", "a.graph:3: the weight of the last edge is missing"),
        ("a.graph", "2 1 2\n", "a.graph:1: the format must have the digits 0 and 1, not 002"),
        (
            "a.smtx",
            "2, 2, 2\n0 1 3\n",
            "a.smtx:2: row offset 3 follows 1: the offsets must ascend from 0 to 2",
        ),
        ("a.smtx", "2, 2, 2\n0 1 2\n0 2\n", "a.smtx:3: a column index `2` is larger than 1"),
        (
            "a.smtx",
            "2, 2, 2\n0 1 2\n0\n",
            "a.smtx:3: the file ends where a column index must follow",
        ),
        ("a.smtx", "1, 1, 1\n0 1\n0\n7", "a.smtx:4: unexpected `7` after the end of the matrix"),
        ("a.smtx", "1, 0, 1\n0 1\n0\n", "a.smtx:1: 1 nonzeros are too many for a matrix of 1 x 0"),
        (
            "a.graph",
            "3 2\n2\n1 3\n2\n%\n\n1 2\n",
            "a.graph:7: the file has more lines than its 3 vertices",
        ),
        (
            "a.graph",
            "3 2\n2 3\n1\n2\n",
            "a.graph:2: vertex 1 has the neighbour 3, which does not have 1; `g",
        ),
        (
            "a.graph",
            "3 2\n2 3\n3\n2\n",
            "a.graph:2: vertex 1 has the neighbour 2, which does not have 1; `g",
        ),
        (
            "a.graph",
            "4 3\n2\n1 3\n1 2\n3\n",
            "a.graph:4: vertex 3 has the neighbour 1, which does not have",
        ),
        (
            "a.graph",
            "% c\n3 2\n%\n2\n1\n%\n1 2\n",
            "a.graph:7: vertex 3 has the neighbour 1, which does not have 3",
        ),
        (
            "a.graph",
            "3 2\n2\n1 3 1\n2\n",
            "a.graph:3: vertex 2 has the neighbour 1 more than once; `graphchk`",
        ),
        ("a.graph", "2 1\n2 2\n\n", "a.graph:2: vertex 1 has the neighbour 2 more than once; `gra"),
        ("a.graph", "2 1 0 1 x\n", "a.graph:1: unexpected `x` at the end of the line"),
        (
            "a.graph",
            "2 1\n2\n1\n1 2\n9 9 9\ngarbage\n",
            "a.graph:4: the file has more lines than its 2 vertices",
        ),
        (
            "a.graph",
            "2 1\n1 2\n\n",
            "a.graph:2: vertex 1 is its own neighbour; `graphchk` of METIS",
        ),
        (
            "a.graph",
            "3 2 1\n2 7\n1 6 3 8\n2 8\n",
            "a.graph:2: the edge 1-2 has the weight 7 in the line of 1 and 6 in that of 2; `graphchk`",
        ),
        ("a.gr", "p sp 2 1\na 1 3 5\n", "a.gr:2: the second node `3` is larger than 2"),
        ("a.gr", "p sp 2 1\na 1 2\n", "a.gr:2: the weight is missing at the end of the line"),
        ("a.gr", "c\np sp 2 2\na 1 2 5\n", "a.gr:3: there are 1 edges, not the 2 of the line p"),
        (
            "a.gr",
            "p sp 2 1\ne 1 2\n",
            "a.gr:2: the line must begin with c, with p once, and then a or e",
        ),
        ("a.col", "p edge 2 1\ne 1 2 3\n", "a.col:2: unexpected `3` at the end of the line"),
        ("a.gr", "p sp 2 1 9\na 1 2 5\n", "a.gr:1: unexpected `9` at the end of the line"),
        ("a.txt", &octave("3 1 1", "1 2 7\n"), "a.txt:6: the column `2` is larger than 1"),
        ("a.txt", &octave("3 6 2", "1 2 7\n"), "a.txt:6: there are 1 entries, not 2 (`# nnz`)"),
        ("a.txt", &octave("3 6 x", "1 2 7\n"), "a.txt:5: the number of nnz must be a whole number"),
        (
            "a.txt",
            "# name: K\n# type: sparse matrix\n# nnz: 1\n1 1 1\n",
            "a.txt:4: this is a text of",
        ),
        (
            "a.txt",
            &octave("1 1 1", "1 1 1\n\n# name: L\n"),
            "a.txt:8: the file has more than one var",
        ),
    ] {
        let error = error(name, contents);
        assert!(error.starts_with(expected), "{contents:?}: {error}");
    }
}

/// Returns a text of Octave with these numbers of rows, columns and entries.
fn octave(sizes: &str, entries: &str) -> String {
    let [rows, cols, nnz] = sizes.split(' ').collect::<Vec<_>>()[..] else { panic!("{sizes}") };
    format!(
        "# name: K\n# type: sparse matrix\n# rows: {rows}\n# columns: {cols}\n# nnz: {nnz}\n{entries}"
    )
}

#[test]
fn files_that_name_their_sizes_have_them() {
    for (name, text, size, entries) in [
        (
            "a.txt",
            "# Created by Octave 8.4.0, Mon Mar 02 10:00:00 2026 UTC <user@host>\n# name: K\n\
             # type: sparse matrix\n# nnz: 2\n# rows: 3\n# columns: 6\n1 1 2.5\n3 4 1e-3\n\n\n",
            (3, 6),
            &[(0, 0, 2.5), (2, 3, 1e-3)][..],
        ),
        ("a.dat", &octave("2 4 1", "2 1 1\n"), (2, 4), &[(1, 0, 1.0)]),
        ("a.gr", "c a road\np sp 4 2\na 1 2 3\na 1 3 9\n", (4, 4), &[(0, 1, 3.0), (0, 2, 9.0)]),
        ("a.txt", "c\np edge 3 1\nn 1 5\ne 1 2\n", (3, 3), &[(0, 1, 1.0), (1, 0, 1.0)]),
        ("a.col", "p col 3 2\ne 2 1\n", (3, 3), &[(0, 1, 1.0), (1, 0, 1.0)]),
        ("a.col", "p col 3 2\ne 2 1\ne 1 2\n", (3, 3), &[(0, 1, 1.0), (1, 0, 1.0)]),
    ] {
        let market = read_file(name, text.as_bytes(), "").unwrap();
        assert_eq!((market.csr.rows, market.csr.cols), size, "{text}");
        assert_eq!(triplets(&market.csr), entries, "{text}");
        assert!(market.remarks.is_empty(), "{text}");
    }
}

const BOEING: &str = "title\n 3 1 1 1\nRSA 3 3 4 0\n(4I2) (8I2) (4E9.2)\n 1 3 4 5\n 1 2 2 3\n \
                      1.00E+00 2.00E+00 3.0-120  4.0D+00 \n";

#[test]
fn a_harwell_boeing_file_is_recognized_and_checked() {
    let market = read_file("a.mtx", BOEING.as_bytes(), "").unwrap();
    let values = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0e-120), (2, 2, 4.0)];
    assert_eq!(triplets(&market.csr), values);
    for format in ["(1P,4E9.2)", "(1P4E9.2)", "(2(1P2E9.2))", "(1P,4(E9.2))", "( 4 (1PE9.2E3))"] {
        let market = read_file("a.rb", BOEING.replace("(4E9.2)", format).as_bytes(), "").unwrap();
        assert_eq!(triplets(&market.csr), values, "{format}");
    }
    let lines = BOEING.replace("(4E9.2)", "(2(E9.2))").replace("3.0-120", "\n3.0-120");
    assert_eq!(triplets(&read_file("a.rb", lines.as_bytes(), "").unwrap().csr), values);
    for (from, to, expected) in [
        ("RSA", "CSA", "3: type `CSA`: complex values are not supported"),
        ("RSA", "RSE", "3: type `RSE`: only assembled matrices (A) are supported"),
        ("3 3 4 0", "3 4 4 0", "3: a symmetric matrix must be square, not 3 x 4"),
        ("(8I2)", "(8X2)", "4: (8X2) is not a Fortran format such as (10I8) or (4E20.12)"),
        (" (4E9.2)", "", "4: a format is missing"),
        (
            "(4E9.2)",
            "(2(E9.2,E9.2))",
            "4: (2(E9.2,E9.2)) is not a Fortran format such as (10I8) or (4E20.12)",
        ),
        (" 1 3 4 5", " 1 3 4 6", "5: a column offset `6` is larger than 5"),
        (" 1 3 4 5", " 1 3 4 4", "5: the last column offset is 4, not 5"),
        (" 1 3 4 5", " 2 3 4 5", "5: column offset 2 follows 1: the offsets must ascend from 1"),
        (" 1 2 2 3", " 1 2 2 4", "6: row index `4` is larger than 3"),
        (" 1 2 2 3", " 1 2 2 3 3", "6: unexpected `3` at the end of the line"),
        ("D+00 \n", "D+00 \n\n 5\n", "9: unexpected `5` after the end of the matrix"),
        (" 4.0D+00 \n", "\n", "7: value `` is not a number"),
    ] {
        let error = error("a.rb", BOEING.replace(from, to));
        assert_eq!(error, format!("a.rb:{expected}"), "{to}");
    }
    let sides = BOEING.replace(" 3 1 1 1", " 3 1 1 1 2").replace("(4E9.2)", "(4E9.2)\nF 1 0");
    assert!(read_file("a.rb", (sides.clone() + "1 2\n3\n\n").as_bytes(), "").is_ok());
    let expected = "a.rb:11: unexpected `x` after the end of the matrix";
    assert_eq!(error("a.rb", sides + "1 2\n3\nx\n"), expected);
    // A short line with very many numbers takes no memory.
    for columns in ["300000000", "2000000000"] {
        let many = format!("t\n 3 1 1 1\nPUA 10 {columns} 0 0\n(300000001I1) (8I10)\n 1\n");
        let expected = "a.rb:5: a column offset must be a whole number of at least 0, not ``";
        assert_eq!(error("a.rb", many), expected);
    }
}
