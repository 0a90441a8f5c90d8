//! Downloads a file. Temporary failures are retried and continue where the last attempt ended. If a site does
//! not have the file, the next site is tried.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

use reqwest::Response;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap};

use super::address::{begins_with, plain, way};
use super::answer::{content_range, is_page, refusal, text, validator};
use super::client::Client;
use super::error::{FetchError, OrCannot};
use super::event::Event;
use super::folder::{Folder, Origin, Part};

/// The number of consecutive attempts without any data after which an address fails.
const TRIES: u32 = 4;
/// The number of attempts with less than [`SMALL_TRY_BYTES`] bytes each after which an address fails.
const SMALL_TRIES: u32 = 64;
const SMALL_TRY_BYTES: u64 = 64 << 10;
/// The minimum mean speed in bytes per second, over all attempts, for a file of the largest permitted size.
const LEAST_MEAN: u64 = 64 << 10;
/// The total time that every download may take, even of a small file.
const LEAST_TIME: Duration = Duration::from_secs(3600);
/// The number of written bytes after which the free space is checked again.
const BETWEEN_CHECKS: u64 = 16 << 20;

/// What is behind every message about failed addresses.
pub const HINT: &str = "--mirror URL names another copy of the collection";

pub struct Download<'d> {
    pub web: &'d Client<'d>,
    pub folder: &'d Folder,
    pub part: &'d Part,
    /// The largest permitted size of the file in bytes.
    pub most: u64,
    /// The option that sets it, in brackets; empty if there is none.
    pub option: &'d str,
    /// The pause before the second attempt.
    pub pause: Duration,
    /// When the first attempt began.
    pub begun: Instant,
    pub report: &'d dyn Fn(Event),
}

impl Download<'_> {
    /// Completes the partial file from the first address that has it, and returns the [way](super::address::way) to it.
    /// If all fail, a partial file that cannot be resumed is removed, and the error has every address with its answer.
    pub fn run(&self, addresses: impl Iterator<Item = String>) -> Result<String, FetchError> {
        if let Some(origin) = self.part.origin().filter(|o| o.total == Some(self.part.bytes())) {
            return Ok(origin.address);
        }
        let downloaded = self.first_of(addresses);
        let is_resumable = |origin: Origin| origin.validator.is_some();
        if downloaded.is_err() && !self.part.origin().is_some_and(is_resumable) {
            self.part.discard()?;
        }
        downloaded
    }

    fn first_of(&self, addresses: impl Iterator<Item = String>) -> Result<String, FetchError> {
        let (mut answers, mut is_reached) = (Vec::<(String, String)>::new(), false);
        for address in addresses {
            let message = match self.one(&address) {
                Err(FetchError::Unreachable(message)) => message,
                Err(FetchError::Refused(message)) => {
                    is_reached = true;
                    message
                }
                ended => return ended,
            };
            match answers.last_mut().filter(|(_, last)| *last == message) {
                Some((places, _)) => *places += &format!(", {}", plain(&address)),
                None => answers.push((plain(&address), message)),
            }
        }
        let answers: Vec<_> = answers.iter().map(|(places, why)| format!("{places}: {why}")).collect();
        let message = format!("{}; {HINT}", answers.join("; "));
        Err(if is_reached { FetchError::Failed(message) } else { FetchError::Unreachable(message) })
    }

    /// Downloads from one address, with repeated attempts as long as they may succeed. Returns the way to the file.
    fn one(&self, address: &str) -> Result<String, FetchError> {
        let (mut tries, mut small_tries, mut furthest) = (0, 0, self.part.bytes());
        loop {
            let (message, asked, of_site) = match self.once(address) {
                Err(FetchError::Passing { message, asked, of_site }) => (message, asked, of_site),
                ended => return ended,
            };
            let gained = self.part.bytes().saturating_sub(furthest);
            if gained > 0 {
                (tries, furthest) = (0, self.part.bytes());
            }
            tries += 1;
            small_tries += u32::from(gained < SMALL_TRY_BYTES);
            if tries == TRIES {
                let message = format!("{message} ({TRIES} attempts)");
                return Err(if of_site { FetchError::Unreachable(message) } else { FetchError::Refused(message) });
            }
            if small_tries == SMALL_TRIES {
                return Err(FetchError::Refused(format!(
                    "{SMALL_TRIES} attempts delivered less than {SMALL_TRY_BYTES} bytes each; the last: {message}"
                )));
            }
            let mut pause = self.pause.saturating_mul(1 << (tries - 1));
            if let Some(asked) = asked.filter(|&asked| asked >= pause) {
                let (address, seconds) = (plain(address), asked.as_secs());
                let text = format!("{address}: {message}; waiting {seconds} s, as the server asks");
                (self.report)(Event::Note(text));
                pause = asked;
            }
            self.web.pause(pause)?;
            self.check_time()?;
        }
    }

    /// Requests the file, or the rest of it if it was begun from the same address.
    fn once(&self, address: &str) -> Result<String, FetchError> {
        let had = self.part.bytes();
        let is_ours = |o: &Origin| o.validator.is_some() && begins_with(&o.address, address);
        let origin = self.part.origin().filter(is_ours);
        let resume = origin.as_ref().and_then(|o| Some((had, o.validator.as_deref()?)));
        let mut response = self.web.get(address, resume)?;
        let way = way(address, response.url().as_str());
        let headers = response.headers();
        let (begin, total) = match (response.status().as_u16(), &origin) {
            (200, _) => (0, text(headers, &CONTENT_LENGTH).and_then(|text| text.parse().ok())),
            (206, Some(origin)) => (had, self.continued(headers, &way, had, origin)?),
            (416, Some(_)) => {
                self.part.discard()?;
                return Err(passing(format!("the server has no data after byte {had}")));
            }
            _ => return Err(refusal(response.status(), headers, SystemTime::now())),
        };
        self.check_size(total.unwrap_or(begin))?;
        self.check_room(begin, total)?;
        // Before the first bytes are known to be no web page, a partial file is not replaced.
        let piece = self.web.piece(&mut response)?;
        let headers = response.headers();
        let kind = text(headers, &CONTENT_TYPE).unwrap_or_default();
        if begin == 0 && is_page(kind, piece.as_deref().unwrap_or_default()) {
            let address = plain(response.url().as_str());
            return Err(FetchError::Unreachable(format!(
                "a web page came instead of the file, such as a login page: open {address} in a browser"
            )));
        }
        let origin = || Origin { address: way.clone(), validator: validator(headers), total };
        let file = if begin == 0 { self.part.begin(&origin())? } else { self.part.append()? };
        self.copy(response, piece, file, begin, total).map(|()| way)
    }

    /// Appends the body of a response, which begins with `piece`, to the file, which has so many bytes.
    fn copy(
        &self,
        mut response: Response,
        mut piece: Option<Vec<u8>>,
        mut file: File,
        mut bytes: u64,
        total: Option<u64>,
    ) -> Result<(), FetchError> {
        let mut checked = bytes;
        while let Some(data) = piece {
            bytes += data.len() as u64;
            self.check_size(bytes)?;
            let written = file.write_all(&data).or_cannot("write", &self.part.path);
            written.map_err(|error| self.full(total, error))?;
            (self.report)(Event::Bytes(bytes, total));
            self.check_time()?;
            if bytes - checked > BETWEEN_CHECKS {
                self.check_room(bytes, total)?;
                checked = bytes;
            }
            piece = self.web.piece(&mut response)?;
        }
        match total.filter(|&total| total != bytes) {
            Some(total) => Err(passing(format!("it ended after {bytes} of {total} bytes"))),
            None => Ok(()),
        }
    }

    /// Returns the total size from a response that continues at the byte `had`. If the response does not continue
    /// there, or came another way, removes the partial file, so that the next attempt starts from the beginning.
    fn continued(&self, headers: &HeaderMap, way: &str, had: u64, origin: &Origin) -> Result<Option<u64>, FetchError> {
        let range = text(headers, &CONTENT_RANGE).unwrap_or("");
        if let Some((begin, total)) = content_range(range)
            && (begin, way) == (had, &origin.address)
            && (total.is_none() || origin.total.is_none() || total == origin.total)
        {
            return Ok(total.or(origin.total));
        }
        self.part.discard()?;
        Err(passing(format!("Content-Range '{range}' of {way} does not continue at byte {had}")))
    }

    fn check_time(&self) -> Result<(), FetchError> {
        let longest = longest(self.most);
        if self.begun.elapsed() <= longest {
            return Ok(());
        }
        let seconds = longest.as_secs();
        Err(FetchError::Failed(format!(
            "the download took longer than {seconds} s, the maximum for its expected size"
        )))
    }

    /// Refuses a file of this size if it is too large, and then removes the partial file.
    fn check_size(&self, bytes: u64) -> Result<(), FetchError> {
        if bytes <= self.most {
            return Ok(());
        }
        self.part.discard()?;
        Err(FetchError::Refused(format!(
            "the file has {bytes} bytes or more, but at most {} are allowed{}",
            self.most, self.option
        )))
    }

    /// Checks whether the disk has room for the rest of the file after the first `bytes`.
    fn check_room(&self, bytes: u64, total: Option<u64>) -> Result<(), FetchError> {
        let left = total.map_or(0, |total| total.saturating_sub(bytes));
        let room = self.folder.check_room(left, &self.part.path);
        room.map_err(|error| self.full(total, error))
    }

    /// Removes the partial file for a full disk if the total size is unknown, because later runs need the space.
    fn full(&self, total: Option<u64>, error: FetchError) -> FetchError {
        let discarded = if total.is_none() { self.part.discard() } else { Ok(()) };
        discarded.err().unwrap_or(error)
    }
}

/// Returns the longest permitted time over all attempts to download at most `bytes` bytes.
fn longest(bytes: u64) -> Duration {
    Duration::from_secs(bytes / LEAST_MEAN).max(LEAST_TIME)
}

fn passing(message: String) -> FetchError {
    FetchError::Passing { message, asked: None, of_site: false }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    /// The server sends a byte each millisecond, without an end.
    #[test]
    fn a_download_ends_at_its_time_limit() {
        for (bytes, seconds) in [(1, 3600), (3599 * LEAST_MEAN, 3600), (4000 * LEAST_MEAN, 4000)] {
            assert_eq!(longest(bytes), Duration::from_secs(seconds));
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/x", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            while stream.write_all(b"1").is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        let (dir, interrupted) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let download = Download {
            web: &Client::new(Duration::from_secs(60), &interrupted).unwrap(),
            folder: &Folder::new(dir.path()),
            part: &Part { path: dir.path().join("x") },
            most: 1 << 10,
            option: "",
            pause: Duration::ZERO,
            begun: Instant::now() - LEAST_TIME,
            report: &|_| {},
        };
        let error = download.one(&address).unwrap_err().to_string();
        assert!(error.starts_with("the download took longer than 3600 s"), "{error}");
    }
}
