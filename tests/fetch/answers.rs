//! Tests with the answers of servers and proxies: failures, pauses, web pages, redirects.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::archive::{Tar, large};
use crate::place::{HINT, LEDGER, PART, Place, SYMMETRIC, TINY};
use crate::server::Reply::{self, Cut, Endless, File, Hold, Pieces, Short, With};
use crate::server::{Server, declaring, moved, relay, status};
use crate::support::signal;

fn later(code: u16, seconds: u32) -> Reply {
    With(code, format!("Retry-After: {seconds}\r\n"))
}

/// Each case has the replies to requests of `T/large`, further options, and where the requests begin.
#[test]
fn downloads_are_retried_and_resumed() {
    let plain = || With(200, String::new());
    let range = |range| With(206, format!("Content-Range: {range}\r\n"));
    for (replies, words, begins) in [
        (&[status(503), status(503), File][..], "", &[0, 0, 0][..]),
        (&[later(429, 0), status(408), status(500), File], "", &[0, 0, 0, 0]),
        (&[status(403), status(429), status(403), File], "", &[0, 0, 0, 0]),
        (&[Cut(5000), File], "", &[0, 5000]),
        (&[Hold(3000), File], "--timeout=0.2", &[0, 3000]),
        // Attempts that receive data do not count: there are more of them than the limit of four.
        (
            &[Cut(1000), Cut(1000), Cut(1000), Cut(1000), Cut(1000), File],
            "",
            &[0, 1000, 2000, 3000, 4000, 5000],
        ),
        (&[Cut(5000), Short(1000), File], "", &[0, 5000, 6000]),
        // These cannot be continued. Without a validator no range can be requested.
        (&[Cut(5000), plain()], "", &[0, 5000]),
        (&[declaring(1 << 20), File], "", &[0, 0]),
        (&[Cut(5000), range("bytes 4000-4999/*"), File], "", &[0, 5000, 0]),
        (&[Cut(5000), range("bytes 5000-5999/6000"), File], "", &[0, 5000, 0]),
        (&[Cut(5000), range(""), File], "", &[0, 5000, 0]),
        (&[Cut(5000), status(416), File], "", &[0, 5000, 0]),
        // The timeout is that of silence.
        (&[Pieces(6, Duration::from_millis(500))], "--timeout=2", &[0]),
    ] {
        let place = Place::with_large(replies);
        place.succeed(&format!("T/large {words}"));
        assert_eq!((place.read("to/large.mtx"), place.server.begins()), (large(), begins.into()));
        assert_eq!(place.files(), ["to/large.mtx"], "{replies:?}");
    }
}

/// Each case has the reply, further options, the number of requests, and the message, in which `…` stands for any text.
#[test]
fn failed_downloads_are_explained() {
    let archive = Tar::of("large", &large()).gzip();
    for (reply, words, requests, expected) in [
        (status(403), "", 4, "403 Forbidden (4 attempts)"),
        (status(429), "", 4, "429 Too Many Requests (4 attempts)"),
        (status(401), "", 1, "401 Unauthorized"),
        (later(503, 3600), "", 1, "503 Service Unavailable; the server asks to wait 3600 s, and …"),
        (Hold(0), "--timeout=0.05", 4, "no data received for 0.05 s (4 attempts)"),
        (Cut(1), "", 64, "64 attempts delivered less than 65536 bytes each; the last: …"),
        (moved("/MM/T/large.tar.gz"), "", 11, "more than 10 redirects"),
        (declaring(archive.len() + 10), "", 4, "… (4 attempts)"),
        // The limit is eight times 7 bytes for each of 4000 entries, plus 256 MiB.
        (declaring(1 << 40), "", 1, "… bytes or more, but at most 268659456 are allowed (--max-archive)"),
        (Endless, "--max-archive=1MiB", 1, "the file has … at most 1048576 are allowed (--max-archive)"),
    ] {
        let place = Place::with_large(std::slice::from_ref(&reply));
        let words = format!("T/large {words}");
        // What can be resumed is kept.
        let reason = match reply {
            Cut(_) | Hold(_) => place.fail(&words),
            _ => place.fail_cleanly(&words),
        };
        let expected = format!("SERVER/MM/T/large.tar.gz: {expected}{HINT}");
        let is_expected = match expected.split_once('…') {
            Some((begin, end)) => reason.starts_with(begin) && reason.ends_with(end),
            None => reason == expected,
        };
        assert!(is_expected, "{reason}");
        assert_eq!(place.server.paths().len(), requests, "{reason}");
    }
    let place = Place::with_large(&[declaring(archive.len() - 10), declaring(1 << 60)]);
    let reason = place.fail_cleanly("T/large");
    let begin = "the archive from SERVER/MM/T/large.tar.gz: it cannot be extracted: ";
    assert!(reason.starts_with(begin), "{reason}");
    let reason = place.fail_cleanly("T/large --max-archive 2000000TiB");
    let begin = format!("{PART}: 1152921504606846976 bytes are needed and ");
    assert!(reason.starts_with(&begin) && reason.ends_with(" are free"), "{reason}");
    assert_eq!(place.server.paths().len(), 2);
}

#[test]
fn the_pause_that_a_server_asks_for_is_announced() {
    let place = Place::with_large(&[later(503, 1), File]);
    let ran = place.succeed("T/large");
    let expected = "T/large: SERVER/MM/T/large.tar.gz: 503 Service Unavailable; waiting 1 s, as the server asks";
    assert_eq!(ran.stderr.lines().nth(1), Some(expected));
}

#[test]
fn a_weak_etag_is_not_used_as_validator() {
    let date = "Sat, 21 Nov 2020 10:00:00 GMT";
    let more = format!("ETag: W/\"x\"\r\nLast-Modified: {date}\r\nContent-Length: 1000000\r\n");
    let place = Place::with_large(&[With(200, more), File]);
    place.succeed("T/large");
    assert_eq!(place.server.requests()[1].headers["if-range"], date);
}

/// What a second run does with the partial file of the first one.
#[test]
fn a_later_run_continues() {
    let archive = Tar::of("large", &large()).gzip();
    let newer = large().replace("\n1 1 ", "\n1 1 9");
    let begun = || {
        let place = Place::with_large(&[Cut(5000), status(404), File]);
        place.fail("T/large");
        place.server.requests();
        place
    };
    let ended = |place: &Place| {
        place.succeed("T/large");
        (place.read("to/large.mtx"), place.server.begins())
    };
    assert_eq!(ended(&begun()), (large(), vec![5000]));
    // A complete file needs no request.
    let place = begun();
    place.write(PART, &archive);
    assert_eq!(ended(&place), (large(), vec![]));
    // A file that is larger than permitted is removed.
    let place = begun();
    let part = std::fs::File::options().append(true).open(place.path(PART)).unwrap();
    part.set_len(1 << 40).unwrap();
    assert_eq!(ended(&place), (large(), vec![0]));
    // Parts of two versions are not combined.
    let place = begun();
    place.server.serve("/MM/T/large.tar.gz", &Tar::of("large", &newer).gzip(), &[File]);
    assert_eq!(ended(&place), (newer, vec![5000]));
    // A web page does not replace the file.
    let place = begun();
    let page = b"<html>Please sign in</html>";
    place.server.serve("/MM/T/large.tar.gz", page, &[With(200, String::new())]);
    place.fail("T/large");
    assert_eq!(place.path(PART).metadata().unwrap().len(), 5000);
    // The ledger names one way to a file, so its bytes may not come from two addresses.
    let (place, second) = (begun(), Server::start());
    place.server.serve("/MM/T/large.tar.gz", &[], &[status(404)]);
    second.serve("/MM/T/large.tar.gz", &archive, &[File]);
    let place = place.asking_also(&second);
    assert_eq!(ended(&place), (large(), vec![5000]));
    assert_eq!(second.begins(), [0]);
}

/// What is complete is in the ledger at once, and the part of a file is kept.
#[test]
fn a_run_that_is_killed_or_interrupted_is_resumed_by_the_next() {
    for is_killed in [false, true] {
        let place = Place::with_large(&[Hold(5000), File]);
        place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[File]);
        let words = "T/tiny T/large U/tiny --jobs 1 --timeout 86400";
        let mut child = place.command(words).spawn().unwrap();
        place.await_bytes(PART, 5000);
        match is_killed {
            true => child.kill().unwrap(),
            false => signal(&child, Signal::SIGTERM),
        }
        let ran = place.ran(child.wait_with_output().unwrap());
        if !is_killed {
            let end = "interrupted, the next run resumes unfinished downloads; 1 downloaded, 0 present, 0 failed: \
                       0.000 MB of archives\n";
            ran.exits(1).says(end);
        }
        assert!(place.read(LEDGER).contains("\nT/tiny,tiny.mtx,"));
        place.server.requests();
        place.succeed("T/large");
        assert_eq!((place.read("to/large.mtx"), place.server.begins()), (large(), vec![5000]));
    }
}

/// A slow download does not delay others, but the reports are in the order of the tasks.
#[test]
fn several_matrices_are_downloaded_at_the_same_time() {
    let place = Place::with_large(&[Hold(5000)]);
    place.server.serve("/MM/T/tiny.tar.gz", &Tar::of("tiny", TINY).gzip(), &[File]);
    let child = place.command("T/large T/tiny --jobs 2").spawn().unwrap();
    place.await_bytes(PART, 5000);
    place.await_bytes("to/tiny.mtx", 0);
    place.server.release();
    let ran = place.ran(child.wait_with_output().unwrap());
    let ids = ran.stderr.lines().skip(1).take(2).map(|line| line.split(':').next().unwrap());
    assert!(ids.eq(["T/large", "T/tiny"]), "{ran:?}");
}

/// But not if the redirect has changed meanwhile, because the ledger names one way to a file.
#[test]
fn a_redirected_download_is_resumed() {
    for (second, begins) in [("first", &[0, 5000][..]), ("second", &[0, 5000, 0])] {
        let (place, other) = (Place::new(), Server::start());
        let moved = ["first", second].map(|path| moved(&format!("{}/{path}", other.address())));
        place.server.serve("/MM/T/large.tar.gz", &[], &moved);
        let archive = Tar::of("large", &large()).gzip();
        other.serve("/second", &archive, &[File]);
        other.serve("/first", &archive, &[Cut(5000), File]);
        place.succeed("T/large");
        assert_eq!((place.read("to/large.mtx"), other.begins()), (large(), begins.into()));
    }
}

/// The login in the address of a mirror is for its host only, and appears nowhere.
#[test]
fn a_login_is_not_sent_to_another_host() {
    let (place, other) = (Place::new(), Server::start());
    let there = format!("{}/elsewhere?token=secret", other.address());
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[moved(&there)]);
    other.serve("/elsewhere?token=secret", &Tar::of("tiny", TINY).gzip(), &[File]);
    let mirror = format!("http://me:secret@127.0.0.1:{}", place.server.port);
    let place = place.asking(mirror);
    let ran = place.run("T/tiny T/large");
    assert!(ran.status == Some(1) && !ran.stderr.contains("secret"), "{ran:?}");
    assert_eq!(place.server.requests()[0].headers["authorization"], "Basic bWU6c2VjcmV0");
    assert!(other.requests().iter().all(|it| !it.headers.contains_key("authorization")));
    let way = format!(",{}/MM/T/tiny.tar.gz -> {}/elsewhere,", place.server.address(), other.address());
    assert!(place.read(LEDGER).contains(&way), "{}", place.read(LEDGER));
}

#[test]
fn the_second_address_is_used_for_files_missing_on_the_first() {
    let (place, second) = (Place::with(&Tar::of("tiny", TINY).gzip()), Server::start());
    second.serve("/MM/T/large.tar.gz", &[], &[status(503)]);
    second.serve("/copy/MM/U/tiny.tar.gz", &Tar::of("tiny", SYMMETRIC).gzip(), &[File]);
    let place = place.asking_also(&second);
    let ran = place.run("T/large T/tiny");
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()));
    let other = second.address();
    let expected = format!(
        "T/large: not downloaded: SERVER/MM/T/large.tar.gz: 404 Not Found; {other}/MM/T/large.tar.gz: \
         503 Service Unavailable (4 attempts){HINT}"
    );
    assert_eq!(ran.stderr.lines().nth(1), Some(&*expected));
    assert!(ran.stderr.contains("\n1 downloaded, 0 present, 1 failed: "), "{}", ran.stderr);
    assert_eq!(second.paths().len(), 4);
    let both = format!("{},{other}/copy/", place.server.address());
    let place = place.asking(both);
    place.succeed("U/tiny");
    assert!(place.read(LEDGER).contains("/copy/MM/U/tiny.tar.gz,"));
}

/// Each case has the replies to `T/large`, `T/tiny` and `U/tiny`, one after the other, and the number of requests.
#[test]
fn two_matrices_in_a_row_without_a_site_end_the_download() {
    let archive = Tar::of("tiny", TINY).gzip();
    for (replies, requests) in [
        ([status(503), status(503), File], 4 + 4),
        ([Hold(0), status(500), File], 4 + 4),
        ([status(503), status(404), status(503)], 4 + 1 + 4),
        ([status(503), File, status(503)], 4 + 1 + 4),
        ([status(403), status(404), status(403)], 4 + 1 + 4),
    ] {
        let place = Place::new();
        for (name, reply) in ["T/large", "T/tiny", "U/tiny"].into_iter().zip(&replies) {
            place.server.serve(&format!("/MM/{name}.tar.gz"), &archive, std::slice::from_ref(reply));
        }
        let ran = place.run("T/large T/tiny U/tiny --jobs 1 --timeout 0.2").exits(1);
        assert_eq!(place.server.paths().len(), requests, "{replies:?}");
        let is_early = requests == 8;
        let lines = ran.stderr.matches(": not downloaded: ").count();
        let failed = replies.iter().filter(|reply| !matches!(reply, File)).count();
        assert_eq!(lines, if is_early { 0 } else { failed }, "{ran:?}");
        assert_eq!(ran.stderr.contains("ended early, with 3 matrices left"), is_early, "{ran:?}");
    }
}

/// What waiting cannot mend is not tried again, and all sites with the same answer share it.
#[test]
fn without_a_network_the_download_ends_at_once() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failed_lookup = "failed to lookup address information: ";
    for (mirror, why) in [
        (format!("http://{closed},http://{closed}/copy"), "Connection refused (os error 111)"),
        ("http://nowhere.invalid,https://nowhere.invalid/copy".into(), failed_lookup),
    ] {
        let place = Place::new().asking(mirror.clone());
        let ran = place.run("T/tiny U/tiny T/large").exits(1);
        let (first, second) = mirror.split_once(',').unwrap();
        let places = format!("{first}/MM/T/tiny.tar.gz, {second}/MM/T/tiny.tar.gz");
        let any_matrix = ran.stderr.replace("U/tiny.", "T/tiny.").replace("T/large.", "T/tiny.");
        let begin = "ended early, with 3 matrices left, because no site can be reached: ";
        let begin = format!("{begin}{places}: {why}");
        let end = format!("{HINT}; check the network and the proxy (HTTPS_PROXY), or copy the files into to by hand");
        let last = any_matrix.lines().last().unwrap();
        assert!(last.starts_with(&begin) && last.ends_with(&end), "{ran:?}");
        assert!(!ran.stderr.contains(": not downloaded: "), "{ran:?}");
    }
}

/// A login page or a proxy's message instead of the archive, and instead of the index.
#[test]
fn a_web_page_is_not_taken_for_a_file() {
    let (page, place) = (b"<!DOCTYPE html><html>Please sign in</html>", Place::new());
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[moved("/login")]);
    for path in ["/login", "/files/ssstats.csv"] {
        place.server.serve(path, page, &[status(200)]);
    }
    let begin = "a web page came instead of the file, such as a login page: open";
    let said = |address| format!("{begin} {address} in a browser{HINT}");
    let expected = format!("SERVER/MM/T/tiny.tar.gz: {}", said("SERVER/login"));
    assert_eq!(place.fail_cleanly("T/tiny"), expected);
    let ran = place.run("--update-index");
    let index = "SERVER/files/ssstats.csv";
    ran.exits(2).says(&format!("the collection's index cannot be downloaded: {index}: {}", said(index)));
    assert_eq!(place.server.paths().len(), 3);
}

#[test]
fn without_certificates_http_still_works() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let address = place.server.address();
    let place = place.asking(format!("https://127.0.0.1:1,{address}"));
    let nowhere = [("SSL_CERT_FILE", "/dev/null/absent"), ("SSL_CERT_DIR", "/dev/null/absent")];
    let ran = place.run_with(&nowhere, "T/tiny T/large");
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(1), TINY.into()), "{ran:?}");
    let line = ran.stderr.lines().nth(2).unwrap();
    let begin = "T/large: not downloaded: https://127.0.0.1:1/MM/T/large.tar.gz: the system has no CA certificates: \
                 install the package ca-certificates, or name a file of them in SSL_CERT_FILE (";
    let end = format!("); SERVER/MM/T/large.tar.gz: 404 Not Found{HINT}");
    assert!(line.starts_with(begin) && line.ends_with(&end), "{line}");
}

/// A proxy of the protocol SOCKS 5 gets the name of the host, which this machine cannot resolve.
#[test]
fn socks_proxies_are_used() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip()).asking("http://nowhere.invalid".into());
    let (listener, port) = (TcpListener::bind("127.0.0.1:0").unwrap(), place.server.port);
    let proxy = format!("socks5h://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut from = stream.try_clone().unwrap();
        let mut take = |bytes: u8| {
            let mut taken = vec![0; bytes.into()];
            from.read_exact(&mut taken).unwrap();
            taken
        };
        let methods = take(2)[1];
        take(methods);
        stream.write_all(&[5, 0]).unwrap();
        let length = take(5)[4];
        let host = take(length);
        take(2);
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        relay(stream, port).unwrap();
        String::from_utf8(host).unwrap()
    });
    let ran = place.run_with(&[("ALL_PROXY", &proxy)], "T/tiny");
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
    assert_eq!(asked.join().unwrap(), "nowhere.invalid");
}
