//! Reservation of the throughput of a unit of the GPU, for example of the memory bus.

/// The number of cycles of one entry of a calendar.
const STRETCH: f64 = 128.0;

/// The reservations of a unit with a limited throughput.
pub struct Calendar {
    /// The amount that can be reserved in each entry.
    capacity: f64,
    /// The amount that is reserved in each entry.
    taken: Vec<f64>,
}

impl Calendar {
    /// Creates a calendar without reservations for a unit with a throughput of `per_cycle`.
    pub fn new(per_cycle: f64) -> Self {
        Self { capacity: per_cycle * STRETCH, taken: Vec::new() }
    }

    /// Reserves `amount` from the first free capacity at or after `time`. Returns when the reservation begins and ends.
    pub fn take(&mut self, time: f64, amount: f64) -> (f64, f64) {
        let first = (time / STRETCH) as usize;
        let when = |at: usize| if at == first { time } else { at as f64 * STRETCH };
        let (mut at, mut left, mut begin) = (first, amount, None);
        loop {
            if at >= self.taken.len() {
                self.taken.resize(at + 1024, 0.0);
            }
            let free = self.capacity - self.taken[at];
            if free > 0.0 {
                let begin = *begin.get_or_insert_with(|| when(at));
                self.taken[at] += left.min(free);
                left -= free;
                if left <= 0.0 {
                    return (begin, when(at));
                }
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a throughput of 1 per cycle, each entry has a capacity of 128.
    #[test]
    fn a_reservation_continues_in_the_next_entries() {
        let mut calendar = Calendar::new(1.0);
        assert_eq!(calendar.take(10.0, 100.0), (10.0, 10.0));
        assert_eq!(calendar.take(10.0, 300.0), (10.0, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 112.0), (3.0 * STRETCH, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 1.0), (4.0 * STRETCH, 4.0 * STRETCH));
    }
}
