use proptest::prelude::*;

use super::super::write;
use super::{gzip, read_text, shown, triplets};
use crate::Csr;

type Triplet = (usize, usize, f64);

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        -1.0..1.0f64,
        (-99..99i32).prop_map(f64::from),
        Just(-0.0),
        Just(f64::from_bits(1)),
        Just(f64::MAX),
    ]
}

fn matrix() -> impl Strategy<Value = (usize, usize, Vec<Triplet>)> {
    (1..40usize, 1..40usize).prop_flat_map(|(rows, cols)| {
        let value = value().prop_map(|value| value / 1e3);
        (Just(rows), Just(cols), prop::collection::vec((0..rows, 0..cols, value), 0..200))
    })
}

fn bits(csr: &Csr<f64>) -> Vec<(usize, usize, u64)> {
    triplets(csr).into_iter().map(|(row, col, value)| (row, col, value.to_bits())).collect()
}

/// Returns the text of an entry in one of several styles.
fn styled(entry: &Triplet, style: u8) -> String {
    let row = entry.0 + 1;
    let col = entry.1 + 1;
    let value = entry.2;
    match style % 6 {
        0 => format!("{row} {col} {value}\n"),
        1 => format!("  {row}\t{col}   {value:e}  \r\n"),
        2 => format!("%comment\n{row} {col} {value:?} % comment\n"),
        3 => format!("{row} {col} {value:.30e}\n\n"),
        4 => format!("{row} {col} {}\n", format!("{value:e}").replace('e', "D")),
        _ => format!("{row} {col} {value:+e}\n"),
    }
}

proptest! {
    #[test]
    fn entries_in_any_style_are_read_as_the_triplets(
        (rows, cols, entries) in matrix(), styles: [u8; 8], chunk in 1..300usize,
    ) {
        let mut text = format!("%%MatrixMarket matrix coordinate real general\n{rows} {cols} {}\n", entries.len());
        for (place, entry) in entries.iter().enumerate() {
            text += &styled(entry, styles[place % 8]);
        }
        let read = read_text(text.as_bytes(), chunk).unwrap();
        let expected = Csr::<f64>::from_triplets(rows, cols, &entries);
        prop_assert_eq!(bits(&read.csr), bits(&expected));
        prop_assert_eq!(read.duplicates as usize, entries.len() - expected.nnz());
    }

    #[test]
    fn symmetric_files_become_symmetric_matrices(
        (rows, _, entries) in matrix(), sign in prop::sample::select(&[1.0, -1.0][..]), chunk in 1..300usize,
    ) {
        let square = entries.into_iter().map(|(i, j, v)| (i, j % rows, v));
        let entries: Vec<Triplet> = square.filter(|t| sign > 0.0 || t.0 != t.1).collect();
        let name = if sign > 0.0 { "symmetric" } else { "skew-symmetric" };
        let mut text = format!("%%MatrixMarket matrix coordinate real {name}\n{rows} {rows} {}\n", entries.len());
        let mut both = Vec::new();
        for entry in &entries {
            text += &styled(entry, 0);
            both.push(*entry);
            if entry.0 != entry.1 {
                both.push((entry.1, entry.0, sign * entry.2));
            }
        }
        let read = read_text(text.as_bytes(), chunk).unwrap();
        prop_assert_eq!(bits(&read.csr), bits(&Csr::from_triplets(rows, rows, &both)));
    }

    #[test]
    fn changed_files_never_cause_a_panic(
        (rows, cols, entries) in matrix(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        chunk in 1..300usize,
    ) {
        let csr = Csr::<f64>::from_triplets(rows, cols, &entries);
        let mut text = Vec::new();
        write(&csr, &mut text).unwrap();
        let printable = b"0123456789 \n\t-+.eE%";
        for (place, byte) in &edits {
            let place = place.index(text.len());
            text[place] = *printable.get(*byte as usize).unwrap_or(byte);
        }
        let whole = read_text(&text, 1 << 20);
        let pieces = read_text(&text, chunk);
        prop_assert_eq!(shown(&pieces), shown(&whole));
        let mut compressed = gzip(&text);
        let place = edits[0].0.index(compressed.len());
        compressed[place] ^= edits[0].1;
        let _ = read_text(&compressed, chunk);
    }
}
