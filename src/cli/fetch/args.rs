//! What may be said to `spmv-bench fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{seconds, whole_from};
use crate::datasets::filter::{FORMS, Filter};
use crate::fetch::address::Site;
use crate::fetch::folder::DATA;
use crate::memory::Size;

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// Named sets (--list shows them) and matrices [default: the set `default`]
    #[arg(value_name = "SET|GROUP/NAME")]
    pub words: Vec<String>,
    /// All matrices in the collection's index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Only matrices that pass a filter such as 'nnz<1e7 && kind~circuit': of the named sets, or of the
    /// whole collection
    #[arg(long, value_name = "EXPR", value_parser = filter,
          long_help = format!("Only matrices that pass a filter such as 'nnz<1e7 && kind~circuit': \
          of the named sets, or of the whole collection. A filter consists of {FORMS}"))]
    pub filter: Option<Filter>,
    /// A file that defines further matrices and sets, written like the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to download into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives, NAME.tar.gz, instead of the unpacked matrices; they are checked in the same way
    #[arg(long)]
    pub keep_archives: bool,
    /// Also unpack the vectors and texts that a matrix' archive holds; a vector is called NAME_b.mtx.aux, so
    /// that corpus does not take it for a matrix
    #[arg(long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// Download from URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv instead of the collection's sites;
    /// of several URLs, separated by commas, the next is asked for what one does not have
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The greatest size of an archive, such as 2GiB [default: 8 times the expected size, and 256 MiB more]
    #[arg(long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Accept archives with any SHA-256, even where the datasets' file gives another one: for a mirror of
    /// stand-ins
    #[arg(long)]
    pub any_archive: bool,
    /// How many matrices to download at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole_from(1, 64))]
    pub jobs: u32,
    /// Seconds after which a connection is given up that delivers nothing, or less than 1 KiB per second
    #[arg(long, value_name = "S", default_value = "60", value_parser = positive_seconds,
          allow_negative_numbers = true)]
    pub timeout: Duration,
    /// Seconds before the second of four tries; the pause doubles each time
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds,
          allow_negative_numbers = true)]
    pub pause: Duration,
    /// List the sets and the matrices with the approximate sizes of the archives, and download nothing
    #[arg(long)]
    pub list: bool,
    /// Compare the hashes of the downloaded files with those at their download, and report what is missing
    /// or has changed: for the named sets and matrices, or for all. Uses no network
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
        Duration::ZERO => Err("it must be more than 0 seconds".into()),
        time => Ok(time),
    }
}
