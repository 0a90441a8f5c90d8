//! HTTP requests that can be interrupted immediately and that end if a connection is silent for too long.

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

/// The interval at which the interrupt flag is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The size of the read buffer in bytes.
const PIECE: usize = 1 << 16;
/// The largest number of consecutive redirects.
const MOST_REDIRECTS: usize = 10;
/// The number of pieces that are read in advance.
const AHEAD: usize = 16;

/// An HTTP client.
pub struct Web<'w> {
    client: Client,
    /// The reason why https cannot be used, if it cannot.
    no_https: Option<String>,
    timeout: Duration,
    interrupted: &'w AtomicBool,
}

/// The status and headers of a response, and the stream of its body.
pub struct Answer<'w> {
    /// The HTTP status code.
    pub status: u16,
    /// The HTTP headers.
    pub headers: HeaderMap,
    arrivals: Arrivals<'w>,
}

/// A message from the thread that reads the connection.
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
    /// Creates a client with the proxies of the environment variables. A connection fails if it is not
    /// established, or if no data arrives, within `timeout`. `interrupted` ends all requests and pauses.
    ///
    /// # Errors
    /// Returns an error if the client cannot be created, for example because a proxy is not valid.
    pub fn new(timeout: Duration, interrupted: &'w AtomicBool) -> Result<Self, FetchError> {
        // This fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = Client::builder().connect_timeout(timeout);
            let builder = builder.redirect(Policy::custom(redirect));
            // The timeout applies to the headers and then to each read of the body.
            builder.timeout(timeout).user_agent(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")))
        };
        let (client, no_https) = match builder().build() {
            Ok(client) => (Ok(client), None),
            // A system without certificates can still use http.
            Err(error) => (builder().tls_certs_only([]).build(), Some(chain(&error))),
        };
        let client = client.map_err(|error| {
            FetchError::Failed(format!("cannot create an HTTP client: {}", chain(&error)))
        })?;
        Ok(Self { client, no_https, timeout, interrupted })
    }

    /// Returns how long a connection may be silent.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the reason why an address cannot be used, if there is one.
    pub fn refusal(&self, address: &str) -> Option<&str> {
        self.no_https.as_deref().filter(|_| address.starts_with("https:"))
    }

    /// Returns whether the run is interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Requests an address. With `resume`, requests only the data after this number of bytes, provided that the
    /// file is still the version that the validator identifies. Redirects are followed, but not from https to
    /// http. The waiting time is added to `waited`.
    ///
    /// # Errors
    /// Returns an error if there is no response.
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
        // The thread ends when the receiver is dropped or its read ends. An interrupt does not wait for it.
        thread::spawn(move || read(request, timeout, &sender));
        let (interrupted, waited) = (self.interrupted, waited.clone());
        let arrivals = Arrivals { receiver, interrupted, waited };
        match arrivals.next()? {
            Arrival::Head(status, headers) => Ok(Answer { status, headers, arrivals }),
            Arrival::Failed(message) => Err(FetchError::Failed(message)),
            Arrival::Piece(_) | Arrival::End => unreachable!("the head is sent first"),
        }
    }

    /// Sleeps for this time.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub fn pause(&self, time: Duration) -> Result<(), FetchError> {
        let begun = Instant::now();
        while !self.is_interrupted() {
            match time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
                Some(left) => thread::sleep(left.min(CHECK_INTERVAL)),
                None => return Ok(()),
            }
        }
        Err(FetchError::Interrupted)
    }
}

impl Answer<'_> {
    /// Returns the next bytes of the body, or `None` at its end.
    ///
    /// # Errors
    /// Returns an error if the connection ends before the body does, or if no data arrives.
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
            let arrival = self.receiver.recv_timeout(CHECK_INTERVAL);
            // Any additional time is time for which the process was suspended.
            let waited = begun.elapsed().min(2 * CHECK_INTERVAL);
            self.waited.set(self.waited.get() + waited);
            match arrival {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FetchError::Failed(
                        "the thread that reads the connection ended unexpectedly".into(),
                    ));
                }
            }
        }
        Err(FetchError::Interrupted)
    }
}

/// Follows a redirect, unless it leads from https to http or there were too many redirects.
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

/// Reads a response to its end, or until the receiver is dropped.
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
    // Errors from reading the body are wrapped in an `io::Error`.
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    let cause = match inner {
        Some(inner) => inner.downcast_ref::<reqwest::Error>(),
        None => error.downcast_ref(),
    };
    match cause.is_some_and(reqwest::Error::is_timeout) {
        true => format!("no data received for {} s", timeout.as_secs_f64()),
        false => chain(error),
    }
}

/// Returns an error with its causes as a text.
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
