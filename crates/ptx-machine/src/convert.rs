//! Conversions between types (PTX ISA, section 9.7.9.21, `cvt`).

use std::cmp::Ordering;

use crate::lanes::{LANES, Mask, Registers, Slot, each, extended, flushed, ones, put};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Unsigned(u32),
    Signed(u32),
    Float(u32),
}

/// The rounding mode for numbers that the target type cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    Zero,
    Down,
    Up,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub from: Number,
    pub to: Number,
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

    pub fn bits(self) -> u32 {
        match self {
            Self::Unsigned(bits) | Self::Signed(bits) | Self::Float(bits) => bits,
        }
    }
}

impl Conversion {
    /// Converts the values of the lanes in `mask`. The registers may be wider than the types.
    #[inline(always)]
    pub fn execute(
        self,
        registers: &mut Registers,
        mask: Mask,
        (to, to_is_wide): (Slot, bool),
        (of, of_is_wide): (Slot, bool),
    ) {
        let operand: [u64; LANES] = if of_is_wide {
            registers.doubles[usize::from(of)]
        } else {
            let words = &registers.words[usize::from(of)];
            each(|lane| words[lane].into())
        };
        let result = match (self.from, self.to) {
            (Number::Unsigned(width), Number::Unsigned(_) | Number::Signed(_)) if !self.saturates => {
                each(|lane| self.narrowed(operand[lane] & ones(width)))
            }
            (Number::Signed(width), Number::Unsigned(_) | Number::Signed(_)) if !self.saturates => {
                each(|lane| self.narrowed(extended(operand[lane], width) as u64))
            }
            _ => each(|lane| self.of(operand[lane])),
        };
        if to_is_wide {
            put::<u64>(registers, to, mask, &result);
        } else {
            put::<u32>(registers, to, mask, &each(|lane| result[lane] as u32));
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

    #[inline(always)]
    fn of(self, bits: u64) -> u64 {
        match self.from {
            Number::Unsigned(width) => self.of_integer(i128::from(bits & ones(width))),
            Number::Signed(width) => self.of_integer(i128::from(extended(bits, width))),
            Number::Float(32) => {
                let value = self.flushed(f32::from_bits(bits as u32));
                match self.to {
                    // Nothing is rounded, and a NaN keeps its bits.
                    Number::Float(32) if !self.whole && !self.saturates => value.to_bits().into(),
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
            Number::Float(32) => {
                let nearest = value as f32;
                let order = (nearest as i128).cmp(&value);
                let single = self.rounded(nearest, order, value < 0, f32::next_down, f32::next_up);
                single.to_bits().into()
            }
            Number::Float(_) => {
                let nearest = value as f64;
                let order = (nearest as i128).cmp(&value);
                self.rounded(nearest, order, value < 0, f64::next_down, f64::next_up).to_bits()
            }
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
                let nearest = value as f32;
                let order = f64::from(nearest).partial_cmp(&value).unwrap_or(Ordering::Equal);
                let (before, after) = (f32::next_down, f32::next_up);
                let single = self.rounded(nearest, order, value < 0.0, before, after);
                let saturated = self.saturated(self.flushed(single).into());
                (saturated as f32).to_bits().into()
            }
            Number::Float(_) => self.saturated(value).to_bits(),
        }
    }

    /// Rounds a value in the mode of the conversion: returns the number that is `nearest` to it, or the one before or
    /// after that. `order` is that of the nearest number and the value.
    fn rounded<F>(self, nearest: F, order: Ordering, is_negative: bool, before: fn(F) -> F, after: fn(F) -> F) -> F {
        match (order, self.rounding) {
            (Ordering::Greater, Rounding::Down) => before(nearest),
            (Ordering::Greater, Rounding::Zero) if !is_negative => before(nearest),
            (Ordering::Less, Rounding::Up) => after(nearest),
            (Ordering::Less, Rounding::Zero) if is_negative => after(nearest),
            _ => nearest,
        }
    }

    fn flushed(self, value: f32) -> f32 {
        if self.flushes { flushed(value) } else { value }
    }

    fn saturated(self, value: f64) -> f64 {
        match self.saturates {
            true if value.is_nan() => 0.0,
            true => value.clamp(0.0, 1.0),
            false => value,
        }
    }
}
