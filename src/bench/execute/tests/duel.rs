//! Tests of the duel, and of what leaves time for it.

use super::*;

/// The machine becomes slower all the time. Turns of a whole method see another part of that than those of the other.
#[test]
fn a_duel_cancels_what_changes_meanwhile() {
    fn prepare_slowing(csr: &Csr<f64>, time: Duration) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            let slower = 1.0 + ThreadClock.now().as_secs_f64() % 1000.0;
            ThreadClock.pause(time.mul_f64(slower));
            y.fill(0.0);
            Ok(())
        }))
    }
    let one: Prepare<f64> = |csr, _| prepare_slowing(csr, Duration::from_micros(1000));
    let other: Prepare<f64> = |csr, _| prepare_slowing(csr, Duration::from_micros(1050));
    let seconds = Duration::from_secs;
    // What changes within a pair remains. With a number of products there is no duel.
    for (iterations, errors) in [(None, 0.0..0.003), (Some(20), 0.01..1.0)] {
        let usual = Settings::new(Protocol::MergeSpmv);
        let settings = Settings { max_time: seconds(1), rounds: 2, iterations, ..usual };
        let rows = measure_all(settings, &[method(one), method(other)]).0;
        let [one, other] = [0, 1].map(|place: usize| rows[place].median_ms.unwrap());
        let error = (other / one / 1.05 - 1.0).abs();
        assert!(errors.contains(&error), "{iterations:?}: {error}");
    }
}

/// The products of a method become faster by and by, as its data come into the caches, from which the other method has
/// displaced them. What counts are its later products.
#[test]
fn a_duel_compares_products_whose_data_are_in_the_caches() {
    thread_local! {
        /// The method that ran last, and how many of its products.
        static LAST: RefCell<(u32, i32)> = const { RefCell::new((0, 0)) };
    }
    fn prepare_of(csr: &Csr<f64>, us: u32) -> Result<Prepared<'_, f64>, Unavailable> {
        Ok(Prepared::new(csr, 0, move |_, _, _, y| {
            LAST.with_borrow_mut(|(last, products)| {
                *products = if *last == us { *products + 1 } else { 0 };
                *last = us;
                let longer = 1.0 + f64::from(us - 500) / 1000.0 * 0.65f64.powi(*products);
                ThreadClock.pause(Duration::from_secs_f64(1e-6 * f64::from(us) * longer));
            });
            y.fill(0.0);
            Ok(())
        }))
    }
    let one: Prepare<f64> = |csr, _| prepare_of(csr, 1000);
    let other: Prepare<f64> = |csr, _| prepare_of(csr, 1500);
    let settings = Settings { max_time: Duration::from_secs(1), rounds: 2, ..Settings::new(Protocol::MergeSpmv) };
    let rows = measure_all(settings, &[method(one), method(other)]).0;
    let [one, other] = [0, 1].map(|place: usize| rows[place].median_ms.unwrap());
    let error = other / one / 1.5 - 1.0;
    assert!(error.abs() < 0.01, "{error}");
}

/// The third method takes more than twice as long as the others. If a number of products is asked for, all take it.
#[test]
fn a_method_that_is_far_behind_has_a_turn_in_every_other_round() {
    let far: Prepare<f64> = |csr, _| {
        ThreadClock.pause(Duration::from_millis(9));
        Ok(Prepared::new(csr, 0, |_, _, _, y| {
            ThreadClock.pause(Duration::from_millis(5));
            LOG.with_borrow_mut(|log| log.push('c'));
            y.fill(0.0);
            Ok(())
        }))
    };
    let near: [Prepare<f64>; 2] = [|csr, _| prepare(csr, 'a'), |csr, _| prepare(csr, 'b')];
    let methods = [method(near[0]), method(near[1]), method(far)];
    for (iterations, expected) in [(None, "|bcabcababcab"), (Some(12), "|bcabcabcabcabc")] {
        let max_time = Duration::from_millis(100);
        let settings = Settings { rounds: 4, iterations, max_time, ..settings() };
        let log = turns(&measure_all(settings, &methods).1);
        assert!(log.contains(expected), "{log}");
    }
}
