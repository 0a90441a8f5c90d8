//! A resident block: its barrier and its shared memory.

use std::cell::{Cell, RefCell};

use crate::thread::Site;

/// A place for a block, and the block in it.
pub struct Block {
    /// Whether there is one.
    pub resident: Cell<bool>,
    /// Threads that have not exited.
    pub live: Cell<u32>,
    /// Its arrays of shared memory: key, offset in the arena, bytes.
    pub arrays: RefCell<Vec<(u32, usize, usize)>>,
    site: Cell<Site>,
    arrived: Cell<u32>,
    counting: Cell<u32>,
    counted: Cell<u32>,
}

impl Block {
    /// An empty place.
    pub fn new() -> Self {
        Self {
            resident: Cell::new(false),
            live: Cell::new(0),
            arrays: RefCell::default(),
            site: Cell::new(Site::NONE),
            arrived: Cell::new(0),
            counting: Cell::new(0),
            counted: Cell::new(0),
        }
    }

    /// A thread comes to the barrier at `site`; gives the site at which others wait, if it is not that.
    pub fn arrive(&self, site: Site, counts: bool) -> Option<Site> {
        if self.arrived.get() > 0 && self.site.get() != site {
            return Some(self.site.get());
        }
        self.site.set(site);
        self.arrived.set(self.arrived.get() + 1);
        self.counting.set(self.counting.get() + u32::from(counts));
        None
    }

    /// Whether all have come; then the barrier is ready for the next time.
    pub fn complete(&self, threads: u32) -> bool {
        let all = self.arrived.get() == threads;
        if all {
            self.arrived.set(0);
            self.counted.set(self.counting.replace(0));
        }
        all
    }

    /// How many threads of the last barrier counted.
    pub fn counted(&self) -> u32 {
        self.counted.get()
    }
}
