//! Texts and lists in the memory of a plug-in.

use std::ffi::{CStr, c_char};

use anyhow::Result;

/// The longest text of a plug-in that is shown, in characters. The rest is cut off.
const MAX_SHOWN_CHARS: usize = 400;
/// A list of more elements than this is taken for one without an end.
const MAX_LIST_LENGTH: usize = 1000;

/// Collects the elements of a list up to its end, where `element` returns `None`. Returns `None` if it does not end.
pub fn until_end<E>(mut element: impl FnMut(usize) -> Result<Option<E>>) -> Result<Option<Vec<E>>> {
    let mut elements = Vec::new();
    for index in 0..=MAX_LIST_LENGTH {
        match element(index)? {
            Some(element) => elements.push(element),
            None => return Ok(Some(elements)),
        }
    }
    Ok(None)
}

/// Returns a text of a plug-in without line ends, cut off after [`MAX_SHOWN_CHARS`] characters; `None` for NULL.
///
/// # Safety
/// The text must be NULL, or end with a zero byte.
pub unsafe fn text(from: *const c_char) -> Option<String> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let text = unsafe { CStr::from_ptr(from) }.to_string_lossy();
    Some(text.chars().take(MAX_SHOWN_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect())
}
