//! The formats of matrix files, each in a file of its own.

pub mod dimacs;
pub mod edges;
pub mod foreign;
pub mod format;
mod fortran;
pub mod harwell_boeing;
pub mod market;
pub mod metis;
mod npy;
pub mod npz;
pub mod octave;
pub mod smtx;
mod stored;
mod triplets;
mod words;

use super::syntax::without_mark;
use format::{Format, Signs};

/// All formats, in the order in which a text is compared with them.
pub static FORMATS: &[&Format] = &[
    &market::FORMAT,
    &harwell_boeing::FORMAT,
    &octave::FORMAT,
    &dimacs::FORMAT,
    &metis::FORMAT,
    &smtx::FORMAT,
    &edges::FORMAT,
    &npz::FORMAT,
];

/// Returns the format of a text that begins with `head`, in a file with this extension, or without the extension of
/// any format.
pub fn of(head: &[u8], extension: Option<&str>, declares_edges: bool) -> Option<&'static Format> {
    let fits = |format: &&&Format| {
        let is_named = extension.is_some_and(|extension| format.has_extension(extension));
        let head = without_mark(head);
        let has_extension = extension.is_some();
        (format.sniff)(&Signs { head, is_named, has_extension, declares_edges })
    };
    FORMATS.iter().find(fits).copied()
}
