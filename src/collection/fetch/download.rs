//! Downloads a file. Temporary failures are retried and continue where the last attempt ended. If a site does
//! not have the file, the next site is tried.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED};

use super::address::{begins_with, plain};
use super::answer::{Miss, content_range, is_page, refusal, text};
use super::client::{Answer, Client, Resume};
use super::error::FetchError;
use super::folder::Folder;
use super::part::{Origin, Part};

/// The number of consecutive attempts without any data after which an address fails.
const TRIES: u32 = 4;
/// The number of attempts with less than [`LITTLE`] bytes each after which an address fails.
const SMALL_TRIES: u32 = 64;
/// The size in bytes below which an attempt counts as small.
const LITTLE: u64 = 64 << 10;
/// The minimum mean speed in bytes per second, over all attempts, for a file of the largest permitted size.
const LEAST_MEAN: u64 = 64 << 10;
/// The total time that every download may take, even of a small file.
const LEAST_TIME: Duration = Duration::from_secs(3600);
/// The number of written bytes after which the free space is checked again.
const BETWEEN_CHECKS: u64 = 16 << 20;

/// A download into a partial file.
pub struct Download<'d> {
    pub web: &'d Client<'d>,
    pub part: &'d Part,
    /// The folder whose free space is checked.
    pub folder: &'d Folder,
    /// The pause before the second attempt; it doubles before each further attempt.
    pub pause: Duration,
    /// The largest permitted size of the file in bytes.
    pub most: u64,
    /// Called with the number of downloaded bytes, and the total number if it is known.
    pub watch: &'d dyn Fn(u64, Option<u64>),
    /// Called with a message for the user before a pause that a server asks for.
    pub note: &'d dyn Fn(String),
}

/// The time limit of a download over all its attempts.
struct Deadline {
    begun: Instant,
    most: Duration,
}

impl Deadline {
    /// Creates the time limit of a download of at most `bytes` bytes, which begins now.
    fn of(bytes: u64) -> Self {
        let most = Duration::from_secs(bytes / LEAST_MEAN).max(LEAST_TIME);
        Self { begun: Instant::now(), most }
    }

    fn check(&self) -> Result<(), FetchError> {
        match self.begun.elapsed() <= self.most {
            true => Ok(()),
            false => Err(FetchError::Late(self.most.as_secs_f64())),
        }
    }
}

impl Download<'_> {
    /// Completes the partial file from the first address that has it, and returns the [way](super::address::way) to it.
    /// If all fail, a partial file that cannot be resumed is removed.
    ///
    /// # Errors
    /// Returns an error with every address and its response.
    pub fn run(&self, addresses: impl IntoIterator<Item = String>) -> Result<String, FetchError> {
        if self.part.bytes() > self.most {
            self.part.discard()?;
        }
        if let Some(origin) = self.part.origin().filter(|o| o.total == Some(self.part.bytes())) {
            return Ok(origin.address);
        }
        let downloaded = self.first_of(addresses);
        if downloaded.is_err() && self.part.origin().is_none_or(|origin| origin.validator.is_none())
        {
            self.part.discard()?;
        }
        downloaded
    }

    fn first_of(&self, addresses: impl IntoIterator<Item = String>) -> Result<String, FetchError> {
        let deadline = Deadline::of(self.most);
        let mut answers = Vec::new();
        for address in addresses {
            let message = match self.one(&address, &deadline) {
                Ok(way) => return Ok(way),
                Err(Miss::Here(error)) => return Err(error),
                Err(Miss::Passing(message, _)) => format!("{message} ({TRIES} attempts)"),
                Err(Miss::Refused(message)) => message,
            };
            answers.push(format!("{}: {message}", plain(&address)));
        }
        let answers = answers.join("; ");
        Err(FetchError::Failed(format!(
            "{answers}; --mirror URL names another copy of the collection"
        )))
    }

    /// Downloads from one address, with repeated attempts as long as they may succeed. Returns the way to the file.
    fn one(&self, address: &str, deadline: &Deadline) -> Result<String, Miss> {
        if let Some(reason) = self.web.refusal(address) {
            return Err(Miss::Refused(reason.to_owned()));
        }
        let (mut tries, mut small_tries, mut furthest) = (0, 0, self.part.bytes());
        loop {
            let (message, asked) = match self.once(address, deadline) {
                Err(Miss::Passing(message, asked)) => (message, asked),
                other => return other,
            };
            let gained = self.part.bytes().saturating_sub(furthest);
            if gained > 0 {
                (tries, furthest) = (0, self.part.bytes());
            }
            tries += 1;
            small_tries += u32::from(gained < LITTLE);
            if tries == TRIES {
                return Err(Miss::Passing(message, asked));
            }
            if small_tries == SMALL_TRIES {
                return Err(Miss::Refused(format!(
                    "{SMALL_TRIES} attempts delivered less than {LITTLE} bytes each; the last: {message}"
                )));
            }
            let mut pause = self.pause.saturating_mul(1 << (tries - 1));
            if let Some(asked) = asked.filter(|&asked| asked >= pause) {
                let (address, seconds) = (plain(address), asked.as_secs());
                (self.note)(format!(
                    "{address}: {message}; waiting {seconds} s, as the server asks"
                ));
                pause = asked;
            }
            self.web.pause(pause)?;
            deadline.check()?;
        }
    }

    /// Requests the file, or the rest of it if it was begun from the same address.
    fn once(&self, address: &str, deadline: &Deadline) -> Result<String, Miss> {
        let origin = self.part.origin().filter(|origin| begins_with(&origin.address, address));
        let bytes = self.part.bytes();
        let validator = origin.as_ref().and_then(|origin| origin.validator.clone());
        let resume = validator.map(|validator| Resume { bytes, validator });
        let mut answer = self.web.get(address, resume.as_ref())?;
        match (answer.response.status().as_u16(), origin.filter(|_| resume.is_some())) {
            (200, _) => self.begin(answer, deadline),
            (206, Some(origin)) => {
                let total = self.continued(&answer, bytes, &origin)?;
                self.check_size(total.unwrap_or(bytes))?;
                self.check_room(bytes, total)?;
                let (first, file) = (answer.piece()?, self.part.append()?);
                self.copy(answer, first, file, bytes, total, deadline)
            }
            (416, Some(_)) => {
                self.part.discard()?;
                Err(Miss::Passing(format!("the server has no data after byte {bytes}"), None))
            }
            _ => {
                Err(refusal(answer.response.status(), answer.response.headers(), Timestamp::now()))
            }
        }
    }

    /// Stores the whole file. Before its first bytes are known to be no web page, a partial file is not removed.
    fn begin(&self, mut answer: Answer, deadline: &Deadline) -> Result<String, Miss> {
        let origin = self.origin(&answer);
        self.check_size(origin.total.unwrap_or(0))?;
        self.check_room(0, origin.total)?;
        let first = answer.piece()?;
        if is_page(answer.response.headers(), first.as_deref().unwrap_or_default()) {
            let address = plain(answer.response.url().as_str());
            return Err(Miss::Refused(format!(
                "a web page came instead of the file, such as a login page: open {address} in a browser"
            )));
        }
        let file = self.part.begin(&origin)?;
        self.copy(answer, first, file, 0, origin.total, deadline)
    }

    fn origin(&self, answer: &Answer) -> Origin {
        let headers = answer.response.headers();
        // A weak ETag does not guarantee that the bytes are identical.
        let tag = text(headers, &ETAG).filter(|tag| !tag.starts_with("W/"));
        let validator = tag.or_else(|| text(headers, &LAST_MODIFIED)).map(str::to_owned);
        let total = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok());
        Origin { address: answer.way.clone(), validator, total }
    }

    /// Returns the total size from a response that continues at `bytes`. If the response does not continue
    /// there, or came another way, removes the partial file, so that the next attempt starts from the beginning.
    fn continued(&self, answer: &Answer, bytes: u64, origin: &Origin) -> Result<Option<u64>, Miss> {
        let range = text(answer.response.headers(), &CONTENT_RANGE).unwrap_or("");
        if let Some((begin, total)) = content_range(range)
            && begin == bytes
            && answer.way == origin.address
            && (total.is_none() || origin.total.is_none() || total == origin.total)
        {
            return Ok(total.or(origin.total));
        }
        self.part.discard()?;
        let way = &answer.way;
        Err(Miss::Passing(
            format!("Content-Range '{range}' of {way} does not continue at byte {bytes}"),
            None,
        ))
    }

    /// Refuses a file of this size if it is too large, and then removes the partial file.
    fn check_size(&self, bytes: u64) -> Result<(), Miss> {
        if bytes <= self.most {
            return Ok(());
        }
        self.part.discard()?;
        Err(Miss::Refused(format!(
            "the file has {bytes} bytes or more, but at most {} are allowed (--max-archive)",
            self.most
        )))
    }

    /// Checks whether the disk has room for the rest of the file after the first `bytes`.
    fn check_room(&self, bytes: u64, total: Option<u64>) -> Result<(), Miss> {
        let left = total.map_or(0, |total| total.saturating_sub(bytes));
        let room = self.folder.has_room(left, self.part.path());
        room.map_err(|error| self.full(total, error))
    }

    /// Creates the failure for a full disk. If the total size is unknown, removes the partial file, because
    /// later runs need the space.
    fn full(&self, total: Option<u64>, error: FetchError) -> Miss {
        let discarded = if total.is_none() { self.part.discard() } else { Ok(()) };
        Miss::Here(discarded.err().unwrap_or(error))
    }

    /// Writes the body of the response after the first `bytes`, beginning with `piece`. Returns the way to the file.
    fn copy(
        &self,
        mut answer: Answer,
        mut piece: Option<Vec<u8>>,
        mut file: File,
        mut bytes: u64,
        total: Option<u64>,
        deadline: &Deadline,
    ) -> Result<String, Miss> {
        let (path, mut checked) = (self.part.path(), bytes);
        while let Some(data) = piece {
            self.check_size(bytes + data.len() as u64)?;
            let written = file.write_all(&data);
            written.map_err(|error| self.full(total, FetchError::file("write", path)(error)))?;
            bytes += data.len() as u64;
            (self.watch)(bytes, total);
            deadline.check()?;
            if bytes - checked > BETWEEN_CHECKS {
                self.check_room(bytes, total)?;
                checked = bytes;
            }
            piece = answer.piece()?;
        }
        match total.filter(|&total| total != bytes) {
            Some(total) => {
                Err(Miss::Passing(format!("it ended after {bytes} of {total} bytes"), None))
            }
            None => Ok(answer.way),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn the_time_limit_grows_with_the_size() {
        for (bytes, seconds) in [(1, 3600), (3599 * LEAST_MEAN, 3600), (4000 * LEAST_MEAN, 4000)] {
            assert_eq!(Deadline::of(bytes).most, Duration::from_secs(seconds));
        }
        Deadline::of(u64::MAX).check().unwrap();
    }

    /// The server sends a byte each millisecond, without an end.
    #[test]
    fn a_download_ends_at_its_time_limit() {
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
        let web = Client::new(Duration::from_secs(60), &interrupted).unwrap();
        let (folder, part) = (Folder::new(dir.path()), Part::at(dir.path().join("x")));
        let download = Download {
            web: &web,
            part: &part,
            folder: &folder,
            pause: Duration::ZERO,
            most: u64::MAX,
            watch: &|_, _| {},
            note: &|_| {},
        };
        let deadline = Deadline { begun: Instant::now(), most: Duration::from_millis(100) };
        let Err(Miss::Here(error)) = download.one(&address, &deadline) else { panic!("no error") };
        assert!(error.to_string().starts_with("the download took longer than 0.1 s"), "{error}");
    }
}
