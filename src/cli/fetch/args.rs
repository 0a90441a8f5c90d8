//! What may be said to `spmv-bench fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::seconds;
use crate::datasets::filter::{FORMS, Filter};
use crate::fetch::address::Site;
use crate::fetch::folder::DATA;
use crate::memory::Size;

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// Named sets (--list shows them) and matrices [default: the set default]
    #[arg(value_name = "SET|GROUP/NAME")]
    pub words: Vec<String>,
    /// All matrices of the collection, by its index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Only matrices that pass, as 'nnz<1e7 && kind~circuit': of the sets that are named, or of the
    /// whole collection
    #[arg(long, value_name = "EXPR", value_parser = filter,
          long_help = format!("Only matrices that pass, as 'nnz<1e7 && kind~circuit': of the sets \
          that are named, or of the whole collection. There are {FORMS}"))]
    pub filter: Option<Filter>,
    /// A file of further matrices and sets, in the form of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to bring them into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives, NAME.tar.gz, instead of the matrices; they are checked all the same
    #[arg(long)]
    pub keep_archives: bool,
    /// Take the vectors and texts beside a matrix out of its archive too, when it is brought; a vector
    /// becomes NAME_b.mtx.aux, so that corpus does not take it for a matrix
    #[arg(long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// Where to find URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv instead of at the collection's
    /// sites; of several, separated by commas, the next is asked for what one has not got
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The most bytes that an archive may have, as 2GiB [default: 8 times what is expected, and 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Take archives of any SHA-256, even where the datasets' file gives one: for a mirror of stand-ins
    #[arg(long)]
    pub any_archive: bool,
    /// How many matrices to bring at once
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Seconds after which a silent connection has failed, or one that brings less than 1 KiB per second
    #[arg(long, value_name = "S", default_value = "60", value_parser = positive_seconds)]
    pub timeout: Duration,
    /// Seconds before the second of four tries; the pause doubles each time
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    pub pause: Duration,
    /// List the sets and the matrices, with about how large the archives are, and bring nothing
    #[arg(long)]
    pub list: bool,
    /// Hash what was brought and tell what is missing or not as it was; of the sets and matrices that
    /// are named, or all. Uses no network
    #[arg(long, conflicts_with_all = ["list", "all", "filter"])]
    pub verify: bool,
    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

fn filter(text: &str) -> Result<Filter, String> {
    Filter::parse(text).map_err(|error| error.to_string())
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0".into()),
        time => Ok(time),
    }
}
