//! A launch of a kernel, and its grid for chosen values of the parameters.

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

/// The maximum number of blocks of a launch, which is CUDA's.
const MOST_BLOCKS: usize = (1 << 31) - 1;
/// More shared memory per block than any GPU has, in bytes.
const MOST_SHARED: usize = 1 << 20;

/// A launch of a kernel. One of the numbers per block, `blocks` or `resident` determines the number of blocks.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub kernel: String,
    pub threads: Number,
    pub rows_per_block: Option<Number>,
    pub columns_per_block: Option<Number>,
    pub nonzeros_per_block: Option<Number>,
    pub blocks: Option<Number>,
    /// Whether there are as many blocks as can be resident on the GPU at the same time.
    #[serde(default)]
    pub resident: bool,
    pub shared_bytes: Option<Number>,
}

/// A number, or a text such as `"threads / lanes * 2"`: numbers and names of parameters between `*` and `/`, which are
/// evaluated from left to right.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a number from 0 on, or a text such as \"threads / lanes\"")]
pub enum Number {
    Plain(usize),
    Formula(String),
}

/// A grid and its blocks, for chosen values of the parameters and a matrix.
pub struct Grid {
    /// The number of blocks; `None` if it is that of the blocks that can be resident on the GPU at the same time.
    pub blocks: Option<usize>,
    pub threads: usize,
    pub shared_bytes: usize,
}

impl Step {
    /// Returns the grid for these values of the parameters and a matrix of so many rows, columns and nonzeros, or what
    /// is wrong with the definition of the step.
    pub fn grid(&self, chosen: &[(&str, usize)], size: [usize; 3]) -> Result<Grid> {
        self.checked_grid(chosen, size).map_err(|wrong| anyhow!("kernel {}: {wrong}", self.kernel))
    }

    fn checked_grid(&self, chosen: &[(&str, usize)], size: [usize; 3]) -> Result<Grid> {
        let threads = self.threads.value(chosen)?;
        ensure!((1..=1024).contains(&threads), "threads is a number from 1 to 1024, and not {threads}");
        let chosen = [chosen, &[("threads", threads)]].concat();
        let mut given = Vec::from_iter(self.resident.then_some(None));
        let numbers = [&self.rows_per_block, &self.columns_per_block, &self.nonzeros_per_block];
        let per_block = numbers.into_iter().zip(size.map(Some));
        for (number, all) in per_block.chain([(&self.blocks, None)]) {
            let Some(number) = number else { continue };
            let number = number.value(&chosen)?;
            ensure!(number > 0, "the number of rows, columns, nonzeros or blocks is 0");
            given.push(Some(all.map_or(number, |all: usize| all.div_ceil(number))));
        }
        let [blocks] = given[..] else {
            bail!("set one of rows_per_block, columns_per_block, nonzeros_per_block, blocks, and resident = true");
        };
        let shared_bytes = self.shared_bytes.as_ref().map_or(Ok(0), |it| it.value(&chosen))?;
        for (name, number, most) in
            [("blocks", blocks.unwrap_or(0), MOST_BLOCKS), ("shared_bytes", shared_bytes, MOST_SHARED)]
        {
            ensure!(number <= most, "{name} is {number}; at most {most} are possible");
        }
        Ok(Grid { blocks, threads, shared_bytes })
    }
}

impl Number {
    /// Returns the value, where names stand for the chosen numbers, or what is wrong with the text.
    fn value(&self, chosen: &[(&str, usize)]) -> Result<usize> {
        match self {
            Self::Plain(number) => Ok(*number),
            Self::Formula(text) => evaluated(text, chosen).map_err(|wrong| anyhow!("\"{text}\": {wrong}")),
        }
    }
}

fn evaluated(text: &str, chosen: &[(&str, usize)]) -> Result<usize> {
    let operand = |word: &str| {
        let word = word.trim();
        let named = chosen.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
        named.or_else(|| word.parse().ok()).with_context(|| {
            let names: Vec<_> = chosen.iter().map(|(name, _)| *name).collect();
            format!("'{word}' is neither a number nor one of: {}", names.join(", "))
        })
    };
    let operators = ['*', '/'];
    if let Some(last) = text.chars().last().filter(|last| operators.contains(last)) {
        bail!("there is nothing after {last}");
    }
    let mut words = text.split(operators);
    let mut result = operand(words.next().unwrap_or_default())?;
    for (operator, word) in text.matches(operators).zip(words) {
        let right = operand(word)?;
        let value = match operator {
            "*" => result.checked_mul(right),
            _ => result.checked_div(right).filter(|quotient| quotient * right == result),
        };
        result = value
            .with_context(|| format!("{result} and {right} have no such product or quotient without remainder"))?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_evaluated_from_left_to_right() {
        let value = |text: &str| {
            let number = Number::Formula(text.into()).value(&[("threads", 256), ("lanes", 4)]);
            number.map_err(|wrong| wrong.to_string())
        };
        assert_eq!(value("threads / lanes * 2"), Ok(128));
        assert_eq!(value(" 7 "), Ok(7));
        for (text, reason) in [
            ("threads / lane", "'lane' is neither a number nor one of: threads, lanes"),
            ("threads / 0", "256 and 0 have no such product or quotient"),
            ("threads / 3", "without remainder"),
            ("threads * 99999999999999999", "256 and"),
            ("threads *", "nothing after *"),
            ("", "'' is neither"),
            ("2 * / 2", "'' is neither"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
