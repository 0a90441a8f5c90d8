//! The view `amortisation`: the number of products after which a setup has paid off.

use serde::Deserialize;

use super::few;
use super::shown::{Series, Shown};
use crate::bench::metrics::break_even;
use crate::report::View;
use crate::report::chart;
use crate::report::chart::{Axis, Chart, Guide, Mark, Plane, Point};
use crate::report::lines::RecordedRow;
use crate::report::matched::Fastest;
use crate::report::select::{Conditions, Select};
use crate::report::statistics::{Statistic, quantile};
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// Setup times compared with the time that each product saves over the baseline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amortisation {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The baseline. Its own setup time counts too.
    pub over: Select,
}

/// The times of a method and of the baseline on a matrix, in milliseconds.
struct Pair {
    /// Whether the values of the matrix repeat.
    values_repeat: Option<bool>,
    setup: f64,
    product: f64,
    over_setup: f64,
    over_product: f64,
}

impl Pair {
    /// Returns the time of setup and products, divided by that of the baseline.
    fn ratio(&self, products: f64) -> f64 {
        (self.setup + products * self.product) / (self.over_setup + products * self.over_product)
    }

    /// Returns the number of products after which the setup has paid off, or `None` if it never does.
    fn break_even(&self) -> Option<f64> {
        let setup = (self.setup - self.over_setup).max(0.0);
        break_even(setup, self.product, self.over_product)
    }
}

impl Amortisation {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let (over, on_baseline) = shown.baseline(lines, &self.conditions, &self.over);
        let others = shown.series.iter().filter(|series| !series.is(&self.over));
        let pairs = others.map(|series| (&series.name[..], pairs(series, &over)));
        let pairs: Vec<_> = pairs.filter(|(_, pairs)| !pairs.is_empty()).collect();
        let meaning = format!(
            "pays off after n products: setup and n products together take less time than with {}; median and \
             quartiles over the matrices on which the method pays off",
            self.over
        );
        let kinds = Kinds::of_lines(&shown.lines);
        let notes = shown.notes().into_iter().chain(on_baseline).chain(shown.note_on_several());
        View {
            title: self.title.clone(),
            notes: notes.chain([meaning]).chain(kinds.note()).collect(),
            chart: Some(self.chart(&pairs)),
            table: Some(self.table(&pairs, kinds)),
            ..View::default()
        }
    }

    fn chart(&self, pairs: &[(&str, Vec<Pair>)]) -> Chart {
        let point = |pairs: &[Pair], x: f64| {
            let ratios: Vec<_> = pairs.iter().map(|pair| pair.ratio(x)).collect();
            let y = Statistic::GeometricMean.of(&ratios)?;
            Some(Point { x, y, ..Point::default() })
        };
        let series = pairs.iter().map(|(name, pairs)| chart::Series {
            name: (*name).to_owned(),
            mark: Mark::Trend,
            points: products().filter_map(|x| point(pairs, x)).collect(),
        });
        let over = Guide { name: self.over.to_string(), points: vec![(1.0, 1.0), (1e6, 1.0)] };
        let y = format!("time of setup and products, relative to {}", self.over);
        let series: Vec<_> = series.collect();
        let few = few::of_points(&series, false);
        let (x, y) = (Axis::log("products"), Axis::log(y));
        Chart::Plane(Plane { x, y, series, guides: vec![over], few })
    }

    fn table(&self, pairs: &[(&str, Vec<Pair>)], kinds: Kinds) -> Table {
        let row = |(name, pairs): &(&str, Vec<Pair>)| {
            let each = |number: fn(&Pair) -> Option<f64>| {
                let numbers =
                    pairs.iter().filter_map(|pair| Some((pair.values_repeat, number(pair)?)));
                numbers.collect::<Vec<_>>()
            };
            let setups = each(|pair| Some(pair.setup / pair.over_product));
            let paid = each(Pair::break_even);
            let all: Vec<_> = paid.iter().map(|number| number.1).collect();
            let never = 100.0 * (pairs.len() - paid.len()) as f64 / pairs.len() as f64;
            let median = |numbers: &[_]| kinds.means(numbers, Statistic::Median).into_iter();
            let quartile = |share| Cell::from(quantile(&all, share));
            let mut row = vec![Cell::text(*name), pairs.len().into()];
            row.extend(median(&setups).map(Cell::from));
            row.push(quartile(0.25));
            row.extend(median(&paid).map(Cell::from));
            row.extend([quartile(0.75), never.into()]);
            row
        };
        let setup = format!("setup (products of {})", self.over);
        let columns = ["method".into(), "matrices".into()].into_iter().chain(kinds.columns(setup));
        let columns = columns.chain(["pays off after: lower quartile".into()]);
        let columns = columns.chain(kinds.columns("median".into()));
        let columns = columns.chain(["upper quartile".into(), "never (% of matrices)".into()]);
        Table::new(columns, pairs.iter().map(row).collect())
    }
}

/// Returns numbers of products from 1 to a million, four per power of ten.
fn products() -> impl Iterator<Item = f64> {
    (0..=24).map(|quarter| 10f64.powf(f64::from(quarter) / 4.0))
}

/// Returns the times on matrices where both have one. Returns nothing for a method without setup.
fn pairs(series: &Series, over: &Fastest) -> Vec<Pair> {
    let pair = |(key, (line, product)): (_, (&RecordedRow, f64))| {
        let &(over_line, over_product) = over.get(&key)?;
        let over_setup = over_line.row.setup_ms?;
        let (setup, values_repeat) = (line.row.setup_ms?, line.row.values_repeat());
        Some(Pair { values_repeat, setup, product, over_setup, over_product })
    };
    let pairs: Vec<_> = series.times().into_iter().filter_map(pair).collect();
    if pairs.iter().all(|pair| pair.setup == 0.0) { Vec::new() } else { pairs }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each product saves 1 of the 6 ms that must be saved. A method with a shorter setup than the baseline has
    /// paid off at once.
    #[test]
    fn the_setup_of_the_baseline_counts_too() {
        let pair = |setup| Pair {
            values_repeat: None,
            setup,
            product: 1.0,
            over_setup: 4.0,
            over_product: 2.0,
        };
        assert_eq!(pair(10.0).break_even(), Some(6.0));
        assert_eq!(pair(10.0).ratio(6.0), 1.0);
        assert_eq!(pair(3.0).break_even(), Some(0.0));
        assert_eq!(Pair { product: 2.0, ..pair(10.0) }.break_even(), None);
    }
}
