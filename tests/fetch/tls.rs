//! Tests https with the server of `openssl`, if it is installed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::archive::Tar;
use crate::place::{Place, TINY};
use crate::server::Reply;

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

/// Runs `openssl` with these arguments in a folder. Returns whether it succeeded.
fn openssl(folder: &Path, words: &str) -> bool {
    let mut command = Command::new("openssl");
    let command = command.args(words.split(' ')).current_dir(folder);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Creates a certificate authority `ca.pem` and starts a server with a certificate of it. Returns `None` without
/// `openssl`.
fn serve(folder: &Path) -> Option<Https> {
    fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    let made = [
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca",
        "req -newkey rsa:2048 -nodes -keyout key.pem -out server.csr -subj /CN=server",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 \
         -extfile ext",
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

#[test]
fn a_redirect_from_https_to_http_is_refused() {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    let folder = tempfile::tempdir().unwrap();
    let Some(https) = serve(folder.path()) else {
        println!("skipped: openssl cannot be a server here");
        return;
    };
    let answer = |location: &str| {
        format!("HTTP/1.1 302 x\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
    };
    let moved = answer(&format!("{}/MM/T/tiny.tar.gz", place.server.address()));
    fs::create_dir_all(folder.path().join("MM/T")).unwrap();
    fs::write(folder.path().join("MM/T/tiny.tar.gz"), moved).unwrap();
    let mirror = format!("https://127.0.0.1:{}", https.port);
    let mut command = place.command(&["T/tiny", "--mirror", &mirror]);
    let ran =
        place.ran(command.env("SSL_CERT_FILE", folder.path().join("ca.pem")).output().unwrap());
    assert_eq!((ran.status, place.server.requests()), (Some(1), Vec::new()), "{ran:?}");
    let refused = "the redirect from https to SERVER/MM/T/tiny.tar.gz is refused";
    assert!(ran.stderr.contains(refused), "{ran:?}");
    // A redirect from http to https is followed.
    let there = Reply::Moved(format!("{mirror}/MM/T/tiny.tar.gz"));
    place.server.serve("/MM/T/tiny.tar.gz", &[], &[there]);
    let archive = Tar::of("tiny", TINY).gzip();
    let head = format!("HTTP/1.1 200 x\r\nContent-Length: {}\r\n\r\n", archive.len());
    let whole = [head.as_bytes(), &archive].concat();
    fs::write(folder.path().join("MM/T/tiny.tar.gz"), whole).unwrap();
    let mut command = place.command(&["T/tiny"]);
    let ran =
        place.ran(command.env("SSL_CERT_FILE", folder.path().join("ca.pem")).output().unwrap());
    assert_eq!((ran.status, place.read("to/tiny.mtx")), (Some(0), TINY.into()), "{ran:?}");
}
