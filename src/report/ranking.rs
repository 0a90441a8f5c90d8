//! Methods, ranked by their geometric means over matrices.

use super::chart::{Axis, BarSeries, Bars, Chart};
use super::statistics::Statistic;

/// Methods, sorted from the best to the worst mean. Methods with a number on fewer than all matrices come last,
/// because their means cannot be compared with the others.
pub struct Ranking<'a, M> {
    /// The methods that have a mean.
    pub methods: Vec<Ranked<'a, M>>,
    matrices: usize,
}

/// A method with a number for each of several matrices.
pub struct Ranked<'a, M> {
    /// The name of the method.
    pub method: &'a str,
    /// The numbers, each with the matrix.
    pub numbers: Vec<(M, f64)>,
    mean: f64,
}

impl<'a, M> Ranking<'a, M> {
    /// Ranks the methods. `matrices` is the number of all matrices. `more`: whether a greater number is better.
    pub fn of(
        methods: impl IntoIterator<Item = (&'a str, Vec<(M, f64)>)>,
        matrices: usize,
        more: bool,
    ) -> Self {
        let ranked = |(method, numbers): (_, Vec<_>)| {
            let mean = Statistic::GeometricMean.over(&numbers)?;
            Some(Ranked { method, numbers, mean })
        };
        let mut methods: Vec<_> = methods.into_iter().filter_map(ranked).collect();
        let sign = if more { -1.0 } else { 1.0 };
        methods.sort_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean)));
        methods.sort_by_key(|ranked| ranked.numbers.len() < matrices);
        Self { methods, matrices }
    }

    /// Returns a chart of the means. The name of a method is followed by its number of matrices in brackets if that is
    /// not all of them.
    pub fn chart(&self, value: Axis, name: &str) -> Chart {
        let category = |of: &Ranked<M>| match of.numbers.len() {
            matrices if matrices == self.matrices => of.method.to_owned(),
            matrices => format!("{} ({matrices})", of.method),
        };
        let values = self.methods.iter().map(|of| Some(of.mean)).collect();
        Chart::Bars(Bars {
            value,
            categories: self.methods.iter().map(category).collect(),
            series: vec![BarSeries { name: name.into(), values, ..BarSeries::default() }],
            ..Bars::default()
        })
    }

    /// Returns the note that explains the numbers in brackets, if there are any.
    pub fn note(&self) -> Option<String> {
        let note = "A number in brackets is the number of matrices of a mean over fewer than all. Such a mean cannot be \
                    compared with the others.";
        let is_fewer = |of: &Ranked<M>| of.numbers.len() < self.matrices;
        self.methods.iter().any(is_fewer).then(|| note.into())
    }
}
