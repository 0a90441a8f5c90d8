//! Signals that a kernel raises end its launch, not the process.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use corosensei::trap::{CoroutineTrapHandler, TrapHandlerRegs};

thread_local! {
    static WATCHED: Cell<Option<CoroutineTrapHandler<()>>> = const { Cell::new(None) };
    static SIGNAL: Cell<c_int> = const { Cell::new(0) };
}

const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE];
/// What handled them before.
static BEFORE: OnceLock<[libc::sigaction; 3]> = OnceLock::new();

/// Signals on this fiber's stack are its own from now on.
pub fn watch(fiber: CoroutineTrapHandler<()>) {
    WATCHED.set(Some(fiber));
}

/// What stopped the last fiber that was stopped.
pub fn describe() -> &'static str {
    match SIGNAL.get() {
        libc::SIGFPE => "an arithmetic fault (SIGFPE)",
        libc::SIGBUS => "a bus error (SIGBUS)",
        _ => "an access to memory that is not there (SIGSEGV)",
    }
}

/// Installs the handler, once per process. It runs on the alternate stack that the standard library
/// gives to every thread.
pub fn install() {
    BEFORE.get_or_init(|| SIGNALS.map(install_for));
}

fn install_for(signal: c_int) -> libc::sigaction {
    // SAFETY: the structures are plain, and `handle` has the signature that SA_SIGINFO asks for.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &action, &mut before);
        before
    }
}

/// Puts back what handled a signal before.
fn uninstall(signal: c_int) {
    let number = SIGNALS.iter().position(|known| *known == signal).unwrap_or_default();
    if let Some(before) = BEFORE.get() {
        // SAFETY: as the system gave it.
        unsafe { libc::sigaction(signal, &before[number], std::ptr::null_mut()) };
    }
}

extern "C" fn handle(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes the interrupted thread's context.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    match WATCHED.get() {
        Some(fiber) if fiber.stack_ptr_in_bounds(stack_pointer(context)) => {
            SIGNAL.set(signal);
            // SAFETY: the stack pointer is in the fiber, and the launch it belongs to is over.
            let registers = unsafe { fiber.setup_trap_handler(|| ()) };
            redirect(context, &registers);
        }
        // Not a kernel's: it comes again, to the handler that it was for.
        _ => uninstall(signal),
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn redirect(context: &mut libc::ucontext_t, registers: &TrapHandlerRegs) {
    let all = &mut context.uc_mcontext.gregs;
    all[libc::REG_RIP as usize] = registers.rip as i64;
    all[libc::REG_RSP as usize] = registers.rsp as i64;
    all[libc::REG_RBP as usize] = registers.rbp as i64;
    all[libc::REG_RDI as usize] = registers.rdi as i64;
    all[libc::REG_RSI as usize] = registers.rsi as i64;
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}

#[cfg(target_arch = "aarch64")]
fn redirect(context: &mut libc::ucontext_t, registers: &TrapHandlerRegs) {
    let all = &mut context.uc_mcontext;
    all.pc = registers.pc;
    all.sp = registers.sp;
    all.regs[0] = registers.x0;
    all.regs[1] = registers.x1;
    all.regs[29] = registers.x29;
    all.regs[30] = registers.lr;
}
