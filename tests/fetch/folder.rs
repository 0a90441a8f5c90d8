//! Tests with existing files in the folder and with several runs at the same time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::thread;

use expect_test::expect;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use sha2::{Digest, Sha256};
use spmv_matrix::cache::hex;

use crate::archive::{Tar, large};
use crate::place::{LEDGER, PART, Place, SYMMETRIC, TINY};
use crate::server::Reply;
use crate::support::signal;

#[test]
fn the_default_set_is_downloaded_once() {
    let place = Place::with_both();
    let ran = place.succeed("");
    assert_eq!(ran.stdout, "");
    expect![[r#"
        U/tiny: tiny.mtx belongs to another matrix; this one is written to U-tiny.mtx
        to: 0 of 2 matrices present, 2 to download: about 0.000 MB of archives
        T/tiny: to/tiny.mtx, 0.000 MB
        U/tiny: to/U-tiny.mtx, 0.000 MB
        2 downloaded, 0 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&ran.stderr);
    let contents = ["to/tiny.mtx", "to/U-tiny.mtx"].map(|name| place.read(name));
    assert_eq!(contents, [TINY, SYMMETRIC]);
    assert_eq!(place.files(), ["to/U-tiny.mtx", "to/tiny.mtx"]);
    let agent = concat!("spmv-bench/", env!("CARGO_PKG_VERSION"));
    assert!(place.server.requests().iter().all(|request| request.headers["user-agent"] == agent));
    expect![[r#"
        to: 2 of 2 matrices present, 0 to download: about 0.000 MB of archives
        0 downloaded, 2 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&place.succeed("").stderr);
    assert_eq!(place.server.requests(), []);
    assert_eq!(place.succeed("--quiet").stderr, "");
}

#[test]
fn an_existing_file_is_accepted_if_it_has_the_right_size() {
    let place = Place::with_both();
    place.write("to/tiny.mtx", TINY);
    expect![[r#"
        T/tiny: tiny.mtx already existed and has the correct numbers of rows and columns
        to: 1 of 1 matrices present, 0 to download: about 0.000 MB of archives
        0 downloaded, 1 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&place.succeed("T/tiny").stderr);
    place.write("to/tiny.mtx", SYMMETRIC);
    let expected = "to/tiny.mtx: 2 x 2, but T/tiny has 3 x 4; move that file away, or choose another folder";
    assert_eq!(place.fail("T/tiny T/tiny"), expected);
    assert_eq!(place.read("to/tiny.mtx"), SYMMETRIC);
    place.write("to/tiny.tar.gz", Tar::of("tiny", SYMMETRIC).gzip());
    place.fail("T/tiny --keep-archives");
    let archive = Tar::default().file("tiny/tiny_b.mtx", SYMMETRIC).file("tiny/tiny.mtx", TINY);
    place.write("to/tiny.tar.gz", archive.gzip());
    place.succeed("T/tiny --keep-archives");
    assert_eq!(place.server.paths(), [""; 0]);
}

#[test]
fn other_files_are_not_replaced() {
    let archive = Tar::of("tiny", TINY).file("tiny/tiny_b.mtx", "b").gzip();
    let place = Place::with(&archive);
    place.write("to/tiny_b.mtx.aux", "mine");
    let expected = "to/tiny_b.mtx.aux exists and does not belong to T/tiny: move it away";
    assert_eq!(place.fail("T/tiny --aux"), expected);
    assert_eq!(place.read("to/tiny_b.mtx.aux"), "mine");
    assert!(!place.path("to/tiny.mtx").exists());
    // The archive has not been removed.
    place.remove("to/tiny_b.mtx.aux");
    place.succeed("T/tiny --aux");
    assert_eq!((place.server.paths().len(), place.read("to/tiny_b.mtx.aux")), (1, "b".into()));
    // A link to nothing.
    let place = Place::with(&archive);
    place.write("to/other", "");
    symlink("nowhere", place.path("to/tiny.mtx")).unwrap();
    let expected = "to/tiny.mtx exists and does not belong to T/tiny: move it away";
    assert_eq!(place.fail("T/tiny"), expected);
    assert!(place.path("to/tiny.mtx").is_symlink());
}

#[test]
fn a_name_conflict_is_detected_with_the_ledger() {
    let place = Place::with_both();
    place.succeed("U/tiny");
    let ran = place.succeed("T/tiny U/tiny");
    let contents = ["to/tiny.mtx", "to/T-tiny.mtx"].map(|name| place.read(name));
    assert_eq!(contents, [SYMMETRIC, TINY]);
    let expected = "T/tiny: tiny.mtx belongs to another matrix; this one is written to T-tiny.mtx";
    assert_eq!(ran.stderr.lines().next(), Some(expected));
    assert_eq!(place.server.paths(), ["/MM/U/tiny.tar.gz", "/MM/T/tiny.tar.gz"]);
}

#[test]
fn changed_and_missing_files_are_found() {
    let place = Place::with_both();
    let verified = |words: &str| {
        let ran = place.run(&format!("--verify {words}"));
        (ran.status, ran.stdout + &ran.stderr)
    };
    let (status, text) = verified("");
    assert_eq!(status, Some(2));
    assert!(text.starts_with("spmv-bench: to: there is no such folder to verify"), "{text}");
    place.run("");
    place.server.requests();
    let correct = (Some(0), "files: 2 correct, 0 wrong, 0 missing, 0 unknown\n".to_owned());
    assert_eq!(verified(""), correct);
    assert_eq!(verified("tiny"), correct);
    let other = TINY.replace("1 1 2", "1 1 3");
    place.write("to/tiny.mtx", &other);
    place.remove("to/U-tiny.mtx");
    let [found, recorded] = [&other, TINY].map(|text| hex(Sha256::new_with_prefix(text)));
    let expected = format!(
        "to/tiny.mtx: its SHA-256 is {found}, not {recorded}\nto/U-tiny.mtx: missing\n\
         files: 0 correct, 1 wrong, 1 missing, 0 unknown\n"
    );
    assert_eq!(verified(""), (Some(1), expected));
    let expected = "to/U-tiny.mtx: missing\nT/large: not downloaded into to\n\
                    files: 0 correct, 0 wrong, 2 missing, 0 unknown\n";
    assert_eq!(verified("U/tiny T/large"), (Some(1), expected.into()));
    assert_eq!(place.server.requests(), []);
    // Missing files and files of another size are downloaded again, and have one line in the ledger.
    place.write("to/tiny.mtx", "short");
    assert!(verified("").1.starts_with("to/tiny.mtx: 5 bytes, not 80\n"));
    let ran = place.succeed("");
    let expected = "T/tiny: tiny.mtx: 5 bytes, but it had 80 when it was downloaded";
    assert_eq!(ran.stderr.lines().next(), Some(expected));
    assert_eq!(verified(""), correct);
    assert_eq!(place.read(LEDGER).lines().count(), 3);
    // Without a line, a file is unknown, and without a file, nothing is verified.
    place.remove(LEDGER);
    place.remove("to/U-tiny.mtx");
    let expected = "to/tiny.mtx: its SHA-256 is not in the ledger\nfiles: 0 correct, 0 wrong, 0 missing, 1 unknown\n";
    assert_eq!(verified(""), (Some(1), expected.into()));
    place.remove("to/tiny.mtx");
    assert_eq!(verified("").0, Some(1));
}

#[test]
fn a_changed_archive_is_reported() {
    let place = Place::with_both();
    place.succeed("T/tiny");
    place.remove("to/tiny.mtx");
    let newer = TINY.replace("1 1 2", "1 1 3");
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", &newer).gzip(), &[Reply::File]);
    let reason = place.fail_cleanly("T/tiny");
    let begin = "the archive from SERVER/MM/T/tiny.tar.gz: it has changed: its SHA-256 is ";
    let end = format!("; to accept it, remove the lines of T/tiny from {LEDGER}");
    assert!(reason.starts_with(begin) && reason.ends_with(&end), "{reason}");
    place.write(LEDGER, place.read(LEDGER).split_inclusive('\n').next().unwrap());
    place.succeed("T/tiny");
    assert_eq!(place.read("to/tiny.mtx"), newer);
}

#[test]
fn a_damaged_ledger_is_reported_with_its_line() {
    let place = Place::with_both();
    place.run("T/tiny");
    let ledger = place.read(LEDGER);
    for (from, to, expected) in [
        ("tiny.mtx", "../tiny.mtx", "line 2: '../tiny.mtx' is not a valid file name"),
        ("tiny.mtx", "a/../../tiny.mtx", "line 2: 'a/../../tiny.mtx' is not a valid file name"),
        ("T/tiny", "tiny", "line 2: 'tiny' is not of the form GROUP/NAME"),
        (",80,", ",many,", "line 2: "),
    ] {
        place.write(LEDGER, ledger.replacen(from, to, 1));
        let ran = place.run("T/tiny");
        ran.says(&format!("spmv-bench: {LEDGER}: {expected}"));
        ran.exits(2).says("; remove that line to continue without it\n");
    }
    // A named pipe must not be opened, because that could wait for ever.
    place.remove(LEDGER);
    let ledger = place.path(LEDGER);
    mkfifo(&ledger, Mode::S_IRWXU).unwrap();
    // If the program opens it to read, it is empty.
    thread::spawn(move || File::options().write(true).open(ledger));
    let why = format!("spmv-bench: cannot read {LEDGER}: it is not a regular file\n");
    assert_eq!(place.run("T/tiny").stderr, why);
}

#[test]
fn one_run_at_a_time_uses_a_folder() {
    for is_interrupted in [false, true] {
        let place = Place::with_large(&[Reply::Hold(5000)]);
        let first = place.command("T/large").spawn().unwrap();
        place.await_bytes(PART, 5000);
        let mut second = place.command("T/large").spawn().unwrap();
        let mut stderr = BufReader::new(second.stderr.take().unwrap());
        let (mut line, mut rest) = (String::new(), String::new());
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, "to: another fetch uses this folder, waiting until it ends\n");
        match is_interrupted {
            true => signal(&second, Signal::SIGTERM),
            false => place.server.release(),
        }
        stderr.read_to_string(&mut rest).unwrap();
        let status = second.wait().unwrap().code();
        let expected = match is_interrupted {
            true => (Some(1), "interrupted\n"),
            false => (Some(0), "to: 1 of 1 matrices present, 0 to download"),
        };
        assert!(status == expected.0 && rest.starts_with(expected.1), "{rest}");
        place.server.release();
        assert!(first.wait_with_output().unwrap().status.success());
        assert_eq!((place.server.paths().len(), place.read("to/large.mtx")), (1, large()));
    }
}

#[test]
fn a_download_that_exceeds_the_free_space_is_refused() {
    let place = Place::with_both();
    let ran = place.run("T/tiny T/giant").exits(2);
    ran.says("spmv-bench: to: about ").says(" MB are free; choose fewer matrices with --filter");
    assert_eq!(place.server.paths().len(), 0);
}

/// Links with predictable names point to files of the user, which must not change.
#[test]
fn no_file_is_written_through_a_link() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::File]);
    place.write("victim", "");
    place.write("to/.spmv-bench/other", "");
    let link = |name| symlink(place.path("victim"), place.path("to/.spmv-bench").join(name)).unwrap();
    ["T.large.tar.gz.part", "T.large.tar.gz.part.json", "ledger.csv"].into_iter().for_each(link);
    place.succeed("T/large");
    assert_eq!((place.read("to/large.mtx"), place.read("victim")), (large(), String::new()));
    place.remove("to/.spmv-bench/lock");
    link("lock");
    place.run("T/large").exits(2);
}

#[test]
fn unfinished_files_of_earlier_runs_are_removed() {
    let place = Place::with_both();
    place.run("T/tiny");
    let left = ["aB3dEf.new", "ledger.csv.12-aB3dEf", "T.tiny.tar.gz.part"];
    let left = left.map(|name| format!("to/.spmv-bench/{name}"));
    left.iter().for_each(|name| place.write(name, "half"));
    place.run("T/tiny");
    assert_eq!(left.map(|name| place.path(&name).exists()), [false; 3]);
    place.run("--verify").exits(0);
}

#[test]
fn matrices_and_archives_are_independent() {
    for order in [["", "--keep-archives"], ["--keep-archives", ""]] {
        let place = Place::with_both();
        order.iter().for_each(|more| drop(place.succeed(&format!("T/tiny {more}"))));
        assert!(place.path("to/tiny.mtx").exists() && place.path("to/tiny.tar.gz").exists());
    }
}
