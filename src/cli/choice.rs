//! `--methods`: names or globs, each with parameters: `merge,mkl-*,gpu-light:level=vector`, and with
//! every value of one: `gpu-merge:block=*:items=4`.

use anyhow::{Context, Result, bail, ensure};

use super::World;
use super::args::{DeviceChoice, MeasureArgs};
use crate::device::Gpu;
use crate::method::{Choice, Device, GRAPH, Method, Unavailable};
use crate::methods::METHODS;

/// The methods that run and the GPU that they may run on. Unless they were asked for, methods that
/// lack the product in question (plain or transposed) are left out, and without a GPU those of the
/// GPU, which is said once.
pub fn methods(
    args: &MeasureArgs,
    world: &mut World,
) -> Result<(Vec<Choice<'static>>, Result<Gpu, Unavailable>)> {
    let asked = args.methods.is_some() || args.device != DeviceChoice::All;
    let mut choices = select(args.methods.as_deref().unwrap_or(&["*".into()]))?;
    choices.retain(|choice| args.device.includes(choice.method.device()));
    if args.methods.is_none() {
        choices.retain(|choice| choice.method.operations.include(args.transpose));
    }
    ensure!(!choices.is_empty(), "none of these methods runs on --device {}", args.device);
    if args.graphs {
        choices = choices.into_iter().flat_map(with_graph).collect();
    }
    let on_gpu = |choice: &Choice| choice.method.device() == Device::Gpu;
    if !choices.iter().any(on_gpu) {
        return Ok((choices, Err(Unavailable("no method needs it".into()))));
    }
    let gpu = (world.open_gpu)(args.gpu());
    if let Err(Unavailable(reason)) = &gpu {
        if let Some(number) = args.gpu() {
            bail!("GPU {number}: {reason}");
        }
        if !asked {
            choices.retain(|choice| !on_gpu(choice));
            if !args.quiet {
                writeln!(world.stderr, "without the GPU methods: {reason}")?;
            }
        }
    }
    Ok((choices, gpu))
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
    let mut chosen: Vec<(usize, Choice)> = Vec::new();
    for word in words {
        let mut parts = word.split(':');
        let name = parts.next().unwrap_or_default();
        let pattern = glob::Pattern::new(name).with_context(|| format!("--methods {word}"))?;
        let parameters: Vec<&str> = parts.collect();
        let matching = METHODS.iter().enumerate().filter(|(_, m)| pattern.matches(m.name));
        let mut found = false;
        for (index, method) in matching {
            found = true;
            let sets = sets(method, &parameters).with_context(|| format!("--methods {word}"))?;
            for choice in sets.into_iter().map(|given| Choice { method, given }) {
                if chosen.iter().all(|(_, other)| other.name() != choice.name()) {
                    chosen.push((index, choice));
                }
            }
        }
        ensure!(found, "--methods {word}: no such method; there are {}", known());
    }
    chosen.sort_by_key(|(index, _)| *index);
    Ok(chosen.into_iter().map(|(_, choice)| choice).collect())
}

fn known() -> String {
    METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
}

/// Names and values of parameters.
type Given = Vec<(&'static str, &'static str)>;

/// What the parameters may be: one set, or where values are `*` one for every combination.
fn sets(method: &Method, parameters: &[&str]) -> Result<Vec<Given>> {
    parameters.iter().try_fold(vec![Given::new()], |sets, parameter| {
        let values = given(method, parameter)?;
        let name = values[0].0;
        let is_new = sets.iter().flatten().all(|(other, _)| *other != name);
        ensure!(is_new, "{} has {name} twice", method.name);
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
        known => format!("{} has no parameter '{name}', but {known}", method.name),
    })?;
    let fits = |known: &&str| value == "*" || *known == value;
    let values: Vec<_> = parameter.values.iter().copied().filter(fits).collect();
    ensure!(
        !values.is_empty(),
        "{name} of {} is one of {}, not '{value}'",
        method.name,
        parameter.values.join(", ")
    );
    Ok(values.into_iter().map(|value| (parameter.name, value)).collect())
}
