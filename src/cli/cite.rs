//! `spmv-bench cite`: the BibTeX entries of the sources of methods.

use anyhow::{Context, Result};
use clap::Args;

use super::values::MethodName;
use super::verb::{CommandStatus, Verb};
use crate::campaign::choice::matching;
use crate::campaign::env::Env;
use spmv_results::papers::bibliography::{BibEntry, entries};

/// Prints the BibTeX entries to cite for methods or papers
///
/// Each entry is printed once, sorted by key. A method of this project or of a library has an entry for the
/// software.
#[derive(Debug, Args)]
pub struct CiteArgs {
    /// Methods (merge, 'gpu-*'), papers (csr-k), or all
    ///
    /// Papers have the keys of docs/papers.bib, such as merge-spmv-sc16.
    #[arg(required = true, value_name = "METHOD|PAPER|all", value_parser = MethodName,
          hide_possible_values = true)]
    pub words: Vec<String>,
}

impl Verb for CiteArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let mut keys = Vec::new();
        for word in &self.words {
            keys.extend(cited(word)?);
        }
        for entry in entries().filter(|entry| keys.contains(&entry.key)) {
            writeln!(env.stdout, "{}\n", entry.text)?;
        }
        Ok(CommandStatus::Ok)
    }
}

fn cited(word: &str) -> Result<Vec<&'static str>> {
    let keys = entries().map(|entry| entry.key);
    let named: Vec<_> = keys.filter(|key| word == "all" || word == *key).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let methods = matching(word).with_context(|| format!("{word} is not a key of docs/papers.bib"))?;
    let is_cited = |entry: &BibEntry| methods.iter().any(|method| entry.is_cited_in(method.source));
    Ok(entries().filter(is_cited).map(|entry| entry.key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_methods::METHODS;
    use spmv_results::papers::experiments;

    #[test]
    fn every_source_cites_an_entry_and_every_entry_is_cited() {
        let methods = METHODS.iter().map(|method| method.source.to_owned());
        let sources: Vec<_> = experiments().map(|experiment| experiment.source).chain(methods).collect();
        for source in &sources {
            assert!(entries().any(|entry| entry.is_cited_in(source)), "{source}");
        }
        for entry in entries() {
            assert!(sources.iter().any(|source| entry.is_cited_in(source)), "{}", entry.key);
        }
    }

    #[test]
    fn the_program_is_cited_with_its_version() {
        let own = entries().find(|entry| entry.key == "spmv-bench").unwrap();
        let version = format!("version = {{{}}}", env!("CARGO_PKG_VERSION"));
        assert!(own.text.contains(&version), "{}", own.text);
    }
}
