//! HYB: Bell & Garland (2009), §4.4. The first entries of each row are in ELL, the rest in COO.
//!
//! The width of ELL is chosen by cusp's rule: the smallest width that less than a third of the rows, or fewer than
//! 4096 rows, exceed. A first parallel region multiplies ELL and writes y, a second one adds the rest to y.
//!
//! Memory: ELL, the rest with row indices, and a carry per thread. Departure: the constant 4096 was chosen for GPUs
//! and is used unchanged, so ELL is empty for matrices of fewer rows.

use super::coo::Carries;
use super::placement::{Span, place, span};
use super::prelude::*;
use super::row_kernels::Entries;
use super::rows::part;
use super::strips::StripRows;
use crate::formats::coordinates::{Rest, WIDTH, width};
use crate::formats::strips::{self, Strips};

pub const METHOD: Method = Method {
    name: "hyb",
    source: "Bell & Garland 2009, HYB; width as in cusp",
    summary: "the first entries of each row in ELL, the rest in COO",
    parameters: &[WIDTH],
    setup: Setup::Conversion,
    // Several threads collect the values of the rest at the same time.
    memory: |extent| strips::memory(extent) + 2 * extent.indices() + 3 * extent.nnz * extent.value,
    may_refuse: strips::may_refuse_width,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, isa) = (request.team, request.isa);
    let width = width(csr, request);
    let strips = Strips::whole(csr, isa.wide_lanes::<T>(), width)?;
    let shares = strips.shares(team.len());
    let rest = Rest::of(csr, width);
    let mut carries = Carries::new(request);
    let bytes = strips.bytes() + rest.bytes() + carries.bytes();
    let entries = |rank| part(rest.values.len(), rank, team.len());
    let owned = |rank: usize| [strips.spans(shares[rank].clone()), rest.spans(entries(rank))].concat();
    let placed = place(team, owned);
    let note = format!("{width} entries of a row in ELL, {} in coordinates", rest.values.len());
    let product = move |operands: Operands<T>, y: &mut [T]| {
        let shared = &DisjointMut::new(y);
        team.run(|rank| {
            let share = shares[rank].clone();
            isa.run_wide(StripRows { csr, strips: &strips, share, operands, y: shared });
        });
        let added = Operands { beta: T::one(), ..operands };
        let Rest { row_indices, column_indices, values } = &rest;
        carries.add_product(row_indices, Entries { column_indices, values }, added, y);
    };
    Ok(multiplying(csr, bytes, product).with_note(note).with_notes(placed))
}

impl<T: Scalar> Rest<T> {
    fn bytes(&self) -> usize {
        self.spans(0..self.values.len()).iter().map(Range::len).sum()
    }

    fn spans(&self, entries: Range<usize>) -> Vec<Span> {
        vec![
            span(&self.row_indices[entries.clone()]),
            span(&self.column_indices[entries.clone()]),
            span(&self.values[entries]),
        ]
    }
}
