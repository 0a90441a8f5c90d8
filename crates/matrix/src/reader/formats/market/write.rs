use std::io::{self, Write};

use rayon::prelude::*;

use crate::Csr;

/// The approximate number of entries that a thread formats at a time.
const PIECE: usize = 1 << 16;

/// Writes `csr` as `coordinate real general`, row by row, with each value in the shortest form that is read
/// back bit for bit. Values must be finite because the reader refuses all others.
pub fn write(csr: &Csr<f64>, out: &mut impl Write) -> io::Result<()> {
    let &Csr { rows, cols, .. } = csr;
    write_head("real", None, [rows, cols, csr.nnz()], out)?;
    write_block(0, &csr.row_offsets, &csr.column_indices, Some(&csr.values), out)?;
    out.flush()
}

/// Writes the banner, the kind of problem in a comment `% kind: …`, as in files of the collection, and the size line.
pub(crate) fn write_head(
    field: &str,
    kind: Option<&str>,
    [rows, cols, nnz]: [usize; 3],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    if let Some(kind) = kind {
        writeln!(out, "% kind: {kind}")?;
    }
    writeln!(out, "{rows} {cols} {nnz}")
}

/// Writes the entries of the rows from `first_row` on. They are given as CSR arrays whose offsets start at 0
/// and are formatted on the current rayon pool.
pub(crate) fn write_block(
    first_row: usize,
    row_offsets: &[u32],
    columns: &[u32],
    values: Option<&[f64]>,
    out: &mut impl Write,
) -> io::Result<()> {
    let rows = row_offsets.len() - 1;
    let mut pieces = vec![0];
    while let Some(&begun) = pieces.last().filter(|begun| **begun < rows) {
        let end = row_offsets[begun] as usize + PIECE;
        let rows_within = row_offsets[begun..].partition_point(|offset| *offset as usize <= end);
        pieces.push((begun + rows_within.max(2) - 1).min(rows));
    }
    let text = |piece: &[usize]| {
        let mut text = Vec::new();
        for row in piece[0]..piece[1] {
            for entry in row_offsets[row] as usize..row_offsets[row + 1] as usize {
                let value = values.map(|values| values[entry]);
                append_entry(&mut text, first_row + row + 1, columns[entry] + 1, value);
            }
        }
        text
    };
    let bounds: Vec<&[usize]> = pieces.windows(2).collect();
    for group in bounds.chunks(2 * rayon::current_num_threads()) {
        let texts: Vec<_> = group.par_iter().map(|piece| text(piece)).collect();
        texts.iter().try_for_each(|text| out.write_all(text))?;
    }
    Ok(())
}

/// Appends the line of an entry, three times as fast as `writeln!`.
fn append_entry(text: &mut Vec<u8>, row: usize, col: u32, value: Option<f64>) {
    text.extend_from_slice(itoa::Buffer::new().format(row).as_bytes());
    text.push(b' ');
    text.extend_from_slice(itoa::Buffer::new().format(col).as_bytes());
    if let Some(value) = value {
        text.push(b' ');
        text.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
    }
    text.push(b'\n');
}
