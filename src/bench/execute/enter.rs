//! The preparation of a method: a rehearsal on a small matrix, the setup, and the first product, which is verified.

use std::time::{Duration, Instant};

use super::case::{Case, Entry};
use super::caught::guarded;
use super::ready::Ready;
use crate::bench::backend::Backend;
use crate::bench::chains;
use crate::bench::contract::Cell;
use crate::bench::need::SMALL_OF_METHOD;
use crate::bench::outcome::Outcome;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::{Choice, Request, Unavailable};
use spmv_results::row::{Remark, Status};

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Prepares a method and verifies its first product.
    pub(super) fn enter(&mut self, cell: &'a Cell<'a>) -> Result<Entry<'a, T, S>, Outcome> {
        let choice = &cell.choice;
        self.check_product(choice)?;
        let need = self.need(choice);
        let available = self.backend.available(&self.extent, self.kept)?;
        if need > available.bytes {
            return Err(Outcome::refused(need, available));
        }
        self.kept += need;
        let start = self.now();
        let request = self.request(choice);
        let remarks = self.rehearse(choice, &request)?.map(Remark::Text);
        // Twice the memory, because it is not known which thread takes how much of it.
        let room = need + need.min(available.bytes - need);
        let (prepared, setup) = guarded(|| self.backend.prepare(choice, &request, room))??;
        let matrix_bytes = choice.method.matrix_bytes(self.extent.csr(), &prepared);
        let ready = Ready::new(cell, prepared, setup);
        let mut ready = Ready { matrix_bytes, remarks: remarks.into_iter().collect(), ..ready };
        self.renew_y()?;
        if self.is_modelled() {
            self.model(&mut ready)?;
        } else {
            self.time_one(&mut ready)?;
        }
        self.verify(&mut ready)?;
        self.charge(&mut ready, start)?;
        Ok(ready)
    }

    /// Returns an error if the method does not have the product that is measured.
    fn check_product(&self, choice: &Choice) -> Result<(), Outcome> {
        let settings = self.bench.settings;
        if !choice.method.operations.include(settings.transpose) {
            let product = if settings.transpose { "transposed" } else { "plain" };
            return Err(Unavailable(format!("it has no {product} product")).into());
        }
        Ok(chains::check_method(settings, choice, self.is_modelled())?)
    }

    /// Returns an upper bound of the bytes that a method needs on this backend; 0 if it has no such product.
    pub(super) fn need(&self, choice: &Choice) -> u64 {
        let extent = Extent { given: &choice.given, ..self.extent };
        if choice.method.operations.include(self.bench.settings.transpose) {
            (choice.method.memory)(&extent) + SMALL_OF_METHOD
        } else {
            0
        }
    }

    fn request<'c>(&self, choice: &'c Choice) -> Request<'c>
    where
        'a: 'c,
    {
        let settings = self.bench.settings;
        Request {
            team: self.bench.team,
            isa: settings.isa,
            transpose: settings.transpose,
            alpha: settings.alpha,
            beta: settings.beta,
            expected_products: settings.planned(self.extent.nnz as usize, S::DEVICE),
            profile: self.bench.profile,
            now: Instant::now,
            given: &choice.given,
            groups: self.extent.groups,
        }
    }

    /// Runs the method on a small matrix, so that what it initialises once is not part of its setup. Returns a note if
    /// it fails there: that error either occurs again on the matrix or does not concern it. Only a lost device ends the
    /// method here, because later errors would not name the cause.
    fn rehearse(&mut self, choice: &Choice, request: &Request) -> Result<Option<String>, Outcome> {
        if self.is_modelled() {
            return Ok(None);
        }
        let rehearsed = guarded(|| self.backend.rehearse(choice, request));
        match rehearsed.and_then(|done| Ok(done?)) {
            Err(end) if self.backend.is_lost() => Err(end),
            Err(Outcome { status: Status::Failed, reason, .. }) => {
                Ok(Some(format!("with a small matrix before: {reason}")))
            }
            _ => Ok(None),
        }
    }

    /// Adds the time since `start` to the method's total, and returns a timeout if that exceeds its limit.
    pub(super) fn charge(&self, ready: &mut Entry<'a, T, S>, start: Duration) -> Result<(), Outcome> {
        let settings = self.bench.settings;
        ready.spent += self.now().saturating_sub(start);
        if ready.spent > settings.timeout {
            return Err(Outcome::overdue(settings, ready.spent));
        }
        Ok(())
    }
}
