//! Which thread runs when. Every choice is drawn from the launch's random numbers.

use crate::diagnosis;
use crate::fiber::Fibers;
use crate::launch::Launch;
use crate::trap;

/// Most blocks that a launch begins with.
const BLOCKS: usize = 4;

/// Runs a launch to its end.
pub struct Scheduler<'a> {
    launch: &'a Launch,
    fibers: &'a mut Fibers,
    /// Blocks in a window, see `refill`.
    window: usize,
    /// Blocks to start next, last first.
    order: Vec<u64>,
    /// The first block after them.
    beyond: u64,
    blocks: u64,
    /// Turns of warps in a row in which nothing happened.
    idle: usize,
}

impl<'a> Scheduler<'a> {
    /// Nothing has run yet.
    pub fn new(launch: &'a Launch, fibers: &'a mut Fibers) -> Self {
        let window = (1 + launch.random.below(BLOCKS)).min(launch.blocks.len());
        let blocks = launch.grid.map(u64::from).iter().product();
        Self { launch, fibers, window, order: Vec::new(), beyond: 0, blocks, idle: 0 }
    }

    /// Runs all blocks. After an error the fibers must be reset.
    pub fn run(&mut self) -> Result<(), String> {
        (0..self.window).try_for_each(|slot| self.start(slot))?;
        while let Some(warp) = self.pick() {
            self.turn(warp)?;
            self.look_after(warp / self.launch.warps_per_block())?;
            self.watch_for_standstill()?;
        }
        Ok(())
    }

    /// Starts the next block, if there is one.
    fn start(&mut self, slot: usize) -> Result<(), String> {
        if self.order.is_empty() {
            self.refill();
        }
        match self.order.pop() {
            Some(number) => self.launch.start(slot, number),
            None => Ok(()),
        }
    }

    /// Blocks start in windows of as many as are resident at first, shuffled within. So when a block
    /// runs, all lower ones have started but some of its own window, for which there is room: a block
    /// may wait for lower ones, as on a GPU.
    fn refill(&mut self) {
        let end = self.blocks.min(self.beyond + self.window as u64);
        self.order = (self.beyond..end).collect();
        self.beyond = end;
        for place in (1..self.order.len()).rev() {
            self.order.swap(place, self.launch.random.below(place + 1));
        }
    }

    fn pick(&self) -> Option<usize> {
        let mut queue = self.launch.queue.borrow_mut();
        if queue.is_empty() {
            return None;
        }
        let chosen = self.launch.random.below(queue.len());
        Some(queue.swap_remove(chosen) as usize)
    }

    /// Lets a warp run until all its lanes wait, or for a while.
    fn turn(&mut self, number: usize) -> Result<(), String> {
        let warp = &self.launch.warps[number];
        while warp.ready.get() != 0 {
            self.pass(number)?;
            if warp.yielded.replace(false) || self.launch.random.once_in(8) {
                break;
            }
        }
        if warp.ready.get() != 0 {
            self.launch.queue.borrow_mut().push(number as u32);
        } else {
            warp.queued.set(false);
        }
        Ok(())
    }

    /// Runs the ready lanes of a warp, or some of them, one after the other in random order.
    fn pass(&mut self, number: usize) -> Result<(), String> {
        let (warp, random) = (&self.launch.warps[number], &self.launch.random);
        let bits = random.bits();
        let ready = warp.ready.get();
        let some = if bits & 7 == 0 { ready & random.bits() } else { ready };
        let chosen = if some == 0 { ready } else { some };
        warp.ready.set(ready & !chosen);
        // An odd step visits every lane.
        let (step, first) = (bits >> 8 | 1, bits >> 3);
        for turn in 0..32u32 {
            let lane = turn.wrapping_mul(step).wrapping_add(first) % 32;
            if chosen >> lane & 1 == 1 {
                self.resume(number * 32 + lane as usize)?;
            }
        }
        Ok(())
    }

    fn resume(&mut self, fiber: usize) -> Result<(), String> {
        if !self.fibers.resume(fiber) {
            self.launch.fail(self.launch.thread(fiber), trap::describe().into());
        }
        match self.launch.fault.borrow_mut().take() {
            Some(message) => Err(message),
            None => Ok(()),
        }
    }

    /// Replaces a block that is done; fails when no thread of it can ever run again.
    fn look_after(&mut self, slot: usize) -> Result<(), String> {
        let block = &self.launch.blocks[slot];
        if !block.resident.get() {
            return Ok(());
        }
        if block.live.get() == 0 {
            self.launch.end(slot);
            return self.start(slot);
        }
        let count = self.launch.warps_per_block();
        let warps = &self.launch.warps[slot * count..(slot + 1) * count];
        match warps.iter().any(|warp| warp.ready.get() != 0) {
            true => Ok(()),
            false => Err(diagnosis::stuck(self.launch, slot).expect("its threads wait")),
        }
    }

    /// When threads only wait for what others are to write, gives those others a place if there is
    /// one, and at last gives up.
    fn watch_for_standstill(&mut self) -> Result<(), String> {
        self.idle = if self.launch.progress.replace(false) { 0 } else { self.idle + 1 };
        let ready = self.launch.queue.borrow().len();
        if self.idle > 16 + 4 * ready && self.idle.is_multiple_of(8) {
            let free = self.launch.blocks.iter().position(|block| !block.resident.get());
            if let Some(slot) = free {
                self.start(slot)?;
            }
        }
        if self.idle > 20_000 + 1000 * ready {
            return Err(diagnosis::standstill(self.launch));
        }
        Ok(())
    }
}
