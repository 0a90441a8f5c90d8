//! Every kernel with every set of constants that a method asks for, compiled by NVRTC for several
//! architectures; what it uses of one of them is printed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rayon::prelude::*;
use spmv_bench::device::buffer::Value;
use spmv_bench::device::cuda::nvrtc::{compile_for, nvrtc};
use spmv_bench::device::cuda::usage::Usage;
use spmv_bench::device::{Gpu, Program};
use spmv_bench::matrix::Csr;
use spmv_bench::method::{Choice, Device, Unavailable};
use spmv_bench::scalar::Precision;
use spmv_emulation::Emulation;

use super::product::{Asked, Place, products, variants_on};
use super::{on, say};

const ARCHITECTURES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];
/// The architecture whose usage is printed.
const PRINTED: (u32, u32) = (9, 0);

/// A file's name and what is defined when it is compiled.
type Unit = (&'static str, Vec<(&'static str, usize)>);

/// The text of each.
type Programs = BTreeMap<Unit, &'static str>;

/// What all GPU methods compile in one precision, seen by running them.
fn programs<T: Value>() -> Programs {
    let seen = Rc::new(RefCell::new(Programs::new()));
    let log = seen.clone();
    let gpu = Gpu::new(Emulation::new(1).rewriting(move |program, _, constants| {
        let Program { name, source } = *program;
        log.borrow_mut().insert((name, constants.to_vec()), source);
        source.to_owned()
    }));
    // As wide as the widest block of any format.
    let csr = Csr::<f64>::from_triplets(8, 8, &[(0, 0, 1.0), (2, 1, 1.0)]);
    let csr = csr.to_precision::<T>().unwrap();
    let choices: Vec<Choice> = on(Device::Gpu).chain(variants_on(Device::Gpu)).collect();
    for choice in choices.iter().filter(|choice| choice.method.name.starts_with("gpu-")) {
        let (x, y) = ([T::one(); 8], [T::zero(); 8]);
        for asked in Asked::all(choice) {
            products(choice, &csr, &Place::Gpu(&gpu), asked, &x, &y, 0).unwrap();
        }
    }
    seen.take()
}

/// Compiles for all architectures; a line about the printed one.
fn check(program: &Program, constants: &[(&'static str, usize)], precision: Precision) -> String {
    let compile = |&architecture: &(u32, u32)| {
        let compiled = compile_for(architecture, program, precision, constants).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"), "{}", program.name);
        (architecture == PRINTED).then(|| Usage::of(&compiled.log))
    };
    let usage = |kernel: &Usage| {
        let Usage { kernel, registers, stack, spill_stores, spill_loads, shared } = kernel;
        // An array on the stack is one whose places are not constants: memory where registers should be.
        let in_memory = [stack, spill_stores, spill_loads];
        assert_eq!(in_memory, [&0; 3], "{kernel} with {constants:?}");
        format!(" {kernel} {registers} registers, {spill_stores} B spilled, {shared} B shared;")
    };
    let kernels: Vec<_> = ARCHITECTURES.iter().filter_map(compile).flatten().collect();
    let defined: String =
        constants.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let usages: String = kernels.iter().map(usage).collect();
    format!("\n  {} {}{defined}:{usages}", program.name, precision.name())
}

#[test]
fn every_kernel_compiles_for_every_architecture() {
    if let Err(Unavailable(reason)) = nvrtc() {
        return say(&format!("skipped: {reason}"));
    }
    let all: Vec<_> = [(Precision::F64, programs::<f64>()), (Precision::F32, programs::<f32>())]
        .into_iter()
        .flat_map(|(precision, programs)| programs.into_iter().map(move |entry| (precision, entry)))
        .collect();
    assert!(all.len() >= 2, "{all:?}");
    let check_one =
        |(precision, ((name, constants), source)): (Precision, (Unit, &'static str))| {
            check(&Program { name, source }, &constants, precision)
        };
    let lines: Vec<String> = all.into_par_iter().map(check_one).collect();
    say(&format!("kernels on sm_{}{}:{}", PRINTED.0, PRINTED.1, lines.concat()));
}
