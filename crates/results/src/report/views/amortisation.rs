use super::few;
use super::kind::*;
use crate::metrics::break_even;

keys! {
    /// Setup times, with those of orderings, compared with the time that each product saves over the baseline.
    Amortisation {
        pub over: Select,
    }
}

/// The times of a method and of the baseline on a matrix, in milliseconds. That of the setup includes the ordering.
struct Pair {
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

impl Kind for Amortisation {
    fn over(&self) -> Vec<Select> {
        vec![self.over.clone()]
    }

    fn view(&self, shown: &Shown) -> View {
        let meaning = format!(
            "pays off after n products: setup and n products together take less time than with {}; median and \
             quartiles over the matrices on which the method pays off",
            self.over
        );
        let (pairs, notes) = shown.compared(&self.over, meaning, pairs);
        let kinds = shown.kinds();
        View { kinds, ..View::of(notes, self.chart(&pairs), self.table(&pairs, kinds)) }
    }
}

impl Amortisation {
    /// Draws the ratios for numbers of products from 1 to a million, four per power of ten.
    fn chart(&self, pairs: &[(&str, Vec<Pair>)]) -> Chart {
        let points = |pairs: &[Pair]| {
            let products = (0..=24).map(|quarter| 10f64.powf(f64::from(quarter) / 4.0));
            let point = |x| {
                let ratios: Vec<_> = pairs.iter().map(|pair| pair.ratio(x)).collect();
                let y = Statistic::GeometricMean.of(&ratios)?;
                Some(Point { x, y, ..Point::default() })
            };
            products.filter_map(point).collect()
        };
        let series = drawn(Mark::Trend, pairs.iter().map(|(name, pairs)| (*name, points(pairs))));
        let over = Guide { name: self.over.to_string(), points: vec![(1.0, 1.0), (1e6, 1.0)] };
        let y = Axis::log(format!("time of setup and products, relative to {}", self.over));
        let few = first(&series, pairs);
        Chart::Plane(chart::Plane { x: Axis::log("products"), y, series, guides: vec![over], few })
    }

    fn table(&self, pairs: &[(&str, Vec<Pair>)], kinds: Kinds) -> Table {
        let setups = |pairs: &[Pair]| each(pairs, |pair| Some(pair.setup / pair.over_product));
        let paid = |pairs: &[Pair]| each(pairs, Pair::break_even);
        let quartile = |pairs: &[Pair], share| quantile(paid(pairs).iter().map(|number| number.1), share);
        let never = |pairs: &[Pair]| (pairs.len() - paid(pairs).len()) as f64 / pairs.len() as f64;
        let setup = format!("setup (products of {})", self.over);
        Table::of(pairs)
            .column("method", |(name, _)| *name)
            .column("matrices", |(_, pairs)| pairs.len())
            .means(kinds, (&setup, Statistic::Median), |(_, pairs)| setups(pairs))
            .column("pays off after: lower quartile", |(_, pairs)| quartile(pairs, 0.25))
            .means(kinds, ("median", Statistic::Median), |(_, pairs)| paid(pairs))
            .column("upper quartile", |(_, pairs)| quartile(pairs, 0.75))
            .column("never (% of matrices)", |(_, pairs)| 100.0 * never(pairs))
            .build()
    }
}

/// The number of methods that a page shows at first.
const SHOWN_AT_FIRST: usize = 4;

/// Returns the methods with a setup that a page shows at first: the best for the most numbers of products, then the
/// best in the mean.
fn first(series: &[chart::Series], pairs: &[(&str, Vec<Pair>)]) -> Vec<String> {
    let has_setup = |name: &str| {
        let mut own = pairs.iter().filter(|(method, _)| *method == name);
        own.any(|(_, pairs)| pairs.iter().any(|pair| pair.setup > pair.product))
    };
    let series: Vec<_> = series.iter().filter(|of| has_setup(&of.name)).collect();
    let ratios = |of: &&chart::Series| of.points.iter().map(|point| point.y.ln()).enumerate().collect();
    let ranked = few::ranked(&series.iter().map(ratios).collect::<Vec<Vec<_>>>(), false);
    ranked.into_iter().take(SHOWN_AT_FIRST).map(|place| series[place].name.clone()).collect()
}

/// Returns a number of each pair that has it, with whether the values of the matrix repeat.
fn each(pairs: &[Pair], number: fn(&Pair) -> Option<f64>) -> Vec<(Option<bool>, f64)> {
    pairs.iter().filter_map(|pair| Some((pair.values_repeat, number(pair)?))).collect()
}

/// Returns the times on matrices where both have one. Returns nothing for a method without setup.
fn pairs(series: &Series, over: &Fastest) -> Vec<Pair> {
    let pair = |(key, &(line, product)): (_, &(&RecordedRow, f64))| {
        let &(baseline, over_product) = over.get(key)?;
        let (setup, over_setup) = (line.row.once_ms()?, baseline.row.once_ms()?);
        let values_repeat = line.row.values_repeat();
        Some(Pair { values_repeat, setup, product, over_setup, over_product })
    };
    let pairs: Vec<_> = series.times().iter().filter_map(pair).collect();
    if pairs.iter().all(|pair| pair.setup == 0.0) { Vec::new() } else { pairs }
}
