use super::code;
use super::format::Packed;
use super::steps::{LANES, Stream, band};
use spmv_matrix::Csr;

fn csr(rows: usize, cols: usize, columns: impl Fn(usize) -> Vec<usize>) -> Csr<f64> {
    let entries = |row| columns(row).into_iter().map(move |col| (row, col, 1.0));
    Csr::from_triplets(rows, cols, &(0..rows).flat_map(entries).collect::<Vec<_>>())
}

/// Few nonzeros, so that a slice has at most 4 steps.
fn packed(csr: &Csr<f64>) -> Packed {
    Packed::of(csr, 1 << 20, None)
}

#[test]
fn offsets_are_stored_for_nonzeros_only_with_as_few_bits_as_possible() {
    let mut words = vec![7];
    let mut stream = Stream::new(10, &mut words);
    let entries = |lanes: &[(usize, u32)]| {
        let mut entries = [None; LANES];
        lanes.iter().for_each(|&(lane, k)| entries[lane] = Some(k));
        entries
    };
    let columns = [5, 17, 14, 36, 1 << 30, 0];
    // From columns 10, 11 and 13: distances of -5, 6 and 1. Lane 2 advances too.
    let step = stream.step(&columns, &entries(&[(0, 0), (1, 1), (3, 2)]));
    assert_eq!(step, [(-5i32 as u32) << 6 | 4, 0b1011]);
    // From columns 17, 7 and 14, with distances of 19 and 24.
    let step = stream.step(&[36, 31], &entries(&[(1, 0), (2, 1)]));
    assert_eq!(step, [19 << 6 | 3, 0b110]);
    // A distance that needs more than 26 bits.
    let step = stream.step(&columns, &entries(&[(1, 4)]));
    assert_eq!(step, [32, 0b10]);
    let far = (1u32 << 30) - 36;
    let bits = u64::from(far) << 18 | 5 << 15 | 6 << 8 | 11 << 4;
    assert_eq!(words, [7, bits as u32, (bits >> 32) as u32]);
}

#[test]
fn a_band_has_a_step_per_diagonal_and_no_offsets() {
    let three = csr(64, 66, |row| if row == 9 { vec![9, 11] } else { vec![row, row + 1, row + 2] });
    let steps = band(&three, 0..32, 3).unwrap();
    assert_eq!([steps[1][8], steps[1][9], steps[2][9]], [Some(25), None, Some(28)]);
    assert!(band(&three, 0..32, 2).is_none());
    // The second slice has another mask, and the advances 0, 1 and 1.
    let packed = packed(&three);
    assert_eq!(packed.slices, [[0, 0, 0, 0], [3, 95, 0, 32]]);
    assert_eq!(packed.heads, [3 << 6 | 4; 2]);
    assert_eq!(packed.steps[3..], [[0, u32::MAX], [1 << 6, u32::MAX], [1 << 6, u32::MAX]]);
    assert_eq!(packed.words, [0, 0]);
}

#[test]
fn equal_lists_are_stored_once() {
    let csr = csr(320, 321, |row| vec![row, row + 1]);
    let few = packed(&csr);
    assert_eq!((few.slices.len(), few.steps.len(), few.parts), (10, 2, 0));
    // With enough slices for two warps, four in a row are one.
    let runs = [[0, 0, 3, 0], [0, 256, 3, 128], [0, 512, 1, 256]];
    assert_eq!(Packed::of(&csr, 2, None).slices, runs);
}

/// A row of 600 nonzeros is divided into parts of 256. Rows of 1 to 40 nonzeros have 1 to 16 lanes.
#[test]
fn divided_rows_come_first() {
    let length = |row: usize| if row == 70 { 600 } else { row * 7 % 41 };
    let packed =
        packed(&csr(200, 600, |row| (0..length(row)).map(|k| (k * 7 + row) % 600).collect()));
    assert!(packed.parts == 3 && packed.slices[..3].iter().all(|slice| slice[3] == 70));
    let lanes = packed.heads.iter().map(|head| head >> 3 & 7);
    assert_eq!((lanes.clone().min(), lanes.max()), (Some(0), Some(5)));
}

#[test]
fn values_are_coded_bit_by_bit() {
    let (table, codes) = code(&[1.0, 0.0, -0.0, 1.0]).unwrap();
    assert_eq!((table.len(), codes), (3, vec![0, 1, 2, 0]));
    let many: Vec<f64> = (0..=65536).map(f64::from).collect();
    assert_eq!(code(&many[1..]).unwrap().1[65535], 65535);
    assert_eq!(code(&many).unwrap_err().0, "has more than 65536 distinct values");
}
