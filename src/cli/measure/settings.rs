//! The settings that the options of a measurement describe.

use clap::Parser;
use clap::error::ErrorKind;

use super::MeasureArgs;
use crate::campaign::Plan;
use crate::cli::values::distinct;
use spmv_matrix::memory::Size;
use spmv_matrix::reader;
use spmv_matrix::scalar::Precision;
use spmv_methods::added;
use spmv_results::settings::{CacheState, RunSettings, Settings};

/// Options of a measurement without a matrix or a command.
#[derive(clap::Parser)]
#[command(name = "measure", no_binary_name = true)]
struct Options {
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Returns the settings that options such as `--max-time=1` describe.
pub fn run_settings(options: &[String]) -> Result<RunSettings, clap::Error> {
    let Options { measure } = Options::try_parse_from(options)?;
    if measure.output.is_some() || measure.run_record.is_some() || measure.format.is_some() {
        let why = "--output, --run-record and --format are options of commands, which write files";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, why));
    }
    Ok(measure.run_settings())
}

impl MeasureArgs {
    fn caches(&self) -> Vec<CacheState> {
        let usual = Settings::new(self.protocol).cache;
        if self.cache.is_empty() { vec![usual] } else { distinct(&self.cache) }
    }

    pub fn plan(&self) -> Plan {
        let bandwidth = self.wants_bandwidth();
        Plan { skip_trivial: true, bandwidth, ..Plan::new(self.run_settings()) }
    }

    pub fn run_settings(&self) -> RunSettings {
        let is_requested =
            |one: &Precision| self.precision.iter().any(|choice| choice.single().is_none_or(|own| own == *one));
        let precisions = [Precision::F64, Precision::F32].into_iter().filter(is_requested);
        // A .cu file is measured alone unless the command line names methods.
        let kernels = Some(added::kernel_names()).filter(|names| !names.is_empty());
        RunSettings {
            methods: self.methods.clone().or(kernels),
            only_parallel: false,
            device: self.device.clone(),
            precisions: precisions.collect(),
            threads: distinct(&self.threads),
            orders: distinct(&self.order),
            caches: self.caches(),
            settings: self.settings(),
            expand: !self.no_expand,
            edges: self.edges,
            matrix_cache: !self.no_cache,
            quiet: self.quiet,
        }
    }

    /// Returns how files are read.
    pub fn reading(&self) -> reader::Options {
        reader::Options::new(!self.no_expand, self.edges)
    }

    pub fn settings(&self) -> Settings {
        let protocol = Settings::new(self.protocol);
        Settings {
            iterations: self.iterations.map(|n| n as usize).or(protocol.iterations),
            warmups: self.warmups.unwrap_or(protocol.warmups),
            min_time: self.min_time.unwrap_or(protocol.min_time),
            max_time: self.max_time.unwrap_or(protocol.max_time),
            timeout: self.timeout.unwrap_or(protocol.timeout),
            rounds: self.rounds.map_or(protocol.rounds, |n| n as usize),
            processes: self.processes.map_or(protocol.processes, |n| n as usize),
            further_processes: self.processes.map_or(protocol.further_processes, |_| 0),
            cache: self.caches()[0],
            alpha: self.alpha,
            beta: self.beta,
            x: self.x.unwrap_or(protocol.x),
            values: self.values,
            planned: self.products,
            transpose: self.transpose,
            isa: self.isa.unwrap_or(protocol.isa),
            persist_x: self.persist_x,
            stages: self.stages,
            samples: self.samples.is_some(),
            max_memory: self.max_memory.map(|Size(bytes)| bytes),
            pages: self.pages,
            ..protocol
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use spmv_methods::simd::Isa;
    use spmv_results::run::facts::options;
    use spmv_results::settings::{Fill, Pages, Protocol, Values};

    /// Every setting that an option sets has another value than usual, and the options set the same values again.
    #[test]
    fn the_options_of_a_run_select_its_settings() {
        let settings = Settings {
            iterations: Some(7),
            planned: Some(8),
            warmups: 9,
            min_time: Duration::from_millis(500),
            max_time: Duration::from_secs(3),
            timeout: Duration::from_secs(60),
            rounds: 2,
            processes: 2,
            cache: CacheState::Cold,
            alpha: 2.0,
            beta: -0.5,
            x: Fill::Ones,
            values: Values::Random,
            transpose: true,
            isa: Isa::Portable,
            persist_x: true,
            stages: true,
            max_memory: Some(1 << 30),
            pages: Pages::Small,
            ..Settings::new(Protocol::CsrK)
        };
        let edges = Some("directed".parse().unwrap());
        let run = RunSettings { expand: false, edges, ..RunSettings::new(settings) };
        let words = options(&run);
        for option in Settings::INFO.iter().filter_map(|info| info.fact.option) {
            assert!(words.iter().any(|word| word == option), "{option} is not among {words:?}");
        }
        assert_eq!(run_settings(&words).unwrap(), run);
    }
}
