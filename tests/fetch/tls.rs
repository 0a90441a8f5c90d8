//! Tests https with the server of `openssl`, if it is installed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sha2::{Digest, Sha256};
use spmv_matrix::cache::hex;

use crate::archive::Tar;
use crate::place::{HINT, LEDGER, Place, TINY};
use crate::server::{Reply, moved};
use crate::support::{Dir, Ran, skip};

/// A server that sends files in a folder as complete responses, until it is dropped.
struct Https {
    child: Child,
    port: String,
}

impl Drop for Https {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn openssl(folder: &Path, words: &str) -> bool {
    let mut command = Command::new("openssl");
    let command = command.args(words.split(' ')).current_dir(folder);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The names of a server that the tests reach.
const OURS: &str = "IP:127.0.0.1,DNS:sparse.tamu.edu";

/// Creates a certificate authority `ca.pem` and starts a server with a certificate of it for these names and this time.
/// Returns `None` without `openssl`.
fn serve(folder: &Path, names: &str, time: &str) -> Option<Https> {
    let names = format!("subjectAltName={names}\nbasicConstraints=CA:FALSE\n");
    fs::write(folder.join("ext"), names).unwrap();
    let ca = "[ca]\ndefault_ca=a\n[a]\ndatabase=db\nnew_certs_dir=.\ndefault_md=sha256\nrand_serial=yes\npolicy=p\n\
              [p]\ncommonName=supplied\n";
    fs::write(folder.join("ca.cnf"), ca).and_then(|()| fs::write(folder.join("db"), "")).unwrap();
    let signed = format!(
        "ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr -out server.pem -extfile ext \
         {time}"
    );
    let made = [
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj \
         /CN=ca",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out server.csr -subj /CN=server",
        &signed,
    ];
    if !made.iter().all(|words| openssl(folder, words)) {
        return None;
    }
    let mut command = Command::new("openssl");
    command.args("s_server -accept 127.0.0.1:0 -cert server.pem -key key.pem -HTTP".split(' '));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut lines = BufReader::new(child.stdout.take()?).lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("ACCEPT")).unwrap_or_default();
    let port = line.strip_prefix("ACCEPT 127.0.0.1:").unwrap_or_default().to_owned();
    let server = Https { child, port };
    Some(server).filter(|server| !server.port.is_empty())
}

/// Starts a server whose answer to `/MM/T/tiny.tar.gz` and to the request of the index is a redirect to another base
/// address. Returns it and its folder, or prints that the test is skipped.
fn redirecting(base: &str) -> Option<(Https, Dir)> {
    serving(base, OURS, "-days 2")
}

fn serving(base: &str, names: &str, time: &str) -> Option<(Https, Dir)> {
    let folder = Dir::new(&[]);
    for path in ["MM/T/tiny.tar.gz", "files/ssstats.csv"] {
        let head = format!("HTTP/1.1 301 x\r\nLocation: {base}/{path}\r\nContent-Length: 0\r\n\r\n");
        folder.write(path, head);
    }
    match serve(&folder.path(""), names, time) {
        Some(https) => Some((https, folder)),
        None => skip("openssl cannot be a server here"),
    }
}

const FILES: &str = "http://sparse-files.engr.tamu.edu";

/// The website answers over https and leads to the server of files, which has only http. The local server is the proxy
/// for both, and has `T/tiny` and an index.
fn collection() -> Option<(Https, Dir, Place)> {
    let (https, folder) = redirecting(FILES)?;
    let place = Place::new();
    place.server.tunnel_to(https.port.parse().unwrap());
    let archive = Tar::of("tiny", TINY).gzip();
    place.server.serve(&format!("{FILES}/MM/T/tiny.tar.gz"), &archive, &[Reply::File]);
    let index = "1\n\nT,tiny,3,4,3,1,0,0,0,0,0,kind,4\n";
    place.server.serve(&format!("{FILES}/files/ssstats.csv"), index.as_bytes(), &[Reply::File]);
    Some((https, folder, place))
}

fn run(place: &Place, folder: &Dir, words: &str) -> Ran {
    let (mut command, proxy) = (place.command(words), place.server.address());
    command.env_remove("SPMV_BENCH_MIRROR").env("SSL_CERT_FILE", folder.path("ca.pem"));
    place.ran(command.env("HTTPS_PROXY", &proxy).env("HTTP_PROXY", &proxy).output().unwrap())
}

#[test]
fn the_collection_needs_no_option() {
    let Some((_https, folder, place)) = collection() else { return };
    let ran = run(&place, &folder, "--filter rows<9 --update-index");
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
    let way = |path: &str| format!("https://sparse.tamu.edu/{path} -> {FILES}/{path}");
    let (file, index) = (way("MM/T/tiny.tar.gz"), way("files/ssstats.csv"));
    for warning in [
        format!("{index}: this index came over http, so nothing vouches for its contents\n"),
        format!(
            "T/tiny: warning: {file}: it came over http and its SHA-256 is not known, so nothing vouches for its \
             values\n"
        ),
    ] {
        ran.says(&warning);
    }
    assert!(place.read(LEDGER).contains(&format!(",{file},")));
    let requests = place.server.paths();
    let expected = ["sparse.tamu.edu:443".to_owned(), format!("{FILES}/MM/T/tiny.tar.gz")];
    assert_eq!(requests[2..], expected, "{requests:?}");
}

/// With a known SHA-256 there is no warning, and all sites are tried for a matrix that the first one does not have.
#[test]
fn a_known_archive_may_come_over_http_and_from_any_site() {
    let Some((_https, folder, place)) = collection() else { return };
    folder.write("MM/U/tiny.tar.gz", "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n");
    let sha256 = hex(Sha256::new_with_prefix(Tar::of("tiny", TINY).gzip()));
    let known = place.read("my.toml").replacen("rows", &format!("sha256 = \"{sha256}\", rows"), 1);
    place.write("my.toml", known);
    let ran = run(&place, &folder, "T/tiny U/tiny");
    assert!(ran.stderr.contains("to/tiny.mtx") && !ran.stderr.contains("warning"), "{ran:?}");
    let refused = ran.stderr.lines().find(|line| line.starts_with("U/tiny: not")).unwrap();
    for site in [
        "sparse.tamu.edu",
        "suitesparse-collection-website.herokuapp.com",
        "sparse-files.engr.tamu.edu",
        "www.cise.ufl.edu/research/sparse",
    ] {
        assert!(refused.contains(&format!("//{site}/MM/U/tiny.tar.gz")), "{refused}");
    }
    assert!(refused.ends_with(HINT), "{refused}");
}

#[test]
fn an_unknown_certificate_is_not_tried_again() {
    let Some((https, _folder)) = redirecting("http://nowhere.invalid") else { return };
    let place = Place::new().asking(format!("https://127.0.0.1:{}", https.port));
    let reason = place.fail_cleanly("T/tiny");
    let why = ": invalid peer certificate: UnknownIssuer (check the address and the date of this ";
    assert!(reason.contains(why), "{reason}");
}

/// A certificate that is not accepted for the index: of an unknown authority, of another host, or expired.
#[test]
fn the_index_needs_a_right_certificate() {
    let past = "-startdate 20200101000000Z -enddate 20200102000000Z";
    for (names, time, is_trusted, why) in [
        (OURS, "-days 2", false, "UnknownIssuer"),
        ("DNS:elsewhere.example", "-days 2", true, "certificate not valid for name \"127.0.0.1\""),
        (OURS, past, true, "certificate expired"),
    ] {
        let Some((https, folder)) = serving("http://nowhere.invalid", names, time) else { return };
        let mirror = format!("https://127.0.0.1:{}", https.port);
        let certificates = folder.path("ca.pem").display().to_string();
        let trusted = [("SSL_CERT_FILE", &*certificates)];
        let place = Place::new().asking(mirror.clone());
        let ran = place.run_with(&trusted[..usize::from(is_trusted)], "--update-index").exits(2);
        let begin = "the collection's index cannot be downloaded";
        ran.says(&format!("{begin}: {mirror}/files/ssstats.csv: invalid peer certificate: {why}"));
        ran.says("check the address and the date of this machine").says(HINT);
        assert!(!place.path("cache/index").exists());
    }
}

/// A mirror on this machine may lead to this machine over http, but a host that is not the collection's may not. A
/// redirect from http to https is always followed.
#[test]
fn only_known_hosts_are_reached_over_http_from_https() {
    let (archive, to) = (Tar::of("tiny", TINY).gzip(), "/MM/T/tiny.tar.gz");
    let place = Place::with(&archive);
    for (base, is_followed) in [(place.server.address(), true), ("http://elsewhere.example".into(), false)] {
        let Some((https, folder)) = redirecting(&base) else { return };
        let mirror = format!("https://127.0.0.1:{}", https.port);
        let (certificates, proxy) = (folder.path("ca.pem").display().to_string(), place.server.address());
        let variables = [("SSL_CERT_FILE", &*certificates), ("HTTP_PROXY", &proxy), ("NO_PROXY", "127.0.0.0/8")];
        let ran = place.run_with(&variables, &format!("T/tiny --mirror {mirror}"));
        assert_eq!(place.server.requests().len(), usize::from(is_followed), "{ran:?}");
        let from = format!("{mirror}{to}");
        ran.says(&match is_followed {
            true => format!("T/tiny: warning: {from} -> SERVER{to}: it came over http and "),
            false => format!("{from}: the redirect from {from} to {base}{to} is refused, because "),
        });
        let _ = fs::remove_dir_all(place.path("to"));
        let head = format!("HTTP/1.1 200 x\r\nContent-Length: {}\r\n\r\n", archive.len());
        folder.write(&to[1..], [head.as_bytes(), &archive].concat());
        let from_http = Place::new();
        from_http.server.serve(to, &[], &[moved(&from)]);
        from_http.run_with(&variables[..1], "T/tiny").exits(0);
        assert_eq!(from_http.read("to/tiny.mtx"), TINY);
    }
}
