use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::folder::{LeftOut, find, sized};
use super::named::path;
use crate::collection::{Datasets, Matrix};
use spmv_matrix::generate::Generator;
use spmv_matrix::near::hint;
use spmv_matrix::source::Source;

/// Returns the matrices that the words name (generators, surrogates, files, and those below a folder, the smallest
/// first) and the sizes of their files in bytes. The files of folders that are left out are reported on stderr.
pub fn sources(words: &[OsString], datasets: Option<&Path>, stderr: &mut dyn Write) -> Result<Vec<(Source, u64)>> {
    let (mut sources, mut left_out) = (Vec::new(), LeftOut::default());
    for word in words {
        if let Some(surrogates) = surrogates(word, datasets)? {
            sources.extend(surrogates.into_iter().map(|(_, source)| (source, 0)));
            continue;
        }
        match parsed(word, datasets)? {
            Source::File(dir) if dir.is_dir() => {
                let files = find(&dir, &mut left_out, stderr)?;
                if files.is_empty() {
                    left_out.write(&[], stderr)?;
                    bail!(
                        "{}: this folder contains no file with the extension of a matrix (.mtx, .mtx.gz, …)",
                        dir.display()
                    );
                }
                sources.extend(files);
            }
            Source::File(file) => sources.push(sized(file)),
            generated => sources.push((generated, 0)),
        }
    }
    left_out.write(&sources, stderr)?;
    Ok(sources)
}

pub fn source(word: &OsStr, datasets: Option<&Path>) -> Result<Source> {
    let shown = word.display();
    let corpus = format!("`spmv-bench corpus {shown}` measures all");
    let Some(mut surrogates) = surrogates(word, datasets)? else {
        let source = parsed(word, datasets)?;
        let is_folder = matches!(&source, Source::File(path) if path.is_dir());
        ensure!(!is_folder, "{shown} is a folder; {corpus} matrices below it");
        return Ok(source);
    };
    let count = surrogates.len();
    ensure!(count == 1, "{shown} selects {count} matrices; {corpus} of them");
    Ok(surrogates.remove(0).1)
}

fn parsed(word: &OsStr, datasets: Option<&Path>) -> Result<Source> {
    Ok(match Source::parse(word)? {
        Source::File(_) => Source::File(path(word, datasets)?),
        generated => generated,
    })
}

/// Returns the matrices that `surrogate:SET|GROUP/NAME` names, with their surrogates; `None` for other words.
pub fn surrogates(word: &OsStr, datasets: Option<&Path>) -> Result<Option<Vec<(Matrix, Source)>>> {
    let named = word.to_str().and_then(|word| word.strip_prefix("surrogate:"));
    let Some(named) = named else { return Ok(None) };
    let datasets = Datasets::with(datasets)?;
    let matrices = match datasets.sets.get(named) {
        Some(set) => datasets.matrices_of(set),
        None => datasets.matrices.get(named).into_iter().collect(),
    };
    if matrices.is_empty() {
        let ids = datasets.matrices.keys().map(String::as_str);
        let known = datasets.sets.keys().map(String::as_str).chain(ids);
        let hint = hint(named, known, "`spmv-bench fetch --list` lists the sets and matrices");
        let why = "there is no set with matrices of this name, and no such GROUP/NAME";
        bail!("surrogate:{named}: {why}{hint}");
    }
    let sources = matrices.into_iter().map(|matrix| Ok((matrix.clone(), surrogate(matrix)?)));
    sources.collect::<Result<_>>().map(Some)
}

pub fn surrogate(matrix: &Matrix) -> Result<Source> {
    let id = &matrix.id;
    let spec = matrix.surrogate.as_deref().and_then(|spec| spec.strip_prefix("gen:"));
    let spec = spec.with_context(|| {
        format!("{id} has no surrogate: its entry in the datasets file has no surrogate = \"gen:…\"")
    })?;
    let generator = Generator::parse(spec).with_context(|| format!("the surrogate of {id}"))?;
    Ok(Source::Surrogate(id.clone(), generator))
}

/// Prepends the name of the matrix to a reason, unless it already begins with it, as read errors do.
pub fn of_matrix(matrix: impl ToString, reason: &str) -> String {
    let name = matrix.to_string();
    if reason.starts_with(&name) { reason.to_owned() } else { format!("{name}: {reason}") }
}
