//! The grammar of an experiment's definition. It is closed: the lists of a block multiply, blocks add up,
//! and there are no conditions.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::claim::Claim;
use crate::bench::plan::{CacheState, Protocol};
use crate::device::model::DeviceFile;
use crate::matrix::order::Order;
use crate::method::{Device, Unavailable};
use crate::methods::METHODS;
use crate::near::did_you_mean;
use crate::report::published::Published;
use crate::report::views::Spec;
use crate::scalar::Precision;

/// Lists multiply: few of them would otherwise be more than fits in memory.
const MOST: usize = 10_000;

/// A table or figure: what is measured, shown and claimed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The folder's name.
    #[serde(skip)]
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The document and the place in it: `merge-spmv-sc16, Table 1`; or this project.
    pub source: String,
    /// The GPUs that the source measured on, by the names of their models; `--device model` takes these.
    #[serde(default)]
    pub gpus: Vec<String>,
    /// How it departs from its source, and what must be known to read it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// A file beside this one with times that others have published of the same products: see
    /// [`Published`].
    #[serde(default)]
    pub published: Option<String>,
    /// What is in it.
    #[serde(skip)]
    pub known: Published,
    /// What is measured.
    #[serde(rename = "measure")]
    pub blocks: Vec<Block>,
    /// What is shown.
    #[serde(default, rename = "view")]
    pub views: Vec<Spec>,
    /// What the source says of it.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Matrices, each multiplied by every method in every combination of the lists.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// `corpus`, `set:NAME`, `set:NAME/CLASS`, `GROUP/NAME`, `collection:GROUP/NAME` where the datasets lack it, and `gen:SPEC` where `key={a,b,c}` stands
    /// for a matrix each.
    pub matrices: Vec<String>,
    /// As after `--methods`; all of one device.
    pub methods: Vec<String>,
    /// The modelled GPUs that methods of the GPU run on, in place of a real one.
    #[serde(default)]
    pub models: Vec<String>,
    /// See [`Precision`].
    #[serde(default = "f64_only")]
    pub precision: Vec<Precision>,
    /// Numbers of threads; what the machine lacks is left out. None: one per core.
    #[serde(default)]
    pub threads: Vec<usize>,
    /// See [`Order`].
    #[serde(default = "natural_only")]
    pub order: Vec<Order>,
    /// See [`CacheState`].
    #[serde(default = "hot_only")]
    pub cache: Vec<CacheState>,
    /// By A or by Aᵀ.
    #[serde(default = "plain_only")]
    pub transpose: Vec<bool>,
    /// See [`Protocol`].
    pub protocol: Option<Protocol>,
    /// As after `--rounds`.
    pub rounds: Option<u32>,
    /// As after `--iterations`.
    pub iterations: Option<u32>,
    /// Whether symmetric files are expanded.
    #[serde(default = "yes")]
    pub expand: bool,
    /// Whether the parts of products are timed too.
    #[serde(default)]
    pub stages: bool,
}

fn f64_only() -> Vec<Precision> {
    vec![Precision::F64]
}

fn natural_only() -> Vec<Order> {
    vec![Order::Natural]
}

fn hot_only() -> Vec<CacheState> {
    vec![CacheState::Hot]
}

fn plain_only() -> Vec<bool> {
    vec![false]
}

fn yes() -> bool {
    true
}

/// Why there is no such experiment.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DefinitionError {
    #[error("there is no experiment '{id}'{hint}; one of your own is named by its FILE.toml")]
    Unknown { id: String, hint: String },
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{file}: {what}")]
    Grammar { file: String, what: String },
    #[error("{file}: {what}")]
    Content { file: String, what: String },
}

impl Experiment {
    /// Of a file; its ID is the file's name, or its folder's if the file is `experiment.toml`.
    ///
    /// # Errors
    /// When it cannot be read or understood.
    pub fn read(path: &Path) -> Result<Self, DefinitionError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| DefinitionError::Unreadable { path: path.to_owned(), error })?;
        let stem = path.file_stem().filter(|stem| *stem != "experiment");
        let name = stem.or_else(|| path.parent()?.file_name()).unwrap_or("experiment".as_ref());
        let experiment = Self::parse(&name.to_string_lossy(), &path.display().to_string(), &text)?;
        let Some(file) = &experiment.published else { return Ok(experiment) };
        let path = path.with_file_name(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| DefinitionError::Unreadable { path: path.clone(), error })?;
        experiment.knowing(&path.display().to_string(), &text)
    }

    /// With the published times of a text that bears the name `file` in messages.
    ///
    /// # Errors
    /// When it is not understood.
    pub fn knowing(self, file: &str, text: &str) -> Result<Self, DefinitionError> {
        let wrong = |what| DefinitionError::Content { file: file.to_owned(), what };
        Ok(Self { known: Published::parse(text).map_err(wrong)?, ..self })
    }

    /// Of a text that bears the name `file` in messages.
    ///
    /// # Errors
    /// When it is not understood.
    pub fn parse(id: &str, file: &str, text: &str) -> Result<Self, DefinitionError> {
        let parsed: Self = toml::from_str(text).map_err(|error| DefinitionError::Grammar {
            file: file.to_owned(),
            what: with_hint(&error),
        })?;
        let experiment = Self { id: id.to_owned(), ..parsed };
        let gpus = &experiment.gpus;
        let checks = experiment.blocks.iter().map(Block::check).chain([known_models(gpus)]);
        let checks = checks.chain(experiment.claims.iter().map(|claim| claim.check(gpus)));
        let wrong = |what| DefinitionError::Content { file: file.to_owned(), what };
        checks.collect::<Result<(), _>>().map_err(wrong)?;
        Ok(experiment)
    }

    /// Whether something of it runs there; on a GPU, that is a real one.
    pub fn needs(&self, device: Device) -> bool {
        let runs = |block: &Block| block.device() == device && block.models.is_empty();
        self.blocks.iter().any(runs)
    }
}

/// The parser's message, with what may have been meant where it quotes a word that it does not know and then those
/// that it knows.
fn with_hint(error: &toml::de::Error) -> String {
    let mut quoted = error.message().split('`').skip(1).step_by(2);
    let meant = quoted.next().and_then(|word| did_you_mean(word, quoted));
    let meant = meant.map_or_else(String::new, |question| format!("; {question}"));
    format!("{}{meant}", error.to_string().trim_end())
}

impl Block {
    /// Where its methods run.
    ///
    /// # Panics
    /// On a block that was not checked.
    pub fn device(&self) -> Device {
        devices(&self.methods[0]).next().expect("checked when it was parsed")
    }

    /// The options of `corpus` for each combination of its lists, without those that name methods and
    /// matrices; `threads` are at most `cores`. A block of the GPU runs on each of `models`, on its own ones if it
    /// has some, and on a real one if there are none of either.
    pub fn options(&self, cores: usize, models: &[String]) -> Vec<Vec<String>> {
        let models = if self.models.is_empty() { models } else { &self.models };
        let on = |device: String| [pair("--device", &device), self.common_options()].concat();
        let mut options: Vec<_> = match models {
            [] => vec![on(self.device().name().into())],
            models => models.iter().map(|name| on(format!("model:{name}"))).collect(),
        };
        let mut multiply = |values: Vec<Vec<String>>| {
            let with_each = |words: &Vec<String>| {
                let words = words.clone();
                values.iter().map(move |value| [&words[..], value].concat()).collect::<Vec<_>>()
            };
            options = options.iter().flat_map(with_each).collect();
        };
        multiply(
            self.precision.iter().map(|precision| pair("--precision", precision.name())).collect(),
        );
        multiply(self.threads(cores));
        multiply(
            self.order.iter().map(|order| unless("natural", "--order", order.name())).collect(),
        );
        multiply(self.cache.iter().map(|cache| unless("hot", "--cache", cache.name())).collect());
        multiply(self.transpose.iter().map(|&by| flag(by, "--transpose")).collect());
        options
    }

    fn common_options(&self) -> Vec<String> {
        let protocol = self.protocol.map(|protocol| pair("--protocol", protocol.name()));
        let rounds = self.rounds.map(|rounds| pair("--rounds", &rounds.to_string()));
        let iterations = self.iterations.map(|count| pair("--iterations", &count.to_string()));
        let flags = [flag(!self.expand, "--no-expand"), flag(self.stages, "--stages")];
        let given = [protocol, rounds, iterations].into_iter().flatten();
        given.chain(flags).flatten().collect()
    }

    fn threads(&self, cores: usize) -> Vec<Vec<String>> {
        if self.threads.is_empty() {
            return vec![Vec::new()];
        }
        let there = self.threads.iter().filter(|&&threads| threads <= cores);
        there.map(|threads| pair("--threads", &threads.to_string())).collect()
    }

    fn check(&self) -> Result<(), String> {
        for word in &self.methods {
            if devices(word).next().is_none() {
                return Err(format!(
                    "there is no method '{word}'; `spmv-bench methods` lists them"
                ));
            }
        }
        let mut devices = self.methods.iter().flat_map(|word| devices(word));
        let first = devices.next().ok_or("a block without methods")?;
        if devices.any(|device| device != first) {
            return Err("methods of CPU and GPU in one block: make it two".into());
        }
        if first == Device::Cpu && !self.models.is_empty() {
            return Err("models are for methods of the GPU".into());
        }
        known_models(&self.models)?;
        if self.matrices.is_empty() {
            return Err("a block without matrices".into());
        }
        let lists =
            [self.precision.len(), self.order.len(), self.cache.len(), self.transpose.len()];
        if lists.contains(&0) {
            return Err("an empty list in a block: it measures nothing".into());
        }
        let combinations = lists.into_iter().fold(self.threads.len().max(1), usize::saturating_mul);
        let matrices = self.matrices.iter().map(|word| expansions(word));
        let matrices = matrices.fold(0, usize::saturating_add);
        for (count, what) in [(matrices, "matrices"), (combinations, "combinations of lists")] {
            if count > MOST {
                return Err(format!("{count} {what} in a block: {MOST} are the most"));
            }
        }
        Ok(())
    }
}

fn known_models(names: &[String]) -> Result<(), String> {
    let known = |name: &String| DeviceFile::find(name).map(drop);
    names.iter().try_for_each(known).map_err(|Unavailable(reason)| reason)
}

/// Of the methods that a name or glob, with parameters or without, means.
fn devices(word: &str) -> impl Iterator<Item = Device> + use<> {
    let name = word.split(':').next().unwrap_or_default();
    let pattern = glob::Pattern::new(name).ok();
    let methods = METHODS
        .iter()
        .filter(move |method| pattern.as_ref().is_some_and(|pattern| pattern.matches(method.name)));
    methods.map(|method| method.device())
}

fn pair(option: &str, value: &str) -> Vec<String> {
    vec![option.to_owned(), value.to_owned()]
}

fn unless(default: &str, option: &str, value: &str) -> Vec<String> {
    if value == default { Vec::new() } else { pair(option, value) }
}

fn flag(given: bool, option: &str) -> Vec<String> {
    if given { vec![option.to_owned()] } else { Vec::new() }
}

/// The words that a generator's lists stand for: `gen:a,n={1,2}` is `gen:a,n=1` and `gen:a,n=2`; several
/// lists multiply. A word without a list is itself.
pub fn expanded(word: &str) -> Vec<String> {
    let (mut words, mut rest) = (vec![String::new()], word);
    while let Some((head, list, tail)) = first_list(rest) {
        let with_each = |word: &String| {
            list.split(',').map(|value| format!("{word}{head}{}", value.trim())).collect::<Vec<_>>()
        };
        words = words.iter().flat_map(with_each).collect();
        rest = tail;
    }
    words.into_iter().map(|word| word + rest).collect()
}

/// How many words these are.
fn expansions(word: &str) -> usize {
    let mut rest = word;
    let lists = std::iter::from_fn(|| {
        let (_, list, tail) = first_list(rest)?;
        rest = tail;
        Some(list.split(',').count())
    });
    lists.fold(1, usize::saturating_mul)
}

/// What stands before a word's first list, in it and behind it.
fn first_list(word: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = word.split_once('{')?;
    let (list, tail) = rest.split_once('}')?;
    Some((head, list, tail))
}

#[cfg(test)]
mod tests;
