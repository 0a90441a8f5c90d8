//! Tests with existing files in the folder and with several runs at the same time.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};

use expect_test::expect;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::archive::{Tar, large};
use crate::both;
use crate::place::{Place, SYMMETRIC, TINY, interrupt};
use crate::server::Reply;

#[test]
fn an_existing_file_is_accepted_if_it_has_the_right_size() {
    let place = both();
    fs::create_dir(place.path("to")).unwrap();
    fs::write(place.path("to/tiny.mtx"), TINY).unwrap();
    let ran = place.run(&["T/tiny"]);
    assert_eq!((ran.status, place.server.paths().len()), (Some(0), 0));
    expect![[r#"
        T/tiny: tiny.mtx already existed and has the correct numbers of rows and columns
        to: 1 of 1 matrices present, 0 to download: about 0.000 MB
        0 downloaded, 1 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&ran.stderr);
    fs::write(place.path("to/tiny.mtx"), SYMMETRIC).unwrap();
    let ran = place.run(&["T/tiny", "T/tiny"]);
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), SYMMETRIC.into()));
    let expected = "T/tiny: not downloaded: to/tiny.mtx: 2 x 2, but T/tiny has 3 x 4; move that file \
                    away, or choose another folder";
    assert_eq!(ran.stderr.lines().next(), Some(expected));
    fs::write(place.path("to/tiny.tar.gz"), Tar::of("tiny", SYMMETRIC).gzip()).unwrap();
    let ran = place.run(&["T/tiny", "--keep-archives"]);
    assert_eq!((ran.status, place.server.paths().len()), (Some(1), 0), "{ran:?}");
    let archive = Tar::default().file("tiny/tiny_b.mtx", SYMMETRIC).file("tiny/tiny.mtx", TINY);
    fs::write(place.path("to/tiny.tar.gz"), archive.gzip()).unwrap();
    assert_eq!(place.run(&["T/tiny", "--keep-archives"]).status, Some(0));
}

#[test]
fn further_files_of_an_archive_do_not_replace_others() {
    let archive = Tar::of("tiny", TINY).file("tiny/tiny_b.mtx", "b").gzip();
    let place = Place::with(&archive);
    fs::create_dir(place.path("to")).unwrap();
    fs::write(place.path("to/tiny_b.mtx.aux"), "mine").unwrap();
    let ran = place.run(&["T/tiny", "--aux"]);
    assert_eq!((ran.status, place.read("to/tiny_b.mtx.aux")), (Some(1), "mine".into()));
    let expected = "T/tiny: not downloaded: to/tiny_b.mtx.aux exists and does not belong to T/tiny: move it away";
    assert_eq!(ran.stderr.lines().nth(1), Some(expected));
    assert!(!place.path("to/tiny.mtx").exists());
    // The archive has not been removed.
    fs::remove_file(place.path("to/tiny_b.mtx.aux")).unwrap();
    assert_eq!(place.run(&["T/tiny", "--aux"]).status, Some(0));
    assert_eq!((place.server.paths().len(), place.read("to/tiny_b.mtx.aux")), (1, "b".into()));
}

/// A named pipe must not be opened, because that could wait for ever.
#[test]
fn a_ledger_that_is_a_pipe_is_refused() {
    let place = both();
    fs::create_dir_all(place.path("to/.spmv-bench")).unwrap();
    let ledger = place.path("to/.spmv-bench/ledger.csv");
    mkfifo(&ledger, Mode::S_IRWXU).unwrap();
    // If the program opens it to read, it is empty.
    std::thread::spawn(move || File::options().write(true).open(ledger));
    let ran = place.run(&["T/tiny"]);
    let why = "spmv-bench: cannot read to/.spmv-bench/ledger.csv: it is not a regular file\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(2), why));
}

#[test]
fn a_name_conflict_is_detected_with_the_ledger() {
    let place = both();
    assert_eq!(place.run(&["U/tiny"]).status, Some(0));
    let ran = place.run(&["T/tiny", "U/tiny"]);
    assert_eq!(
        (place.read("to/tiny.mtx"), place.read("to/T-tiny.mtx")),
        (SYMMETRIC.into(), TINY.into())
    );
    let expected = "T/tiny: tiny.mtx belongs to another matrix; this one is written to T-tiny.mtx";
    assert_eq!(ran.stderr.lines().next(), Some(expected));
    assert_eq!(place.server.paths(), ["/MM/U/tiny.tar.gz", "/MM/T/tiny.tar.gz"]);
}

#[test]
fn changed_and_missing_files_are_found() {
    let place = both();
    let ran = place.run(&["--verify"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.starts_with("spmv-bench: to: there is no such folder to verify"), "{ran:?}");
    place.run(&[]);
    let ran = place.run(&["--verify"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""));
    assert_eq!(ran.stderr, "files: 2 right, 0 wrong, 0 missing, 0 unknown\n");
    fs::write(place.path("to/tiny.mtx"), TINY.replace("1 1 2", "1 1 3")).unwrap();
    fs::remove_file(place.path("to/U-tiny.mtx")).unwrap();
    place.server.requests();
    let ran = place.run(&["--verify"]);
    assert_eq!((ran.status, place.server.requests()), (Some(1), Vec::new()));
    expect![[r#"
        to/tiny.mtx: its SHA-256 is 2cce, not aa12
        to/U-tiny.mtx: missing
    "#]]
    .assert_eq(&short(&ran.stdout));
    assert_eq!(ran.stderr, "files: 0 right, 1 wrong, 1 missing, 0 unknown\n");
    let ran = place.run(&["--verify", "U/tiny", "T/large"]);
    assert_eq!(ran.stdout, "to/U-tiny.mtx: missing\nT/large: not downloaded into to\n");
    // Missing files and files of another size are downloaded again.
    fs::write(place.path("to/tiny.mtx"), "short").unwrap();
    assert!(place.run(&["--verify"]).stdout.starts_with("to/tiny.mtx: 5 bytes, not 80\n"));
    let ran = place.run(&[]);
    let expected = "T/tiny: tiny.mtx: 5 bytes, but it had 80 when it was downloaded";
    assert_eq!(ran.stderr.lines().next(), Some(expected));
    assert_eq!(place.run(&["--verify"]).status, Some(0));
}

/// Shortens hashes to four digits.
fn short(text: &str) -> String {
    let hashed = |word: &str| word.trim_end_matches([',', ' ', '\n']).len() == 64;
    let cut =
        |word: &str| if hashed(word) { word[..4].to_owned() + &word[64..] } else { word.into() };
    text.split_inclusive([' ', '\n']).map(cut).collect()
}

#[test]
fn a_changed_archive_is_reported() {
    let place = both();
    place.run(&["T/tiny"]);
    fs::remove_file(place.path("to/tiny.mtx")).unwrap();
    let newer = TINY.replace("1 1 2", "1 1 3");
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", &newer).gzip(), &[Reply::File]);
    let line = place.fail(&["T/tiny"]);
    let begin = "T/tiny: not downloaded: the archive from SERVER/MM/T/tiny.tar.gz: it has changed: its \
                 SHA-256 is ";
    assert!(line.starts_with(begin), "{line}");
    let end = "; to accept it, remove the lines of T/tiny from to/.spmv-bench/ledger.csv";
    assert!(line.ends_with(end), "{line}");
    let ledger = place.path("to/.spmv-bench/ledger.csv");
    let head = place.read("to/.spmv-bench/ledger.csv").lines().next().unwrap().to_owned();
    fs::write(ledger, head + "\n").unwrap();
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!(place.read("to/tiny.mtx"), newer);
}

#[test]
fn a_damaged_ledger_is_reported_with_its_line() {
    let place = both();
    place.run(&["T/tiny"]);
    let ledger = place.read("to/.spmv-bench/ledger.csv");
    let bytes = format!(",{},", TINY.len());
    for (from, to, expected) in [
        ("tiny.mtx", "../tiny.mtx", "line 2: '../tiny.mtx' is not a valid file name"),
        ("tiny.mtx", "a/../../tiny.mtx", "line 2: 'a/../../tiny.mtx' is not a valid file name"),
        ("T/tiny", "tiny", "line 2: 'tiny' is not of the form GROUP/NAME"),
        (bytes.as_str(), ",many,", "line 2: "),
    ] {
        fs::write(place.path("to/.spmv-bench/ledger.csv"), ledger.replacen(from, to, 1)).unwrap();
        let ran = place.run(&["T/tiny"]);
        assert_eq!(ran.status, Some(2));
        let begin = format!("spmv-bench: to/.spmv-bench/ledger.csv: {expected}");
        assert!(ran.stderr.starts_with(&begin), "{}", ran.stderr);
        assert!(
            ran.stderr.ends_with("; remove that line to continue without it\n"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_second_run_waits_and_uses_the_files_of_the_first() {
    let place = Place::with_large(&[Reply::Hold(5000)]);
    let first = place.command(&["T/large"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    let mut second = place.command(&["T/large"]).spawn().unwrap();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "to: another fetch uses this folder, waiting until it ends\n");
    place.server.release();
    assert!(first.wait_with_output().unwrap().status.success());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(second.wait().unwrap().success());
    assert!(rest.starts_with("to: 1 of 1 matrices present, 0 to download"), "{rest}");
    assert_eq!((place.server.paths().len(), place.read("to/large.mtx")), (1, large()));
}

#[test]
fn a_waiting_run_can_be_interrupted() {
    let place = Place::with_large(&[Reply::Hold(5000)]);
    let mut first = place.command(&["T/large"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    let mut second = place.command(&["T/large"]).spawn().unwrap();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    stderr.read_line(&mut String::new()).unwrap();
    interrupt(&second);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!((second.wait().unwrap().code(), rest.as_str()), (Some(1), "interrupted\n"));
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_download_that_exceeds_the_free_space_is_refused() {
    let place = both();
    let ran = place.run(&["T/tiny", "T/giant"]);
    assert_eq!((ran.status, place.server.paths().len()), (Some(2), 0), "{ran:?}");
    assert!(ran.stderr.contains("spmv-bench: to: about "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(" MB are free; choose fewer matrices with --filter"),
        "{}",
        ran.stderr
    );
}

/// A run that is killed has already recorded the matrices that it had downloaded.
#[test]
fn each_matrix_is_recorded_as_soon_as_it_is_complete() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let archive = Tar::of("large", &large()).gzip();
    place.server.serve("/MM/T/large.tar.gz", &archive, &[Reply::Hold(5000)]);
    let mut child = place.command(&["T/tiny", "T/large", "--jobs", "1"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.read("to/.spmv-bench/ledger.csv").contains("\nT/tiny,tiny.mtx,"));
}

#[test]
fn the_ledger_has_a_line_per_file() {
    let place = both();
    place.run(&["T/tiny"]);
    fs::remove_file(place.path("to/tiny.mtx")).unwrap();
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!(place.read("to/.spmv-bench/ledger.csv").lines().count(), 2);
}

/// Simulates a kill between any two steps of renaming and recording.
#[test]
fn after_a_kill_the_hash_is_still_known() {
    const RIGHT: &str = "files: 1 right, 0 wrong, 0 missing, 0 unknown\n";
    let [ledger, pending] =
        ["ledger.csv", "pending.csv"].map(|name| format!("to/.spmv-bench/{name}"));
    let verified = |place: &Place| {
        let ran = place.run(&["--verify"]);
        (ran.status, ran.stdout + &ran.stderr)
    };
    // The last column is the date, which differs if a file is downloaded again.
    let without_date = |ledger: &str| ledger.rsplit_once(',').unwrap().0.to_owned();
    for (is_renamed, is_entered) in [(false, false), (true, false), (true, true)] {
        let place = both();
        place.run(&["T/tiny"]);
        let line = place.read(&ledger);
        fs::write(place.path(&pending), &line).unwrap();
        if !is_entered {
            fs::remove_file(place.path(&ledger)).unwrap();
        }
        if !is_renamed {
            fs::remove_file(place.path("to/tiny.mtx")).unwrap();
        }
        let missing = "to/tiny.mtx: missing\nfiles: 0 right, 0 wrong, 1 missing, 0 unknown\n";
        let expected = if is_renamed { (Some(0), RIGHT) } else { (Some(1), missing) };
        assert_eq!(verified(&place), (expected.0, expected.1.into()));
        place.server.requests();
        assert_eq!(place.run(&["T/tiny"]).status, Some(0));
        assert_eq!(place.server.requests().is_empty(), is_renamed);
        assert_eq!(place.read("to/tiny.mtx"), TINY);
        assert_eq!(without_date(&place.read(&ledger)), without_date(&line));
        assert!(!place.path(&pending).exists());
        assert_eq!(verified(&place), (Some(0), RIGHT.into()));
    }
}

/// The user created the file after the run was killed: it has a pending line, but does not match it.
#[test]
fn a_file_that_differs_from_its_pending_line_is_not_overwritten() {
    let place = both();
    place.run(&["T/tiny"]);
    let [ledger, pending] =
        ["ledger.csv", "pending.csv"].map(|name| place.path(&format!("to/.spmv-bench/{name}")));
    fs::rename(ledger, pending).unwrap();
    fs::write(place.path("to/tiny.mtx"), "mine").unwrap();
    assert_eq!(place.run(&["T/tiny"]).status, Some(1));
    assert_eq!(place.read("to/tiny.mtx"), "mine");
}

#[test]
fn a_file_without_a_known_hash_is_not_verified() {
    let place = both();
    place.run(&["T/tiny"]);
    fs::remove_file(place.path("to/.spmv-bench/ledger.csv")).unwrap();
    let ran = place.run(&["--verify"]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.stdout, "to/tiny.mtx: its SHA-256 is not in the ledger\n");
    assert_eq!(ran.stderr, "files: 0 right, 0 wrong, 0 missing, 1 unknown\n");
    fs::remove_file(place.path("to/tiny.mtx")).unwrap();
    assert_eq!(place.run(&["--verify"]).status, Some(1));
}

/// Links with predictable names point to files of the user, which must not change.
#[test]
fn no_file_is_written_through_a_link() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::File]);
    let state = place.path("to/.spmv-bench");
    fs::create_dir_all(&state).unwrap();
    let names = ["T.large.tar.gz.part", "T.large.tar.gz.part.json", "T.large.large.mtx.new"];
    for (number, name) in names.iter().chain(&["ledger.csv.new", "ledger.csv"]).enumerate() {
        let victim = place.path(&format!("victim-{number}"));
        fs::write(&victim, "").unwrap();
        std::os::unix::fs::symlink(&victim, state.join(name)).unwrap();
    }
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!(place.read("to/large.mtx"), large());
    for number in 0..5 {
        assert_eq!(place.read(&format!("victim-{number}")), "");
    }
    fs::remove_file(state.join("lock")).unwrap();
    fs::write(place.path("victim-0"), "mine").unwrap();
    std::os::unix::fs::symlink(place.path("victim-0"), state.join("lock")).unwrap();
    assert_eq!(place.run(&["T/large"]).status, Some(2));
    assert_eq!(place.read("victim-0"), "mine");
}

/// Unfinished files are removed by a run that has locked the folder.
#[test]
fn unfinished_files_of_earlier_runs_are_removed() {
    let place = both();
    place.run(&["T/tiny"]);
    let left =
        ["aB3dEf.new", "ledger.csv.12-aB3dEf", "pending.csv.12-aB3dEf", "T.tiny.tar.gz.part"];
    let left = left.map(|name| place.path(&format!("to/.spmv-bench/{name}")));
    left.iter().for_each(|path| fs::write(path, "half").unwrap());
    place.run(&["T/tiny"]);
    assert_eq!(left.map(|path| path.exists()), [false; 4]);
    assert_eq!(place.run(&["--verify"]).status, Some(0));
}

#[test]
fn matrices_and_archives_are_independent() {
    for first in [&["T/tiny"][..], &["T/tiny", "--keep-archives"]] {
        let place = both();
        assert_eq!(place.run(first).status, Some(0));
        let second =
            if first.len() == 1 { &["T/tiny", "--keep-archives"][..] } else { &["T/tiny"] };
        assert_eq!(place.run(second).status, Some(0));
        assert!(place.path("to/tiny.mtx").exists() && place.path("to/tiny.tar.gz").exists());
    }
}

#[test]
fn a_dangling_link_is_not_replaced() {
    let place = both();
    fs::create_dir(place.path("to")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("to/tiny.mtx")).unwrap();
    let ran = place.run(&["T/tiny"]);
    assert_eq!(ran.status, Some(1));
    let expected =
        "T/tiny: not downloaded: to/tiny.mtx exists and does not belong to T/tiny: move it away";
    assert_eq!(ran.stderr.lines().nth(1), Some(expected));
    assert!(place.path("to/tiny.mtx").is_symlink());
}
