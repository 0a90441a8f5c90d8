//! Compressed files that are cut off, damaged, or made of several parts; and what is not supported.

use std::io::Write;

use super::{CHUNKS, Options, TEXT, file, gzip, read_text};

#[test]
fn unsupported_files_are_distinguished_from_invalid_files() {
    for (text, unsupported) in [
        ("%%MatrixMarket matrix coordinate complex general\n", true),
        ("%%MatrixMarket vector coordinate real general\n", true),
        ("%%MatrixMarket matrix coordinate real general\n9999999999 1 1\n", true),
        ("%%MatrixMarket matrix coordinate real generl\n", false),
    ] {
        let (_folder, path) = file("a.mtx", text.as_bytes());
        let error = super::super::read(&path, &Options::default()).unwrap_err();
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
            let error = read_text(&compressed[..length], chunk).unwrap_err();
            assert!(error.ends_with("the gzip data end too early"), "{length}: {error}");
        }
        let error = read_text(&damaged, chunk).unwrap_err();
        assert!(error.starts_with("a.mtx: the gzip data are damaged ("), "{error}");
    }
}

#[test]
fn gzip_data_of_several_members_are_one_text() {
    for cut in 0..TEXT.len() {
        let compressed = [gzip(&TEXT.as_bytes()[..cut]), gzip(&TEXT.as_bytes()[cut..])].concat();
        for chunk in CHUNKS {
            assert_eq!(read_text(&compressed, chunk).unwrap().csr.values, [1.5, -2.0]);
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
            let error = read_text(&contents, chunk).unwrap_err();
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
        assert_eq!(read_text(&text, 7).unwrap().csr.values, [1.5, -2.0]);
        let cut = read_text(&text[..text.len() - 1], 7).unwrap_err();
        assert!(cut.ends_with(" data end too early"), "{cut}");
    }
}
