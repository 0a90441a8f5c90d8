//! The collection's index, which is stored in the user's cache folder.

use std::fs;
use std::time::{Duration, Instant};

use super::address::{Site, is_exposed};
use super::client::Client;
use super::download::Download;
use super::folder::{Folder, Part};
use super::{Event, FetchError, OrCannot, Settings};
use crate::collection::{Matrix, index};
use spmv_matrix::cache::{CacheFolder, Key};

/// The age after which the index is downloaded again, if possible.
const FRESH: Duration = Duration::from_secs(30 * 24 * 3600);

/// The largest permitted size of an index in bytes. The index of all 2,900 matrices has less than half a megabyte.
const MOST_BYTES: u64 = 64 << 20;

/// Returns all matrices of the collection at the sites. `note` is called with messages for the user.
pub fn collection(
    web: &Client,
    settings: &Settings,
    note: &dyn Fn(String),
) -> Result<Vec<Matrix>, FetchError> {
    let addresses: Vec<String> = settings.sites.iter().filter_map(Site::index).collect();
    let (cache, key) = (CacheFolder::of_user("index"), Key::of(&addresses));
    let parsed = |(bytes, age): (Vec<u8>, _)| Some((parse(&bytes, "ssstats.csv").ok()?, age));
    let stored = match cache.get(&key).and_then(parsed) {
        Some((matrices, age)) if age < FRESH => return Ok(matrices),
        stored => stored,
    };
    let downloaded = download(web, settings, addresses, note).and_then(|(bytes, way)| {
        let matrices = parse(&bytes, &way)?;
        cache.put(&key, &bytes);
        if is_exposed(&way) {
            note(format!("{way}: this index came over http, so nothing vouches for its contents"));
        }
        Ok(matrices)
    });
    match (downloaded, stored) {
        (Ok(matrices), _) => Ok(matrices),
        (Err(FetchError::Interrupted), _) => Err(FetchError::Interrupted),
        (Err(error), Some((matrices, age))) => {
            let days = age.as_secs() / (24 * 3600);
            note(format!("the stored index is {days} days old and cannot be updated: {error}"));
            Ok(matrices)
        }
        (Err(error), None) => {
            Err(FetchError::Failed(format!("the collection's index cannot be downloaded: {error}")))
        }
    }
}

/// Downloads the index. Returns its contents and the way to it.
fn download(
    web: &Client,
    settings: &Settings,
    addresses: Vec<String>,
    note: &dyn Fn(String),
) -> Result<(Vec<u8>, String), FetchError> {
    let own = tempfile::tempdir().or_cannot("create a folder in", &std::env::temp_dir())?;
    let folder = Folder::new(own.path());
    let part = Part { path: folder.file("ssstats.csv.part") };
    let report = |event| {
        if let Event::Note(text) = event {
            note(text);
        }
    };
    let (folder, part, pause) = (&folder, &part, settings.pause);
    let (begun, report) = (Instant::now(), &report);
    let download = Download { web, folder, part, most: MOST_BYTES, pause, begun, report };
    let way = download.run(addresses.into_iter())?;
    Ok((fs::read(&part.path).or_cannot("read", &part.path)?, way))
}

fn parse(bytes: &[u8], name: &str) -> Result<Vec<Matrix>, FetchError> {
    let text = String::from_utf8_lossy(bytes);
    index::parse(&text, name).map_err(|error| FetchError::Failed(error.to_string()))
}
