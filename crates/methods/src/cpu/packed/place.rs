//! Where the elements of a slice belong in its streams. A slice is stored step by step; in each step the lanes that have
//! not ended, one after the other; of a block of several rows, its columns once and its values row by row.

use super::blocks::Block;

/// Where the elements of a slice belong.
pub struct Place {
    full: usize,
    /// For each further step, the number of columns before it and the number of lanes that have not ended.
    partial: Vec<(usize, usize)>,
    count: usize,
}

impl Place {
    /// Returns the place of the elements of a slice of blocks, the widest first. `buffer` is reused.
    pub fn of<const LANES: usize>(slice: &[Block], mut buffer: Vec<(usize, usize)>) -> Self {
        let full = if slice.len() == LANES { slice[LANES - 1].width() } else { 0 };
        buffer.clear();
        let (mut start, mut lanes) = (full * LANES, slice.len());
        for step in full..slice[0].width() {
            while slice[lanes - 1].width() <= step {
                lanes -= 1;
            }
            buffer.push((start, lanes));
            start += lanes;
        }
        Self { full, partial: buffer, count: start }
    }

    /// Returns the number of steps in which all lanes have a block.
    pub fn full(&self) -> usize {
        self.full
    }

    /// Returns the number of columns of all steps.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of lanes of each step in which some have ended.
    pub fn partial_lanes(&self) -> impl Iterator<Item = u8> {
        self.partial.iter().map(|&(_, lanes)| lanes as u8)
    }

    /// Returns the buffer, for the next slice.
    pub fn into_buffer(self) -> Vec<(usize, usize)> {
        self.partial
    }

    /// Returns the index of the first lane's element of row `r` of blocks of `height` rows.
    pub fn index<const LANES: usize>(&self, step: usize, height: usize, r: usize) -> usize {
        match step.checked_sub(self.full) {
            None => (step * height + r) * LANES,
            Some(step) => self.partial[step].0 * height + r * self.partial[step].1,
        }
    }

    /// Writes the elements of row `r` of blocks of `height` rows, given for each lane, step by step, in the form in which
    /// they are `stored`.
    pub fn spread<E: Copy, S, const LANES: usize>(
        &self,
        elements: [&[E]; LANES],
        to: &mut [S],
        height: usize,
        r: usize,
        stored: impl Fn(E) -> S,
    ) {
        let (registers, _) = to[..self.full * height * LANES].as_chunks_mut::<LANES>();
        assert!(self.full == 0 || elements.iter().all(|of_lane| of_lane.len() >= self.full));
        for (step, register) in registers.iter_mut().skip(r).step_by(height).enumerate() {
            for (element, of_lane) in register.iter_mut().zip(elements) {
                // SAFETY: each lane has at least `full` elements, as asserted, and there are as many steps.
                *element = stored(unsafe { *of_lane.get_unchecked(step) });
            }
        }
        for (step, &(start, lanes)) in self.partial.iter().enumerate() {
            let to = &mut to[start * height + r * lanes..][..lanes];
            for (element, of_lane) in to.iter_mut().zip(elements) {
                *element = stored(of_lane[self.full + step]);
            }
        }
    }
}
