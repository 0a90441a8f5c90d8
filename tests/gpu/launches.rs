//! Tests the two times of launches, those of the host and of the device, with a host that takes a known time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock, SystemClock};
use spmv_methods::device::Gpu;
use spmv_methods::device::model::Model;
use spmv_methods::device::probe::Probe;
use spmv_methods::method::Choice;
use spmv_results::row::Row;
use spmv_results::settings::{Protocol, Settings};

use super::recorder::Recorder;
use super::{grid, on_gpu, settings};
use crate::fake_cusparse::FakeCuSparse;

/// Returns a GPU with one microsecond per operation and 1 MHz, whose host takes the time `launch` for each launch.
/// Also returns its clock and the cycles for which it is occupied before measurements.
fn gpu(launch: Duration) -> (Gpu, Rc<FakeClock>, Rc<RefCell<Vec<u64>>>) {
    let clock = Rc::new(FakeClock::default());
    let mut recorder = Recorder::new(FakeCuSparse::on(Model::tiny(2)));
    recorder.host = Some((clock.clone(), launch));
    let leads = recorder.leads.clone();
    (Gpu::new(recorder), clock, leads)
}

/// All times are in microseconds. The GPU is occupied for one and a half times the host's time, for at least 30.
#[test]
fn a_batch_is_timed_again_if_the_host_was_slower_than_expected() {
    let (gpu, clock, leads) = gpu(Duration::ZERO);
    let probe = Probe::new(&gpu).unwrap();
    let cases: [(usize, u64, &[u64], &[u64]); 8] = [
        (2, 0, &[30], &[30]),
        (2, 0, &[31, 40], &[30, 46]),
        (2, 100, &[150], &[150]),
        (2, 100, &[151, 1], &[150, 226]),
        (2, 0, &[40, 100, 200], &[30, 60, 150]),
        (2, 0, &[50_000, 10], &[30, 20_000]),
        (2, 50_000, &[50_000], &[20_000]),
        (1, 0, &[40], &[30]),
    ];
    for (count, expected, hosts, occupied) in cases {
        leads.take();
        let calls = Cell::new(0_usize);
        let work = || {
            let call = calls.replace(calls.get() + 1);
            if call.is_multiple_of(count) {
                clock.pause(Duration::from_micros(hosts[call / count]));
            }
            probe.launch_empty()
        };
        let timing = probe.time(count, Duration::from_micros(expected), work).unwrap();
        assert_eq!(leads.take(), occupied, "{count} calls, {hosts:?}");
        assert_eq!(calls.get(), count * hosts.len());
        assert_eq!(timing.host.as_micros() as u64, *hosts.last().unwrap());
        assert_eq!(timing.device.as_micros(), count as u128);
    }
    leads.take();
    assert_eq!(probe.launch_time(), Ok(Duration::from_micros(1)));
}

/// Measures gpu-csr-scalar, gpu-csr5 and cusparse-csr.
fn rows(gpu: &Gpu, settings: &Settings) -> [Row; 3] {
    let names = ["gpu-csr-scalar", "gpu-csr5", "cusparse-csr"];
    let choices = names.map(|name| Choice::from(spmv_methods::named(name).unwrap()));
    let group = on_gpu(&SystemClock::default(), settings, gpu, &grid(), &choices).unwrap();
    assert!(group.rows.iter().all(Row::is_ok), "{group:?}");
    group.rows.try_into().unwrap()
}

/// The product of gpu-csr-scalar is one kernel, that of gpu-csr5 two, and that of cuSPARSE a call, which may be four. A
/// sample of two milliseconds would have about 2000 or 1000 products, but more than 512 launches do not fit in the
/// stream.
#[test]
fn the_host_s_time_of_a_launch_is_reported_and_batches_are_limited() {
    let (gpu, ..) = gpu(Duration::from_micros(5));
    let settings = Settings { iterations: Some(1024), rounds: 1, ..settings() };
    let [one, two, call] = rows(&gpu, &settings);
    let counts = |row: &Row| [row.samples, row.iterations].map(Option::unwrap);
    assert_eq!((one.host_launch_ms, counts(&one)), (Some(0.005), [2, 1024]));
    assert_eq!((two.host_launch_ms, counts(&two)), (Some(0.01), [4, 1024]));
    assert_eq!(counts(&call), [8, 1024]);
    assert_eq!([one, two].map(|row| row.median_ms), [Some(0.001), Some(0.002)], "the device's times");
}

/// The end of a chain is correct only if each product has multiplied the result of the one before. A call of the fake
/// cuSPARSE takes no time of the device.
#[test]
fn chains_of_products_are_right_and_beside_independent_ones() {
    let (gpu, ..) = gpu(Duration::from_micros(5));
    let power = Settings::new(Protocol::Power);
    let settings = Settings { iterations: Some(30), rounds: 2, ..power };
    for (row, ms) in rows(&gpu, &settings).into_iter().zip([0.001, 0.002, 0.0]) {
        assert_eq!((row.iterations, row.median_ms), (Some(32), Some(ms)));
        assert_eq!(row.independent_ms, Some(ms));
    }
}

/// A round is one sample of 512 products, before which x changes and the GPU is occupied for 512 · 5 · 1.5 us, and one
/// with the usual x again. A batch that is not a sample has the same length.
#[test]
fn only_the_first_turn_has_a_batch_that_is_not_a_sample() {
    let (gpu, _, leads) = gpu(Duration::from_micros(5));
    let settings = Settings { iterations: Some(1024), rounds: 2, ..settings() };
    let choices = [Choice::from(spmv_methods::named("gpu-csr-scalar").unwrap())];
    on_gpu(&SystemClock::default(), &settings, &gpu, &grid(), &choices).unwrap();
    assert_eq!(leads.take().into_iter().filter(|&lead| lead == 3840).count(), 2 * 2 + 1);
}
