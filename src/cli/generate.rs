//! `spmv-bench generate`: writes a generated matrix, or a matrix file as it was read, to a file; or writes a
//! mirror of surrogates.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::output::check_not_read;
use super::sources::{source, surrogates};
use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use crate::campaign::isolate::Interrupted;
use crate::collection::Matrix;
use crate::collection::fetch::mirror;
use spmv_matrix::generate::{Generator, forms, is_generator};
use spmv_matrix::memory::{Available, ReadBounds, refusal};
use spmv_matrix::reader::{self, Edges};
use spmv_matrix::remarks;
use spmv_matrix::source::Source;
use spmv_matrix::system::processes::start_pool;
use spmv_results::files::output;

/// Writes a generated matrix, or one that was read, to a .mtx file
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A generator with its parameters, a file, or surrogate:GROUP/NAME
    #[arg(value_name = "MATRIX", long_help = format!("A file; surrogate:GROUP/NAME, or with --mirror surrogate:SET; \
          or a generator, which also accepts [,random=SEED] for values other than 1 (docs/matrices.md describes \
          them):\n{}", forms()))]
    pub source: OsString,
    /// The file to write; compressed if its name ends in .gz
    #[arg(short, long, value_name = "FILE", required_unless_present = "mirror")]
    pub output: Option<PathBuf>,
    /// Replace the file if it already exists
    #[arg(long, conflicts_with = "mirror")]
    pub force: bool,
    /// Write surrogates into a folder that a web server can offer to `fetch --mirror`
    ///
    /// The folder has archives in the layout of the collection's web site.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "no_expand"])]
    pub mirror: Option<PathBuf>,
    /// Further matrices and sets, in the format of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Use only the stored triangle of a symmetric or skew-symmetric file
    #[arg(long)]
    pub no_expand: bool,
    /// What an edge list means: directed, undirected or bipartite, and base=0, base=1 or compact
    #[arg(long, value_name = "WORDS", conflicts_with = "mirror")]
    pub edges: Option<Edges>,
}

impl GenerateArgs {
    fn reading(&self) -> reader::Options {
        reader::Options::new(!self.no_expand, self.edges)
    }
}

impl Verb for GenerateArgs {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        start_pool(0).context("cannot start threads")?;
        match (&self.mirror, &self.output) {
            (Some(folder), _) => write_mirror(self, folder, env)?,
            (None, Some(file)) => write_file(self, file, env)?,
            (None, None) => unreachable!("the command line has one of them"),
        }
        Ok(CommandStatus::Ok)
    }
}

fn write_file(args: &GenerateArgs, file: &Path, env: &mut Env) -> Result<()> {
    let source = named(args)?;
    if let Source::File(path) = &source {
        check_not_read(file, path)?;
    }
    let extension = file.to_str().and_then(|name| [".tar.gz", ".csv"].into_iter().find(|it| name.ends_with(it)));
    ensure!(
        extension.is_none(),
        "{}: a matrix is written as .mtx or .mtx.gz, and its name must not end in {}",
        file.display(),
        extension.unwrap_or_default()
    );
    output::check(file, args.force)?;
    let (rows, cols, nnz) = match &source {
        Source::File(_) => {
            let available = Available::now(None, 0);
            let bounds = ReadBounds::new(env.interrupted, available.bytes, available.by);
            let opened = source.open(args.reading(), bounds);
            let loaded = match opened.and_then(|opened| opened.load(None)) {
                Err(error) if error.is_interrupted() => bail!(Interrupted("while a file was read")),
                loaded => loaded?,
            };
            write(args, file, |mut out| reader::write(&loaded.csr, &mut out))?;
            let facts = loaded.facts.expect("a file has facts");
            let summed = remarks::of_duplicates(facts.duplicates);
            for remark in summed.into_iter().chain(facts.remarks) {
                writeln!(env.stderr, "{source}: {remark}")?;
            }
            (loaded.csr.rows(), loaded.csr.cols(), loaded.csr.nnz())
        }
        Source::Generated(generator) | Source::Surrogate(_, generator) => {
            let kind = source.generator_kind().unwrap_or_default();
            let why = refusal("to generate", generator.bytes_for_rows(), Available::now(None, 0));
            ensure!(why.is_none(), "{source}: {}", why.unwrap_or_default());
            write(args, file, |out| generator.write(&kind, || Ok(out)))?
        }
    };
    writeln!(env.stderr, "{}: {rows} rows, {cols} columns, {nnz} entries", file.display())?;
    Ok(())
}

fn write<R>(args: &GenerateArgs, file: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<R>) -> Result<R> {
    output::write_whole(file, args.force, |out| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        if file.extension().is_none_or(|extension| extension != "gz") {
            let written = write(&mut out)?;
            return out.flush().map(|()| written);
        }
        let mut compressed = GzEncoder::new(out, Compression::default());
        let written = write(&mut compressed)?;
        compressed.finish()?.flush().map(|()| written)
    })
}

fn write_mirror(args: &GenerateArgs, folder: &Path, env: &mut Env) -> Result<()> {
    let sources = surrogates(&args.source, args.datasets.as_deref())?;
    let sources = sources.context("--mirror needs surrogate:SET or surrogate:GROUP/NAME")?;
    for (matrix, source) in &sources {
        let Source::Surrogate(id, generator) = source else {
            unreachable!("a mirror contains only surrogates")
        };
        let kind = source.generator_kind().unwrap_or_default();
        let bytes = mirror::add(folder, matrix, generator, &kind)?;
        writeln!(env.stderr, "{id}: {:.1} MB", bytes as f64 / 1e6)?;
    }
    let matrices: Vec<&Matrix> = sources.iter().map(|(matrix, _)| matrix).collect();
    mirror::write_index(folder, &matrices, &env.date)
}

/// Returns the matrix to be written. For this command, `gen:` may be omitted if no file has the same name.
fn named(args: &GenerateArgs) -> Result<Source> {
    let word = &args.source;
    let generator = word.to_str().filter(|text| is_generator(text) && !Path::new(text).exists());
    match generator {
        Some(spec) => Ok(Source::Generated(Generator::parse(spec)?)),
        None => source(word, args.datasets.as_deref()),
    }
}
