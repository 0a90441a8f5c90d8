//! The tests that need the machine or a process for themselves. While one of these measures, no other may.

mod liars;
mod memory;
mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test measures.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
