//! Tests the order of the calls to a device: which work is before, between and after the events.

use std::rc::Rc;
use std::time::Duration;

use spmv_bench::bench::clock::FakeClock;
use spmv_methods::device::Gpu;
use spmv_methods::device::facts::Clocks;
use spmv_methods::device::model::Model;
use spmv_methods::device::probe::Probe;
use spmv_methods::method::{Choice, GRAPH};
use spmv_results::row::{Row, Status};
use spmv_results::settings::{CacheState, Settings};

use super::recorder::Recorder;
use super::{grid, on_gpu, settings};
use crate::fake_cusparse::FakeCuSparse;

/// Measures one method; also returns the calls to the device and the clocks.
fn recorded(name: &str, graph: bool, settings: &Settings) -> (Row, String, Vec<Clocks>) {
    let clock = FakeClock::new(Duration::from_millis(1));
    let clocks = Clocks { multiprocessor_mhz: 1700, ..Clocks::default() };
    let recorder = Recorder::new(Model::tiny(1).with(|model| model.clocks = Some(clocks)));
    let log = recorder.log.clone();
    let method = spmv_methods::named(name).unwrap();
    let given = if graph { vec![(GRAPH.name, "on")] } else { vec![] };
    let choices = [Choice { method, given }];
    let mut group = on_gpu(&clock, settings, &Gpu::new(recorder), &grid(), &choices).unwrap();
    assert!(group.rows[0].is_ok(), "{group:?}");
    let log = log.borrow().join(" ");
    (group.rows.remove(0), log, group.clocks)
}

#[test]
fn the_calls_of_a_hot_measurement_are_in_order() {
    let (measured, log, clocks) = recorded("gpu-csr-scalar", false, &settings());
    // A sample is enqueued while the device is busy. Two rounds of two products, which take a millisecond each: one
    // sample per round.
    assert_eq!((measured.samples, measured.iterations), (Some(2), Some(4)));
    let sample = "probe_spin | csr_scalar csr_scalar | [wait]";
    // In addition to the two samples: a trial in the first round, and the second batch whenever the device is put under
    // load; sometimes also two products after a verification.
    assert!(log.matches(sample).count() >= 5, "{log}");
    // Products never follow an event before which nothing was enqueued.
    assert!(!log.contains("[wait] | csr_scalar csr_scalar"), "{log}");
    // The turns of all methods begin with the same cache: it is emptied after the values of y were written.
    let first = "[wait] probe_read probe_read_evict_first probe_spin | csr_scalar |";
    assert_eq!(log.matches(first).count(), 2, "{log}");
    // The device works for 200 ms before the first round. Each operation takes a millisecond.
    let before_rounds = log.split("[copy]").next().unwrap();
    let first_clocks = before_rounds.find("[clocks]").unwrap();
    let products = before_rounds[..first_clocks].matches("csr_scalar").count();
    assert!((200..400).contains(&products), "{products}");
    assert_eq!(log.matches("csr_scalar [clocks] [wait]").count(), 2, "read under load");
    assert_eq!(clocks.len(), 2);
    // At each change, up to 16 elements of x, or all together, and 16 of y are overwritten. So a product that does not
    // write y is found wrong.
    let words: Vec<_> = log.split(' ').collect();
    let changes = words.chunk_by(|a, b| a == b).filter(|words| words[0] == "[value]");
    let counts: Vec<_> = changes.map(<[&str]>::len).collect();
    assert!(counts.len() > 2 && counts.iter().all(|count| (16..=32).contains(count)), "{counts:?}");
}

#[test]
fn a_cold_sample_follows_a_read_that_replaces_the_cache() {
    let (_, log, _) = recorded("gpu-csr-scalar", false, &Settings { cache: CacheState::Cold, ..settings() });
    let sample = "probe_read probe_read_evict_first probe_spin | csr_scalar | [wait]";
    // In addition to the four samples: the first untimed product of both turns.
    assert_eq!(log.matches(sample).count(), 4 + 2, "{log}");
}

#[test]
fn opening_a_library_is_not_setup() {
    let clock = Rc::new(FakeClock::new(Duration::from_millis(1)));
    let recorder = Recorder::new(FakeCuSparse::on(Model::tiny(1)));
    recorder.opening.replace(Some(clock.clone()));
    let gpu = Gpu::new(recorder);
    let choices = [Choice::from(spmv_methods::named("cusparse-csr").unwrap())];
    let group = on_gpu(&*clock, &settings(), &gpu, &grid(), &choices).unwrap();
    assert_eq!(group.rows[0].setup_ms, Some(1.0), "{group:?}");
}

/// Work of the method in another stream is waited for, but the method is not blamed for other programs on the GPU.
#[test]
fn other_work_on_the_gpu_counts_if_it_is_that_of_the_method() {
    let beside = |with_other_work: fn(Recorder) -> Recorder| {
        let gpu = Gpu::new(with_other_work(Recorder::new(Model::tiny(1))));
        let clock = FakeClock::new(Duration::from_millis(1));
        let choices = [Choice::from(spmv_methods::named("gpu-csr-scalar").unwrap())];
        on_gpu(&clock, &settings(), &gpu, &grid(), &choices).unwrap().rows.remove(0)
    };
    let row = beside(Recorder::working_elsewhere);
    assert_eq!(row.status, Some(Status::Wrong), "{row:?}");
    let reason = row.reason.text().unwrap();
    assert!(reason.starts_with("a product with a new x takes 21000.0 us"), "{reason}");
    let row = beside(Recorder::shared);
    assert!(row.is_ok(), "{row:?}");
}

#[test]
fn loading_kernels_is_not_setup() {
    for graph in [false, true] {
        let (measured, ..) = recorded("gpu-merge", graph, &settings());
        // A millisecond passes between the two readings of the clock, and loading takes longer than that.
        assert_eq!(measured.setup_ms, Some(0.0));
    }
}

#[test]
fn a_graph_is_captured_in_setup_and_launched_as_one() {
    let (plain, ..) = recorded("gpu-csr5", false, &settings());
    let (measured, log, _) = recorded("gpu-csr5", true, &settings());
    assert_eq!((plain.launches, measured.launches), (Some(2), Some(1)));
    // Once for the small matrix, once for this one.
    assert_eq!(log.matches("[capture]").count(), 2);
    let captured = log.rfind("[captured]").unwrap();
    assert!(!log[captured..].contains("csr5_"), "only graphs follow");
    assert!(log[captured..].contains("probe_spin | [graph]"));
}

#[test]
fn the_probe_reads_every_word_the_given_number_of_times() {
    let gpu = Gpu::new(Model::tiny(3));
    let probe = Probe::new(&gpu).unwrap();
    let bytes: Vec<u8> = (0..16_000u32).map(|k| (k * k % 251) as u8).collect();
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    let all = words.fold(0, |sum, word| sum ^ word);
    let buffer = gpu.upload(&bytes).unwrap();
    for (repeats, expected) in [(3, all), (2, all), (1, 0)] {
        probe.read(&buffer, repeats).unwrap();
        assert_eq!(probe.sink.to_vec().unwrap(), [expected], "{repeats} times");
    }
}
