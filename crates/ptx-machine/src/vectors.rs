//! The functions that compute the results of PTX instructions, compiled for several sets of vector instructions of
//! the host processor. The results do not depend on the set.
//!
//! # Safety
//! [`Avx2`] and [`Avx512`] contain functions with `#[target_feature]`, which must not be called on a processor
//! without these instructions. The only check is in [`Engine::run`](crate::warp::Engine::run): it detects the
//! features of the processor once per turn of a warp, and only then uses `Avx512` or `Avx2` as the type parameter of
//! its loop. No other code may name these two types; they are private to this crate.

use crate::arithmetic::{self, Function, Type};
use crate::compare::{self, Relation};
use crate::convert::Conversion;
use crate::lanes::{Call, Mask, Registers, Slot};

/// The large functions, compiled once for each instruction set. They are not inlined at their callers, because
/// compiling would take minutes.
pub trait Vectors {
    /// Calls [`arithmetic::execute`].
    fn compute(function: Function, kind: Type, call: Call);
    /// Calls [`Conversion::execute`].
    fn convert(
        conversion: Conversion,
        registers: &mut Registers,
        mask: Mask,
        to: (Slot, bool),
        of: (Slot, bool),
    );
    /// Calls [`compare::compare`].
    fn compare(registers: &Registers, relation: Relation, kind: Type, of: [Slot; 2]) -> Mask;
}

macro_rules! vectors {
    ($(#[doc = $doc:literal] $(#[$features:meta])? $name:ident)*) => {$(
        #[doc = $doc]
        ///
        /// Use this type only after checking that the processor has these instructions (see the module's comment).
        pub struct $name;

        #[allow(unused_unsafe)]
        impl Vectors for $name {
            #[inline(always)]
            fn compute(function: Function, kind: Type, call: Call) {
                $(#[$features])?
                fn compute(function: Function, kind: Type, call: Call) {
                    arithmetic::execute(function, kind, call);
                }
                // SAFETY: `Engine::run` uses this type only if the processor has these instructions.
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
                // SAFETY: `Engine::run` uses this type only if the processor has these instructions.
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
                // SAFETY: `Engine::run` uses this type only if the processor has these instructions.
                unsafe { compare(registers, relation, kind, of) }
            }
        }
    )*};
}

vectors! {
    #[doc = "The instructions that every processor of the target architecture has."]
    Plain
}

#[cfg(target_arch = "x86_64")]
vectors! {
    #[doc = "AVX2: registers of 256 bits."]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    Avx2
    #[doc = "AVX-512: registers of 512 bits, and mask registers."]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,bmi1,bmi2,lzcnt,popcnt")]
    Avx512
}
