//! `spmv-bench methods --results CSV`: prints the list of methods with measured results.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::METHODS;
use spmv_results::files::read::{self, RecordedRow};
use spmv_results::report::identity::name_matrices;
use spmv_results::report::matched;
use spmv_results::report::standings::{self, Standings};
use spmv_results::row::{GroupKey, Row, Threads};
use spmv_results::settings::CacheState;
use spmv_results::statistics::Statistic;
use spmv_results::table::Table;

/// Prints a Markdown table of the methods that ran in f64 on a corpus, with hot caches, in the natural order and
/// with the largest number of threads. The columns are the speed-ups over the baselines, the median setup time in
/// products of the first baseline, and the median additional memory relative to the CSR arrays.
pub fn table(results: &Path, out: &mut dyn Write) -> Result<()> {
    let mut all = read::read(results)?;
    name_matrices(vec![all.iter_mut().collect()]);
    let most = all.iter().filter_map(|line| line.row.threads).max();
    let threads = Threads::of(all.iter().map(|line| &line.row));
    let is_shown = |line: &&RecordedRow| {
        let GroupKey { precision, threads: own, cache, order, .. } = threads.group_key(&line.row);
        precision == Some(Precision::F64)
            && own.is_none_or(|own| Some(own) == most)
            && cache.is_none_or(|cache| cache == CacheState::Hot)
            && order.unwrap_or_default() == Order::Natural
    };
    let lines: Vec<_> = all.iter().filter(is_shown).collect();
    let times = standings::times(&lines);
    let standings = Standings::over(&times, None);
    let reference = standings.reference.unwrap_or("no baseline");
    let of_reference = matched::fastest(lines.iter().copied().filter(|l| l.method() == reference));
    let rows = METHODS.iter().filter_map(|method| {
        let own = matched::fastest(lines.iter().copied().filter(|l| l.method() == method.name));
        let setup = own.iter().filter_map(|(matrix, (line, _))| Some(line.row.setup_ms? / of_reference.get(matrix)?.1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_methods::device::model::DeviceFile;
    use spmv_methods::method::Device;
    use spmv_results::matrix::model_error::ModelError;
    use spmv_results::report::chart::style_of;
    use spmv_results::row::baseline::{BASELINES, is_of_gpu};

    /// Results know methods by their names, and the errors of models by their files.
    #[test]
    fn results_know_the_baselines_the_devices_and_the_models() {
        for baseline in BASELINES {
            assert!(METHODS.iter().any(|of| of.name == baseline.name), "{}", baseline.name);
        }
        for method in METHODS {
            assert_eq!(is_of_gpu(method.name), method.device() == Device::Gpu, "{}", method.name);
            assert!(style_of(method.name).is_some(), "LISTED in chart/look.rs: {}", method.name);
        }
        for name in DeviceFile::names() {
            let DeviceFile { validated_percent, validated_methods, .. } = DeviceFile::find(name).unwrap();
            let of_file = ModelError { validated_percent, validated_methods };
            assert_eq!(ModelError::of(name), of_file, "{name}");
        }
    }
}
