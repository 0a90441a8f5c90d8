use super::kind::*;
use crate::report::matched::correlation;

/// The minimum number of rows of a correlation. With fewer rows it is not shown, because it has no meaning.
const MIN_ROWS: usize = 10;

keys! {
    /// Pearson's correlation of columns over the rows of each method (merge-spmv-sc16, Figure 9).
    Correlations {
        pub pairs: Vec<[Column; 2]>,
        #[serde(default)]
        pub split: Vec<Part>,
    }
}

/// The correlation of a pair of columns for a method, in a part of the rows.
struct Correlation<'a> {
    method: &'a str,
    /// The name of the part and the pair.
    name: String,
    rows: usize,
    pearson: Option<f64>,
}

impl Kind for Correlations {
    fn view(&self, shown: &Shown) -> View {
        let mut all = Vec::new();
        for (part, conditions) in parts(&self.conditions, &self.split) {
            for [x, y] in &self.pairs {
                let pair = format!("{} – {}", y.label(), x.label());
                let name = join([part.to_owned(), pair], ": ");
                all.extend(shown.series.iter().map(|series| {
                    let own = series.lines.iter().copied().filter(|line| conditions.passes(line));
                    let (pearson, rows) = correlation(own, [x, y]);
                    let (method, name) = (&series.name[..], name.clone());
                    Correlation { method, name, rows: rows.len(), pearson }
                }));
            }
        }
        let before = all.len();
        all.retain(|of| of.rows >= MIN_ROWS);
        let few = before - all.len();
        let left_out = format!("left out: {few} of {before} correlations, which have fewer than {MIN_ROWS} rows");
        let left_out = (few > 0).then_some(left_out);
        let meaning = "Pearson's correlation of the numbers, without logarithms, over the rows that are correct and \
            timed";
        let table = Table::of(&all)
            .column("of", |of| &of.name[..])
            .column("method", |of| of.method)
            .column("rows", |of| of.rows)
            .column("correlation", |of| of.pearson);
        View::of(shown.notes([Some(meaning.into()), left_out]), chart(&all), table)
    }
}

fn chart(all: &[Correlation]) -> Chart {
    let methods: Vec<_> = grouped(all, |of| of.method).into_iter().map(|group| group.0).collect();
    let bars = grouped(all, |of| of.name.clone()).into_iter().map(|(name, all)| {
        let of_method = |method: &&str| all.iter().find(|of| of.method == *method)?.pearson;
        BarSeries { name, values: methods.iter().map(of_method).collect(), ..BarSeries::default() }
    });
    Chart::Bars(chart::Bars {
        value: Axis::linear("correlation"),
        series: bars.collect(),
        categories: methods.into_iter().map(String::from).collect(),
        ..chart::Bars::default()
    })
}
