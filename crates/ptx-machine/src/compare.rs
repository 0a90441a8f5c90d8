//! Comparisons (PTX ISA, section 9.7.6): a relation between two values for each lane.

use crate::arithmetic::Type;
use crate::lanes::{Flushed, LANES, Lane, Mask, Registers, Slot, which};

/// A relation between two values: the orders of the values in which it holds. They are `unordered` if one is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl Relation {
    pub fn find(name: &str) -> Option<Self> {
        let orders = match name {
            "eq" => "=",
            "ne" => "<>",
            "lt" | "lo" => "<",
            "le" | "ls" => "<=",
            "gt" | "hi" => ">",
            "ge" | "hs" => ">=",
            "equ" => "=?",
            "neu" => "<>?",
            "ltu" => "<?",
            "leu" => "<=?",
            "gtu" => ">?",
            "geu" => ">=?",
            "num" => "<=>",
            "nan" => "?",
            _ => return None,
        };
        let [less, equal, greater, unordered] =
            ['<', '=', '>', '?'].map(|order| orders.contains(order));
        Some(Self { less, equal, greater, unordered })
    }

    #[inline(always)]
    fn lanes<T: Lane<Value: PartialOrd>>(self, x: &[T::Bits; LANES], y: &[T::Bits; LANES]) -> Mask {
        let (x, y) = (|lane: usize| T::of(x[lane]), |lane: usize| T::of(y[lane]));
        let mut holds = 0;
        if self.less {
            holds |= which(|lane| x(lane) < y(lane));
        }
        if self.equal {
            holds |= which(|lane| x(lane) == y(lane));
        }
        if self.greater {
            holds |= which(|lane| x(lane) > y(lane));
        }
        if self.unordered {
            holds |= which(|lane| x(lane).partial_cmp(&y(lane)).is_none());
        }
        holds
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
