//! The proxies that the environment variables name, with the rules of curl.

use std::fmt;
use std::net::IpAddr;

use base64::prelude::{BASE64_STANDARD, Engine};
use ipnet::IpNet;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, TcpConnector, Transport,
};
use ureq::{Agent, Error, Proxy, ProxyProtocol};

use super::error::WebError;

/// The agents that send requests, each through its own proxy or none.
pub struct Agents {
    http: Agent,
    https: Agent,
    direct: Agent,
    /// The hosts, domains and networks without a proxy, separated by commas.
    no_proxy: String,
}

impl Agents {
    /// Creates the agents. `variable` returns the value of an environment variable.
    ///
    /// # Errors
    /// Returns an error if a variable does not name a proxy.
    pub fn new(
        variable: impl Fn(&str) -> Option<String>,
        config: impl Fn(Option<Proxy>) -> Config,
    ) -> Result<Self, WebError> {
        let of = |name: &str| variable(name).or_else(|| variable(&name.to_ascii_lowercase()));
        let proxy = |name: &'static str| match of(name).filter(|value| !value.is_empty()) {
            Some(value) => parse(name, &value).map(Some),
            None => Ok(None),
        };
        let all = proxy("ALL_PROXY")?;
        let http = match proxy("HTTP_PROXY")?.or_else(|| all.clone()) {
            Some(proxy) if proxy.protocol() == ProxyProtocol::Http => {
                Agent::with_parts(config(None), Forwarding(proxy.clone()), Forwarding(proxy))
            }
            other => config(other).new_agent(),
        };
        let https = config(proxy("HTTPS_PROXY")?.or(all)).new_agent();
        let no_proxy = of("NO_PROXY").unwrap_or_default();
        Ok(Self { http, https, direct: config(None).new_agent(), no_proxy })
    }

    /// Returns the agent for an address.
    pub fn of(&self, uri: &Uri) -> &Agent {
        match uri.scheme_str() {
            _ if is_exempt(uri.host().unwrap_or_default(), &self.no_proxy) => &self.direct,
            Some("http") => &self.http,
            _ => &self.https,
        }
    }
}

fn parse(name: &'static str, value: &str) -> Result<Proxy, WebError> {
    let wrong = |_| WebError::Proxy { name, value: value.escape_debug().to_string() };
    Proxy::new(value).map_err(wrong)
}

/// Returns whether a host is in a list of hosts, domains with all their hosts, and networks such as 10.0.0.0/8.
fn is_exempt(host: &str, list: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    list.split(',').map(str::trim).any(|entry| {
        let network = entry.parse().or_else(|_| entry.parse().map(|ip: IpAddr| IpNet::from(ip)));
        let domain = entry.trim_start_matches('.').to_ascii_lowercase();
        let is_within =
            host.strip_suffix(&domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        match (address, network) {
            _ if entry == "*" => true,
            (Some(address), Ok(network)) => network.contains(&address),
            (None, Err(_)) => !domain.is_empty() && is_within,
            _ => false,
        }
    })
}

/// Connects to a proxy that forwards requests. It does not open a tunnel, because many proxies permit that only
/// for https.
#[derive(Debug)]
struct Forwarding(Proxy);

impl Resolver for Forwarding {
    fn resolve(
        &self,
        _: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        DefaultResolver::default().resolve(self.0.uri(), config, timeout)
    }
}

impl Connector for Forwarding {
    type Out = Forwarded;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<Forwarded>, Error> {
        let transport = TcpConnector::default().connect(details, chained)?;
        let host = details.uri.authority().map_or("", |authority| authority.as_str());
        let origin = format!("http://{}", host.rsplit('@').next().unwrap_or_default());
        let login = self.0.username().map(|user| {
            let login = format!("{user}:{}", self.0.password().unwrap_or_default());
            format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(login))
        });
        let login = login.unwrap_or_default();
        Ok(transport.map(|transport| Forwarded { transport: transport.boxed(), origin, login }))
    }
}

/// A connection to a proxy that forwards requests: they contain the whole address and the login at the proxy.
struct Forwarded {
    transport: Box<dyn Transport>,
    origin: String,
    login: String,
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Forwarded").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Transport for Forwarded {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.transport.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let output = self.transport.buffers().output();
        let request = forwarded(&output[..amount], &self.origin, &self.login);
        let room = output.get_mut(..request.len());
        let room = room.ok_or_else(|| Error::Io(std::io::ErrorKind::FileTooLarge.into()))?;
        room.copy_from_slice(&request);
        self.transport.transmit_output(request.len(), timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.transport.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.transport.is_open()
    }
}

/// Inserts the origin and the login into the first line of a request; other text is unchanged.
fn forwarded(text: &[u8], origin: &str, login: &str) -> Vec<u8> {
    let end = text.iter().position(|&byte| byte == b'\n').filter(|_| text.starts_with(b"GET /"));
    let Some(end) = end else { return text.to_vec() };
    let (line, rest) = text.split_at(end + 1);
    [&line[..4], origin.as_bytes(), &line[4..], login.as_bytes(), rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_domains_and_networks_are_exempt() {
        let list = "a.org, .b.org,10.0.0.0/8,192.168.1.7,::1,";
        for host in ["a.org", "x.A.org", "b.org", "x.b.org", "10.2.3.4", "192.168.1.7", "[::1]"] {
            assert!(is_exempt(host, list), "{host}");
        }
        for host in ["xa.org", "org", "11.2.3.4", "192.168.1.8", "[::2]", ""] {
            assert!(!is_exempt(host, list), "{host}");
        }
        assert!(is_exempt("10.2.3.4", "*") && is_exempt("a.org", "*") && !is_exempt("a.org", ""));
    }

    #[test]
    fn a_forwarded_request_contains_the_whole_address() {
        let of = |text: &str| String::from_utf8(forwarded(text.as_bytes(), "http://a", "L\r\n"));
        let expected = "GET http://a/x HTTP/1.1\r\nL\r\nHost: a\r\n";
        assert_eq!(of("GET /x HTTP/1.1\r\nHost: a\r\n").unwrap(), expected);
        assert_eq!(of("Range: x\r\n").unwrap(), "Range: x\r\n");
    }

    #[test]
    fn a_wrong_proxy_is_an_error() {
        let config = |proxy| Agent::config_builder().proxy(proxy).build();
        let of = |name: &str, value: &str| {
            let variable = |asked: &str| (asked == name).then(|| value.to_owned());
            Agents::new(variable, config).err().map(|error| error.to_string())
        };
        let expected = "HTTPS_PROXY is 'x://y', which is not a proxy such as http://host:port";
        assert_eq!(of("https_proxy", "x://y").as_deref(), Some(expected));
        for (name, value) in
            [("ALL_PROXY", "socks5h://a:b@c:1"), ("http_proxy", "c"), ("HTTP_PROXY", "")]
        {
            assert_eq!(of(name, value), None);
        }
    }
}
