//! Methods of plug-ins: shared objects with the interface of `plugins/spmv_method.h`.
//!
//! A plug-in is opened only in child processes, because opening it executes its code. A first child sends the
//! [`Description`]s of its methods to the program. The child that measures opens the plug-in again and prepares its
//! methods through [`Entry`]. What a method must not do to the process is checked by [`Thread`] and by the guards of
//! the host's backend.

pub mod abi;
mod context;
mod description;
mod open;
mod prepared;
mod thread;

use std::ffi::{CStr, c_char};

pub use context::Settings;
pub use description::{Described, Description, LONGEST_NAME};
pub use open::{files, open};
pub use prepared::{Facts, Running};
pub use thread::{Thread, Threads, not_restored};

/// The longest text of a plug-in that is shown, in characters. The rest is cut off.
const LONGEST: usize = 400;

/// A method of a plug-in that is open in this process.
pub struct Entry {
    /// The structure in the memory of the plug-in, which stays open until the process ends.
    raw: &'static abi::Method,
    /// What the structure says.
    pub description: Description,
}

// SAFETY: the structure is constant as long as the plug-in is open (the interface demands it), and its functions are
// only called by the thread that prepares methods.
unsafe impl Sync for Entry {}
// SAFETY: see above.
unsafe impl Send for Entry {}

/// Returns a text of a plug-in without line ends, cut off after [`LONGEST`] characters; `None` for NULL.
///
/// # Safety
/// The text must be NULL, or end with a zero byte.
unsafe fn text(from: *const c_char) -> Option<String> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let text = unsafe { CStr::from_ptr(from) }.to_string_lossy();
    Some(text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect())
}
