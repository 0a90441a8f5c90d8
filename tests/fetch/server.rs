//! A local web server that sends the replies that a test defines.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// A reply to a request. Unless stated otherwise, range requests are supported.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The requested file or range of it.
    File,
    /// The whole file, even for a range request, without a validator.
    Plain,
    /// A response with this status and without a file.
    Status(u16),
    /// This status with a Retry-After header of this many seconds.
    Later(u16, u32),
    /// A redirect (301) to another address.
    Moved(String),
    /// This many bytes of the response, after which the connection ends.
    Cut(usize),
    /// This many bytes of the response with a weak ETag and a date, after which the connection ends.
    DatedCut(usize),
    /// This many bytes, and the rest when the server is released.
    Hold(usize),
    /// The file in this many pieces with pauses of this length.
    Pieces(usize, Duration),
    /// At most this many bytes of the requested range, as a valid partial response.
    Some(usize),
    /// The whole file with this Content-Length.
    Declaring(usize),
    /// Status 206 with this Content-Range.
    Range(&'static str),
    /// Zeros without an end and without a Content-Length.
    Endless,
}

/// The date of every file.
pub const DATE: &str = "Sat, 21 Nov 2020 10:00:00 GMT";

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    pub range: Option<String>,
    /// The validator of a range request.
    pub version: Option<String>,
    pub agent: Option<String>,
    /// The user and password.
    pub login: Option<String>,
}

/// A file and the remaining replies for it.
type Served = (Vec<u8>, Vec<Reply>);

#[derive(Default)]
struct Script {
    files: Mutex<HashMap<String, Served>>,
    requests: Mutex<Vec<Request>>,
    released: Mutex<bool>,
    release: Condvar,
    /// The port that every tunnel through this server leads to.
    tunnel: Mutex<Option<u16>>,
}

pub struct Server {
    port: u16,
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

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.script.requests.lock().unwrap())
    }

    /// Returns the paths of the requests since the last call.
    pub fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }

    /// Returns the ranges of the requests since the last call.
    pub fn ranges(&self) -> Vec<Option<String>> {
        self.requests().into_iter().map(|request| request.range).collect()
    }

    /// Makes the server a proxy with tunnels, which all lead to this port.
    pub fn tunnel_to(&self, port: u16) {
        *self.script.tunnel.lock().unwrap() = Some(port);
    }

    /// Continues the held replies.
    pub fn release(&self) {
        *self.script.released.lock().unwrap() = true;
        self.script.release.notify_all();
    }
}

impl Script {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let headers = headers(&stream)?;
        let path = headers[""].split(' ').nth(1).unwrap_or("").to_owned();
        let of = |name: &str| headers.get(name).cloned();
        let (range, version, agent) = (of("range"), of("if-range"), of("user-agent"));
        let login = of("authorization");
        let request = Request { path: path.clone(), range, version, agent, login };
        self.requests.lock().unwrap().push(request);
        if let (true, Some(port)) =
            (headers[""].starts_with("CONNECT "), *self.tunnel.lock().unwrap())
        {
            (&stream).write_all(b"HTTP/1.1 200 x\r\n\r\n")?;
            return relay(stream, port);
        }
        let (file, reply) = match self.files.lock().unwrap().get_mut(&path) {
            Some((file, replies)) if replies.len() > 1 => (file.clone(), replies.remove(0)),
            Some((file, replies)) => (file.clone(), replies[0].clone()),
            None => (Vec::new(), Reply::Status(404)),
        };
        self.send(stream, &file, reply, &headers)
    }

    fn send(
        &self,
        mut stream: TcpStream,
        file: &[u8],
        reply: Reply,
        headers: &HashMap<String, String>,
    ) -> std::io::Result<()> {
        let (status, header, body) = match &reply {
            Reply::Status(status) => (*status, String::new(), &[][..]),
            Reply::Later(status, seconds) => {
                (*status, format!("Retry-After: {seconds}\r\n"), &[][..])
            }
            Reply::Moved(to) => (301, format!("Location: {to}\r\n"), &[][..]),
            Reply::Plain | Reply::Declaring(_) | Reply::Endless => (200, String::new(), file),
            Reply::DatedCut(_) => {
                (200, format!("ETag: W/\"x\"\r\nLast-Modified: {DATE}\r\n"), file)
            }
            Reply::Range(range) => (206, format!("Content-Range: {range}\r\n"), file),
            Reply::File | Reply::Cut(_) | Reply::Hold(_) | Reply::Pieces(..) => {
                ranged(file, headers)
            }
            Reply::Some(bytes) => {
                let (status, header, body) = ranged(file, headers);
                (status, header, &body[..*bytes])
            }
        };
        if let Reply::Endless = reply {
            write!(stream, "HTTP/1.1 200 x\r\nConnection: close\r\nETag: \"x\"\r\n\r\n")?;
            loop {
                stream.write_all(&[0; 1 << 12])?;
            }
        }
        let declared = if let Reply::Declaring(bytes) = reply { bytes } else { body.len() };
        write!(
            stream,
            "HTTP/1.1 {status} x\r\nContent-Length: {declared}\r\nConnection: close\r\n{header}\r\n"
        )?;
        match reply {
            Reply::Cut(bytes) | Reply::DatedCut(bytes) => {
                stream.write_all(&body[..bytes.min(body.len())])
            }
            Reply::Hold(bytes) => {
                stream.write_all(&body[..bytes])?;
                let released = self.released.lock().unwrap();
                drop(self.release.wait_while(released, |released| !*released).unwrap());
                stream.write_all(&body[bytes..])
            }
            Reply::Pieces(count, time) => {
                body.chunks(body.len().div_ceil(count)).try_for_each(|piece| {
                    thread::sleep(time);
                    stream.write_all(piece)
                })
            }
            _ => stream.write_all(body),
        }
    }
}

/// Copies bytes in both directions between a connection and a port of this machine, until one side ends.
pub fn relay(stream: TcpStream, port: u16) -> std::io::Result<()> {
    let other = TcpStream::connect(("127.0.0.1", port))?;
    let (mut from, mut to) = (stream.try_clone()?, other.try_clone()?);
    thread::spawn(move || {
        std::io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Both))
    });
    std::io::copy(&mut &other, &mut &stream)?;
    stream.shutdown(Shutdown::Both)
}

/// Reads a request: its first line under the key "", and its headers with lower-case names.
fn headers(stream: &TcpStream) -> std::io::Result<HashMap<String, String>> {
    let mut lines = BufReader::new(Read::take(stream.try_clone()?, 1 << 16)).lines();
    let mut headers = HashMap::from([(String::new(), lines.next().unwrap_or(Ok(String::new()))?)]);
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    Ok(headers)
}

/// Returns status, headers and body of a response that supports ranges.
fn ranged<'f>(file: &'f [u8], headers: &HashMap<String, String>) -> (u16, String, &'f [u8]) {
    let sum: u64 =
        file.iter().enumerate().map(|(at, byte)| (at as u64 + 1) * u64::from(*byte)).sum();
    let tag = format!("\"{sum}\"");
    let begin = headers
        .get("range")
        .filter(|_| {
            headers.get("if-range").is_none_or(|version| *version == tag || version == DATE)
        })
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let all = file.len();
    match begin {
        None => (200, format!("ETag: {tag}\r\n"), file),
        Some(begin) if begin >= all => (416, format!("Content-Range: bytes */{all}\r\n"), &[]),
        Some(begin) => {
            let range = format!("Content-Range: bytes {begin}-{}/{all}\r\n", all - 1);
            (206, range, &file[begin..])
        }
    }
}
