//! The HTTP client: its timeouts, certificates and redirects.

use std::time::Duration;

use ureq::http::header::{IF_RANGE, LOCATION, RANGE};
use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::error::WebError;
use super::proxy::Agents;

/// The largest number of consecutive redirects.
const MOST_REDIRECTS: usize = 10;

/// An HTTP client that uses the proxies of the environment.
pub struct Client {
    agents: Agents,
    /// The reason why https cannot be used, if it cannot.
    no_https: Option<String>,
    /// The time for which a connection may be silent.
    pub timeout: Duration,
}

/// The part of a file that is requested: the data after the first bytes, if the file is still the same version.
pub struct Resume {
    pub bytes: u64,
    /// The ETag or date of the version.
    pub validator: String,
}

impl Client {
    /// Creates a client with the proxies of the environment variables and the certificates of the system.
    pub fn new(timeout: Duration) -> Result<Self, WebError> {
        // This fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (certificates, no_https) = match certificates() {
            Ok(certificates) => (certificates, None),
            // A system without certificates can still use http.
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let roots = RootCerts::new_with_certs(&certificates);
        let tls = TlsConfig::builder().root_certs(roots).build();
        let config = |proxy: Option<Proxy>| {
            let config = Agent::config_builder().proxy(proxy).tls_config(tls.clone());
            let config = config.user_agent(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")));
            let config = config.http_status_as_error(false).max_redirects(0);
            // A request on a connection that the server is closing would fail.
            let config = config.max_idle_connections(0);
            let config = config.timeout_resolve(Some(timeout)).timeout_connect(Some(timeout));
            let config = config.timeout_per_write(Some(timeout)).timeout_per_read(Some(timeout));
            config.timeout_recv_response(Some(timeout)).build()
        };
        let agents = Agents::new(|name| std::env::var(name).ok(), config)?;
        Ok(Self { agents, no_https, timeout })
    }

    /// Returns the reason why an address cannot be used, if there is one.
    pub fn refusal(&self, address: &str) -> Option<&str> {
        self.no_https.as_deref().filter(|_| address.starts_with("https:"))
    }

    /// Requests an address. Redirects are followed, but not from https to http.
    ///
    /// # Errors
    /// Returns an error if there is no response.
    pub fn get(&self, address: &str, resume: Option<&Resume>) -> Result<Response<Body>, WebError> {
        let mut uri = parse(address)?;
        for _ in 0..=MOST_REDIRECTS {
            let response = self.request(&uri, resume)?;
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            match location.filter(|_| response.status().is_redirection()) {
                Some(location) => uri = redirected(&uri, location)?,
                None => return Ok(response),
            }
        }
        Err(WebError::Redirects(MOST_REDIRECTS))
    }

    fn request(&self, uri: &Uri, resume: Option<&Resume>) -> Result<Response<Body>, WebError> {
        let mut request = self.agents.of(uri).get(uri);
        if let Some(Resume { bytes, validator }) = resume {
            request = request.header(RANGE, format!("bytes={bytes}-")).header(IF_RANGE, validator);
        }
        request.call().map_err(|error| self.failure(error))
    }

    /// Converts an error of the library.
    pub fn failure(&self, error: ureq::Error) -> WebError {
        match error {
            ureq::Error::Timeout(_) => WebError::Silence(self.timeout.as_secs_f64()),
            ureq::Error::Io(error) => WebError::Io(error),
            other => WebError::Http(other),
        }
    }
}

/// Returns the system's certificates of certificate authorities.
fn certificates() -> Result<Vec<Certificate<'static>>, WebError> {
    let found = rustls_native_certs::load_native_certs();
    if !found.certs.is_empty() {
        let owned = found.certs.iter().map(|found| Certificate::from_der(found).to_owned());
        return Ok(owned.collect());
    }
    let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
    Err(WebError::NoCertificates(errors.join("; ")))
}

fn parse(address: &str) -> Result<Uri, WebError> {
    let invalid = |error| WebError::Address { address: address.escape_debug().to_string(), error };
    address.parse().map_err(invalid)
}

/// Returns the address that a redirect leads to, unless it leads from https to another protocol.
fn redirected(from: &Uri, location: &str) -> Result<Uri, WebError> {
    let scheme = from.scheme_str().unwrap_or_default();
    let host = from.authority().map_or("", |authority| authority.as_str());
    let to = match location.parse::<Uri>() {
        Ok(to) if to.scheme().is_some() => to,
        _ if location.starts_with("//") => parse(&format!("{scheme}:{location}"))?,
        _ if location.starts_with('/') => parse(&format!("{scheme}://{host}{location}"))?,
        _ => {
            let (folder, _) = from.path().rsplit_once('/').unwrap_or_default();
            parse(&format!("{scheme}://{host}{folder}/{location}"))?
        }
    };
    match scheme == "https" && to.scheme_str() != Some("https") {
        true => Err(WebError::Downgrade(to)),
        false => Ok(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_from_https_leads_to_https() {
        for (from, to, refused) in [
            ("https://a/x", "http://a/x", true),
            ("https://a/x", "ftp://a/x", true),
            ("https://a/x", "https://b/y", false),
            ("http://a/x", "https://a/x", false),
            ("http://a/x", "http://b/x", false),
        ] {
            assert_eq!(redirected(&from.parse().unwrap(), to).is_err(), refused, "{from} {to}");
        }
    }

    #[test]
    fn a_redirect_may_be_relative() {
        for (location, expected) in [
            ("//b/y", "https://b/y"),
            ("/y?z=http://c", "https://a:8/y?z=http://c"),
            ("y", "https://a:8/x/y"),
        ] {
            let to = redirected(&"https://a:8/x/w?q".parse().unwrap(), location).unwrap();
            assert_eq!(to.to_string(), expected, "{location}");
        }
    }
}
