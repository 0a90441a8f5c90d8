//! The registers of a warp, and functions of one lane applied to all of them.
//!
//! A register holds the values of all 32 lanes side by side, so that the compiler makes vector instructions
//! of the loops over lanes.

/// Lanes of a warp.
pub const LANES: usize = 32;
/// One bit for each lane.
pub type Mask = u32;
/// The number of a register in its bank.
pub type Slot = u16;

/// The registers of a warp: one bank for each width.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// One bit for each lane.
    pub predicates: Vec<Mask>,
    /// Registers of at most 32 bits.
    pub words: Vec<[u32; LANES]>,
    /// Registers of 64 bits.
    pub doubles: Vec<[u64; LANES]>,
}

/// The bits of a register of one lane.
pub trait Bits: Copy + Default + PartialEq {
    /// The registers of this width.
    fn bank(registers: &Registers) -> &[[Self; LANES]];
    /// The same, to be changed.
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

/// A value of one lane as an instruction's type reads it.
pub trait Lane: Copy {
    /// The register that holds it.
    type Bits: Bits;
    /// The value that a register holds; bits above its width do not count.
    fn of(bits: Self::Bits) -> Self;
    /// The bits of a register that holds it.
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

/// A single-precision number whose subnormal values count as zero of the same sign, as operand and as
/// result: the modifier `.ftz`.
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

/// Where an instruction finds its operands and puts its result, and for which lanes.
pub struct Call<'a> {
    /// The warp's registers.
    pub registers: &'a mut Registers,
    /// The lanes that execute it.
    pub mask: Mask,
    /// The register of the result.
    pub to: Slot,
    /// The registers of the operands.
    pub of: [Slot; 4],
}

impl Call<'_> {
    #[inline(always)]
    fn row<T: Lane>(&self, operand: usize) -> &[T::Bits; LANES] {
        &T::Bits::bank(self.registers)[usize::from(self.of[operand])]
    }

    /// The result of a function of one operand.
    #[inline(always)]
    pub fn one<A: Lane, R: Lane>(self, f: impl Fn(A) -> R) {
        let x = self.row::<A>(0);
        let result = each(|lane| f(A::of(x[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// The result of a function of two operands.
    #[inline(always)]
    pub fn two<A: Lane, B: Lane, R: Lane>(self, f: impl Fn(A, B) -> R) {
        let (x, y) = (self.row::<A>(0), self.row::<B>(1));
        let result = each(|lane| f(A::of(x[lane]), B::of(y[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// The result of a function of three operands.
    #[inline(always)]
    pub fn three<A: Lane, B: Lane, C: Lane, R: Lane>(self, f: impl Fn(A, B, C) -> R) {
        let (x, y, z) = (self.row::<A>(0), self.row::<B>(1), self.row::<C>(2));
        let result = each(|lane| f(A::of(x[lane]), B::of(y[lane]), C::of(z[lane])).bits());
        self.put::<R::Bits>(result);
    }

    /// The result of a function of four operands.
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

/// What a function says of each lane. A loop, because closures in `std::array::from_fn`, `map` and `fold` are
/// often compiled on their own, without the wide vector instructions of the function around them.
#[inline(always)]
pub fn each<B: Copy + Default>(mut f: impl FnMut(usize) -> B) -> [B; LANES] {
    let mut all = [B::default(); LANES];
    for (lane, value) in all.iter_mut().enumerate() {
        *value = f(lane);
    }
    all
}

/// The lanes for which something holds.
#[inline(always)]
pub fn which(holds: impl Fn(usize) -> bool) -> Mask {
    let mut mask = 0;
    for lane in 0..LANES {
        mask |= Mask::from(holds(lane)) << lane;
    }
    mask
}

/// Writes the lanes of `mask`.
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

/// The lanes of a mask, in order.
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
