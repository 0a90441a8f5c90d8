//! Arithmetic and logical instructions: a table with their names, operands, types and results (PTX ISA, sections
//! 9.7.1 to 9.7.8). `T` is the type at the end of the instruction's name.
//!
//! Floating-point results are those of IEEE 754 with fused multiply-add, as PTX requires for `.rn`. The bits of a
//! NaN result are unspecified. Approximate instructions (`.approx`) return the nearest number, which is within the
//! error bounds of PTX.

use crate::lanes::{Bits, Flushed, LANES, Lane, Mask, Registers, Slot, each, ones, put, which};

/// The type of an instruction. Untyped bits such as `.b32` are treated as unsigned integers.
#[allow(non_camel_case_types)] // the names are those of Rust's types
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    f32,
    f64,
    /// `.f32` with the modifier `.ftz`.
    Flushed,
}

impl Type {
    /// Returns the type with a PTX name, without the leading dot. Untyped bits are unsigned integers.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "u16" | "b16" => Self::u16,
            "s16" => Self::i16,
            "u32" | "b32" => Self::u32,
            "s32" => Self::i32,
            "u64" | "b64" => Self::u64,
            "s64" => Self::i64,
            "f32" => Self::f32,
            "f64" => Self::f64,
            _ => return None,
        })
    }

    pub fn is_wide(self) -> bool {
        matches!(self, Self::u64 | Self::i64 | Self::f64)
    }
}

/// Computes a function of registers for the lanes in `$mask`.
macro_rules! apply {
    ($registers:ident, $mask:ident, $to:ident, $of:ident, $body:block, $result:ty,
        ($($x:ident: $a:ty),+)) => {{
        let [$($x,)+ ..] = $of;
        $(let $x = &<$a as Lane>::Bits::bank($registers)[usize::from($x)];)+
        let result = each(|lane| {
            $(let $x = <$a as Lane>::of($x[lane]);)+
            <$result as Lane>::bits($body)
        });
        put($registers, $to, $mask, &result)
    }};
}

macro_rules! widths {
    ($($x:ident: $a:ty),+) => {
        &[$(wide::<$a>()),+] as &[bool]
    };
}

const fn wide<L: Lane>() -> bool {
    size_of::<L::Bits>() == 8
}

macro_rules! table {
    ($($function:ident $name:literal $operands:tt -> $result:ty,
        $($kind:ident)+ => $body:block)*) => {
        /// The function of an instruction, named after PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function {
            $($function,)*
        }

        pub fn find(name: &str, kind: Type) -> Option<Function> {
            match (name, kind) {
                $($(($name, Type::$kind) => Some(Function::$function),)+)*
                _ => None,
            }
        }

        /// Returns the sizes of the registers of the result and the operands: true for 64 bits.
        pub fn widths(function: Function, kind: Type) -> (bool, &'static [bool]) {
            match (function, kind) {
                $($((Function::$function, Type::$kind) => {
                    #[allow(dead_code)]
                    type T = $kind;
                    const { (wide::<$result>(), widths! $operands) }
                })+)*
                _ => unreachable!("`find` returns no other pair"),
            }
        }

        #[inline(always)]
        pub fn execute(
            function: Function,
            kind: Type,
            registers: &mut Registers,
            mask: Mask,
            to: Slot,
            of: [Slot; 4],
        ) {
            match (function, kind) {
                $($((Function::$function, Type::$kind) => {
                    #[allow(dead_code)]
                    type T = $kind;
                    apply!(registers, mask, to, of, $body, $result, $operands)
                })+)*
                _ => unreachable!("`find` returns no other pair"),
            }
        }
    };
}

table! {
    Move "mov" (x: T) -> T, u16 i16 u32 i32 u64 i64 f32 f64 => { x }

    Add "add" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.wrapping_add(y) }
    AddSaturated "add.sat" (x: T, y: T) -> T, i32 => { x.saturating_add(y) }
    Sub "sub" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.wrapping_sub(y) }
    SubSaturated "sub.sat" (x: T, y: T) -> T, i32 => { x.saturating_sub(y) }
    Mul "mul.lo" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.wrapping_mul(y) }
    MulHigh "mul.hi" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.high(y) }
    MulWide "mul.wide" (x: T, y: T) -> <T as Integer>::Wide, u16 i16 u32 i32 => { x.product(y) }
    Mad "mad.lo" (x: T, y: T, z: T) -> T, u16 i16 u32 i32 u64 i64 => {
        x.wrapping_mul(y).wrapping_add(z)
    }
    MadHigh "mad.hi" (x: T, y: T, z: T) -> T, u16 i16 u32 i32 u64 i64 => {
        x.high(y).wrapping_add(z)
    }
    MadWide "mad.wide" (x: T, y: T, z: <T as Integer>::Wide) -> <T as Integer>::Wide,
        u16 i16 u32 i32 => { x.product(y).wrapping_add(z) }
    SumOfDifference "sad" (x: T, y: T, z: T) -> T, u16 i16 u32 i32 u64 i64 => {
        z.wrapping_add(if x < y { y.wrapping_sub(x) } else { x.wrapping_sub(y) })
    }
    Div "div" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => {
        if y == 0 { !0 } else { x.wrapping_div(y) }
    }
    Rem "rem" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => {
        if y == 0 { x } else { x.wrapping_rem(y) }
    }
    Abs "abs" (x: T) -> T, i16 i32 i64 => { x.wrapping_abs() }
    Neg "neg" (x: T) -> T, i16 i32 i64 => { x.wrapping_neg() }
    Min "min" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.min(y) }
    Max "max" (x: T, y: T) -> T, u16 i16 u32 i32 u64 i64 => { x.max(y) }

    And "and" (x: T, y: T) -> T, u16 u32 u64 => { x & y }
    Or "or" (x: T, y: T) -> T, u16 u32 u64 => { x | y }
    Xor "xor" (x: T, y: T) -> T, u16 u32 u64 => { x ^ y }
    Not "not" (x: T) -> T, u16 u32 u64 => { !x }
    IsZero "cnot" (x: T) -> T, u16 u32 u64 => { T::from(x == 0) }
    Logic "lop3" (x: T, y: T, z: T, table: T) -> T, u32 => {
        (0..8).filter(|row| table >> row & 1 == 1).fold(0, |result, row| {
            let of = |bits: u32, bit: u32| if row >> bit & 1 == 1 { bits } else { !bits };
            result | of(x, 2) & of(y, 1) & of(z, 0)
        })
    }
    ShiftLeft "shl" (x: T, y: u32) -> T, u16 u32 u64 => { x.checked_shl(y).unwrap_or(0) }
    ShiftRight "shr" (x: T, y: u32) -> T, u16 u32 u64 => { x.checked_shr(y).unwrap_or(0) }
    ShiftRightSigned "shr" (x: T, y: u32) -> T, i16 i32 i64 => { x >> y.min(T::BITS - 1) }
    FunnelLeft "shf.l.wrap" (x: T, y: T, z: u32) -> T, u32 => { (both(x, y) << (z & 31) >> 32) as T }
    FunnelLeftClamped "shf.l.clamp" (x: T, y: T, z: u32) -> T, u32 => {
        (u128::from(both(x, y)) << z.min(32) >> 32) as T
    }
    FunnelRight "shf.r.wrap" (x: T, y: T, z: u32) -> T, u32 => { (both(x, y) >> (z & 31)) as T }
    FunnelRightClamped "shf.r.clamp" (x: T, y: T, z: u32) -> T, u32 => {
        (both(x, y) >> z.min(32)) as T
    }
    CountOnes "popc" (x: T) -> u32, u32 u64 => { x.count_ones() }
    LeadingZeros "clz" (x: T) -> u32, u32 u64 => { x.leading_zeros() }
    Reverse "brev" (x: T) -> T, u32 u64 => { x.reverse_bits() }
    FindBit "bfind" (x: T) -> u32, u32 u64 => { (T::BITS - 1).wrapping_sub(x.leading_zeros()) }
    FindBitSigned "bfind" (x: T) -> u32, i32 i64 => {
        (T::BITS - 1).wrapping_sub(x.leading_zeros().max(x.leading_ones()))
    }
    FindShift "bfind.shiftamt" (x: T) -> u32, u32 u64 => {
        if x == 0 { !0 } else { x.leading_zeros() }
    }
    FindShiftSigned "bfind.shiftamt" (x: T) -> u32, i32 i64 => {
        let same = x.leading_zeros().max(x.leading_ones());
        if same == T::BITS { !0 } else { same }
    }
    ExtractBits "bfe" (x: T, position: u32, length: u32) -> T, u32 u64 => {
        x.checked_shr(position & 255).unwrap_or(0) & ones(length & 255) as T
    }
    ExtractBitsSigned "bfe" (x: T, position: u32, length: u32) -> T, i32 i64 => {
        let (position, length) = (position & 255, length & 255);
        let last = (position + length).saturating_sub(1).min(T::BITS - 1);
        let above = T::BITS - 1 - last;
        match length {
            0 => 0,
            _ if position > last => x >> (T::BITS - 1),
            _ => x << above >> (above + position),
        }
    }
    InsertBits "bfi" (x: T, y: T, position: u32, length: u32) -> T, u32 u64 => {
        let position = position & 255;
        let field = (ones(length & 255) as T).checked_shl(position).unwrap_or(0);
        y & !field | x.checked_shl(position).unwrap_or(0) & field
    }
    Permute "prmt" (x: T, y: T, selector: T) -> T, u32 => {
        let bytes = both(x, y).to_le_bytes();
        T::from_le_bytes(std::array::from_fn(|k| {
            let select = selector >> (4 * k);
            let byte = bytes[(select & 7) as usize];
            if select & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte }
        }))
    }
    Pack "pack" (x: u32, y: u32) -> T, u64 => { both(x, y) }
    PackHalves "pack" (x: u16, y: u16) -> T, u32 => { u32::from(x) | u32::from(y) << 16 }
    LowHalf "low" (x: T) -> <T as Integer>::Half, u32 u64 => { x as <T as Integer>::Half }
    HighHalf "high" (x: T) -> <T as Integer>::Half, u32 u64 => {
        (x >> (T::BITS / 2)) as <T as Integer>::Half
    }

    AddFloat "add" (x: T, y: T) -> T, f32 f64 Flushed => { x + y }
    SubFloat "sub" (x: T, y: T) -> T, f32 f64 Flushed => { x - y }
    MulFloat "mul" (x: T, y: T) -> T, f32 f64 Flushed => { x * y }
    Fma "fma" (x: T, y: T, z: T) -> T, f32 f64 Flushed => { x.mul_add(y, z) }
    DivFloat "div" (x: T, y: T) -> T, f32 f64 Flushed => { x / y }
    Reciprocal "rcp" (x: T) -> T, f32 f64 Flushed => { 1.0 / x }
    Root "sqrt" (x: T) -> T, f32 f64 Flushed => { x.sqrt() }
    ReciprocalRoot "rsqrt.approx" (x: T) -> T, f32 f64 Flushed => { 1.0 / x.sqrt() }
    Exponential "ex2.approx" (x: T) -> T, f32 Flushed => { x.exp2() }
    Logarithm "lg2.approx" (x: T) -> T, f32 Flushed => { x.log2() }
    Sine "sin.approx" (x: T) -> T, f32 Flushed => { x.sin() }
    Cosine "cos.approx" (x: T) -> T, f32 Flushed => { x.cos() }
    AbsFloat "abs" (x: T) -> T, f32 f64 Flushed => { x.abs() }
    NegFloat "neg" (x: T) -> T, f32 f64 Flushed => { -x }
    // If one operand is NaN, the result is the other one. -0 is smaller than +0.
    MinFloat "min" (x: T, y: T) -> T, f32 f64 Flushed => {
        if x < y || y.is_nan() || x == y && x.is_sign_negative() { x } else { y }
    }
    MaxFloat "max" (x: T, y: T) -> T, f32 f64 Flushed => {
        if x > y || y.is_nan() || x == y && x.is_sign_positive() { x } else { y }
    }
    CopySign "copysign" (x: T, y: T) -> T, f32 f64 => { y.copysign(x) }
}

/// Joins two registers into one number of 64 bits.
#[inline(always)]
fn both(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// An integer type with the types of half and twice its width.
trait Integer: Sized {
    /// The type of half the width, or of the same width if no instruction needs it.
    type Half;
    /// The type of twice the width, or of the same width if no instruction needs it.
    type Wide;
    fn product(self, other: Self) -> Self::Wide;
    /// Returns the upper half of the full product.
    fn high(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty: $half:ty, $wide:ty, $product:ty;)*) => {$(
        impl Integer for $t {
            type Half = $half;
            type Wide = $wide;
            #[inline(always)]
            fn product(self, other: Self) -> $wide {
                (self as $wide).wrapping_mul(other as $wide)
            }
            #[inline(always)]
            fn high(self, other: Self) -> Self {
                ((self as $product * other as $product) >> Self::BITS) as Self
            }
        }
    )*};
}
integers! {
    u16: u16, u32, u32;
    i16: i16, i32, i32;
    u32: u16, u64, u64;
    i32: i16, i64, i64;
    u64: u32, u64, u128;
    i64: i32, i64, i128;
}

/// A relation between two values: the orders of the values in which it holds. They are `unordered` if one is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
        let [less, equal, greater, unordered] = ['<', '=', '>', '?'].map(|it| orders.contains(it));
        Some(Self { less, equal, greater, unordered })
    }

    #[inline(always)]
    pub fn lanes<T: Lane<Value: PartialOrd>>(self, x: &[T::Bits; LANES], y: &[T::Bits; LANES]) -> Mask {
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
