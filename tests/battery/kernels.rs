//! Faults planted in the text of kernels: those of a table, and those that rules make. The model must detect each of
//! them: by an error message that names the cause, or by a wrong result for some seed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rayon::prelude::*;
use spmv_matrix::Csr;
use spmv_matrix::verify::Reference;
use spmv_methods::METHODS;
use spmv_methods::device::model::Model;
use spmv_methods::device::sources::headers;
use spmv_methods::device::{Gpu, Program};
use spmv_methods::method::{Choice, Device, Failed, Unavailable, Unprepared};

use super::faults::{FAULTS, Fault};
use super::mutants::{Mutant, some_mutants};
use super::product::{Asked, Place, products};
use super::small::{mostly_empty, tiles, vector};
use super::tokens::find;
use super::{methods, on};
use crate::support::all;

/// The number of seeds with which a fault is tried.
const SEEDS: u64 = 100;

fn faults() -> impl Iterator<Item = &'static Fault> {
    let is_tested = |fault: &&Fault| methods().any(|method| method.name == choice(fault.choice).method.name);
    FAULTS.iter().filter(is_tested)
}

/// Matrices with rows of all lengths up to 40 and empty ones, more rows than a block has threads: one with a row of
/// 30000 nonzeros; a square one, which orderings need; one with far more rows than nonzeros, a long row and
/// two diagonals; a band, which padded
/// formats accept; and one with tiles of every kind.
fn matrices() -> [Csr<f64>; 5] {
    let of = |cols: usize, longest: usize| {
        let entry = |row: usize, k: usize| (row, (k * 3 + row) % cols, ((k + row) % 9) as f64 + 0.5);
        let length = |row: usize| if row == 150 { longest } else { row % 41 };
        let triplets: Vec<_> = (0..515).flat_map(|row| (0..length(row)).map(move |k| entry(row, k))).collect();
        Csr::from_triplets(515, cols, &triplets)
    };
    let long = (0..=100).map(|k| (3000, 200 + k, (k % 9) as f64 + 0.5));
    let diagonals = (0..192).flat_map(|k| [(4000 + k, k, 1.5), (4000 + k, k + 1, 2.5)]);
    let entries: Vec<_> = mostly_empty().into_iter().chain(long).chain(diagonals).collect();
    let empty = Csr::from_triplets(6000, 301, &entries);
    let tiles = Csr::from_triplets(79, 75, &tiles());
    [of(30001, 30000), of(515, 40), empty, band(), tiles]
}

/// A band with gaps: rows of up to 110 nonzeros, and empty ones, which the last column cuts.
fn band() -> Csr<f64> {
    let length = |row: usize| if row % 50 == 17 { 0 } else { 151 - row % 5 * 20 };
    let cells = (0..261).flat_map(|row| (row..row + length(row)).map(move |col| (row, col)));
    let kept = |row: usize, col: usize| col / 6 % 7 != 4 && (row * 7 + col * 3) % 11 > 1;
    let held = cells.filter(|&(row, col)| col < 300 && kept(row, col));
    let triplets: Vec<_> = held.map(|(row, col)| (row, col, (col % 9) as f64 + 0.5)).collect();
    Csr::from_triplets(261, 300, &triplets)
}

/// α and β: without y, and with all terms.
const FACTORS: [(f64, f64); 2] = [(1.0, 0.0), (2.5, -0.5)];

/// A matrix, and three vectors with their products for each pair of factors, for the matrix and for its transpose.
struct Sample {
    csr: Csr<f64>,
    products: [[Products; 2]; 2],
}

type Products = [(Vec<f64>, Reference); 3];

/// Returns the y before a product.
fn before(rows: usize, beta: f64) -> Vec<f64> {
    if beta == 0.0 { vec![f64::NAN; rows] } else { vector(rows, 1.7) }
}

fn samples() -> [Sample; 5] {
    let products = |operator: &Csr<f64>| {
        FACTORS.map(|(alpha, beta)| {
            let y = before(operator.rows(), beta);
            [0.3, 0.5, 0.7].map(|phase| {
                let x = vector(operator.cols(), phase);
                let reference = Reference::new(operator, alpha, &x, beta, &y);
                (x, reference)
            })
        })
    };
    matrices().map(|csr| Sample { products: [products(&csr), products(&csr.transposed())], csr })
}

/// Returns the text of a program with its headers inserted, whose names are added to `seen`.
fn whole(text: &str, mutant: Option<&Mutant>, seen: &mut Vec<&'static str>) -> String {
    let mut inserted = String::new();
    for line in text.lines().filter(|line| *line != "#pragma once") {
        let included = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        match headers().find(|(name, _)| Some(*name) == included) {
            Some((name, _)) if seen.contains(&name) => (),
            Some((name, header)) => {
                seen.push(name);
                let changed = mutant.filter(|mutant| mutant.file == name);
                let header = changed.map_or(header.to_owned(), |mutant| mutant.apply(header));
                inserted += &whole(&header, mutant, seen);
            }
            None => {
                inserted += line;
                inserted.push('\n');
            }
        }
    }
    inserted
}

/// Returns the text of a program with a fault, if it has the place for it.
fn with_fault(program: &Program, [from, to]: [&str; 2]) -> Option<String> {
    let texts = [program.text().to_owned(), whole(program.text(), None, &mut Vec::new())];
    texts.into_iter().find_map(|mut text| {
        text.replace_range(find(&text, from)?, to);
        Some(text)
    })
}

/// Returns the text of a program with a mutant of it or of one of its headers.
fn with_mutant(program: &Program, mutant: &Mutant) -> Option<String> {
    if program.name == mutant.file {
        return Some(mutant.apply(program.text()));
    }
    let mut seen = Vec::new();
    let text = whole(program.text(), Some(mutant), &mut seen);
    seen.contains(&mutant.file).then_some(text)
}

/// What the products of a method on a matrix show with one seed.
struct Shown {
    /// An error or a deviation.
    symptom: Option<String>,
    /// Whether a text was changed, or none was compiled because the matrix is refused.
    is_planted: bool,
}

/// Computes the products of a method whose programs `change` may change, for one of the pairs of factors.
fn shown(
    choice: &Choice,
    sample: &Sample,
    (seed, pair): (u64, usize),
    change: impl Fn(&Program) -> Option<String> + 'static,
) -> Shown {
    let planted = Rc::new(Cell::new(false));
    let seen = planted.clone();
    let altered = move |program: &Program, _, _: &[_]| {
        let changed = change(program);
        seen.set(seen.get() || changed.is_some());
        changed.unwrap_or_else(|| program.text().to_owned())
    };
    let gpu = Gpu::new(Model::tiny(seed).with(|model| model.rewrite = Some(Box::new(altered))));
    let symptom_of = |asked| symptom_of(choice, sample, &gpu, asked, pair);
    let symptoms: Vec<_> = Asked::all(choice).map(symptom_of).collect();
    let is_planted = planted.get() || symptoms.iter().any(Result::is_err);
    Shown { symptom: symptoms.into_iter().flatten().flatten().next(), is_planted }
}

/// Returns the first error or deviation of three products with different x. A counter or a flag that one product leaves
/// to the next affects the second and third product only.
fn symptom_of(
    choice: &Choice,
    sample: &Sample,
    gpu: &Gpu,
    asked: Asked,
    pair: usize,
) -> Result<Option<String>, Unavailable> {
    let Sample { csr, products: expected } = sample;
    let expected = &expected[usize::from(asked.transpose)][pair];
    let asked = Asked { factors: FACTORS[pair], ..asked };
    let y0 = before(if asked.transpose { csr.cols() } else { csr.rows() }, FACTORS[pair].1);
    let xs = expected.each_ref().map(|(x, _)| &x[..]);
    match products(choice, csr, &Place::Gpu(gpu), asked, &xs, &y0) {
        Ok(ys) => {
            let mut verdicts = expected.iter().zip(ys).map(|((_, right), y)| right.judge(&y));
            let wrong = verdicts.find(|verdict| !verdict.passes());
            Ok(wrong.map(|verdict| verdict.describe()))
        }
        Err(Unprepared::Failed(Failed(reason))) => Ok(Some(reason)),
        Err(Unprepared::Unavailable(refusal)) => Err(refusal),
    }
}

/// Returns a method by its name without `gpu-`, with parameters.
fn choice(text: &str) -> Choice<'static> {
    let mut words = text.split(':');
    let name = format!("gpu-{}", words.next().unwrap_or_default());
    let method = spmv_methods::named(&name).expect("a method's name");
    let given = words.filter_map(|word| word.split_once('=')).map(|(name, value)| {
        let parameter = method.parameters.iter().find(|p| p.name == name).expect("a parameter");
        (parameter.name, *parameter.values.iter().find(|v| **v == value).expect("a value"))
    });
    Choice { method, given: given.collect() }
}

#[test]
fn faults_in_kernels_are_detected() {
    let samples = samples();
    let faults: Vec<_> = faults().collect();
    let unfound: Vec<_> = faults.par_iter().filter(|fault| !is_found(&samples, fault)).collect();
    assert!(unfound.is_empty(), "not found: {unfound:#?}");
}

/// Returns the symptom of a fault in the table.
fn symptom(choice: &Choice, sample: &Sample, seed: u64, [from, to]: [&str; 2]) -> Option<String> {
    let (old, new) = (from.to_owned(), to.to_owned());
    let shown = shown(choice, sample, (seed, 0), move |program| with_fault(program, [&old, &new]));
    assert!(shown.is_planted, "{} has no {from}", choice.name());
    shown.symptom
}

fn is_found(samples: &[Sample], fault: &Fault) -> bool {
    let (choice, [from, to]) = (choice(fault.choice), fault.texts());
    let symptom = |sample, seed| symptom(&choice, sample, seed, [&from, &to]);
    if fault.error.is_empty() {
        return (0..SEEDS).any(|seed| samples.iter().any(|sample| symptom(sample, seed).is_some()));
    }
    let is_reported = |sample, seed| symptom(sample, seed).is_some_and(|text| text.contains(fault.error));
    samples.iter().any(|sample| (0..2).all(|seed| is_reported(sample, seed)))
}

/// Returns the files of `cuda/` with the methods that compile them. Without faults, the products of these are right.
fn users(samples: &[Sample]) -> BTreeMap<&'static str, (&'static str, Vec<Choice<'static>>)> {
    let mut users: BTreeMap<_, (_, Vec<Choice>)> = BTreeMap::new();
    let names: BTreeSet<_> = faults().map(|fault| fault.choice).collect();
    let ours = on(Device::Gpu).filter(|choice| choice.method.name.starts_with("gpu-"));
    for choice in ours.chain(names.into_iter().filter(|name| name.contains(':')).map(choice)) {
        let files = Rc::new(RefCell::new(BTreeMap::new()));
        for sample in samples {
            let files = files.clone();
            let shown = shown(&choice, sample, (1, 0), move |program| {
                let mut seen = Vec::new();
                whole(program.text(), None, &mut seen);
                files.borrow_mut().insert(program.name, program.text());
                files.borrow_mut().extend(headers().filter(|(name, _)| seen.contains(name)));
                None
            });
            assert_eq!(shown.symptom, None, "{}", choice.name());
        }
        for (name, text) in files.take() {
            users.entry(name).or_insert((text, Vec::new())).1.push(choice.clone());
        }
    }
    users
}

/// Returns whether a product shows a mutant, or no compiler accepts it.
fn is_killed(mutant: &Mutant, samples: &[Sample], users: &[Choice]) -> bool {
    let shows = |pair: usize, choice: &Choice, sample: &Sample| {
        let planted = mutant.clone();
        let change = move |program: &Program| with_mutant(program, &planted);
        shown(choice, sample, (pair as u64, pair), change).symptom.is_some()
    };
    let some = || users.iter().step_by(users.len().div_ceil(8));
    let in_some = |pair| some().any(|choice| samples.iter().any(|sample| shows(pair, choice, sample)));
    (0..FACTORS.len()).any(in_some)
}

#[test]
fn mutants_of_kernels_are_detected() {
    let samples = samples();
    let users = users(&samples);
    let count = if all() { 4 } else { 2 };
    let of_file = |(file, (text, choices)): (&&'static str, &(&str, Vec<Choice<'static>>))| {
        let mutants = some_mutants(file, text, count).into_iter();
        mutants.map(|mutant| (mutant, choices.clone())).collect::<Vec<_>>()
    };
    let mutants: Vec<_> = users.iter().flat_map(of_file).collect();
    let survives = |(mutant, users): &&(Mutant, Vec<Choice>)| !is_killed(mutant, &samples, users);
    let unfound: Vec<_> = mutants.par_iter().filter(survives).map(|(mutant, _)| mutant).collect();
    assert!(unfound.is_empty(), "not found, or to be listed as equivalent: {unfound:#?}");
    assert!(methods().count() < METHODS.len() || mutants.len() > 70, "{}", mutants.len());
}

/// Hashes are too seldom equal for a test, unless all of them are.
#[test]
fn things_with_equal_hashes_are_told_apart() {
    for (name, hash) in [
        ("packed", ["hash ^= hash >> 29;", "hash = 0;"]),
        ("packed-values", ["return bits * 0x9e3779b97f4a7c15ull >> 32;", "return 7;"]),
    ] {
        for sample in samples() {
            assert_eq!(symptom(&choice(name), &sample, 1, hash), None, "{name}");
        }
    }
}
