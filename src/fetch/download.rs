//! Downloads a file. Temporary failures are retried and continue where the last attempt ended. If a site does
//! not have the file, the next site is tried.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use ureq::http::StatusCode;
use ureq::http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, RETRY_AFTER,
};

use super::client::Resume;
use super::error::{FetchError, PaceError};
use super::folder::Folder;
use super::pace::Pace;
use super::part::{Origin, Part};
use super::web::{Answer, Web};

/// The number of consecutive attempts without any data after which an address fails.
const TRIES: u32 = 4;
/// The number of attempts with less than [`LITTLE`] bytes each after which an address fails.
const SMALL_TRIES: u32 = 64;
/// The size in bytes below which an attempt counts as small.
const LITTLE: u64 = 64 << 10;
/// The longest pause that a server may request, as a multiple of [`Download::pause`].
const LONGEST_PAUSE: u32 = 60;
/// The number of written bytes after which the free space is checked again.
const BETWEEN_CHECKS: u64 = 16 << 20;

/// A download into a partial file.
pub struct Download<'d> {
    pub web: &'d Web<'d>,
    pub part: &'d Part,
    /// The folder whose free space is checked.
    pub folder: &'d Folder,
    /// The pause before the second attempt; it doubles before each further attempt.
    pub pause: Duration,
    /// The largest permitted size of the file in bytes.
    pub most: u64,
    /// Called with the number of downloaded bytes, and the total number if it is known.
    pub watch: &'d dyn Fn(u64, Option<u64>),
}

/// The reason why an attempt failed.
enum Miss {
    /// Another attempt may succeed. The number is the pause that the server requests, if it does.
    Passing(String, Option<u32>),
    /// Further attempts with this address are useless.
    Refused(String),
    /// The failure is local, so that other addresses are useless too.
    Here(FetchError),
}

impl Download<'_> {
    /// Completes the partial file from the first address that has it, and returns that address. If all fail, a
    /// partial file that cannot be resumed is removed.
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
        let pace = Pace::new(self.web.client.timeout, self.most);
        let mut answers = Vec::new();
        for address in addresses {
            match self.one(&address, &pace) {
                Ok(()) => return Ok(address),
                Err(Miss::Here(error)) => return Err(error),
                Err(Miss::Passing(message, _)) => {
                    answers.push(format!("{address}: {message} ({TRIES} attempts)"));
                }
                Err(Miss::Refused(message)) => answers.push(format!("{address}: {message}")),
            }
        }
        Err(FetchError::Failed(answers.join("; ")))
    }

    /// Downloads from one address, with repeated attempts as long as they may succeed.
    fn one(&self, address: &str, pace: &Pace) -> Result<(), Miss> {
        if let Some(reason) = self.web.client.refusal(address) {
            return Err(Miss::Refused(reason.to_owned()));
        }
        let (mut tries, mut small_tries, mut furthest) = (0, 0, self.part.bytes());
        loop {
            let (message, asked) = match self.once(address, pace) {
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
                let few = format!("{SMALL_TRIES} attempts delivered less than {LITTLE} bytes each");
                return Err(Miss::Refused(format!("{few}; the last: {message}")));
            }
            let pause = self.pause.saturating_mul(pauses(tries, asked));
            pace.pause(pause);
            pace.check().map_err(late)?;
            self.web.pause(pause).map_err(Miss::Here)?;
        }
    }

    fn once(&self, address: &str, pace: &Pace) -> Result<(), Miss> {
        let origin = self.part.origin().filter(|origin| origin.validator.is_some());
        let bytes = self.part.bytes();
        let validator = origin.as_ref().and_then(|origin| origin.validator.clone());
        let resume = validator.map(|validator| Resume { bytes, validator });
        let answer = self.web.get(address, resume, &pace.waited).map_err(passing)?;
        match (answer.status, origin) {
            (200, _) => {
                let origin = self.origin(address, &answer.headers);
                self.check_size(origin.total.unwrap_or(0))?;
                self.check_room(0, origin.total)?;
                let file = self.part.begin(&origin).map_err(Miss::Here)?;
                self.copy(answer, file, 0, origin.total, pace)
            }
            (206, Some(origin)) => {
                let total = self.continued(&answer.headers, bytes, &origin)?;
                self.check_size(total.unwrap_or(bytes))?;
                self.check_room(bytes, total)?;
                let file = self.part.append().map_err(Miss::Here)?;
                self.copy(answer, file, bytes, total, pace)
            }
            (416, Some(_)) => {
                self.part.discard().map_err(Miss::Here)?;
                Err(Miss::Passing(format!("the server has no data after byte {bytes}"), None))
            }
            (status, _) => Err(refusal(status, &answer.headers)),
        }
    }

    fn origin(&self, address: &str, headers: &HeaderMap) -> Origin {
        // A weak ETag does not guarantee that the bytes are identical.
        let tag = text(headers, &ETAG).filter(|tag| !tag.starts_with("W/"));
        let validator = tag.or_else(|| text(headers, &LAST_MODIFIED)).map(str::to_owned);
        let total = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok());
        Origin { address: address.to_owned(), validator, total }
    }

    /// Returns the total size from a response that continues at `bytes`. If the response does not continue
    /// there, removes the partial file, so that the next attempt starts from the beginning.
    fn continued(
        &self,
        headers: &HeaderMap,
        bytes: u64,
        origin: &Origin,
    ) -> Result<Option<u64>, Miss> {
        let range = text(headers, &CONTENT_RANGE).unwrap_or("");
        if let Some((begin, total)) = content_range(range)
            && begin == bytes
            && (total.is_none() || origin.total.is_none() || total == origin.total)
        {
            return Ok(total.or(origin.total));
        }
        self.part.discard().map_err(Miss::Here)?;
        Err(Miss::Passing(
            format!("Content-Range '{range}' does not continue at byte {bytes}"),
            None,
        ))
    }

    /// Refuses a file of this size if it is too large, and then removes the partial file.
    fn check_size(&self, bytes: u64) -> Result<(), Miss> {
        if bytes <= self.most {
            return Ok(());
        }
        self.part.discard().map_err(Miss::Here)?;
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

    /// Writes the body of the response after the first `bytes`.
    fn copy(
        &self,
        mut answer: Answer,
        mut file: File,
        mut bytes: u64,
        total: Option<u64>,
        pace: &Pace,
    ) -> Result<(), Miss> {
        let path = self.part.path();
        let (mut checked, mut window) = (bytes, pace.window());
        while let Some(piece) = answer.piece().map_err(passing)? {
            self.check_size(bytes + piece.len() as u64)?;
            let written = file.write_all(&piece);
            written.map_err(|error| self.full(total, FetchError::file("write", path)(error)))?;
            bytes += piece.len() as u64;
            (self.watch)(bytes, total);
            let taken = pace.take(&mut window, piece.len());
            taken.map_err(|error| Miss::Refused(error.to_string()))?;
            pace.check().map_err(late)?;
            if bytes - checked > BETWEEN_CHECKS {
                self.check_room(bytes, total)?;
                checked = bytes;
            }
        }
        match total.filter(|&total| total != bytes) {
            Some(total) => {
                Err(Miss::Passing(format!("it ended after {bytes} of {total} bytes"), None))
            }
            None => Ok(()),
        }
    }
}

/// Returns the pause after this many attempts, as a multiple of [`Download::pause`]. `asked` is the pause that
/// the server requests.
fn pauses(tries: u32, asked: Option<u32>) -> u32 {
    asked.unwrap_or(0).min(LONGEST_PAUSE).max(1 << (tries - 1))
}

/// Converts a connection error into a temporary failure, except an interrupt.
fn passing(error: FetchError) -> Miss {
    match error {
        FetchError::Interrupted => Miss::Here(error),
        other => Miss::Passing(other.to_string(), None),
    }
}

/// Creates the failure for a download that exceeded its total time.
fn late(error: PaceError) -> Miss {
    Miss::Here(error.into())
}

fn refusal(status: u16, headers: &HeaderMap) -> Miss {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let message = format!("{status} {}", reason.unwrap_or("")).trim_end().to_owned();
    match status {
        408 | 429 | 500..=599 => {
            let asked = text(headers, &RETRY_AFTER).and_then(|pauses| pauses.parse().ok());
            Miss::Passing(message, asked)
        }
        _ => Miss::Refused(message),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Parses a Content-Range header: returns the first byte and the total size, which `bytes 5-9/*` does not have.
fn content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let begin = range.split_once('-')?.0.parse().ok()?;
    Some((begin, if total == "*" { None } else { Some(total.parse().ok()?) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_a_server_may_ask_for_more() {
        assert_eq!([1, 2, 3].map(|tries| pauses(tries, None)), [1, 2, 4]);
        assert_eq!([1, 2, 3].map(|tries| pauses(tries, Some(3))), [3, 3, 4]);
        assert_eq!(pauses(1, Some(u32::MAX)), LONGEST_PAUSE);
    }

    #[test]
    fn only_what_passes_is_worth_another_try() {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, "7".parse().unwrap())]);
        for status in [408, 429, 500, 503, 599] {
            let Miss::Passing(_, asked) = refusal(status, &headers) else { panic!("{status}") };
            assert_eq!(asked, Some(7), "{status}");
        }
        for status in [206, 304, 400, 401, 403, 404, 410, 416] {
            assert!(matches!(refusal(status, &headers), Miss::Refused(_)), "{status}");
        }
    }
}
