//! HTTP requests through the proxies of the environment and with the certificates of the system, which an interrupt
//! ends at once.

use std::env;
use std::error::Error;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{IF_RANGE, RANGE};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, Response, Url};
use tokio::runtime::{Builder, Runtime};
use tokio::time;

use super::address::{may_follow, plain, way};
use super::error::{FetchError, WebError};

/// The interval at which the interrupt flag is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The largest number of consecutive redirects.
const MOST_REDIRECTS: usize = 10;
/// The protocols of proxies.
const PROXIES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// An HTTP client whose requests end if the run is interrupted.
pub struct Client<'c> {
    http: reqwest::Client,
    /// It is there until the client is dropped.
    runtime: Option<Runtime>,
    /// The reason why https cannot be used, if it cannot.
    no_https: Option<String>,
    /// The time for which a connection may be silent.
    pub timeout: Duration,
    interrupted: &'c AtomicBool,
}

/// The part of a file that is requested: the data after the first bytes, if the file is still the same version.
pub(super) struct Resume {
    pub bytes: u64,
    /// The ETag or date of the version.
    pub validator: String,
}

/// A response.
pub(super) struct Answer<'c> {
    client: &'c Client<'c>,
    pub response: Response,
    /// The way to the file: see [`way`].
    pub way: String,
}

impl<'c> Client<'c> {
    /// Creates a client with the proxies of the environment variables. A connection fails if it is not
    /// established, or if no data arrives, within `timeout`. `interrupted` ends all requests and pauses.
    ///
    /// # Errors
    /// Returns an error if an environment variable does not name a valid proxy.
    pub fn new(timeout: Duration, interrupted: &'c AtomicBool) -> Result<Self, FetchError> {
        check_proxies(|name| env::var(name).ok())?;
        // This fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (http, no_https) = match builder(timeout).build() {
            Ok(http) => (http, None),
            // A system without certificates can still use http.
            Err(error) => {
                let http = builder(timeout).tls_certs_only([]).build();
                let http = http.map_err(|error| WebError::Request(cause(&error)))?;
                (http, Some(WebError::NoCertificates(cause(&error)).to_string()))
            }
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| WebError::Request(error.to_string()))?;
        Ok(Self { http, runtime: Some(runtime), no_https, timeout, interrupted })
    }

    /// Returns whether the run is interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns the reason why an address cannot be used, if there is one.
    pub fn refusal(&self, address: &str) -> Option<&str> {
        self.no_https.as_deref().filter(|_| address.starts_with("https:"))
    }

    /// Requests an address. With `resume`, requests only the data after this number of bytes, provided that the
    /// file is still the version that the validator identifies. Redirects are followed if [`may_follow`] permits them.
    ///
    /// # Errors
    /// Returns an error if there is no response.
    pub(super) fn get(
        &self,
        address: &str,
        resume: Option<&Resume>,
    ) -> Result<Answer<'_>, FetchError> {
        let mut request = self.http.get(address);
        if let Some(Resume { bytes, validator }) = resume {
            request = request.header(RANGE, format!("bytes={bytes}-")).header(IF_RANGE, validator);
        }
        let response = self.wait(async { request.send().await })?;
        let response = response.map_err(|error| self.failure(&error))?;
        let way = way(address, response.url().as_str());
        Ok(Answer { client: self, response, way })
    }

    /// Sleeps for this time.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub fn pause(&self, time: Duration) -> Result<(), FetchError> {
        self.wait(async { time::sleep(time).await })
    }

    /// Waits until `work`, which may use timers from its first poll on, is done, but not after an interrupt.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, FetchError> {
        let runtime = self.runtime.as_ref().expect("the client is not dropped yet");
        runtime.block_on(async {
            let mut work = pin!(work);
            while !self.is_interrupted() {
                if let Ok(done) = time::timeout(CHECK_INTERVAL, &mut work).await {
                    return Ok(done);
                }
            }
            Err(FetchError::Interrupted)
        })
    }

    /// Converts an error of the library.
    fn failure(&self, error: &reqwest::Error) -> WebError {
        match error {
            _ if error.is_timeout() => WebError::Silence(self.timeout.as_secs_f64()),
            _ if error.is_redirect() => WebError::Redirect(cause(error)),
            _ => WebError::Request(cause(error)),
        }
    }
}

impl Drop for Client<'_> {
    /// Ends the runtime without waiting for a host name that is still being resolved.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Answer<'_> {
    /// Returns the next bytes of the body, or `None` at its end.
    ///
    /// # Errors
    /// Returns an error if the connection ends before the body does, or if no data arrives.
    pub fn piece(&mut self) -> Result<Option<Vec<u8>>, FetchError> {
        let piece = self.client.wait(self.response.chunk())?;
        Ok(piece.map_err(|error| self.client.failure(&error))?.map(Vec::from))
    }
}

fn builder(timeout: Duration) -> ClientBuilder {
    let builder = reqwest::Client::builder().connect_timeout(timeout).read_timeout(timeout);
    let builder = builder.user_agent(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")));
    // A request on a connection that the server is closing would fail.
    builder.pool_max_idle_per_host(0).referer(false).redirect(Policy::custom(redirected))
}

fn redirected(attempt: Attempt) -> Action {
    let message = match attempt.previous() {
        previous if previous.len() > MOST_REDIRECTS => {
            format!("more than {MOST_REDIRECTS} redirects")
        }
        previous if may_follow(previous, attempt.url()) => return attempt.follow(),
        previous => format!(
            "the redirect from {} to {} is refused, because others could change the file on its way; if you trust that \
             address, name its site with --mirror",
            previous.last().map_or_else(String::new, |from| plain(from.as_str())),
            plain(attempt.url().as_str())
        ),
    };
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
fn check_proxies(variable: impl Fn(&str) -> Option<String>) -> Result<(), WebError> {
    for upper in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        for name in [upper.to_owned(), upper.to_lowercase()] {
            let value = variable(&name).unwrap_or_default();
            let scheme = if value.contains("://") { "" } else { "http://" };
            let url = Url::parse(&format!("{scheme}{value}"));
            if !value.is_empty()
                && !url.is_ok_and(|url| PROXIES.contains(&url.scheme()) && url.has_host())
            {
                return Err(WebError::Proxy { name, value: value.escape_debug().to_string() });
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
        let of = |name: &str, value: &str| {
            let variable = |asked: &str| (asked == name).then(|| value.to_owned());
            check_proxies(variable).err().map(|error| error.to_string())
        };
        let expected = "https_proxy is 'x://y', which is not a proxy such as http://host:port";
        assert_eq!(of("https_proxy", "x://y").as_deref(), Some(expected));
        for (name, value) in
            [("ALL_PROXY", "socks5h://a:b@c:1"), ("http_proxy", "c:3128"), ("HTTP_PROXY", "")]
        {
            assert_eq!(of(name, value), None);
        }
        assert!(of("HTTP_PROXY", "http://").is_some());
    }
}
