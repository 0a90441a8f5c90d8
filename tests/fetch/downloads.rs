//! Servers and connections that fail.

use std::net::TcpListener;
use std::time::Duration;

use crate::archive::{Tar, large};
use crate::place::{Place, TINY, interrupt};
use crate::server::{DATE, Reply, Server};

/// Brings `T/large` from answers like these, and gives the ranges asked for.
fn bring(replies: &[Reply], words: &[&str]) -> Vec<Option<String>> {
    let place = Place::with_large(replies);
    let ran = place.run(&[&["T/large"], words].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(place.read("to/large.mtx"), large());
    assert!(place.files().iter().all(|file| !file.contains("part")), "{:?}", place.files());
    place.server.ranges()
}

fn range(bytes: usize) -> Option<String> {
    Some(format!("bytes={bytes}-"))
}

#[test]
fn what_passes_is_tried_again() {
    use Reply::{File, Later, Status};
    assert_eq!(bring(&[Status(503), Status(503), File], &[]), [None, None, None]);
    assert_eq!(bring(&[Later(429, 2), Status(408), Status(500), File], &[]).len(), 4);
}

#[test]
fn what_was_cut_off_is_resumed() {
    use Reply::{Cut, File, Hold};
    assert_eq!(bring(&[Cut(5000), File], &[]), [None, range(5000)]);
    assert_eq!(bring(&[Reply::DatedCut(5000), File], &[]), [None, range(5000)]);
    let silent = bring(&[Hold(3000), File], &["--timeout", "0.2"]);
    assert_eq!(silent, [None, range(3000)]);
    // Tries that get further do not count: there are more of them than four.
    let ranges = bring(&[Cut(1000), Cut(1000), Cut(1000), Cut(1000), Cut(1000), File], &[]);
    let expected: Vec<_> = (1..=5).map(|thousands| range(1000 * thousands)).collect();
    assert_eq!(ranges[1..], expected);
}

#[test]
fn what_cannot_be_resumed_begins_anew() {
    use Reply::{Cut, Declaring, File, Plain, Range};
    assert_eq!(bring(&[Cut(5000), Plain], &[]), [None, range(5000)]);
    // Without a validator there is nothing to ask a range of.
    assert_eq!(bring(&[Declaring(1 << 20), File], &[]), [None, None]);
    for other in ["bytes 4000-4999/*", "bytes 5000-5999/6000", ""] {
        let ranges = bring(&[Cut(5000), Range(other), File], &[]);
        assert_eq!(ranges, [None, range(5000), None], "{other}");
    }
    let refused = bring(&[Cut(5000), Reply::Status(416), File], &[]);
    assert_eq!(refused, [None, range(5000), None]);
}

/// A server may answer with less than it was asked for.
#[test]
fn a_short_range_is_gone_on_from() {
    use Reply::{Cut, File, Some};
    assert_eq!(bring(&[Cut(5000), Some(1000), File], &[]), [None, range(5000), range(6000)]);
}

#[test]
fn a_weak_tag_names_no_version() {
    let place = Place::with_large(&[Reply::DatedCut(5000), Reply::File]);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    let requests = place.server.requests();
    let versions: Vec<_> = requests.iter().map(|request| request.version.as_deref()).collect();
    assert_eq!(versions, [None, Some(DATE)]);
}

/// The server has another version when the part is there: its beginning must not get the new end.
#[test]
fn a_new_version_begins_anew() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404)]);
    assert_eq!(place.run(&["T/large"]).status, Some(1));
    let newer = large().replace("\n1 1 ", "\n1 1 9");
    let archive = Tar::of("large", &newer).gzip();
    place.server.serve("/MM/T/large.tar.gz", &archive, &[Reply::File]);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!(place.read("to/large.mtx"), newer);
    assert_eq!(place.server.ranges(), [None, range(5000), range(5000)]);
}

#[test]
fn redirects_lead_to_other_ports() {
    let place = Place::new();
    let other = Server::start();
    let moved = Reply::Moved(format!("{}/elsewhere", other.address()));
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[moved]);
    other.serve("/elsewhere", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!(
        (place.read("to/tiny.mtx"), other.paths()),
        (TINY.into(), vec!["/elsewhere".into()])
    );
}

#[test]
fn what_was_redirected_is_resumed() {
    let (place, other) = (Place::new(), Server::start());
    let moved = Reply::Moved(format!("{}/elsewhere", other.address()));
    place.server.serve("/MM/T/large.tar.gz", &[], &[moved]);
    let archive = Tar::of("large", &large()).gzip();
    other.serve("/elsewhere", &archive, &[Reply::Cut(5000), Reply::File]);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.read("to/large.mtx"), other.ranges()), (large(), vec![None, range(5000)]));
}

#[test]
fn the_second_address_is_asked_for_what_the_first_has_not() {
    let (place, second) = (Place::new(), Server::start());
    let both = format!("{},{}/copy/", place.server.address(), second.address());
    second.serve("/copy/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let place = place.asking(both);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!((place.server.paths().len(), second.paths().len()), (1, 1));
    assert!(place.read("to/.spmv-bench/ledger.csv").contains("/copy/MM/T/tiny.tar.gz,"));
}

#[test]
fn all_addresses_are_named_when_none_has_it_and_the_others_go_on() {
    let (place, second) = (Place::with(&Tar::of("tiny", TINY).gzip()), Server::start());
    second.serve("/MM/T/large.tar.gz", &[], &[Reply::Status(503)]);
    let both = format!("{},{}", place.server.address(), second.address());
    let place = place.asking(both);
    let ran = place.run(&["T/large", "T/tiny"]);
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()));
    let expected = format!(
        "T/large: not brought: SERVER/MM/T/large.tar.gz: 404 Not Found; \
         {}/MM/T/large.tar.gz: 503 Service Unavailable (4 tries)",
        second.address()
    );
    assert_eq!(ran.stderr.lines().nth(1), Some(&*expected));
    assert!(ran.stderr.contains("\n1 brought, 0 present, 1 failed: "), "{}", ran.stderr);
    assert_eq!(second.paths().len(), 4);
}

#[test]
fn a_body_with_the_wrong_length_is_never_a_matrix() {
    let archive = Tar::of("large", &large()).gzip();
    let length = archive.len();
    let place = Place::with_large(&[Reply::Declaring(length - 10)]);
    let expected = "T/large: not brought: the archive from SERVER/MM/T/large.tar.gz: it cannot be \
                    unpacked: ";
    assert!(place.fail(&["T/large"]).starts_with(expected));
    let place = Place::with_large(&[Reply::Declaring(length + 10)]);
    let ran = place.run(&["T/large"]);
    assert_eq!(ran.status, Some(1));
    assert!(!place.path("to/large.mtx").exists());
    let expected = "T/large: not brought: SERVER/MM/T/large.tar.gz: ";
    assert!(ran.stderr.lines().nth(1).unwrap().starts_with(expected), "{ran:?}");
    assert!(ran.stderr.contains(" (4 tries)\n"), "{ran:?}");
}

/// The time-out is for silence, not for all of the body.
#[test]
fn a_slow_body_takes_its_time() {
    let slow = Reply::Pieces(6, Duration::from_millis(500));
    assert_eq!(bring(&[slow], &["--timeout", "2"]), [None]);
}

#[test]
fn without_certificates_there_is_http() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let address = place.server.address();
    let place = place.asking(format!("https://127.0.0.1:1,{address}"));
    let mut command = place.command(&["T/tiny", "T/large"]);
    command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    let ran = place.ran(command.output().unwrap());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()), "{ran:?}");
    let expected = "T/large: not brought: https://127.0.0.1:1/MM/T/large.tar.gz: builder error: \
                    unexpected error: No CA certificates were loaded from the system; \
                    SERVER/MM/T/large.tar.gz: 404 Not Found";
    assert_eq!(ran.stderr.lines().nth(2), Some(expected));
}

#[test]
fn a_body_that_does_not_fit_on_the_disk_is_not_begun() {
    let place = Place::with_large(&[Reply::Declaring(1 << 60)]);
    let line = place.fail(&["T/large", "--max-archive", "2000000TiB"]);
    let begin = "T/large: not brought: to/.spmv-bench/T.large.tar.gz.part: 1152921504606846976 bytes \
                 are to come and ";
    assert!(line.starts_with(begin) && line.ends_with(" are free"), "{line}");
    assert_eq!(place.server.paths().len(), 1);
}

/// The disk would be filled, and the part would keep later runs from having room.
#[test]
fn a_body_without_an_end_is_cut_off_and_not_kept() {
    let place = Place::with_large(&[Reply::Endless]);
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let line = place.fail(&["T/large", "--max-archive", "1MiB"]);
    assert!(line.starts_with("T/large: not brought: SERVER/MM/T/large.tar.gz: "), "{line}");
    assert!(
        line.ends_with(" bytes or more come, but at most 1048576 may (--max-archive)"),
        "{line}"
    );
    assert_eq!(place.server.paths().len(), 1);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
}

#[test]
fn a_body_that_is_said_to_be_too_large_is_not_begun() {
    let place = Place::with_large(&[Reply::Declaring(1 << 40)]);
    let line = place.fail(&["T/large"]);
    // Eight times 7 bytes for each of 4000 entries, and 256 MiB.
    let expected = "T/large: not brought: SERVER/MM/T/large.tar.gz: 1099511627776 bytes or more come, \
                    but at most 268659456 may (--max-archive)";
    assert_eq!(line, expected);
}

/// As an earlier version left it, whose part may have filled the disk.
#[test]
fn a_part_that_is_too_large_is_discarded_first() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404), Reply::File]);
    place.run(&["T/large"]);
    let part = place.path("to/.spmv-bench/T.large.tar.gz.part");
    std::fs::File::options().append(true).open(part).unwrap().set_len(1 << 40).unwrap();
    place.server.requests();
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.server.ranges(), place.read("to/large.mtx")), (vec![None], large()));
}

/// What another server sends of it would begin anew.
#[test]
fn a_part_that_cannot_be_gone_on_with_is_not_kept() {
    let place = Place::with_large(&[Reply::Declaring(1 << 20)]);
    place.fail(&["T/large"]);
}

#[test]
fn a_body_that_drips_is_given_up() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let drip = Reply::Pieces(400, Duration::from_millis(50));
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[drip]);
    let ran = place.run(&["T/tiny", "--timeout", "0.5"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let line = ran.stderr.lines().nth(1).unwrap();
    assert!(line.starts_with("T/tiny: not brought: SERVER/MM/T/tiny.tar.gz: "), "{line}");
    assert!(line.ends_with(" s are less than 1024 bytes per second"), "{line}");
    assert_eq!(place.server.paths().len(), 1);
}

/// A byte for each request gets further each time.
#[test]
fn resumptions_that_bring_a_byte_are_counted() {
    let place = Place::with_large(&[Reply::Cut(1)]);
    let ran = place.run(&["T/large"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let line = ran.stderr.lines().nth(1).unwrap();
    assert!(line.contains(": 64 tries brought less than 65536 bytes each; the last: "), "{line}");
    assert_eq!(place.server.paths().len(), 64);
}

#[test]
fn proxies_are_taken_from_the_environment() {
    let place = Place::new();
    let archive = Tar::of("tiny", TINY).gzip();
    place.server.serve("http://nowhere.invalid/MM/T/tiny.tar.gz", &archive, &[Reply::File]);
    let mut command = place.command(&["T/tiny", "--mirror", "http://nowhere.invalid"]);
    let ran = place.ran(command.env("http_proxy", place.server.address()).output().unwrap());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let place = Place::new().asking(format!("http://127.0.0.1:{port}"));
    let line = place.fail(&["T/tiny"]);
    let expected = format!("T/tiny: not brought: http://127.0.0.1:{port}/MM/T/tiny.tar.gz: ");
    assert!(line.starts_with(&expected), "{line}");
    assert!(line.ends_with("Connection refused (os error 111) (4 tries)"), "{line}");
}

#[test]
fn silence_is_named() {
    let place = Place::with_large(&[Reply::Hold(0)]);
    let line = {
        let ran = place.run(&["T/large", "--timeout", "0.05"]);
        ran.stderr.lines().nth(1).unwrap().to_owned()
    };
    let expected =
        "T/large: not brought: SERVER/MM/T/large.tar.gz: nothing came for 0.05 s (4 tries)";
    assert_eq!(line, expected);
}

#[test]
fn a_killed_run_is_resumed_by_the_next() {
    let place = Place::with_large(&[Reply::Hold(5000), Reply::File]);
    let mut child = place.command(&["T/large"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("to/large.mtx").exists());
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!(place.server.ranges(), [None, range(5000)]);
    assert_eq!(place.read("to/large.mtx"), large());
}

#[test]
fn an_interrupt_ends_a_silent_download_and_keeps_its_part() {
    let place = Place::with_large(&[Reply::Hold(5000), Reply::File]);
    let words = ["T/large", "T/tiny", "--jobs", "1", "--timeout", "86400"];
    let child = place.command(&words).spawn().unwrap();
    place.await_part("T.large", 5000);
    interrupt(&child);
    let ran = place.ran(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let expected = "to: 0 of 2 matrices present, 2 to bring: about 0.028 MB\ninterrupted, what has begun \
                    is resumed by the next run; 0 brought, 0 present, 0 failed: 0.000 MB of archives\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!(place.server.ranges(), [None, range(5000)]);
}

/// Killed between download and unpacking, a whole part needs no request.
#[test]
fn a_whole_part_is_used() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404)]);
    place.run(&["T/large"]);
    let part = place.path("to/.spmv-bench/T.large.tar.gz.part");
    std::fs::write(&part, Tar::of("large", &large()).gzip()).unwrap();
    place.server.requests();
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.server.paths().len(), place.read("to/large.mtx")), (0, large()));
}

/// One that is slow holds up no other, and each is told in its turn.
#[test]
fn several_are_brought_at_once() {
    let place = Place::with_large(&[Reply::Hold(5000)]);
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let child = place.command(&["T/large", "T/tiny", "--jobs", "2"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    place.await_file("to/tiny.mtx");
    place.server.release();
    let ran = place.ran(child.wait_with_output().unwrap());
    let told: Vec<_> = ran.stderr.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(told[1..3], ["T/large", "T/tiny"], "{ran:?}");
}
