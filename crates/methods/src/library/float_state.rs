//! The floating-point state of a thread: how its computations round, and whether they treat subnormal numbers as zero.
//!
//! A library that was built with `-Ofast` or `-ffast-math` can change the state of the thread that opens it, and threads
//! started later inherit the change. All methods on matrices with subnormal numbers would then be faster and less exact.
//! Therefore the state in which Linux starts a program is restored after code of others has run.

/// A part of the control registers, its name, and the value that it has when a program starts.
struct Part {
    register: usize,
    bits: u64,
    normal: u64,
    name: &'static str,
}

impl Part {
    const fn of(register: usize, bits: u64, normal: u64, name: &'static str) -> Self {
        Self { register, bits, normal, name }
    }
}

/// Restores the state in which a program starts in the calling thread. Returns the names of the parts that were
/// different.
pub fn restore() -> Option<String> {
    let now = registers::get();
    let changed =
        registers::PARTS.iter().filter(|part| now[part.register] & part.bits != part.normal);
    let names: Vec<_> = changed.map(|part| part.name).collect();
    if names.is_empty() {
        return None;
    }
    let mut normal = [0; registers::COUNT];
    registers::PARTS.iter().for_each(|part| normal[part.register] |= part.normal);
    registers::set(normal);
    Some(names.join(", "))
}

/// MXCSR and the control word of the x87 unit (Intel's manual, volume 1, sections 10.2.3 and 8.1.5).
#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::asm;

    use super::Part;

    pub const COUNT: usize = 2;
    pub const PARTS: [Part; 6] = [
        Part::of(0, 1 << 15, 0, "flush-to-zero (FTZ)"),
        Part::of(0, 1 << 6, 0, "denormals-are-zero (DAZ)"),
        Part::of(0, 3 << 13, 0, "the rounding mode"),
        Part::of(0, 0x1f80, 0x1f80, "floating-point exceptions"),
        Part::of(1, 0x0f00, 0x0300, "precision or rounding mode of x87"),
        Part::of(1, 0x003f, 0x003f, "floating-point exceptions of x87"),
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

    /// The sticky flags of past exceptions are cleared, because a flag of an exception that is not masked would raise it.
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

    use super::Part;

    pub const COUNT: usize = 1;
    pub const PARTS: [Part; 4] = [
        Part::of(0, 1 << 24 | 1 << 19, 0, "flush-to-zero (FZ)"),
        Part::of(0, 1 << 25, 0, "default NaN (DN)"),
        Part::of(0, 3 << 22, 0, "the rounding mode"),
        Part::of(0, 0x9f00, 0, "floating-point exceptions"),
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
        let is_harmless = |part: &&Part| !part.name.contains("exceptions");
        for part in registers::PARTS.iter().filter(is_harmless) {
            let mut changed = registers::get();
            changed[part.register] ^= part.bits;
            registers::set(changed);
            assert_eq!(restore().as_deref(), Some(part.name));
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
