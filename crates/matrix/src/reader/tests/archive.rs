use std::io::{Cursor, Write};

use tar::EntryType;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{CHUNKS, Options, TEXT, gzip, read_within, shown};
use crate::memory::ReadBounds;

/// What is read from `TEXT`.
const MATRIX: &str = "2x3 0,1,1.5 1,2,-2";
const ABSENT: &str = "m.tar.gz: the archive contains no NAME/NAME.mtx, nor another matrix";
const BOEING: &str = "t\n 3 1 1 1\nRUA 2 3 2 0\n(4I2) (8I2) (4E9.2)\n 1 1 2 3\n 1 2\n 1.5 -2\n";
const KONECT: &str = "% bip weighted\n% 2 2 3\n1 2 1.5\n2 3 -2\n";

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let files = files.iter().map(|&(path, text)| (EntryType::Regular, path, text));
    tar_of(&files.collect::<Vec<_>>())
}

/// Returns an archive with members of these types, with their paths and contents.
fn tar_of(members: &[(EntryType, &str, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, path, contents) in members {
        let contents = contents.as_ref();
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(contents.len() as u64);
        builder.append_data(&mut header, path, contents).unwrap();
    }
    builder.into_inner().unwrap()
}

pub fn zip_of(files: &[(&str, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, contents) in files {
        archive.start_file(*name, stored).unwrap();
        archive.write_all(contents.as_ref()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Replaces a name in an archive by another one of the same length, which the library would not write twice.
pub fn renamed(mut archive: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    for place in 0..archive.len() {
        if archive[place..].starts_with(from.as_bytes()) {
            archive[place..place + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    archive
}

/// Compares what is read from a file, in every chunk size, with a matrix or the beginning of a message.
#[track_caller]
fn check(name: &str, contents: &[u8], expected: &str) {
    for chunk in CHUNKS {
        let options = Options { chunk, ..Options::default() };
        let found = shown(&read_within(name, contents, &options, ReadBounds::NONE));
        assert!(found.starts_with(expected), "{found}");
    }
}

/// The collection has Rutherford-Boeing files too, KONECT has edge lists, and users pack matrices under any name. With
/// several candidates it would be ambiguous which one to read; `fetch` refuses such an archive too.
#[test]
fn the_matrix_of_an_archive_is_found_if_there_is_only_one() {
    let long = "1\n".repeat(5000);
    let long_name = format!("{0}/{0}.mtx", "n".repeat(120));
    let several = "m.tar.gz: the archive contains several matrices, ";
    let second = "m.tar.gz: the archive contains a second matrix, ";
    for (files, expected) in [
        (&[("m/m_b.mtx", &*long), ("x.mtx", "no"), ("m/m.mtx", TEXT), ("m/a", &long)][..], MATRIX),
        (&[(&long_name, TEXT)], MATRIX),
        (&[("tiny.mtx", TEXT)], MATRIX),
        (&[("README.mtx.txt", "x"), ("._tiny.mtx", "x"), ("a/b/tiny.mtx", TEXT)], MATRIX),
        (&[("m/m_b.mtx", "1"), ("m/m.rb", BOEING), ("m/n.mtx", "1")], MATRIX),
        (&[("k/README.k", "x"), ("./k/out.k-l", KONECT), ("k/meta.k", "x")], MATRIX),
        (&[("k/a.edges", KONECT), ("k/b.txt", "x")], MATRIX),
        (&[("x", TEXT)], MATRIX),
        (&[("m/m_b", TEXT), ("m/x", TEXT), ("._m.mtx", TEXT)], ABSENT),
        (&[("a.mtx", TEXT), ("b/c.mtx", TEXT)], &format!("{several}a.mtx and b/c.mtx; unpack it")),
        (&[("m/m.rb", BOEING), ("n/out.n", KONECT)], &format!("{several}m/m.rb and n/out.n; unpa")),
        (&[("m/m.mtx", TEXT), ("m/m_b.mtx", "1\n"), ("m/m.mtx", TEXT)], &format!("{second}m/m.mtx")),
        (&[("m/m.mtx", TEXT), ("m/m_b.mtx", "1\n"), ("n/n.mtx", TEXT)], &format!("{second}n/n.mtx")),
    ] {
        check("m.tar.gz", &gzip(&tar(files)), expected);
    }
    let archive = tar(&[("m/m.mtx", TEXT)]);
    check("m.tar.gz", &[gzip(&archive[..700]), gzip(&archive[700..])].concat(), MATRIX);
    let link = tar_of(&[(EntryType::Symlink, "m/m.mtx", TEXT)]);
    check("m.tar.gz", &gzip(&link), ABSENT);
}

#[test]
fn damaged_archives_are_refused() {
    let compressed = gzip(&tar(&[("m/m.mtx", TEXT)]));
    for length in 2..compressed.len() {
        check("m.tar.gz", &compressed[..length], "m.tar.gz: the gzip data end too early");
    }
    let mut wrong = compressed.clone();
    wrong[compressed.len() - 8] ^= 1; // the checksum
    check("m.tar.gz", &wrong, "m.tar.gz: the gzip data are damaged (");
    for path in ["m/m.mtx", "m.mtx"] {
        let cut = &tar(&[(path, TEXT)])[..512 + TEXT.len() - 3];
        check("m.tar.gz", &gzip(cut), "m.tar.gz: the gzip data ");
    }
    let broken = tar(&[("m/m.mtx", &TEXT.replace("2 3 -2", "2 4 -2"))]);
    check("m.tar.gz", &gzip(&broken), "m.tar.gz:4: column index 4 exceeds 3 columns");
    check("m.tar.gz", &gzip(b"no archive at all"), "m.tar.gz: ");
    check("m.tar.gz", TEXT.as_bytes(), MATRIX);
}

#[test]
fn a_file_may_be_packed_twice() {
    let once = gzip(TEXT.as_bytes());
    let twice = gzip(&once);
    let packed = tar(&[("m/m.mtx", TEXT)]);
    let nested = tar_of(&[(EntryType::Regular, "b.tar.gz", gzip(&packed))]);
    let compressed = tar_of(&[(EntryType::Regular, "a.mtx.gz", &once)]);
    for (name, contents, expected) in [
        ("a.mtx.gz", twice.clone(), MATRIX),
        ("a.mtx.zst", zstd::encode_all(&once[..], 1).unwrap(), MATRIX),
        ("a.zip", zip_of(&[("a.mtx.gz", &once)]), MATRIX),
        ("a.zip", zip_of(&[("a.tar", &packed)]), MATRIX),
        ("a.zip", zip_of(&[("a.tar.gz", gzip(&packed))]), MATRIX),
        ("a.tar.gz", gzip(&gzip(&packed)), MATRIX),
        ("a.tar.gz", gzip(&compressed), MATRIX),
        ("a.tar", compressed, MATRIX),
        ("a.gz", gzip(&twice), "a.gz: it has gzip data in gzip data in gzip data: decompress it"),
        ("a.zip", zip_of(&[("a.gz", &twice)]), "a.zip: it has gzip data in gzip data in zip data"),
        ("a.gz", gzip(&zip_of(&[("a.mtx", "")])), "a.gz: it is a zip archive in gzip data: unpack"),
        ("a.zip", b"PK\x03\x04".to_vec(), "a.zip: invalid Zip archive"),
        ("a.tar", nested, "a.tar: it is an archive in an archive: unpack it once"),
        ("a.mtx.gz", twice[..twice.len() - 9].to_vec(), "a.mtx.gz: the gzip data end too early"),
        ("a.gz", gzip(&once[..once.len() - 9]), "a.gz: the gzip data in gzip data end too early"),
        ("a.zip", zip_of(&[("a.gz", &once[..50])]), "a.zip: the gzip data in zip data end too ear"),
        ("a.el.gz", gzip(b"1 2\n")[..20].to_vec(), "a.el.gz: the gzip data end too early"),
    ] {
        check(name, &contents, expected);
    }
}

/// Several candidates are refused, also where the library shows only one of them.
#[test]
fn files_that_hide_another_one_are_refused() {
    let two = renamed(zip_of(&[("a.mtx", TEXT), ("b.mtx", TEXT)]), "b.mtx", "a.mtx");
    let expected = "m.zip: the zip archive contains several files with the name a.mtx; unpack it";
    check("m.zip", &two, expected);
    let archive = tar(&[("m/m.mtx", TEXT)]);
    let expected = "m.tar.gz: after the end of the archive come bytes that are not 0: unpack it";
    check("m.tar.gz", &gzip(&archive.repeat(2)), expected);
}

/// Long names are stored in separate entries and are read into memory. A small file can contain very long ones.
#[test]
fn the_length_of_names_has_a_limit() {
    let name = "9".repeat(4 << 20);
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let matrix = (EntryType::Regular, "m/m.mtx", TEXT);
        let long = gzip(&tar_of(&[(kind, "name", &name[..]), matrix]));
        let refused = "m.tar.gz: more than 1048576 bytes of headers between two entries";
        check("m.tar.gz", &long, refused);
    }
}
