//! The arguments of `spmv-bench fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::{seconds, whole_from};
use crate::collection::Matrix;
use crate::collection::fetch::address::Site;
use crate::collection::fetch::folder::DATA;
use crate::collection::fields::FORMS;
use crate::record::filter::Filter;
use spmv_matrix::memory::Size;

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// Named sets (--list lists them) and matrices [default: the set `default`]
    #[arg(value_name = "SET|GROUP/NAME")]
    pub words: Vec<String>,
    /// Select all matrices in the collection's index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Select only matrices of the named sets, or of the whole collection, that pass a filter such as
    /// 'nnz<1e7 && kind~circuit'
    #[arg(long, value_name = "EXPR",
              long_help = format!("Select only matrices of the named sets, or of the whole collection, that pass \
              a filter such as 'nnz<1e7 && kind~circuit'. A filter consists of {FORMS}"))]
    pub filter: Option<Filter<Matrix>>,
    /// A file that defines further matrices and sets, in the format of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to download into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives (NAME.tar.gz) instead of the unpacked matrices; they are checked in the same way
    #[arg(long)]
    pub keep_archives: bool,
    /// Also unpack the vectors and texts in the archives; a vector is written as NAME_b.mtx.aux, so that
    /// corpus does not treat it as a matrix
    #[arg(long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// Download from URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv instead of the collection's sites.
    /// Several URLs are separated by commas; a file that is missing on one is requested from the next
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The largest size of an archive, such as 2GiB [default: 8 times the expected size plus 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Accept archives with any SHA-256, even if the datasets file specifies a different one: for a mirror
    /// of stand-ins
    #[arg(long)]
    pub any_archive: bool,
    /// Number of matrices to download at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole_from(1, 64))]
    pub jobs: u32,
    /// Close a connection that delivers nothing for this many seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = positive_seconds,
          allow_negative_numbers = true)]
    pub timeout: Duration,
    /// Seconds to wait before the second of four attempts; the time doubles before each further attempt. A server may
    /// ask for a longer pause, of at most ten minutes
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds,
          allow_negative_numbers = true)]
    pub pause: Duration,
    /// List the sets and the matrices with the approximate sizes of the archives; download nothing
    #[arg(long)]
    pub list: bool,
    /// Compare the hashes of the downloaded files with those recorded at download, and report files that are
    /// missing or have changed: for the named sets and matrices, or for all. Does not use the network
    #[arg(long, conflicts_with_all = ["list", "all", "filter"])]
    pub verify: bool,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0 seconds".into()),
        time => Ok(time),
    }
}
