//! Register blocking with a measured profile, as OSKI tunes it: Vuduc, Demmel & Yelick, OSKI (2005), with threads as
//! in pOSKI.
//!
//! The install step measures the machine's profile P(r, c), the speed of dense matrices stored in r × c blocks, on
//! all threads and from memory ([`measured`]). It runs once per machine, precision and number of threads and is not
//! part of the setup; the command line stores the profile in a file. The setup cuts the rows into one piece per
//! thread with about an equal share of the rows and nonzeros. For each piece it estimates the fill F(r, c), the
//! number of values that blocks would store per nonzero, and converts the piece to the shape with the greatest P / F.
//!
//! Memory: the blocks. Departures: without a profile, P is estimated from the bytes per nonzero. Shapes that are
//! estimated to store mostly fill are not considered.

use std::time::Duration;

use super::prelude::*;
use super::register_blocks::{BlockRows, prepared};
use super::rows::balanced;
use crate::formats::block_fill::{FillEstimate, LEAST_SAMPLED};
use crate::formats::fill;
use crate::formats::register_blocks::{self, RegisterBlocks, Shape, block_offsets};
use crate::method::profile::Profile;
use spmv_matrix::scalar::Precision;
use spmv_matrix::system;

pub const NAME: &str = METHOD.name;

pub const METHOD: Method = Method {
    name: "oski-style",
    source: "Vuduc, Demmel & Yelick 2005, OSKI; pOSKI",
    summary: "register blocks per thread, the shape by the machine's profile and the estimated fill",
    setup: Setup::Conversion,
    memory: register_blocks::memory,
    // In few rows the fill is counted exactly.
    may_refuse: |extent| extent.rows > LEAST_SAMPLED as u64,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

/// The number of rows and columns of the dense matrices with which the profile is measured: a multiple of the side of
/// every block.
const DENSE: usize = 840;
/// Repetitions of each measurement. The fastest one is used.
const REPETITIONS: usize = 3;

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let threads = request.team.len();
    let profile = request.profile.copied().unwrap_or_else(by_bytes::<T>);
    let shape = |rows| best(&profile, &FillEstimate::of(csr, rows), csr.cols());
    let rows = (0..threads).map(|rank| balanced(csr, rank, threads, 1));
    let shapes: Vec<_> = rows.map(|rows| (rows.clone(), shape(rows))).collect();
    let names: Vec<_> = shapes.iter().map(|(_, shape)| shape.to_string()).collect();
    let profile = if request.profile.is_some() { "measured" } else { "estimated" };
    let note = format!("blocks of {} by the {profile} profile", names.join(", "));
    prepared(csr, request, shapes, note)
}

fn best(profile: &Profile, fill: &FillEstimate, cols: usize) -> Shape {
    let speed = |shape: &Shape| profile.0[shape.rows - 1][shape.cols - 1] / fill.of_shape(*shape);
    let shapes = Shape::all()
        .filter(|shape| shape.area() == 1 || shape.cols <= cols && fill.of_shape(*shape) <= fill::LIMIT as f64);
    shapes.max_by(|a, b| speed(a).total_cmp(&speed(b))).expect("1x1 is always allowed")
}

/// Returns the profile that would result if time depended only on the bytes read, in arbitrary units.
fn by_bytes<T>() -> Profile {
    let speed = |area: usize| 1.0 / (size_of::<T>() as f64 + size_of::<u32>() as f64 / area as f64);
    Profile(std::array::from_fn(|r| std::array::from_fn(|c| speed((r + 1) * (c + 1)))))
}

/// Measures the machine's profile by products of dense matrices on all threads of `team`, each of which has some of its
/// own: together they do not fit in the caches, as large matrices do not. `now` returns the current time.
pub fn measured(precision: Precision, team: &Team, isa: Isa, now: &dyn Fn() -> Duration) -> Profile {
    let bytes = 2 * system::cache_bytes() as usize / team.len();
    match precision {
        Precision::F64 => measured_by::<f64>(team, isa, [DENSE, bytes], now),
        Precision::F32 => measured_by::<f32>(team, isa, [DENSE, bytes], now),
    }
}

/// The matrices of a thread and the result of a product.
struct Own<T> {
    blocks: Vec<RegisterBlocks<T>>,
    y: Vec<T>,
}

fn measured_by<T: Scalar + Lanes>(
    team: &Team,
    isa: Isa,
    [dense, bytes]: [usize; 2],
    now: &dyn Fn() -> Duration,
) -> Profile {
    let nnz = dense * dense;
    let row_offsets = (0..=nnz as u32).step_by(dense).collect();
    let columns = (0..nnz).map(|k| (k % dense) as u32).collect();
    let csr = Csr::new(dense, dense, row_offsets, columns, vec![T::one(); nnz]);
    let (csr, x) = (csr.expect("a dense matrix"), vec![T::one(); dense]);
    let operands = Operands { alpha: T::one(), x: &x, beta: T::zero() };
    let copies = bytes.div_ceil(nnz * size_of::<T>());
    let speed = |shape| {
        let offsets = block_offsets(&csr, &(0..dense), shape);
        let blocks = RegisterBlocks::new(&csr, 0..dense, shape, offsets);
        let empty = || CachePadded::new(Own { blocks: vec![], y: vec![T::zero(); dense] });
        let mut own: Vec<_> = (0..team.len()).map(|_| empty()).collect();
        team.run_with(&mut own, |_, own| own.blocks = vec![blocks.clone(); copies]);
        let times = (0..REPETITIONS).map(|_| {
            let start = now();
            team.run_with(&mut own, |_, Own { blocks, y }| {
                for blocks in blocks {
                    isa.run(BlockRows { csr: &csr, blocks, operands, y });
                }
            });
            now() - start
        });
        let fastest = times.min().unwrap_or_default().max(Duration::from_nanos(1));
        2.0 * (nnz * copies * team.len()) as f64 / fastest.as_secs_f64() / 1e6
    };
    let mut profile = Profile(Default::default());
    for shape in Shape::all() {
        profile.0[shape.rows - 1][shape.cols - 1] = speed(shape);
    }
    profile
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::formats::examples::of_blocks;

    fn best_of(profile: &Profile, rows: usize, cols: usize, most_cols: usize) -> (usize, usize) {
        let fill = FillEstimate::of(&of_blocks(rows, cols), 0..24 * rows);
        let Shape { rows, cols } = best(profile, &fill, most_cols);
        (rows, cols)
    }

    #[test]
    fn the_choice_is_the_greatest_speed_over_fill() {
        let mut profile = Profile([[100.0; 8]; 8]);
        profile.0[1][2] = 250.0;
        assert_eq!(best_of(&profile, 2, 3, 99), (2, 3), "no fill");
        // Blocks of 2 × 2 stored in blocks of 2 × 3 have a fill of 1.5 or more.
        assert_eq!(best_of(&profile, 2, 2, 99), (2, 3), "250 / 2 is more than 100");
        profile.0[1][1] = 130.0;
        assert_eq!(best_of(&profile, 2, 2, 99), (2, 2), "130 is more than 250 / 2");
        assert_eq!(best_of(&profile, 2, 3, 1).1, 1, "other shapes are wider than the matrix");
        profile.0[7][7] = 1e9;
        assert_eq!(best_of(&profile, 2, 2, 99), (2, 2), "8x8 is mostly fill");
        let mut profile = Profile([[1.0; 8]; 8]);
        profile.0[2][0] = 1e9;
        assert_eq!(best_of(&profile, 1, 1, 99), (3, 1), "the largest fill that is accepted");
    }

    #[test]
    fn larger_blocks_are_faster_in_the_estimated_profile() {
        assert_eq!(best_of(&by_bytes::<f64>(), 8, 8, 99), (8, 8));
        assert_eq!(best_of(&by_bytes::<f32>(), 3, 3, 99), (3, 3));
        assert_eq!(best_of(&by_bytes::<f64>(), 1, 1, 99), (1, 1));
    }

    /// Uses a clock by which one product of each shape takes a millisecond and the others take longer.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn a_profile_is_the_operations_divided_by_the_shortest_time() {
        let (readings, time) = (Cell::new(0), Cell::new(0));
        let now = || {
            let is_third = readings.get() / 2 % REPETITIONS as u64 == 2;
            time.set(time.get() + if is_third { 1 } else { 3 });
            readings.set(readings.get() + 1);
            Duration::from_millis(time.get())
        };
        // Two threads with three matrices each.
        let size = [24, 3 * 24 * 24 * size_of::<f32>()];
        let profile = measured_by::<f32>(&Team::floating(2), Isa::Portable, size, &now);
        assert_eq!(profile, Profile([[6.0 * 2.0 * 24.0 * 24.0 / 1e-3 / 1e6; 8]; 8]));
        assert_eq!(readings.get(), 64 * 2 * REPETITIONS as u64);
    }
}
