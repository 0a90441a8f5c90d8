//! Tests of samples in which threads had to wait for a CPU.

use super::*;

/// Prepares a method with 2 ms per product, but in about a fourth of the first `noisy` ones its thread waits for 4 ms.
/// The first ten products fill y with negative zeros.
fn unsteady<'a>(csr: &'a Csr<f64>, noisy: usize) -> Result<Prepared<'a, f64>, Unavailable> {
    let mut products = 0;
    Ok(Prepared::new(csr, 0, move |_, _, _, y| {
        // About a fourth of the products, at irregular places.
        let is_slow = (products as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
        ThreadClock.pause(Duration::from_millis(2));
        if products < noisy && is_slow {
            ThreadClock::delay(Duration::from_millis(4));
        }
        LOG.with_borrow_mut(|log| log.push('u'));
        y.fill(if products < 10 { -0.0 } else { 0.0 });
        products += 1;
        Ok(())
    })
    .with_note("first"))
}

/// The samples in which a thread waited are taken again, so the slow products do not count.
#[test]
fn disturbed_samples_are_taken_again() {
    let (rows, _) = measure_methods(Settings { iterations: Some(24), ..settings() }, |csr, _| unsteady(csr, 99));
    let measured = first(&rows);
    assert_eq!((measured.samples, measured.iterations), (Some(24), Some(24)));
    assert!((measured.avg_spmv_ms.unwrap() - 2.0).abs() < 1e-9, "{measured:?}");
    assert!((0.1..0.9).contains(&measured.disturbed.unwrap()), "{measured:?}");
    assert_eq!((measured.reason.text(), rows[1].disturbed), (Some("first"), Some(0.0)));
    let results = measured.distinct_results.as_ref().unwrap().count();
    assert_eq!(results, 2, "counted over all products");
}

/// Each product is disturbed: a turn has as many disturbed samples as it needs, and no more.
#[test]
fn without_undisturbed_samples_the_least_disturbed_count() {
    let always: Prepare<f64> = |csr, _| {
        Ok(Prepared::new(csr, 0, |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(2));
            ThreadClock::delay(Duration::from_millis(1));
            y.fill(0.0);
            Ok(())
        }))
    };
    let (rows, _) = measure_methods(settings(), always);
    let measured = first(&rows);
    assert_eq!((measured.iterations, measured.disturbed), (Some(6), Some(1.0)));
    let note = "other programs disturbed too many samples: in those that count, threads waited for up to 33 % of the \
                time";
    assert_eq!(measured.reason.text(), Some(note));
}

/// Another program uses the CPU for 0 to 6 ms after 0 to 12 ms. A product that takes longer meets it more often, but in
/// the samples that count neither has met it.
#[test]
fn what_is_taken_again_favours_neither_short_nor_long_products() {
    thread_local! {
        /// When the other program begins the next time, by the fake clock, and a seed.
        static OTHER: RefCell<(Duration, u64)> = const { RefCell::new((Duration::ZERO, 1)) };
    }
    fn random(most: Duration, seed: &mut u64) -> Duration {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        most.mul_f64((*seed >> 11) as f64 / (1u64 << 53) as f64)
    }
    fn run(time: Duration) {
        OTHER.with_borrow_mut(|(next, seed)| {
            ThreadClock.pause(time);
            while *next < ThreadClock.now() {
                let slice = random(Duration::from_millis(6), seed);
                ThreadClock::delay(slice);
                *next = ThreadClock.now() + random(Duration::from_millis(12), seed);
            }
        });
    }
    fn prepare_of(csr: &Csr<f64>, time: Duration) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            run(time);
            y.fill(0.0);
            Ok(())
        }))
    }
    let short: Prepare<f64> = |csr, _| prepare_of(csr, Duration::from_micros(100));
    let long: Prepare<f64> = |csr, _| prepare_of(csr, Duration::from_millis(3));
    let max_time = Duration::from_secs(2);
    let settings = Settings { iterations: Some(200), max_time, ..settings() };
    let rows = measure_all(settings, &[method(short), method(long)]).0;
    let [short, long] = [0, 1].map(|place: usize| rows[place].avg_spmv_ms.unwrap());
    assert!((long / short - 30.0).abs() < 0.3, "{short} {long}");
    assert!(rows[1].disturbed > rows[0].disturbed, "{rows:?}");
}
