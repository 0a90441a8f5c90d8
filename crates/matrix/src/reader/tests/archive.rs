use std::io::Write;

use tar::EntryType;

use super::{CHUNKS, TEXT, gzip, read_file, triplets};

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

const ABSENT: &str = "m.tar.gz: the archive contains no NAME/NAME.mtx, nor another matrix";

/// Reads an archive in every chunk size. All results must be equal.
fn read(archive: &[u8]) -> Result<Vec<(usize, usize, f64)>, String> {
    let read = |chunk| Ok(triplets(&read_file("m.tar.gz", archive, true, chunk)?.csr));
    let first = read(CHUNKS[0]);
    CHUNKS.iter().for_each(|chunk| assert_eq!(read(*chunk), first));
    first
}

#[test]
fn the_matrix_is_found_among_other_files() {
    let long = "1\n".repeat(5000);
    let archive = tar(&[("m/m_b.mtx", &long), ("x.mtx", "no"), ("m/m.mtx", TEXT), ("m/a", &long)]);
    let expected = Ok(vec![(0, 1, 1.5), (1, 2, -2.0)]);
    assert_eq!(read(&gzip(&archive)), expected);
    assert_eq!(read(&[gzip(&archive[..700]), gzip(&archive[700..])].concat()), expected);
    let long_name = format!("{0}/{0}.mtx", "n".repeat(120));
    assert_eq!(read(&gzip(&tar(&[(&long_name, TEXT)]))), expected);
}

#[test]
fn damaged_archives_and_those_without_a_matrix_are_refused() {
    let error = |archive: &[u8]| read(archive).unwrap_err();
    let without = gzip(&tar(&[("m/m_b", TEXT), ("m/x", TEXT), ("._m.mtx", TEXT)]));
    assert_eq!(error(&without), ABSENT);
    let compressed = gzip(&tar(&[("m/m.mtx", TEXT)]));
    for length in 2..compressed.len() {
        let error = error(&compressed[..length]);
        assert!(error.ends_with("the gzip data end too early"), "{length}: {error}");
    }
    let mut wrong = compressed.clone();
    let checksum = compressed.len() - 8;
    wrong[checksum] ^= 1;
    assert!(error(&wrong).starts_with("m.tar.gz: the gzip data are damaged ("), "{wrong:?}");
    let mut short = tar(&[("m/m.mtx", TEXT)]);
    short.truncate(512 + TEXT.len() - 3);
    assert_eq!(error(&gzip(&short)), "m.tar.gz: the gzip data end too early");
    let broken = gzip(&tar(&[("m/m.mtx", &TEXT.replace("2 3 -2", "2 4 -2"))]));
    assert_eq!(error(&broken), "m.tar.gz:4: column index 4 exceeds 3 columns");
    assert!(error(&gzip(b"no archive at all")).starts_with("m.tar.gz: "));
    assert_eq!(read(TEXT.as_bytes()), Ok(vec![(0, 1, 1.5), (1, 2, -2.0)]), "not compressed at all");
}

#[test]
fn a_link_is_not_a_matrix() {
    let archive = gzip(&tar_of(&[(EntryType::Symlink, "m/m.mtx", TEXT)]));
    assert_eq!(read(&archive), Err(ABSENT.into()));
}

/// The collection has Rutherford-Boeing files too, KONECT has edge lists, and users pack matrices under any name.
#[test]
fn another_matrix_is_read_if_it_is_the_only_one() {
    let boeing = "t\n 3 1 1 1\nRUA 2 3 2 0\n(4I2) (8I2) (4E9.2)\n 1 1 2 3\n 1 2\n 1.5 -2\n";
    let konect = "% bip weighted\n% 2 2 3\n1 2 1.5\n2 3 -2\n";
    for files in [
        &[("tiny.mtx", TEXT)][..],
        &[("README.mtx.txt", "x"), ("._tiny.mtx", "x"), ("a/b/tiny.mtx", TEXT)],
        &[("m/m_b.mtx", "1"), ("m/m.rb", boeing), ("m/n.mtx", "1")],
        &[("k/README.k", "x"), ("./k/out.k-l", konect), ("k/meta.k", "x")],
        &[("k/a.edges", konect), ("k/b.txt", "x")],
        &[("x", TEXT)],
    ] {
        assert_eq!(read(&gzip(&tar(files))), Ok(vec![(0, 1, 1.5), (1, 2, -2.0)]), "{files:?}");
    }
    for (files, names) in [
        ([("a.mtx", TEXT), ("b/c.mtx", TEXT)], "a.mtx and b/c.mtx"),
        ([("m/m.rb", boeing), ("n/out.n", konect)], "m/m.rb and n/out.n"),
    ] {
        let error = format!("m.tar.gz: the archive contains several matrices, {names}; unpack it");
        assert_eq!(read(&gzip(&tar(&files))), Err(error));
    }
    let cut = &tar(&[("m.mtx", TEXT)])[..512 + TEXT.len() - 3];
    assert!(read(&gzip(cut)).unwrap_err().starts_with("m.tar.gz: the gzip data "));
}

fn zip(name: &str, contents: &[u8]) -> Vec<u8> {
    zip_of(&[(name, contents)])
}

pub fn zip_of(files: &[(&str, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
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

#[test]
fn a_file_may_be_packed_twice() {
    let packed = tar(&[("m/m.mtx", TEXT)]);
    let nested = tar_of(&[(EntryType::Regular, "b.tar.gz", gzip(&packed))]);
    let once = gzip(TEXT.as_bytes());
    let twice = gzip(&once);
    let compressed = tar_of(&[(EntryType::Regular, "a.mtx.gz", gzip(TEXT.as_bytes()))]);
    for (name, contents) in [
        ("a.mtx.gz", twice.clone()),
        ("a.mtx.zst", zstd::encode_all(&gzip(TEXT.as_bytes())[..], 1).unwrap()),
        ("a.zip", zip("a.mtx.gz", &gzip(TEXT.as_bytes()))),
        ("a.zip", zip("a.tar", &packed)),
        ("a.zip", zip("a.tar.gz", &gzip(&packed))),
        ("a.tar.gz", gzip(&gzip(&packed))),
        ("a.tar.gz", gzip(&compressed)),
        ("a.tar", compressed),
    ] {
        let market = read_file(name, &contents, true, 7).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(triplets(&market.csr), [(0, 1, 1.5), (1, 2, -2.0)], "{name}");
    }
    for (name, contents, expected) in [
        ("a.gz", gzip(&twice), "a.gz: it has gzip data in gzip data in gzip data: decompress it"),
        ("a.zip", zip("a.gz", &twice), "a.zip: it has gzip data in gzip data in zip data: decom"),
        ("a.gz", gzip(&zip("a.mtx", b"")), "a.gz: it is a zip archive in gzip data: unpack it"),
        ("a.tar", nested, "a.tar: it is an archive in an archive: unpack it once"),
        ("a.mtx.gz", twice[..twice.len() - 9].to_vec(), "a.mtx.gz: the gzip data end too early"),
        ("a.gz", gzip(&once[..once.len() - 9]), "a.gz: the gzip data in gzip data end too early"),
        ("a.zip", zip("a.gz", &once[..50]), "a.zip: the gzip data in zip data end too early"),
        ("a.el.gz", gzip(b"1 2\n")[..20].to_vec(), "a.el.gz: the gzip data end too early"),
    ] {
        let error = read_file(name, &contents, true, 7).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// It would be ambiguous which matrix to read. `fetch` refuses such an archive too.
#[test]
fn a_second_matrix_is_refused() {
    for second in ["m/m.mtx", "n/n.mtx"] {
        let archive = tar(&[("m/m.mtx", TEXT), ("m/m_b.mtx", "1\n"), (second, TEXT)]);
        let error = read(&gzip(&archive)).unwrap_err();
        assert_eq!(error, format!("m.tar.gz: the archive contains a second matrix, {second}"));
    }
}

/// Several candidates are refused, also where the library shows only one of them.
#[test]
fn files_that_hide_another_one_are_refused() {
    let two = renamed(zip_of(&[("a.mtx", TEXT), ("b.mtx", TEXT)]), "b.mtx", "a.mtx");
    let error = read_file("m.zip", &two, true, 7).unwrap_err();
    let expected = "m.zip: the zip archive contains several files with the name a.mtx; unpack it";
    assert_eq!(error, expected);
    let archive = tar(&[("m/m.mtx", TEXT)]);
    let error = read(&gzip(&[&archive[..], &archive[..]].concat())).unwrap_err();
    let expected = "m.tar.gz: after the end of the archive come bytes that are not 0: unpack it";
    assert_eq!(error, expected);
}

/// Long names are stored in separate entries and are read into memory. A small file can contain very long ones.
#[test]
fn the_length_of_names_has_a_limit() {
    let name = "9".repeat(4 << 20);
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let matrix = (EntryType::Regular, "m/m.mtx", TEXT);
        let long = gzip(&tar_of(&[(kind, "name", &name[..]), matrix]));
        let refused = "m.tar.gz: more than 1048576 bytes of headers between two entries";
        assert_eq!(read(&long), Err(refused.into()), "{kind:?}");
    }
}
