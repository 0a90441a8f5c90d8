//! Methods, ranked by their geometric means over matrices.

use super::chart::{Axis, BarSeries, Bars, Chart};
use super::means;
use crate::statistics::Statistic;
use crate::statistics::interval::{Interval, mean_interval};

/// Methods from the best to the worst mean. Means over fewer matrices cannot be compared with others and come last.
pub struct Ranking<'a, M> {
    pub methods: Vec<Ranked<'a, M>>,
    matrices: usize,
}

pub struct Ranked<'a, M> {
    pub method: &'a str,
    pub numbers: Vec<(M, f64)>,
    mean: f64,
    /// The interval of the mean, if [`Ranking::with_intervals`] added it.
    interval: Option<Interval>,
}

impl<M> Ranked<'_, M> {
    /// Returns the interval of the mean for a table.
    pub fn between(&self) -> Option<String> {
        self.interval.map(means::between)
    }
}

impl<'a, M> Ranking<'a, M> {
    /// Ranks the methods. `matrices` is the number of all matrices. `more`: whether a greater number is better.
    pub fn of(methods: impl IntoIterator<Item = (&'a str, Vec<(M, f64)>)>, matrices: usize, more: bool) -> Self {
        let ranked = |(method, numbers): (_, Vec<_>)| {
            let mean = Statistic::GeometricMean.over(&numbers)?;
            Some(Ranked { method, mean, interval: None, numbers })
        };
        let mut methods: Vec<_> = methods.into_iter().filter_map(ranked).collect();
        let sign = if more { -1.0 } else { 1.0 };
        methods.sort_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean)));
        methods.sort_by_key(|ranked| ranked.numbers.len() < matrices);
        Self { methods, matrices }
    }

    /// Adds the intervals of the means, which take longer than all else of a ranking.
    pub fn with_intervals(mut self) -> Self {
        for of in &mut self.methods {
            of.interval = mean_interval(of.numbers.iter().map(|number| number.1));
        }
        self
    }

    /// Returns a chart of the means, with the number of matrices after a name if that is not all of them.
    pub fn chart(&self, value: Axis, name: &str) -> Chart {
        let category = |of: &Ranked<M>| match of.numbers.len() {
            matrices if matrices == self.matrices => of.method.to_owned(),
            matrices => format!("{} ({matrices})", of.method),
        };
        let values = self.methods.iter().map(|of| Some(of.mean)).collect();
        let intervals = self.methods.iter().map(|of| of.interval).collect();
        Chart::Bars(Bars {
            value,
            categories: self.methods.iter().map(category).collect(),
            series: vec![BarSeries { name: name.into(), values, intervals, mean: None }],
            ..Bars::default()
        })
    }

    pub fn notes(&self) -> [Option<String>; 2] {
        let on_intervals = "95 % interval: of the mean, by a bootstrap over the matrices; those of two methods may \
                            overlap although one of them is faster on every matrix";
        let on_fewer = "A number in brackets is the number of matrices of a mean over fewer than all. Such a mean \
                        cannot be compared with the others.";
        let is_fewer = |of: &Ranked<M>| of.numbers.len() < self.matrices;
        let has_interval = self.methods.iter().any(|of| of.interval.is_some());
        [
            has_interval.then(|| on_intervals.into()),
            self.methods.iter().any(is_fewer).then(|| on_fewer.into()),
        ]
    }
}
