//! A launch of a kernel, and its grid for chosen values of the parameters.

use serde::Deserialize;

use super::number::Number;

/// A launch of a kernel.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The name of the kernel.
    pub kernel: String,
    /// The threads of a block.
    pub threads: Number,
    /// The rows of a block: there are as many blocks as all rows need.
    pub rows_per_block: Option<Number>,
    /// The columns of a block: there are as many blocks as all columns need.
    pub columns_per_block: Option<Number>,
    /// The nonzeros of a block: there are as many blocks as all nonzeros need.
    pub nonzeros_per_block: Option<Number>,
    /// The number of blocks.
    pub blocks: Option<Number>,
    /// Whether there are as many blocks as can be resident on the GPU at the same time.
    #[serde(default)]
    pub resident: bool,
    /// The bytes of dynamic shared memory of a block.
    #[serde(default)]
    pub shared_bytes: Number,
}

/// A grid and its blocks, for chosen values of the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// What the number of blocks follows from.
    pub blocks: Blocks,
    /// The threads of a block.
    pub threads: usize,
    /// The bytes of dynamic shared memory of a block.
    pub shared_bytes: usize,
}

/// What the number of blocks follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blocks {
    /// So many rows for each block.
    Rows(usize),
    /// So many columns for each block.
    Columns(usize),
    /// So many nonzeros for each block.
    Nonzeros(usize),
    /// This number of blocks.
    Fixed(usize),
    /// As many blocks as can be resident on the GPU at the same time.
    Resident,
}

impl Step {
    /// Returns the grid for these values of the parameters.
    ///
    /// # Errors
    /// Returns what is wrong with the definition of the step.
    pub fn grid(&self, chosen: &[(&str, usize)]) -> Result<Grid, String> {
        let wrong = |what: &str| format!("kernel {}: {what}", self.kernel);
        let value =
            |number: &Number, chosen: &[_]| number.value(chosen).map_err(|what| wrong(&what));
        let threads = value(&self.threads, chosen)?;
        if !(1..=1024).contains(&threads) {
            return Err(wrong(&format!("threads is a number from 1 to 1024, and not {threads}")));
        }
        let chosen = [chosen, &[("threads", threads)]].concat();
        let mut given = Vec::from_iter(self.resident.then_some(Blocks::Resident));
        let mut give = |number: &Option<Number>, blocks: fn(usize) -> Blocks| {
            let Some(number) = number else { return Ok(()) };
            let number = value(number, &chosen)?;
            if number == 0 {
                return Err(wrong("the number of rows, columns, nonzeros or blocks is 0"));
            }
            given.push(blocks(number));
            Ok(())
        };
        give(&self.rows_per_block, Blocks::Rows)?;
        give(&self.columns_per_block, Blocks::Columns)?;
        give(&self.nonzeros_per_block, Blocks::Nonzeros)?;
        give(&self.blocks, Blocks::Fixed)?;
        let [blocks] = given[..] else {
            return Err(wrong(
                "set one of rows_per_block, columns_per_block, nonzeros_per_block, blocks, and resident = true",
            ));
        };
        Ok(Grid { blocks, threads, shared_bytes: value(&self.shared_bytes, &chosen)? })
    }
}
