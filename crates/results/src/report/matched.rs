//! Compares rows of several methods on the same matrices.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::least;
use super::numeric::Column;
use super::select::Select;
use crate::files::read::RecordedRow;
use crate::statistics::fit::pearson;
use spmv_matrix::scalar::Precision;

/// The name of a matrix, whether it is a surrogate, and its nonzeros, which differ if only a triangle was read.
pub type Matrix<'a> = (&'a str, bool, Option<usize>);

/// What rows must have in common to be compared.
pub type Key<'a> = (Matrix<'a>, Option<Precision>);

/// The fastest row of each matrix and precision, with its time in milliseconds.
pub type Fastest<'a> = BTreeMap<Key<'a>, (&'a RecordedRow, f64)>;

/// Numbers of rows, such as speed-ups, each with its row.
pub type Numbers<'a> = Vec<(&'a RecordedRow, f64)>;

pub fn matrix(line: &RecordedRow) -> Matrix<'_> {
    (line.matrix(), line.is_surrogate(), line.row.num_nonzeros)
}

fn key(line: &RecordedRow) -> Key<'_> {
    (matrix(line), line.row.precision)
}

/// Returns the number of matrices of these rows, and the number of surrogates among them.
pub fn matrices<'a>(lines: impl IntoIterator<Item = &'a RecordedRow>) -> [usize; 2] {
    let named: BTreeSet<_> = lines.into_iter().map(|line| (line.matrix(), line.is_surrogate())).collect();
    [named.len(), named.iter().filter(|matrix| matrix.1).count()]
}

/// Returns the time of a product in milliseconds that comparisons use, if the row is correct and timed.
pub fn time(line: &RecordedRow) -> Option<f64> {
    line.row.typical_ms().filter(|_| line.is_ok())
}

/// Whether a time divided by the least one is more than what is shown as 1.00.
pub fn is_loss(ratio: f64) -> bool {
    ratio >= 1.005
}

pub fn timed<'a>(lines: impl IntoIterator<Item = &'a RecordedRow>) -> impl Iterator<Item = &'a RecordedRow> {
    lines.into_iter().filter(|line| time(line).is_some())
}

pub fn fastest<'a>(lines: impl IntoIterator<Item = &'a RecordedRow>) -> Fastest<'a> {
    fastest_by(lines, key)
}

pub fn fastest_by<'a, K: Ord>(
    lines: impl IntoIterator<Item = &'a RecordedRow>,
    key: impl Fn(&'a RecordedRow) -> K,
) -> BTreeMap<K, (&'a RecordedRow, f64)> {
    least(lines.into_iter().filter_map(|line| Some((key(line), (line, time(line)?)))))
}

/// Returns the speed-ups of `of` over `over`, time of `over` / time of `of`, where both have one, sorted by matrix.
pub fn ratios<'a>(of: &Fastest<'a>, over: &Fastest) -> Numbers<'a> {
    let ratio = |(key, &line): (_, &(&'a RecordedRow, f64))| Some((line.0, speed(line, *over.get(key)?)));
    of.iter().filter_map(ratio).collect()
}

/// Returns how many times as long the other row takes, in the processes that measured both if there are such.
fn speed((line, ms): (&RecordedRow, f64), (other, other_ms): (&RecordedRow, f64)) -> f64 {
    let in_processes = || {
        line.row.process_ms.as_ref()?;
        Some(other.row.timing(None)?.over(&line.row.timing(None)?).value)
    };
    in_processes().unwrap_or(other_ms / ms)
}

pub fn selected<'a>(lines: &[&'a RecordedRow], select: &Select) -> Fastest<'a> {
    fastest(lines.iter().copied().filter(|line| select.meets(line)))
}

/// Returns the [`ratios`] of the fastest rows that `of` and `over` select.
pub fn speeds<'a>(lines: &[&'a RecordedRow], of: &Select, over: &Select) -> Numbers<'a> {
    ratios(&selected(lines, of), &selected(lines, over))
}

/// Returns the speed-ups in the time of what is done once and this number of products, of the rows with the least such
/// time.
pub fn speeds_with_setup<'a>(lines: &[&'a RecordedRow], of: &Select, over: &Select, products: f64) -> Numbers<'a> {
    let whole = |line: &RecordedRow| Some(line.row.once_ms()? + products * time(line)?);
    let [of, over]: [Fastest; 2] = [of, over].map(|select| {
        let lines = lines.iter().copied().filter(|line| select.meets(line));
        least(lines.filter_map(|line| Some((key(line), (line, whole(line)?)))))
    });
    let speed = |(key, &(line, ms))| Some((line, over.get(key)?.1 / ms));
    of.iter().filter_map(speed).collect()
}

/// Returns a number of each row that is correct and timed and has it, in the order of the rows.
pub fn numbers<'a>(lines: impl IntoIterator<Item = &'a RecordedRow>, column: &Column) -> Numbers<'a> {
    let number = column.reader();
    timed(lines).filter_map(|line| Some((line, number(line)?))).collect()
}

/// Returns two numbers of each row that is correct and timed, if both are known and finite, in the order of the rows.
pub fn points<'a>(
    lines: impl IntoIterator<Item = &'a RecordedRow>,
    columns: [&Column; 2],
) -> Vec<(&'a RecordedRow, (f64, f64))> {
    let [x, y] = columns.map(Column::reader);
    let point = |line| Some((line, (x(line)?, y(line)?)));
    let points = timed(lines).filter_map(point);
    points.filter(|(_, (x, y))| x.is_finite() && y.is_finite()).collect()
}

/// Returns Pearson's correlation of two numbers over the rows that are correct and timed, and these rows.
pub fn correlation<'a>(
    lines: impl IntoIterator<Item = &'a RecordedRow>,
    columns: [&Column; 2],
) -> (Option<f64>, Vec<&'a RecordedRow>) {
    let (lines, points): (Vec<_>, Vec<_>) = points(lines, columns).into_iter().unzip();
    (pearson(&points), lines)
}

/// Returns the share (0 to 1) of matrices and precisions on which `of` is the fastest, ties included, and the
/// number of them. Counts only those where `of` and all `among` have a correct, timed row, and multiplies the
/// times of `of` by `slower`. Returns `None` if there are none.
pub fn best_share(lines: &[&RecordedRow], of: &Select, among: &[Select], slower: f64) -> Option<(f64, usize)> {
    let others: Vec<_> = among.iter().map(|select| selected(lines, select)).collect();
    let wins = selected(lines, of).into_iter().filter_map(|(key, (_, ms))| {
        let times: Option<Vec<_>> = others.iter().map(|other| Some(other.get(&key)?.1)).collect();
        Some(times?.iter().all(|&other| slower * ms <= other))
    });
    let (won, lost): (Vec<_>, Vec<_>) = wins.partition(|&won| won);
    let all = won.len() + lost.len();
    (all > 0).then(|| (won.len() as f64 / all as f64, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::row;
    use crate::row::Row;

    #[test]
    fn a_setup_is_shared_by_all_products() {
        let lines = [
            ("a.mtx", "merge", Some(0.0), None, 2.0),
            ("a.mtx", "packed", Some(9.0), None, 1.0),
            ("a.mtx", "packed:values=coded", Some(3.0), None, 3.0),
            ("b.mtx", "merge", Some(0.0), None, 2.0),
            ("b.mtx", "packed", None, None, 1.0),
            ("c.mtx", "merge", Some(0.0), None, 2.0),
            ("c.mtx", "packed", Some(2.0), Some(1.0), 1.0),
        ];
        let lines = lines.map(|(file, method, setup_ms, order_ms, ms)| {
            RecordedRow::from(Row { setup_ms, order_ms, ..row(file, method, ms) })
        });
        let lines: Vec<_> = lines.iter().collect();
        let [of, over] = ["packed", "merge"].map(|select| select.parse().unwrap());
        for (products, expected) in
            [(1.0, [("a", 2.0 / 10.0), ("c", 2.0 / 4.0)]), (11.0, [("a", 22.0 / 20.0), ("c", 22.0 / 14.0)])]
        {
            let speeds = speeds_with_setup(&lines, &of, &over, products).into_iter();
            assert!(speeds.map(|(line, speed)| (line.matrix(), speed)).eq(expected));
        }
    }
}
