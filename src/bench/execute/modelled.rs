//! Measures a method whose time is modelled: one product yields the time of all.

use ptx_machine::model::Cure;

use super::case::{Case, Entry};
use super::caught::guarded;
use crate::bench::backend::{Backend, Parts};
use crate::bench::calls::Calls;
use crate::bench::outcome::Outcome;
use crate::bench::samples::Sample;
use spmv_matrix::scalar::Scalar;

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Records the modelled time of one product as the only sample.
    pub(super) fn model(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        if self.bench.explains {
            // All products that are compared with each other must start with the same cache contents.
            self.time(ready, Calls::Batch(2))?;
            self.renew_y()?;
        }
        let mut parts = self.modelled(ready)?;
        let ms: f64 = parts.stages.iter().map(|stage| stage.ms).sum();
        let sample = Sample { products: 1, seconds: 1e-3 * ms, counts: true, ..Sample::default() };
        ready.samples.turns.push(sample);
        if self.bench.explains {
            self.explain(ready, &mut parts)?;
        } else {
            let counts = parts.stages.iter_mut().filter_map(|stage| stage.counts.as_mut());
            counts.for_each(|counts| counts.lines.clear());
        }
        ready.parts = Some(parts);
        Ok(())
    }

    /// Returns the modelled times of the parts of a product, after those that leave data in the caches.
    fn modelled(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Parts, Outcome> {
        let warming = self.backend.warming_products().unwrap_or_default();
        if warming > 0 {
            self.time(ready, Calls::Batch(warming))?;
            self.renew_y()?;
        }
        Ok(guarded(|| {
            self.backend.evict_caches(&ready.prepared, false)?;
            self.backend.parts(&mut ready.prepared)
        })??)
    }

    /// Adds the times that the parts would take without each performance problem in [`Cure::ALL`].
    fn explain(&mut self, ready: &mut Entry<'a, T, S>, parts: &mut Parts) -> Result<(), Outcome> {
        for problem in Cure::ALL {
            self.renew_y()?;
            self.backend.cure(problem);
            let without = self.modelled(ready);
            self.backend.cure(Cure::Nothing);
            for (stage, without) in parts.stages.iter_mut().zip(without?.stages) {
                stage.cured.push(without.ms);
            }
        }
        Ok(())
    }
}
