//! Comparisons (PTX ISA, section 9.7.6): a relation between two values for each lane.

use crate::arithmetic::Type;
use crate::lanes::{Flushed, LANES, Lane, Mask, Registers, Slot, which};

/// A relation between two values. If an operand is NaN, the relations with `OrNaN` in their names are true and the
/// others are false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `eq`
    Equal,
    /// `ne`
    NotEqual,
    /// `lt`
    Less,
    /// `le`
    LessOrEqual,
    /// `gt`
    Greater,
    /// `ge`
    GreaterOrEqual,
    /// `equ`
    EqualOrNaN,
    /// `neu`
    NotEqualOrNaN,
    /// `ltu`
    LessOrNaN,
    /// `leu`
    LessOrEqualOrNaN,
    /// `gtu`
    GreaterOrNaN,
    /// `geu`
    GreaterOrEqualOrNaN,
    /// `num`: neither operand is NaN.
    Numbers,
    /// `nan`: at least one operand is NaN.
    SomeNaN,
}

impl Relation {
    /// Returns the relation with a PTX name.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Equal,
            "ne" => Self::NotEqual,
            "lt" | "lo" => Self::Less,
            "le" | "ls" => Self::LessOrEqual,
            "gt" | "hi" => Self::Greater,
            "ge" | "hs" => Self::GreaterOrEqual,
            "equ" => Self::EqualOrNaN,
            "neu" => Self::NotEqualOrNaN,
            "ltu" => Self::LessOrNaN,
            "leu" => Self::LessOrEqualOrNaN,
            "gtu" => Self::GreaterOrNaN,
            "geu" => Self::GreaterOrEqualOrNaN,
            "num" => Self::Numbers,
            "nan" => Self::SomeNaN,
            _ => return None,
        })
    }

    #[inline(always)]
    fn lanes<T: Lane + PartialOrd>(self, x: &[T::Bits; LANES], y: &[T::Bits; LANES]) -> Mask {
        #[inline(always)]
        fn all<T: Lane>(
            x: &[T::Bits; LANES],
            y: &[T::Bits; LANES],
            holds: impl Fn(T, T) -> bool,
        ) -> Mask {
            which(|lane| holds(T::of(x[lane]), T::of(y[lane])))
        }
        // Only NaN is not equal to itself.
        #[allow(clippy::eq_op)]
        let nan = |x: T, y: T| x != x || y != y;
        match self {
            Self::Equal => all::<T>(x, y, |x, y| x == y),
            Self::NotEqual => all::<T>(x, y, |x, y| x != y && !nan(x, y)),
            Self::Less => all::<T>(x, y, |x, y| x < y),
            Self::LessOrEqual => all::<T>(x, y, |x, y| x <= y),
            Self::Greater => all::<T>(x, y, |x, y| x > y),
            Self::GreaterOrEqual => all::<T>(x, y, |x, y| x >= y),
            Self::EqualOrNaN => all::<T>(x, y, |x, y| x == y || nan(x, y)),
            Self::NotEqualOrNaN => all::<T>(x, y, |x, y| x != y),
            Self::LessOrNaN => all::<T>(x, y, |x, y| x < y || nan(x, y)),
            Self::LessOrEqualOrNaN => all::<T>(x, y, |x, y| x <= y || nan(x, y)),
            Self::GreaterOrNaN => all::<T>(x, y, |x, y| x > y || nan(x, y)),
            Self::GreaterOrEqualOrNaN => all::<T>(x, y, |x, y| x >= y || nan(x, y)),
            Self::Numbers => all::<T>(x, y, |x, y| !nan(x, y)),
            Self::SomeNaN => all::<T>(x, y, nan),
        }
    }
}

/// Returns the lanes in which a relation between two registers holds, for active and inactive lanes.
#[inline(always)]
pub fn compare(registers: &Registers, relation: Relation, kind: Type, [x, y]: [Slot; 2]) -> Mask {
    let words = |slot: Slot| &registers.words[usize::from(slot)];
    let doubles = |slot: Slot| &registers.doubles[usize::from(slot)];
    match kind {
        Type::u16 => relation.lanes::<u16>(words(x), words(y)),
        Type::i16 => relation.lanes::<i16>(words(x), words(y)),
        Type::u32 => relation.lanes::<u32>(words(x), words(y)),
        Type::i32 => relation.lanes::<i32>(words(x), words(y)),
        Type::f32 => relation.lanes::<f32>(words(x), words(y)),
        Type::Flushed => relation.lanes::<Flushed>(words(x), words(y)),
        Type::u64 => relation.lanes::<u64>(doubles(x), doubles(y)),
        Type::i64 => relation.lanes::<i64>(doubles(x), doubles(y)),
        Type::f64 => relation.lanes::<f64>(doubles(x), doubles(y)),
    }
}
