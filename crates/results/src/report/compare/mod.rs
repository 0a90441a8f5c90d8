//! Compares two result files row by row: which rows became faster, slower, or wrong.

mod change;
mod comparison;
mod gate;
mod mean;
mod pair;
mod printed;
mod sides;
#[cfg(test)]
mod tests;

pub use comparison::Comparison;
pub use gate::{End, Judged};
pub use pair::Compared;
pub use sides::{check_once, of_runs, relative};
