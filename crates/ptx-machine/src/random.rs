//! The random number generator for execution orders that CUDA does not define: xorshift64* (Vigna, An experimental
//! exploration of Marsaglia's xorshift generators, 2016).

#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed and the number of an independent stream.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mixed = (seed ^ stream.rotate_left(32)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Self(mixed | 1);
        (0..4).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a random number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }
}
