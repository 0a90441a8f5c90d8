//! Texts with a static lifetime, so that what contains them can be copied.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// Returns the text with a static lifetime. Each different text is leaked once, so the memory stays small.
pub fn interned(text: String) -> &'static str {
    static INTERNED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut all = INTERNED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.get(text.as_str()).copied().unwrap_or_else(|| {
        let text: &'static str = text.leak();
        all.insert(text);
        text
    })
}
