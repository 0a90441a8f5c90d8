//! What the answers of servers mean.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{ETAG, HeaderMap, HeaderName, LAST_MODIFIED, RETRY_AFTER};

use super::error::FetchError;

const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Returns what a response without a file means. `now` is the time of the response.
pub fn refusal(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> FetchError {
    let message = status.to_string();
    if !matches!(status.as_u16(), 403 | 408 | 429 | 500..=599) {
        return FetchError::Refused(message);
    }
    match text(headers, &RETRY_AFTER).and_then(|text| wait(text, now)) {
        Some(wait) if wait > LONGEST_WAIT => FetchError::Refused(format!(
            "{message}; the server asks to wait {} s, and fetch waits at most {} s: try again later",
            wait.as_secs(),
            LONGEST_WAIT.as_secs()
        )),
        asked => FetchError::Passing { message, asked, of_site: status.is_server_error() },
    }
}

/// Parses a Retry-After header: a number of seconds or a date.
fn wait(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    // A date that has passed asks for no pause.
    Some(date.duration_since(now).unwrap_or_default())
}

/// Returns whether a file that begins with these bytes is a web page, such as the login page of a network. Neither an
/// archive nor an index begins with `<`.
pub fn is_page(content_type: &str, begin: &[u8]) -> bool {
    // Blanks and a byte order mark may precede it.
    match begin.iter().find(|byte| !b" \t\r\n\xef\xbb\xbf".contains(byte)) {
        Some(b'<') => true,
        // Some servers give archives or the index this type.
        Some(0x1f | b'0'..=b'9') => false,
        _ => content_type.starts_with("text/html"),
    }
}

/// Returns the ETag or the date that identifies this version of the file.
pub fn validator(headers: &HeaderMap) -> Option<String> {
    // A weak ETag does not guarantee that the bytes are identical.
    let tag = text(headers, &ETAG).filter(|tag| !tag.starts_with("W/"));
    tag.or_else(|| text(headers, &LAST_MODIFIED)).map(str::to_owned)
}

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

    /// Each case is a status, the header Retry-After, and the pause or the reason why there is no other attempt.
    #[test]
    fn only_what_passes_is_worth_another_try() {
        let now = humantime::parse_rfc3339("2026-11-21T10:00:00Z").unwrap();
        let mut cases = vec![
            (503, "0", Ok(Some(0))),
            (503, " 600 ", Ok(Some(600))),
            (503, "Sat, 21 Nov 2026 10:01:30 GMT", Ok(Some(90))),
            (503, "Sat, 21 Nov 2026 09:00:00 GMT", Ok(Some(0))),
            (503, "soon", Ok(None)),
            (503, "-1", Ok(None)),
            (503, "601", Err("the server asks to wait 601 s, and fetch waits at most 600 s")),
            (503, "Sat, 21 Nov 2026 11:00:00 GMT", Err("the server asks to wait 3600 s, and")),
        ];
        cases.extend([403, 408, 429, 500, 503, 599].map(|status| (status, "7", Ok(Some(7)))));
        cases.extend([206, 301, 304, 400, 401, 404, 410, 416].map(|status| (status, "7", Err(""))));
        for (status, retry_after, expected) in cases {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, retry_after.parse().unwrap())]);
            match refusal(StatusCode::from_u16(status).unwrap(), &headers, now) {
                FetchError::Passing { asked, .. } => {
                    assert_eq!(Ok(asked.map(|asked| asked.as_secs())), expected, "{retry_after}");
                }
                other => assert!(other.to_string().contains(expected.unwrap_err()), "{other}"),
            }
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
            assert_eq!(is_page(kind, begin), page, "{kind} {begin:?}");
        }
    }
}
