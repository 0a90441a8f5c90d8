use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

/// The numbers of threads: all up to two levels of the trees, and three levels. Miri is slow, so it has fewer.
fn sizes() -> impl Iterator<Item = usize> {
    let all = (1..=17).chain([65, 200]);
    all.filter(|size| !cfg!(miri) || [1, 2, 3, 9, 10, 20].contains(size))
}

/// Workers that read the counter more or less often before they sleep, and pauses of different lengths between the
/// regions: some workers spin, some sleep, and some fall asleep while the next region starts.
#[test]
fn every_rank_runs_every_region_once() {
    let regions = if cfg!(miri) { 6 } else { 60 };
    for threads in sizes() {
        for spins in [0, 1, 30, 1000] {
            let team = Team::start(threads, &[], spins).unwrap();
            let mut counts = vec![CachePadded::new(0); threads];
            for region in 0..regions {
                team.run_with(&mut counts, |rank, count| *count += rank + 1);
                (0..region % 7 * spins / 3).for_each(|_| std::hint::spin_loop());
            }
            let counts: Vec<_> = counts.into_iter().map(CachePadded::into_inner).collect();
            assert_eq!(counts, (1..=threads).map(|n| regions * n).collect::<Vec<_>>());
        }
    }
}

#[test]
fn workers_wake_from_sleep() {
    for threads in [3, 20] {
        let team = Team::floating(threads);
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(5));
            let ran = AtomicUsize::new(0);
            team.run(|_| _ = ran.fetch_add(1, Ordering::Relaxed));
            assert_eq!(ran.into_inner(), threads);
        }
    }
}

/// Drops teams whose workers have just been created, have just run, or sleep.
#[test]
fn dropping_a_team_ends_all_workers() {
    for threads in sizes() {
        for (regions, pause) in [(0, 0), (2, 0), (2, 3)] {
            let team = Team::start(threads, &[], 100).unwrap();
            (0..regions).for_each(|_| team.run(|_| ()));
            thread::sleep(Duration::from_millis(pause));
            let shared = Arc::clone(&team.shared);
            drop(team);
            assert_eq!(Arc::strong_count(&shared), 1, "each worker owns a reference");
        }
    }
}

#[test]
fn a_panic_of_any_rank_reaches_the_leader_and_the_team_stays_usable() {
    for threads in [3, 12] {
        let team = Team::floating(threads);
        for rank in 0..threads {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                team.run(|r| assert_ne!(r, rank, "deliberate panic"));
            }));
            assert!(outcome.is_err(), "rank {rank}");
            team.run(|_| ());
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs system calls that Miri does not support")]
fn dropping_the_team_restores_the_leaders_affinity() {
    let before = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let cpu = (0..CpuSet::count()).find(|&cpu| before.is_set(cpu).unwrap()).unwrap();
    let team = Team::pinned(&[cpu]).unwrap();
    let other = thread::spawn(|| {
        unpin();
        sched_getaffinity(Pid::from_raw(0)).unwrap()
    });
    assert_eq!(other.join().unwrap(), before, "an unpinned thread has all CPUs");
    drop(team);
    assert_eq!(sched_getaffinity(Pid::from_raw(0)).unwrap(), before);
}
