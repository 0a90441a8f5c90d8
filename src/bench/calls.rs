//! How products are called while they are timed.

use std::mem::swap;

use spmv_results::settings::CHAIN;

/// What happens between two readings of the clock, or between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Calls {
    /// So many products, by one call of a method of the host, and with nothing else in between.
    Batch(usize),
    /// So many products, with a call for each.
    Each(usize),
    /// The same in chains of [`CHAIN`] products: the first multiplies the usual x, and each other y of the one before.
    Chained(usize),
    /// A product that runs alone. Its time ends when all work has ended that it has started on the device.
    Alone,
    /// A product with cold caches.
    Cold,
    /// An empty kernel in the place of a product, alone: it takes longer if other programs use the device.
    Empty,
}

impl Calls {
    pub fn products(self) -> usize {
        match self {
            Self::Batch(products) | Self::Each(products) | Self::Chained(products) => products,
            Self::Alone | Self::Cold | Self::Empty => 1,
        }
    }

    /// Returns the same number for calls after which y must be equal for the same x.
    pub fn kind_of_result(self) -> usize {
        usize::from(self.are_chained())
    }

    pub fn are_chained(self) -> bool {
        matches!(self, Self::Chained(_))
    }

    /// Calls `multiply` for the product with this number, from 0, with its x and y. In a chain, `y` and the y of the
    /// product `before` are exchanged first.
    pub fn call<V, R>(
        self,
        number: usize,
        x: &V,
        [before, y]: [&mut V; 2],
        multiply: impl FnOnce(&V, &mut V) -> R,
    ) -> R {
        if !self.are_chained() || number.is_multiple_of(CHAIN) {
            return multiply(x, y);
        }
        swap(before, y);
        multiply(before, y)
    }
}
