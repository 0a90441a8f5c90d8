//! Tests of values that exceed the range of a precision.

use crate::env::{Dir, run};
use crate::{EXACT, SMALL};

#[test]
fn f32_that_overflows_is_skipped_with_the_value() {
    let dir = Dir::new(&[("a.mtx", &SMALL.replace("3 3 5", "3 3 1e300"))]);
    let ran = dir.run(&format!("--mtx DIR/a.mtx {EXACT} --precision both")).ok();
    let line = "merge                 skipped the value 1e300 is too large for f32";
    ran.prints(line);
}

/// α·1 is finite, but intermediate sums with other elements of x need not be. That is not an error of a method.
#[test]
fn a_factor_that_is_too_large_skips_all_methods() {
    for words in ["--alpha 1.7e308", "--alpha 3e38 --precision f32"] {
        let ran = run(&format!("gen:diagonals,rows=9,offsets=0 {EXACT} {words} --format csv"));
        let reason = ",skipped,nothing can be verified: row 8 of alpha A x";
        let is_skipped = |line: &str| line.replace('"', "").contains(reason);
        assert!(ran.stdout.lines().skip(1).all(is_skipped), "{ran:?}");
        assert_eq!(ran.stdout.lines().count(), 4);
    }
}

/// The sum of these finite values is not finite, so that there is no reference for the product.
#[test]
fn a_reference_that_overflows_skips_all_methods() {
    let head = "%%MatrixMarket matrix coordinate real general";
    let entries: String = (1..=20).map(|col| format!("2 {col} 1.7e308\n")).collect();
    let dir = Dir::new(&[("a.mtx", &format!("{head}\n2 20 20\n{entries}"))]);
    let ran = dir.run(&format!("--mtx DIR/a.mtx {EXACT} --format csv"));
    let reason = "nothing can be verified: row 1 of alpha A x + beta y, or a part of its sum, may exceed the largest f64";
    let lines: Vec<_> = ran.stdout.lines().skip(1).collect();
    assert!(!lines.is_empty(), "{ran:?}");
    assert!(
        lines.iter().all(|line| line.contains(",skipped,") && line.contains(reason)),
        "{ran:?}"
    );
}
