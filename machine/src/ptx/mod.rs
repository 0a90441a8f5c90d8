//! The syntax of PTX: text to statements with their operands, meanings not yet looked at.

mod lexer;
mod parser;

use std::fmt;

/// A module: one PTX text.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// The text itself.
    pub text: &'a str,
    /// The architecture that it was made for: `sm_90`.
    pub target: &'a str,
    /// Source files by the number that `.loc` uses.
    pub files: Vec<(u64, &'a str)>,
    /// Variables outside functions, in global or constant memory.
    pub variables: Vec<Variable<'a>>,
    /// Kernels.
    pub entries: Vec<Entry<'a>>,
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    /// Its symbol.
    pub name: &'a str,
    /// The memory that it lies in.
    pub space: &'a str,
    /// The type of its elements: `.f32`.
    pub kind: &'a str,
    /// Its alignment in bytes.
    pub alignment: usize,
    /// Its size in bytes; 0 for an array whose size the launch decides.
    pub bytes: usize,
    /// Its first bytes at the beginning; all others are zero in global and constant memory.
    pub initial: Vec<u8>,
}

/// A kernel.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, in order: name, alignment and size in bytes.
    pub parameters: Vec<Variable<'a>>,
    /// The most threads that a block may have, where the kernel says it (`.maxntid`, `.reqntid`).
    pub max_threads: Option<usize>,
    /// Declared registers.
    pub registers: Vec<Registers<'a>>,
    /// Variables in shared and local memory.
    pub variables: Vec<Variable<'a>>,
    /// Instructions in order.
    pub statements: Vec<Statement<'a>>,
    /// Labels: name and the number of the statement that they stand before.
    pub labels: Vec<(&'a str, usize)>,
}

/// A declaration of registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registers<'a> {
    /// The name; without its number where there are several.
    pub name: &'a str,
    /// How many there are, numbered from 0; `None` for one that has this very name.
    pub count: Option<u64>,
    /// Their type: `.b32`.
    pub kind: &'a str,
}

/// An instruction.
#[derive(Debug)]
pub struct Statement<'a> {
    /// Its line in the PTX text, from 1.
    pub line: usize,
    /// Where it comes from in the source.
    pub place: Place,
    /// The predicate that says which threads execute it, and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
    /// Name and modifiers: `ld.global.nc.f64`.
    pub opcode: &'a str,
    /// What follows.
    pub operands: Vec<Operand<'a>>,
}

/// A line of the source: file and line, and those of the call through which it was inlined last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file's number and the line; 0 where nothing is known.
    pub at: (u64, u64),
    /// The same of the call.
    pub inlined_at: Option<(u64, u64)>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register or a special register, `%r1` or `%tid.x`, or the symbol of a variable or a label.
    Name(&'a str),
    /// The same, negated: `!%p1`.
    Not(&'a str),
    /// A number: the bits of a 64-bit integer, or of a floating-point number of its own size.
    Number(u64),
    /// An address: a register, a symbol or a number, and the bytes that are added.
    Address(Base<'a>, i64),
    /// Several in braces.
    Vector(Vec<Operand<'a>>),
    /// Two results: `%r1|%p2`.
    Pair(&'a str, &'a str),
}

/// What an address begins with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base<'a> {
    /// A register or a symbol.
    Name(&'a str),
    /// A number.
    Number(u64),
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Error {
    /// `reason` for what stands in that line of `text`.
    pub fn at(text: &str, line: usize, reason: impl Into<String>) -> Self {
        let text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
        Self { line, text: text.to_owned(), reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: `{}`", self.line, self.reason, self.text)
    }
}

impl std::error::Error for Error {}

/// Reads a module.
///
/// # Errors
/// What is no PTX, and declarations that the machine does not know.
pub fn parse(text: &str) -> Result<Module<'_>, Error> {
    parser::Parser::new(text)?.module()
}
