//! The web addresses of the collection and of its mirrors.

use std::net::IpAddr;

use reqwest::Url;

use crate::collection::Matrix;

/// The base addresses of the collection, in the order in which they are tried, and whether they have the index.
///
/// The first two are the website (github.com/ScottKolo/suitesparse-matrix-collection-website). It redirects files
/// to the third, which has no https (update_readme/SuiteSparseWebsiteREADME.md there, of 2025-06-05). The last is
/// the older copy at the University of Florida. Its index, UFstats.csv, lacks the numbers of stored entries.
const COLLECTION: [(&str, bool); 4] = [
    ("https://sparse.tamu.edu", true),
    ("https://suitesparse-collection-website.herokuapp.com", true),
    ("http://sparse-files.engr.tamu.edu", true),
    ("https://www.cise.ufl.edu/research/sparse", false),
];
/// What is between the address that was requested and the one that answered, if they differ.
const LED_TO: &str = " -> ";

/// A base address of the collection or of a mirror, without a trailing slash.
#[derive(Clone, Debug)]
pub struct Site {
    base: String,
    has_index: bool,
}

impl Site {
    pub fn collection() -> Vec<Self> {
        COLLECTION.map(|(base, has_index)| Self { base: base.to_owned(), has_index }).to_vec()
    }

    pub fn mirror(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).ok().filter(Url::has_host);
        match url.as_ref().map(Url::scheme) {
            Some("http" | "https") => Ok(Self { base: text.trim_end_matches('/').to_owned(), has_index: true }),
            Some(other) => Err(format!("{other} is not supported, only http and https")),
            None => Err("it is not a web address such as http://host/path".into()),
        }
    }

    pub fn archive(&self, matrix: &Matrix) -> String {
        format!("{}/MM/{}.tar.gz", self.base, matrix.id)
    }

    pub fn index(&self) -> Option<String> {
        self.has_index.then(|| format!("{}/files/ssstats.csv", self.base))
    }
}

/// Returns an address without user, password, query and fragment, which may be secret.
pub fn plain(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    // The setters fail only for addresses that have no host.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Returns the way to a file: the requested address and, after redirects, the one that answered.
pub fn way(requested: &str, answered: &str) -> String {
    let (requested, answered) = (plain(requested), plain(answered));
    if requested == answered { requested } else { format!("{requested}{LED_TO}{answered}") }
}

/// Returns whether the way to a file begins with a request of this address.
pub fn begins_with(way: &str, requested: &str) -> bool {
    way.split(LED_TO).next() == Some(&plain(requested))
}

/// Returns whether others could have changed a file on its way, because it came over http and the user did not name a
/// mirror with http.
pub fn is_exposed(way: &str) -> bool {
    let (requested, answered) = way.split_once(LED_TO).unwrap_or((way, way));
    let is_ours = COLLECTION.iter().any(|(base, _)| requested.starts_with(base));
    [requested, answered].iter().any(|address| address.starts_with("http:"))
        && (is_ours || requested.starts_with("https:"))
}

/// Returns whether a redirect may be followed. One that leaves https for http, and all after it, may lead only to a
/// host of the collection, or from a mirror on this machine to this machine, because others can change what http
/// delivers.
///
/// `previous` has the addresses so far, the first one being that which the user or the collection's list names.
pub fn may_follow(previous: &[Url], next: &Url) -> bool {
    let mut from_https = previous.iter().chain([next]).skip_while(|address| address.scheme() != "https");
    let was_left = from_https.any(|address| address.scheme() == "http");
    let is_web = ["http", "https"].contains(&next.scheme());
    let is_here = previous.first().is_some_and(is_this_machine) && is_this_machine(next);
    is_web && (!was_left || is_here || is_of_the_collection(next))
}

fn is_of_the_collection(address: &Url) -> bool {
    let hosts = COLLECTION.iter().filter_map(|(base, _)| Url::parse(base).ok());
    address.port().is_none() && hosts.into_iter().any(|ours| ours.host() == address.host())
}

fn is_this_machine(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_on_the_web() {
        let mirror = Site::mirror("http://localhost:8000/copy/").unwrap();
        assert_eq!(mirror.index().unwrap(), "http://localhost:8000/copy/files/ssstats.csv");
        assert_eq!(Site::collection()[3].index(), None);
        for text in ["host/x", "http://", "file:///x"] {
            let error = Site::mirror(text).unwrap_err();
            assert_eq!(error, "it is not a web address such as http://host/path", "{text}");
        }
    }

    /// Each case is a chain of redirects, and whether its last one is followed.
    #[test]
    fn only_known_hosts_may_follow_https_over_http() {
        let files = "http://sparse-files.engr.tamu.edu/MM/a";
        for (chain, followed) in [
            (&["https://sparse.tamu.edu/MM/a", files][..], true),
            (&["https://a/x", files], true),
            (&["https://a/x", "http://SPARSE-FILES.engr.tamu.edu:80/x"], true),
            (&["https://a/x", "http://sparse-files.engr.tamu.edu:8080/x"], false),
            (&["https://a/x", "http://sparse-files.engr.tamu.edu.evil.org/x"], false),
            (&["https://a/x", "http://evil-sparse-files.engr.tamu.edu/x"], false),
            (&["https://a/x", "http://x.sparse-files.engr.tamu.edu/x"], false),
            (&["https://a/x", "http://sparse-files.engr.tamu.edu@evil.org/x"], false),
            (&["https://a/x", "http://a/x"], false),
            (&["https://a/x", "https://b/y"], true),
            (&["https://a/x", "ftp://a/x"], false),
            (&["http://a/x", "ftp://a/x"], false),
            (&["http://a/x", "http://b/x"], true),
            (&["http://a/x", "https://b/x", "http://a/x"], false),
            (&["http://a/x", "https://b/x", files], true),
            // Whoever changes the answer over http must not lead elsewhere.
            (&["https://a/x", files, "http://evil.org/x"], false),
            (&["https://a/x", files, "https://evil.org/x"], false),
            (&["https://a/x", files, "https://sparse.tamu.edu/x"], true),
            (&["https://localhost:1/x", "http://127.0.0.1:2/x"], true),
            (&["https://[::1]/x", "http://localhost/x"], true),
            (&["https://a/x", "http://127.0.0.1:2/x"], false),
            (&["https://localhost/x", "http://localhost.evil.org/x"], false),
        ] {
            let urls: Vec<Url> = chain.iter().map(|text| Url::parse(text).unwrap()).collect();
            let (next, previous) = urls.split_last().unwrap();
            assert_eq!(may_follow(previous, next), followed, "{chain:?}");
        }
    }

    #[test]
    fn a_way_has_no_secrets_and_tells_where_others_could_change_the_file() {
        let secret = way("https://me:secret@h/x", "http://127.0.0.1:8/y?token=secret#a");
        assert_eq!(secret, "https://h/x -> http://127.0.0.1:8/y");
        assert!(begins_with(&secret, "https://me:secret@h/x"));
        assert!(!begins_with(&secret, "https://h"));
        let files = "http://sparse-files.engr.tamu.edu/x";
        for (requested, answered, exposed) in [
            ("https://sparse.tamu.edu/x", "https://sparse.tamu.edu/x", false),
            ("https://sparse.tamu.edu/x", files, true),
            ("https://mirror/x", files, true),
            (files, files, true),
            (files, "https://other/x", true),
            ("http://mirror/x", "http://mirror/x", false),
            ("http://mirror/x", "http://other/x", false),
        ] {
            assert_eq!(is_exposed(&way(requested, answered)), exposed, "{requested} {answered}");
        }
    }
}
