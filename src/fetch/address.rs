//! The web addresses of the collection and of its mirrors.

use ureq::http::Uri;

use super::error::AddressError;
use crate::datasets::Matrix;

/// The collection's own sites. The paths are the same on both.
const COLLECTION: [&str; 2] =
    ["https://sparse.tamu.edu", "https://suitesparse-collection-website.herokuapp.com"];

/// The base URL of the collection or of a mirror, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site(String);

impl Site {
    /// Returns the collection's own sites, in the order in which they are tried.
    pub fn collection() -> Vec<Self> {
        COLLECTION.map(|site| Self(site.to_owned())).to_vec()
    }

    /// Parses the base URL of a mirror.
    ///
    /// # Errors
    /// Returns an error if the text is not an http or https URL.
    pub fn mirror(text: &str) -> Result<Self, AddressError> {
        let uri = text.parse::<Uri>().ok();
        match uri.as_ref().and_then(Uri::scheme_str) {
            Some("http" | "https") => Ok(Self(text.trim_end_matches('/').to_owned())),
            Some(other) => Err(AddressError::Scheme(other.to_owned())),
            None => Err(AddressError::NotWeb),
        }
    }

    /// Returns the URL of a matrix's archive.
    pub fn archive(&self, matrix: &Matrix) -> String {
        format!("{}/MM/{}.tar.gz", self.0, matrix.id)
    }

    /// Returns the URL of the index.
    pub fn index(&self) -> String {
        format!("{}/files/ssstats.csv", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::Datasets;

    #[test]
    fn routes_are_the_collection_s() {
        let datasets = Datasets::ours();
        let matrix = datasets.matrices().next().unwrap();
        let sites = Site::collection();
        let expected = format!("https://sparse.tamu.edu/MM/{}.tar.gz", matrix.id);
        assert_eq!(sites[0].archive(matrix), expected);
        let index = "https://suitesparse-collection-website.herokuapp.com/files/ssstats.csv";
        assert_eq!(sites[1].index(), index);
        let mirror = Site::mirror("http://localhost:8000/copy/").unwrap();
        assert_eq!(mirror.index(), "http://localhost:8000/copy/files/ssstats.csv");
    }

    #[test]
    fn a_mirror_is_on_the_web() {
        let error = |text: &str| Site::mirror(text).unwrap_err().to_string();
        assert_eq!(error("ftp://host/x"), "ftp is not supported, only http and https");
        assert_eq!(error("host/x"), "it is not a web address such as http://host/path");
    }
}
