//! Tables as data, and how they are written as text, Markdown and LaTeX.

mod data;
mod document;
mod layout;
pub mod terminal;

pub use data::{Cell, Columns, Table, significant};
pub use document::{Document, escape_markdown};
pub use layout::Layout;
