//! Tells apart the tests of a change and the tests of a release.

/// Returns whether everything is tested, and not only what a change often breaks.
pub fn all() -> bool {
    std::env::var_os("SPMV_BENCH_ALL_TESTS").is_some_and(|value| !value.is_empty())
}
