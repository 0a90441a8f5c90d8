//! Tests the other results of a method besides y: its memory, why it refuses a matrix, and its notes.

use crossbeam_utils::CachePadded;
use spmv_matrix::Csr;
use spmv_methods::method::profile::Profile;
use spmv_methods::method::{Choice, Prepared, Request, Unprepared};
use spmv_methods::team::Team;

use super::small::Triplet;

type Given = &'static [(&'static str, &'static str)];

/// Prepares a method on `threads` threads and returns the result of `read` for it.
fn prepared<R>(
    (name, given): (&str, Given),
    csr: &Csr<f64>,
    (threads, transpose, profile): (usize, bool, Option<&Profile>),
    read: impl Fn(Prepared<f64>) -> R,
) -> Result<R, Unprepared> {
    let method = spmv_methods::named(name).unwrap();
    let choice = Choice { method, given: given.to_vec() };
    let (team, given, expected_products) = (Team::floating(threads), &choice.given[..], 10);
    let request = Request { transpose, expected_products, profile, given, ..Request::new(&team) };
    method.prepare_on_host(csr, &request).map(read)
}

fn full(rows: usize, cols: usize) -> Csr<f64> {
    let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col, 1.0)));
    Csr::from_triplets(rows, cols, &cells.collect::<Vec<Triplet>>())
}

#[test]
fn all_host_memory_is_counted() {
    let csr = full(12, 12);
    let carry = size_of::<CachePadded<(usize, f64)>>() as u64;
    let cases: [(_, Given, _, _, _); 7] = [
        ("kokkos-style", &[], false, 0, 0),
        ("coo", &[], false, 144 * 4, carry),
        ("coo", &[], true, 144 * 4, 0),
        ("csc", &[], true, 13 * 4 + 144 * 12, carry),
        ("dia", &[], false, 23 * 8 + 23 * 12 * 8, 0),
        // 16 rows fill whole registers of any kind.
        ("hyb", &[("width", "2")], false, 2 * 16 * 12 + 10 * 12 * 16, carry),
        // If threads met within a block, the block would be stored twice.
        ("bcsr", &[("block", "4x4")], false, 9 * (16 * 8 + 4) + 3 * 4, 4),
    ];
    for (name, given, transpose, bytes, per_thread) in cases {
        for threads in [1, 2, 3, 5] {
            let kept = prepared((name, given), &csr, (threads, transpose, None), |p| p.extra_bytes);
            let expected = bytes + per_thread * threads as u64;
            assert_eq!(kept, Ok(Some(expected)), "{name} {given:?}, {transpose}, {threads}");
        }
    }
}

#[test]
fn formats_that_would_be_mostly_padding_are_refused() {
    let long_row = (1..100).map(|k| (0, k, 1.0));
    let arrow: Vec<Triplet> = long_row.chain((0..100).map(|k| (k, k, 1.0))).collect();
    let arrow = Csr::<f64>::from_triplets(100, 100, &arrow);
    let (wide, tall) = (full(3, 500), full(500, 3));
    // One row in 16 has 64 entries, the others have one: in this order mostly padding, whatever the register width.
    let length = |row| if row % 16 == 0 { 64 } else { 1 };
    let uneven = (0..160).flat_map(|row| (0..length(row)).map(move |col| (row, col, 1.0)));
    let uneven = Csr::<f64>::from_triplets(160, 64, &uneven.collect::<Vec<Triplet>>());
    let cases: [(_, Given, _, _, _); 11] = [
        ("ell", &[], &arrow, false, true),
        ("sell", &[("sigma", "1")], &uneven, false, true),
        ("sell", &[], &uneven, false, false),
        ("hyb", &[("width", "64")], &arrow, false, true),
        ("hyb", &[("width", "4")], &arrow, false, false),
        ("bcsr", &[("block", "8x8")], &arrow, false, true),
        ("dia", &[], &arrow, false, true),
        // A diagonal is as long as y, so its length is that of the longer or of the shorter side.
        ("dia", &[], &wide, false, false),
        ("dia", &[], &wide, true, true),
        ("dia", &[], &tall, false, true),
        ("dia", &[], &tall, true, false),
    ];
    for (name, given, csr, transpose, refused) in cases {
        let reason = prepared((name, given), csr, (2, transpose, None), |_| ()).err();
        let is_right = match &reason {
            Some(why) => refused && why.to_string().starts_with("would store "),
            None => !refused,
        };
        assert!(is_right, "{name} {given:?}, {transpose}: {reason:?}");
    }
}

#[test]
fn notes_report_the_parameters() {
    let csr = full(12, 12);
    let cases: [(_, Given, _); 4] = [
        ("hyb", &[], "0 entries of a row in ELL, 144 in coordinates"),
        ("hyb", &[("width", "4")], "4 entries of a row in ELL, 96 in coordinates"),
        ("hyb", &[("width", "64")], "12 entries of a row in ELL, 0 in coordinates"),
        ("bcsr", &[("block", "2x2")], "blocks of 2x2"),
    ];
    for (name, given, expected) in cases {
        let notes = prepared((name, given), &csr, (2, false, None), |prepared| prepared.notes);
        assert_eq!(notes.unwrap(), [expected], "{name} {given:?}");
    }
}

/// As many nonzeros in a dense block as on a diagonal below it, so that the border of two threads is between them.
#[test]
fn oski_style_chooses_for_each_thread_and_by_the_profile_given() {
    let block = (0..64).map(|k| (k / 8, k % 8, 1.0));
    // The rows and nonzeros of the block are as many as those of the diagonal.
    let diagonal = (8..44).map(|k| (k, k, 1.0));
    let csr = Csr::<f64>::from_triplets(44, 44, &block.chain(diagonal).collect::<Vec<Triplet>>());
    let mut profile = Profile([[1.0; 8]; 8]);
    profile.0[1][0] = 1e9;
    for (profile, expected) in [
        (None, "blocks of 8x8, 1x1 by the estimated profile"),
        (Some(&profile), "blocks of 2x1, 2x1 by the measured profile"),
    ] {
        let notes = prepared(("oski-style", &[]), &csr, (2, false, profile), |prepared| prepared.notes);
        assert_eq!(notes.unwrap(), [expected]);
    }
}
