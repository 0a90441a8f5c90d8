//! Counters of energy in a folder made for the test, as in Linux' powercap tree.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Dir, LITTLE_MEMORY, Ran, behind};

/// The power that the counter shows, in watts. Readings may be late where others use the CPUs.
const WATTS: f64 = 50.0;
const ABOUT: f64 = 2.0;

fn is_about(watts: f64) -> bool {
    (WATTS / ABOUT..WATTS * ABOUT).contains(&watts)
}

/// Runs `call` while the counter of a package in the folder `powercap` counts.
fn counting<R>(place: &Dir, call: impl FnOnce() -> R) -> R {
    let zone = place.path("powercap/intel-rapl:0");
    fs::create_dir_all(&zone).unwrap();
    fs::write(zone.join("name"), "package-0\n").unwrap();
    fs::write(zone.join("max_energy_range_uj"), "262143328850\n").unwrap();
    let (start, is_done) = (Instant::now(), AtomicBool::new(false));
    let count = || {
        let microjoules = 1e6 * WATTS * start.elapsed().as_secs_f64();
        fs::write(zone.join("new"), format!("{microjoules:.0}\n")).unwrap();
        fs::rename(zone.join("new"), zone.join("energy_uj")).unwrap();
    };
    count();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                count();
                // Watts are joules per second of the real clock.
                thread::sleep(Duration::from_millis(1));
            }
        });
        let result = call();
        is_done.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn energy_is_measured_where_counters_can_be_read() {
    let place = Dir::with_matrices(&[3000]);
    let program = |words: &str| {
        let mut program = place.program(words);
        program.env("SPMV_BENCH_POWERCAP", place.path("powercap"));
        program
    };
    let system = || behind(&LITTLE_MEMORY, &program("system --threads 1 --format json")).exits(0);
    let facts = system().json().remove(0);
    let why = facts["no_energy"].as_str().unwrap();
    assert!(why.ends_with("powercap: No such file or directory (os error 2)"), "{why}");
    assert!(facts["energy"].is_null());
    let facts = counting(&place, system).json().remove(0);
    assert_eq!(facts["energy"]["domains"][0], "package-0");
    assert!(is_about(facts["energy"]["idle_watts"].as_f64().unwrap()), "{}", facts["energy"]);
    let words = "corpus matrices --device cpu --methods seq --threads 1 --rounds 1 --min-time 0.4 --max-time 0.5 \
                 --no-bandwidth --run-record record.json";
    let ran = counting(&place, || Ran::of(program(words).output().unwrap())).exits(0);
    let number = |name: &str| ran.column(name)[0].parse::<f64>().unwrap();
    let watts = number("joules_per_product") / (1e-3 * number("avg_spmv_ms"));
    assert!(is_about(watts), "{watts}");
    let record = place.json("record.json");
    assert_eq!(record["energy"]["domains"][0], "package-0");
    assert!(record["energy"]["idle_watts"].is_null());
}
