//! cuSPARSE's product with block CSR (BSR): dense square blocks, aligned to multiples of their size. Setup copies CSR
//! to the host, builds the blocks and uploads them.
//!
//! cuSPARSE requires whole blocks, so the block size must divide the number of rows and of columns. The default is the
//! possible size with the fewest estimated bytes. A matrix whose blocks would be mostly padding is refused. Padding
//! multiplies x, so a NaN or infinity in x affects more rows than with CSR. Available since cuSPARSE 12.6.3, without
//! multiplication by the transpose.

use super::cusparse;
use crate::device::cusparse::{Algorithm, Order, SparseFormat};
use crate::formats::block_fill::fewest_bytes;
use crate::formats::fill;
use crate::formats::register_blocks::{self, RegisterBlocks, Shape, pieces, shape};
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-bsr",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_BSR_ALG1",
    summary: "NVIDIA's product on block CSR: reproducible, by NVIDIA's documentation; the conversion counts as setup",
    parameters: &[
        Parameter {
            name: "block",
            values: BLOCKS,
            meaning: "rows x columns of a block; default: the shape with the fewest estimated bytes",
        },
        Parameter {
            name: "order",
            values: &["row", "column"],
            meaning: "how the values of a block are stored; default row",
        },
    ],
    setup: Setup::Conversion,
    memory: |extent| register_blocks::memory(extent) + cusparse::memory(extent),
    may_refuse,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

const BLOCKS: &[&str] = &["2x2", "3x3", "4x4", "5x5", "6x6", "7x7", "8x8"];

/// Returns whether no possible size of blocks divides rows and columns, or each would be mostly padding.
fn may_refuse(extent: &Extent) -> bool {
    let Extent { rows, cols, nnz, .. } = *extent;
    let given = extent.word("block").map(|word| vec![word]);
    let sides = given.unwrap_or(BLOCKS.to_vec()).into_iter().map(|word| shape(word).rows as u64);
    let mut whole = sides.filter(|&side| rows.is_multiple_of(side) && cols.is_multiple_of(side));
    let is_padded = |side: u64| {
        let blocks = (rows / side * (cols / side)).min(nnz);
        fill::is_refused(blocks * side * side, nnz)
    };
    nnz == 0 || whole.all(is_padded)
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    cusparse::library(csr)?;
    let RegisterBlocks { shape, block_offsets, mut columns, mut values, .. } =
        blocks(&csr.download()?, request.word("block"))?;
    columns.iter_mut().for_each(|column| *column /= shape.cols as u32);
    let order = if request.word("order") == Some("column") {
        Order::CUSPARSE_ORDER_COL
    } else {
        Order::CUSPARSE_ORDER_ROW
    };
    if order == Order::CUSPARSE_ORDER_ROW {
        values.chunks_exact_mut(shape.area()).for_each(|block| transpose(block, shape.rows));
    }
    let gpu = &csr.gpu;
    let arrays = (gpu.upload(&block_offsets)?, gpu.upload(&columns)?, gpu.upload(&values)?);
    let addresses = [arrays.0.address(), arrays.1.address(), arrays.2.address()];
    let format = SparseFormat::Bsr { side: shape.rows as u64, blocks: columns.len() as u64, order };
    let call = (Algorithm::CUSPARSE_SPMV_BSR_ALG1, false);
    let prepared = cusparse::prepare(csr, request, call, format, addresses, arrays)?;
    Ok(prepared.with_note(format!("blocks of {shape}")))
}

/// Converts the matrix to blocks of the requested or cheapest shape; each block is stored column by column.
fn blocks<T: Scalar>(csr: &Csr<T>, given: Option<&'static str>) -> Result<RegisterBlocks<T>, Unavailable> {
    let fits = |shape: Shape| csr.rows().is_multiple_of(shape.rows) && csr.cols().is_multiple_of(shape.cols);
    let sought = given.map_or(BLOCKS.to_vec(), |word| vec![word]);
    let fitting: Vec<_> = sought.iter().copied().filter(|word| fits(shape(word))).collect();
    if fitting.is_empty() {
        let (rows, cols, sought) = (csr.rows(), csr.cols(), sought.join(", "));
        return Err(Unavailable(format!(
            "cuSPARSE takes whole blocks only, and {rows} x {cols} does not consist of {sought}"
        )));
    }
    let shape = match fitting[..] {
        [only] => shape(only),
        _ => fewest_bytes(csr, &fitting),
    };
    let mut pieces = pieces(csr, vec![(0..csr.rows(), shape)])?;
    Ok(pieces.remove(0))
}

fn transpose<T>(block: &mut [T], side: usize) {
    for row in 0..side {
        for col in 0..row {
            block.swap(row * side + col, col * side + row);
        }
    }
}

#[cfg(test)]
#[test]
fn the_size_divides_rows_and_columns() {
    let shape_in = |rows, cols, given| {
        let entries: Vec<_> = (0..rows).map(|row| (row, row % cols, 1.0)).collect();
        blocks(&Csr::<f64>::from_triplets(rows, cols, &entries), given).map(|b| b.shape)
    };
    assert_eq!(shape_in(9, 15, None), Ok(shape("3x3")));
    assert_eq!(shape_in(8, 12, Some("4x4")), Ok(shape("4x4")));
    let reason = |rows, cols, given| shape_in(rows, cols, given).unwrap_err().0;
    let expected = "cuSPARSE takes whole blocks only, and 8 x 12 does not consist of 8x8";
    assert_eq!(reason(8, 12, Some("8x8")), expected);
    let all = reason(11, 22, None);
    assert!(all.ends_with("x 22 does not consist of 2x2, 3x3, 4x4, 5x5, 6x6, 7x7, 8x8"), "{all}");
}
