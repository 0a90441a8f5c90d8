//! Conversions from CSR to other formats on the device, which the setups of several methods share.

use super::prelude::*;
use crate::formats::fill;
use crate::formats::strips::sorted;

/// Threads per block.
pub const THREADS: usize = 256;
/// The counts that a thread of the kernel `scan` adds up.
const EACH: usize = 4;
/// The largest grid of a kernel whose threads count several rows: about as many blocks as are resident.
const COUNTING_BLOCKS: usize = 1024;
/// The largest window that is sorted on the device, where a thread compares a row with the whole window.
const MOST_SORTED: usize = 4096;

/// A matrix and the kernels that convert it.
pub struct Converter<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    module: Module,
}

/// ELL or SELL: see [`Strips`](crate::formats::strips::Strips).
pub struct DeviceStrips<T> {
    /// The columns before each chunk, and the total; empty for ELL.
    pub offsets: Buffer<u32>,
    /// The row at each place; empty if the rows are in their original order.
    pub order: Buffer<u32>,
    pub column_indices: Buffer<u32>,
    pub values: Buffer<T>,
}

/// Entries in coordinate format, in the order of their rows.
pub struct DeviceEntries<T> {
    pub row_indices: Buffer<u32>,
    pub column_indices: Buffer<u32>,
    pub values: Buffer<T>,
}

/// DIA: see [`Diagonals`](crate::formats::diagonals::Diagonals).
pub struct DeviceDiagonals<T> {
    pub pitch: usize,
    pub offsets: Buffer<i32>,
    pub values: Buffer<T>,
}

/// Compiles a program of conversions.
pub fn compile<T: Value>(
    gpu: &Gpu,
    program: &'static Program,
    constants: &[(&'static str, usize)],
) -> Result<Module, Unprepared> {
    gpu.compile::<T>(program, &[constants, &[("THREADS", THREADS)]].concat())
}

/// Enqueues a kernel of a conversion with at least `threads` threads.
pub fn launch(
    module: &Module,
    kernel: &'static str,
    threads: usize,
    arguments: &[&dyn Argument],
) -> Result<(), Failed> {
    module.kernel(kernel)?.launch(threads.div_ceil(THREADS), THREADS, 0, arguments)
}

impl<'c, 'a, T: Value> Converter<'c, 'a, T> {
    pub fn new(csr: &'c DeviceCsr<'a, T>) -> Result<Self, Unprepared> {
        let module = compile::<T>(&csr.gpu, program!("cuda/convert.cu"), &[("EACH", EACH)])?;
        Ok(Self { csr, module })
    }

    fn launch(&self, kernel: &'static str, threads: usize, arguments: &[&dyn Argument]) -> Result<(), Failed> {
        launch(&self.module, kernel, threads, arguments)
    }

    /// Returns the rows of `count` nonzeros, starting at `first` with stride `stride`.
    pub fn rows_of(&self, count: usize, first: usize, stride: usize) -> Result<Buffer<u32>, Failed> {
        let rows_of = self.csr.gpu.allocate(count)?;
        let numbers = [count, first, stride, self.csr.host.rows()].map(|number| number as u32);
        self.launch("rows_of", count, &[&numbers, &self.csr.row_offsets, &rows_of])?;
        Ok(rows_of)
    }

    /// Returns the smallest length that at most `few` of the rows with these offsets exceed.
    pub fn width(&self, offsets: &Buffer<u32>, few: usize) -> Result<usize, Failed> {
        let most = self.csr.host.nnz();
        let (mut low, mut high) = (0, most.min(1));
        while high < most && self.longer(offsets, high)? > few {
            (low, high) = (high + 1, most.min(2 * high));
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            (low, high) = if self.longer(offsets, middle)? > few { (middle + 1, high) } else { (low, middle) };
        }
        Ok(low)
    }

    /// Returns the number of the rows with these offsets that are longer than `width`.
    pub fn longer(&self, offsets: &Buffer<u32>, width: usize) -> Result<usize, Failed> {
        let count = self.csr.gpu.zeros::<u32>(1)?;
        let threads = (offsets.len() - 1).min(COUNTING_BLOCKS * THREADS);
        let shape = [offsets.len() - 1, width].map(|number| number as u32);
        self.launch("count_longer", threads, &[&shape, offsets, &count])?;
        Ok(count.to_vec()?[0] as usize)
    }

    /// Replaces each count, of which there is one at least, by the sum of those before it. Returns the sum of all.
    pub fn scan(&self, counts: &Buffer<u32>) -> Result<usize, Failed> {
        let (count, spans) = (counts.len() as u32, counts.len().div_ceil(EACH * THREADS));
        let totals = self.csr.gpu.allocate(spans)?;
        self.launch("scan", spans * THREADS, &[&count, counts, &totals])?;
        if spans == 1 {
            return Ok(totals.to_vec()?[0] as usize);
        }
        let total = self.scan(&totals)?;
        self.launch("add_totals", counts.len(), &[&count, counts, &totals])?;
        Ok(total)
    }

    /// Converts the first `width` entries of each row to ELL, with a pitch of whole warps.
    pub fn ell(&self, width: usize) -> Result<DeviceStrips<T>, Unprepared> {
        let rows = self.csr.host.rows();
        fill::check(width as u64 * rows as u64, self.csr.host.nnz())?;
        let empty = || self.csr.gpu.allocate(0);
        let pitch = rows.next_multiple_of(WARP);
        Ok(self.filled(empty()?, empty()?, [pitch, width, pitch], pitch * width)?)
    }

    /// Converts to SELL with chunks of `chunk` rows that are sorted by length in windows of `sigma` rows.
    pub fn sell(&self, chunk: usize, sigma: usize) -> Result<DeviceStrips<T>, Unprepared> {
        let rows = self.csr.host.rows();
        let order = self.sorted(sigma)?;
        let chunks = rows.div_ceil(chunk);
        let offsets = self.csr.gpu.allocate(chunks + 1)?;
        let shape = [chunks + 1, rows, chunk].map(|number| number as u32);
        let arguments: [&dyn Argument; 4] = [&shape, &self.csr.row_offsets, &order, &offsets];
        self.launch("chunk_widths", chunks + 1, &arguments)?;
        let places = self.scan(&offsets)? * chunk;
        fill::check(places as u64, self.csr.host.nnz())?;
        Ok(self.filled(offsets, order, [chunks * chunk, 0, chunk], places)?)
    }

    /// Returns the rows, sorted by descending length within each window of `sigma` rows; empty if that changes nothing.
    fn sorted(&self, sigma: usize) -> Result<Buffer<u32>, Failed> {
        let rows = self.csr.host.rows();
        if sigma <= 1 {
            return self.csr.gpu.allocate(0);
        }
        if sigma > MOST_SORTED {
            return self.csr.gpu.upload(&sorted(&self.csr.row_offsets.to_vec()?, sigma));
        }
        let order = self.csr.gpu.allocate(rows)?;
        let shape = [rows, sigma].map(|number| number as u32);
        self.launch("sort_windows", rows, &[&shape, &self.csr.row_offsets, &order])?;
        Ok(order)
    }

    /// Fills `places` places of strips. `shape` has the number of rows with padding, the width of ELL and the stride.
    fn filled(
        &self,
        offsets: Buffer<u32>,
        order: Buffer<u32>,
        [padded, width, stride]: [usize; 3],
        places: usize,
    ) -> Result<DeviceStrips<T>, Failed> {
        let (column_indices, values) = (self.csr.gpu.allocate(places)?, self.csr.gpu.allocate(places)?);
        let shape = [padded, self.csr.host.rows(), width, stride].map(|number| number as u32);
        let arguments: [&dyn Argument; 6] = [&shape, &offsets, &order, self.csr, &column_indices, &values];
        self.launch("fill_strips", padded, &arguments)?;
        Ok(DeviceStrips { offsets, order, column_indices, values })
    }

    /// Returns the entries after the first `width` of each row.
    pub fn rest(&self, width: usize) -> Result<DeviceEntries<T>, Failed> {
        let (gpu, rows) = (&self.csr.gpu, self.csr.host.rows());
        let offsets = gpu.allocate(rows + 1)?;
        let shape = [rows, width].map(|number| number as u32);
        self.launch("rest_lengths", rows + 1, &[&shape, &self.csr.row_offsets, &offsets])?;
        let count = self.scan(&offsets)?;
        let (row_indices, column_indices, values) = (gpu.allocate(count)?, gpu.allocate(count)?, gpu.allocate(count)?);
        let shape = [count, rows, width].map(|number| number as u32);
        let to: [&dyn Argument; 3] = [&row_indices, &column_indices, &values];
        self.launch("fill_rest", count, &[&shape, &offsets, self.csr, &to])?;
        Ok(DeviceEntries { row_indices, column_indices, values })
    }

    /// Returns the ascending offsets of the diagonals that have an entry. If they need too much fill, they are refused.
    pub fn diagonals(&self, transpose: bool) -> Result<Vec<i32>, Unprepared> {
        let host = &self.csr.host;
        let outputs = if transpose { host.cols() } else { host.rows() };
        let most = fill::most_per_row(host.nnz(), outputs);
        let marks = self.csr.gpu.zeros::<u32>((host.rows() + host.cols()).div_ceil(32))?;
        // A row with more entries than that has too many diagonals.
        let shape = [host.rows(), most + 1].map(|number| number as u32);
        let Self { csr: DeviceCsr { row_offsets, column_indices, .. }, .. } = self;
        self.launch("mark_diagonals", host.rows(), &[&shape, row_offsets, column_indices, &marks])?;
        let marks = marks.to_vec()?;
        let count = marks.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        fill::check(count * outputs as u64, host.nnz())?;
        let bits = marks
            .iter()
            .enumerate()
            .filter(|(_, word)| **word != 0)
            .flat_map(|(at, word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * at + bit));
        let offset = |place: usize| (place as i64 - host.rows() as i64) as i32;
        Ok(if transpose {
            bits.map(|place| -offset(place)).rev().collect()
        } else {
            bits.map(offset).collect()
        })
    }

    /// Converts the matrix or its transpose to DIA, with diagonals of whole warps. Too much fill is refused.
    pub fn dia(&self, transpose: bool) -> Result<DeviceDiagonals<T>, Unprepared> {
        let host = &self.csr.host;
        let offsets = self.csr.gpu.upload(&self.diagonals(transpose)?)?;
        let outputs = if transpose { host.cols() } else { host.rows() };
        let pitch = outputs.next_multiple_of(WARP);
        let values = self.csr.gpu.zeros(offsets.len() * pitch)?;
        let shape = [host.rows(), offsets.len(), pitch, usize::from(transpose)];
        let shape = shape.map(|number| number as u32);
        self.launch("fill_diagonals", host.rows(), &[&shape, &offsets, self.csr, &values])?;
        Ok(DeviceDiagonals { pitch, offsets, values })
    }
}
