//! `--methods`: names or globs, each with parameters: `merge,mkl-*,gpu-light:level=vector`, and with
//! every value of one: `gpu-merge:block=*:items=4`.

use std::ffi::OsStr;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use super::Env;
use super::args::{DeviceChoice, MeasureArgs};
use crate::device::Gpu;
use crate::device::model::{DeviceFile, Model};
use crate::method::{Choice, Device, GRAPH, Method, Unavailable};
use crate::methods::METHODS;
use crate::near::hint;

/// The methods that run and the GPU that they may run on. Methods that lack the product in question
/// (plain or transposed) are left out unless they are named. Without a GPU its methods are left out
/// too, which is said once.
///
/// # Errors
/// When the command line asks for a GPU and there is none, or when no method is left.
pub fn methods(args: &MeasureArgs, env: &mut Env) -> Result<(Vec<Choice<'static>>, Option<Gpu>)> {
    let mut choices = chosen(args)?;
    if !choices.iter().any(is_on_gpu) {
        return Ok((choices, None));
    }
    ensure!(
        args.models().len() <= 1,
        "--device {}: each of several modelled GPUs has a process of its own, which --no-isolate and tune do not \
         start: choose one",
        args.device
    );
    if let Some(name) = args.models().first() {
        let file = DeviceFile::find(name).map_err(|Unavailable(reason)| anyhow!(reason))?;
        return Ok((choices, Some(Gpu::new(Model::of_file(name, &file)))));
    }
    let reason = match (env.open_gpu)(args.gpu()) {
        Ok(gpu) => return Ok((choices, Some(gpu))),
        Err(Unavailable(reason)) => reason,
    };
    if let Some(demand) = demand(args)? {
        bail!(
            "{demand}: {reason}; methods of the GPU need an NVIDIA GPU and its driver, or \
             --device model:h200"
        );
    }
    choices.retain(|choice| !is_on_gpu(choice));
    if !args.quiet {
        writeln!(
            env.stderr,
            "without the GPU methods: {reason}; --device model:h200 runs them on a modelled GPU"
        )?;
    }
    Ok((choices, None))
}

/// What the command line names.
pub fn chosen(args: &MeasureArgs) -> Result<Vec<Choice<'static>>> {
    let mut choices = select(args.methods.as_deref().unwrap_or(&["*".into()]))?;
    choices.retain(|choice| args.device.includes(choice.method.device()));
    choices.retain(|choice| !args.only_parallel || is_parallel(choice));
    if args.methods.is_none() {
        choices.retain(|choice| choice.method.operations.include(args.transpose));
    }
    ensure!(!choices.is_empty(), "none of these methods runs on --device {}", args.device);
    if args.graphs {
        choices = choices.into_iter().flat_map(with_graph).collect();
    }
    Ok(choices)
}

/// The part of the command line that cannot do without a GPU. A pattern that also fits methods of the
/// CPU can.
fn demand(args: &MeasureArgs) -> Result<Option<String>> {
    if let Some(number) = args.gpu() {
        return Ok(Some(format!("GPU {number}")));
    }
    if args.device != DeviceChoice::All {
        return Ok(Some(format!("--device {}", args.device)));
    }
    for word in args.methods.iter().flatten() {
        if select(std::slice::from_ref(word))?.iter().all(is_on_gpu) {
            return Ok(Some(format!("--methods {word}")));
        }
    }
    Ok(None)
}

/// Whether the number of threads matters.
pub fn is_parallel(choice: &Choice) -> bool {
    choice.method.threads(2) == Some(2)
}

fn is_on_gpu(choice: &Choice) -> bool {
    choice.method.device() == Device::Gpu
}

/// The method, and if it runs on a GPU and is not one already, its product as a graph.
fn with_graph(choice: Choice) -> impl Iterator<Item = Choice> {
    let is_plain = choice.method.device() == Device::Gpu && !choice.is_graph();
    let graph = is_plain.then(|| {
        let given = [&choice.given[..], &[(GRAPH.name, GRAPH.values[0])]].concat();
        Choice { given, ..choice.clone() }
    });
    [choice].into_iter().chain(graph)
}

/// The methods that `words` name, in the list's order; one method may come with several sets of
/// parameters.
pub fn select(words: &[String]) -> Result<Vec<Choice<'static>>> {
    let mut chosen: Vec<Choice> = Vec::new();
    for word in words {
        let mut parts = word.split(':');
        let name = parts.next().unwrap_or_default();
        let parameters: Vec<&str> = parts.collect();
        for method in matching(name).with_context(|| format!("--methods {word}"))? {
            let sets = sets(method, &parameters).with_context(|| format!("--methods {word}"))?;
            for choice in sets.into_iter().map(|given| Choice { method, given }) {
                if chosen.iter().all(|other| other.name() != choice.name()) {
                    chosen.push(choice);
                }
            }
        }
    }
    let place =
        |choice: &Choice| METHODS.iter().position(|method| method.name == choice.method.name);
    chosen.sort_by_key(place);
    Ok(chosen)
}

/// The methods whose names a glob fits.
///
/// # Errors
/// When there is none.
pub fn matching(glob: &str) -> Result<Vec<&'static Method>> {
    let whole = "`spmv-bench methods` lists all of them";
    let pattern = glob::Pattern::new(glob)?;
    let names = METHODS.iter().map(|method| method.name);
    let methods = METHODS.iter().filter(|method| pattern.matches(method.name));
    let methods: Vec<_> = methods.collect();
    ensure!(!methods.is_empty(), "there is no method '{glob}'{}", hint(glob, names, whole));
    Ok(methods)
}

/// Any text, of which a shell completes the names of methods: globs and parameters are understood, too.
#[derive(Clone)]
pub struct MethodName;

impl TypedValueParser for MethodName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(METHODS.iter().map(|method| PossibleValue::new(method.name))))
    }
}

/// Names and values of parameters.
type Given = Vec<(&'static str, &'static str)>;

/// What the parameters may be: one set, or where values are `*` one for every combination.
fn sets(method: &Method, parameters: &[&str]) -> Result<Vec<Given>> {
    parameters.iter().try_fold(vec![Given::new()], |sets, parameter| {
        let values = given(method, parameter)?;
        let name = values[0].0;
        let is_new = sets.iter().flatten().all(|(other, _)| *other != name);
        ensure!(is_new, "{} is given the parameter {name} twice", method.name);
        let with_each = |set: &Given| {
            let set = set.clone();
            values.iter().map(move |&value| [&set[..], &[value]].concat()).collect::<Vec<_>>()
        };
        Ok(sets.iter().flat_map(with_each).collect())
    })
}

/// `name=value` as one of the method's parameters and one of its values, or all if that is `*`.
fn given(method: &Method, text: &str) -> Result<Given> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let known = || method.all_parameters().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let parameter = method.all_parameters().find(|parameter| parameter.name == name);
    let parameter = parameter.with_context(|| match &*known() {
        "" => format!("{} has no parameters", method.name),
        known => format!("{} has no parameter '{name}'; it has {known}", method.name),
    })?;
    let fits = |known: &&str| value == "*" || *known == value;
    let values: Vec<_> = parameter.values.iter().copied().filter(fits).collect();
    ensure!(
        !values.is_empty(),
        "the parameter {name} of {} cannot be '{value}'; it can be {}, or * for each of them",
        method.name,
        parameter.values.join(", ")
    );
    Ok(values.into_iter().map(|value| (parameter.name, value)).collect())
}
