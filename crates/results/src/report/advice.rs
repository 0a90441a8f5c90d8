//! The answer to the question which method to use on several matrices, in sentences: one recommendation with its
//! reason, its speed over the best baseline, and a remark if another method wins more often or takes less time in all.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::grouped;
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
    let mut sentences = Vec::new();
    if is_close && first.losses.len() == safest.losses.len() {
        let reason = first.wins(matrices) + &first.loss_elsewhere(matrices);
        sentences.push(format!("{}: it {reason}", first.name));
        sentences.extend(first.speed(&methods, baseline, matrices));
        sentences.extend((first.name != safest.name).then(|| safest.is_close_to(first)));
    } else {
        sentences.push(format!("{}: it {}", safest.name, safest.loses_least()));
        sentences.extend(safest.speed(&methods, baseline, matrices));
        sentences.extend((first.name != safest.name).then(|| first.wins_but(safest, matrices)));
    }
    let usage = match planned {
        Some(products) => format!("For {}, use", count(products as usize, "product")),
        None => "Use".into(),
    };
    Some(format!("{usage} {}.", sentences.join(". ")))
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
        if contest.iter().all(|time| time.method == contest[0].method) {
            return Vec::new();
        }
        let mut methods = BTreeMap::<&str, Self>::new();
        let mut winners = BTreeMap::new();
        for (matrix, rivals) in grouped(contest, |time| time.matrix) {
            let Some(&winner) = fastest(&rivals, |time| &time.time) else { continue };
            winners.insert(matrix, winner);
            let mut others = rivals.iter().filter(|time| time.method != winner.method);
            let is_uncertain = others.any(|other| other.time.over(&winner.time).is_apart() == Some(false));
            let method = methods.entry(&winner.method).or_default();
            method.won += 1;
            method.uncertain += usize::from(is_uncertain);
        }
        for time in times {
            let Some(winner) = winners.get(&time.matrix) else { continue };
            let method = methods.entry(&time.method).or_default();
            method.name = &time.method;
            method.losses.insert(time.matrix, time.time.over(&winner.time).value);
        }
        methods.into_values().collect()
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
        let wins = format!("is the fastest on {} of {}", self.won, count(matrices, "matrix"));
        match self.uncertain {
            0 => wins,
            some => format!("{wins}, on {some} of them not distinguishable from another"),
        }
    }

    /// Returns what is lost where another method is the fastest.
    fn loss_elsewhere(&self, matrices: usize) -> String {
        let greatest = self.losses(Statistic::Max);
        if self.won == matrices {
            String::new()
        } else if is_loss(greatest) {
            format!("; on the others it takes at most {greatest:.2} times the time of the fastest")
        } else {
            "; on the others it takes no longer than the fastest".into()
        }
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
        let wins = format!("{} {}", self.name, self.wins(matrices));
        let missing = matrices - self.losses.len();
        if missing > 0 {
            return format!("{wins}, but has no time on {missing} of them");
        }
        let times = times(&ratios(self, safest));
        format!("{wins}, but takes {times} the time of {} in the geometric mean", safest.name)
    }

    /// Returns the speed over the baseline over which the method gains the least, of those with a time on the most
    /// matrices.
    fn speed(&self, methods: &[Self], baseline: Option<&str>, matrices: usize) -> Option<String> {
        let others = methods.iter().filter(|other| match baseline {
            _ if other.name == self.name => false,
            Some(baseline) => baseline == other.name,
            None => Baseline::named(other.name).is_some(),
        });
        let speeds: Vec<_> = others.map(|other| (other.name, ratios(other, self))).collect();
        let most = speeds.iter().map(|(_, speed)| speed.len()).max().filter(|&most| most > 0)?;
        let complete = speeds.iter().filter(|(_, speed)| speed.len() == most);
        let (name, speed) = complete.min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))?;
        let mut text = format!("In the geometric mean it is {} as fast as {name}", times(speed));
        if baseline.is_none() {
            text += ", the baseline that comes closest";
        }
        if most > 1 {
            let [least, greatest] = [Statistic::Min, Statistic::Max].map(|end| end.of(speed));
            let (least, greatest) = least.zip(greatest)?;
            text += &format!("; on single matrices {least:.2} to {greatest:.2} times");
        }
        if most < matrices {
            text += &format!("; both have a time on {most}");
        }
        Some(text)
    }
}

/// Divides the times of a method by those of another one on the matrices where both have one.
fn ratios(method: &Method, other: &Method) -> Vec<f64> {
    let losses = method.losses.iter();
    losses.filter_map(|(matrix, loss)| Some(loss / other.losses.get(matrix)?)).collect()
}

fn mean(ratios: &[f64]) -> f64 {
    Statistic::GeometricMean.of(ratios).unwrap_or(f64::INFINITY)
}

/// Returns how many times something the geometric mean of ratios is, with its interval.
fn times(ratios: &[f64]) -> String {
    let times = format!("{:.2} times", mean(ratios));
    match mean_interval(ratios) {
        Some((low, high)) => format!("{times} (95 % interval {low:.2} to {high:.2})"),
        None => times,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::report::standings::times_of;

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
        let answers = tables.map(|table| answer(&times_of(table), None, None).unwrap_or_default() + "\n");
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
        let times = times_of("packed mkl-ie csr-rows / 1 2 4 / 1 8 - / 3 0.75 -");
        let answer = answer(&times, Some(1), Some("csr-rows")).unwrap();
        expect![[r#"
            For 1 product, use packed: it is the fastest on 2 of 3 matrices; on the others it takes at most 4.00 times the time of the fastest. In the geometric mean it is 4.00 times as fast as csr-rows; both have a time on 1.
        "#]].assert_eq(&(answer + "\n"));
    }
}
