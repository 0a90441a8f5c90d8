//! The registers of a warp, and helpers that apply a function of one lane to all lanes.
//!
//! A register stores the values of all 32 lanes contiguously, so that the compiler vectorises the loops over lanes.

pub const LANES: usize = 32;
/// A set of lanes: one bit for each lane.
pub type Mask = u32;
/// The index of a register in its bank.
pub type Slot = u16;

/// The registers of a warp: one bank for each register size.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    pub predicates: Vec<Mask>,
    /// The registers of at most 32 bits.
    pub words: Vec<[u32; LANES]>,
    /// The registers of 64 bits.
    pub doubles: Vec<[u64; LANES]>,
}

impl Registers {
    /// Returns a lane's value in a register of 64 bits (`wide`) or 32 bits.
    #[inline(always)]
    pub fn value(&self, wide: bool, slot: Slot, lane: usize) -> u64 {
        if wide {
            self.doubles[usize::from(slot)][lane]
        } else {
            self.words[usize::from(slot)][lane].into()
        }
    }

    #[inline(always)]
    pub fn set_value(&mut self, wide: bool, slot: Slot, lane: usize, value: u64) {
        if wide {
            self.doubles[usize::from(slot)][lane] = value;
        } else {
            self.words[usize::from(slot)][lane] = value as u32;
        }
    }

    /// Returns the lanes in which a predicate is true, or false if it is `negated`.
    #[inline(always)]
    pub fn predicate(&self, (slot, negated): (Slot, bool)) -> Mask {
        let holds = self.predicates[usize::from(slot)];
        if negated { !holds } else { holds }
    }

    #[inline(always)]
    pub fn set_predicate(&mut self, to: Slot, mask: Mask, holds: Mask) {
        let predicate = &mut self.predicates[usize::from(to)];
        *predicate = *predicate & !mask | holds & mask;
    }
}

/// The type of one lane's bits in a register.
pub trait Bits: Copy + Default + PartialEq {
    fn bank(registers: &Registers) -> &[[Self; LANES]];
    fn bank_mut(registers: &mut Registers) -> &mut [[Self; LANES]];
}

macro_rules! bits {
    ($bits:ty, $bank:ident) => {
        impl Bits for $bits {
            #[inline(always)]
            fn bank(registers: &Registers) -> &[[Self; LANES]] {
                &registers.$bank
            }
            #[inline(always)]
            fn bank_mut(registers: &mut Registers) -> &mut [[Self; LANES]] {
                &mut registers.$bank
            }
        }
    };
}
bits!(u32, words);
bits!(u64, doubles);

/// The type of an operand or a result of an instruction.
pub trait Lane {
    type Bits: Bits;
    type Value: Copy;
    /// Returns the value of a register's bits. Bits above the width of the type are ignored.
    fn of(bits: Self::Bits) -> Self::Value;
    fn bits(value: Self::Value) -> Self::Bits;
}

/// A single-precision number with the modifier `.ftz`: subnormal operands and results are replaced by zero of the
/// same sign.
pub struct Flushed;

macro_rules! lane {
    ($lane:ty: $value:ty, $bits:ty, $of:expr, $back:expr) => {
        impl Lane for $lane {
            type Bits = $bits;
            type Value = $value;
            #[inline(always)]
            fn of(bits: $bits) -> $value {
                $of(bits)
            }
            #[inline(always)]
            fn bits(value: $value) -> $bits {
                $back(value)
            }
        }
    };
}
lane!(u16: u16, u32, |bits| bits as u16, |value| value as u32);
lane!(i16: i16, u32, |bits| bits as i16, |value| value as u32);
lane!(u32: u32, u32, |bits| bits, |value| value);
lane!(i32: i32, u32, |bits| bits as i32, |value| value as u32);
lane!(u64: u64, u64, |bits| bits, |value| value);
lane!(i64: i64, u64, |bits| bits as i64, |value| value as u64);
lane!(f32: f32, u32, f32::from_bits, f32::to_bits);
lane!(f64: f64, u64, f64::from_bits, f64::to_bits);
lane!(Flushed: f32, u32, |bits| flushed(f32::from_bits(bits)), |value| flushed(value).to_bits());

/// Replaces a subnormal number by zero of the same sign.
#[inline(always)]
pub fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

/// Returns a number whose `length` lowest bits are 1 (at most 64).
#[inline(always)]
pub fn ones(length: u32) -> u64 {
    if length >= 64 { !0 } else { (1 << length) - 1 }
}

/// Interprets the `width` lowest bits as a signed integer.
#[inline(always)]
pub fn extended(bits: u64, width: u32) -> i64 {
    (bits << (64 - width)) as i64 >> (64 - width)
}

/// Returns the results of a function for all lanes. It is a loop because closures in `std::array::from_fn`, `map`
/// and `fold` are often compiled separately, without the vector instructions of the enclosing function.
#[inline(always)]
pub fn each<B: Copy + Default>(mut f: impl FnMut(usize) -> B) -> [B; LANES] {
    let mut all = [B::default(); LANES];
    for (lane, value) in all.iter_mut().enumerate() {
        *value = f(lane);
    }
    all
}

#[inline(always)]
pub fn which(holds: impl Fn(usize) -> bool) -> Mask {
    let mut mask = 0;
    for lane in 0..LANES {
        mask |= Mask::from(holds(lane)) << lane;
    }
    mask
}

/// Writes the values of the lanes in `mask` to a register. The other lanes keep their values.
#[inline(always)]
pub fn put<B: Bits>(registers: &mut Registers, to: Slot, mask: Mask, values: &[B; LANES]) {
    let row = &mut B::bank_mut(registers)[usize::from(to)];
    if mask == Mask::MAX {
        *row = *values;
    } else {
        for lane in 0..LANES {
            row[lane] = if mask >> lane & 1 == 1 { values[lane] } else { row[lane] };
        }
    }
}

/// Returns the lanes of a mask in ascending order.
#[inline(always)]
pub fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}
