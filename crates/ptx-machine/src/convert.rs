//! Conversions between types (PTX ISA, section 9.7.9.21, `cvt`).

use crate::lanes::{LANES, Mask, Registers, Slot, each, put};

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// An unsigned integer with this number of bits.
    Unsigned(u32),
    /// A signed integer with this number of bits.
    Signed(u32),
    /// A floating-point number with this number of bits.
    Float(u32),
}

/// The rounding mode for numbers that the target type cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Rounds toward zero (`.rz`).
    Zero,
    /// Rounds toward negative infinity (`.rm`).
    Down,
    /// Rounds toward positive infinity (`.rp`).
    Up,
}

/// A conversion between two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The type of the operand.
    pub from: Number,
    /// The type of the result.
    pub to: Number,
    /// The rounding mode.
    pub rounding: Rounding,
    /// Whether the result is rounded to an integer although its type is floating-point.
    pub whole: bool,
    /// Whether integers are clamped to the range of the target type, and floating-point numbers to the range 0 to 1
    /// (`.sat`).
    pub saturates: bool,
    /// Whether subnormal single-precision numbers are replaced by zero (`.ftz`).
    pub flushes: bool,
}

impl Number {
    /// Returns the type with a PTX name. Untyped bits are unsigned integers.
    pub fn find(name: &str) -> Option<Self> {
        let bits = name.get(1..)?.parse().ok()?;
        match (name.as_bytes()[0], bits) {
            (b'u' | b'b', 8 | 16 | 32 | 64) => Some(Self::Unsigned(bits)),
            (b's', 8 | 16 | 32 | 64) => Some(Self::Signed(bits)),
            (b'f', 32 | 64) => Some(Self::Float(bits)),
            _ => None,
        }
    }

    /// Returns the width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Unsigned(bits) | Self::Signed(bits) | Self::Float(bits) => bits,
        }
    }
}

impl Conversion {
    /// Returns whether both types are integers, so that the conversion only truncates or extends.
    pub fn is_between_integers(self) -> bool {
        let integer = |number| !matches!(number, Number::Float(_));
        integer(self.from) && integer(self.to)
    }

    /// Converts the values of the lanes in `mask`. The registers may be wider than the types.
    #[inline(always)]
    pub fn execute(
        self,
        registers: &mut Registers,
        mask: Mask,
        (to, to_is_wide): (Slot, bool),
        (of, of_is_wide): (Slot, bool),
    ) {
        let operand: [u64; LANES] = match of_is_wide {
            true => registers.doubles[usize::from(of)],
            false => {
                let words = &registers.words[usize::from(of)];
                each(|lane| words[lane].into())
            }
        };
        let result = match (self.from, self.to) {
            (Number::Unsigned(width), Number::Unsigned(_) | Number::Signed(_))
                if !self.saturates =>
            {
                each(|lane| self.narrowed(operand[lane] & ones(width)))
            }
            (Number::Signed(width), Number::Unsigned(_) | Number::Signed(_)) if !self.saturates => {
                each(|lane| self.narrowed(extended(operand[lane], width) as u64))
            }
            _ => each(|lane| self.of(operand[lane])),
        };
        match to_is_wide {
            true => put::<u64>(registers, to, mask, &result),
            false => put::<u32>(registers, to, mask, &each(|lane| result[lane] as u32)),
        }
    }

    /// Truncates to the width of the target integer and extends its sign.
    #[inline(always)]
    fn narrowed(self, bits: u64) -> u64 {
        match self.to {
            Number::Signed(width) => extended(bits, width) as u64,
            to => bits & ones(to.bits()),
        }
    }

    /// Converts the bits of one lane's register.
    #[inline(always)]
    fn of(self, bits: u64) -> u64 {
        match self.from {
            Number::Unsigned(width) => self.of_integer(i128::from(bits & ones(width))),
            Number::Signed(width) => self.of_integer(i128::from(extended(bits, width))),
            Number::Float(32) => {
                let value = self.flushed(f32::from_bits(bits as u32));
                match self.to {
                    // Nothing is rounded, and a NaN keeps its bits.
                    Number::Float(32) if !self.whole && !self.saturates => {
                        u64::from(value.to_bits())
                    }
                    _ => self.of_float(f64::from(value)),
                }
            }
            Number::Float(_) => self.of_float(f64::from_bits(bits)),
        }
    }

    /// Converts an integer. Conversions to integers come here only if they saturate.
    fn of_integer(self, value: i128) -> u64 {
        match self.to {
            Number::Unsigned(width) => value.clamp(0, i128::from(ones(width))) as u64,
            Number::Signed(width) => {
                let most = i128::from(ones(width - 1));
                value.clamp(-most - 1, most) as u64
            }
            Number::Float(32) => u64::from(self.single_of_integer(value).to_bits()),
            Number::Float(_) => self.double_of_integer(value).to_bits(),
        }
    }

    fn single_of_integer(self, value: i128) -> f32 {
        let nearest = value as f32;
        let exact = nearest as i128;
        match self.rounding {
            Rounding::Zero if exact.abs() > value.abs() => toward_zero_32(nearest),
            Rounding::Down if exact > value => nearest.next_down(),
            Rounding::Up if exact < value => nearest.next_up(),
            _ => nearest,
        }
    }

    fn double_of_integer(self, value: i128) -> f64 {
        let nearest = value as f64;
        let exact = nearest as i128;
        match self.rounding {
            Rounding::Zero if exact.abs() > value.abs() => toward_zero_64(nearest),
            Rounding::Down if exact > value => nearest.next_down(),
            Rounding::Up if exact < value => nearest.next_up(),
            _ => nearest,
        }
    }

    fn of_float(self, value: f64) -> u64 {
        let value = match self.to {
            Number::Float(_) if !self.whole => value,
            _ => match self.rounding {
                Rounding::Nearest => value.round_ties_even(),
                Rounding::Zero => value.trunc(),
                Rounding::Down => value.floor(),
                Rounding::Up => value.ceil(),
            },
        };
        match self.to {
            // A conversion of a floating-point number to an integer always saturates, and NaN becomes 0.
            Number::Unsigned(width) => (value as u64).min(ones(width)),
            Number::Signed(width) => {
                let most = ones(width - 1) as i64;
                (value as i64).clamp(-most - 1, most) as u64
            }
            Number::Float(32) => {
                let value = self.flushed(self.single(value));
                u64::from(self.between_0_and_1(f64::from(value), value.to_bits().into()) as u32)
            }
            Number::Float(_) => self.between_0_and_1(value, value.to_bits()),
        }
    }

    /// Rounds a double to single precision.
    fn single(self, value: f64) -> f32 {
        let nearest = value as f32;
        let exact = f64::from(nearest);
        match self.rounding {
            Rounding::Zero if exact.abs() > value.abs() => toward_zero_32(nearest),
            Rounding::Down if exact > value => nearest.next_down(),
            Rounding::Up if exact < value => nearest.next_up(),
            _ => nearest,
        }
    }

    fn between_0_and_1(self, value: f64, bits: u64) -> u64 {
        if !self.saturates {
            return bits;
        }
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        match self.to {
            Number::Float(32) => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }

    fn flushed(self, value: f32) -> f32 {
        if self.flushes && value.is_subnormal() { 0f32.copysign(value) } else { value }
    }
}

fn toward_zero_32(value: f32) -> f32 {
    if value > 0.0 { value.next_down() } else { value.next_up() }
}

fn toward_zero_64(value: f64) -> f64 {
    if value > 0.0 { value.next_down() } else { value.next_up() }
}

/// Returns a number whose `width` lowest bits are 1.
#[inline(always)]
fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Interprets the `width` lowest bits as a signed integer.
#[inline(always)]
fn extended(bits: u64, width: u32) -> i64 {
    (bits << (64 - width)) as i64 >> (64 - width)
}
