//! Chooses one of this project's GPU methods by its times on matrices of similar shape.
//!
//! The table of choices (`choices.rs`) has the times of all candidates on generated matrices. They are modelled, unless
//! a result file in `SPMV_BENCH_CHOICES` gives measured ones. The table's matrices are compared with the given one by
//! the number of nonzeros and the mean, the spread and the maximum of the row lengths. On the most similar ones each
//! candidate has a cost: its setup and the planned products. The candidate with the lowest mean cost that accepts the
//! matrix is chosen. The cost of `gpu-dia` is multiplied by the matrix' stored values per nonzero; in the table they
//! are about 1. Setup copies the row offsets to the host (the column indices too, if `gpu-dia` might be chosen) and
//! then runs the setup of the chosen method. Memory: that of the chosen method.

mod choices;

use super::{
    csr_adaptive, csr_bulk, csr_lrb, csr_vector, csr5, dia, hyb, kokkos_style, merge, packed, sell,
};
use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use crate::matrix::stats::RowStatistics;
use crate::memory::extent::Extent;
use crate::method::{
    Code, Method, Operations, PreparedOnGpu, Request, Setup, Unavailable, Unprepared,
};
use crate::methods::diagonals;
use choices::{Choices, Ranked, Shape};

/// The method `gpu-auto`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-auto",
    source: "this project",
    summary: "the method that costs least, setup included, on similar matrices of a table",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

/// The methods to choose from.
static CANDIDATES: [Method; 11] = [
    csr_vector::METHOD,
    csr_adaptive::METHOD,
    csr_lrb::METHOD,
    csr_bulk::METHOD,
    merge::METHOD,
    csr5::METHOD,
    kokkos_style::METHOD,
    hyb::METHOD,
    sell::METHOD,
    dia::METHOD,
    packed::METHOD,
];

fn memory(extent: &Extent) -> u64 {
    CANDIDATES.iter().map(|method| (method.memory)(extent)).max().unwrap_or_default()
}

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let choices = Choices::of(csr.gpu.facts())?;
    let names = CANDIDATES.iter().map(|method| method.name);
    let shape = shape(csr)?;
    let (mut ranked, similar) =
        choices.rank(&shape, T::PRECISION, request.expected_products, names)?;
    rate_diagonals(csr, &mut ranked)?;
    for (index, it) in ranked.iter().enumerate() {
        let method = CANDIDATES.iter().find(|method| method.name == it.method);
        let method = method.expect("only candidates are ranked");
        let prepare = method.prepare_on_gpu::<T>().expect("a method of the GPU");
        let prepared = match prepare(csr, request) {
            Err(Unprepared::Unavailable(_)) => continue,
            prepared => prepared?,
        };
        let csr_bytes = method.csr_bytes(csr.host.bytes(), &prepared);
        let why = reason(&ranked[index..], &similar, &choices.origin);
        return Ok(prepared.with_note(why).with_csr_bytes(csr_bytes));
    }
    Err(Unavailable("no candidate accepts the matrix".into()).into())
}

fn shape<T: Value>(csr: &DeviceCsr<T>) -> Result<Shape, Unprepared> {
    let offsets = csr.row_offsets.to_vec()?;
    let lengths = offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let RowStatistics { std_dev, max, .. } = RowStatistics::of_lengths(lengths, rows, nnz);
    // A matrix without nonzeros is treated as one with a single one.
    Ok(Shape {
        rows: rows.max(1) as f64,
        nnz: nnz.max(1) as f64,
        std_dev: std_dev.unwrap_or_default(),
        longest: f64::from(max.max(1)),
    })
}

/// Multiplies the cost of `gpu-dia`, if it is the lowest, by the number of stored values per nonzero.
fn rate_diagonals<T: Value>(csr: &DeviceCsr<T>, ranked: &mut [Ranked]) -> Result<(), Unprepared> {
    let Some(first) = ranked.first_mut().filter(|it| it.method == dia::METHOD.name) else {
        return Ok(());
    };
    let stored = diagonals::count(&csr.download()?) as f64 * csr.host.rows() as f64;
    first.cost *= (stored / csr.host.nnz().max(1) as f64).max(1.0);
    ranked.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(())
}

/// Explains the choice of the first of the ranked methods in one line.
fn reason(ranked: &[Ranked], similar: &[&str], origin: &str) -> String {
    let of = |it: &Ranked| format!("{}: {:.2} times the lowest cost", it.method, it.cost);
    let next = ranked.get(1).map(|it| format!("; next {}", of(it))).unwrap_or_default();
    format!("picked {}{next} ({origin}: {})", of(&ranked[0]), similar.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Gpu;
    use crate::device::model::Model;
    use crate::matrix::Csr;

    const DIA: Ranked = Ranked { method: "gpu-dia", cost: 1.0 };
    const SELL: Ranked = Ranked { method: "gpu-sell", cost: 1.3 };

    #[test]
    fn the_choice_is_explained() {
        let why = |ranked: &[Ranked]| reason(ranked, &["a", "b"], "h200, modelled");
        let both = "picked gpu-dia: 1.00 times the lowest cost; next gpu-sell: 1.30 times the lowest cost \
                    (h200, modelled: a, b)";
        assert_eq!(why(&[DIA, SELL]), both);
        assert_eq!(
            why(&[SELL]),
            "picked gpu-sell: 1.30 times the lowest cost (h200, modelled: a, b)"
        );
    }

    #[test]
    fn diagonals_cost_in_proportion_to_their_stored_values() {
        let gpu = Gpu::new(Model::tiny(1));
        let order = |triplets: &[(usize, usize, f64)]| {
            let csr = Csr::<f64>::from_triplets(4, 4, triplets);
            let csr = DeviceCsr::upload(&gpu, &csr).unwrap();
            let mut ranked = [DIA, SELL];
            rate_diagonals(&csr, &mut ranked).unwrap();
            ranked.map(|it| it.method)
        };
        let full = [0, 1, 2, 3].map(|k| (k, k, 1.0));
        assert_eq!(order(&full), ["gpu-dia", "gpu-sell"]);
        assert_eq!(order(&full[..2]), ["gpu-sell", "gpu-dia"]);
    }
}
