//! A line of an edge list.

use super::super::super::error::{Defect, Fault, quote};
use super::super::super::field::Field;
use super::super::super::number::{digits, value};
use super::super::words::Words;
use super::names::unquoted;
use crate::csr::MAX_INDEX;

/// The largest number up to which doubles represent all whole numbers.
const LAST_EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
/// The cure for a dense matrix.
pub const DENSE: &str = "a dense matrix is written as a sparse one by `scipy.io.mmwrite('a.mtx', \
                         scipy.sparse.coo_array(numpy.loadtxt('FILE')))`, with delimiter=',' if it has commas";
const WEIGHTED: &str = "`networkx.write_weighted_edgelist` writes the weights of all edges";

/// An edge as a line states it.
pub struct Edge {
    pub nodes: [u64; 2],
    pub weight: Option<f64>,
    /// Whether networkx wrote it with a dictionary of attributes.
    pub has_attributes: bool,
    /// Whether the line has more than nodes and a weight.
    pub has_more: bool,
}

impl Edge {
    /// Reads an edge at the beginning of a line. Numbers of nodes that will be numbered anew may be large.
    pub fn read(words: &mut Words, is_compact: bool) -> Result<Self, Fault> {
        let most = if is_compact { u64::MAX } else { MAX_INDEX as u64 };
        let nodes = [node(words, "the first node", most)?, node(words, "the second node", most)?];
        let Some(word) = words.next()? else {
            return Ok(Self { nodes, weight: None, has_attributes: false, has_more: false });
        };
        if word.starts_with(b"{") {
            let begun = String::from_utf8_lossy(word).into_owned();
            let (weight, has_more) = attributes(&(begun + &words.comment()?))?;
            return Ok(Self { nodes, weight, has_attributes: true, has_more });
        }
        let weight = value(unquoted(word), Field::Real)?;
        let has_more = words.begin()?.is_some();
        Ok(Self { nodes, weight: Some(weight), has_attributes: false, has_more })
    }

    /// Returns why it differs from other edges in that it has a weight, or none.
    pub fn differs(&self) -> Defect {
        let what = if self.weight.is_some() { "a weight" } else { "no weight" };
        let mend = if self.has_attributes { format!("; {WEIGHTED}") } else { String::new() };
        format!("this edge has {what}, unlike those before it{mend}").into()
    }

    /// Returns the numbers of rows and columns, if the line may state sizes: `NODES EDGES` or `ROWS COLUMNS EDGES`.
    pub fn sizes(&self, edges: u64) -> Option<[u64; 2]> {
        let [first, second] = self.nodes;
        let (sizes, is_count) = match self.weight {
            None => ([first; 2], second == edges),
            Some(weight) => (self.nodes, weight == edges as f64),
        };
        (is_count && !self.has_more && !self.has_attributes).then_some(sizes)
    }

    /// Returns a remark on a line that was read as sizes.
    pub fn sizes_remark(&self, line: u64) -> String {
        let [first, second] = self.nodes;
        let (third, what) = match self.weight {
            None => (String::new(), "nodes and edges"),
            Some(weight) => (format!(" {weight}"), "rows, columns and edges"),
        };
        format!(
            "line {line}, `{first} {second}{third}`, was read as the numbers of {what}, because all other lines fit \
             it; if it is an edge, move it to the end"
        )
    }
}

/// Reads the number of a node: a whole number in any notation, also in quotes.
fn node(words: &mut Words, what: &str, most: u64) -> Result<u64, Fault> {
    Ok(whole(unquoted(words.word_in_line(what)?), what, most)?)
}

fn whole(word: &[u8], what: &str, most: u64) -> Result<u64, Defect> {
    match digits(word).or_else(|| of_float(value(word, Field::Real).ok()?)) {
        Some(number) if number <= most => Ok(number),
        Some(_) => {
            let mend = "--edges compact numbers the nodes anew";
            Err(format!("{what} {} is larger than {most}; {mend}", quote(word)).into())
        }
        None => Err(no_node(word, what)),
    }
}

fn of_float(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..=LAST_EXACT).contains(&number);
    is_whole.then_some(number as u64)
}

fn no_node(word: &[u8], what: &str) -> Defect {
    let factorize = "`pandas.factorize` numbers nodes with any names";
    let number = value(word, Field::Real).ok();
    if number.is_some_and(|number| number > LAST_EXACT) {
        return format!("{what} {} is too large; {factorize}", quote(word)).into();
    }
    let is_identifier = word.strip_prefix(b"-").unwrap_or(word).iter().all(u8::is_ascii_digit);
    let mend = if number.is_some() && !is_identifier { DENSE } else { factorize };
    format!("{what} must be a whole number of at least 0, not {}; {mend}", quote(word)).into()
}

/// Returns the weight among the attributes that networkx writes, `{'weight': 2.5}`, and whether there are others.
fn attributes(text: &str) -> Result<(Option<f64>, bool), Defect> {
    let inner = text.trim_end().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let Some(inner) = inner.map(str::trim) else {
        return Err(format!("the attributes of the edge do not end with }}; {WEIGHTED}").into());
    };
    let keys = ["'weight':", "\"weight\":"].into_iter();
    let is_key = |before: &str| before.is_empty() || before.ends_with(',');
    let mut found = keys.filter_map(|key| inner.split_once(key));
    let Some((before, after)) = found.find(|(before, _)| is_key(before.trim_end())) else {
        return Ok((None, !inner.is_empty()));
    };
    let (weight, others) = after.split_once(',').unwrap_or((after, ""));
    // numpy's numbers are written as `np.float64(2.5)`.
    let weight = weight.trim().trim_end_matches(')').rsplit('(').next().unwrap_or_default();
    let weight = value(unquoted(weight.as_bytes()), Field::Real)?;
    Ok((Some(weight), !before.is_empty() || !others.is_empty()))
}
