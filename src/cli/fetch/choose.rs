//! Determines the requested matrices.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Write;

use anyhow::{Result, anyhow, bail};

use super::args::FetchArgs;
use crate::collection::fetch::client::Client;
use crate::collection::fetch::{Settings, index};
use crate::collection::{Datasets, Matrix, is_id};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::near::hint;

/// The set that is downloaded if the command line names nothing.
const DEFAULT_SET: &str = "default";

/// The inputs for determining the requested matrices.
pub struct Choice<'c> {
    pub args: &'c FetchArgs,
    pub datasets: &'c Datasets,
    pub web: &'c Client<'c>,
    pub settings: &'c Settings,
    pub cache: CacheFolder,
}

impl Choice<'_> {
    /// Returns the distinct requested matrices in the order of the command line.
    pub fn matrices(&self, stderr: &mut dyn Write) -> Result<Vec<Matrix>> {
        let FetchArgs { words, all, filter, .. } = self.args;
        let mut matrices = match words.is_empty() {
            true if *all || filter.is_some() => self.collection(stderr)?,
            true => self.named(&[DEFAULT_SET.to_owned()], stderr)?,
            false => self.named(words, stderr)?,
        };
        if let Some(filter) = filter {
            matrices.retain(|matrix| filter.passes(matrix));
        }
        let mut ids = HashSet::new();
        matrices.retain(|matrix| ids.insert(matrix.id.clone()));
        for matrix in &mut matrices {
            // The index contains no hashes, so they are copied from the datasets file.
            let known = self.datasets.matrix(&matrix.id).filter(|_| !self.args.any_archive);
            matrix.sha256 = known.and_then(|known| known.sha256.clone());
        }
        Ok(matrices)
    }

    /// Returns the matrices of the collection's index. Prints notes about the index.
    fn collection(&self, stderr: &mut dyn Write) -> Result<Vec<Matrix>> {
        let Settings { sites, pause, .. } = self.settings;
        let stderr = RefCell::new(stderr);
        let note = |text| {
            if !self.args.quiet {
                // Whoever closed stderr does not want the notes.
                let _ = writeln!(stderr.borrow_mut(), "{text}");
            }
        };
        Ok(index::collection(self.web, sites, *pause, &self.cache, &note)?)
    }

    fn named(&self, words: &[String], stderr: &mut dyn Write) -> Result<Vec<Matrix>> {
        let mut matrices = Vec::new();
        let mut collection = None;
        for word in words {
            if !word.contains('/') {
                let set = self.datasets.set(word).ok_or_else(|| no_set(word, self.datasets))?;
                matrices.extend(self.datasets.matrices_of(set).into_iter().cloned());
            } else if let Some(matrix) = self.datasets.matrix(word) {
                matrices.push(matrix.clone());
            } else if !is_id(word) {
                bail!("'{word}' is not of the form GROUP/NAME with letters, digits, _ and -");
            } else {
                let index = match &mut collection {
                    Some(index) => index,
                    none => none.insert(self.collection(stderr)?),
                };
                let found = index.iter().find(|matrix| matrix.id == *word);
                matrices.push(found.cloned().ok_or_else(|| no_matrix(word, index))?);
            }
        }
        Ok(matrices)
    }
}

/// Returns the matrix ids that the words select, without reading the index.
pub fn ids(words: &[String], datasets: &Datasets) -> Result<HashSet<String>> {
    let mut ids = HashSet::new();
    for word in words {
        if word.contains('/') {
            ids.insert(word.clone());
        } else {
            let set = datasets.set(word).ok_or_else(|| no_set(word, datasets))?;
            ids.extend(datasets.matrices_of(set).iter().map(|matrix| matrix.id.clone()));
        }
    }
    Ok(ids)
}

fn no_set(word: &str, datasets: &Datasets) -> anyhow::Error {
    let known = datasets.sets().map(|(name, _)| name);
    let whole = "`spmv-bench fetch --list` lists the sets; a matrix is named GROUP/NAME";
    anyhow!("there is no set '{word}'{}", hint(word, known, whole))
}

/// Creates the error for an unknown matrix, which suggests matrices with the same name in other groups, in any
/// case, or similar names.
fn no_matrix(word: &str, index: &[Matrix]) -> anyhow::Error {
    let name = word.split_once('/').map_or(word, |(_, name)| name);
    let namesakes = index.iter().filter(|matrix| matrix.name().eq_ignore_ascii_case(name));
    let namesakes: Vec<&str> = namesakes.map(|matrix| matrix.id.as_str()).collect();
    let whole = "https://sparse.tamu.edu lists all of them";
    let hint = match namesakes.is_empty() {
        true => hint(word, index.iter().map(|matrix| matrix.id.as_str()), whole),
        false => format!("; matrices with this name: {}", namesakes.join(", ")),
    };
    anyhow!("the collection has no matrix '{word}'{hint}")
}
