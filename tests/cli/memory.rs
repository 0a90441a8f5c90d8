//! Tests that matrices and methods that do not fit into memory are skipped with their sizes, and the others run.

use super::env::{Dir, Ran, run};

const EXACT: &str = "--threads 1 --x ones --iterations 4 --rounds 1";

fn ends(ran: &Ran) -> Vec<(String, String)> {
    ran.column("status").into_iter().zip(ran.column("reason")).collect()
}

/// A matrix with 10^6 entries: 12.0 MB in CSR, the same for the bandwidth sweeps, and 16 more bytes per entry while it
/// is generated.
const DENSE: &str = "gen:dense,cols=1000,nnz=1000000";

#[test]
fn a_matrix_that_does_not_fit_is_skipped_and_the_next_one_runs() {
    let words = format!("corpus {DENSE} gen:wheel,spokes=9 {EXACT} --methods seq --max-memory 20MiB");
    let ran = run(&words).exits(0);
    // 24 bytes per entry for matrix and sweeps, plus vectors and reference.
    let reason = "needs 26.7 MiB of memory to load and run, and 20.0 MiB are available (--max-memory); \
                  raise --max-memory, or take a smaller matrix";
    assert_eq!(ends(&ran), [("skipped".into(), reason.into()), ("ok".into(), "".into())]);
    let alone = run(&format!("--mtx {DENSE} {EXACT} --methods seq --max-memory 20MiB"));
    assert_eq!(alone.error(), format!("{DENSE}: {reason}"));
}

/// The matrix and its measurement need 24.1 of 40 MiB, the coordinate format up to 11.4 MiB more.
#[test]
fn a_method_that_does_not_fit_is_skipped_and_the_others_run() {
    let words = format!("--mtx {DENSE} {EXACT} --format csv --methods seq,hyb,coo --max-memory 40MiB");
    let ran = run(&words).exits(0);
    assert_eq!(ran.column("status"), ["ok", "skipped", "ok"]);
    ran.prints("for its format, and 15.9 MiB are available (--max-memory)");
}

/// The size line of a file may contain any numbers.
#[test]
fn a_wrong_header_causes_a_row_and_no_panic() {
    let banner = "%%MatrixMarket matrix coordinate real symmetric\n";
    let dir = Dir::new(&[
        ("entries.mtx", &format!("{banner}1000 1000 2000000000\n1 1 1\n")),
        ("exa.mtx", &format!("{banner}1000 1000 1000000000000000000\n1 1 1\n")),
        ("rows.mtx", &format!("{banner}2000000000 2000000000 1\n1 1 1\n")),
    ]);
    let ran = dir.run(&format!("corpus DIR {EXACT} --methods seq --max-memory 1GiB"));
    let nothing = "nothing was measured: no method has a correct result; the reason is in each row";
    assert_eq!(ran.error(), nothing);
    let mut ends = ends(&ran);
    ends.sort();
    let [entries, exa, rows] = &ends[..] else { panic!("{ends:?}") };
    assert!(entries.0 == "failed" && entries.1.contains("entries.mtx:"), "{entries:?}");
    assert!(exa.0 == "skipped" && exa.1.contains("are too many"), "{exa:?}");
    assert!(rows.0 == "skipped" && rows.1.starts_with("needs "), "{rows:?}");
}
