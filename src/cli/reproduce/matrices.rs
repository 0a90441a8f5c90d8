//! Finds the matrices that an experiment names: files in a folder or surrogates, and lists the missing ones.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Write;

use anyhow::{Context, Result, ensure};

use super::args::ReproduceArgs;
use crate::campaign::progress::estimate::entries;
use crate::cli::folder::{LeftOut, find};
use crate::cli::sources::surrogate;
use crate::collection::{Datasets, Matrices, Matrix};
use spmv_matrix::source::Source;
use spmv_results::papers::definition::expanded;
use spmv_results::row::{matrix_name, matrix_parts};

/// The prefix for a matrix of the collection that may be missing in the datasets file.
const COLLECTION: &str = "collection:";
/// The number of matrices of a set in a quick run; the smallest ones are used.
const QUICK_OF_A_SET: usize = 6;
/// The number of matrices of a generator's list in a quick run, including the first and the last.
const QUICK_OF_A_LIST: usize = 4;

/// The matrices that experiments can measure: the files in the folder of the data, and generated matrices.
pub struct Library<'a> {
    args: &'a ReproduceArgs,
    files: Vec<(Source, u64)>,
    by_name: HashMap<String, Vec<(Source, u64)>>,
    datasets: Datasets,
}

#[derive(Clone)]
pub struct Found {
    pub source: Source,
    pub entries: u64,
}

#[derive(Default)]
pub struct Wanted {
    pub found: Vec<Found>,
    /// The names of missing matrices, or descriptions.
    pub missing: Vec<String>,
    /// The words with which `fetch` downloads them.
    pub fetch: Vec<String>,
    /// The matrices that are too large.
    pub left_out: Vec<String>,
}

impl<'a> Library<'a> {
    /// Searches the folder for matrices if it exists.
    pub fn open(args: &'a ReproduceArgs, stderr: &mut dyn Write) -> Result<Self> {
        let data = &args.data;
        let mut left_out = LeftOut::default();
        let files = if data.is_dir() { find(data, &mut left_out, stderr)? } else { Vec::new() };
        left_out.write(&files, stderr)?;
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for file in &files {
            let name = matrix_name(&file.0.to_string()).to_owned();
            by_name.entry(name).or_default().push(file.clone());
        }
        Ok(Self { args, files, by_name, datasets: Datasets::ours() })
    }

    /// Returns the distinct matrices that the words of a block select.
    pub fn wanted(&self, words: &[String]) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for word in words {
            let of_word = self.of_word(word)?;
            for found in of_word.found {
                if self.args.max_nonzeros.is_some_and(|most| found.entries > most) {
                    wanted.left_out.push(found.source.to_string());
                } else if wanted.found.iter().all(|other| other.source != found.source) {
                    wanted.found.push(found);
                }
            }
            if !of_word.missing.is_empty() {
                wanted.fetch.push(fetched(word).to_owned());
            }
            wanted.missing.extend(of_word.missing);
        }
        Ok(wanted)
    }

    fn of_word(&self, word: &str) -> Result<Wanted> {
        if word == "corpus" {
            return self.corpus();
        }
        if word.starts_with("gen:") {
            let generated = |spec: &String| -> Result<Found> {
                let source = Source::parse(OsStr::new(spec)).with_context(|| spec.clone())?;
                Ok(Found::of_file(&(source, 0)))
            };
            let specs = spread(expanded(word), self.args.quick);
            let found = specs.iter().map(generated).collect::<Result<_>>()?;
            return Ok(Wanted { found, ..Wanted::default() });
        }
        // The datasets need not have this matrix.
        if let Some(id) = word.strip_prefix(COLLECTION) {
            let found: Vec<_> = self.file(id).map(Found::of_file).into_iter().collect();
            let missing = if found.is_empty() { vec![id.to_owned()] } else { Vec::new() };
            return Ok(Wanted { found, missing, ..Wanted::default() });
        }
        let matrices = match word.strip_prefix("set:") {
            Some(set) => self.of_set(set)?,
            None => vec![self.datasets.matrices.get(word).with_context(|| {
                format!(
                    "'{word}' is neither corpus, set:NAME, gen:SPEC, {COLLECTION}GROUP/NAME nor GROUP/NAME of a known \
                     matrix"
                )
            })?],
        };
        let mut wanted = Wanted::default();
        for matrix in matrices {
            match self.matrix(matrix)? {
                Some(found) => wanted.found.push(found),
                None => wanted.missing.push(matrix.id.clone()),
            }
        }
        self.thin(&mut wanted.found);
        Ok(wanted)
    }

    /// Returns the file of the matrix `GROUP/NAME`: `GROUP-NAME.mtx`, or `NAME.mtx` in the folder of the group, or else
    /// the only `NAME.mtx` in the upper folders.
    fn file(&self, id: &str) -> Option<&(Source, u64)> {
        let named = |name: &str| self.by_name.get(name).map_or(&[][..], Vec::as_slice).iter();
        let text = |file: &(Source, u64)| file.0.to_string();
        let depth = |file: &&(Source, u64)| matrix_parts(&text(file)).len();
        let name = matrix_name(id);
        let of_group = named(&id.replace('/', "-")).next();
        let of_group =
            of_group.or_else(|| named(name).find(|file| matrix_parts(&text(file)).ends_with(&matrix_parts(id))));
        let least = named(name).map(|file| depth(&file)).min();
        let mut upper = named(name).filter(|file| Some(depth(file)) == least);
        of_group.or_else(|| upper.next().filter(|_| upper.next().is_none()))
    }

    /// Returns every matrix of the folder, or every surrogate if the folder is empty and surrogates are allowed.
    fn corpus(&self) -> Result<Wanted> {
        let found = self.files.iter().map(Found::of_file).collect();
        let mut wanted = Wanted { found, ..Wanted::default() };
        if self.files.is_empty() && self.args.surrogates {
            for matrix in self.datasets.matrices.values().filter(|matrix| matrix.surrogate.is_some()) {
                wanted.found.extend(self.matrix(matrix)?);
            }
        } else if self.files.is_empty() {
            wanted.missing.push(format!("all matrices: {} contains none", self.args.data.display()));
        }
        self.thin(&mut wanted.found);
        Ok(wanted)
    }

    fn of_set(&self, word: &str) -> Result<Vec<&Matrix>> {
        let (name, class) = word.split_once('/').map_or((word, None), |(name, class)| (name, Some(class)));
        let set = self.datasets.sets.get(name).with_context(|| format!("there is no set '{name}'"))?;
        let Some(class) = class else { return Ok(self.datasets.matrices_of(set)) };
        let Matrices::Members(members) = &set.matrices else { return Ok(Vec::new()) };
        let own = members.iter().filter(|member| member.class.as_deref() == Some(class));
        let matrices: Vec<_> = own.filter_map(|member| self.datasets.matrices.get(&member.id)).collect();
        ensure!(!matrices.is_empty(), "set {name} has no class '{class}'");
        Ok(matrices)
    }

    /// Returns the matrix file, or its surrogate if surrogates are allowed.
    fn matrix(&self, matrix: &Matrix) -> Result<Option<Found>> {
        let entries = matrix.entries;
        if let Some((source, _)) = self.file(&matrix.id) {
            return Ok(Some(Found { source: source.clone(), entries }));
        }
        let surrogate = self.args.surrogates.then(|| surrogate(matrix)).transpose()?;
        Ok(surrogate.map(|source| Found { source, entries }))
    }

    /// Sorts the matrices by size, and keeps only the smallest ones in a quick run.
    pub fn thin(&self, found: &mut Vec<Found>) {
        found.sort_by_key(|found| found.entries);
        if self.args.quick {
            found.truncate(QUICK_OF_A_SET);
        }
    }
}

/// Returns the word with which `fetch` downloads the matrices of a word of a block: a set without its class.
fn fetched(word: &str) -> &str {
    match (word.strip_prefix("set:"), word.strip_prefix(COLLECTION)) {
        (Some(name), _) => name.split_once('/').map_or(name, |(set, _)| set),
        (_, Some(id)) => id,
        _ if word == "corpus" => "default",
        _ => word,
    }
}

impl Found {
    fn of_file((source, bytes): &(Source, u64)) -> Self {
        Self { source: source.clone(), entries: entries(source, *bytes) }
    }
}

/// Returns the whole list, or in a quick run a few evenly spaced elements.
fn spread(list: Vec<String>, quick: bool) -> Vec<String> {
    if !quick || list.len() <= QUICK_OF_A_LIST {
        return list;
    }
    let place = |k: usize| k * (list.len() - 1) / (QUICK_OF_A_LIST - 1);
    (0..QUICK_OF_A_LIST).map(|k| list[place(k)].clone()).collect()
}
