//! HOLA for the transposed product: hola-spmv-ics17, section 3.4.
//!
//! Blocks and threads own nonzeros as in `gpu-hola`, whose first kernel computes y ← βy and assigns rows. A thread
//! loads x once for each of its rows and adds each product to the y of its column by an atomic operation. The buffered
//! variant first sums the products of equal columns in shared memory.
//!
//! Memory: 4 bytes per block, plus 4 bytes. Departures from the paper: the paper does not describe how the buffer is
//! addressed. Here the buffer has half as many entries as the block has nonzeros, and a column's entry is its number
//! modulo that size; a product whose entry is used by another column is added to y directly. In both variants the order
//! of summation varies.

use super::hola::{self, BLOCK, Hola, ITEMS, SORT};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-hola-t",
    source: "hola-spmv-ics17, 3.4",
    summary: "HOLA for the transpose: equal nonzeros per block, x once per row, an atomic addition per \
              nonzero",
    parameters: &[
        ITEMS,
        BLOCK,
        Parameter {
            values: &["off", "on"],
            meaning: "whether each thread sorts the columns of its nonzeros; default off, as published",
            ..SORT
        },
    ],
    operations: Operations::Transposed,
    memory: hola::METHOD.memory,
    ..Method::new(code!(prepare, false))
};

pub const METHOD_BUFFERED: Method = Method {
    name: "gpu-hola-t-buffered",
    source: "hola-spmv-ics17, 3.4 and 4.5 (Hola-buffered)",
    summary: "gpu-hola-t with sums per column in shared memory",
    code: code!(prepare, true),
    ..METHOD
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>, buffered: bool) -> Preparation<'a, T> {
    let options = [("SORT", request.word("sort") == Some("on")), ("BUFFERED", buffered)];
    let hola = Hola::of(csr, request, (program!("cuda/hola_t.cu"), "hola_transposed"), options)?;
    let prepared = Prepared::on_gpu(csr, move |alpha, x, beta, y| hola.run(csr, (beta, y), &[x, y, &alpha], &[]));
    Ok(prepared.transposing(request.transpose))
}
