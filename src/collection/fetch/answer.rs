//! What the answers of servers mean for a download.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};

use super::error::{FetchError, WebError};

/// The longest pause that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The reason why an attempt failed.
pub enum Miss {
    /// Another attempt may succeed, after the pause that the server asks for, if it does.
    Passing(String, Option<Duration>),
    /// Further attempts with this address are useless.
    Refused(String),
    /// The failure is local, so that other addresses are useless too.
    Here(FetchError),
}

impl From<FetchError> for Miss {
    /// An error of a connection is temporary.
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Web(WebError::Redirect(message)) => Self::Refused(message),
            FetchError::Web(error) => Self::Passing(error.to_string(), None),
            other => Self::Here(other),
        }
    }
}

/// Returns what a response without a file means. `now` is the time of the response.
pub fn refusal(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Miss {
    let message = status.to_string();
    if !matches!(status.as_u16(), 403 | 408 | 429 | 500..=599) {
        return Miss::Refused(message);
    }
    match text(headers, &RETRY_AFTER).and_then(|text| wait(text, now)) {
        Some(wait) if wait > LONGEST_WAIT => Miss::Refused(format!(
            "{message}; the server asks to wait {} s, and fetch waits at most {} s: try again later",
            wait.as_secs(),
            LONGEST_WAIT.as_secs()
        )),
        wait => Miss::Passing(message, wait),
    }
}

/// Parses a Retry-After header: a number of seconds or a date.
fn wait(text: &str, now: Timestamp) -> Option<Duration> {
    let until = |date: jiff::Zoned| Duration::try_from(date.timestamp().duration_since(now));
    match text.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        // A date that has passed asks for no pause.
        Err(_) => rfc2822::parse(text.trim()).ok().map(|date| until(date).unwrap_or_default()),
    }
}

/// Returns whether a file that begins with these bytes is a web page, such as the login page of a network. Neither an
/// archive nor an index begins with `<`.
pub fn is_page(headers: &HeaderMap, begin: &[u8]) -> bool {
    let is_html = text(headers, &CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html"));
    // Blanks and a byte order mark may precede it.
    let first = begin.iter().find(|byte| !b" \t\r\n\xef\xbb\xbf".contains(byte));
    match first {
        Some(b'<') => true,
        // Some servers give archives or the index this type.
        Some(first) => is_html && !matches!(first, 0x1f | b'0'..=b'9'),
        None => is_html,
    }
}

/// Returns the text of a header.
pub fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Parses a Content-Range header: returns the first byte and the total size, which `bytes 5-9/*` does not have.
pub fn content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let begin = range.split_once('-')?.0.parse().ok()?;
    Some((begin, if total == "*" { None } else { Some(total.parse().ok()?) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, retry_after: &str) -> Miss {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, retry_after.parse().unwrap())]);
        let now = "2026-11-21T10:00:00Z".parse().unwrap();
        refusal(StatusCode::from_u16(status).unwrap(), &headers, now)
    }

    #[test]
    fn only_what_passes_is_worth_another_try() {
        for status in [403, 408, 429, 500, 503, 599] {
            let Miss::Passing(_, asked) = of(status, "7") else { panic!("{status}") };
            assert_eq!(asked, Some(Duration::from_secs(7)), "{status}");
        }
        for status in [206, 301, 304, 400, 401, 404, 410, 416] {
            assert!(matches!(of(status, "7"), Miss::Refused(_)), "{status}");
        }
    }

    #[test]
    fn a_server_may_ask_for_ten_minutes() {
        for (text, seconds) in [
            ("0", Some(0)),
            (" 600 ", Some(600)),
            ("Sat, 21 Nov 2026 10:01:30 GMT", Some(90)),
            ("Sat, 21 Nov 2026 09:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            let Miss::Passing(_, asked) = of(503, text) else { panic!("{text}") };
            assert_eq!(asked, seconds.map(Duration::from_secs), "{text}");
        }
        for (text, seconds) in [("601", 601), ("Sat, 21 Nov 2026 11:00:00 GMT", 3600)] {
            let Miss::Refused(message) = of(503, text) else { panic!("{text}") };
            let expected = format!(
                "503 Service Unavailable; the server asks to wait {seconds} s, and fetch waits at most 600 s: try \
                 again later"
            );
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn a_page_is_not_a_file() {
        for (kind, begin, page) in [
            ("application/gzip", &b"\x1f\x8b\x08"[..], false),
            ("text/html", b"\x1f\x8b\x08", false),
            ("text/html; charset=utf-8", b"2893\n08-Oct-2020", false),
            ("text/html; charset=utf-8", b"Please log in", true),
            ("text/html", b"", true),
            ("application/gzip", b"", false),
            ("application/gzip", b"<!DOCTYPE html>", true),
            ("", b"\xef\xbb\xbf\r\n <html>", true),
            ("text/csv", b"\n <?xml version=\"1.0\"?><Error>", true),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
            assert_eq!(is_page(&headers, begin), page, "{kind} {begin:?}");
        }
    }
}
