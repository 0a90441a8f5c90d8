//! CSR as KokkosKernels multiplies it on CPUs (sparse/impl/KokkosSparse_spmv_impl.hpp).
//!
//! A row is a work item. With the static schedule, each thread owns an equal number of contiguous rows.
//! With the dynamic schedule, used for more than ten million nonzeros, threads fetch chunks of rows from a
//! shared counter. Transposed, y is scaled first, then the products of each row are added to the y of their
//! columns, atomically if there is more than one thread.
//!
//! Memory: none beyond CSR. Departures: a row is summed in four accumulators, as in the serial code of
//! KokkosKernels; its parallel code leaves this to the compiler. A chunk has as many rows as KokkosKernels
//! gives a thread of a team: 64, or 256 if rows are short and the matrix is large.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::atomic::{AtomicAdd, SharedSums};
use super::prelude::*;
use super::rows::{part, scale_on};

pub const METHOD: Method = Method {
    name: "kokkos-style",
    source: "KokkosKernels, KokkosSparse::spmv on CPUs",
    summary: "one row per work item, static or dynamic schedule; transposed with atomic additions",
    parameters: &[Parameter {
        name: "schedule",
        values: &["static", "dynamic"],
        meaning: "static: an equal number of rows per thread; dynamic: chunks of rows from a counter; \
                  default: dynamic above 10 million nonzeros",
    }],
    operations: Operations::Both,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

/// The number of nonzeros above which the schedule is dynamic.
const DYNAMIC: usize = 10_000_000;

enum Schedule {
    Static,
    Dynamic { next: CachePadded<AtomicUsize>, chunk: usize },
}

fn prepare<'a, T: AtomicAdd + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, isa, transpose) = (request.team, request.isa, request.transpose);
    let schedule = Schedule::of(csr.rows(), csr.nnz(), request.word("schedule"));
    if transpose {
        let product = move |Operands { alpha, x, beta }: Operands<T>, y: &mut [T]| {
            scale_on(team, beta, y);
            let y = SharedSums::new(team, y);
            schedule.run(csr.rows(), team, |rows| scatter(csr, rows, alpha, x, &y));
        };
        return Ok(multiplying(csr, 0, product).transposing(true));
    }
    Ok(multiplying(csr, 0, move |operands, y| {
        let y = DisjointMut::new(y);
        schedule.run(csr.rows(), team, |rows| {
            // SAFETY: each row is assigned once.
            let y = unsafe { y.range(rows.clone()) };
            isa.run(Rows { csr, rows, operands, y });
        });
    }))
}

impl Schedule {
    fn of(rows: usize, nnz: usize, word: Option<&str>) -> Self {
        let dynamic = word.map_or(nnz > DYNAMIC, |word| word == "dynamic");
        let short_rows = nnz < 20 * rows && nnz > 5_000_000;
        let chunk = if short_rows { 256 } else { 64 };
        if dynamic { Self::Dynamic { next: Default::default(), chunk } } else { Self::Static }
    }

    /// Runs `body` on the threads of the team for ranges that together contain each row once.
    fn run(&self, rows: usize, team: &Team, body: impl Fn(Range<usize>) + Sync) {
        let threads = team.len();
        match self {
            Self::Static => team.run(|rank| body(part(rows, rank, threads))),
            Self::Dynamic { next, chunk } => {
                next.store(0, Ordering::Relaxed);
                let fetch = || next.fetch_add(*chunk, Ordering::Relaxed);
                team.run(|_| {
                    let starts = std::iter::repeat_with(fetch).take_while(|&start| start < rows);
                    starts.for_each(|start| body(start..rows.min(start + chunk)));
                });
            }
        }
    }
}

fn scatter<T: AtomicAdd>(csr: &Csr<T>, rows: Range<usize>, alpha: T, x: &[T], y: &SharedSums<T>) {
    for (row, &x) in rows.clone().zip(&x[rows]) {
        let entries = csr.row(row);
        for (&column, &value) in csr.column_indices()[entries.clone()].iter().zip(&csr.values()[entries]) {
            // SAFETY: in a valid matrix every column index is within y.
            unsafe { y.add(column as usize, alpha * value * x) };
        }
    }
}

struct Rows<'a, T> {
    csr: &'a Csr<T>,
    rows: Range<usize>,
    operands: Operands<'a, T>,
    y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        let Operands { x, .. } = self.operands;
        for (row, y) in self.rows.zip(self.y) {
            let entries = self.csr.row(row);
            let columns = self.csr.column_indices()[entries.clone()].chunks_exact(4);
            let values = self.csr.values()[entries].chunks_exact(4);
            // SAFETY: in a valid matrix every column index is within x.
            let x = |column: u32| unsafe { *x.get_unchecked(column as usize) };
            let rest = columns.remainder().iter().zip(values.remainder());
            let mut sums = [T::zero(); 4];
            for (columns, values) in columns.zip(values) {
                for k in 0..4 {
                    sums[k] = V::fused(values[k], x(columns[k]), sums[k]);
                }
            }
            let sum = rest.fold(sums[0], |sum, (&column, &value)| V::fused(value, x(column), sum));
            self.operands.store(sum + sums[1] + sums[2] + sums[3], y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_or_else_the_nonzeros_select_the_schedule() {
        let is_dynamic = |nnz: usize, word| matches!(Schedule::of(1, nnz, word), Schedule::Dynamic { .. });
        assert!(!is_dynamic(DYNAMIC, None) && is_dynamic(DYNAMIC + 1, None));
        assert!(!is_dynamic(DYNAMIC + 1, Some("static")) && is_dynamic(1, Some("dynamic")));
    }
}
