//! The rules of columns: how the values of several processes become one, and what a setup does to them that is spread
//! over products.

use super::column::{ColumnType, Join, Spread, Value};
use crate::statistics::Statistic;

/// Several rows that become one.
pub struct Joining {
    /// The place of the process whose setup is in the row.
    pub typical: usize,
    /// The numbers of products, by which means are weighted.
    pub weights: Vec<f64>,
    /// The columns in which the rows should be equal and are not, with the different values.
    pub differing: Vec<(&'static str, String)>,
}

impl Joining {
    pub fn join<T: ColumnType>(&mut self, name: &'static str, rule: Join, values: &[&T]) -> T {
        match rule {
            Join::Union => T::union(values),
            Join::Typical => values[self.typical].clone(),
            Join::Same => {
                self.note_difference(name, values);
                values[self.typical].clone()
            }
            _ => self.number(rule, values).and_then(T::of_number).unwrap_or_default(),
        }
    }

    /// Returns the number that a rule makes of those that are known. A mean and a sum need all of them.
    fn number<T: ColumnType>(&self, rule: Join, values: &[&T]) -> Option<f64> {
        let known: Vec<f64> = values.iter().filter_map(|it| it.value()?.number()).collect();
        let is_complete = known.len() == values.len();
        match rule {
            Join::Typical | Join::Union | Join::Same => None,
            Join::Mean => is_complete.then(|| self.mean(&known)),
            Join::Sum => is_complete.then(|| known.iter().sum()),
            Join::Median => Statistic::Median.of(&known),
            Join::GeometricMean => Statistic::GeometricMean.of(&known),
            Join::Least => Statistic::Min.of(&known),
            Join::Largest => Statistic::Max.of(&known),
        }
    }

    fn mean(&self, numbers: &[f64]) -> f64 {
        let weighted = numbers.iter().zip(&self.weights).map(|(number, weight)| number * weight);
        weighted.sum::<f64>() / self.weights.iter().sum::<f64>()
    }

    fn note_difference<T: ColumnType>(&mut self, name: &'static str, values: &[&T]) {
        let mut shown: Vec<String> = Vec::new();
        for value in values {
            let text = value.value().map_or("nothing".into(), |value| value.to_string());
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        if shown.len() > 1 {
            self.differing.push((name, shown.join(", ")));
        }
    }
}

/// Returns the value of a column if a setup is spread over products, each of which takes `share` milliseconds longer,
/// which is `slower` times as fast; `None` if the time of the setup is not known.
pub fn spread<T: ColumnType>(rule: Spread, value: T, share: Option<f64>, slower: Option<f64>) -> T {
    let number = || value.value().and_then(Value::number);
    let changed = match rule {
        Spread::Keep => return value,
        Spread::Clear => None,
        Spread::Add => number().zip(share).map(|(number, share)| number + share),
        Spread::Scale => number().zip(slower).map(|(number, slower)| number * slower),
    };
    changed.and_then(T::of_number).unwrap_or_default()
}
