//! A test of the energy of products, with a fake counter.

use std::fs;
use std::path::PathBuf;

use super::*;
use spmv_matrix::system::energy::Rapl;

/// Each product takes 2 ms, in which the fake counter counts 0.1 J: 50 W. It begins again at 2000 J, in the first turn.
/// A counter that goes backwards by 1 J in each product has no value.
#[test]
fn the_power_is_that_of_intervals_with_enough_updates() {
    thread_local! {
        static COUNTER: RefCell<(PathBuf, u64)> = const { RefCell::new((PathBuf::new(), 0)) };
    }
    const RANGE: u64 = 2_000_000_000;
    fn count(microjoules: u64) {
        COUNTER.with_borrow_mut(|(zone, counted)| {
            *counted = (*counted + microjoules) % RANGE;
            fs::write(zone.join("energy_uj"), counted.to_string()).unwrap();
        });
    }
    fn prepare_counted(csr: &Csr<f64>, each: u64) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            count(each);
            y.fill(0.0);
            Ok(())
        }))
    }
    let folder = tempfile::tempdir().unwrap();
    let zone = folder.path().join("intel-rapl:0");
    fs::create_dir(&zone).unwrap();
    fs::write(zone.join("name"), "package-0").unwrap();
    fs::write(zone.join("max_energy_range_uj"), RANGE.to_string()).unwrap();
    COUNTER.set((zone, RANGE - 1_000_000));
    count(0);
    let rapl = Rapl::open(folder.path()).unwrap();
    let cold = CacheState::Cold;
    let forward: Prepare<f64> = |csr, _| prepare_counted(csr, 100_000);
    let backward: Prepare<f64> = |csr, _| prepare_counted(csr, RANGE - 1_000_000);
    for (settings, prepare, joules) in [
        // A turn has ten products or more, which take 20 ms.
        (Settings { iterations: Some(20), ..settings() }, forward, Some(0.1)),
        (Settings { iterations: Some(20), ..settings() }, backward, None),
        (Settings { iterations: Some(2), ..settings() }, forward, None),
        // The pauses after evicted caches take as long as the products.
        (Settings { iterations: Some(100), cache: cold, ..settings() }, forward, None),
    ] {
        let (csr, team) = (Csr::<f64>::from_triplets(3, 3, &[]), Team::floating(1));
        let bench = Bench { rapl: Some(&rapl), ..Bench::new(&team, &ThreadClock, &settings) };
        let methods = [method(prepare)];
        let rows = rows(bench, &mut Problem::of(&csr, &settings), &methods);
        let got = first(&rows).joules_per_product;
        // The pauses after verification are part of the intervals.
        assert_eq!(got.map(|joules| (1e1 * joules).round() / 1e1), joules, "{settings:?}");
    }
}
