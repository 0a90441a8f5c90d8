//! Chooses one of this project's GPU methods by its times on matrices of similar shape.
//!
//! The table of choices ([`Choices`]) has the times of all candidates on generated matrices. They are modelled, unless
//! [`Request::choices`] has measured ones. The table's matrices are compared with the given one by the number of
//! nonzeros and the mean, the spread and the maximum of the row lengths. On the most similar ones each
//! candidate has a cost: its setup and the planned products. The candidate with the lowest mean cost that accepts the
//! matrix is chosen. The cost of `gpu-dia` is multiplied by the matrix' stored values per nonzero; in the table they
//! are about 1. Setup copies the row offsets to the host, and then runs the setup of the chosen method. If `gpu-dia`
//! costs least, setup first copies the columns of some rows, and the whole matrix if these have few diagonals. Memory:
//! that of the chosen method.

use std::collections::HashSet;

use super::convert::Converter;
use super::prelude::*;
use super::{
    csr_adaptive, csr_bulk, csr_lrb, csr_vector, csr5, dia, hyb, kokkos_style, merge, packed, sell,
};
use crate::method::choices::{Choices, Ranked, Shape};

pub const NAME: &str = METHOD.name;

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

/// The number of rows whose diagonals are counted before those of the whole matrix.
const SAMPLED: usize = 16;

fn memory(extent: &Extent) -> u64 {
    CANDIDATES.iter().map(|method| (method.memory)(extent)).max().unwrap_or_default()
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let choices = match request.choices {
        Some(given) => given.as_ref().map_err(Clone::clone)?,
        None => Choices::embedded(csr.gpu.facts()),
    };
    let names = CANDIDATES.iter().map(|method| method.name);
    let offsets = csr.row_offsets.to_vec()?;
    let shape = shape(csr, &offsets);
    let (mut ranked, similar) =
        choices.rank(&shape, T::PRECISION, request.expected_products, names)?;
    rate_diagonals(csr, &offsets, &mut ranked)?;
    for (index, it) in ranked.iter().enumerate() {
        let method = CANDIDATES.iter().find(|method| method.name == it.method);
        let method = method.expect("only candidates are ranked");
        let prepared = match method.prepare_on_device(csr, request) {
            Err(Unprepared::Unavailable(_)) => continue,
            prepared => prepared?,
        };
        let csr_bytes = method.csr_bytes(csr.host.bytes(), &prepared);
        let why = reason(&ranked[index..], &similar, &choices.origin);
        return Ok(prepared.with_note(why).with_csr_bytes(csr_bytes));
    }
    Err(Unavailable("no candidate accepts the matrix".into()).into())
}

/// Returns the shape of the matrix. A matrix without nonzeros is treated as one with a single one.
fn shape<T: Value>(csr: &DeviceCsr<T>, offsets: &[u32]) -> Shape {
    let (rows, nnz) = (csr.host.rows().max(1) as f64, csr.host.nnz().max(1) as f64);
    let lengths = offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let (longest, squares) = lengths.fold((1, 0), |(longest, squares), length| {
        (length.max(longest), squares + u64::from(length).pow(2))
    });
    let variance = squares as f64 / rows - (nnz / rows).powi(2);
    Shape { rows, nnz, std_dev: variance.max(0.0).sqrt(), longest: f64::from(longest) }
}

/// Multiplies the cost of `gpu-dia`, if it is the lowest, by the number of stored values per nonzero. If the diagonals of
/// [`SAMPLED`] rows are already too many, the others are not counted.
fn rate_diagonals<T: Value>(
    csr: &DeviceCsr<T>,
    offsets: &[u32],
    ranked: &mut [Ranked],
) -> Result<(), Unprepared> {
    let [first, others @ ..] = ranked else { return Ok(()) };
    if first.method != dia::METHOD.name {
        return Ok(());
    }
    let places = csr.host.rows() as f64 / csr.host.nnz().max(1) as f64;
    let stored = |diagonals: usize| (diagonals as f64 * places).max(1.0);
    let next = others.first().map_or(f64::INFINITY, |next| next.cost);
    let least = stored(sampled(csr, offsets)?);
    first.cost *= match first.cost * least < next {
        true => stored(Converter::new(csr)?.diagonals(false)?.len()),
        false => least,
    };
    ranked.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(())
}

/// Returns the number of diagonals of [`SAMPLED`] rows, evenly over the matrix.
fn sampled<T: Value>(csr: &DeviceCsr<T>, offsets: &[u32]) -> Result<usize, Failed> {
    let rows = csr.host.rows();
    let mut diagonals = HashSet::new();
    for row in (0..rows).step_by(rows.div_ceil(SAMPLED).max(1)) {
        let mut columns = vec![0; (offsets[row + 1] - offsets[row]) as usize];
        csr.column_indices.download(offsets[row] as usize, &mut columns)?;
        diagonals.extend(columns.into_iter().map(|column| i64::from(column) - row as i64));
    }
    Ok(diagonals.len())
}

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
    use spmv_matrix::Csr;

    const DIA: Ranked = Ranked { method: "gpu-dia", cost: 1.0 };
    const SELL: Ranked = Ranked { method: "gpu-sell", cost: 1.3 };

    #[test]
    fn a_shape_has_the_spread_of_the_row_lengths() {
        let gpu = Gpu::new(Model::tiny(1));
        let of = |triplets: &[(usize, usize, f64)]| {
            let csr = Csr::<f64>::from_triplets(4, 4, triplets);
            let csr = DeviceCsr::upload(&gpu, &csr).unwrap();
            shape(&csr, &csr.row_offsets.to_vec().unwrap())
        };
        // Rows of 3, 1, 0 and 0 nonzeros: a mean of 1, and deviations of 2, 0, 1 and 1.
        let uneven = of(&[(0, 0, 1.0), (0, 1, 1.0), (0, 3, 1.0), (1, 2, 1.0)]);
        let expected = Shape { rows: 4.0, nnz: 4.0, std_dev: 1.5f64.sqrt(), longest: 3.0 };
        assert_eq!(uneven, expected);
        assert_eq!(of(&[]), Shape { rows: 4.0, nnz: 1.0, std_dev: 0.0, longest: 1.0 });
    }

    #[test]
    fn the_choice_is_explained() {
        let why = |ranked: &[Ranked]| reason(ranked, &["a", "b"], "h200, modelled");
        let both = "picked gpu-dia: 1.00 times the lowest cost; next gpu-sell: 1.30 times the lowest cost \
                    (h200, modelled: a, b)";
        assert_eq!(why(&[DIA, SELL]), both);
        let single = "picked gpu-sell: 1.30 times the lowest cost (h200, modelled: a, b)";
        assert_eq!(why(&[SELL]), single);
    }

    #[test]
    fn diagonals_cost_in_proportion_to_their_stored_values() {
        let gpu = Gpu::new(Model::tiny(1));
        let first = |size: usize, triplets: &[(usize, usize, f64)]| {
            let csr = Csr::<f64>::from_triplets(size, size, triplets);
            let csr = DeviceCsr::upload(&gpu, &csr).unwrap();
            let mut ranked = [DIA, SELL];
            rate_diagonals(&csr, &csr.row_offsets.to_vec().unwrap(), &mut ranked).unwrap();
            ranked[0].method
        };
        let diagonal: Vec<_> = (0..200).map(|row| (row, row, 1.0)).collect();
        assert_eq!(first(4, &diagonal[..4]), "gpu-dia");
        assert_eq!(first(4, &diagonal[..2]), "gpu-sell");
        // Rows that are not sampled have other diagonals.
        let apart = (0..200).filter(|row| row % 13 == 5).map(|row| (row, (3 * row) % 200, 1.0));
        let apart: Vec<_> = diagonal.iter().copied().chain(apart).collect();
        assert_eq!([first(200, &diagonal), first(200, &apart)], ["gpu-dia", "gpu-sell"]);
    }
}
