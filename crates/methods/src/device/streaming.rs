//! Which matrices the kernels load with the hint that the L2 cache evicts them first (`once.cuh`): those that do not fit
//! in it, or, to find the best limit by measurement, those above the size in `SPMV_BENCH_STREAM_ABOVE`.

use std::ffi::OsString;
use std::sync::OnceLock;

use super::Failed;
use super::facts::Facts;

/// The environment variable with the bytes of the largest matrix that is loaded as usual; 0 for none.
const VARIABLE: &str = "SPMV_BENCH_STREAM_ABOVE";

/// Returns whether a matrix whose arrays have `bytes` is loaded with the hint.
pub fn is_streamed(bytes: u64, facts: &Facts) -> Result<bool, Failed> {
    let limit = limit().clone().map_err(Failed)?;
    Ok(bytes > limit.unwrap_or(facts.l2_bytes / facts.l2_copies()))
}

/// Describes the limit if the variable sets it.
pub fn origin() -> Option<String> {
    let limit = limit().as_ref().ok().copied().flatten();
    limit.map(|bytes| format!("(matrices above {bytes} bytes are evicted first: {VARIABLE})"))
}

fn limit() -> &'static Result<Option<u64>, String> {
    static LIMIT: OnceLock<Result<Option<u64>, String>> = OnceLock::new();
    LIMIT.get_or_init(|| parse(std::env::var_os(VARIABLE)))
}

fn parse(value: Option<OsString>) -> Result<Option<u64>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = value.to_string_lossy();
    let wrong = |_| {
        format!(
            "{VARIABLE}: '{text}' is not a number of bytes: write digits, such as 26214400, or 0 for all matrices"
        )
    };
    text.parse().map(Some).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_number_of_bytes() {
        let of = |text: &str| parse(Some(text.into()));
        assert_eq!((parse(None), of("")), (Ok(None), Ok(None)));
        assert_eq!((of("0"), of("26214400")), (Ok(Some(0)), Ok(Some(26_214_400))));
        for wrong in ["-1", "25 MB", "1e6", "18446744073709551616", "all"] {
            let error = of(wrong).unwrap_err();
            let begin =
                format!("SPMV_BENCH_STREAM_ABOVE: '{wrong}' is not a number of bytes: write");
            assert!(error.starts_with(&begin), "{error}");
        }
    }
}
