//! `--methods`: names or globs, each with parameters: `merge,mkl-*,gpu-light:level=vector`.

use anyhow::{Context, Result, ensure};

use crate::method::{Choice, Method};
use crate::methods::METHODS;

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
            let given = parameters.iter().map(|parameter| given(method, parameter));
            let given =
                given.collect::<Result<_>>().with_context(|| format!("--methods {word}"))?;
            let choice = Choice { method, given };
            if chosen.iter().all(|(_, other)| other.name() != choice.name()) {
                chosen.push((index, choice));
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

/// `name=value` as one of the method's parameters and one of its values.
fn given(method: &Method, text: &str) -> Result<(&'static str, &'static str)> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let known = || method.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let parameter = method.parameters.iter().find(|parameter| parameter.name == name);
    let parameter = parameter.with_context(|| match method.parameters {
        [] => format!("{} has no parameters", method.name),
        _ => format!("{} has no parameter '{name}', but {}", method.name, known()),
    })?;
    let value = parameter.values.iter().find(|known| **known == value).with_context(|| {
        let values = parameter.values.join(", ");
        format!("{name} of {} is one of {values}, not '{value}'", method.name)
    })?;
    Ok((parameter.name, value))
}
