//! The registers of a warp, and helpers that apply a function of one lane to all lanes.
//!
//! A register stores the values of all 32 lanes contiguously, so that the compiler vectorises the loops over lanes.

/// The number of lanes of a warp.
pub const LANES: usize = 32;
/// A set of lanes: one bit for each lane.
pub type Mask = u32;
/// The index of a register in its bank.
pub type Slot = u16;

/// The registers of a warp: one bank for each register size.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// The predicate registers, with one bit for each lane.
    pub predicates: Vec<Mask>,
    /// The registers of at most 32 bits.
    pub words: Vec<[u32; LANES]>,
    /// The registers of 64 bits.
    pub doubles: Vec<[u64; LANES]>,
}

/// The type of one lane's bits in a register: `u32` or `u64`.
pub trait Bits: Copy + Default + PartialEq {
    /// Returns the bank of registers of this size.
    fn bank(registers: &Registers) -> &[[Self; LANES]];
    /// Returns the mutable bank of registers of this size.
    fn bank_mut(registers: &mut Registers) -> &mut [[Self; LANES]];
}

impl Bits for u32 {
    #[inline(always)]
    fn bank(registers: &Registers) -> &[[Self; LANES]] {
        &registers.words
    }

    #[inline(always)]
    fn bank_mut(registers: &mut Registers) -> &mut [[Self; LANES]] {
        &mut registers.words
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn bank(registers: &Registers) -> &[[Self; LANES]] {
        &registers.doubles
    }

    #[inline(always)]
    fn bank_mut(registers: &mut Registers) -> &mut [[Self; LANES]] {
        &mut registers.doubles
    }
}

/// The type of one lane's value in an instruction.
pub trait Lane: Copy {
    /// The type of the register's bits.
    type Bits: Bits;
    /// Returns the value of a register's bits. Bits above the width of the type are ignored.
    fn of(bits: Self::Bits) -> Self;
    /// Returns the value as the bits of a register.
    fn bits(self) -> Self::Bits;
}

macro_rules! integers {
    ($($lane:ty: $bits:ty),*) => {$(
        impl Lane for $lane {
            type Bits = $bits;
            #[inline(always)]
            fn of(bits: $bits) -> Self {
                bits as $lane
            }
            #[inline(always)]
            fn bits(self) -> $bits {
                self as $bits
            }
        }
    )*};
}
integers!(u16: u32, i16: u32, u32: u32, i32: u32, u64: u64, i64: u64);

macro_rules! floats {
    ($($lane:ty: $bits:ty),*) => {$(
        impl Lane for $lane {
            type Bits = $bits;
            #[inline(always)]
            fn of(bits: $bits) -> Self {
                <$lane>::from_bits(bits)
            }
            #[inline(always)]
            fn bits(self) -> $bits {
                self.to_bits()
            }
        }
    )*};
}
floats!(f32: u32, f64: u64);

/// A single-precision number with the modifier `.ftz`: subnormal operands and results are replaced by zero of the
/// same sign.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Flushed(pub f32);

impl Flushed {
    #[inline(always)]
    fn flushed(value: f32) -> f32 {
        if value.is_subnormal() { 0f32.copysign(value) } else { value }
    }
}

impl Lane for Flushed {
    type Bits = u32;
    #[inline(always)]
    fn of(bits: u32) -> Self {
        Self(Self::flushed(f32::from_bits(bits)))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        Self::flushed(self.0).to_bits()
    }
}

/// The registers and lanes of an instruction.
pub struct Call<'a> {
    /// The registers of the warp.
    pub registers: &'a mut Registers,
    /// The lanes that execute the instruction.
    pub mask: Mask,
    /// The destination register.
    pub to: Slot,
    /// The operand registers.
    pub of: [Slot; 4],
}

impl Call<'_> {
    #[inline(always)]
    fn row<T: Lane>(&self, operand: usize) -> &[T::Bits; LANES] {
        &T::Bits::bank(self.registers)[usize::from(self.of[operand])]
    }

    /// Writes the result of a function of one operand.
    #[inline(always)]
    pub fn one<A: Lane, R: Lane>(self, f: impl Fn(A) -> R) {
        let x = self.row::<A>(0);
        let result = each(|lane| f(A::of(x[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// Writes the result of a function of two operands.
    #[inline(always)]
    pub fn two<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        let (x, y) = (self.row::<A>(0), self.row::<B>(1));
        let result = each(|lane| f(A::of(x[lane]), B::of(y[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// Writes the result of a function of three operands.
    #[inline(always)]
    pub fn three<A: Lane, B: Lane, C: Lane, R: Lane>(self, f: impl Fn(A, B, C) -> R) {
        let (x, y, z) = (self.row::<A>(0), self.row::<B>(1), self.row::<C>(2));
        let result = each(|lane| f(A::of(x[lane]), B::of(y[lane]), C::of(z[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// Writes the result of a function of four operands.
    #[inline(always)]
    pub fn four<A: Lane, B: Lane, C: Lane, D: Lane, R: Lane>(self, f: impl Fn(A, B, C, D) -> R) {
        let (x, y) = (self.row::<A>(0), self.row::<B>(1));
        let (z, w) = (self.row::<C>(2), self.row::<D>(3));
        let result =
            each(|lane| f(A::of(x[lane]), B::of(y[lane]), C::of(z[lane]), D::of(w[lane])).bits());
        self.put::<R::Bits>(result);
    }

    #[inline(always)]
    fn put<B: Bits>(self, result: [B; LANES]) {
        put(self.registers, self.to, self.mask, &result);
    }
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

/// Returns the lanes for which a condition holds.
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
