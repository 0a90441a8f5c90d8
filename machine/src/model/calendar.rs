//! What passes through a part of the GPU in a cycle.

/// Cycles of one entry of a calendar.
const STRETCH: f64 = 128.0;

/// How much of something passes in a cycle, and how much of each stretch of time is taken.
pub struct Calendar {
    capacity: f64,
    taken: Vec<f64>,
}

impl Calendar {
    /// One of which nothing is taken.
    pub fn new(per_cycle: f64) -> Self {
        Self { capacity: per_cycle * STRETCH, taken: Vec::new() }
    }

    /// Takes what is free from `time` on until it has all; when it begins and when it ends.
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

    /// 128 pass in a stretch of 128 cycles.
    #[test]
    fn what_does_not_pass_in_a_stretch_takes_the_next_ones() {
        let mut calendar = Calendar::new(1.0);
        assert_eq!(calendar.take(10.0, 100.0), (10.0, 10.0));
        assert_eq!(calendar.take(10.0, 300.0), (10.0, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 112.0), (3.0 * STRETCH, 3.0 * STRETCH));
        assert_eq!(calendar.take(0.0, 1.0), (4.0 * STRETCH, 4.0 * STRETCH));
    }
}
