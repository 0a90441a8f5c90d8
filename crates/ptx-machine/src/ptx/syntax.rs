//! The statements of a PTX text and their operands, as they are written.

#[derive(Debug, Default)]
pub struct Module<'a> {
    pub text: &'a str,
    pub files: Vec<(u64, &'a str)>,
    /// The variables outside functions.
    pub variables: Vec<Variable<'a>>,
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Module<'a> {
    /// Returns the variables in global and constant memory.
    pub fn variables_in_memory(&self) -> impl Iterator<Item = &Variable<'a>> {
        self.variables.iter().filter(|variable| variable.space != "shared")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    pub name: &'a str,
    /// The state space, for example `shared`.
    pub space: &'a str,
    /// The type of the elements, for example `.f32`.
    pub kind: &'a str,
    pub alignment: usize,
    /// The size in bytes; 0 for an array without a declared size (dynamic shared memory).
    pub bytes: usize,
    /// The first bytes of the initial value; in global and constant memory the others are zero.
    pub initial: Vec<u8>,
}

/// A kernel: an `.entry` directive with its body.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    pub name: &'a str,
    pub parameters: Vec<Variable<'a>>,
    /// The maximum number of threads per block, if the kernel declares it (`.maxntid`, `.reqntid`).
    pub max_threads: Option<usize>,
    pub registers: Vec<Registers<'a>>,
    /// The variables in shared and local memory.
    pub variables: Vec<Variable<'a>>,
    pub statements: Vec<Statement<'a>>,
    /// The labels: the name and the index of the next statement.
    pub labels: Vec<(&'a str, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registers<'a> {
    /// The name, without the number if several registers are declared.
    pub name: &'a str,
    /// The number of registers, numbered from 0; `None` for a single register with exactly this name.
    pub count: Option<u64>,
    /// The type, for example `.b32`.
    pub kind: &'a str,
}

#[derive(Debug)]
pub struct Statement<'a> {
    /// The line in the PTX text, from 1.
    pub line: usize,
    pub place: Place,
    pub guard: Option<Operand<'a>>,
    /// The name with its modifiers, for example `ld.global.nc.f64`.
    pub opcode: &'a str,
    pub operands: Vec<Operand<'a>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the file and the line; 0 if unknown.
    pub at: (u64, u64),
    /// The file and line of the call through which it was inlined.
    pub inlined_at: Option<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register (`%r1`), a special register (`%tid.x`), or the symbol of a variable or a label.
    Name(&'a str),
    /// A negated predicate: `!%p1`.
    Not(&'a str),
    /// The bits of an integer of 64 bits, or of a floating-point number of the size in its notation.
    Number(u64),
    /// An address: a name or a number, and an offset in bytes.
    Address(Box<Operand<'a>>, i64),
    Vector(Vec<Operand<'a>>),
    /// Two destinations: `%r1|%p2`.
    Pair(&'a str, &'a str),
}

impl Operand<'_> {
    /// Returns the operands in braces, or the only one.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::Vector(elements) => elements,
            single => std::slice::from_ref(single),
        }
    }
}

/// Returns the message of an error in a line of a PTX text, counted from 1.
pub fn error_at(text: &str, line: usize, reason: &str) -> String {
    let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
    format!("line {line}: {reason}: `{shown}`")
}
