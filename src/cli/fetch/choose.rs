//! The matrices that the words of the command line select.

use std::collections::{BTreeSet, HashSet};

use anyhow::{Result, ensure};

use super::args::FetchArgs;
use crate::collection::{Datasets, Matrix, is_id};
use spmv_matrix::near::hint;

/// Returns the distinct requested matrices in the order of the command line. `index` returns all matrices of the
/// collection.
pub fn matrices(args: &FetchArgs, datasets: &Datasets, index: impl Fn() -> Vec<Matrix>) -> Result<Vec<Matrix>> {
    let mut matrices = match &args.words[..] {
        [] if args.all || args.filter.is_some() => index(),
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

/// Returns the matrices that the words name. Reads the index only for matrices that the datasets do not have.
fn named(words: &[String], datasets: &Datasets, collection: impl Fn() -> Vec<Matrix>) -> Result<Vec<Matrix>> {
    let (mut matrices, mut index) = (Vec::new(), None);
    for word in words {
        if let Some(set) = datasets.sets.get(word) {
            matrices.extend(datasets.matrices_of(set).into_iter().cloned());
            continue;
        }
        ensure!(
            is_id(word) || is_id(&format!("GROUP/{word}")),
            "'{word}' is not of the form GROUP/NAME with letters, digits, _ and -"
        );
        let mut found = called(word, datasets.matrices.values());
        if found.is_empty() {
            let index = index.get_or_insert_with(&collection);
            found = called(word, index.iter());
            ensure!(!found.is_empty(), unknown(word, datasets, index));
        }
        let ids: Vec<&str> = found.iter().map(|matrix| matrix.id.as_str()).collect();
        ensure!(found.len() == 1, "several matrices are called '{word}': {}", ids.join(", "));
        matrices.push(found[0].clone());
    }
    Ok(matrices)
}

/// Returns the matrix with this id, or the matrices of all groups with this name.
fn called<'m>(word: &str, matrices: impl Iterator<Item = &'m Matrix>) -> Vec<&'m Matrix> {
    matrices.filter(|matrix| matrix.id == word || matrix.name() == word).collect()
}

/// Returns the matrix ids that the words select: of sets and, without reading the index, of `downloaded` matrices.
pub fn ids<'l>(
    words: &[String],
    datasets: &Datasets,
    downloaded: impl Iterator<Item = &'l str> + Clone,
) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for word in words {
        let end = format!("/{word}");
        let mut named = downloaded.clone().filter(|id| id.ends_with(&end)).peekable();
        if let Some(set) = datasets.sets.get(word) {
            ids.extend(datasets.matrices_of(set).into_iter().map(|matrix| matrix.id.clone()));
        } else if word.contains('/') {
            ids.insert(word.clone());
        } else {
            ensure!(named.peek().is_some(), unknown(word, datasets, &[]));
            ids.extend(named.map(str::to_owned));
        }
    }
    Ok(ids)
}

/// Returns the message about an unknown word, with matrices of the same name in other groups, or with similar names.
fn unknown(word: &str, datasets: &Datasets, index: &[Matrix]) -> String {
    let known = index.iter().chain(datasets.matrices.values());
    let name = word.split_once('/').map_or(word, |(_, name)| name);
    let namesakes = known.clone().filter(|matrix| matrix.name().eq_ignore_ascii_case(name));
    let namesakes: BTreeSet<&str> = namesakes.map(|matrix| matrix.id.as_str()).collect();
    if !namesakes.is_empty() {
        let namesakes = Vec::from_iter(namesakes).join(", ");
        return format!("there is no matrix '{word}'; matrices with this name: {namesakes}");
    }
    let whole = "`spmv-bench fetch --list` lists the sets, and with --all the matrices";
    if word.contains('/') {
        let ids: BTreeSet<&str> = known.map(|matrix| matrix.id.as_str()).collect();
        return format!("there is no matrix '{word}'{}", hint(word, ids, whole));
    }
    let sets = datasets.sets.keys().map(String::as_str);
    let names: BTreeSet<&str> = known.map(Matrix::name).chain(sets).collect();
    format!("there is no set or matrix '{word}'{}", hint(word, names, whole))
}
