//! Tests of values that exceed the range of a precision: methods are skipped, because that is not an error of theirs.

use super::env::Dir;
use super::{EXACT, SMALL};

#[test]
fn what_overflows_is_skipped_with_the_reason() {
    let entries: String = (1..=20).map(|col| format!("2 {col} 1.7e308\n")).collect();
    let sum = format!("%%MatrixMarket matrix coordinate real general\n2 20 20\n{entries}");
    let large = SMALL.replace("3 3 5", "3 3 1e300");
    let entries: String = (1..=176).map(|col| format!("2 {col} 1e306\n")).collect();
    let near = format!("%%MatrixMarket matrix coordinate real general\n2 176 176\n{entries}");
    let dir = Dir::new(&[("large.mtx", &large), ("sum.mtx", &sum), ("near.mtx", &near)]);
    let diagonal = "gen:diagonals,rows=9,offsets=0 --alpha";
    // α·1 is finite, but intermediate sums with other elements of x need not be.
    let of_diagonal = "nothing can be verified: row 8 of alpha A x";
    // The sum of these finite values is not finite, so that there is no reference for the product.
    let of_sum = "nothing can be verified: row 1 of alpha A x + beta y, or a part of its sum, may exceed the largest \
        f64";
    for (words, reason) in [
        ("DIR/large.mtx --precision f32", "the value 1e300 is too large for f32"),
        (&format!("{diagonal} 1.7e308"), of_diagonal),
        (&format!("{diagonal} 3e38 --precision f32"), of_diagonal),
        ("DIR/sum.mtx", of_sum),
        // A method may scale the sum at the end.
        ("DIR/sum.mtx --alpha 0", of_sum),
        ("DIR/sum.mtx --alpha 5e-324", of_sum),
        // The sum of 1.76e308 is finite, but one with other elements of x need not be.
        ("DIR/near.mtx --alpha 0.1", of_sum),
    ] {
        let ran = dir.run(&format!("{words} {EXACT} --format csv"));
        assert_eq!(ran.column("status"), ["skipped"; 3], "{ran:?}");
        assert!(ran.column("reason").iter().all(|found| found.starts_with(reason)), "{ran:?}");
    }
    dir.run(&format!("DIR/large.mtx {EXACT} --precision both"))
        .exits(0)
        .prints("merge                 skipped\n\nseq, csr-rows, merge: the value 1e300 is too large for f32");
}
