//! Tests with archives that are damaged or contain something else.

use sha2::Digest;
use tar::EntryType;

use crate::archive::{Tar, large};
use crate::place::{Place, TINY};
use crate::server::Reply;

/// Returns the reason why an archive is refused as `T/tiny`.
fn refusal(archive: &[u8]) -> String {
    let place = Place::with(archive);
    let line = place.fail(&["T/tiny"]);
    let begin = "T/tiny: not downloaded: the archive from SERVER/MM/T/tiny.tar.gz: ";
    // A refused archive is removed, so that the next run requests it again.
    assert_eq!((place.fail(&["T/tiny"]), place.server.paths().len()), (line.clone(), 2));
    line.strip_prefix(begin).unwrap_or_else(|| panic!("{line}")).to_owned()
}

/// Returns the additional files after a successful run with this archive as `T/tiny`.
fn left(archive: &[u8], words: &[&str]) -> Vec<String> {
    let place = Place::with(archive);
    let ran = place.run(&[&["T/tiny"], words].concat());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
    let usual = ["my.toml", "to/.spmv-bench/ledger.csv", "to/.spmv-bench/lock", "to/tiny.mtx"];
    place.files().into_iter().filter(|file| !usual.contains(&file.as_str())).collect()
}

#[test]
fn damaged_archives_are_refused() {
    let whole = Tar::of("large", &large()).gzip();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let mut sum = whole.clone();
    sum[whole.len() - 6] ^= 1;
    let cut = &whole[..whole.len() / 2];
    for (archive, expected) in [
        (&flipped[..], "it cannot be unpacked: "),
        (&sum, "it cannot be unpacked: "),
        (cut, "it cannot be unpacked: "),
        (b"the file was not found", "it cannot be unpacked: invalid gzip header"),
        (b"", "it cannot be unpacked: "),
    ] {
        let place = Place::with_large(&[Reply::File]);
        place.server.serve("/MM/T/large.tar.gz", archive, &[Reply::File]);
        let line = place.fail(&["T/large"]);
        let begin = "T/large: not downloaded: the archive from SERVER/MM/T/large.tar.gz: ";
        assert!(line.starts_with(&format!("{begin}{expected}")), "{line}");
    }
}

#[test]
fn archives_of_something_else_are_refused() {
    let matrix = |text: &str| Tar::of("tiny", text).gzip();
    let link = |kind| Tar::default().entry(kind, "tiny/tiny.mtx", "/etc/passwd").gzip();
    let twice = Tar::of("tiny", TINY).file("tiny/tiny.mtx", TINY).gzip();
    let huge = Tar::default().declaring("tiny/tiny.mtx", 1 << 40).gzip();
    let names = |tar: Tar| {
        let name = vec![b'x'; (1 << 20) + 1];
        let tar = tar.header("long", EntryType::GNULongName, "", name.len() as u64);
        tar.bytes(&name).gzip()
    };
    let between = "it cannot be unpacked: more than 1048576 bytes of headers between two entries";
    for (archive, expected) in [
        (Tar::of("other", TINY).gzip(), "it does not contain tiny/tiny.mtx"),
        (Tar::default().gzip(), "it does not contain tiny/tiny.mtx"),
        (Tar::default().file("tiny.mtx", TINY).gzip(), "it does not contain tiny/tiny.mtx"),
        (Tar::default().file("/tiny/tiny.mtx", TINY).gzip(), "it does not contain tiny/tiny.mtx"),
        (Tar::default().file("../tiny/tiny.mtx", TINY).gzip(), "it does not contain tiny/tiny.mtx"),
        (link(EntryType::Symlink), "tiny/tiny.mtx is not a file but a Symlink"),
        (link(EntryType::Link), "tiny/tiny.mtx is not a file but a Link"),
        (twice, "it contains tiny/tiny.mtx twice"),
        (huge, "tiny/tiny.mtx has 1099511627776 bytes, but T/tiny needs at most 16777492"),
        (names(Tar::default()), between),
        (names(Tar::of("tiny", TINY)), between),
        (matrix(&TINY.replace("3 4 4", "4 3 4")), "tiny.mtx:3: 4 x 3, but T/tiny has 3 x 4"),
        (
            matrix(&TINY.replace("3 4 4", "3 4 5")),
            "tiny.mtx:3: 5 entries, but a file of T/tiny stores 4",
        ),
        (
            matrix(&TINY.replace("3 3 5\n", "")),
            "tiny.mtx: 3 entry lines, but its size line specifies 4",
        ),
        (
            matrix(&format!("{TINY}1 2 3\n")),
            "tiny.mtx: 5 entry lines, but its size line specifies 4",
        ),
        (
            matrix("hello\n"),
            "tiny.mtx:1: the first line must be like `%%MatrixMarket matrix coordinate real general`, not `hello`",
        ),
        (matrix(""), "tiny.mtx: it ends before the size line"),
    ] {
        assert_eq!(refusal(&archive), expected);
    }
}

/// The tar file ends within an entry, although the gzip file is complete.
#[test]
fn archives_that_end_too_early_are_refused() {
    let cut = Tar::default().declaring("tiny/tiny.mtx", 1000).cut();
    assert_eq!(refusal(&cut), "it ends within tiny/tiny.mtx, after 0 of 1000 bytes");
    let cut = Tar::of("tiny", TINY).declaring("tiny/tiny_b.mtx", 1000).bytes(b"b").cut();
    assert_eq!(refusal(&cut), "it ends within tiny/tiny_b.mtx, after 512 of 1000 bytes");
}

#[test]
fn only_the_matrix_is_extracted_from_an_archive() {
    let archive = Tar::default()
        .file("../evil.mtx", "x")
        .file("/tmp/spmv-bench-evil.mtx", "x")
        .file("tiny/../../evil.mtx", "x")
        .entry(EntryType::Directory, "tiny/", "")
        .entry(EntryType::Symlink, "tiny", "/tmp")
        .entry(EntryType::Symlink, "tiny/tiny_l.mtx", "/etc/passwd")
        .entry(EntryType::Fifo, "tiny/tiny_f.mtx", "")
        .file("tiny/tiny.mtx", TINY)
        .file("tiny/tiny_b.mtx", "b")
        .file("tiny/sub/tiny_c.mtx", "c")
        .file("tiny/.hidden", "d")
        .file("tiny/tiny d.mtx", "d")
        .file("tiny/tiny\x1b[2J.mtx", "d")
        .file("other/other.mtx", "e")
        .gzip();
    assert_eq!(left(&archive, &[]), [""; 0]);
    assert_eq!(left(&archive, &["--aux"]), ["to/tiny_b.mtx.aux"]);
    assert!(!std::path::Path::new("/tmp/spmv-bench-evil.mtx").exists());
}

/// Otherwise `corpus` would measure every file with the name of a matrix file, and a later `fetch` of a matrix with
/// that name would accept it.
#[test]
fn further_files_do_not_get_names_of_matrices() {
    let archive = Tar::of("tiny", TINY)
        .file("tiny/tiny_b.mtx", TINY)
        .file("tiny/large.mtx", &large())
        .file("tiny/x.mtx.gz", "x")
        .file("tiny/x.tar.gz", "x")
        .file("tiny/x.tgz", "x")
        .file("tiny/tiny.txt", "x");
    let expected = ["large.mtx.aux", "tiny.txt", "tiny_b.mtx.aux", "x.mtx.gz.aux", "x.tar.gz.aux"];
    let expected: Vec<_> =
        expected.iter().chain(&["x.tgz.aux"]).map(|n| format!("to/{n}")).collect();
    assert_eq!(left(&archive.gzip(), &["--aux"]), expected);
}

#[test]
fn an_archive_must_have_the_known_sha256() {
    let archive = Tar::of("tiny", TINY).gzip();
    let other = Tar::of("tiny", &TINY.replace("1 1 2", "1 1 3")).gzip();
    let place = Place::with(&archive);
    let datasets = place.read("my.toml");
    let digest = sha2::Sha256::digest(&archive);
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let datasets = datasets.replacen("nnz = 3", &format!("nnz = 3\nsha256 = \"{sha256}\""), 1);
    std::fs::write(place.path("my.toml"), &datasets).unwrap();
    place.server.serve("/MM/T/tiny.tar.gz", &other, &[Reply::File]);
    let line = place.fail(&["T/tiny"]);
    let end = format!(
        ", but the datasets file gives {sha256} for T/tiny; --any-archive accepts the archive anyway"
    );
    assert!(line.ends_with(&end), "{line}");
    place.server.serve("/MM/T/tiny.tar.gz", &archive, &[Reply::File]);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    // A file from another archive, downloaded when the hash was unknown, is not accepted as the matrix.
    std::fs::write(place.path("my.toml"), datasets.replace(&sha256, &"0".repeat(64))).unwrap();
    let ran = place.run(&["T/tiny"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("; remove that file and the lines of T/tiny from"), "{ran:?}");
    assert_eq!(place.run(&["T/tiny", "--any-archive"]).status, Some(0));
    std::fs::write(place.path("my.toml"), datasets.replace(&sha256, "00")).unwrap();
    let ran = place.run(&["T/tiny"]);
    let expected = "my.toml:7: T/tiny: sha256 must have 64 digits (0 to 9, a to f), not '00'\n";
    assert!(ran.status == Some(2) && ran.stderr.ends_with(expected), "{ran:?}");
}

#[test]
fn duplicate_files_in_an_archive_are_refused() {
    let archive = Tar::of("tiny", TINY).file("tiny/tiny_b.mtx", "b").file("tiny/tiny_b.mtx", "c");
    let line = Place::with(&archive.gzip()).fail(&["T/tiny", "--aux"]);
    assert!(line.ends_with("/MM/T/tiny.tar.gz: it contains tiny_b.mtx twice"), "{line}");
}

#[test]
fn a_file_that_does_not_fit_on_the_disk_is_not_begun() {
    let archive = Tar::of("tiny", TINY).declaring("tiny/tiny_b.mtx", 1 << 60).cut();
    let place = Place::with(&archive);
    let ran = place.run(&["T/tiny", "--aux"]);
    let line = ran.stderr.lines().nth(1).unwrap();
    let begin = "T/tiny: not downloaded: to/tiny_b.mtx: 1152921504606846976 bytes are needed and ";
    assert!(line.starts_with(begin) && line.ends_with(" are free"), "{line}");
    let left = place.files();
    assert!(!left.iter().any(|file| file.contains("tiny.mtx")), "{left:?}");
}

#[test]
fn a_kept_archive_is_checked_and_stored_unchanged() {
    let archive = Tar::of("tiny", TINY).file("tiny/tiny_b.mtx", "b").gzip();
    let place = Place::with(&archive);
    let ran = place.run(&["T/tiny", "--keep-archives"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(std::fs::read(place.path("to/tiny.tar.gz")).unwrap(), archive);
    assert!(!place.files().iter().any(|file| file.contains(".mtx") || file.contains("part")));
    place.server.requests();
    assert_eq!(place.run(&["T/tiny", "--keep-archives"]).status, Some(0));
    assert_eq!(place.server.requests(), []);
    let place = Place::with(&Tar::of("tiny", "hello").gzip());
    assert!(place.fail(&["T/tiny", "--keep-archives"]).contains("tiny.mtx:1: the first line"));
}
