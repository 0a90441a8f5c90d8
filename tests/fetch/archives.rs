//! Tests with archives that are damaged or contain something else.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use spmv_matrix::cache::hex;
use tar::EntryType;

use crate::archive::{Tar, large};
use crate::place::{Place, TINY};
use crate::server::Reply;

const LARGE: &str = "/MM/T/large.tar.gz";

#[test]
fn damaged_archives_are_refused() {
    let whole = Tar::of("large", &large()).gzip();
    let (mut flipped, mut sum) = (whole.clone(), whole.clone());
    flipped[whole.len() / 2] ^= 0x10;
    sum[whole.len() - 6] ^= 1;
    for (archive, expected) in [
        (&flipped[..], ""),
        (&sum, ""),
        (&whole[..whole.len() / 2], ""),
        (b"the file was not found", "invalid gzip header"),
        (b"", ""),
    ] {
        let place = Place::with_large(&[]);
        place.server.serve(LARGE, archive, &[Reply::File]);
        let reason = place.fail_cleanly("T/large");
        let begin = format!("the archive from SERVER{LARGE}: it cannot be extracted: {expected}");
        assert!(reason.starts_with(&begin), "{reason}");
    }
}

/// Archives of `T/tiny` with something else, and why they are refused.
fn others() -> Vec<(Vec<u8>, &'static str)> {
    let tar = || Tar::of("tiny", TINY);
    let file = |path| Tar::default().file(path, TINY).gzip();
    let link = |kind| Tar::default().entry(kind, "tiny/tiny.mtx", "/etc/passwd").gzip();
    let names = |tar: Tar| {
        let name = vec![b'x'; (1 << 20) + 1];
        let tar = tar.header("long", EntryType::GNULongName, "", name.len() as u64);
        tar.bytes(&name).gzip()
    };
    let between = "it cannot be extracted: more than 1048576 bytes of headers between two entries";
    let absent = "it does not contain tiny/tiny.mtx";
    vec![
        (file("other/other.mtx"), absent),
        (Tar::default().gzip(), absent),
        (file("tiny.mtx"), absent),
        (file("/tiny/tiny.mtx"), absent),
        (file("../tiny/tiny.mtx"), absent),
        (link(EntryType::Symlink), "tiny/tiny.mtx is not a file but a Symlink"),
        (link(EntryType::Link), "tiny/tiny.mtx is not a file but a Link"),
        (tar().file("tiny/tiny.mtx", TINY).gzip(), "it contains tiny/tiny.mtx twice"),
        (
            tar().file("tiny/tiny_b.mtx", "b").file("tiny/tiny_b.mtx", "c").gzip(),
            "it contains tiny_b.mtx twice",
        ),
        (
            Tar::default().declaring("tiny/tiny.mtx", 1 << 40).gzip(),
            "tiny/tiny.mtx has 1099511627776 bytes, but T/tiny needs at most 16777492",
        ),
        (names(Tar::default()), between),
        (names(tar()), between),
        // The tar file ends within an entry, although the gzip file is complete.
        (
            Tar::default().declaring("tiny/tiny.mtx", 1000).cut(),
            "it ends within tiny/tiny.mtx, after 0 of 1000 bytes",
        ),
        (
            tar().declaring("tiny/tiny_b.mtx", 1000).bytes(b"b").cut(),
            "it ends within tiny/tiny_b.mtx, after 512 of 1000 bytes",
        ),
        // The unit tests have more cases of what such a file may contain.
        (Tar::of("tiny", &TINY.replace("3 4 4", "4 3 4")).gzip(), "tiny.mtx:3: 4 x 3, but T/tiny has 3 x 4"),
        (
            Tar::of("tiny", &format!("{TINY}1 2 3\n")).gzip(),
            "tiny.mtx: 5 entry lines, but its size line specifies 4",
        ),
    ]
}

#[test]
fn archives_of_something_else_are_refused() {
    for (archive, expected) in others() {
        let place = Place::with(&archive);
        let expected = format!("the archive from SERVER/MM/T/tiny.tar.gz: {expected}");
        assert_eq!(place.fail_cleanly("T/tiny --aux"), expected);
        // A refused archive is removed, so that the next run requests it again.
        assert_eq!(place.fail_cleanly("T/tiny --aux"), expected);
        assert_eq!(place.server.paths().len(), 2);
    }
}

/// Each case has an archive and the files that `--aux` adds. Otherwise `corpus` would measure every file with the name
/// of a matrix file, and a later `fetch` of a matrix with that name would accept it.
#[test]
fn only_the_matrix_and_safe_files_are_extracted() {
    let dangerous = Tar::default()
        .file("../evil.mtx", "x")
        .file("/tmp/spmv-bench-evil.mtx", "x")
        .file("tiny/../../evil.mtx", "x")
        .entry(EntryType::Directory, "tiny/", "")
        .entry(EntryType::Symlink, "tiny", "/tmp")
        .entry(EntryType::Symlink, "tiny/tiny_l.mtx", "/etc/passwd")
        .entry(EntryType::Fifo, "tiny/tiny_f.mtx", "")
        .file("tiny/tiny_b.mtx", "b")
        .file("tiny/tiny.mtx", TINY)
        .file("tiny/sub/tiny_c.mtx", "c")
        .file("tiny/.hidden", "d")
        .file("tiny/tiny d.mtx", "d")
        .file("tiny/tiny\x1b[2J.mtx", "d")
        .file("other/other.mtx", "e");
    let beside = Tar::of("tiny", TINY)
        .file("tiny/large.mtx", &large())
        .file("tiny/x.mtx.gz", "x")
        .file("tiny/x.tar.gz", "x")
        .file("tiny/x.tgz", "x")
        .file("tiny/tiny.txt", "x");
    let further = ["large.mtx.aux", "tiny.txt", "x.mtx.gz.aux", "x.tar.gz.aux", "x.tgz.aux"];
    for (archive, expected) in [(dangerous, &["tiny_b.mtx.aux"][..]), (beside, &further)] {
        let archive = archive.gzip();
        for (words, expected) in [("T/tiny", &[][..]), ("T/tiny --aux", expected)] {
            let place = Place::with(&archive);
            place.succeed(words).says("T/tiny: to/tiny.mtx");
            assert_eq!(place.read("to/tiny.mtx"), TINY);
            let mut expected: Vec<_> = expected.iter().map(|name| format!("to/{name}")).collect();
            expected.push("to/tiny.mtx".into());
            expected.sort();
            assert_eq!(place.files(), expected);
        }
    }
    assert!(!Path::new("/tmp/spmv-bench-evil.mtx").exists());
}

#[test]
fn an_archive_must_have_the_known_sha256() {
    let archive = Tar::of("tiny", TINY).gzip();
    let other = Tar::of("tiny", &TINY.replace("1 1 2", "1 1 3")).gzip();
    let place = Place::with(&other);
    let datasets = place.read("my.toml");
    let give = |sha256: &str| {
        place.write("my.toml", datasets.replacen("nnz", &format!("sha256 = \"{sha256}\", nnz"), 1));
    };
    let sha256 = hex(Sha256::new_with_prefix(&archive));
    give(&sha256);
    let reason = place.fail_cleanly("T/tiny");
    let end = format!("gives {sha256} for T/tiny; --any-archive accepts the archive anyway");
    assert!(reason.ends_with(&end), "{reason}");
    place.server.serve("/MM/T/tiny.tar.gz", &archive, &[Reply::File]);
    place.succeed("T/tiny");
    place.succeed("T/tiny");
    // A file from another archive, downloaded when the hash was unknown, is not accepted as the matrix.
    give(&"0".repeat(64));
    let reason = place.fail("T/tiny");
    assert!(reason.contains("; remove that file and the lines of T/tiny from"), "{reason}");
    place.succeed("T/tiny --any-archive");
    give("00");
    let expected = "my.toml:3: T/tiny: sha256 must have 64 digits (0 to 9, a to f), not '00'\n";
    place.run("T/tiny").exits(2).says(expected);
}

#[test]
fn a_file_that_does_not_fit_on_the_disk_is_not_begun() {
    let place = Place::with(&Tar::of("tiny", TINY).declaring("tiny/tiny_b.mtx", 1 << 60).cut());
    let reason = place.fail("T/tiny --aux");
    let begin = "to/tiny_b.mtx: 1152921504606846976 bytes are needed and ";
    assert!(reason.starts_with(begin) && reason.ends_with(" are free"), "{reason}");
    let left = place.files();
    assert!(!left.iter().any(|file| file.contains("tiny.mtx")), "{left:?}");
}

#[test]
fn a_kept_archive_is_stored_unchanged() {
    let archive = Tar::of("tiny", TINY).file("tiny/tiny_b.mtx", "b").gzip();
    let place = Place::with(&archive);
    place.succeed("T/tiny --keep-archives");
    assert_eq!(fs::read(place.path("to/tiny.tar.gz")).unwrap(), archive);
    assert_eq!(place.files(), ["to/tiny.tar.gz"]);
    place.succeed("T/tiny --keep-archives");
    assert_eq!(place.server.requests().len(), 1);
    let place = Place::with(&Tar::of("tiny", "hello").gzip());
    let reason = place.fail_cleanly("T/tiny --keep-archives");
    assert!(reason.contains("tiny.mtx:1: the first line"), "{reason}");
}
