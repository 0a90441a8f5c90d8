//! The collection's index: the one that was downloaded last, in the user's cache folder, or else the built-in one.

use std::fs;
use std::time::Instant;

use super::address::{Site, is_exposed};
use super::client::Client;
use super::download::{Download, HINT};
use super::error::{FetchError, OrCannot};
use super::event::Event;
use super::folder::{Folder, Part};
use super::settings::Settings;
use crate::collection::{Matrix, index, table};
use spmv_matrix::cache::{CacheFolder, Key};

/// The largest permitted size of an index in bytes. The index of all 2,900 matrices has less than half a megabyte.
const MOST_BYTES: u64 = 64 << 20;

/// Returns all matrices of the collection: of the index that was stored from these sites, or else of the built-in one.
/// `note` is called with its date.
pub fn collection(settings: &Settings, note: &dyn Fn(String)) -> Vec<Matrix> {
    let (cache, key, _) = place(settings);
    let stored = cache.get(&key).and_then(|(bytes, _)| parse(&bytes, "ssstats.csv").ok());
    let (date, matrices) = stored.unwrap_or_else(table::ours);
    let count = matrices.len();
    note(format!("the collection's index of {date}: {count} matrices (--update-index asks for a newer one)"));
    matrices
}

/// Downloads the index and stores it for [`collection`].
pub fn update(web: &Client, settings: &Settings, note: &dyn Fn(String)) -> Result<(), FetchError> {
    let (cache, key, addresses) = place(settings);
    let downloaded = download(web, settings, addresses, note).and_then(|(bytes, way)| {
        parse(&bytes, &way).map_err(|error| FetchError::Failed(format!("{error}; {HINT}")))?;
        let kept = cache.store(&key, &bytes);
        kept.map_err(|error| FetchError::Failed(format!("cannot write to {cache}: {error}")))?;
        if is_exposed(&way) {
            note(format!("{way}: this index came over http, so nothing vouches for its contents"));
        }
        Ok(())
    });
    downloaded.map_err(|error| match error {
        FetchError::Interrupted => error,
        _ => FetchError::Failed(format!("the collection's index cannot be downloaded: {error}")),
    })
}

/// Returns where the index of the sites is stored, and its addresses.
fn place(settings: &Settings) -> (CacheFolder, Key, Vec<String>) {
    let addresses: Vec<String> = settings.sites.iter().filter_map(Site::index).collect();
    (CacheFolder::of_user("index"), Key::of(&addresses), addresses)
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
    let (most, option) = (MOST_BYTES, "");
    let download = Download { web, folder, part, most, option, pause, begun, report };
    let way = download.run(addresses.into_iter())?;
    Ok((fs::read(&part.path).or_cannot("read", &part.path)?, way))
}

/// Returns the date and the matrices of an index.
fn parse(bytes: &[u8], name: &str) -> Result<(String, Vec<Matrix>), FetchError> {
    let text = String::from_utf8_lossy(bytes);
    let matrices = index::parse(&text, name).map_err(|error| FetchError::Failed(error.to_string()))?;
    Ok((text.lines().nth(1).unwrap_or("").trim().to_owned(), matrices))
}
