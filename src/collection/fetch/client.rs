//! HTTP requests through the proxies of the environment and with the certificates of the system, which an interrupt
//! ends at once.

use std::env;
use std::error::Error;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{IF_RANGE, RANGE};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, Response, Url};
use tokio::runtime::{Builder, Runtime};
use tokio::time;

use super::address::{may_follow, plain};
use super::error::FetchError;

const CHECK_INTERVAL: Duration = Duration::from_millis(50);
const MOST_REDIRECTS: usize = 10;
/// The time within which a connection must be established. A network that drops packets gives no other sign.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const PROXIES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// The beginning of the library's message on a certificate that is not accepted, and what users can do.
const WRONG_CERTIFICATE: &str = "invalid peer certificate";
const CURE: &str = "check the address and the date of this machine; a file in SSL_CERT_FILE has the certificates of \
                    the authorities that are trusted";

pub struct Client<'c> {
    http: reqwest::Client,
    /// It is never dropped, because that would wait for a host name that is still being resolved.
    runtime: ManuallyDrop<Runtime>,
    /// The reason why https cannot be used, if it cannot.
    no_https: Option<String>,
    /// The time for which a connection may be silent.
    timeout: Duration,
    pub interrupted: &'c AtomicBool,
}

impl<'c> Client<'c> {
    /// Creates a client with the proxies of the environment variables. A connection fails if no data arrives within
    /// `timeout`, or if it is not established within that and ten seconds. `interrupted` ends all requests and pauses.
    pub fn new(timeout: Duration, interrupted: &'c AtomicBool) -> Result<Self, FetchError> {
        check_proxies(|name| env::var(name).ok())?;
        // This fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let failed = |error: &dyn Error| FetchError::Failed(cause(error));
        let (http, no_https) = match builder(timeout).build() {
            Ok(http) => (http, None),
            // A system without certificates can still use http.
            Err(error) => {
                let http = builder(timeout).tls_certs_only([]).build();
                let reason = format!(
                    "the system has no CA certificates: install the package ca-certificates, or name a file of them in \
                     SSL_CERT_FILE ({})",
                    cause(&error)
                );
                (http.map_err(|error| failed(&error))?, Some(reason))
            }
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = ManuallyDrop::new(runtime.map_err(|error| failed(&error))?);
        Ok(Self { http, runtime, no_https, timeout, interrupted })
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Requests an address. With `resume`, requests only the data after this number of bytes, provided that the
    /// file is still the version that the validator identifies. Redirects are followed if [`may_follow`] permits them.
    pub(super) fn get(&self, address: &str, resume: Option<(u64, &str)>) -> Result<Response, FetchError> {
        if let Some(reason) = self.no_https.as_ref().filter(|_| address.starts_with("https:")) {
            return Err(FetchError::Refused(reason.clone()));
        }
        let mut request = self.http.get(address);
        if let Some((bytes, validator)) = resume {
            request = request.header(RANGE, format!("bytes={bytes}-")).header(IF_RANGE, validator);
        }
        self.wait(async { request.send().await })?.map_err(|error| self.failure(&error))
    }

    /// Returns the next bytes of the body, or `None` at its end.
    pub(super) fn piece(&self, response: &mut Response) -> Result<Option<Vec<u8>>, FetchError> {
        let piece = self.wait(response.chunk())?.map_err(|error| self.failure(&error))?;
        Ok(piece.map(Vec::from))
    }

    pub fn pause(&self, time: Duration) -> Result<(), FetchError> {
        self.wait(async { time::sleep(time).await })
    }

    /// Waits until `work`, which may use timers from its first poll on, is done, but not after an interrupt.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, FetchError> {
        self.runtime.block_on(async {
            let mut work = pin!(work);
            while !self.is_interrupted() {
                if let Ok(done) = time::timeout(CHECK_INTERVAL, &mut work).await {
                    return Ok(done);
                }
            }
            Err(FetchError::Interrupted)
        })
    }

    /// Converts an error of the library. What prevents a connection, such as an unknown host, a closed port or a wrong
    /// certificate, lasts; what ends a connection is temporary.
    fn failure(&self, error: &reqwest::Error) -> FetchError {
        let message = match error {
            _ if error.is_redirect() => return FetchError::Refused(cause(error)),
            _ if error.is_timeout() && error.is_connect() => {
                format!("no connection within {} s", self.timeout.min(CONNECT_TIME).as_secs_f64())
            }
            _ if error.is_timeout() => {
                format!("no data received for {} s", self.timeout.as_secs_f64())
            }
            _ => cause(error),
        };
        let message = if message.starts_with(WRONG_CERTIFICATE) { format!("{message} ({CURE})") } else { message };
        if error.is_connect() {
            FetchError::Unreachable(message)
        } else {
            FetchError::Passing { message, asked: None, of_site: true }
        }
    }
}

fn builder(timeout: Duration) -> ClientBuilder {
    let connect = timeout.min(CONNECT_TIME);
    let builder = reqwest::Client::builder().connect_timeout(connect).read_timeout(timeout);
    let builder = builder.user_agent(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")));
    // A request on a connection that the server is closing would fail.
    builder.pool_max_idle_per_host(0).referer(false).redirect(Policy::custom(redirected))
}

fn redirected(attempt: Attempt) -> Action {
    let previous = attempt.previous();
    if previous.len() > MOST_REDIRECTS {
        return attempt.error(format!("more than {MOST_REDIRECTS} redirects"));
    }
    if may_follow(previous, attempt.url()) {
        return attempt.follow();
    }
    let (from, to) = (&previous[previous.len() - 1], attempt.url());
    let message = format!(
        "the redirect from {} to {} is refused, because others could change the file on its way; if you trust that \
         address, name its site with --mirror",
        plain(from.as_str()),
        plain(to.as_str())
    );
    attempt.error(message)
}

/// Returns the message of the innermost error, which is that of the system or of the server.
fn cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Checks the environment variables that name proxies, because the library ignores a wrong one and would connect
/// without a proxy. `variable` returns the value of a variable.
fn check_proxies(variable: impl Fn(&str) -> Option<String>) -> Result<(), FetchError> {
    for upper in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        for name in [upper.to_owned(), upper.to_lowercase()] {
            let Some(value) = variable(&name).filter(|value| !value.is_empty()) else { continue };
            let scheme = if value.contains("://") { "" } else { "http://" };
            let url = Url::parse(&format!("{scheme}{value}"));
            if !url.is_ok_and(|url| PROXIES.contains(&url.scheme()) && url.has_host()) {
                return Err(FetchError::Failed(format!(
                    "{name} is '{value}', which is not a proxy such as http://host:port"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_proxy_is_an_error() {
        for (name, value, is_right) in [
            ("ALL_PROXY", "socks5h://a:b@c:1", true),
            ("http_proxy", "c:3128", true),
            ("HTTP_PROXY", "", true),
            ("HTTP_PROXY", "http://", false),
            ("https_proxy", "x://y", false),
        ] {
            let variable = |asked: &str| (asked == name).then(|| value.to_owned());
            let expected = format!("{name} is '{value}', which is not a proxy such as http://host:port");
            let found = check_proxies(variable).err().map(|error| error.to_string());
            assert_eq!(found, Some(expected).filter(|_| !is_right));
        }
    }
}
