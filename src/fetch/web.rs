//! Requests over HTTP that an interrupt ends at once and a silent connection after a while.

use std::error::Error;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Url;
use reqwest::blocking::{Client, RequestBuilder};
use reqwest::header::{HeaderMap, IF_RANGE, RANGE};
use reqwest::redirect::{Attempt, Policy};

use super::FetchError;
use super::pace::Waited;

/// How long an interrupt may go unnoticed.
const GLANCE: Duration = Duration::from_millis(50);
/// Bytes read at once.
const PIECE: usize = 1 << 16;
/// Redirects followed one after the other.
const MOST_REDIRECTS: usize = 10;
/// Pieces read ahead of the one at work.
const AHEAD: usize = 16;

/// The way to the web.
pub struct Web<'w> {
    client: Client,
    /// Why https cannot be used, if it cannot.
    no_https: Option<String>,
    timeout: Duration,
    interrupted: &'w AtomicBool,
}

/// The head of an answer, and the way to its body.
pub struct Answer<'w> {
    pub status: u16,
    pub headers: HeaderMap,
    arrivals: Arrivals<'w>,
}

/// What the thread that reads the connection passes on.
enum Arrival {
    Head(u16, HeaderMap),
    Piece(Vec<u8>),
    End,
    Failed(String),
}

struct Arrivals<'w> {
    receiver: Receiver<Arrival>,
    interrupted: &'w AtomicBool,
    waited: Waited,
}

impl<'w> Web<'w> {
    /// With proxies as the environment names them. A connection that is not made, or on which nothing
    /// comes, within `timeout` has failed; `interrupted` ends all requests and pauses.
    ///
    /// # Errors
    /// When the proxies cannot be used.
    pub fn new(timeout: Duration, interrupted: &'w AtomicBool) -> Result<Self, FetchError> {
        // A provider that is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = Client::builder().connect_timeout(timeout);
            let builder = builder.redirect(Policy::custom(redirect));
            // For the head of an answer, and then for each read of the body.
            builder.timeout(timeout).user_agent(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")))
        };
        let (client, no_https) = match builder().build() {
            Ok(client) => (Ok(client), None),
            // A system without certificates can use http all the same.
            Err(error) => (builder().tls_certs_only([]).build(), Some(chain(&error))),
        };
        let client = client
            .map_err(|error| FetchError::Failed(format!("no way to the web: {}", chain(&error))))?;
        Ok(Self { client, no_https, timeout, interrupted })
    }

    /// How long a connection may be silent.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Why an address need not be tried.
    pub fn refusal(&self, address: &str) -> Option<&str> {
        self.no_https.as_deref().filter(|_| address.starts_with("https:"))
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Asks for an address: all of it, or what follows the first so many bytes if it is still the
    /// version that the validator names. Redirects are followed, but not from https to http. `waited`
    /// grows by the time that the answer takes.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn get(
        &self,
        address: &str,
        resume: Option<(u64, &str)>,
        waited: &Waited,
    ) -> Result<Answer<'w>, FetchError> {
        let mut request = self.client.get(address);
        if let Some((bytes, validator)) = resume {
            request = request.header(RANGE, format!("bytes={bytes}-")).header(IF_RANGE, validator);
        }
        let (sender, receiver) = sync_channel(AHEAD);
        let timeout = self.timeout;
        // It ends with the receiver, or when its read does; that an interrupt does not wait for.
        thread::spawn(move || read(request, timeout, &sender));
        let (interrupted, waited) = (self.interrupted, waited.clone());
        let arrivals = Arrivals { receiver, interrupted, waited };
        match arrivals.next()? {
            Arrival::Head(status, headers) => Ok(Answer { status, headers, arrivals }),
            Arrival::Failed(message) => Err(FetchError::Failed(message)),
            Arrival::Piece(_) | Arrival::End => unreachable!("the head is sent first"),
        }
    }

    /// Lets time pass, up to an interrupt.
    ///
    /// # Errors
    /// When that comes.
    pub fn pause(&self, time: Duration) -> Result<(), FetchError> {
        let begun = Instant::now();
        while !self.is_interrupted() {
            match time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
                Some(left) => thread::sleep(left.min(GLANCE)),
                None => return Ok(()),
            }
        }
        Err(FetchError::Interrupted)
    }
}

impl Answer<'_> {
    /// The next bytes of the body; `None` at its end.
    ///
    /// # Errors
    /// When the connection ends before the body does, or nothing comes.
    pub fn piece(&mut self) -> Result<Option<Vec<u8>>, FetchError> {
        match self.arrivals.next()? {
            Arrival::Piece(bytes) => Ok(Some(bytes)),
            Arrival::Failed(message) => Err(FetchError::Failed(message)),
            Arrival::End => Ok(None),
            Arrival::Head(..) => unreachable!("a head is sent once"),
        }
    }
}

impl Arrivals<'_> {
    fn next(&self) -> Result<Arrival, FetchError> {
        while !self.interrupted.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let arrival = self.receiver.recv_timeout(GLANCE);
            // More is time for which the process was suspended.
            let waited = begun.elapsed().min(2 * GLANCE);
            self.waited.set(self.waited.get() + waited);
            match arrival {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FetchError::Failed("the connection's thread ended".into()));
                }
            }
        }
        Err(FetchError::Interrupted)
    }
}

/// Follows a redirect, unless what was asked for over https would come over http.
fn redirect(attempt: Attempt) -> reqwest::redirect::Action {
    let refusal = match attempt.previous().last() {
        Some(from) if is_downgrade(from, attempt.url()) => {
            format!("the redirect from https to {} is refused", attempt.url())
        }
        _ if attempt.previous().len() > MOST_REDIRECTS => {
            format!("more than {MOST_REDIRECTS} redirects")
        }
        _ => return attempt.follow(),
    };
    attempt.error(refusal)
}

fn is_downgrade(from: &Url, to: &Url) -> bool {
    from.scheme() == "https" && to.scheme() != "https"
}

/// Reads an answer to its end, or until nobody wants it.
fn read(request: RequestBuilder, timeout: Duration, sender: &SyncSender<Arrival>) {
    let mut answer = match request.send() {
        Ok(answer) => answer,
        Err(error) => {
            let _ = sender.send(Arrival::Failed(describe(&error.without_url(), timeout)));
            return;
        }
    };
    let mut arrival = Arrival::Head(answer.status().as_u16(), answer.headers().clone());
    let mut piece = vec![0; PIECE];
    while sender.send(arrival).is_ok() {
        arrival = match answer.read(&mut piece) {
            Ok(0) => {
                let _ = sender.send(Arrival::End);
                return;
            }
            Ok(bytes) => Arrival::Piece(piece[..bytes].to_vec()),
            Err(error) => {
                let _ = sender.send(Arrival::Failed(describe(&error, timeout)));
                return;
            }
        };
    }
}

fn describe(error: &(dyn Error + 'static), timeout: Duration) -> String {
    // What a body's reader reports is wrapped once more.
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    let cause = match inner {
        Some(inner) => inner.downcast_ref::<reqwest::Error>(),
        None => error.downcast_ref(),
    };
    match cause.is_some_and(reqwest::Error::is_timeout) {
        true => format!("nothing came for {} s", timeout.as_secs_f64()),
        false => chain(error),
    }
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_from_https_leads_to_https() {
        for (from, to, expected) in [
            ("https://a/x", "http://a/x", true),
            ("https://a/x", "ftp://a/x", true),
            ("https://a/x", "https://b/y", false),
            ("http://a/x", "https://a/x", false),
            ("http://a/x", "http://b/x", false),
        ] {
            let [from, to] = [from, to].map(|url| Url::parse(url).unwrap());
            assert_eq!(is_downgrade(&from, &to), expected, "{from} {to}");
        }
    }
}
