//! Runs one product of one method on a team or a GPU and compares it with the reference.

use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::verify::Reference;
use spmv_methods::device::buffer::Value;
use spmv_methods::device::model::Model;
use spmv_methods::device::{DeviceCsr, Gpu};
use spmv_methods::method::{Choice, Device, Failed, Request, Unavailable, Unprepared};
use spmv_methods::simd::Isa;
use spmv_methods::team::Team;
use spmv_methods::vendor::mkl::mkl;

use super::small::vector;
use crate::fake_cusparse::FakeCuSparse;

pub enum Place<'a> {
    Team(&'a Team, Isa),
    Gpu(&'a Gpu),
}

#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub transpose: bool,
    pub factors: (f64, f64),
}

impl Asked {
    /// Returns the product with A and that with Aᵀ, if the method supports them, for α = 1 and β = 0.
    pub fn all(choice: &Choice) -> impl Iterator<Item = Self> + use<> {
        let operations = choice.method.operations;
        let transposes = [false, true].into_iter().filter(move |&t| operations.include(t));
        transposes.map(|transpose| Self { transpose, factors: (1.0, 0.0) })
    }
}

pub fn modelled(seed: u64) -> Gpu {
    Gpu::new(FakeCuSparse::on(Model::tiny(seed)))
}

/// Returns the methods of a device with every value of every parameter, one parameter at a time.
pub fn variants_on(device: Device) -> impl Iterator<Item = Choice<'static>> {
    let methods = super::methods().filter(move |method| method.device() == device);
    let parameters = methods.flat_map(|method| method.parameters.iter().map(move |p| (method, p)));
    parameters.flat_map(|(method, parameter)| {
        let given = parameter.values.iter().map(|&value| vec![(parameter.name, value)]);
        given.map(move |given| Choice { method, given })
    })
}

/// Runs a product with each x and y = `y0`, and returns the results, which show whether one affects the next.
pub fn products<T: Value>(
    choice: &Choice,
    csr: &Csr<T>,
    place: &Place,
    asked: Asked,
    xs: &[&[T]],
    y0: &[T],
) -> Result<Vec<Vec<T>>, Unprepared> {
    let Asked { transpose, factors: (alpha, beta) } = asked;
    let one = Team::floating(1);
    let (team, isa) = match place {
        Place::Team(team, isa) => (*team, *isa),
        Place::Gpu(_) => (&one, Isa::Portable),
    };
    let (expected_products, given) = (10, &choice.given[..]);
    let request = Request { isa, transpose, alpha, beta, expected_products, given, ..Request::new(team) };
    let (alpha, beta) = (T::narrow(alpha), T::narrow(beta));
    match place {
        Place::Team(..) => {
            let mut prepared = choice.method.prepare_on_host(csr, &request)?;
            let run = |x: &&[T]| {
                let mut y = y0.to_vec();
                prepared.multiply(alpha, x, beta, &mut y)?;
                Ok(y)
            };
            xs.iter().map(run).collect()
        }
        Place::Gpu(gpu) => {
            let device_csr = DeviceCsr::upload(gpu, csr)?;
            let mut prepared = choice.method.prepare_on_device(&device_csr, &request)?;
            let run = |x: &&[T]| {
                let x = gpu.upload(x)?;
                let mut y = gpu.upload(y0)?;
                prepared.multiply(alpha, &x, beta, &mut y)?;
                Ok(y.to_vec()?)
            };
            xs.iter().map(run).collect()
        }
    }
}

/// A matrix with its product and its transposed product for one α and β, which all methods must compute.
pub struct Case<'a, T> {
    name: &'a str,
    csr: &'a Csr<T>,
    expected: [Expected<T>; 2],
}

struct Expected<T> {
    asked: Asked,
    x: Vec<T>,
    y0: Vec<T>,
    reference: Reference,
}

impl<T: Value> Expected<T> {
    /// Computes the product with `operator`, which is A or Aᵀ.
    fn new(operator: &Csr<T>, asked: Asked) -> Self {
        let (alpha, beta) = (T::narrow(asked.factors.0), T::narrow(asked.factors.1));
        let (x, rows) = (vector(operator.cols(), 0.3), operator.rows());
        let y0 = if beta == T::zero() { vec![T::nan(); rows] } else { vector(rows, 1.7) };
        let reference = Reference::new(operator, alpha, &x, beta, &y0);
        Self { asked, x, y0, reference }
    }
}

impl<'a, T: Value> Case<'a, T> {
    /// Computes what the methods are compared to. `name` is the matrix's name in messages.
    pub fn new(name: &'a str, csr: &'a Csr<T>, factors: (f64, f64)) -> Self {
        let plain = Expected::new(csr, Asked { transpose: false, factors });
        let transposed = Expected::new(&csr.transposed(), Asked { transpose: true, factors });
        Self { name, csr, expected: [plain, transposed] }
    }

    /// Runs two products with A and two with its transpose, if the method supports them, and panics if they are wrong.
    /// A method may only be unavailable if a library is missing or refuses an empty matrix, or if a format would be
    /// mostly padding.
    pub fn check(&self, choice: &Choice, place: &Place) {
        for expected in &self.expected {
            if choice.method.operations.include(expected.asked.transpose) {
                self.check_product(expected, choice, place);
            }
        }
    }

    fn check_product(&self, expected: &Expected<T>, choice: &Choice, place: &Place) {
        let Expected { asked, x, y0, reference } = expected;
        let what = || {
            let (method, precision, matrix) = (choice.name(), T::PRECISION.name(), self.name);
            let place = match place {
                Place::Team(team, isa) => format!("{} threads, {isa:?}", team.len()),
                Place::Gpu(_) => "the GPU".into(),
            };
            format!("{method} in {precision} with {place} on {matrix}, {asked:?}")
        };
        let allocated = || match place {
            Place::Team(..) => 0,
            Place::Gpu(gpu) => gpu.allocated_bytes(),
        };
        let before = allocated();
        let outcome = products(choice, self.csr, place, *asked, &[x, x], y0);
        assert_eq!(allocated(), before, "{} keeps device memory", what());
        match outcome {
            Ok(ys) => ys.iter().map(|y| reference.judge(y)).for_each(|verdict| {
                assert!(verdict.passes(), "{}: {}", what(), verdict.describe());
            }),
            Err(Unprepared::Unavailable(Unavailable(reason))) => {
                let may_refuse = may_refuse(choice, self.csr, asked.transpose) || is_lacking(choice, &reason);
                assert!(may_refuse, "{}: {reason}", what());
            }
            Err(Unprepared::Failed(Failed(reason))) => panic!("{}: {reason}", what()),
        }
    }
}

/// Checks that a product is finite in exactly those rows that use only finite values of x, of which there may be more.
pub fn check_spoilt(choice: &Choice, csr: &Csr<f64>, place: &Place, x: &[f64]) {
    for asked in Asked::all(choice) {
        let operator = if asked.transpose { csr.transposed() } else { csr.clone() };
        let columns = |row| &operator.column_indices()[operator.row(row)];
        let finite = |row| columns(row).iter().all(|&column| x[column as usize].is_finite());
        let x = &x[..operator.cols()];
        match products(choice, csr, place, asked, &[x], &vec![0.0; operator.rows()]) {
            Ok(ys) => {
                for (row, y) in ys[0].iter().enumerate() {
                    assert_eq!(y.is_finite(), finite(row), "{} row {row}: {y}", choice.name());
                }
            }
            Err(error) => {
                assert!(may_refuse(choice, csr, asked.transpose), "{}: {error}", choice.name());
            }
        }
    }
}

/// Returns whether the cuSPARSE of a real GPU does not support the product; the fake supports all.
fn is_lacking(choice: &Choice, reason: &str) -> bool {
    let words = [" lacks ", "CUSPARSE_STATUS_NOT_SUPPORTED"];
    choice.method.name.starts_with("cusparse") && words.iter().any(|word| reason.contains(word))
}

/// Returns whether the method may refuse this matrix, or its library is missing.
fn may_refuse<T>(choice: &Choice, csr: &Csr<T>, transpose: bool) -> bool {
    let extent = Extent { given: &choice.given, ..Extent::of(csr, 1, transpose) };
    let lacks_mkl = choice.method.name.starts_with("mkl") && mkl().is_err();
    (choice.method.may_refuse)(&extent) || lacks_mkl
}
