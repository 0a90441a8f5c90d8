//! The arguments of `fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::help::{RARE, grouped};
use crate::cli::values::{seconds, whole_from};
use crate::collection::Matrix;
use crate::collection::fetch::address::Site;
use crate::collection::fetch::folder::DATA;
use crate::collection::fields::FORMS;
use spmv_matrix::memory::Size;
use spmv_results::filter::Filter;

/// Downloads matrices of the SuiteSparse Matrix Collection
///
/// Downloads named sets, single matrices, or all matrices of the collection that pass a filter. Without any of
/// these, downloads the set `default`. Matrices that are already in the folder are not downloaded again, and
/// interrupted downloads are resumed. The checksum of every archive, and the size and number of entries of every
/// matrix, are verified, and a matrix file in the folder is always complete. Unfinished downloads and the list of
/// all files with their hashes are in its hidden folder .spmv-bench. Proxies are read from the environment
/// variables.
///
/// Exit status: 0 if all matrices are present, 1 if one could not be downloaded or has changed, 2 if the
/// command could not run.
#[derive(Debug, Args)]
#[command(mut_args = grouped)]
pub struct FetchArgs {
    /// Sets (see --list) and matrices [default: the set `default`]
    ///
    /// A matrix is GROUP/NAME, or NAME if no other group has it.
    #[arg(value_name = "SET|MATRIX")]
    pub words: Vec<String>,
    /// All matrices in the collection's index
    #[arg(long, conflicts_with = "words")]
    pub all: bool,
    /// Only matrices such as 'nnz<1e7 && kind~circuit'
    #[arg(long, value_name = "EXPR",
          long_help = format!("Only matrices of the named sets, or of the whole collection, that pass a filter such as \
              'nnz<1e7 && kind~circuit'. A filter consists of {FORMS}"))]
    pub filter: Option<Filter<Matrix>>,
    /// Further matrices and sets, in the format of the project's datasets.toml
    #[arg(help_heading = RARE, long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// The folder to download into
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub to: PathBuf,
    /// Keep the archives (NAME.tar.gz) instead of the extracted matrices; they are checked in the same way
    #[arg(help_heading = RARE, long)]
    pub keep_archives: bool,
    /// Also extract the vectors and texts in the archives; a vector becomes NAME_b.mtx.aux, so that corpus does not
    /// measure it
    #[arg(help_heading = RARE, long, conflicts_with = "keep_archives")]
    pub aux: bool,
    /// A copy of the collection in place of its own sites
    ///
    /// It has the files URL/MM/GROUP/NAME.tar.gz and URL/files/ssstats.csv. Several URLs are separated by commas; a
    /// file that is missing on one is requested from the next. The variable SPMV_BENCH_MIRROR is the same.
    #[arg(long, value_name = "URL", env = "SPMV_BENCH_MIRROR", hide_env = true, value_delimiter = ',',
          value_parser = Site::mirror)]
    pub mirror: Vec<Site>,
    /// The largest size of an archive, such as 2GiB [default: 8 times the expected size plus 256 MiB]
    #[arg(help_heading = RARE, long, value_name = "SIZE")]
    pub max_archive: Option<Size>,
    /// Accept archives with another SHA-256 than the datasets file states: for a mirror of surrogates
    #[arg(help_heading = RARE, long)]
    pub any_archive: bool,
    /// Matrices to download at the same time [default: 4]
    #[arg(help_heading = RARE, long, value_name = "N",
          default_value_t = 4, hide_default_value = true, value_parser = whole_from(1, 64))]
    pub jobs: u32,
    /// Close a connection that delivers nothing for this time [default: 60]
    #[arg(help_heading = RARE, long, value_name = "S",
          default_value = "60", hide_default_value = true, value_parser = positive_seconds,
          allow_negative_numbers = true)]
    pub timeout: Duration,
    /// The pause before the second of four attempts, which doubles before each further one; a server may ask for a
    /// longer one, of at most ten minutes [default: 1]
    #[arg(help_heading = RARE, long, value_name = "S",
          default_value = "1", hide_default_value = true, value_parser = seconds,
          allow_negative_numbers = true)]
    pub pause: Duration,
    /// Replace the built-in index of 2020-10-08 by today's
    ///
    /// It is that of the collection or of the mirror, and is used from now on. Without sets, matrices, --all, --filter
    /// or --list, nothing else is downloaded.
    #[arg(long)]
    pub update_index: bool,
    /// List sets and matrices with their sizes; download nothing
    #[arg(long)]
    pub list: bool,
    /// Check the hashes of the files; download nothing
    ///
    /// Reports the files, of the named sets and matrices or of all, that are missing or differ from what was
    /// downloaded.
    #[arg(long, conflicts_with_all = ["list", "all", "filter", "update_index"])]
    pub verify: bool,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
}

impl FetchArgs {
    pub fn selects(&self) -> bool {
        !self.words.is_empty() || self.all || self.filter.is_some()
    }
}

fn positive_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0 seconds".into()),
        time => Ok(time),
    }
}
