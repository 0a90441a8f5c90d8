//! What the launches of a product on a GPU need: time of the host, and room in the stream.

use std::time::Duration;

use spmv_methods::device::probe::Timing;
use spmv_methods::method::Prepared;

/// The maximum number of launches in a batch. The host blocks when about 1024 wait in the stream; then the device would
/// begin before all of them are there.
const MOST: u64 = 512;
/// The number of launches that a call of a library or plug-in is assumed to have at most.
const OF_CALL: u64 = 4;

/// The launches of a product in the batch that was timed last.
#[derive(Default)]
pub struct Launches {
    /// The host's time to enqueue the product.
    pub host: Duration,
    count: u64,
}

impl Launches {
    /// Returns the launches of a product after a batch of `products` with this time. The last product had `calls`
    /// launches or calls of a library or plug-in.
    pub fn of<T, V: ?Sized>(
        prepared: &Prepared<T, V>,
        products: usize,
        timing: Timing,
        calls: u64,
    ) -> Self {
        let is_call = prepared.library_version.is_some() || prepared.is_foreign;
        let count = if is_call { OF_CALL * calls } else { calls };
        Self { host: timing.host / products as u32, count }
    }

    /// Returns how many of these products fit in a batch; at least 1.
    pub fn most_products(&self) -> usize {
        (MOST / self.count.max(1)).max(1) as usize
    }
}
