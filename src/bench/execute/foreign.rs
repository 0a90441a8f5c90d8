//! The threads of plug-ins.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spmv_matrix::system::threads::Thread;
use spmv_methods::method::Choice;

/// The threads that have started while code of a plug-in ran, each with the name of the method.
#[derive(Default)]
pub struct Foreign(BTreeMap<Thread, String>);

impl Foreign {
    /// Notes the threads that have started while `choice` ran, as seen by `before`.
    pub fn note(&mut self, choice: &Choice, before: &BTreeSet<Thread>) {
        for thread in Thread::all().difference(before) {
            self.0.insert(*thread, choice.name());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the CPU time that each thread has used.
    pub fn used(&self) -> BTreeMap<Thread, Duration> {
        self.0.keys().map(|thread| (*thread, thread.used())).collect()
    }

    /// Returns the method whose thread has run for longer than `most` since `before`.
    pub fn busy(&self, before: &BTreeMap<Thread, Duration>, most: Duration) -> Option<&str> {
        let is_busy = |&(thread, used): &(&Thread, &Duration)| thread.used() > *used + most;
        let (thread, _) = before.iter().find(is_busy)?;
        self.0.get(thread).map(String::as_str)
    }
}
