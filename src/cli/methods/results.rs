//! `spmv-bench methods --results CSV`: prints the list of methods with measured results.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use crate::bench::plan::CacheState;
use crate::record::read::{self, RecordedRow};
use crate::record::row::Row;
use crate::record::setting::Setting;
use crate::record::table::Table;
use crate::report::identity::name_matrices;
use crate::report::matched;
use crate::report::standings::{self, Standings};
use crate::report::statistics::Statistic;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::METHODS;

/// Prints a Markdown table of the methods that ran in f64 on a corpus, with hot caches, in the natural order and
/// with the largest number of threads. The columns are the speed-ups over the baselines, the median setup time in
/// products of the first baseline, and the median additional memory relative to the CSR arrays.
pub fn table(results: &Path, out: &mut dyn Write) -> Result<()> {
    let mut all = read::read(results)?;
    name_matrices(vec![all.iter_mut().collect()]);
    let threads = all.iter().filter_map(|line| line.row.threads).max();
    let is_shown = |line: &&RecordedRow| {
        let Setting { precision, threads: own, cache, order, .. } = Setting::of(&line.row, threads);
        precision == Some(Precision::F64)
            && own.is_none_or(|own| Some(own) == threads)
            && cache.is_none_or(|cache| cache == CacheState::Hot)
            && order.unwrap_or_default() == Order::Natural
    };
    let lines: Vec<_> = all.iter().filter(is_shown).collect();
    let times = standings::times(&lines);
    let standings = Standings::of(&times);
    let reference = standings.reference.unwrap_or("no baseline");
    let of_reference = matched::fastest(lines.iter().copied().filter(|l| l.method() == reference));
    let rows = METHODS.iter().filter_map(|method| {
        let own = matched::fastest(lines.iter().copied().filter(|l| l.method() == method.name));
        let setup = own.iter().filter_map(|(matrix, (line, _))| {
            Some(line.row.setup_ms? / of_reference.get(matrix)?.1)
        });
        let memory = own.values().filter_map(|(line, _)| beyond_csr(&line.row));
        let [setup, memory] = [setup.collect::<Vec<_>>(), memory.collect()];
        Some((method, standings.method(method.name)?, setup, memory))
    });
    let rows: Vec<_> = rows.collect();
    let table = Table::of(&rows)
        .column("name", |(method, ..)| method.name)
        .column("source", |(method, ..)| method.source)
        .column("setup", |(method, ..)| method.setup.name())
        .column(format!("products of {reference}"), |(_, _, setup, _)| Statistic::Median.of(setup))
        .column("memory", |(.., memory)| Statistic::Median.of(memory));
    let table = standings.columns(table, |(_, standing, ..)| standing).build();
    writeln!(out, "{}", table.to_markdown())?;
    let notes = [standings.meaning()].into_iter().chain(standings.kinds.note());
    Ok(notes.into_iter().try_for_each(|note| writeln!(out, "\n{note}"))?)
}

/// Returns the additional bytes of a method divided by the bytes of the CSR arrays.
fn beyond_csr(row: &Row) -> Option<f64> {
    let csr = 12 * row.num_nonzeros? + 4 * (row.num_rows? + 1);
    Some(row.extra_bytes? as f64 / csr as f64)
}
