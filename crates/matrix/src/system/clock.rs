//! Whether the clock of this process is that of the kernel.

use std::time::Duration;

use nix::libc::{CLOCK_MONOTONIC, SYS_clock_gettime, syscall, timespec};
use nix::time::{ClockId, clock_gettime};

/// How much the two may differ. Both are read at once, and each is exact.
const MOST: Duration = Duration::from_millis(1);

/// Returns whether the C library, whose functions other code in this process can replace, tells the time of the kernel.
pub fn is_of_kernel() -> bool {
    let library = || clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    let before = library();
    let kernel = of_kernel();
    let after = library();
    before <= kernel + MOST && kernel <= after + MOST
}

fn of_kernel() -> Duration {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes a `timespec`, which the variable is.
    unsafe { syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_of_a_process_with_our_own_code_is_that_of_the_kernel() {
        assert!((0..100).all(|_| super::is_of_kernel()));
    }
}
