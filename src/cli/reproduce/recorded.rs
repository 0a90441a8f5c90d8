//! `reproduce ID --recorded DIR`: judges and shows rows that exist, for example because a machine with a GPU measured
//! them, or because a claim or a view has changed since.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::matrices::Library;
use super::measure::Done;
use super::places::QUICK_RUN;
use super::plan::Plan;
use super::show;
use crate::campaign::choice::select;
use crate::campaign::env::Env;
use crate::cli::verb::CommandStatus;
use spmv_methods::method::Choice;
use spmv_results::files::read::RecordedRow;
use spmv_results::papers::definition::{Block, Experiment};
use spmv_results::papers::judge::Verdicts;
use spmv_results::papers::store::Store;
use spmv_results::row::{Row, matrix_name};

/// Writes the report and the verdicts of an experiment into the folder of its rows. Rows of other products are left
/// out. `quick`: whether the rows are of a quick run, which the name of the folder may say instead.
pub fn show(
    experiments: &[Experiment],
    folder: &Path,
    quick: bool,
    library: &Library,
    env: &mut Env,
) -> Result<CommandStatus> {
    let [experiment] = experiments else {
        bail!("--recorded shows the rows of one experiment: name one, with the folder of its run");
    };
    check_owner(experiment, folder)?;
    let store = Store::open(folder)?;
    let (lines, stages) = store.all();
    let products = experiment.blocks.iter().map(|block| {
        let methods: BTreeSet<_> = select(&block.methods)?.iter().map(Choice::name).collect();
        Ok((block, methods))
    });
    let products = products.collect::<Result<Vec<_>>>()?;
    let is_own = |row: &Row| products.iter().any(|(block, methods)| is_of(row, block, methods));
    let own = lines.iter().filter(|line| is_own(&line.row));
    let (lines, stages) = (own.cloned().collect::<Vec<_>>(), stages.to_vec());
    let (id, place) = (&experiment.id, folder.display());
    ensure!(!lines.is_empty(), "{place} has no rows of {id}: name the folder that has its rows.csv");
    let done = Done::of(experiment, lines, stages, store);
    let quick = quick || folder.to_string_lossy().trim_end_matches('/').ends_with(QUICK_RUN);
    let missing = if quick { BTreeSet::new() } else { missing(experiment, &done.lines, library)? };
    let plan = Plan { missing, ..Plan::default() };
    show::results(experiment, &done, &plan, quick, folder, env)?;
    Ok(CommandStatus::bad_if(done.bad))
}

/// Checks that the report in a folder, which would be replaced, is not that of another experiment.
fn check_owner(experiment: &Experiment, folder: &Path) -> Result<()> {
    let claims = folder.join("claims.csv");
    if !claims.is_file() {
        return Ok(());
    }
    let judged = Verdicts::read(&claims).with_context(|| claims.display().to_string())?;
    let (id, place) = (&experiment.id, folder.display());
    match judged.id() {
        Some(owner) if owner != id => bail!(
            "{place} has the report of {owner}, which that of {id} would replace: name {owner}, or a copy of the \
             folder without claims.csv"
        ),
        _ => Ok(()),
    }
}

/// Whether a row is of a product of the block, whose methods have these names, or says why a matrix has none.
fn is_of(row: &Row, block: &Block, methods: &BTreeSet<String>) -> bool {
    row.method_name.as_ref().is_none_or(|name| methods.contains(name))
        && row.precision.is_none_or(|own| block.precision.contains(&own))
        && row.order.is_none_or(|own| block.order.contains(&own))
        && row.cache.is_none_or(|own| block.cache.contains(&own))
        && row.transpose.is_none_or(|own| block.transpose.contains(&own))
}

/// Returns the matrices that the experiment names and that have no row.
fn missing(experiment: &Experiment, lines: &[RecordedRow], library: &Library) -> Result<BTreeSet<String>> {
    let words = experiment.blocks.iter().flat_map(|block| &block.matrices);
    let named: Vec<_> = words.filter(|word| *word != "corpus").cloned().collect();
    let wanted = library.wanted(&named)?;
    let found = wanted.found.iter().map(|found| found.source.to_string());
    let all: BTreeSet<_> = found.chain(wanted.missing).collect();
    let measured: BTreeSet<_> = lines.iter().map(|line| matrix_name(line.matrix())).collect();
    Ok(all.into_iter().filter(|name| !measured.contains(matrix_name(name))).collect())
}
