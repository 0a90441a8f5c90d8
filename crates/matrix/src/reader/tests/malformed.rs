use std::io::Write;

use super::{CHUNKS, TEXT, file, gzip, read_in_every_way, read_text};

/// Texts, and after the arrow the expected messages, which begin with the line.
const NO_BANNERS: &[&str] = &[
    " => the file is empty",
    "hello\n1 1 1\n1 1 1\n => \
     1: the first line must be like `%%MatrixMarket matrix coordinate real general`, not `hello`",
    "\n \r\n => the file is empty",
    "\n\n%%MatrixMarket vector array real general\n => 3: object `vector` is not supported, only matrix",
    "\n%%MatrixMarket matrix array real general\n1 1\n\nx\n => 5: value `x` is not a number",
    "%%MatrixMarkt matrix => \
     1: the first line must be like `%%MatrixMarket matrix coordinate real general`, not `%%MatrixMarkt matrix`",
    "%%MatrixMarket\n => 1: the banner lacks the object (matrix)",
    "%%MatrixMarket matrx\n => 1: unknown object `matrx`, it must be one of matrix",
    "%%MatrixMarket vector array real general\n => 1: object `vector` is not supported, only matrix",
    "%%MatrixMarket matrix\n => 1: the banner lacks the format (coordinate, array)",
];

/// Texts after `%%MatrixMarket matrix`. Some headers have far more entries than the text contains.
const MATRICES: &[&str] = &[
    "coord real\n => 1: unknown format `coord`, it must be one of coordinate, array",
    "array\n => 1: the banner lacks the field (real, double, integer, unsigned-integer, pattern)",
    "array reel general\n => \
     1: unknown field `reel`, it must be one of real, double, integer, unsigned-integer, pattern",
    "array Complex general\n => \
     1: field `complex` is not supported, only real, double, integer, unsigned-integer, pattern",
    "array real\n => 1: the banner lacks the symmetry (general, symmetric, skew-symmetric, hermitian)",
    "array real symetric\n => \
     1: unknown symmetry `symetric`, it must be one of general, symmetric, skew-symmetric, hermitian",
    "array real general x\n => 1: unexpected `x` in the banner",
    "array pattern general\n => 1: the array format cannot have the field `pattern`",
    "coordinate pattern skew-symmetric\n => 1: a pattern has no values and cannot be skew-symmetric",
    "array real general\n%\n\n => 3: the file ends before the size line",
    "array real general\n%\n2\n => 3: the size line must contain rows, columns, not `2`",
    "coordinate real general\n2 2\n => 2: the size line must contain rows, columns, entries, not `2 2`",
    "coordinate real general\n2 2 2 2\n => 2: the size line must contain rows, columns, entries, not `2 2 2 2`",
    "coordinate real general\n-2 2 2\n => 2: the number of rows must be a whole number of at least 0, not `-2`",
    "coordinate real general\n2 2.0 2\n => \
     2: the number of columns must be a whole number of at least 0, not `2.0`",
    "coordinate real general\n2 2 x\n => \
     2: the number of entries must be a whole number of at least 0, not `x`",
    "coordinate real general\n2147483648 2 2\n => \
     2: 2147483648 rows are too many: 32-bit indices allow at most 2147483647",
    "coordinate real general\n9 9 1000000000000000000\n => \
     2: 1000000000000000000 entries are too many: 32-bit indices allow at most 2147483647; several ranks of MPI can \
     divide them (docs/mpi.md)",
    "coordinate real general\n1 1 99999999999999999999\n => \
     2: 99999999999999999999 entries are too many: 32-bit indices allow at most 2147483647; several ranks of MPI can \
     divide them (docs/mpi.md)",
    "array real general\n65536 65536\n => \
     2: 4294967296 entries are too many: 32-bit indices allow at most 2147483647; several ranks of MPI can divide \
     them (docs/mpi.md)",
    "coordinate real symmetric\n2 3 2\n => 2: a symmetric matrix must be square, not 2 x 3",
    "coordinate pattern general\n2 2 1\n1 1 1\n => \
     3: unexpected `1`: an entry of a pattern matrix has only row and column",
    "coordinate unsigned-integer general\n2 2 1\n1 1 -1\n\n\n\n\n => \
     3: value `-1` is negative in an unsigned-integer matrix",
    "coordinate real skew-symmetric\n2 2 1\n2 2 5\n\n\n\n\n\n\n => \
     3: diagonal entry (2, 2) of a skew-symmetric matrix must be 0, not `5`",
    "array real general\n2 1\n1\n => 3: the file ends after 1 of 2 entries",
    "array real general\n2 1\n1\n2\n3\n => 5: there are more entries than the 2 given in the size line",
    "array real general\n2 1\n1 2\n => 3: unexpected `2`: an array has one value per line",
    "array unsigned-integer general\n2 1\n1\n-2\n => 4: value `-2` is negative in an unsigned-integer matrix",
    "coordinate real general\n9 9 2000000000\n1 1 1\n => 3: the file ends after 1 of 2000000000 entries",
    "array real general\n40000 40000\n1\n => 3: the file ends after 1 of 1600000000 entries",
];

/// Entries that follow `GENERAL`.
const ENTRIES: &[&str] = &[
    "0 1 1\n1 1 1\n => 5: row index 0: indices start at 1",
    "1 0 1\n1 1 1\n => 5: column index 0: indices start at 1",
    "\n5 1 1\n1 1 1\n => 6: row index 5 exceeds 4 rows",
    "1 6 1\n1 1 1\n => 5: column index 6 exceeds 5 columns",
    "4294967297 1 1\n1 1 1\n => 5: row index 4294967297 exceeds 4 rows",
    "1 99999999999999999999999 1\n => 5: column index 99999999999999999999999 exceeds 5 columns",
    "-1 1 1\n => 5: row index `-1` is not a positive whole number",
    "1 1.5 1\n => 5: column index `1.5` is not a positive whole number",
    "x 1 1\n => 5: row index `x` is not a positive whole number",
    "1,1,1\n => 5: the column index is missing after `1,1,1`",
    "1\n => 5: the column index is missing after `1`",
    "1 1\n => 5: the value is missing after the indices",
    "1 1 % 1\n => 5: the value is missing after the indices",
    "1 2.5\n1 1 1\n => 5: column index `2.5` is not a positive whole number",
    "1 2-5\n1 1 1\n => 5: column index `2-5` is not a positive whole number",
    "1 1 1 0.5\n => 5: unexpected `0.5`: an entry of a real matrix has only row, column and value",
    "1 1 1.5.2\n => 5: value `1.5.2` is not a number",
    "1 1 abc\n => 5: value `abc` is not a number",
    "1 1 1e\n => 5: value `1e` is not a number",
    "1 1 .\n => 5: value `.` is not a number",
    "1 1 -\n => 5: value `-` is not a number",
    "1 1 nan\n => 5: value `nan` is not finite",
    "1 1 -inf\n => 5: value `-inf` is not finite",
    "1 1 1e999\n => 5: value `1e999` is not finite",
    "1 1 1\u{7}\n => 5: value `1\u{fffd}` is not a number",
    "2 1 1\r\n => 5: the file ends after 2 of 3 entries",
    "2 1 1\n\n%\n => 7: the file ends after 2 of 3 entries",
    "2 1 1\n2 2 1\n%\n\n2 3 1\n2 4 x\n => 9: there are more entries than the 3 given in the size line",
    "2 1 1\n2 2 y\n2 3 1\n2 4 x\n => 6: value `y` is not a number",
    "1 2 1e308\n1 2 1e308\n => the 2 entries in row 1, column 2 sum to inf",
];
const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n%\n4 5 3\n1 1 1\n";

#[test]
fn every_defect_is_reported() {
    for (head, cases) in
        [("", NO_BANNERS), ("%%MatrixMarket matrix ", MATRICES), (GENERAL, ENTRIES)]
    {
        for case in cases {
            let (text, message) = case.split_once(" => ").unwrap();
            let text = format!("{head}{text}");
            let found = read_in_every_way(text.as_bytes(), true)
                .err()
                .map(|error| error.replacen("a.mtx:", "", 1));
            assert_eq!(found.as_deref().map(str::trim_start), Some(message), "{text}");
        }
    }
}

#[test]
fn unsupported_files_are_distinguished_from_invalid_files() {
    for (text, unsupported) in [
        ("%%MatrixMarket matrix coordinate complex general\n", true),
        ("%%MatrixMarket vector coordinate real general\n", true),
        ("%%MatrixMarket matrix coordinate real general\n9999999999 1 1\n", true),
        ("%%MatrixMarket matrix coordinate real generl\n", false),
    ] {
        let (_folder, path) = file("a.mtx", text.as_bytes());
        let error = super::super::read(&path, &super::Options::default()).unwrap_err();
        assert_eq!(error.is_unsupported(), unsupported, "{error}");
    }
}

#[test]
fn gzip_data_that_are_cut_off_or_damaged_are_an_error() {
    let compressed = gzip(TEXT.as_bytes());
    let mut damaged = compressed.clone();
    damaged[compressed.len() - 8] ^= 1; // the checksum
    for chunk in CHUNKS {
        for length in 2..compressed.len() {
            let error = read_text(&compressed[..length], true, chunk).unwrap_err();
            assert!(error.ends_with("the gzip data end too early"), "{length}: {error}");
        }
        let error = read_text(&damaged, true, chunk).unwrap_err();
        assert!(error.starts_with("a.mtx: the gzip data are damaged ("), "{error}");
    }
}

#[test]
fn gzip_data_of_several_members_are_one_text() {
    for cut in 0..TEXT.len() {
        let compressed = [gzip(&TEXT.as_bytes()[..cut]), gzip(&TEXT.as_bytes()[cut..])].concat();
        for chunk in CHUNKS {
            assert_eq!(read_text(&compressed, true, chunk).unwrap().csr.values, [1.5, -2.0]);
        }
    }
}

#[test]
fn zstd_data_that_zstd_refuses_are_refused() {
    let whole = zstd::encode_all(TEXT.as_bytes(), 1).unwrap();
    // A frame of 128 bytes with only one block, of 50 bytes, before another frame.
    let block = [&b"\x28\xb5\x2f\xfd\x20\x80\x91\x01\0"[..], &TEXT.as_bytes()[..50]].concat();
    for (contents, expected) in [
        // A frame that is skipped lacks all its bytes but one.
        ([&whole[..], &b"\x50\x2a\x4d\x18\xff\xff\xff\xffx"[..]].concat(), "end too early"),
        ([&whole[..], &b"\x50\x2a\x4d\x18"[..]].concat(), "end too early"),
        ([&whole[..], &b"x"[..]].concat(), "are damaged ("),
        ([&block[..], &whole].concat(), "are damaged ("),
    ] {
        for chunk in CHUNKS {
            let error = read_text(&contents, true, chunk).unwrap_err();
            assert!(error.starts_with(&format!("a.mtx: the zstd data {expected}")), "{error}");
        }
    }
}

#[test]
fn members_without_contents_add_nothing() {
    let bzip2 = |text: &str| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    let (begin, end) = TEXT.split_at(30);
    for (empty, begin, end) in [
        (gzip(b""), gzip(begin.as_bytes()), gzip(end.as_bytes())),
        (bzip2(""), bzip2(begin), bzip2(end)),
        (zstd(""), zstd(begin), zstd(end)),
    ] {
        let many = empty.repeat(20_000);
        let text = [&many[..], &begin, &many, &end, &many].concat();
        assert_eq!(read_text(&text, true, 7).unwrap().csr.values, [1.5, -2.0]);
        let cut = read_text(&text[..text.len() - 1], true, 7).unwrap_err();
        assert!(cut.ends_with(" data end too early"), "{cut}");
    }
}
