//! Faults planted in the kernels' text, each of which the emulation must find out: by an error that
//! names what happened, or by a wrong result under some seed.

use std::cell::Cell;
use std::rc::Rc;

use spmv_bench::device::Gpu;
use spmv_bench::matrix::Csr;
use spmv_bench::method::{Choice, Failed, Unprepared};
use spmv_bench::methods::METHODS;
use spmv_bench::verify::Reference;
use spmv_emulation::Emulation;

use super::product::{Asked, Place, products};
use super::small::vector;
use super::{faults, methods};

/// Seeds that a fault may need until it shows.
const SEEDS: u64 = 30;

/// How a fault shows.
#[derive(Clone, Copy)]
pub enum Found {
    /// The launch ends with an error that contains these words.
    By(&'static str),
    /// The result is wrong, or the launch ends with an error, under some seed.
    Somehow,
}

/// Method, text of its kernels, what takes its place, how that shows.
pub type Fault = (&'static str, &'static str, &'static str, Found);

/// One list per file.
const FAULTS: &[&[Fault]] = &[faults::rows::FAULTS, faults::naive::FAULTS, faults::merge::FAULTS];

fn faults() -> impl Iterator<Item = &'static Fault> {
    let runs =
        |(name, ..): &&Fault| methods().any(|method| Some(method.name) == name.split(':').next());
    FAULTS.iter().copied().flatten().filter(runs)
}

/// Rows of all lengths up to 40, empty ones, one of 30000 nonzeros, and more rows than blocks hold.
fn matrix() -> Csr<f64> {
    let entry = |row: usize, k: usize| (row, (k * 3 + row) % 30001, ((k + row) % 9) as f64 + 0.5);
    let length = |row: usize| if row == 150 { 30000 } else { row % 41 };
    let triplets: Vec<_> =
        (0..515).flat_map(|row| (0..length(row)).map(move |k| entry(row, k))).collect();
    Csr::from_triplets(515, 30001, &triplets)
}

/// What becomes of the method with the fault under one seed; `None` when nothing is amiss.
fn symptom(choice: &Choice, csr: &Csr<f64>, seed: u64, (from, to): (&str, &str)) -> Option<String> {
    let (old, new) = (from.to_owned(), to.to_owned());
    let planted = Rc::new(Cell::new(false));
    let seen = planted.clone();
    let altered = Emulation::new(seed).rewriting(move |program, _, _| {
        seen.set(seen.get() || program.source.contains(&old));
        program.source.replacen(&old, &new, 1)
    });
    let gpu = Gpu::new(altered);
    let asked = Asked::first(choice);
    let operator = if asked.transpose { csr.transposed() } else { csr.clone() };
    let (x, y0) = (vector(operator.cols(), 0.3), vec![f64::NAN; operator.rows()]);
    let ys = products(choice, csr, &Place::Gpu(&gpu), asked, &x, &y0, 1);
    assert!(planted.get(), "{} has no {from}", choice.name());
    match ys {
        Ok(ys) => {
            let verdict = Reference::new(&operator, 1.0, &x, 0.0, &y0).judge(&ys[0]);
            (!verdict.passes()).then(|| verdict.describe())
        }
        Err(Unprepared::Failed(Failed(reason))) => Some(reason),
        Err(Unprepared::Unavailable(reason)) => panic!("{reason}"),
    }
}

fn choice(text: &str) -> Choice<'static> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let method = METHODS.iter().find(|method| method.name == name).expect("a method's name");
    let given =
        parameters.split(':').filter_map(|text| text.split_once('=')).map(|(name, value)| {
            let parameter = method.parameters.iter().find(|p| p.name == name).expect("a parameter");
            (parameter.name, *parameter.values.iter().find(|v| **v == value).expect("a value"))
        });
    Choice { method, given: given.collect() }
}

#[test]
fn faults_in_kernels_are_found_out() {
    let csr = matrix();
    let unfound: Vec<_> = faults().filter(|fault| !is_found(&csr, fault)).collect();
    let names: Vec<_> = unfound.iter().map(|(name, from, to, _)| (name, from, to)).collect();
    assert!(names.is_empty(), "not found: {names:#?}");
}

fn is_found(csr: &Csr<f64>, &(name, from, to, found): &Fault) -> bool {
    let choice = choice(name);
    let symptoms = (0..SEEDS).map(|seed| symptom(&choice, csr, seed, (from, to)));
    match found {
        // Whatever the order of threads.
        Found::By(words) => {
            symptoms.take(2).all(|symptom| symptom.is_some_and(|s| s.contains(words)))
        }
        Found::Somehow => symptoms.flatten().next().is_some(),
    }
}

#[test]
fn the_same_kernels_without_faults_are_right() {
    let csr = matrix();
    for &(name, ..) in faults() {
        assert_eq!(symptom(&choice(name), &csr, 1, ("", "")), None, "{name}");
    }
}
