//! The arrays to which the kernels convert on a model.

use super::{Codes, Filler, Packed, Planner};
use crate::device::model::Model;
use crate::device::{DeviceCsr, Gpu};
use crate::method::{Failed, Unavailable, Unprepared};
use spmv_matrix::Csr;

fn csr(rows: usize, cols: usize, columns: impl Fn(usize) -> Vec<usize>) -> Csr<f64> {
    let entries = |row| columns(row).into_iter().map(move |col| (row, col, 1.0));
    Csr::from_triplets(rows, cols, &(0..rows).flat_map(entries).collect::<Vec<_>>())
}

/// The slices, heads, steps and words.
type Arrays = (Vec<[u32; 4]>, Vec<u32>, Vec<[u32; 2]>, Vec<u32>);

/// Converts for a GPU that should have work for some warps. With many, a slice has at most 4 steps.
fn packed(csr: &Csr<f64>, warps: usize) -> Arrays {
    let gpu = Gpu::new(Model::tiny(1));
    let device = DeviceCsr::upload(&gpu, csr).unwrap();
    let plans = Planner::new(&device, warps).unwrap().plans().unwrap();
    let filler = Filler::new(&device, Codes::none(&gpu).unwrap(), plans).unwrap();
    let arrays = |packed: Packed<f64>| {
        let Packed { slices, heads, steps, words, .. } = packed;
        let (slices, steps) = (slices.to_vec()?, steps.to_vec()?);
        let (slices, steps) = (slices.as_chunks().0.to_vec(), steps.as_chunks().0.to_vec());
        Ok::<_, Failed>((slices, heads.to_vec()?, steps, words.to_vec()?))
    };
    arrays(filler.packed(warps, None).unwrap()).unwrap()
}

#[test]
fn offsets_are_stored_for_nonzeros_only_with_as_few_bits_as_possible() {
    // A single row is a slice of 32 lanes. In the third step these advance by 168, and by 0 to 2 more.
    let columns = (0..64).chain((0..30).map(|k| 200 + k + k / 10));
    let (slices, heads, steps, words) = packed(&csr(1, 300, |_| columns.clone().collect()), 1);
    assert_eq!((slices, heads), (vec![[0, 0, 0, 0]], vec![3 << 6 | 5 << 3]));
    assert_eq!(steps, [[0, u32::MAX], [32 << 6, u32::MAX], [168 << 6 | 2, (1 << 30) - 1]]);
    let bits = (0..30).fold(0, |bits, k: u64| bits | (k / 10) << (2 * k));
    assert_eq!(words, [bits as u32, (bits >> 32) as u32, 0, 0]);
    // A distance that needs more than 26 bits.
    let (.., steps, words) = packed(&csr(1, 1 << 28, |_| vec![1 << 27]), 1);
    assert_eq!((steps, words), (vec![[32, 1]], vec![1 << 27, 0, 0]));
}

#[test]
fn a_band_has_a_step_per_diagonal_and_no_offsets() {
    let three = csr(64, 66, |row| if row == 9 { vec![9, 11] } else { vec![row, row + 1, row + 2] });
    let (slices, heads, steps, words) = packed(&three, 1);
    // The second slice has another mask, so they are not one; the advances are 0, 1 and 1.
    assert_eq!(slices, [[0, 0, 0, 0], [3, 95, 0, 32]]);
    assert_eq!(heads, [3 << 6 | 4; 2]);
    assert_eq!(steps[..3], [[0, u32::MAX], [1 << 6, !(1 << 9)], [1 << 6, u32::MAX]]);
    assert_eq!(steps[3..], [[0, u32::MAX], [1 << 6, u32::MAX], [1 << 6, u32::MAX]]);
    assert_eq!(words, [0, 0]);
    // A quarter more diagonals than the longest row has nonzeros, and one more than that.
    let with_last = |most: usize| {
        let columns = move |row: usize| vec![row, row + 1, row + 2, row + 3 + row % most];
        packed(&csr(32, 40, columns), 1).1[0]
    };
    assert_eq!([with_last(2), with_last(3)], [5 << 6 | 4, 4 << 6]);
}

#[test]
fn equal_lists_are_stored_once() {
    let csr = csr(320, 321, |row| vec![row, row + 1]);
    let (slices, _, steps, _) = packed(&csr, 1 << 20);
    assert_eq!((slices.len(), steps.len()), (10, 2));
    // With enough slices for two warps, four in a row are one.
    let runs = [[0, 0, 3, 0], [0, 256, 3, 128], [0, 512, 1, 256]];
    assert_eq!(packed(&csr, 2).0, runs);
}

#[test]
fn slices_with_the_same_list_and_other_offsets_are_not_one() {
    let (slices, _, steps, _) = packed(&csr(64, 66, |row| vec![row + row % 3]), 1);
    assert_eq!((slices, steps), (vec![[0, 0, 0, 0], [0, 32, 2, 32]], vec![[2, u32::MAX]]));
}

/// Of 4096 rows 2051 have 9 nonzeros, which 4 lanes share. The last of their slices has 5 rows of one nonzero too, so
/// that 8 lanes of the last slice have no row, although rows of the next window follow.
#[test]
fn a_window_ends_with_lanes_without_rows() {
    let length = |row: usize| if row % 2 == 1 || row < 6 { 9 } else { 1 };
    let csr = csr(4200, 4300, |row| (0..length(row)).map(|k| row % 32 * 7 + k * k).collect());
    let (slices, _, _, words) = packed(&csr, 1 << 20);
    let last = slices.iter().rposition(|slice| slice[3] == 0).unwrap();
    let distances = &words[slices[last][2] as usize..][..16];
    assert!(distances[..12].iter().all(|pair| *pair < 4096 << 16), "{distances:?}");
    assert_eq!(distances[12..], [u32::MAX; 4]);
}

/// A row of 600 nonzeros is divided into parts of 256. Rows of 0 to 40 nonzeros have 1 to 16 lanes, and those of
/// similar length are listed, the longest first.
#[test]
fn divided_rows_come_first_and_others_by_length() {
    let length = |row: usize| if row == 70 { 600 } else { row * 7 % 41 };
    let csr = csr(200, 600, |row| (0..length(row)).map(|k| (k * 7 + row) % 600).collect());
    let (slices, heads, _, words) = packed(&csr, 1 << 20);
    assert!(slices[..3].iter().all(|slice| slice[3] == 70) && heads[2] & 3 == 2);
    assert_eq!(words[slices[1][2] as usize..][..2], [0, 3]);
    // Two rows of 40 nonzeros with 16 lanes each: 35 and 76.
    assert_eq!(heads[3], 3 << 6 | 4 << 3 | 1);
    assert_eq!(words[slices[3][2] as usize], 35 | 76 << 16);
    let lanes = heads.iter().map(|head| head >> 3 & 7);
    assert_eq!((lanes.clone().min(), lanes.max()), (Some(0), Some(5)));
    let covered: u32 = heads.iter().zip(&slices).map(|(head, _)| 32 >> (head >> 3 & 7)).sum();
    assert!(covered >= 200, "{covered} rows");
}

#[test]
fn values_are_coded_bit_by_bit_in_their_order() {
    let gpu = Gpu::new(Model::tiny(1));
    let codes = |values: &[f64]| {
        let row = |(row, &value)| (row, 0, value);
        let entries: Vec<_> = values.iter().enumerate().map(row).collect();
        let csr = Csr::from_triplets(values.len(), 1, &entries);
        let codes = Codes::of(&DeviceCsr::upload(&gpu, &csr).unwrap());
        codes.map(|codes| codes.distinct.to_vec().unwrap())
    };
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(codes(&[1.0, 0.0, -0.0, 1.0]).unwrap()), bits(vec![1.0, 0.0, -0.0]));
    let many: Vec<f64> = (0..=65536).map(f64::from).collect();
    assert_eq!(codes(&many[1..]).unwrap(), many[1..]);
    let Unprepared::Unavailable(Unavailable(reason)) = codes(&many).unwrap_err() else { panic!() };
    assert_eq!(reason, "has more than 65536 distinct values");
}
