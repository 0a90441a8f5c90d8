//! The numbers of claims, computed from rows.

use super::super::claim::Quantity;
use crate::files::read::RecordedRow;
use crate::report::matched::{Numbers, best_share, correlation, numbers, speeds, speeds_with_setup};
use crate::report::select::Select;
use crate::statistics::{Statistic, percentage};

/// A number, if there is one, and the rows that it is computed from.
pub type Measured<'a> = (Option<f64>, Vec<&'a RecordedRow>);

/// Computes a quantity as if the times of its first operand were `slower` times those in the rows.
pub fn measure<'a>(quantity: &Quantity, lines: &[&'a RecordedRow], slower: f64) -> Measured<'a> {
    let of_select =
        |select: &Select| -> Vec<&RecordedRow> { lines.iter().copied().filter(|line| select.meets(line)).collect() };
    let correct = |of| of_select(of).into_iter().filter(|line| line.is_ok()).collect::<Vec<_>>();
    match quantity {
        Quantity::Speed { of, over, statistic, products } => {
            let speeds = match *products {
                Some(products) => speeds_with_setup(lines, of, over, products),
                None => speeds(lines, of, over),
            };
            let (number, lines) = reduced(*statistic, speeds);
            (number.map(|number| number / slower), lines)
        }
        Quantity::Faster { of, than } => {
            let speeds = speeds(lines, of, than);
            (percentage(speeds.iter().map(|speed| speed.1 > slower)), rows(speeds))
        }
        Quantity::Best { of, among } => {
            let share = best_share(lines, of, among, slower);
            (share.map(|(share, _)| 100.0 * share), correct(of))
        }
        Quantity::Number { of, column, statistic } => reduced(*statistic, numbers(of_select(of), column)),
        Quantity::Ratio { of, over, column, statistic } => {
            let [above, below] = [of, over].map(|select| reduced(*statistic, numbers(of_select(select), column)));
            let factor = match column {
                rate if rate.is_timed() && rate.more_is_better() => 1.0 / slower,
                time if time.is_timed() => slower,
                _ => 1.0,
            };
            both(above, below, |above, below| above / below * factor)
        }
        Quantity::Correlation { of, between: [x, y] } => correlation(of_select(of), [x, y]),
        Quantity::Farther { of, than, between: [x, y], to } => {
            let [left, right] = [of, than].map(|select| correlation(of_select(select), [x, y]));
            both(left, right, |left, right| (left - to).abs() - (right - to).abs())
        }
        Quantity::Share { of, meets } => {
            let correct = correct(of);
            (percentage(correct.iter().map(|line| meets.passes(line))), correct)
        }
    }
}

fn rows(numbers: Numbers<'_>) -> Vec<&RecordedRow> {
    numbers.into_iter().map(|number| number.0).collect()
}

fn reduced(statistic: Statistic, numbers: Numbers) -> Measured {
    (statistic.over(&numbers).filter(|_| !numbers.is_empty()), rows(numbers))
}

fn both<'a>(a: Measured<'a>, b: Measured<'a>, join: impl Fn(f64, f64) -> f64) -> Measured<'a> {
    (a.0.zip(b.0).map(|(a, b)| join(a, b)), [a.1, b.1].concat())
}
