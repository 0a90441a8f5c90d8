use std::time::Duration;

use super::run_settings;
use spmv_methods::simd::Isa;
use spmv_results::run::facts::options;
use spmv_results::settings::{CacheState, Fill, Pages, Protocol, RunSettings, Settings, Values};

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
