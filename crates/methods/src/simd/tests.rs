use super::*;

/// Tests every operation, on registers that hold 1, 2, 3, …
struct AllOperations;

impl<T: Scalar> Kernel<T> for AllOperations {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        let values: Vec<T> = (1..=V::LANES).map(|n| T::narrow(n as f64)).collect();
        let reversed: Vec<u32> = (0..V::LANES as u32).rev().collect();
        let total = |weight: fn(f64, f64) -> f64, count: usize| -> f64 {
            (0..count).map(|k| weight(k as f64 + 1.0, (V::LANES - k) as f64)).sum()
        };
        // SAFETY: `Isa::run` chose V for this machine; all pointers are to LANES elements.
        unsafe {
            let ramp = V::load(&values, 0);
            let back = V::gather(&values, &reversed, 0);
            assert_eq!(V::zero().sum(), T::zero());
            let mut stored = vec![T::nan(); V::LANES];
            back.store(stored.as_mut_ptr());
            assert!(stored.iter().rev().eq(&values));
            let sum = ramp.mul_add(back, ramp).sum();
            assert_eq!(sum.widen(), total(|a, b| a * b + a, V::LANES));
            let short: Vec<u16> = reversed.iter().map(|&k| k as u16).collect();
            let of_short = V::gather(&values, &short, 0).mul_add(ramp, ramp).sum();
            assert_eq!(of_short, sum);
            let poison = V::splat(T::nan());
            for lane in 0..V::LANES {
                let one = ramp.mul_add_where(1 << lane, back, V::splat(T::one())).sum();
                let product = (lane + 1) * (V::LANES - lane);
                assert_eq!(one.widen(), (product + V::LANES) as f64, "lane {lane}");
            }
            for lanes in 0..=V::LANES {
                let first = ramp.mul_add_first(lanes, back, V::zero()).sum();
                assert_eq!(first.widen(), total(|a, b| a * b, lanes), "{lanes} lanes");
                let kept = ramp.keep(V::first_lanes(lanes)).sum();
                assert_eq!(kept.widen(), total(|a, _| a, lanes));
                assert_eq!(poison.keep(0).sum(), T::zero());
                let unchanged = poison.mul_add_first(0, poison, ramp).sum();
                assert_eq!(unchanged.widen(), total(|a, _| a, V::LANES));
            }
            for lane in 0..V::LANES {
                for bad in [T::nan(), T::infinity(), T::neg_infinity()] {
                    let mut values = values.clone();
                    values[lane] = bad;
                    assert!(!V::load(&values, 0).finite(), "{bad:?} in lane {lane}");
                }
            }
            let thirds = V::splat(T::narrow(1.0 / 3.0));
            let four = [ramp.mul_add(thirds, back), back.mul_add(back, thirds), thirds, ramp];
            assert_eq!(V::sum_each(four), four.map(|register| register.sum()));
            assert!(ramp.finite() && V::LANES <= MAX_LANES);
            assert_eq!(V::fused(values[1], values[2], values[3]).widen(), 10.0);
        }
    }
}

#[test]
fn every_instruction_set_computes_the_same_results() {
    for isa in Isa::available() {
        isa.run::<f64, _>(AllOperations);
        isa.run::<f32, _>(AllOperations);
        isa.run_wide::<f64, _>(AllOperations);
        isa.run_wide::<f32, _>(AllOperations);
    }
}
