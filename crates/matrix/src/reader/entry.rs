/// An entry of a matrix, with its row and column counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub row: u32,
    pub col: u32,
    pub value: f64,
}

impl Entry {
    /// Returns the mirror image with the value multiplied by `sign`; `None` for a diagonal entry.
    #[inline(always)]
    pub fn image(self, sign: f64) -> Option<Self> {
        let (row, col) = (self.col, self.row);
        (row != col).then_some(Self { row, col, value: sign * self.value })
    }
}
