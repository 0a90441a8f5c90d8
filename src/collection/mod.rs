//! The known matrices: facts about matrices of the collection, named sets of them, and in [`fetch`] their downloads.

mod datasets;
pub mod fetch;
pub mod fields;
pub mod index;
mod matrix;
pub mod table;

pub use datasets::{Datasets, DatasetsError, Matrices, Member, Set};
pub use matrix::{Matrix, is_id};
