//! The same code compiled for several sets of vector instructions, of which the processor's best is used.
//! What it computes is the same.

use crate::arithmetic::{self, Function, Type};
use crate::compare::{self, Relation};
use crate::convert::Conversion;
use crate::lanes::{Call, Mask, Registers, Slot};

/// What is compiled once for each set, and not into each place that needs it: compiling takes minutes else.
pub trait Vectors {
    /// See [`arithmetic::execute`].
    fn compute(function: Function, kind: Type, call: Call);
    /// See [`Conversion::execute`].
    fn convert(
        conversion: Conversion,
        registers: &mut Registers,
        mask: Mask,
        to: (Slot, bool),
        of: (Slot, bool),
    );
    /// See [`compare::compare`].
    fn compare(registers: &Registers, relation: Relation, kind: Type, of: [Slot; 2]) -> Mask;
}

macro_rules! vectors {
    ($(#[doc = $doc:literal] $(#[$features:meta])? $name:ident)*) => {$(
        #[doc = $doc]
        ///
        /// Only who has found that the processor has these instructions may name it.
        pub struct $name;

        #[allow(unused_unsafe)]
        impl Vectors for $name {
            #[inline(always)]
            fn compute(function: Function, kind: Type, call: Call) {
                $(#[$features])?
                fn compute(function: Function, kind: Type, call: Call) {
                    arithmetic::execute(function, kind, call);
                }
                // SAFETY: the processor has these instructions.
                unsafe { compute(function, kind, call) }
            }

            #[inline(always)]
            fn convert(
                conversion: Conversion,
                registers: &mut Registers,
                mask: Mask,
                to: (Slot, bool),
                of: (Slot, bool),
            ) {
                $(#[$features])?
                fn convert(
                    conversion: Conversion,
                    registers: &mut Registers,
                    mask: Mask,
                    to: (Slot, bool),
                    of: (Slot, bool),
                ) {
                    conversion.execute(registers, mask, to, of);
                }
                // SAFETY: the processor has these instructions.
                unsafe { convert(conversion, registers, mask, to, of) }
            }

            #[inline(always)]
            fn compare(registers: &Registers, relation: Relation, kind: Type, of: [Slot; 2]) -> Mask {
                $(#[$features])?
                fn compare(
                    registers: &Registers,
                    relation: Relation,
                    kind: Type,
                    of: [Slot; 2],
                ) -> Mask {
                    compare::compare(registers, relation, kind, of)
                }
                // SAFETY: the processor has these instructions.
                unsafe { compare(registers, relation, kind, of) }
            }
        }
    )*};
}

vectors! {
    #[doc = "Those that every processor of its kind has."]
    Plain
}

#[cfg(target_arch = "x86_64")]
vectors! {
    #[doc = "Registers of 256 bits."]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    Avx2
    #[doc = "Registers of 512 bits, and masks."]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,bmi1,bmi2,lzcnt,popcnt")]
    Avx512
}
