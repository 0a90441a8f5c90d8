//! Which matrices a command line names.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use walkdir::WalkDir;

use crate::datasets::{Datasets, Matrix};
use crate::matrix::archive::is_matrix;
use crate::matrix::generate::Generator;
use crate::matrix::source::Source;

/// The matrices that the words name, with their files' sizes: generators, stand-ins, files, and for a
/// folder all files below it, the smallest first.
pub fn sources(
    words: &[OsString],
    datasets: Option<&Path>,
    stderr: &mut dyn Write,
) -> Result<Vec<(Source, u64)>> {
    let mut sources = Vec::new();
    for word in words {
        if let Some(stand_ins) = stand_ins(word, datasets)? {
            sources.extend(stand_ins.into_iter().map(|(_, source)| (source, 0)));
            continue;
        }
        match Source::parse(word)? {
            Source::File(dir) if dir.is_dir() || !dir.exists() => {
                sources.extend(find(&dir, stderr)?)
            }
            Source::File(file) => sources.push(sized(file)),
            generated => sources.push((generated, 0)),
        }
    }
    Ok(sources)
}

/// The one matrix that a word names.
pub fn source(word: &OsStr, datasets: Option<&Path>) -> Result<Source> {
    let Some(mut stand_ins) = stand_ins(word, datasets)? else { return Ok(Source::parse(word)?) };
    let count = stand_ins.len();
    ensure!(count == 1, "{} names {count} matrices, not one", word.display());
    Ok(stand_ins.remove(0).1)
}

/// The matrices of the collection that `stand-in:SET|GROUP/NAME` names, with what stands in for them;
/// `None` for other words.
pub fn stand_ins(word: &OsStr, datasets: Option<&Path>) -> Result<Option<Vec<(Matrix, Source)>>> {
    let named = word.to_str().and_then(|word| word.strip_prefix("stand-in:"));
    let Some(named) = named else { return Ok(None) };
    let datasets = Datasets::with(datasets)?;
    let matrices = match datasets.set(named) {
        Some(set) => datasets.matrices_of(set),
        None => datasets.matrix(named).into_iter().collect(),
    };
    if matrices.is_empty() {
        let sets: Vec<_> = datasets.sets().map(|(name, _)| name).collect();
        bail!("stand-in:{named}: no such GROUP/NAME, nor one of the sets {}", sets.join(", "));
    }
    let sources = matrices.into_iter().map(|matrix| Ok((matrix.clone(), stand_in(matrix)?)));
    sources.collect::<Result<_>>().map(Some)
}

/// What stands in for a matrix.
pub fn stand_in(matrix: &Matrix) -> Result<Source> {
    let id = &matrix.id;
    let spec = matrix.stand_in.as_deref().and_then(|spec| spec.strip_prefix("gen:"));
    let spec = spec.with_context(|| format!("{id} has no stand-in = \"gen:…\""))?;
    let generator = Generator::parse(spec).with_context(|| format!("the stand-in of {id}"))?;
    Ok(Source::StandIn(id.clone(), generator))
}

/// The matrix files below a folder, the smallest first. A folder below it that cannot be read is told
/// on stderr.
pub fn find(dir: &Path, stderr: &mut dyn Write) -> Result<Vec<(Source, u64)>> {
    std::fs::read_dir(dir).with_context(|| format!("cannot read folder {}", dir.display()))?;
    let mut files = Vec::new();
    for entry in WalkDir::new(dir).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                match error.path().filter(|path| !path.is_dir() && is_matrix(path)) {
                    // A link to nowhere, which reading it will tell.
                    Some(path) => files.push(sized(path.to_owned())),
                    None => writeln!(stderr, "not searched: {error}")?,
                }
                continue;
            }
        };
        if entry.file_type().is_file() && is_matrix(entry.path()) {
            files.push(sized(entry.into_path()));
        }
    }
    ensure!(!files.is_empty(), "{}: no .mtx, .mtx.gz or .tar.gz file below it", dir.display());
    files.sort_by_key(|(_, bytes)| *bytes);
    Ok(files)
}

fn sized(file: PathBuf) -> (Source, u64) {
    let source = Source::File(file);
    let bytes = bytes_of(&source);
    (source, bytes)
}

/// The size of a matrix' file; 0 where it has none, or it cannot be told.
pub fn bytes_of(source: &Source) -> u64 {
    match source {
        Source::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
        Source::Generated(_) | Source::StandIn(..) => 0,
    }
}
