//! The search for the starts of the tiles of the merge path, which `gpu-merge` shares with its published form.

use super::prelude::*;

/// Threads per block of the search kernel.
pub const SEARCH_BLOCK: usize = 128;

/// The kernel that searches the starts of tiles, if there is one, and its output.
pub struct Search {
    pub kernel: Kernel,
    /// The number of tiles.
    count: u32,
    /// Neighbouring threads that search one start together.
    lanes: usize,
    pub starts: Buffer<u64>,
}

impl Search {
    pub fn new<T: Value>(
        csr: &DeviceCsr<T>,
        request: &Request,
        (module, count, lanes): (&Module, usize, usize),
    ) -> Result<Self, Unprepared> {
        let in_kernel = match request.word("search") {
            Some(place) => place == "kernel",
            None => {
                let blocks = (count + 1).div_ceil(SEARCH_BLOCK);
                blocks >= csr.gpu.facts().multiprocessors as usize
            }
        };
        let starts = csr.gpu.allocate(if in_kernel { count + 1 } else { 0 })?;
        Ok(Self { kernel: module.kernel("merge_search")?, count: count as u32, lanes, starts })
    }

    pub fn run<T: Value>(&self, csr: &DeviceCsr<T>) -> Result<(), Failed> {
        let grid = (self.starts.len() * self.lanes).div_ceil(SEARCH_BLOCK);
        let arguments: [&dyn Argument; 5] = [&self.count, &csr.rows(), &csr.nnz(), &csr.row_offsets, &self.starts];
        self.kernel.launch(grid, SEARCH_BLOCK, 0, &arguments)
    }
}
