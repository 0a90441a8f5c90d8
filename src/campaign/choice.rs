//! Parses `--methods`: names or patterns with optional parameters, such as `merge,mkl-*,gpu-light:level=vector`,
//! or with every value of a parameter, such as `gpu-merge:block=*:items=4`.

use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail, ensure};

use super::env::Env;
use super::gpus;
use super::isolate::Interrupted;
use spmv_matrix::interned::interned;
use spmv_matrix::method_name::MethodName;
use spmv_matrix::near::hint;
use spmv_methods::all;
use spmv_methods::device::Gpu;
use spmv_methods::device::model::{DeviceFile, Model};
use spmv_methods::method::{ANY_NUMBER, Choice, Device, Method, Unavailable};
use spmv_results::settings::{DeviceChoice, RunSettings};

/// The model on which `.cu` files run without a GPU.
const FALLBACK: &str = "h200";

/// Returns the methods to run and the GPU that they run on. Methods that do not support the requested product
/// (plain or transposed) are skipped unless they are named. Without a GPU, its methods are skipped with one
/// message.
pub fn methods(run: &RunSettings, env: &mut Env) -> Result<(Vec<Choice<'static>>, Option<Gpu>)> {
    let mut choices = chosen(run)?;
    if !choices.iter().any(is_on_gpu) {
        return Ok((choices, None));
    }
    ensure!(
        run.models().len() <= 1,
        "--device {}: several modelled GPUs are measured in separate child processes, which --no-isolate does \
         not use: choose one",
        run.device
    );
    if let Some(name) = run.models().first() {
        return Ok((choices, Some(modelled(name)?)));
    }
    let reason = match gpus::open(run.gpu(), run.settings.timeout, env) {
        Ok(gpu) => return Ok((choices, Some(gpu))),
        Err(Unavailable(reason)) => reason,
    };
    if run.device == DeviceChoice::All && choices.iter().any(|choice| choice.method.is_kernel_file()) {
        let gpu = modelled(FALLBACK)?;
        if !run.quiet {
            writeln!(env.stderr, "{reason}; the kernels run on model:{FALLBACK}, with modelled times")?;
        }
        return Ok((choices, Some(gpu)));
    }
    if let Some(demand) = demand(run)? {
        bail!(
            "{demand}: {reason}; GPU methods need an NVIDIA GPU and its driver, or \
             --device model:h200"
        );
    }
    choices.retain(|choice| !is_on_gpu(choice));
    if !run.quiet {
        writeln!(env.stderr, "GPU methods are skipped: {reason}; --device model:h200 runs them on a modelled GPU")?;
    }
    Ok((choices, None))
}

/// Opens a modelled GPU, by name or device file.
pub fn modelled(name: &str) -> Result<Gpu> {
    Ok(Gpu::new(Model::of_file(name, &DeviceFile::find(name)?)))
}

/// Lets a child process open the GPU that the methods need, if they need a real one.
pub fn ask_for_gpu(run: &RunSettings, env: &mut Env) -> Result<()> {
    if run.models().is_empty() && chosen(run)?.iter().any(is_on_gpu) {
        // The processes that measure get the answer, and report what follows from it.
        let _ = gpus::facts(run.gpu(), run.settings.timeout, env);
        let moment = "while a child process opened the GPU";
        ensure!(!env.interrupted.load(Ordering::Relaxed), Interrupted(moment));
    }
    Ok(())
}

pub fn chosen(run: &RunSettings) -> Result<Vec<Choice<'static>>> {
    let mut choices = select(run.methods.as_deref().unwrap_or(&["*".into()]))?;
    choices.retain(|choice| run.device.includes(choice.method.device()));
    choices.retain(|choice| !run.only_parallel || is_parallel(choice));
    if run.methods.is_none() {
        choices.retain(|choice| choice.method.operations.include(run.settings.transpose));
    }
    ensure!(!choices.is_empty(), "none of these methods runs on --device {}", run.device);
    Ok(choices)
}

/// Returns the choice with every combination of the values of these parameters that it does not set.
pub fn swept(choice: &Choice<'static>, parameters: &[String]) -> Vec<Choice<'static>> {
    let Choice { method, given } = choice;
    let is_swept = |name: &str| parameters.iter().any(|swept| swept == name);
    let others = given.iter().copied().filter(|(name, _)| !is_swept(name)).collect();
    let sets = parameters.iter().fold(vec![others], |sets, parameter| {
        let values = values(choice, parameter);
        if values.is_empty() { sets } else { with_each(&sets, &values) }
    });
    sets.into_iter().map(|given| Choice { method, given }).collect()
}

/// Returns a parameter of the method with the value that the choice sets, or with all its values.
fn values(choice: &Choice<'static>, name: &str) -> Given {
    if let Some(given) = choice.given.iter().find(|(given, _)| *given == name) {
        return vec![*given];
    }
    let all = choice.method.parameters.iter().filter(|parameter| parameter.name == name);
    all.flat_map(|all| all.values.iter().map(move |value| (all.name, *value))).collect()
}

/// Returns the part of the command line that requires a GPU: a pattern that also matches CPU methods does not.
fn demand(run: &RunSettings) -> Result<Option<String>> {
    if run.device != DeviceChoice::All {
        return Ok(Some(format!("--device {}", run.device)));
    }
    for word in run.methods.iter().flatten() {
        if select(std::slice::from_ref(word))?.iter().all(is_on_gpu) {
            return Ok(Some(format!("--methods {word}")));
        }
    }
    Ok(None)
}

/// Returns whether the method depends on the number of threads.
pub fn is_parallel(choice: &Choice) -> bool {
    choice.method.threads(2) == Some(2)
}

fn is_on_gpu(choice: &Choice) -> bool {
    choice.method.device() == Device::Gpu
}

/// Returns the methods that `words` select, in the order of the list, perhaps with several sets of parameters.
pub fn select(words: &[String]) -> Result<Vec<Choice<'static>>> {
    let mut chosen: Vec<Choice> = Vec::new();
    for word in words {
        let MethodName { method, parameters } = MethodName::parse(word);
        for method in matching(method).with_context(|| format!("--methods {word}"))? {
            let sets = sets(method, &parameters).with_context(|| format!("--methods {word}"))?;
            for choice in sets.into_iter().map(|given| Choice { method, given }) {
                if chosen.iter().all(|other| other.name() != choice.name()) {
                    chosen.push(choice);
                }
            }
        }
    }
    let place = |choice: &Choice| all().position(|method| method.name == choice.method.name);
    chosen.sort_by_key(place);
    Ok(chosen)
}

pub fn matching(glob: &str) -> Result<Vec<&'static Method>> {
    let whole = "`spmv-bench methods` lists all of them";
    let pattern = glob::Pattern::new(glob)?;
    let names = all().map(|method| method.name);
    let methods: Vec<_> = all().filter(|method| pattern.matches(method.name)).collect();
    ensure!(!methods.is_empty(), "there is no method '{glob}'{}", hint(glob, names, whole));
    Ok(methods)
}

type Given = Vec<(&'static str, &'static str)>;

/// Parses parameters. Returns one set, or one set for every combination if values are `*`.
fn sets(method: &Method, parameters: &[(&str, &str)]) -> Result<Vec<Given>> {
    parameters.iter().try_fold(vec![Given::new()], |sets, parameter| {
        let values = given(method, *parameter)?;
        let name = values[0].0;
        let is_new = sets.iter().flatten().all(|(other, _)| *other != name);
        ensure!(is_new, "{} is given the parameter {name} twice", method.name);
        Ok(with_each(&sets, &values))
    })
}

/// Returns every set extended by each of the values.
fn with_each(sets: &[Given], values: &[(&'static str, &'static str)]) -> Vec<Given> {
    let of_set = |set: &Given| -> Vec<Given> { values.iter().map(|&value| [&set[..], &[value]].concat()).collect() };
    sets.iter().flat_map(of_set).collect()
}

/// Returns the parameter of this name with the value, or with each of its values if that is `*`.
fn given(method: &Method, (name, value): (&str, &str)) -> Result<Given> {
    let known = || method.all_parameters().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let parameter = method.all_parameters().find(|parameter| parameter.name == name);
    let parameter = parameter.with_context(|| match &*known() {
        "" => format!("{} has no parameters", method.name),
        known => format!("{} has no parameter '{name}'; it has {known}", method.name),
    })?;
    let fits = |known: &&str| value == "*" || *known == value;
    let number = value.parse::<u32>().ok();
    let number = number.filter(|&number| number > 0 && parameter.values == ANY_NUMBER);
    let other = number.map(|number| interned(number.to_string()));
    let mut values: Vec<_> = parameter.values.iter().copied().filter(fits).collect();
    values.extend(other.filter(|_| values.is_empty()));
    ensure!(
        !values.is_empty(),
        "the parameter {name} of {} cannot be '{value}'; it can be {}, or * for each of them",
        method.name,
        parameter.values.join(", ")
    );
    Ok(values.into_iter().map(|value| (parameter.name, value)).collect())
}
