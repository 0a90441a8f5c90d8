//! The answer to the question which method to use on several matrices, in sentences: one recommendation with its
//! reason, its speed over the best baseline, and a remark if another method wins more often or takes less time in all.

use std::collections::{BTreeMap, BTreeSet};

use super::grouped;
use super::matched::is_loss;
use super::names::count;
use super::standings::Time;
use crate::row::Baseline;
use crate::row::contest::contest;
use crate::row::paired::fastest;
use crate::statistics::Statistic;
use crate::statistics::interval::mean_interval;

/// The method that wins most often is recommended if it takes less than so many times the time of the one that loses
/// the least.
const LEAST_LOSS: f64 = 1.02;

/// Returns the answer for times that may be compared, which contain the setup if `planned` products share it. `None` if
/// fewer than two methods have times. `baseline` is compared in the place of the best one.
pub fn answer(times: &[Time], planned: Option<u32>, baseline: Option<&str>) -> Option<String> {
    let matrices = times.iter().map(|time| time.matrix).collect::<BTreeSet<_>>().len();
    let methods = Method::all(times);
    let first = methods.iter().max_by(|a, b| a.rank().partial_cmp(&b.rank()).expect("no NaN"))?;
    let complete = methods.iter().filter(|method| method.losses.len() == matrices);
    let safest = complete.min_by(|a, b| a.mean().total_cmp(&b.mean())).unwrap_or(first);
    let is_close = mean(&ratios(first, safest)) < LEAST_LOSS;
    let is_first = is_close && first.losses.len() == safest.losses.len();
    let (method, reason) = match is_first {
        true => (first, first.wins(matrices) + &first.loss_elsewhere(matrices)),
        false => (safest, safest.loses_least()),
    };
    let remark = (first.name != safest.name).then(|| match is_first {
        true => safest.is_close_to(first),
        false => first.wins_but(safest, matrices),
    });
    let usage = planned.map_or("Use".into(), |products| {
        format!("For {}, use", count(products as usize, "product"))
    });
    let reason = format!("{usage} {}: it {reason}", method.name);
    let sentences = [Some(reason), method.speed(&methods, baseline, matrices), remark];
    let sentences = sentences.into_iter().flatten().map(|sentence| sentence + ".");
    Some(sentences.collect::<Vec<_>>().join(" "))
}

/// A method on the matrices on which it has a time.
#[derive(Default)]
struct Method<'a> {
    name: &'a str,
    /// Its time on each matrix, divided by the least one.
    losses: BTreeMap<usize, f64>,
    /// The number of matrices on which it is the fastest, and on how many of them another one may be. A method that
    /// only chose another measured one does not compete with it.
    won: usize,
    uncertain: usize,
}

impl<'a> Method<'a> {
    /// Returns the methods, none if only one has times.
    fn all(times: &'a [Time]) -> Vec<Self> {
        let contest = contest(times, |time| (time.matrix, &time.method, time.picked.as_deref()));
        let mut methods = BTreeMap::<&str, Self>::new();
        let contests = grouped(contest.iter().copied(), |time| time.matrix);
        let first = contests
            .iter()
            .filter_map(|(matrix, of)| Some((*matrix, *fastest(of, |it| &it.time)?)));
        let first: BTreeMap<_, &Time> = first.collect();
        for time in times {
            let Some(first) = first.get(&time.matrix) else { continue };
            let method = methods.entry(&time.method).or_default();
            method.name = &time.method;
            method.losses.insert(time.matrix, time.time.over(&first.time).value);
        }
        for (matrix, rivals) in contests {
            let first = first[&matrix];
            let rivals = rivals.iter().filter(|time| time.method != first.method);
            let is_apart = rivals.filter_map(|rival| rival.time.over(&first.time).is_apart());
            let method = methods.entry(&first.method).or_default();
            method.won += 1;
            method.uncertain += usize::from(is_apart.into_iter().any(|is| !is));
        }
        let is_contest = contest.iter().any(|time| time.method != contest[0].method);
        methods.into_values().filter(|_| is_contest).collect()
    }

    /// Returns what is greater for a method that is the fastest on more matrices, or on equally many and in the mean.
    fn rank(&self) -> (usize, f64) {
        (self.won, -self.mean())
    }

    fn mean(&self) -> f64 {
        self.losses(Statistic::GeometricMean)
    }

    fn losses(&self, statistic: Statistic) -> f64 {
        let loss = statistic.of(self.losses.values());
        loss.filter(|loss| !loss.is_nan()).unwrap_or(f64::INFINITY)
    }

    fn wins(&self, matrices: usize) -> String {
        let uncertain = match self.uncertain {
            0 => String::new(),
            some => format!(", on {some} of them not distinguishable from another"),
        };
        format!("is the fastest on {} of {}{uncertain}", self.won, count(matrices, "matrix"))
    }

    /// Returns what is lost where another method is the fastest.
    fn loss_elsewhere(&self, matrices: usize) -> String {
        let greatest = self.losses(Statistic::Max);
        let time = match is_loss(greatest) {
            true => format!("at most {greatest:.2} times the time of the fastest"),
            false => "no longer than the fastest".into(),
        };
        let loss = (self.won < matrices).then(|| format!("; on the others it takes {time}"));
        loss.unwrap_or_default()
    }

    fn loses_least(&self) -> String {
        let greatest = self.losses(Statistic::Max);
        if !is_loss(greatest) {
            return "takes no longer than the fastest on any matrix".into();
        }
        let times = times(&self.losses.values().copied().collect::<Vec<_>>());
        format!(
            "loses the least as the only method; in the geometric mean it takes {times} the time of the fastest on \
             each matrix, at most {greatest:.2} times"
        )
    }

    fn is_close_to(&self, first: &Self) -> String {
        let times = times(&ratios(self, first));
        format!("{} is about as fast: in the geometric mean it takes {times} its time", self.name)
    }

    fn wins_but(&self, safest: &Self, matrices: usize) -> String {
        let but = match matrices - self.losses.len() {
            0 => {
                let times = times(&ratios(self, safest));
                format!("takes {times} the time of {} in the geometric mean", safest.name)
            }
            missing => format!("has no time on {missing} of them"),
        };
        format!("{} {}, but {but}", self.name, self.wins(matrices))
    }

    /// Returns the speed over the baseline over which the method gains the least, of those with a time on the most
    /// matrices.
    fn speed(&self, methods: &[Self], baseline: Option<&str>, matrices: usize) -> Option<String> {
        let is_meant = |name: &str| match baseline {
            Some(baseline) => baseline == name,
            None => Baseline::named(name).is_some(),
        };
        let others = methods.iter().filter(|of| is_meant(of.name) && of.name != self.name);
        let speeds: Vec<_> = others.map(|other| (other.name, ratios(other, self))).collect();
        let most = speeds.iter().map(|(_, speed)| speed.len()).max().filter(|&most| most > 0)?;
        let complete = speeds.iter().filter(|(_, speed)| speed.len() == most);
        let (name, speed) = complete.min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))?;
        let role = if baseline.is_none() { ", the baseline that comes closest" } else { "" };
        let ends = [Statistic::Min, Statistic::Max].map(|of| of.of(speed).unwrap_or(f64::NAN));
        let on_single = format!("; on single matrices {:.2} to {:.2} times", ends[0], ends[1]);
        let on_single = if most > 1 { on_single } else { String::new() };
        let on = (most < matrices).then(|| format!("; both have a time on {most}"));
        let (times, on) = (times(speed), on.unwrap_or_default());
        Some(format!("In the geometric mean it is {times} as fast as {name}{role}{on_single}{on}"))
    }
}

/// Divides the times of a method by those of another one on the matrices where both have one.
fn ratios(method: &Method, other: &Method) -> Vec<f64> {
    let ratio = |(matrix, loss): (_, &f64)| Some(loss / other.losses.get(matrix)?);
    method.losses.iter().filter_map(ratio).collect()
}

fn mean(ratios: &[f64]) -> f64 {
    Statistic::GeometricMean.of(ratios).unwrap_or(f64::INFINITY)
}

/// Returns how many times something the geometric mean of ratios is, with its interval.
fn times(ratios: &[f64]) -> String {
    let between = |(low, high)| format!(" (95 % interval {low:.2} to {high:.2})");
    let between = mean_interval(ratios).map(between).unwrap_or_default();
    format!("{:.2} times{between}", mean(ratios))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::row::Row;

    /// Returns the times of the methods in the first line, a line per matrix; `-` is no time. Intervals are ± 10 %. A
    /// method `auto` chose the one before it.
    fn table(text: &str) -> Vec<Time> {
        let mut lines = text.split('/').map(|line| line.split_whitespace().collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let time = |(matrix, (place, text)): (usize, (usize, &str))| {
            let ms: f64 = text.parse().ok()?;
            let picked = (names[place] == "auto").then(|| names[place - 1].to_owned());
            let time = Row::default().with_median(ms, (0.9 * ms, 1.1 * ms)).timing(None)?;
            Some(Time { matrix, method: names[place].to_owned(), time, picked, ..Time::default() })
        };
        let lines = lines.enumerate();
        let cells = lines.flat_map(|(matrix, line)| {
            let cells: Vec<_> = line.into_iter().enumerate().collect();
            cells.into_iter().map(move |cell| (matrix, cell))
        });
        cells.filter_map(time).collect()
    }

    /// The methods, then their times on each matrix. In the second table, auto chose a slow method on the second
    /// matrix.
    #[test]
    fn one_method_is_recommended() {
        let tables = [
            "packed auto merge csr-rows / 1 1.01 2 4 / 1 1 1.1 1.1 / 1 0.99 4 2",
            "packed auto merge csr-rows / 1 1.01 2 4 / 4 3 3 3 / 1 0.99 4 2",
            "a b merge / 1 2 3 / 2 1 3 / 1 1.001 3 / 9 1 3 / 8 1 3",
            "a b / 1 1.001 / 1 1.001 / - 2",
            "a b / 1 1.004 / 2 2 / 1.004 1",
            "packed auto / 1 2 / 2 2",
            "packed / 1 / 2",
        ];
        let answers =
            tables.map(|table| answer(&self::table(table), None, None).unwrap_or_default() + "\n");
        expect![[r#"
            Use packed: it is the fastest on 3 of 3 matrices, on 1 of them not distinguishable from another. In the geometric mean it is 2.06 times (95 % interval 1.10 to 4.00) as fast as csr-rows, the baseline that comes closest; on single matrices 1.10 to 4.00 times. auto is about as fast: in the geometric mean it takes 1.00 times (95 % interval 0.99 to 1.01) its time.
            Use auto: it loses the least as the only method; in the geometric mean it takes 1.00 times (95 % interval 0.99 to 1.01) the time of the fastest on each matrix, at most 1.01 times. In the geometric mean it is 2.00 times (95 % interval 1.00 to 3.96) as fast as csr-rows, the baseline that comes closest; on single matrices 1.00 to 3.96 times. packed is the fastest on 2 of 3 matrices, but takes 1.10 times (95 % interval 0.99 to 1.33) the time of auto in the geometric mean.
            Use b: it is the fastest on 3 of 5 matrices; on the others it takes at most 2.00 times the time of the fastest. In the geometric mean it is 2.61 times (95 % interval 1.98 to 3.00) as fast as merge, the baseline that comes closest; on single matrices 1.50 to 3.00 times.
            Use b: it takes no longer than the fastest on any matrix. a is the fastest on 2 of 3 matrices, on 2 of them not distinguishable from another, but has no time on 1 of them.
            Use a: it is the fastest on 2 of 3 matrices, on 2 of them not distinguishable from another; on the others it takes no longer than the fastest.


        "#]].assert_eq(&answers.concat());
    }

    #[test]
    fn a_number_of_products_and_a_baseline_may_be_given() {
        let times = table("packed mkl-ie csr-rows / 1 2 4 / 1 8 - / 3 0.75 -");
        let answer = answer(&times, Some(1), Some("csr-rows")).unwrap();
        expect![[r#"
            For 1 product, use packed: it is the fastest on 2 of 3 matrices; on the others it takes at most 4.00 times the time of the fastest. In the geometric mean it is 4.00 times as fast as csr-rows; both have a time on 1.
        "#]].assert_eq(&(answer + "\n"));
    }
}
