//! A local web server that sends the replies that a test defines.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use spmv_matrix::cache::hex;

use crate::support::eventually;

#[derive(Clone, Debug)]
pub enum Reply {
    /// The requested file or range of it.
    File,
    /// This many bytes of the response, after which the connection ends.
    Cut(usize),
    /// This many bytes, and the rest when the server is released.
    Hold(usize),
    /// At most this many bytes of the requested range, as a valid partial response.
    Short(usize),
    /// The file in this many pieces with pauses of this length.
    Pieces(usize, Duration),
    /// The whole file, even for a range request, with this status and these headers, each with the end of its line.
    With(u16, String),
    /// Zeros without an end and without a Content-Length.
    Endless,
}

pub fn status(status: u16) -> Reply {
    Reply::With(status, String::new())
}

pub fn moved(to: &str) -> Reply {
    Reply::With(301, format!("Location: {to}\r\n"))
}

/// Replies with the whole file, but another Content-Length.
pub fn declaring(bytes: usize) -> Reply {
    Reply::With(200, format!("Content-Length: {bytes}\r\n"))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    /// By their names in lower case.
    pub headers: HashMap<String, String>,
}

impl Request {
    /// Returns the first byte of the requested range.
    fn begin(&self) -> Option<usize> {
        self.headers.get("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// A file and the remaining replies for it.
type Served = (Vec<u8>, Vec<Reply>);

#[derive(Default)]
struct Script {
    files: Mutex<HashMap<String, Served>>,
    requests: Mutex<Vec<Request>>,
    released: AtomicBool,
    /// The port that every tunnel through this server leads to, or 0.
    tunnel: AtomicU16,
}

pub struct Server {
    pub port: u16,
    script: Arc<Script>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Script::default());
        let shared = script.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, stream) = (shared.clone(), stream.unwrap());
                // Errors are ignored, because in many tests the client closes the connection.
                thread::spawn(move || script.answer(stream).ok());
            }
        });
        Self { port, script }
    }

    /// Answers requests for `path` with these replies in turn; the last reply is used for all further requests.
    pub fn serve(&self, path: &str, file: &[u8], replies: &[Reply]) {
        let entry = (file.to_vec(), replies.to_vec());
        self.script.files.lock().unwrap().insert(path.to_owned(), entry);
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.script.requests.lock().unwrap())
    }

    pub fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }

    /// Returns the first bytes of the requests since the last call; 0 for a whole file.
    pub fn begins(&self) -> Vec<usize> {
        self.requests().iter().map(|request| request.begin().unwrap_or(0)).collect()
    }

    /// Makes the server a proxy with tunnels, which all lead to this port.
    pub fn tunnel_to(&self, port: u16) {
        self.script.tunnel.store(port, Ordering::Relaxed);
    }

    /// Continues the held replies.
    pub fn release(&self) {
        self.script.released.store(true, Ordering::Relaxed);
    }
}

impl Script {
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut lines = BufReader::new(Read::take(stream.try_clone()?, 1 << 16)).lines();
        let first = lines.next().unwrap_or(Ok(String::new()))?;
        let mut request = Request { path: first.split(' ').nth(1).unwrap_or("").into(), ..Request::default() };
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else { break };
            request.headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        self.requests.lock().unwrap().push(request.clone());
        if first.starts_with("CONNECT ") {
            stream.write_all(b"HTTP/1.1 200 x\r\n\r\n")?;
            return relay(stream, self.tunnel.load(Ordering::Relaxed));
        }
        let (file, reply) = match self.files.lock().unwrap().get_mut(&request.path) {
            Some((file, replies)) if replies.len() > 1 => (file.clone(), replies.remove(0)),
            Some((file, replies)) => (file.clone(), replies[0].clone()),
            None => (Vec::new(), status(404)),
        };
        self.send(stream, &file, reply, &request)
    }

    fn send(&self, mut to: TcpStream, file: &[u8], reply: Reply, of: &Request) -> io::Result<()> {
        let (status, headers, mut body) = match &reply {
            Reply::With(status, headers) => (*status, headers.clone(), file),
            Reply::Endless => (200, "ETag: \"x\"\r\n".to_owned(), file),
            _ => ranged(file, of),
        };
        if let Reply::Short(bytes) = reply {
            body = &body[..bytes];
        }
        let length = match &reply {
            Reply::Endless => String::new(),
            _ if headers.contains("Content-Length") => String::new(),
            _ => format!("Content-Length: {}\r\n", body.len()),
        };
        write!(to, "HTTP/1.1 {status} x\r\n{length}Connection: close\r\n{headers}\r\n")?;
        match reply {
            Reply::Cut(bytes) => to.write_all(&body[..bytes.min(body.len())]),
            Reply::Hold(bytes) => {
                to.write_all(&body[..bytes])?;
                eventually(|| self.released.load(Ordering::Relaxed));
                to.write_all(&body[bytes..])
            }
            Reply::Pieces(count, time) => body.chunks(body.len().div_ceil(count)).try_for_each(|piece| {
                thread::sleep(time);
                to.write_all(piece)
            }),
            Reply::Endless => loop {
                to.write_all(&[0; 1 << 12])?;
            },
            _ => to.write_all(body),
        }
    }
}

/// Copies bytes in both directions between a connection and a port of this machine, until one side ends.
pub fn relay(stream: TcpStream, port: u16) -> io::Result<()> {
    let other = TcpStream::connect(("127.0.0.1", port))?;
    let (mut from, mut to) = (stream.try_clone()?, other.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Both)));
    io::copy(&mut &other, &mut &stream)?;
    stream.shutdown(Shutdown::Both)
}

fn ranged<'f>(file: &'f [u8], request: &Request) -> (u16, String, &'f [u8]) {
    let tag = format!("\"{}\"", hex(Sha256::new_with_prefix(file)));
    let is_same = request.headers.get("if-range").is_none_or(|version| *version == tag);
    match request.begin().filter(|begin| is_same && *begin < file.len()) {
        None => (200, format!("ETag: {tag}\r\n"), file),
        Some(begin) => {
            let (last, all) = (file.len() - 1, file.len());
            (206, format!("Content-Range: bytes {begin}-{last}/{all}\r\n"), &file[begin..])
        }
    }
}
