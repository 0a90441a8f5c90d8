//! A launch of a kernel, and its grid for chosen values of the parameters.

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

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
    #[serde(default)]
    pub shared_bytes: Number,
}

/// A number, or a text such as `"threads / lanes * 2"`: numbers and names of parameters between `*` and `/`, which are
/// evaluated from left to right.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a number from 0 on, or a text such as \"threads / lanes\"")]
pub enum Number {
    Plain(usize),
    Formula(String),
}

/// A grid and its blocks, for chosen values of the parameters.
pub struct Grid {
    pub blocks: Blocks,
    pub threads: usize,
    pub shared_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blocks {
    /// So many rows for each block.
    Rows(usize),
    Columns(usize),
    Nonzeros(usize),
    /// This number of blocks.
    Fixed(usize),
    /// As many blocks as can be resident on the GPU at the same time.
    Resident,
}

impl Step {
    /// Returns the grid for these values of the parameters, or what is wrong with the definition of the step.
    pub fn grid(&self, chosen: &[(&str, usize)]) -> Result<Grid> {
        self.checked_grid(chosen).map_err(|wrong| anyhow!("kernel {}: {wrong}", self.kernel))
    }

    fn checked_grid(&self, chosen: &[(&str, usize)]) -> Result<Grid> {
        let threads = self.threads.value(chosen)?;
        ensure!(
            (1..=1024).contains(&threads),
            "threads is a number from 1 to 1024, and not {threads}"
        );
        let chosen = [chosen, &[("threads", threads)]].concat();
        let mut given = Vec::from_iter(self.resident.then_some(Blocks::Resident));
        let mut give = |number: &Option<Number>, blocks: fn(usize) -> Blocks| {
            let Some(number) = number else { return Ok(()) };
            let number = number.value(&chosen)?;
            ensure!(number > 0, "the number of rows, columns, nonzeros or blocks is 0");
            given.push(blocks(number));
            Ok(())
        };
        give(&self.rows_per_block, Blocks::Rows)?;
        give(&self.columns_per_block, Blocks::Columns)?;
        give(&self.nonzeros_per_block, Blocks::Nonzeros)?;
        give(&self.blocks, Blocks::Fixed)?;
        let [blocks] = given[..] else {
            bail!(
                "set one of rows_per_block, columns_per_block, nonzeros_per_block, blocks, and resident = true"
            );
        };
        Ok(Grid { blocks, threads, shared_bytes: self.shared_bytes.value(&chosen)? })
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::Plain(0)
    }
}

impl Number {
    /// Returns the value, where names stand for the chosen numbers, or what is wrong with the text.
    fn value(&self, chosen: &[(&str, usize)]) -> Result<usize> {
        match self {
            Self::Plain(number) => Ok(*number),
            Self::Formula(text) => {
                evaluated(text, chosen).map_err(|wrong| anyhow!("\"{text}\": {wrong}"))
            }
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
    let is_operator = ['*', '/'];
    let (first, mut rest) = text.split_at(text.find(is_operator).unwrap_or(text.len()));
    let mut result = operand(first)?;
    while let Some(operator) = rest.chars().next() {
        let next = &rest[1..];
        ensure!(!next.is_empty(), "there is nothing after {operator}");
        let (word, after) = next.split_at(next.find(is_operator).unwrap_or(next.len()));
        let right = operand(word)?;
        let value = match operator {
            '*' => result.checked_mul(right),
            _ => result.checked_div(right).filter(|quotient| quotient * right == result),
        };
        result = value.with_context(|| {
            format!("{result} and {right} have no such product or quotient without remainder")
        })?;
        rest = after;
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
