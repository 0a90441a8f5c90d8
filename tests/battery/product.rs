//! One product of one method, on a team or a GPU, held against the reference.

use std::collections::HashSet;

use spmv_bench::device::buffer::Value;
use spmv_bench::device::model::Model;
use spmv_bench::device::{DeviceCsr, Gpu};
use spmv_bench::matrix::Csr;
use spmv_bench::method::{Choice, Device, Failed, Method, Request, Unavailable, Unprepared};
use spmv_bench::methods::vendor::mkl::mkl;
use spmv_bench::simd::Isa;
use spmv_bench::team::Team;
use spmv_bench::verify::Reference;

use super::fake_cusparse::FakeCuSparse;
use super::small::vector;

/// Where a product runs.
pub enum Place<'a> {
    /// Threads and their instructions.
    Team(&'a Team, Isa),
    Gpu(&'a Gpu),
}

impl Place<'_> {
    /// Bytes of device memory that are allocated: none on a CPU.
    fn allocated_bytes(&self) -> u64 {
        match self {
            Self::Team(..) => 0,
            Self::Gpu(gpu) => gpu.allocated_bytes(),
        }
    }
}

/// Which product.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// By the transpose.
    pub transpose: bool,
    /// α and β.
    pub factors: (f64, f64),
}

/// A plain product with α = 1 and β = 0.
pub const PLAIN: Asked = Asked { transpose: false, factors: (1.0, 0.0) };

impl Asked {
    /// The plain product and the transposed one, as far as the method has them.
    pub fn all(choice: &Choice) -> impl Iterator<Item = Self> + use<> {
        let operations = choice.method.operations;
        let transposes = [false, true].into_iter().filter(move |&t| operations.include(t));
        transposes.map(|transpose| Self { transpose, ..PLAIN })
    }
}

/// A modelled GPU with a fake cuSPARSE.
pub fn modelled(seed: u64) -> Gpu {
    Gpu::new(FakeCuSparse::on(Model::tiny(seed)))
}

/// The methods of a device with every value of every parameter, one at a time.
pub fn variants_on(device: Device) -> impl Iterator<Item = Choice<'static>> {
    super::methods().filter(move |method| method.device() == device).flat_map(variants)
}

/// The method with every value of every parameter, one at a time.
fn variants(method: &'static Method) -> impl Iterator<Item = Choice<'static>> {
    method.parameters.iter().flat_map(move |parameter| {
        parameter
            .values
            .iter()
            .map(move |&value| Choice { method, given: vec![(parameter.name, value)] })
    })
}

/// What `runs` products leave in y, each from `y0`. What a product leaves behind must not spoil the
/// next.
pub fn products<T: Value>(
    choice: &Choice,
    csr: &Csr<T>,
    place: &Place,
    asked: Asked,
    x: &[T],
    y0: &[T],
    runs: usize,
) -> Result<Vec<Vec<T>>, Unprepared> {
    let Asked { transpose, factors: (alpha, beta) } = asked;
    let one = Team::floating(1);
    let (team, isa) = match place {
        Place::Team(team, isa) => (*team, *isa),
        Place::Gpu(_) => (&one, Isa::Portable),
    };
    let request = Request {
        team,
        isa,
        transpose,
        alpha,
        beta,
        expected_products: 10,
        profile: None,
        given: &choice.given,
    };
    let (alpha, beta) = (T::narrow(alpha), T::narrow(beta));
    match place {
        Place::Team(..) => {
            let mut prepared = choice.method.prepare::<T>().unwrap()(csr, &request)?;
            let run = |_| {
                let mut y = y0.to_vec();
                prepared.multiply(alpha, x, beta, &mut y)?;
                Ok(y)
            };
            (0..runs).map(run).collect()
        }
        Place::Gpu(gpu) => {
            let device_csr = DeviceCsr::upload(gpu, csr)?;
            let prepare = choice.method.prepare_on_gpu::<T>().unwrap();
            let mut prepared = prepare(&device_csr, &request)?;
            let x = gpu.upload(x)?;
            let run = |_| {
                let mut y = gpu.upload(y0)?;
                prepared.multiply(alpha, &x, beta, &mut y)?;
                Ok(y.to_vec()?)
            };
            (0..runs).map(run).collect()
        }
    }
}

/// Two products by A and by its transpose, as far as the method has them; panics when they are wrong. A method may only be unavailable when a library is
/// absent or refuses an empty matrix, or when a format would be nearly all padding.
pub fn check<T: Value>(
    choice: &Choice,
    csr: &Csr<T>,
    name: &str,
    place: &Place,
    factors: (f64, f64),
) {
    let operations = choice.method.operations;
    if operations.include(false) {
        check_product(choice, csr, csr, name, place, Asked { transpose: false, factors });
    }
    if operations.include(true) {
        let asked = Asked { transpose: true, factors };
        check_product(choice, csr, &csr.transposed(), name, place, asked);
    }
}

/// The same for one of the two; `operator` is A or Aᵀ.
fn check_product<T: Value>(
    choice: &Choice,
    csr: &Csr<T>,
    operator: &Csr<T>,
    name: &str,
    place: &Place,
    asked: Asked,
) {
    let (alpha, beta) = (T::narrow(asked.factors.0), T::narrow(asked.factors.1));
    let (x, rows) = (vector(operator.cols(), 0.3), operator.rows());
    let y0 = if beta == T::zero() { vec![T::nan(); rows] } else { vector(rows, 1.7) };
    let reference = Reference::new(operator, alpha, &x, beta, &y0);
    let what = || {
        let (method, precision) = (choice.name(), T::PRECISION.name());
        let place = match place {
            Place::Team(team, isa) => format!("{} threads, {isa:?}", team.len()),
            Place::Gpu(_) => "the GPU".into(),
        };
        format!("{method} in {precision} with {place} on {name}, {asked:?}")
    };
    let allocated = place.allocated_bytes();
    let outcome = products(choice, csr, place, asked, &x, &y0, 2);
    assert_eq!(place.allocated_bytes(), allocated, "{} keeps device memory", what());
    match outcome {
        Ok(ys) => {
            for y in ys {
                let verdict = reference.judge(&y);
                assert!(verdict.passes(), "{}: {}", what(), verdict.describe());
            }
        }
        Err(Unprepared::Unavailable(Unavailable(reason))) => {
            assert!(may_refuse(choice, csr) || is_lacking(choice, &reason), "{}: {reason}", what());
        }
        Err(Unprepared::Failed(Failed(reason))) => panic!("{}: {reason}", what()),
    }
}

/// Checks that a product is finite in exactly the rows that use finite values of x only, which has as many
/// as needed and maybe more.
pub fn check_spoilt(choice: &Choice, csr: &Csr<f64>, place: &Place, x: &[f64]) {
    let transposes = [false, true].into_iter();
    for transpose in transposes.filter(|&t| choice.method.operations.include(t)) {
        let operator = if transpose { csr.transposed() } else { csr.clone() };
        let columns = |row| &operator.column_indices()[operator.row(row)];
        let finite = |row| columns(row).iter().all(|&column| x[column as usize].is_finite());
        let asked = Asked { transpose, ..PLAIN };
        let x = &x[..operator.cols()];
        match products(choice, csr, place, asked, x, &vec![0.0; operator.rows()], 1) {
            Ok(ys) => {
                for (row, y) in ys[0].iter().enumerate() {
                    assert_eq!(y.is_finite(), finite(row), "{} row {row}: {y}", choice.name());
                }
            }
            Err(error) => assert!(may_refuse(choice, csr), "{}: {error}", choice.name()),
        }
    }
}

/// Whether the cuSPARSE of a real GPU has no such product; the fake has all.
fn is_lacking(choice: &Choice, reason: &str) -> bool {
    let words = [" lacks ", "CUSPARSE_STATUS_NOT_SUPPORTED"];
    choice.method.name.starts_with("cusparse") && words.iter().any(|word| reason.contains(word))
}

fn may_refuse<T>(choice: &Choice, csr: &Csr<T>) -> bool {
    // The formats of the GPU go by the rules of those of the CPU.
    match choice.method.name.strip_prefix("gpu-").unwrap_or(choice.method.name) {
        // Only what is mostly fill even with rows of one length in strips of 16, or on a GPU of c.
        "sell" => {
            let cpu = choice.method.device() == Device::Cpu;
            let lanes = given(choice, "c").unwrap_or(if cpu { 16 } else { 32 });
            csr.rows().next_multiple_of(lanes) * longest_row(csr) > 1024.max(3 * csr.nnz())
        }
        "bcsr" => blocks_may_refuse(choice, csr),
        "dia" => csr.rows().max(csr.cols()) * diagonals(csr) > 1024.max(3 * csr.nnz()),
        "ell" => csr.rows() * longest_row(csr) > 1024.max(3 * csr.nnz()),
        "hyb" => {
            let width = given(choice, "width").unwrap_or(0);
            csr.rows() * longest_row(csr).min(width) > 1024.max(3 * csr.nnz())
        }
        "bccoo" => {
            // Rows without entries have blocks as well.
            let [rows, cols] = block_sides(choice, "1x1");
            let blocks = csr.rows().div_ceil(rows) + csr.nnz();
            blocks * rows * cols > 1024.max(3 * csr.nnz())
        }
        "cusparse-sell" => true,
        "cusparse-bsr" => csr.nnz() == 0 || no_whole_blocks(choice, csr),
        name if name.starts_with("cusparse") => csr.nnz() == 0,
        name if name.starts_with("mkl") => mkl().is_err() || csr.rows() * csr.cols() == 0,
        _ => false,
    }
}

/// A parameter whose values are numbers.
fn given(choice: &Choice, parameter: &str) -> Option<usize> {
    let (_, value) = choice.given.iter().find(|(name, _)| *name == parameter)?;
    Some(value.parse().unwrap())
}

/// Blocks wider than the matrix, or with so many values that are no entries: each entry may be alone in
/// its block.
fn blocks_may_refuse<T>(choice: &Choice, csr: &Csr<T>) -> bool {
    let [rows, cols] = block_sides(choice, "4x4");
    let blocks = csr.rows().div_ceil(rows) * csr.cols().div_ceil(cols);
    let places = blocks.min(csr.nnz()) * rows * cols;
    cols > csr.cols() || places > 1024.max(3 * csr.nnz())
}

/// Whether none of the sizes of square blocks that may be taken divides rows and columns, or each stores too
/// many values that are no entries.
fn no_whole_blocks<T>(choice: &Choice, csr: &Csr<T>) -> bool {
    let given = choice.given.iter().any(|(name, _)| *name == "block");
    let sides = if given { vec![block_sides(choice, "2x2")[0]] } else { (2..=8).collect() };
    let whole = |side: &usize| csr.rows().is_multiple_of(*side) && csr.cols().is_multiple_of(*side);
    sides.into_iter().filter(whole).all(|side| {
        let blocks = (csr.rows() / side * (csr.cols() / side)).min(csr.nnz());
        blocks * side * side > 1024.max(3 * csr.nnz())
    })
}

/// Rows and columns of the blocks that were given, or of `default`.
fn block_sides(choice: &Choice, default: &'static str) -> [usize; 2] {
    let given = choice.given.iter().find(|(name, _)| *name == "block");
    let block = given.map_or(default, |(_, block)| block).as_bytes();
    [0, 2].map(|place| usize::from(block[place] - b'0'))
}

fn diagonals<T>(csr: &Csr<T>) -> usize {
    let columns = |row| csr.column_indices()[csr.row(row)].iter();
    let offsets = |row| columns(row).map(move |&column| i64::from(column) - row as i64);
    (0..csr.rows()).flat_map(offsets).collect::<HashSet<_>>().len()
}

fn longest_row<T>(csr: &Csr<T>) -> usize {
    csr.row_lengths().max().unwrap_or(0) as usize
}
