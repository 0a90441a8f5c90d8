//! The functions that kernel code calls, by a table to which every thread's record leads.

use std::ffi::{c_char, c_void};

use crate::thread::{Site, State, Thread, text};
use crate::warp::Operation;

/// Same order as `emu::Table` in runtime.hpp.
#[repr(C)]
pub struct Table {
    access: extern "C" fn(&Thread, usize, usize, bool, usize),
    interrupt: extern "C" fn(&Thread, usize),
    hand_over: extern "C" fn(&Thread, usize),
    barrier: extern "C" fn(&Thread, *const c_char, bool, *const c_char, u32) -> u32,
    collective:
        extern "C" fn(&Thread, *const c_char, u32, u32, u64, u32, u32, *const c_char, u32) -> u64,
    shared: extern "C" fn(&Thread, u32, usize, *const c_char) -> *mut c_void,
    dynamic: extern "C" fn(&Thread) -> *mut c_void,
    misuse: extern "C" fn(&Thread, *const c_char, *const c_char, *const c_char, u32),
    clock: extern "C" fn(&Thread) -> i64,
}

/// The only one.
pub static TABLE: Table =
    Table { access, interrupt, hand_over, barrier, collective, shared, dynamic, misuse, clock };

/// Accesses to memory that a thread may make: more than any test needs, done in a second or two.
pub const FUEL: u32 = 1 << 27;
/// Barriers and collectives that a thread may come to instead; each counts as many accesses.
pub const MEETINGS: u32 = 1 << 18;
/// Most points at which a thread could switch before it does.
const PATIENCE: usize = 8;

/// A new number of points until a thread switches.
pub fn patience(thread: &Thread) -> i32 {
    1 + thread.launch().random.below(PATIENCE) as i32
}

extern "C" fn access(thread: &Thread, address: usize, bytes: usize, write: bool, code: usize) {
    let launch = thread.launch();
    if !write && launch.kernel.constants.contains(&address) {
        return;
    }
    let verb = if write { "writes" } else { "reads" };
    let place = launch.memory.describe(address);
    launch.at.set(Some(code));
    thread.fail(format!("{verb} {bytes} bytes {place}"));
}

/// Grants a thread accesses to memory until it is interrupted again.
pub fn grant(thread: &Thread) {
    let launch = thread.launch();
    let credit = 1 + launch.random.below(launch.credit) as u32;
    thread.credit.set(credit);
    thread.granted.set(thread.granted.get() + credit);
}

/// Ends the launch when a thread has done too much, which it did at `code`.
fn check_fuel(thread: &Thread, code: Option<usize>) {
    if thread.granted.get() > FUEL {
        thread.launch().at.set(code);
        thread.fail(format!("runs without end: {FUEL} accesses to memory, or {MEETINGS} meetings"));
    }
}

extern "C" fn interrupt(thread: &Thread, code: usize) {
    let launch = thread.launch();
    grant(thread);
    check_fuel(thread, Some(code));
    if thread.polled.replace(0) == 0 {
        launch.progress.set(true);
    }
    hand_over(thread, code);
}

/// Counts a barrier or a collective.
fn meet(thread: &Thread) {
    thread.granted.set(thread.granted.get() + FUEL / MEETINGS);
    check_fuel(thread, None);
}

extern "C" fn hand_over(thread: &Thread, code: usize) {
    let launch = thread.launch();
    thread.code.set(code);
    thread.patience.set(patience(thread));
    if thread.wrote.replace(0) != 0 {
        launch.progress.set(true);
    }
    let warp = launch.warp(thread);
    warp.ready.set(warp.ready.get() | 1 << (thread.fiber % 32));
    warp.yielded.set(true);
    thread.suspend();
}

extern "C" fn barrier(
    thread: &Thread,
    what: *const c_char,
    counts: bool,
    file: *const c_char,
    line: u32,
) -> u32 {
    let launch = thread.launch();
    let (block, site) = (launch.block(thread), Site { what, file, line });
    meet(thread);
    if let Some(other) = block.arrive(site, counts) {
        thread.fail(format!("{site} meets {other}: a barrier in a branch that divides the block"));
    }
    launch.progress.set(true);
    if block.complete(launch.threads) {
        launch.wake_block(thread);
    } else {
        thread.wait(site);
    }
    block.counted()
}

extern "C" fn collective(
    thread: &Thread,
    what: *const c_char,
    operation: u32,
    mask: u32,
    value: u64,
    parameter: u32,
    width: u32,
    file: *const c_char,
    line: u32,
) -> u64 {
    let site = Site { what, file, line };
    if mask >> (thread.fiber % 32) & 1 == 0 {
        thread.fail(format!("{site} with the mask {mask:#010x}, in which the caller is not"));
    }
    if !width.is_power_of_two() || width > 32 {
        thread.fail(format!("{site} with the width {width}, which is no power of 2 up to 32"));
    }
    meet(thread);
    thread.value.set(value);
    thread.parameter.set(parameter);
    thread.width.set(width);
    let launch = thread.launch();
    launch.progress.set(true);
    if launch.warp(thread).arrive(thread.fiber % 32, site, mask) {
        launch.complete(thread, Operation::ALL[operation as usize], mask);
    } else {
        thread.wait(site);
    }
    thread.result.get()
}

extern "C" fn shared(thread: &Thread, key: u32, bytes: usize, name: *const c_char) -> *mut c_void {
    match thread.launch().shared(thread, key, bytes, name) {
        Ok(array) => array.cast(),
        Err(message) => thread.fail(message),
    }
}

extern "C" fn dynamic(thread: &Thread) -> *mut c_void {
    thread.launch().dynamic(thread).cast()
}

extern "C" fn misuse(
    thread: &Thread,
    what: *const c_char,
    subject: *const c_char,
    file: *const c_char,
    line: u32,
) {
    debug_assert!(thread.state.get() == State::Ready);
    thread.fail(format!("{}{} at {}:{line}", text(what), text(subject), text(file)));
}

/// Rises with every call.
extern "C" fn clock(thread: &Thread) -> i64 {
    let launch = thread.launch();
    launch.clock.set(launch.clock.get() + 1);
    launch.clock.get()
}
