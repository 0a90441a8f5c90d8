//! Tests with the answers of the collection's servers: pauses, web pages, redirects.

use std::thread;
use std::time::Duration;

use crate::archive::Tar;
use crate::place::{Place, TINY, interrupt};
use crate::server::{Reply, Server};

/// What is behind every message about failed addresses.
pub const HINT: &str = "; --mirror URL names another copy of the collection";

/// Each case has the replies to four requests, the number of requests, and the message.
#[test]
fn a_server_may_refuse_for_a_while_or_for_ever() {
    use Reply::{File, Later, Status};
    let hour = "503 Service Unavailable; the server asks to wait 3600 s, and fetch waits at most 600 s: try again \
                later";
    for (replies, requests, expected) in [
        (&[Status(403), Status(429), Status(403), File][..], 4, None),
        (&[Status(403)], 4, Some("403 Forbidden (4 attempts)")),
        (&[Status(429)], 4, Some("429 Too Many Requests (4 attempts)")),
        (&[Later(503, 3600)], 1, Some(hour)),
        (&[Status(401)], 1, Some("401 Unauthorized")),
    ] {
        let place = Place::new();
        place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), replies);
        match expected {
            None => assert_eq!(place.run(&["T/tiny"]).status, Some(0)),
            Some(message) => {
                let line =
                    format!("T/tiny: not downloaded: SERVER/MM/T/tiny.tar.gz: {message}{HINT}");
                assert_eq!(place.fail(&["T/tiny"]), line);
            }
        }
        assert_eq!(place.server.paths().len(), requests, "{replies:?}");
    }
}

#[test]
fn the_pause_that_a_server_asks_for_is_announced() {
    let place = Place::new();
    let replies = [Reply::Later(503, 1), Reply::File];
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &replies);
    let ran = place.run(&["T/tiny"]);
    let expected =
        "T/tiny: SERVER/MM/T/tiny.tar.gz: 503 Service Unavailable; waiting 1 s, as the server asks";
    assert_eq!((ran.status, ran.stderr.lines().nth(1)), (Some(0), Some(expected)), "{ran:?}");
}

#[test]
fn an_interrupt_ends_the_pause_that_a_server_asks_for() {
    let place = Place::with_large(&[Reply::Later(429, 500)]);
    let child = place.command(&["T/large"]).spawn().unwrap();
    while place.server.paths().is_empty() {
        thread::sleep(Duration::from_millis(2));
    }
    interrupt(&child);
    let ran = place.ran(child.wait_with_output().unwrap());
    assert!(ran.status == Some(1) && ran.stderr.contains("\ninterrupted, "), "{ran:?}");
}

/// A login page or a proxy's message instead of the archive, and instead of the index.
#[test]
fn a_web_page_is_not_taken_for_a_file() {
    let page = b"<!DOCTYPE html><html>Please sign in</html>";
    let place = Place::new();
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[Reply::Moved("/login".into())]);
    place.server.serve("/login", page, &[Reply::Plain]);
    place.server.serve("/files/ssstats.csv", page, &[Reply::Plain]);
    let said = |address| {
        format!(
            "a web page came instead of the file, such as a login page: open {address} in a browser{HINT}"
        )
    };
    let line = format!("T/tiny: not downloaded: SERVER/MM/T/tiny.tar.gz: {}", said("SERVER/login"));
    assert_eq!(place.fail(&["T/tiny"]), line);
    let ran = place.run(&["--all"]);
    let index = "SERVER/files/ssstats.csv";
    let expected =
        format!("the collection's index cannot be downloaded: {index}: {}\n", said(index));
    assert!(ran.status == Some(2) && ran.stderr.ends_with(&expected), "{ran:?}");
    assert_eq!(place.server.paths().len(), 3);
}

/// The partial file of an interrupted download is still there after a web page.
#[test]
fn a_web_page_does_not_replace_a_partial_file() {
    let page = b"<html>Please sign in</html>";
    let place = Place::with_large(&[Reply::Cut(5000), Reply::Status(404)]);
    assert_eq!(place.run(&["T/large"]).status, Some(1));
    place.server.serve("/MM/T/large.tar.gz", page, &[Reply::Plain]);
    assert_eq!(place.run(&["T/large"]).status, Some(1));
    let part = place.path("to/.spmv-bench/T.large.tar.gz.part");
    assert_eq!(part.metadata().unwrap().len(), 5000);
}

#[test]
fn a_redirect_without_an_end_is_reported_at_once() {
    let place = Place::new();
    let here = Reply::Moved("/MM/T/tiny.tar.gz".into());
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[here]);
    let expected =
        format!("T/tiny: not downloaded: SERVER/MM/T/tiny.tar.gz: more than 10 redirects{HINT}");
    assert_eq!(place.fail(&["T/tiny"]), expected);
    assert_eq!(place.server.paths().len(), 11);
}

/// The login in the address of a mirror is for its host only, and appears nowhere.
#[test]
fn a_login_is_not_sent_to_another_host() {
    let (place, other) = (Place::new(), Server::start());
    let moved = Reply::Moved(format!("{}/elsewhere?token=secret", other.address()));
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[moved]);
    other.serve("/elsewhere?token=secret", &Tar::of("tiny", TINY).gzip(), &[Reply::File]);
    let mirror = format!("http://me:secret@127.0.0.1:{}", place.server.port());
    let place = place.asking(mirror);
    let ran = place.run(&["T/tiny", "T/large"]);
    assert!(ran.status == Some(1) && !ran.stderr.contains("secret"), "{ran:?}");
    let login = place.server.requests()[0].login.clone();
    assert_eq!(login.as_deref(), Some("Basic bWU6c2VjcmV0"));
    assert!(other.requests().iter().all(|request| request.login.is_none()));
    let ledger = place.read("to/.spmv-bench/ledger.csv");
    let way =
        format!(",{}/MM/T/tiny.tar.gz -> {}/elsewhere,", place.server.address(), other.address());
    assert!(ledger.contains(&way), "{ledger}");
}
