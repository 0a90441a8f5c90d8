//! The format of an experiment's definition; `docs/experiments.md` describes its keys. The lists of a block are
//! multiplied, blocks are added, and there are no conditions.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use serde::Deserialize;

use super::claim::Claim;
use super::entries::written_out;
use crate::bench::plan::{CacheState, MAX_ROUNDS, Protocol, Settings, Values};
use crate::bench::run::{DeviceChoice, RunSettings};
use crate::report::published::Published;
use crate::report::views::Spec;
use spmv_matrix::limited::read_text;
use spmv_matrix::near::did_you_mean;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::all;
use spmv_methods::device::model::DeviceFile;
use spmv_methods::method::{Device, Unavailable};
use spmv_methods::simd::Isa;

/// The maximum number of matrices, and of combinations of lists, in a block: lists multiply, and memory is limited.
const MAX_COMBINATIONS: usize = 10_000;
/// The maximum number of measurements of an experiment: matrices times methods times combinations of lists.
const MOST_CELLS: usize = 1_000_000;
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
    #[serde(default = "f64_only")]
    pub precision: Vec<Precision>,
    #[serde(default)]
    pub threads: Vec<usize>,
    #[serde(default = "usual")]
    pub order: Vec<Order>,
    #[serde(default = "hot_only")]
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

fn f64_only() -> Vec<Precision> {
    vec![Precision::F64]
}

fn usual<T: Default>() -> Vec<T> {
    vec![T::default()]
}

fn hot_only() -> Vec<CacheState> {
    vec![CacheState::Hot]
}

fn yes() -> bool {
    true
}

impl Experiment {
    /// Reads a definition from a file. Its ID is the file's name without extension.
    pub fn read(path: &Path) -> Result<Self> {
        let read = |path: &Path| match (path.display().to_string(), read_text(path, MOST_BYTES)) {
            (file, Ok(text)) => Ok((file, text)),
            (file, Err(error)) => Err(anyhow!("cannot read {file}: {error}")),
        };
        let (file, text) = read(path)?;
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
        let (file, text) = read(&path.with_file_name(published))?;
        experiment.with_published(&file, &text)
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
        let checks = blocks.iter().map(Block::check).chain([known_models(gpus)]);
        let mut checks = checks.chain(claims.iter().map(|claim| claim.check(gpus)));
        checks.try_for_each(|check| check.map_err(|error| anyhow!("{file}: {error}")))?;
        let cells = blocks.iter().map(|block| block.cells(gpus.len()));
        let cells = cells.fold(0, usize::saturating_add);
        ensure!(
            cells <= MOST_CELLS,
            "{file}: it has {cells} measurements (matrices times methods times combinations of lists); at most \
             {MOST_CELLS} are allowed"
        );
        Ok(Self { id: id.to_owned(), ..parsed })
    }

    /// Whether a block of the experiment runs on the device. For a GPU, only blocks on a real GPU count.
    pub fn needs(&self, device: Device) -> bool {
        let runs = |block: &Block| block.device() == device && block.models.is_empty();
        self.blocks.iter().any(runs)
    }
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
    /// Panics on a block that `check` has not checked.
    pub fn device(&self) -> Device {
        devices(&self.methods[0]).next().expect("checked when it was parsed")
    }

    /// Returns the settings of a run for each combination of the lists. Numbers of threads above `cores` are left out.
    /// A GPU block runs on its own models if it has some, otherwise on each of `models`, or on a real GPU if that is
    /// empty too.
    pub fn runs(&self, cores: usize, models: &[String]) -> Vec<RunSettings> {
        let models = if self.models.is_empty() { models } else { &self.models };
        let devices = match models {
            [] if self.device() == Device::Cpu => vec![DeviceChoice::Cpu],
            [] => vec![DeviceChoice::Gpu(None)],
            models => models.iter().map(|name| DeviceChoice::Models(vec![name.clone()])).collect(),
        };
        let methods = Some(self.methods.clone());
        let whole = RunSettings::new(self.settings());
        let runs = vec![RunSettings { methods, expand: self.expand, ..whole }];
        let runs = multiplied(runs, &devices, |run, device| run.device = device.clone());
        let mut runs = multiplied(runs, &self.precision, |run, &one| run.precisions = vec![one]);
        if !self.threads.is_empty() {
            let threads: Vec<_> = self.threads.iter().filter(|&&n| n <= cores).collect();
            runs = multiplied(runs, &threads, |run, &&n| run.threads = vec![n]);
        }
        let runs = multiplied(runs, &self.order, |run, &one| run.orders = vec![one]);
        let runs = multiplied(runs, &self.cache, |run, &one| {
            run.caches = vec![one];
            run.settings.cache = one;
        });
        multiplied(runs, &self.transpose, |run, &is| run.settings.transpose = is)
    }

    fn settings(&self) -> Settings {
        let protocol = Settings::new(self.protocol.unwrap_or(Protocol::MergeSpmv));
        let [rounds, iterations] =
            [self.rounds, self.iterations].map(|number| number.map(|number| number as usize));
        Settings {
            rounds: rounds.unwrap_or(protocol.rounds),
            iterations: iterations.or(protocol.iterations),
            values: self.values,
            isa: self.isa.unwrap_or(protocol.isa),
            stages: self.stages,
            ..protocol
        }
    }

    fn check(&self) -> Result<()> {
        for word in &self.methods {
            let is_known = devices(word).next().is_some();
            ensure!(is_known, "there is no method '{word}'; `spmv-bench methods` lists them");
        }
        let mut devices = self.methods.iter().flat_map(|word| devices(word));
        let first = devices.next().context("a block lists no methods")?;
        ensure!(
            devices.all(|device| device == first),
            "a block lists methods of both CPU and GPU: split it into two blocks"
        );
        ensure!(
            first == Device::Gpu || self.models.is_empty(),
            "a block lists models, but its methods run on the CPU; models are for methods of the GPU"
        );
        known_models(&self.models)?;
        for (name, number, most) in
            [("rounds", self.rounds, MAX_ROUNDS), ("iterations", self.iterations, u32::MAX)]
        {
            if let Some(number) = number.filter(|number| !(1..=most).contains(number)) {
                bail!("{name} = {number}: it must be a whole number from 1 to {most}");
            }
        }
        ensure!(!self.matrices.is_empty(), "a block lists no matrices");
        let combinations = self.combinations();
        ensure!(combinations > 0, "a block has an empty list, so that it measures nothing");
        let matrices = self.count_matrices();
        for (count, what) in [(matrices, "matrices"), (combinations, "combinations of lists")] {
            ensure!(
                count <= MAX_COMBINATIONS,
                "a block has {count} {what}; at most {MAX_COMBINATIONS} are allowed"
            );
        }
        Ok(())
    }

    fn count_matrices(&self) -> usize {
        self.matrices.iter().map(|word| expansions(word)).fold(0, usize::saturating_add)
    }

    fn combinations(&self) -> usize {
        let lists =
            [self.precision.len(), self.order.len(), self.cache.len(), self.transpose.len()];
        lists.into_iter().fold(self.threads.len().max(1), usize::saturating_mul)
    }

    /// Returns the number of measurements of the block, where `gpus` are modelled if it names no models.
    fn cells(&self, gpus: usize) -> usize {
        let models = if self.models.is_empty() { gpus } else { self.models.len() };
        let methods = self.methods.iter().flat_map(|word| devices(word)).count();
        [self.count_matrices(), self.combinations(), models.max(1)]
            .into_iter()
            .fold(methods, usize::saturating_mul)
    }
}

fn known_models(names: &[String]) -> Result<()> {
    let known = |name: &String| DeviceFile::find(name).map(drop);
    names.iter().try_for_each(known).map_err(|Unavailable(reason)| Error::msg(reason))
}

/// Returns the devices of the methods that a name or glob selects. The word may have parameters.
fn devices(word: &str) -> impl Iterator<Item = Device> + use<> {
    let name = word.split(':').next().unwrap_or_default();
    let pattern = glob::Pattern::new(name).ok();
    let methods = all()
        .filter(move |method| pattern.as_ref().is_some_and(|pattern| pattern.matches(method.name)));
    methods.map(|method| method.device())
}

fn multiplied<T>(
    runs: Vec<RunSettings>,
    values: &[T],
    set: impl Fn(&mut RunSettings, &T),
) -> Vec<RunSettings> {
    let mut all = Vec::new();
    for (run, value) in runs.iter().flat_map(|run| values.iter().map(move |value| (run, value))) {
        all.push(run.clone());
        set(all.last_mut().expect("it was added"), value);
    }
    all
}

/// Returns the words that a word stands for: `gen:a,n={1,2}` is `gen:a,n=1` and `gen:a,n=2`. Lists are multiplied.
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

fn expansions(word: &str) -> usize {
    let mut rest = word;
    let lists = std::iter::from_fn(|| {
        let (_, list, tail) = first_list(rest)?;
        rest = tail;
        Some(list.split(',').count())
    });
    lists.fold(1, usize::saturating_mul)
}

/// Splits a word into the text before its first list, the list, and the text after it.
pub(super) fn first_list(word: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = word.split_once('{')?;
    let (list, tail) = rest.split_once('}')?;
    Some((head, list, tail))
}

#[cfg(test)]
mod tests;
