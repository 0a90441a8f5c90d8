//! The writer.

use std::io::{self, Write};

use crate::matrix::Csr;

/// Writes `csr` as `coordinate real general`, row by row, each value in the shortest form that
/// reads back bit for bit.
pub fn write(csr: &Csr<f64>, out: &mut impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(out, "{} {} {}", csr.rows, csr.cols, csr.nnz())?;
    for row in 0..csr.rows {
        for entry in csr.row(row) {
            let (col, value) = (csr.column_indices[entry] + 1, csr.values[entry]);
            writeln!(out, "{} {col} {value:?}", row + 1)?;
        }
    }
    out.flush()
}
