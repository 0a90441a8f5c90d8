//! The format of an experiment's definition; `docs/experiments.md` describes its keys. The lists of a block are
//! multiplied, blocks are added, and there are no conditions.

use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Deserialize;

use super::claim::Claim;
use super::shorthand::{first_list, written_out};
use crate::report::published::Published;
use crate::report::views::Spec;
use crate::settings::{CacheState, MAX_ROUNDS, Protocol, Values};
use spmv_matrix::limited::read_text;
use spmv_matrix::near::did_you_mean;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::system::isa::Isa;

/// The maximum number of matrices, and of combinations of lists, in a block: lists multiply, and memory is limited.
const MAX_COMBINATIONS: usize = 10_000;
/// The maximum size of a definition and of its published values in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// An experiment, usually a table or figure of a paper: what is measured, shown and claimed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name of the experiment's file, without extension, and of the folder of its results.
    #[serde(skip)]
    pub id: String,
    pub title: String,
    pub source: String,
    #[serde(default)]
    pub gpus: Vec<String>,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub published: Option<String>,
    #[serde(skip)]
    pub known: Published,
    #[serde(rename = "measure")]
    pub blocks: Vec<Block>,
    #[serde(default, rename = "view")]
    pub views: Vec<Spec>,
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A block of products: each matrix is multiplied by every method in every combination of the lists.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub matrices: Vec<String>,
    pub methods: Vec<String>,
    #[serde(default)]
    pub models: Vec<String>,
    #[serde(default = "usual")]
    pub precision: Vec<Precision>,
    #[serde(default)]
    pub threads: Vec<usize>,
    #[serde(default = "usual")]
    pub order: Vec<Order>,
    #[serde(default = "usual")]
    pub cache: Vec<CacheState>,
    #[serde(default = "usual")]
    pub transpose: Vec<bool>,
    #[serde(default)]
    pub values: Values,
    pub isa: Option<Isa>,
    pub protocol: Option<Protocol>,
    pub rounds: Option<u32>,
    pub iterations: Option<u32>,
    #[serde(default = "yes")]
    pub expand: bool,
    #[serde(default)]
    pub stages: bool,
}

fn usual<T: Default>() -> Vec<T> {
    vec![T::default()]
}

fn yes() -> bool {
    true
}

impl Experiment {
    /// Reads a definition from a file. Its ID is the file's name without extension.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_of(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        // It becomes the name of a folder.
        ensure!(
            !name.is_empty() && !name.starts_with('.'),
            "{file}: '{name}' cannot be the name of an experiment: rename the file"
        );
        let experiment = Self::parse(&name, &file, &text)?;
        let Some(published) = &experiment.published else { return Ok(experiment) };
        ensure!(
            Path::new(published).file_name().is_some_and(|name| name == &**published),
            "{file}: published = '{published}': it must be the name of a file in the folder of the experiment"
        );
        let path = path.with_file_name(published);
        experiment.with_published(&path.display().to_string(), &text_of(&path)?)
    }

    pub fn with_published(self, file: &str, text: &str) -> Result<Self> {
        let known = Published::parse(text).map_err(|error| anyhow!("{file}: {error}"))?;
        Ok(Self { known, ..self })
    }

    /// Parses a definition. The message of an error begins with the name of the file.
    pub fn parse(id: &str, file: &str, text: &str) -> Result<Self> {
        let several = written_out(text, check_entry).map_err(|e| anyhow!("{file}:{e:#}"))?;
        let parsed = several.map_or_else(|| toml::from_str(text), toml::Table::try_into);
        let parsed: Self = parsed.map_err(|error| anyhow!("{file}: {}", with_hint(&error)))?;
        let Self { blocks, gpus, claims, .. } = &parsed;
        let checks = blocks.iter().map(Block::check);
        let mut checks = checks.chain(claims.iter().map(|claim| claim.check(gpus)));
        checks.try_for_each(|check| check.map_err(|error| anyhow!("{file}: {error}")))?;
        Ok(Self { id: id.to_owned(), ..parsed })
    }
}

/// Reads a file. Its error names it.
fn text_of(path: &Path) -> Result<String> {
    read_text(path, MOST_BYTES).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))
}

/// Returns the parser's message, with the word that was probably meant if it quotes an unknown one.
fn with_hint(error: &toml::de::Error) -> String {
    let mut quoted = error.message().split('`').skip(1).step_by(2);
    let meant = quoted.next().and_then(|word| did_you_mean(word, quoted));
    let meant = meant.map(|question| format!("; {question}")).unwrap_or_default();
    format!("{}{meant}", error.to_string().trim_end())
}

fn check_entry(kind: &str, entry: toml::Value) -> Result<()> {
    let checked = match kind {
        "measure" => entry.try_into::<Block>().map(drop),
        "view" => entry.try_into::<Spec>().map(drop),
        _ => entry.try_into::<Claim>().map(drop),
    };
    checked.map_err(|error| anyhow!(with_hint(&error)))
}

impl Block {
    fn check(&self) -> Result<()> {
        ensure!(!self.methods.is_empty(), "a block lists no methods");
        for (name, number, most) in [("rounds", self.rounds, MAX_ROUNDS), ("iterations", self.iterations, u32::MAX)] {
            if let Some(number) = number.filter(|number| !(1..=most).contains(number)) {
                bail!("{name} = {number}: it must be a whole number from 1 to {most}");
            }
        }
        ensure!(!self.matrices.is_empty(), "a block lists no matrices");
        let combinations = self.combinations();
        ensure!(combinations > 0, "a block has an empty list, so that it measures nothing");
        let matrices = self.count_matrices();
        for (count, what) in [(matrices, "matrices"), (combinations, "combinations of lists")] {
            ensure!(count <= MAX_COMBINATIONS, "a block has {count} {what}; at most {MAX_COMBINATIONS} are allowed");
        }
        Ok(())
    }

    /// Returns the number of matrices, where a word may stand for several.
    pub fn count_matrices(&self) -> usize {
        self.matrices.iter().map(|word| expansions(word)).fold(0, usize::saturating_add)
    }

    /// Returns the number of combinations of the lists but those of matrices and methods.
    pub fn combinations(&self) -> usize {
        let lists = [self.precision.len(), self.order.len(), self.cache.len(), self.transpose.len()];
        lists.into_iter().fold(self.threads.len().max(1), usize::saturating_mul)
    }
}

/// Returns the words that a word stands for: `gen:a,n={1,2}` is `gen:a,n=1` and `gen:a,n=2`. Lists are multiplied.
pub fn expanded(word: &str) -> Vec<String> {
    let (mut words, mut rest) = (vec![String::new()], word);
    while let Some((head, list, tail)) = first_list(rest) {
        let with_each =
            |word: &String| list.split(',').map(|value| format!("{word}{head}{}", value.trim())).collect::<Vec<_>>();
        words = words.iter().flat_map(with_each).collect();
        rest = tail;
    }
    words.into_iter().map(|word| word + rest).collect()
}

fn expansions(word: &str) -> usize {
    let mut rest = word;
    let lists = std::iter::from_fn(|| {
        let (_, list, tail) = first_list(rest)?;
        rest = tail;
        Some(list.split(',').count())
    });
    lists.fold(1, usize::saturating_mul)
}

#[cfg(test)]
mod tests;
