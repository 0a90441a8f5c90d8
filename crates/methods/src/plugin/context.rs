//! The settings and the functions that a method of a plug-in receives.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use super::abi::{self, Body, Ctx};
use super::foreign::text;
use crate::device::{Buffer, Failed, Gpu, Unavailable};
use crate::method::Request;
use crate::team::Team;

#[repr(C)]
pub struct Context<'a> {
    /// The part that the plug-in sees. It is the first field, so that a pointer to it is one to the context.
    ctx: Ctx,
    team: &'a Team,
    leader: ThreadId,
    cpus: Vec<i32>,
    given: Vec<(&'static str, CString)>,
    /// The GPU on which the method runs, if it does.
    pub gpu: Option<Gpu>,
    /// Whether a call of `parallel` runs.
    is_parallel: AtomicBool,
    /// How a function of the context was misused for the first time.
    misuse: OnceLock<String>,
    /// The memory that is allocated now, by address; `None` if the method has never allocated any.
    allocated: Mutex<Option<BTreeMap<usize, Memory>>>,
    /// The explanation of the last failure.
    explanation: Mutex<Option<String>>,
}

/// Memory of a method, which is released when this is dropped, with its number of bytes. A buffer has whole words.
enum Memory {
    Host(*mut u8, Layout),
    Device { bytes: usize, _buffer: Buffer<u64> },
}

/// The alignment that the CUDA driver guarantees, in bytes.
const DEVICE_ALIGNMENT: usize = 256;

impl Memory {
    /// Allocates memory that is not initialised, and returns its address; `None` if there is not enough.
    fn new(layout: Layout, gpu: Option<&Gpu>) -> Option<(usize, Self)> {
        if let Some(gpu) = gpu {
            let buffer = gpu.allocate(layout.size().div_ceil(8)).ok()?;
            let address = buffer.address() as usize;
            return Some((address, Self::Device { bytes: layout.size(), _buffer: buffer }));
        }
        // SAFETY: the caller checks that the layout is not empty.
        let memory = unsafe { alloc(layout) };
        (!memory.is_null()).then(|| (memory as usize, Self::Host(memory, layout)))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Host(_, layout) => layout.size(),
            Self::Device { bytes, .. } => *bytes,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Self::Host(memory, layout) = *self {
            // SAFETY: `new` has allocated it with this layout, and it is released only here.
            unsafe { dealloc(memory, layout) };
        }
    }
}

impl<'a> Context<'a> {
    /// Creates the context of a method on `threads` threads, or on a GPU that is not a modelled one. It must not move
    /// while the plug-in uses it.
    pub fn new(request: &Request<'a>, threads: usize, gpu: Option<&Gpu>) -> Result<Box<Self>, Unavailable> {
        let cpus = if gpu.is_some() { &[] } else { request.team.cpus() };
        let cpus: Vec<_> = cpus.iter().map(|&cpu| cpu as i32).collect();
        let text = |value: &str| CString::new(value).expect("a value has no zero byte");
        let ctx = Ctx {
            size: size_of::<Ctx>() as u32,
            threads: threads as u32,
            cpus: if cpus.is_empty() { null() } else { cpus.as_ptr() },
            transpose: request.transpose.into(),
            reserved: 0,
            alpha: request.alpha,
            beta: request.beta,
            expected_products: request.expected_products as i64,
            stream: gpu.map_or(Ok(null_mut()), |gpu| gpu.stream())?,
            allocate,
            release,
            parallel,
            parameter,
            explain,
        };
        Ok(Box::new(Self {
            ctx,
            team: request.team,
            leader: thread::current().id(),
            cpus,
            gpu: gpu.cloned(),
            given: request.given.iter().map(|&(name, value)| (name, text(value))).collect(),
            is_parallel: AtomicBool::new(false),
            misuse: OnceLock::new(),
            allocated: Mutex::default(),
            explanation: Mutex::default(),
        }))
    }

    pub fn as_ptr(&self) -> *const Ctx {
        (&raw const *self).cast()
    }

    /// Returns the bytes that are allocated now, or `None` if the method has never allocated any here.
    pub fn allocated_bytes(&self) -> Option<u64> {
        let allocated = locked(&self.allocated);
        Some(allocated.as_ref()?.values().map(|memory| memory.bytes() as u64).sum())
    }

    /// Takes the explanation of the last failure.
    pub fn explanation(&self) -> Option<String> {
        locked(&self.explanation).take()
    }

    /// Returns an error if the plug-in has misused a function of the context.
    pub fn check(&self) -> Result<(), Failed> {
        self.misuse.get().map_or(Ok(()), |how| Err(Failed(how.clone())))
    }

    /// Returns whether the calling thread may use the memory of the method. That of a GPU belongs to one thread.
    fn may_allocate(&self) -> bool {
        let may = self.gpu.is_none() || thread::current().id() == self.leader;
        if !may {
            self.misused("it called allocate or release for a GPU in a thread of its own");
        }
        may
    }

    fn misused(&self, how: &str) {
        self.misuse.get_or_init(|| how.into());
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the context of a pointer that a plug-in has passed back.
///
/// # Safety
/// The pointer must be the one that the plug-in has received, and the context must still exist.
unsafe fn context<'c>(ctx: *const Ctx) -> &'c Context<'c> {
    // SAFETY: the plug-in sees the first field of a context, which is `repr(C)`.
    unsafe { &*ctx.cast() }
}

unsafe extern "C" fn allocate(ctx: *const Ctx, bytes: usize, alignment: usize) -> *mut c_void {
    // SAFETY: the interface demands it.
    let context = unsafe { context(ctx) };
    let most = if context.gpu.is_some() { DEVICE_ALIGNMENT } else { usize::MAX };
    let layout = Layout::from_size_align(bytes, alignment).ok().filter(|it| it.align() <= most);
    let Some(layout) = layout else {
        context.misused(
            "it called allocate with too many bytes, or an alignment that is not a power of two or is too large",
        );
        return null_mut();
    };
    if bytes == 0 || !context.may_allocate() {
        return null_mut();
    }
    let Some((address, memory)) = Memory::new(layout, context.gpu.as_ref()) else {
        return null_mut();
    };
    locked(&context.allocated).get_or_insert_default().insert(address, memory);
    address as *mut c_void
}

unsafe extern "C" fn release(ctx: *const Ctx, memory: *mut c_void) {
    // SAFETY: the interface demands it.
    let context = unsafe { context(ctx) };
    if memory.is_null() || !context.may_allocate() {
        return;
    }
    let known = locked(&context.allocated).as_mut().and_then(|all| all.remove(&(memory as usize)));
    if known.is_none() {
        context.misused("it called release with an address that allocate did not return");
    }
}

unsafe extern "C" fn parallel(ctx: *const Ctx, body: Option<Body>, argument: *mut c_void) -> c_int {
    // SAFETY: the interface demands it.
    let context = unsafe { context(ctx) };
    let Some(body) = body else {
        context.misused("it called parallel with NULL as body");
        return abi::ERROR;
    };
    if thread::current().id() != context.leader || context.is_parallel.swap(true, Ordering::Relaxed) {
        context.misused("it called parallel within a body, or in a thread of its own");
        return abi::ERROR;
    }
    let argument = argument.expose_provenance();
    let run = |rank: usize| {
        // SAFETY: the plug-in passes a function of this type and its argument; the ranks are those of the team.
        unsafe { body(with_exposed_provenance_mut(argument), rank as u32) }
    };
    match context.ctx.threads {
        1 => run(0),
        _ => context.team.run(run),
    }
    context.is_parallel.store(false, Ordering::Relaxed);
    abi::OK
}

unsafe extern "C" fn parameter(ctx: *const Ctx, name: *const c_char) -> *const c_char {
    // SAFETY: the interface demands both.
    let (context, name) = unsafe { (context(ctx), text(name)) };
    let value = context.given.iter().find(|(given, _)| Some(*given) == name.as_deref());
    value.map_or(null(), |(_, value)| value.as_ptr())
}

unsafe extern "C" fn explain(ctx: *const Ctx, explanation: *const c_char) {
    // SAFETY: the interface demands both.
    let (context, explanation) = unsafe { (context(ctx), text(explanation)) };
    *locked(&context.explanation) = explanation;
}
