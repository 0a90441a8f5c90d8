//! An mbarrier: a barrier in shared memory whose phases also wait for the bytes of copies (PTX ISA, section 9.7.13.15).

use std::rc::Rc;

use crate::race::{Moment, Release};

/// The maximum number of arrivals and of outstanding bytes.
pub const MOST: i64 = (1 << 20) - 1;

/// The state of an mbarrier. A phase completes when all arrivals and all expected bytes have come.
#[derive(Debug)]
pub struct Mbarrier {
    /// The number of arrivals that complete a phase.
    expected: i64,
    /// The number of arrivals that the current phase lacks.
    pub missing: i64,
    /// The number of bytes that are expected in the current phase and have not come.
    pub bytes: i64,
    /// The number of completed phases.
    pub phases: u32,
    /// The end of the phases in which there was a copy.
    pub copied: u32,
    /// The number of phases whose completion a thread has waited for.
    pub waited: u32,
    /// The time at which it was initialised; `None` without checks.
    pub begun: Option<Moment>,
    /// The releases of the threads that have arrived in the current phase; empty without checks.
    pub arrived: Vec<Rc<Release>>,
    /// The release of the last completed phase; `None` without checks.
    pub completed: Option<Rc<Release>>,
}

impl Mbarrier {
    /// Initialises an mbarrier whose phases need `expected` arrivals. `None` if the number is out of range.
    pub fn new(expected: i64, begun: Option<Moment>) -> Option<Self> {
        (1..=MOST).contains(&expected).then_some(Self {
            expected,
            missing: expected,
            bytes: 0,
            phases: 0,
            copied: 0,
            waited: 0,
            begun,
            arrived: Vec::new(),
            completed: None,
        })
    }

    /// Adds to the number of expected bytes, which is negative after bytes that are expected later. Returns false if it
    /// is out of range.
    pub fn expect(&mut self, bytes: i64) -> bool {
        self.bytes += bytes;
        self.bytes.abs() <= MOST
    }

    /// Records arrivals. Returns false if the current phase expects fewer.
    pub fn arrive(&mut self, count: i64) -> bool {
        self.missing -= count;
        count > 0 && self.missing >= 0
    }

    /// Completes the current phase if nothing is missing. `number` identifies the mbarrier in its block `block`.
    pub fn complete(&mut self, number: u16, block: u32) {
        if self.missing != 0 || self.bytes != 0 {
            return;
        }
        let arrived = std::mem::take(&mut self.arrived);
        if self.begun.is_some() {
            self.completed = Some(Release::of_phase(block, (number, self.phases), arrived));
        }
        self.phases += 1;
        self.missing = self.expected;
    }

    /// Returns whether the phase with this parity, the current or the previous one, is complete.
    pub fn has_completed(&self, parity: u32) -> bool {
        self.phases % 2 != parity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_needs_its_arrivals_and_its_bytes() {
        let mut barrier = Mbarrier::new(2, None).unwrap();
        assert!(!barrier.has_completed(0) && barrier.has_completed(1), "the first phase");
        // The bytes of a copy may come before they are expected.
        assert!(barrier.expect(-32) && barrier.arrive(1));
        barrier.complete(0, 0);
        assert!(barrier.expect(48) && barrier.arrive(1));
        barrier.complete(0, 0);
        assert_eq!((barrier.phases, barrier.missing, barrier.bytes), (0, 0, 16));
        assert!(!barrier.arrive(1), "a third arrival");
        barrier.missing = 0;
        assert!(barrier.expect(-16));
        barrier.complete(0, 0);
        assert_eq!((barrier.phases, barrier.missing), (1, 2));
        assert!(barrier.has_completed(0) && !barrier.has_completed(1), "the second phase");
    }

    #[test]
    fn counts_have_limits() {
        assert!(Mbarrier::new(0, None).is_none() && Mbarrier::new(MOST + 1, None).is_none());
        let mut barrier = Mbarrier::new(MOST, None).unwrap();
        assert!(barrier.expect(MOST) && !barrier.expect(1));
        assert!(!barrier.arrive(0));
    }
}
