//! The syntax of PTX: parses the text into statements with their operands, without interpreting them.

mod lexer;
mod parser;
mod syntax;

pub use parser::parse;
pub use syntax::*;
