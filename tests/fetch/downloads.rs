//! Tests with failing servers and connections.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::answers::HINT;
use crate::archive::{Tar, large};
use crate::place::{Place, TINY, interrupt};
use crate::server::{DATE, Reply, Server, relay};

/// Downloads `T/large` from a server with these replies. Returns the requested ranges.
fn download(replies: &[Reply], words: &[&str]) -> Vec<Option<String>> {
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
fn temporary_failures_are_retried() {
    use Reply::{File, Later, Status};
    assert_eq!(download(&[Status(503), Status(503), File], &[]), [None, None, None]);
    assert_eq!(download(&[Later(429, 0), Status(408), Status(500), File], &[]).len(), 4);
}

#[test]
fn interrupted_downloads_are_resumed() {
    use Reply::{Cut, File, Hold};
    assert_eq!(download(&[Cut(5000), File], &[]), [None, range(5000)]);
    assert_eq!(download(&[Reply::DatedCut(5000), File], &[]), [None, range(5000)]);
    let silent = download(&[Hold(3000), File], &["--timeout", "0.2"]);
    assert_eq!(silent, [None, range(3000)]);
    // Attempts that receive data do not count: there are more of them than the limit of four.
    let ranges = download(&[Cut(1000), Cut(1000), Cut(1000), Cut(1000), Cut(1000), File], &[]);
    let expected: Vec<_> = (1..=5).map(|thousands| range(1000 * thousands)).collect();
    assert_eq!(ranges[1..], expected);
}

#[test]
fn a_download_that_cannot_be_resumed_is_restarted() {
    use Reply::{Cut, Declaring, File, Plain, Range};
    assert_eq!(download(&[Cut(5000), Plain], &[]), [None, range(5000)]);
    // Without a validator no range can be requested.
    assert_eq!(download(&[Declaring(1 << 20), File], &[]), [None, None]);
    for other in ["bytes 4000-4999/*", "bytes 5000-5999/6000", ""] {
        let ranges = download(&[Cut(5000), Range(other), File], &[]);
        assert_eq!(ranges, [None, range(5000), None], "{other}");
    }
    let refused = download(&[Cut(5000), Reply::Status(416), File], &[]);
    assert_eq!(refused, [None, range(5000), None]);
}

/// A server may send less than the requested range.
#[test]
fn a_short_range_is_continued() {
    use Reply::{Cut, File, Some};
    assert_eq!(download(&[Cut(5000), Some(1000), File], &[]), [None, range(5000), range(6000)]);
}

#[test]
fn a_weak_etag_is_not_used_as_validator() {
    let place = Place::with_large(&[Reply::DatedCut(5000), Reply::File]);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    let requests = place.server.requests();
    let versions: Vec<_> = requests.iter().map(|request| request.version.as_deref()).collect();
    assert_eq!(versions, [None, Some(DATE)]);
}

/// The ledger names one way to a file, so its bytes may not come from two addresses.
#[test]
fn a_download_is_not_continued_from_another_address() {
    let (place, second) =
        (Place::with_large(&[Reply::Cut(5000), Reply::Status(404)]), Server::start());
    second.serve("/MM/T/large.tar.gz", &Tar::of("large", &large()).gzip(), &[Reply::File]);
    let both = format!("{},{}", place.server.address(), second.address());
    let place = place.asking(both);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.server.ranges(), second.ranges()), (vec![None, range(5000)], vec![None]));
}

/// The file on the server changes after an interrupted download: old and new parts must not be combined.
#[test]
fn a_new_version_is_downloaded_from_the_beginning() {
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
fn redirects_to_other_ports_are_followed() {
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
fn a_redirected_download_is_resumed() {
    let (place, other) = (Place::new(), Server::start());
    let moved = Reply::Moved(format!("{}/elsewhere", other.address()));
    place.server.serve("/MM/T/large.tar.gz", &[], &[moved]);
    let archive = Tar::of("large", &large()).gzip();
    other.serve("/elsewhere", &archive, &[Reply::Cut(5000), Reply::File]);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.read("to/large.mtx"), other.ranges()), (large(), vec![None, range(5000)]));
}

#[test]
fn the_second_address_is_used_for_files_missing_on_the_first() {
    let (place, second) = (Place::new(), Server::start());
    let both = format!("{},{}/copy/", place.server.address(), second.address());
    second.serve("/copy/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let place = place.asking(both);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
    assert_eq!((place.server.paths().len(), second.paths().len()), (1, 1));
    assert!(place.read("to/.spmv-bench/ledger.csv").contains("/copy/MM/T/tiny.tar.gz,"));
}

#[test]
fn all_failing_addresses_are_reported_and_other_matrices_continue() {
    let (place, second) = (Place::with(&Tar::of("tiny", TINY).gzip()), Server::start());
    second.serve("/MM/T/large.tar.gz", &[], &[Reply::Status(503)]);
    let both = format!("{},{}", place.server.address(), second.address());
    let place = place.asking(both);
    let ran = place.run(&["T/large", "T/tiny"]);
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()));
    let expected = format!(
        "T/large: not downloaded: SERVER/MM/T/large.tar.gz: 404 Not Found; \
         {}/MM/T/large.tar.gz: 503 Service Unavailable (4 attempts){HINT}",
        second.address()
    );
    assert_eq!(ran.stderr.lines().nth(1), Some(&*expected));
    assert!(ran.stderr.contains("\n1 downloaded, 0 present, 1 failed: "), "{}", ran.stderr);
    assert_eq!(second.paths().len(), 4);
}

#[test]
fn a_body_with_the_wrong_length_is_refused() {
    let archive = Tar::of("large", &large()).gzip();
    let length = archive.len();
    let place = Place::with_large(&[Reply::Declaring(length - 10)]);
    let expected = "T/large: not downloaded: the archive from SERVER/MM/T/large.tar.gz: it cannot be \
                    unpacked: ";
    assert!(place.fail(&["T/large"]).starts_with(expected));
    let place = Place::with_large(&[Reply::Declaring(length + 10)]);
    let ran = place.run(&["T/large"]);
    assert_eq!(ran.status, Some(1));
    assert!(!place.path("to/large.mtx").exists());
    let expected = "T/large: not downloaded: SERVER/MM/T/large.tar.gz: ";
    assert!(ran.stderr.lines().nth(1).unwrap().starts_with(expected), "{ran:?}");
    assert!(ran.stderr.contains(&format!(" (4 attempts){HINT}\n")), "{ran:?}");
}

/// The timeout applies to silence, not to the whole body.
#[test]
fn a_slow_body_is_accepted() {
    let slow = Reply::Pieces(6, Duration::from_millis(500));
    assert_eq!(download(&[slow], &["--timeout", "2"]), [None]);
}

#[test]
fn without_certificates_http_still_works() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let address = place.server.address();
    let place = place.asking(format!("https://127.0.0.1:1,{address}"));
    let mut command = place.command(&["T/tiny", "T/large"]);
    command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    let ran = place.ran(command.output().unwrap());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()), "{ran:?}");
    let line = ran.stderr.lines().nth(2).unwrap();
    let begin = "T/large: not downloaded: https://127.0.0.1:1/MM/T/large.tar.gz: the system has no CA certificates: \
                 install the package ca-certificates, or name a file of them in SSL_CERT_FILE (";
    let end = format!("); SERVER/MM/T/large.tar.gz: 404 Not Found{HINT}");
    assert!(line.starts_with(begin) && line.ends_with(&end), "{line}");
}

#[test]
fn a_body_that_does_not_fit_on_the_disk_is_not_begun() {
    let place = Place::with_large(&[Reply::Declaring(1 << 60)]);
    let line = place.fail(&["T/large", "--max-archive", "2000000TiB"]);
    let begin = "T/large: not downloaded: to/.spmv-bench/T.large.tar.gz.part: 1152921504606846976 bytes \
                 are needed and ";
    assert!(line.starts_with(begin) && line.ends_with(" are free"), "{line}");
    assert_eq!(place.server.paths().len(), 1);
}

/// The body would fill the disk, and the partial file would take the space of later runs.
#[test]
fn a_body_without_an_end_is_cut_off_and_not_kept() {
    let place = Place::with_large(&[Reply::Endless]);
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let line = place.fail(&["T/large", "--max-archive", "1MiB"]);
    assert!(line.starts_with("T/large: not downloaded: SERVER/MM/T/large.tar.gz: "), "{line}");
    let end = format!(" bytes or more, but at most 1048576 are allowed (--max-archive){HINT}");
    assert!(line.ends_with(&end), "{line}");
    assert_eq!(place.server.paths().len(), 1);
    assert_eq!(place.run(&["T/tiny"]).status, Some(0));
}

#[test]
fn a_body_with_a_too_large_content_length_is_not_begun() {
    let place = Place::with_large(&[Reply::Declaring(1 << 40)]);
    let line = place.fail(&["T/large"]);
    // The limit is eight times 7 bytes for each of 4000 entries, plus 256 MiB.
    let expected = format!(
        "T/large: not downloaded: SERVER/MM/T/large.tar.gz: the file has 1099511627776 bytes or more, but at most \
         268659456 are allowed (--max-archive){HINT}"
    );
    assert_eq!(line, expected);
}

/// The partial file is larger than permitted, as an earlier version of the program may have left it.
#[test]
fn a_partial_file_that_is_too_large_is_removed_first() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404), Reply::File]);
    place.run(&["T/large"]);
    let part = place.path("to/.spmv-bench/T.large.tar.gz.part");
    std::fs::File::options().append(true).open(part).unwrap().set_len(1 << 40).unwrap();
    place.server.requests();
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.server.ranges(), place.read("to/large.mtx")), (vec![None], large()));
}

/// A partial file without a validator cannot be resumed.
#[test]
fn a_partial_file_that_cannot_be_resumed_is_removed() {
    let place = Place::with_large(&[Reply::Declaring(1 << 20)]);
    place.fail(&["T/large"]);
}

/// Each request receives one more byte.
#[test]
fn resumptions_with_a_single_byte_are_limited() {
    let place = Place::with_large(&[Reply::Cut(1)]);
    let ran = place.run(&["T/large"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let line = ran.stderr.lines().nth(1).unwrap();
    assert!(
        line.contains(": 64 attempts delivered less than 65536 bytes each; the last: "),
        "{line}"
    );
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

/// A proxy of the protocol SOCKS 5 gets the name of the host, which this machine cannot resolve.
#[test]
fn socks_proxies_are_used() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let (listener, port) = (TcpListener::bind("127.0.0.1:0").unwrap(), place.server.port());
    let proxy = format!("socks5h://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let take = |stream: &mut TcpStream, bytes: usize| {
            let mut taken = vec![0; bytes];
            stream.read_exact(&mut taken).unwrap();
            taken
        };
        let methods = take(&mut stream, 2)[1];
        take(&mut stream, methods.into());
        stream.write_all(&[5, 0]).unwrap();
        let length = take(&mut stream, 5)[4];
        let host = take(&mut stream, length.into());
        take(&mut stream, 2);
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        relay(stream, port).unwrap();
        String::from_utf8(host).unwrap()
    });
    let mut command = place.command(&["T/tiny", "--mirror", "http://nowhere.invalid"]);
    let ran = place.ran(command.env("ALL_PROXY", proxy).output().unwrap());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
    assert_eq!(asked.join().unwrap(), "nowhere.invalid");
}

#[test]
fn a_refused_connection_is_reported() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let place = Place::new().asking(format!("http://127.0.0.1:{port}"));
    let line = place.fail(&["T/tiny"]);
    let expected = format!("T/tiny: not downloaded: http://127.0.0.1:{port}/MM/T/tiny.tar.gz: ");
    assert!(line.starts_with(&expected), "{line}");
    let end = format!("Connection refused (os error 111) (4 attempts){HINT}");
    assert!(line.ends_with(&end), "{line}");
}

#[test]
fn a_silent_connection_is_reported() {
    let place = Place::with_large(&[Reply::Hold(0)]);
    let line = {
        let ran = place.run(&["T/large", "--timeout", "0.05"]);
        ran.stderr.lines().nth(1).unwrap().to_owned()
    };
    let expected = format!(
        "T/large: not downloaded: SERVER/MM/T/large.tar.gz: no data received for 0.05 s (4 attempts){HINT}"
    );
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
    let expected = "to: 0 of 2 matrices present, 2 to download: about 0.028 MB\ninterrupted, the next run \
                    resumes unfinished downloads; 0 downloaded, 0 present, 0 failed: 0.000 MB of archives\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!(place.server.ranges(), [None, range(5000)]);
}

/// If a run is killed between download and unpacking, the complete partial file needs no request.
#[test]
fn a_complete_partial_file_is_used() {
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404)]);
    place.run(&["T/large"]);
    let part = place.path("to/.spmv-bench/T.large.tar.gz.part");
    std::fs::write(&part, Tar::of("large", &large()).gzip()).unwrap();
    place.server.requests();
    assert_eq!(place.run(&["T/large"]).status, Some(0));
    assert_eq!((place.server.paths().len(), place.read("to/large.mtx")), (0, large()));
}

/// A slow download does not delay others, but the reports are in the order of the tasks.
#[test]
fn several_matrices_are_downloaded_at_the_same_time() {
    let place = Place::with_large(&[Reply::Hold(5000)]);
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let child = place.command(&["T/large", "T/tiny", "--jobs", "2"]).spawn().unwrap();
    place.await_part("T.large", 5000);
    place.await_file("to/tiny.mtx");
    place.server.release();
    let ran = place.ran(child.wait_with_output().unwrap());
    let ids: Vec<_> = ran.stderr.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(ids[1..3], ["T/large", "T/tiny"], "{ran:?}");
}
