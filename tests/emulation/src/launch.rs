//! A running launch, as its threads share it. Everything is behind cells: fibers reach it while the
//! scheduler does.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::rc::Rc;

use crate::block::Block;
use crate::fiber;
use crate::memory::{BLOCK_SLOTS, Memory, POISON, Region, SHARED_ROOM};
use crate::module::Kernel;
use crate::random::Random;
use crate::table::{TABLE, grant, patience};
use crate::thread::{Site, State, Thread, text};
use crate::warp::{Brought, Operation, Warp};

/// Shared memory that a block may use.
pub const SHARED_BYTES: usize = 48 << 10;
/// The key of the dynamic shared memory; arrays have their number in the source.
const DYNAMIC: u32 = u32::MAX;

/// A launch and its resident blocks.
pub struct Launch {
    /// What runs.
    pub kernel: Rc<Kernel>,
    /// Pointers to the arguments.
    pub arguments: Vec<*const c_void>,
    /// gridDim.
    pub grid: [u32; 3],
    /// blockDim.
    pub shape: [u32; 3],
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory.
    pub shared_bytes: usize,
    /// The device's.
    pub memory: Rc<Memory>,
    /// Decides all that CUDA leaves open.
    pub random: Random,
    /// Most accesses to memory until a thread is interrupted.
    pub credit: usize,
    /// The record of fiber 0.
    pub fibers: usize,
    /// Of all places for blocks, in order.
    pub warps: Vec<Warp>,
    /// Places for blocks.
    pub blocks: Vec<Block>,
    /// Warps that can run.
    pub queue: RefCell<Vec<u32>>,
    /// Whether anything happened since it was last asked but threads that handed over.
    pub progress: Cell<bool>,
    /// What clock64 last gave.
    pub clock: Cell<i64>,
    /// The instruction at which it failed.
    pub at: Cell<Option<usize>>,
    /// Why it failed.
    pub fault: RefCell<Option<String>>,
}

impl Launch {
    /// Warps per block.
    pub fn warps_per_block(&self) -> usize {
        self.threads.div_ceil(32) as usize
    }

    /// The record of a fiber of this launch.
    pub fn thread(&self, number: usize) -> &Thread {
        // SAFETY: records are written before their block becomes resident and stay.
        unsafe { &*fiber::record(self.fibers, number) }
    }

    /// The warp of a thread.
    pub fn warp(&self, thread: &Thread) -> &Warp {
        &self.warps[thread.fiber as usize / 32]
    }

    /// The place of a thread's block.
    pub fn block(&self, thread: &Thread) -> &Block {
        &self.blocks[self.slot(thread)]
    }

    fn slot(&self, thread: &Thread) -> usize {
        thread.fiber as usize / 32 / self.warps_per_block()
    }

    /// Runs the kernel in a thread, on its fiber.
    pub fn enter(thread: &Thread) {
        let launch = thread.launch();
        thread.patience.set(patience(thread));
        grant(thread);
        // SAFETY: the arguments were checked against the kernel's signature.
        unsafe { (launch.kernel.run)(launch.arguments.as_ptr()) };
        let block = launch.block(thread);
        block.live.set(block.live.get() - 1);
        thread.state.set(State::Exited);
        launch.progress.set(true);
    }

    /// Notes that the launch is over, and why; the first reason stands.
    pub fn fail(&self, thread: &Thread, message: String) {
        let message = format!("{}: {message}", thread.place());
        self.fault.borrow_mut().get_or_insert(message);
    }

    /// Makes all the threads of a block run on but the calling one, which does anyway.
    pub fn wake_block(&self, caller: &Thread) {
        let (slot, count) = (self.slot(caller), self.warps_per_block());
        for number in slot * count..(slot + 1) * count {
            let all = self.warps[number].exists;
            let own = caller.fiber as usize / 32 == number;
            self.wake(number, if own { all & !(1 << (caller.fiber % 32)) } else { all });
        }
    }

    /// Makes lanes of a warp run on.
    pub fn wake(&self, number: usize, lanes: u32) {
        let warp = &self.warps[number];
        warp.ready.set(warp.ready.get() | lanes);
        for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
            self.thread(number * 32 + lane).state.set(State::Ready);
        }
        if lanes != 0 && !warp.queued.replace(true) {
            self.queue.borrow_mut().push(number as u32);
        }
    }

    /// Carries out a collective of which the caller was the last to come.
    pub fn complete(&self, caller: &Thread, operation: Operation, mask: u32) {
        let number = caller.fiber as usize / 32;
        let mask = mask & self.warps[number].exists;
        let lanes = std::array::from_fn(|lane| {
            (mask >> lane & 1 == 1).then(|| self.thread(number * 32 + lane))
        });
        let brought = Brought { lanes };
        if Brought::is_uniform(operation) {
            let result = brought.result(operation, 0);
            brought.lanes.iter().flatten().for_each(|thread| thread.result.set(result));
        } else {
            for (lane, thread) in brought.lanes.iter().enumerate() {
                if let Some(thread) = thread {
                    thread.result.set(brought.result(operation, lane));
                }
            }
        }
        self.wake(number, mask & !(1 << (caller.fiber % 32)));
    }

    /// The shared array number `key`, of which the block's first thread to come gets a new one.
    pub fn shared(
        &self,
        thread: &Thread,
        key: u32,
        bytes: usize,
        name: *const c_char,
    ) -> Result<*mut u8, String> {
        let known = self.array(self.block(thread), key);
        match known {
            Some((offset, size)) if size == bytes => Ok((self.memory.base() + offset) as *mut u8),
            Some(_) => Err(format!("the shared array `{}` has two sizes", text(name))),
            None => {
                let region = Region::Shared(text(name).into_owned());
                self.open(self.slot(thread), key, bytes, region)
            }
        }
    }

    /// The dynamic shared memory of a thread's block.
    pub fn dynamic(&self, thread: &Thread) -> *mut u8 {
        let (offset, _) = self.array(self.block(thread), DYNAMIC).expect("opened with the block");
        (self.memory.base() + offset) as *mut u8
    }

    fn array(&self, block: &Block, key: u32) -> Option<(usize, usize)> {
        let arrays = block.arrays.borrow();
        arrays.iter().find(|array| array.0 == key).map(|&(_, offset, bytes)| (offset, bytes))
    }

    fn open(&self, slot: usize, key: u32, bytes: usize, region: Region) -> Result<*mut u8, String> {
        let mut arrays = self.blocks[slot].arrays.borrow_mut();
        let end = arrays.last().map_or(slot * SHARED_ROOM, |(_, offset, bytes)| offset + bytes);
        let offset = Memory::behind(end);
        let total = bytes + arrays.iter().map(|array| array.2).sum::<usize>();
        if total > SHARED_BYTES || offset + bytes + 256 > (slot + 1) * SHARED_ROOM {
            return Err(format!(
                "the block uses {total} bytes of shared memory, of {SHARED_BYTES}"
            ));
        }
        // What a block before left is anything; zeros tend to be the least conspicuous.
        let poison = if self.random.once_in(2) { 0 } else { POISON };
        self.memory.open(offset, bytes, region, poison);
        arrays.push((key, offset, bytes));
        Ok((self.memory.base() + offset) as *mut u8)
    }

    /// Puts block number `number` in a place and makes its threads ready.
    pub fn start(&self, slot: usize, number: u64) -> Result<(), String> {
        let [x, y] = [u64::from(self.grid[0]), u64::from(self.grid[1])];
        let index = [number % x, number / x % y, number / x / y].map(|index| index as u32);
        let first = slot * self.warps_per_block() * 32;
        for thread in 0..self.threads {
            let fiber = first + thread as usize;
            // SAFETY: the fiber is idle, so nobody refers to its record.
            unsafe { fiber::record(self.fibers, fiber).write(self.record(fiber, index, thread)) };
        }
        self.blocks[slot].resident.set(true);
        self.blocks[slot].live.set(self.threads);
        self.open(slot, DYNAMIC, self.shared_bytes, Region::Dynamic)?;
        for number in first / 32..first / 32 + self.warps_per_block() {
            self.wake(number, self.warps[number].exists);
        }
        Ok(())
    }

    /// Ends the block in a place.
    pub fn end(&self, slot: usize) {
        self.blocks[slot].resident.set(false);
        for (_, offset, _) in self.blocks[slot].arrays.borrow_mut().drain(..) {
            self.memory.close(offset);
        }
    }

    fn record(&self, fiber: usize, block: [u32; 3], thread: u32) -> Thread {
        let [x, y, _] = self.shape;
        Thread {
            index: [thread % x, thread / x % y, thread / x / y],
            block,
            block_shape: self.shape,
            grid_shape: self.grid,
            arena: self.memory.base(),
            table: &TABLE,
            patience: Cell::new(0),
            wrote: Cell::new(0),
            polled: Cell::new(0),
            credit: Cell::new(0),
            granted: Cell::new(0),
            fiber: fiber as u32,
            launch: self,
            yielder: std::ptr::null(),
            value: Cell::new(0),
            parameter: Cell::new(0),
            width: Cell::new(0),
            result: Cell::new(0),
            code: Cell::new(0),
            site: Cell::new(Site::NONE),
            state: Cell::new(State::Ready),
        }
    }
}

const _: () = assert!(BLOCK_SLOTS * 1024 == fiber::FIBERS);
