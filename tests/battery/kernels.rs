//! Faults planted in the text of kernels. The model must detect each of them: by an error message that names the cause,
//! or by a wrong result for some seed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rayon::prelude::*;
use spmv_matrix::Csr;
use spmv_matrix::verify::Reference;
use spmv_methods::device::model::Model;
use spmv_methods::device::sources::headers;
use spmv_methods::device::{Gpu, Program};
use spmv_methods::method::{Choice, Failed, Unavailable, Unprepared};

use super::faults::{FAULTS, Fault};
use super::methods;
use super::product::{Asked, Place, products};
use super::small::{mostly_empty, tiles, vector};

/// The number of seeds with which a fault is tried.
const SEEDS: u64 = 100;

fn faults() -> impl Iterator<Item = &'static Fault> {
    let is_tested =
        |fault: &&Fault| methods().any(|method| method.name == choice(fault.choice).method.name);
    FAULTS.into_iter().flatten().filter(is_tested)
}

/// Matrices with rows of all lengths up to 40 and empty ones, more rows than a block has threads: one with a row of
/// 30000 nonzeros; a square one, which orderings need; one with far more rows than nonzeros, a long row and
/// two diagonals; a band, which padded
/// formats accept; and one with tiles of every kind.
fn matrices() -> [Csr<f64>; 5] {
    let of = |cols: usize, longest: usize| {
        let entry =
            |row: usize, k: usize| (row, (k * 3 + row) % cols, ((k + row) % 9) as f64 + 0.5);
        let length = |row: usize| if row == 150 { longest } else { row % 41 };
        let triplets: Vec<_> =
            (0..515).flat_map(|row| (0..length(row)).map(move |k| entry(row, k))).collect();
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

/// A matrix, and three vectors with their products, for the matrix and for its transpose.
struct Sample {
    csr: Csr<f64>,
    products: [[(Vec<f64>, Reference); 3]; 2],
}

fn samples() -> [Sample; 5] {
    let products = |operator: &Csr<f64>| {
        [0.3, 0.5, 0.7].map(|phase| {
            let x = vector(operator.cols(), phase);
            let reference = Reference::new(operator, 1.0, &x, 0.0, &[]);
            (x, reference)
        })
    };
    matrices().map(|csr| Sample { products: [products(&csr), products(&csr.transposed())], csr })
}

/// Returns the text of a program with its headers inserted.
fn whole(program: &Program, seen: &mut Vec<&'static str>) -> String {
    let mut line = |line: &'static str| {
        let included = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        let header = headers().find(|(name, _)| Some(*name) == included);
        match header {
            Some((name, _)) if seen.contains(&name) => String::new(),
            Some((name, source)) => {
                seen.push(name);
                whole(&Program { name, source }, seen)
            }
            None => format!("{line}\n"),
        }
    };
    program.text().lines().filter(|line| *line != "#pragma once").map(&mut line).collect()
}

/// Returns the symptom of a fault in the products with one seed; `None` without one, or if the matrix is refused.
fn symptom(choice: &Choice, sample: &Sample, seed: u64, [from, to]: [&str; 2]) -> Option<String> {
    let (old, new) = (from.to_owned(), to.to_owned());
    let planted = Rc::new(Cell::new(false));
    let seen = planted.clone();
    let altered = move |program: &Program, _, _: &[_]| {
        let mut source = program.text().to_owned();
        if !source.contains(&old) {
            source = whole(program, &mut Vec::new());
        }
        seen.set(seen.get() || source.contains(&old));
        source.replacen(&old, &new, 1)
    };
    let gpu = Gpu::new(Model::tiny(seed).with(|model| model.rewrite = Some(Box::new(altered))));
    let symptom_of = |asked| symptom_of(choice, sample, &gpu, asked);
    let symptoms: Vec<_> = Asked::all(choice).map(symptom_of).collect();
    let refused = symptoms.iter().any(Result::is_err);
    assert!(planted.get() || refused, "{} has no {from}", choice.name());
    symptoms.into_iter().flatten().flatten().next()
}

/// Returns the first error or deviation of three products with different x. A counter or a flag that one product leaves
/// to the next affects the second and third product only.
fn symptom_of(
    choice: &Choice,
    sample: &Sample,
    gpu: &Gpu,
    asked: Asked,
) -> Result<Option<String>, Unavailable> {
    let Sample { csr, products: expected } = sample;
    let expected = &expected[usize::from(asked.transpose)];
    let y0 = vec![f64::NAN; if asked.transpose { csr.cols() } else { csr.rows() }];
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

fn is_found(samples: &[Sample], fault: &Fault) -> bool {
    let (choice, [from, to]) = (choice(fault.choice), fault.texts());
    let symptom = |sample, seed| symptom(&choice, sample, seed, [&from, &to]);
    if fault.error.is_empty() {
        return (0..SEEDS).any(|seed| samples.iter().any(|sample| symptom(sample, seed).is_some()));
    }
    let is_reported =
        |sample, seed| symptom(sample, seed).is_some_and(|text| text.contains(fault.error));
    samples.iter().any(|sample| (0..2).all(|seed| is_reported(sample, seed)))
}

#[test]
fn the_same_kernels_without_faults_are_right() {
    let names: BTreeSet<_> = faults().map(|fault| fault.choice).collect();
    for sample in samples() {
        for name in &names {
            assert_eq!(symptom(&choice(name), &sample, 1, ["", ""]), None, "{name}");
        }
    }
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
