//! The texts of the CUDA programs: as embedded in the binary, or from the folder in `SPMV_BENCH_CUDA`, so that an
//! author of kernels need not build the program again after each change. And which matrices they load with the hint
//! that the L2 cache evicts them first (`once.cuh`): those that do not fit in it, or, to find the best limit by
//! measurement, those above the size in `SPMV_BENCH_STREAM_ABOVE`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::errors::Failed;
use spmv_matrix::device::facts::Facts;

/// The header files that programs can include, as pairs of name and text.
const HEADERS: &[(&str, &str)] = &[
    ("common.cuh", include_str!("../../cuda/common.cuh")),
    ("hola.cuh", include_str!("../../cuda/hola.cuh")),
    ("convert.cuh", include_str!("../../cuda/convert.cuh")),
    ("coordinates.cuh", include_str!("../../cuda/coordinates.cuh")),
    ("dasp.cuh", include_str!("../../cuda/dasp.cuh")),
    ("distinct.cuh", include_str!("../../cuda/distinct.cuh")),
    ("merge.cuh", include_str!("../../cuda/merge.cuh")),
    ("once.cuh", include_str!("../../cuda/once.cuh")),
    ("long_rows.cuh", include_str!("../../cuda/long_rows.cuh")),
    ("packed.cuh", include_str!("../../cuda/packed.cuh")),
    ("packed_walk.cuh", include_str!("../../cuda/packed_walk.cuh")),
    ("row_of.cuh", include_str!("../../cuda/row_of.cuh")),
    ("shared_rows.cuh", include_str!("../../cuda/shared_rows.cuh")),
    ("strips.cuh", include_str!("../../cuda/strips.cuh")),
];

/// The folder in `SPMV_BENCH_CUDA`, with the texts of its files by name.
type Folder = (PathBuf, BTreeMap<String, String>);

/// Returns the text of a file of `cuda/`, given the embedded one.
pub fn text(name: &str, embedded: &'static str) -> &'static str {
    let folder = folder().as_ref().ok().and_then(Option::as_ref);
    folder.and_then(|(_, texts)| texts.get(name)).map_or(embedded, String::as_str)
}

pub fn headers() -> impl Iterator<Item = (&'static str, &'static str)> {
    HEADERS.iter().map(|(name, embedded)| (*name, text(name, embedded)))
}

/// Returns the folder whose files replace the embedded ones, if there is one. All of them must be readable.
pub fn replaced_from() -> Result<Option<&'static Path>, Failed> {
    let folder = folder().as_ref().map_err(|error| Failed(error.clone()))?;
    Ok(folder.as_ref().map(|(path, _)| path.as_path()))
}

/// Describes what environment variables change of the programs: the folder whose files replace the embedded ones, and
/// the limit above which matrices are streamed; an empty text if nothing.
pub fn origin() -> String {
    let folder = replaced_from().ok().flatten();
    let folder = folder.map(|path| format!("programs from {}", path.display()));
    let limit = limit().as_ref().ok().copied().flatten();
    let limit = limit.map(|bytes| format!("(matrices above {bytes} bytes are evicted first: {STREAM_ABOVE})"));
    let parts: Vec<_> = [folder, limit].into_iter().flatten().collect();
    parts.join(" ")
}

fn folder() -> &'static Result<Option<Folder>, String> {
    static FOLDER: OnceLock<Result<Option<Folder>, String>> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let path = std::env::var_os("SPMV_BENCH_CUDA").filter(|path| !path.is_empty());
        path.map(|path| read(PathBuf::from(path))).transpose()
    })
}

fn read(path: PathBuf) -> Result<Folder, String> {
    let failed = |path: &Path, error| format!("SPMV_BENCH_CUDA: {}: {error}", path.display());
    let mut texts = BTreeMap::new();
    for entry in std::fs::read_dir(&path).map_err(|error| failed(&path, error))? {
        let file = entry.map_err(|error| failed(&path, error))?.path();
        let is_program = file.extension().is_some_and(|end| end == "cu" || end == "cuh");
        if let (true, Some(name)) = (is_program, file.file_name().and_then(|name| name.to_str())) {
            let text = std::fs::read_to_string(&file).map_err(|error| failed(&file, error))?;
            texts.insert(name.to_owned(), text);
        }
    }
    Ok((path, texts))
}

/// The environment variable with the bytes of the largest matrix that is loaded as usual; 0 for none.
const STREAM_ABOVE: &str = "SPMV_BENCH_STREAM_ABOVE";

/// Returns whether a matrix whose arrays have `bytes` is loaded with the hint.
pub fn is_streamed(bytes: u64, facts: &Facts) -> Result<bool, Failed> {
    let limit = limit().clone().map_err(Failed)?;
    Ok(bytes > limit.unwrap_or(facts.l2_bytes / facts.l2_copies()))
}

fn limit() -> &'static Result<Option<u64>, String> {
    static LIMIT: OnceLock<Result<Option<u64>, String>> = OnceLock::new();
    LIMIT.get_or_init(|| parse(std::env::var_os(STREAM_ABOVE)))
}

fn parse(value: Option<OsString>) -> Result<Option<u64>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = value.to_string_lossy();
    let wrong = |_| {
        format!(
            "{STREAM_ABOVE}: '{text}' is not a number of bytes: write digits, such as 26214400, or 0 for all matrices"
        )
    };
    text.parse().map(Some).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_contains_programs_and_headers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("merge.cu"), "text").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "other").unwrap();
        let (_, texts) = read(folder.path().into()).unwrap();
        assert_eq!(texts, BTreeMap::from([("merge.cu".into(), "text".into())]));
        let missing = read(folder.path().join("none")).unwrap_err();
        assert!(missing.starts_with("SPMV_BENCH_CUDA: ") && missing.contains("none"), "{missing}");
    }

    #[test]
    fn the_limit_is_a_number_of_bytes() {
        let of = |text: &str| parse(Some(text.into()));
        assert_eq!((parse(None), of("")), (Ok(None), Ok(None)));
        assert_eq!((of("0"), of("26214400")), (Ok(Some(0)), Ok(Some(26_214_400))));
        for wrong in ["-1", "25 MB", "1e6", "18446744073709551616", "all"] {
            let error = of(wrong).unwrap_err();
            let begin = format!("SPMV_BENCH_STREAM_ABOVE: '{wrong}' is not a number of bytes: write");
            assert!(error.starts_with(&begin), "{error}");
        }
    }
}
