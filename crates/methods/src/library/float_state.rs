//! The floating-point state of a thread: how its computations round, and whether they treat subnormal numbers as zero.
//!
//! A library that was built with `-Ofast` or `-ffast-math` can change the state of the thread that opens it, and
//! threads started later inherit the change. All methods on matrices with subnormal numbers would then be faster and
//! less exact. Therefore the state in which Linux starts a program is restored after code of others has run.

/// A part of the control registers: the register, the bits, their value when a program starts, and their name.
type Part = (usize, u64, u64, &'static str);

/// Restores the state of a starting program in the calling thread. Returns the names of the parts that differed.
pub fn restore() -> Option<String> {
    let now = registers::get();
    let (mut names, mut starting) = (Vec::new(), [0; registers::COUNT]);
    for (register, bits, normal, name) in registers::PARTS {
        starting[register] |= normal;
        if now[register] & bits != normal {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    registers::set(starting);
    Some(names.join(", "))
}

/// MXCSR and the control word of the x87 unit (Intel's manual, volume 1, sections 10.2.3 and 8.1.5).
#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::asm;

    use crate::library::float_state::Part;

    pub const COUNT: usize = 2;
    pub const PARTS: [Part; 6] = [
        (0, 1 << 15, 0, "flush-to-zero (FTZ)"),
        (0, 1 << 6, 0, "denormals-are-zero (DAZ)"),
        (0, 3 << 13, 0, "the rounding mode"),
        (0, 0x1f80, 0x1f80, "floating-point exceptions"),
        (1, 0x0f00, 0x0300, "precision or rounding mode of x87"),
        (1, 0x003f, 0x003f, "floating-point exceptions of x87"),
    ];

    pub fn get() -> [u64; COUNT] {
        let (mut vector, mut x87) = (0u32, 0u16);
        // SAFETY: stores the control registers into the two variables.
        unsafe {
            asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut vector, in(reg) &raw mut x87,
                options(nostack, preserves_flags));
        }
        [vector.into(), x87.into()]
    }

    /// The sticky flags of past exceptions are cleared, because a flag of an exception that is not masked would raise
    /// it.
    pub fn set([vector, x87]: [u64; COUNT]) {
        let (vector, x87) = (vector as u32, x87 as u16);
        // SAFETY: the bits are those of `PARTS`, none of which is reserved.
        unsafe {
            asm!("fnclex", "ldmxcsr [{}]", "fldcw [{}]", in(reg) &raw const vector, in(reg) &raw const x87,
                options(nostack, preserves_flags));
        }
    }
}

/// FPCR (Arm's manual, section C5.2.8).
#[cfg(target_arch = "aarch64")]
mod registers {
    use std::arch::asm;

    use crate::library::float_state::Part;

    pub const COUNT: usize = 1;
    pub const PARTS: [Part; 4] = [
        (0, 1 << 24 | 1 << 19, 0, "flush-to-zero (FZ)"),
        (0, 1 << 25, 0, "default NaN (DN)"),
        (0, 3 << 22, 0, "the rounding mode"),
        (0, 0x9f00, 0, "floating-point exceptions"),
    ];

    pub fn get() -> [u64; COUNT] {
        let bits: u64;
        // SAFETY: reads the control register.
        unsafe { asm!("mrs {}, fpcr", out(reg) bits, options(nomem, nostack, preserves_flags)) };
        [bits]
    }

    pub fn set([bits]: [u64; COUNT]) {
        // SAFETY: the bits are those of `PARTS`, none of which is reserved.
        unsafe { asm!("msr fpcr, {}", in(reg) bits, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Each part is changed alone.
    #[test]
    fn every_part_is_found_and_restored() {
        assert_eq!(std::thread::spawn(restore).join().unwrap(), None, "a new thread");
        // Exceptions stay masked, because the rest of the test would raise them.
        let is_harmless = |(.., name): &Part| !name.contains("exceptions");
        for (register, bits, _, name) in registers::PARTS.into_iter().filter(is_harmless) {
            let mut changed = registers::get();
            changed[register] ^= bits;
            registers::set(changed);
            assert_eq!(restore().as_deref(), Some(name));
            assert_eq!(restore(), None);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_subnormal_number_is_not_flushed_after_restoring() {
        // The compiler must not move the division to another place.
        let halved = || black_box(black_box(f64::MIN_POSITIVE) / 2.0);
        let normal = registers::get();
        registers::set([normal[0] | 1 << 15, normal[1]]);
        let flushed = halved();
        assert_eq!(restore().as_deref(), Some("flush-to-zero (FTZ)"));
        assert_eq!((flushed, halved() > 0.0), (0.0, true));
    }
}
