use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::io::Write;

use anyhow::{Error, Result, anyhow, bail};

use super::FetchArgs;
use crate::collection::fetch::client::Client;
use crate::collection::fetch::{FetchError, Settings, index};
use crate::collection::{Datasets, Matrix, is_id};
use spmv_matrix::near::hint;

/// Returns the distinct requested matrices in the order of the command line. Prints notes about the index.
pub fn matrices(
    args: &FetchArgs,
    datasets: &Datasets,
    web: &Client,
    settings: &Settings,
    stderr: &mut dyn Write,
) -> Result<Vec<Matrix>> {
    let stderr = RefCell::new(stderr);
    let note = |text| {
        if !args.quiet {
            // Whoever closed stderr does not want the notes.
            let _ = writeln!(stderr.borrow_mut(), "{text}");
        }
    };
    let index = || index::collection(web, settings, &note);
    let mut matrices = match &args.words[..] {
        [] if args.all || args.filter.is_some() => index()?,
        [] => named(&["default".to_owned()], datasets, index)?,
        words => named(words, datasets, index)?,
    };
    if let Some(filter) = &args.filter {
        matrices.retain(|matrix| filter.passes(matrix));
    }
    let mut ids = HashSet::new();
    matrices.retain(|matrix| ids.insert(matrix.id.clone()));
    for matrix in &mut matrices {
        // The index contains no hashes, so they are copied from the datasets file.
        let known = datasets.matrices.get(&matrix.id).filter(|_| !args.any_archive);
        matrix.sha256 = known.and_then(|known| known.sha256.clone());
    }
    Ok(matrices)
}

/// Returns the matrices that the words name. Requests the index only for matrices that the datasets do not have.
fn named(
    words: &[String],
    datasets: &Datasets,
    collection: impl Fn() -> Result<Vec<Matrix>, FetchError>,
) -> Result<Vec<Matrix>> {
    let (mut matrices, mut index) = (Vec::new(), None);
    for word in words {
        if !word.contains('/') {
            matrices.extend(set(word, datasets)?.into_iter().cloned());
        } else if let Some(matrix) = datasets.matrices.get(word) {
            matrices.push(matrix.clone());
        } else if !is_id(word) {
            bail!("'{word}' is not of the form GROUP/NAME with letters, digits, _ and -");
        } else {
            let index = match &mut index {
                Some(index) => index,
                none => none.insert(collection()?),
            };
            let found = index.iter().find(|matrix| matrix.id == *word);
            matrices.push(found.cloned().ok_or_else(|| no_matrix(word, index))?);
        }
    }
    Ok(matrices)
}

/// Returns the matrix ids that the words select, without reading the index.
pub fn ids(words: &[String], datasets: &Datasets) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for word in words {
        match word.contains('/') {
            true => drop(ids.insert(word.clone())),
            false => ids.extend(set(word, datasets)?.into_iter().map(|matrix| matrix.id.clone())),
        }
    }
    Ok(ids)
}

fn set<'d>(word: &str, datasets: &'d Datasets) -> Result<Vec<&'d Matrix>> {
    let set = datasets.sets.get(word).ok_or_else(|| {
        let known = datasets.sets.keys().map(String::as_str);
        let whole = "`spmv-bench fetch --list` lists the sets; a matrix is named GROUP/NAME";
        anyhow!("there is no set '{word}'{}", hint(word, known, whole))
    })?;
    Ok(datasets.matrices_of(set))
}

/// Returns the error for an unknown matrix, with those of the same name in other groups, or of similar names.
fn no_matrix(word: &str, index: &[Matrix]) -> Error {
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
