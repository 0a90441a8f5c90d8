//! The answer to the question which method to use on a matrix, as a sentence: the winner, by how much, and from how
//! many products on. A method that only chose another measured one does not compete with it.

use std::fmt;

use crate::row::Row;
use crate::row::contest::contestants;
use crate::table::significant;

/// Returns the answer for rows that may be compared: for products alone, or for `planned` products with their setup.
/// `None` if fewer than two methods have a time.
pub fn answer(rows: &[Row], planned: Option<u32>) -> Option<String> {
    let candidates: Vec<_> =
        contestants(rows).iter().filter_map(|(_, row)| Candidate::of(row)).collect();
    match planned {
        Some(planned) => of_planned(&candidates, f64::from(planned)),
        None => of_products(&candidates),
    }
}

/// The time that preparations without any work may take, in milliseconds.
const NOTHING_MS: f64 = 0.05;
/// The half interval of a ratio, as a share of it, above which the times are too noisy to compare methods whose
/// intervals overlap.
const NOISY: f64 = 0.1;
/// How far the interval of a ratio may reach from 1 if the methods are as fast as each other.
const ALIKE: f64 = 0.05;

/// A method with its times on a matrix, in milliseconds.
struct Candidate<'a> {
    method: &'a str,
    /// The time of what is done once per matrix; `None` if it was not measured.
    setup: Option<f64>,
    product: Time,
}

/// A time in milliseconds and its 95 % confidence interval.
#[derive(Clone, Copy)]
struct Time {
    ms: f64,
    interval: (f64, f64),
}

impl<'a> Candidate<'a> {
    fn of(row: &'a Row) -> Option<Self> {
        let ms = row.typical_ms()?;
        let product = Time { ms, interval: row.interval_ms().unwrap_or((ms, ms)) };
        Some(Self { method: row.method_name.as_deref()?, setup: row.once_ms(), product })
    }

    /// Whether the setup takes no longer than a product, or than no work at all. One that was not measured is not
    /// compared.
    fn needs_no_setup(&self) -> bool {
        self.setup.is_none_or(|setup| setup <= self.product.ms.max(NOTHING_MS))
    }

    /// Returns the time of the setup and so many products, if that of the setup is known.
    fn total(&self, products: f64) -> Option<(&Self, Time)> {
        let setup = self.setup?;
        let total = |ms| setup + products * ms;
        let Time { ms, interval: (low, high) } = self.product;
        Some((self, Time { ms: total(ms), interval: (total(low), total(high)) }))
    }

    /// Returns the number of products from which on this method, with the faster product, takes less time in all.
    fn pays_from(&self, other: &Self) -> Option<f64> {
        let gain = other.product.ms - self.product.ms;
        Some(((self.setup? - other.setup?) / gain).max(0.0))
    }
}

/// How many times as fast as another method one is.
struct Speed {
    ratio: f64,
    /// Half its interval: the sum of both relative ones, because two times count as different only if their intervals
    /// do not overlap.
    half: f64,
    is_certain: bool,
}

impl Speed {
    fn of(first: Time, other: Time) -> Self {
        let ratio = other.ms / first.ms;
        let half = |Time { ms, interval: (low, high) }| (high - low) / 2.0 / ms;
        let half = ratio * (half(first) + half(other));
        Self { ratio, half, is_certain: first.interval.1 < other.interval.0 }
    }

    /// Returns what is known of a method and another one, which may be the faster of them; `None` if it is not.
    fn undecided(&self, method: &str, other: &str) -> Option<String> {
        let Self { ratio, half, is_certain } = *self;
        let is_alike = (ratio - 1.0).abs() + half <= ALIKE;
        if is_alike && (!is_certain || half == 0.0) {
            Some(format!("{method} is as fast as {other}, within 5 % ({self})."))
        } else if is_certain {
            None
        } else if half > NOISY * ratio {
            Some(format!(
                "{method} cannot be told apart from {other}: the times are too noisy ({self} times as fast)."
            ))
        } else {
            Some(format!(
                "{method} cannot be told apart from {other}: it is {self} times as fast, and the intervals overlap."
            ))
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { ratio, half, .. } = *self;
        match half {
            0.0 => write!(f, "{ratio:.2}"),
            half if half < 0.005 => write!(f, "{ratio:.3} ± {half:.3}"),
            half => write!(f, "{ratio:.2} ± {half:.2}"),
        }
    }
}

fn of_products(candidates: &[Candidate]) -> Option<String> {
    let of = |c: &&Candidate| c.product.ms;
    let first = least(candidates.iter(), of)?;
    let others = || candidates.iter().filter(|other| other.method != first.method);
    let plain = least(others().filter(|other| other.needs_no_setup()), of);
    let (other, role) = match plain.filter(|_| !first.needs_no_setup()) {
        Some(plain) => (plain, "the fastest without setup"),
        None => (least(others(), of)?, "the second"),
    };
    let speed = Speed::of(first.product, other.product);
    let pays = first.pays_from(other).filter(|_| !first.needs_no_setup());
    let pays = pays.filter(|from| *from > 1.0 && from.is_finite());
    let pays = pays.map(|from| format!(", and pays after {}", products(from))).unwrap_or_default();
    let (name, other) = (first.method, format!("{}, {role}", other.method));
    let certain = || format!("{name} is {speed} times as fast as {other}{pays}.");
    Some(speed.undecided(name, &other).unwrap_or_else(certain))
}

fn of_planned(candidates: &[Candidate], planned: f64) -> Option<String> {
    let totals = || candidates.iter().filter_map(|candidate| candidate.total(planned));
    let of = |(_, total): &(&Candidate, Time)| total.ms;
    let (first, total) = least(totals(), of)?;
    let others = || totals().filter(|(other, _)| other.method != first.method);
    let (second, its_total) = least(others(), of)?;
    let speed = Speed::of(total, its_total);
    let (name, ms) = (first.method, significant(total.ms));
    let (count, other) =
        (products(planned), format!("{} ({} ms)", second.method, significant(its_total.ms)));
    if let Some(undecided) = speed.undecided(&format!("{name} ({ms} ms)"), &other) {
        return Some(format!("For {count} with the setup, {undecided}"));
    }
    let range = range(first, others().map(|(other, _)| other));
    Some(format!(
        "For {count} {name} takes the least time with its setup: {ms} ms, {speed} times as fast as {other}. It does so \
         {range}."
    ))
}

/// Returns the numbers of products for which a method takes the least time with its setup, in words.
fn range<'c>(first: &Candidate, others: impl Iterator<Item = &'c Candidate<'c>>) -> String {
    let (mut from, mut until) = (0.0f64, f64::INFINITY);
    for other in others {
        if other.product.ms > first.product.ms {
            from = from.max(first.pays_from(other).unwrap_or(0.0));
        } else if other.product.ms < first.product.ms {
            until = until.min(other.pays_from(first).unwrap_or(f64::INFINITY));
        }
    }
    match (from > 1.0, until.is_finite()) {
        (false, false) => "for any number of products".into(),
        (true, false) => format!("from {} on", products(from)),
        (false, true) => format!("up to {}", products(until)),
        (true, true) => format!("from {from:.0} to {}", products(until)),
    }
}

fn products(number: f64) -> String {
    format!("{number:.0} product{}", if number.round() == 1.0 { "" } else { "s" })
}

fn least<T>(all: impl Iterator<Item = T>, of: impl Fn(&T) -> f64) -> Option<T> {
    all.min_by(|a, b| of(a).total_cmp(&of(b)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::row::Status;

    /// A method with its times of setup and product, and half the interval of this in percent.
    type Method = (&'static str, Option<f64>, f64, f64);

    fn row(&(name, setup, product, half): &Method) -> Row {
        let (method_name, picked) = match name.split_once(" picked ") {
            Some((name, picked)) => (name, Some(picked.into())),
            None => (name, None),
        };
        let (method_name, status) = (Some(method_name.into()), Some(Status::Ok));
        let row = Row { method_name, status, picked, setup_ms: setup, ..Row::default() };
        let half = half / 100.0;
        row.with_median(product, ((1.0 - half) * product, (1.0 + half) * product))
    }

    /// Returns an answer per line.
    fn answers<const N: usize>(cases: [(&[Method], Option<u32>); N]) -> String {
        let of =
            |rows: &[Method], planned| answer(&rows.iter().map(row).collect::<Vec<_>>(), planned);
        cases.map(|(rows, planned)| of(rows, planned).unwrap_or_default() + "\n").concat()
    }

    /// One method wins nothing, and without the times of setups nothing is known of their products.
    #[test]
    fn the_winner_is_compared_with_what_a_user_would_take_otherwise() {
        let merge = ("merge", Some(0.5), 2.0, 1.0);
        let (sell, packed) = (("sell", Some(40.0), 1.5, 1.0), ("packed", Some(100.5), 1.0, 1.0));
        let auto = ("auto picked packed", Some(120.0), 0.9, 1.0);
        let fast = ("fast", Some(0.5), 0.5, 1.0);
        let modelled = [("a", None, 1.0, 0.0), ("b", None, 2.0, 0.0)];
        let answers = answers([
            (&[merge, sell, packed], None),
            (&[merge, packed, auto], None),
            (&[merge, auto], None),
            (&[merge, fast], None),
            (&modelled, None),
            (&[merge, sell, packed], Some(100)),
            (&[merge, packed], Some(1000)),
            (&[merge, packed], Some(1)),
            (&[merge], None),
            (&modelled, Some(5)),
        ]);
        expect![[r#"
            packed is 2.00 ± 0.04 times as fast as merge, the fastest without setup, and pays after 100 products.
            packed is 2.00 ± 0.04 times as fast as merge, the fastest without setup, and pays after 100 products.
            auto is 2.22 ± 0.04 times as fast as merge, the fastest without setup, and pays after 109 products.
            fast is 4.00 ± 0.08 times as fast as merge, the second.
            a is 2.00 times as fast as b, the second.
            For 100 products sell takes the least time with its setup: 190 ms, 1.06 ± 0.02 times as fast as merge (200 ms). It does so from 79 to 121 products.
            For 1000 products packed takes the least time with its setup: 1100 ms, 1.82 ± 0.03 times as fast as merge (2000 ms). It does so from 100 products on.
            For 1 product merge takes the least time with its setup: 2.50 ms, 40.60 ± 0.33 times as fast as packed (102 ms). It does so up to 100 products.


        "#]].assert_eq(&answers);
    }

    /// Another method takes 2 ms. Whether overlapping intervals show equal speeds depends on how wide they are.
    #[test]
    fn methods_whose_intervals_overlap_are_as_fast_only_if_they_are_close() {
        let cases = [
            (1.99, 1.0, None),
            (2.0, 0.0, None),
            (1.95, 0.0, None),
            (1.96, 0.4, None),
            (1.9, 3.0, None),
            (1.2, 40.0, None),
            (0.4, 40.0, None),
            (1.99, 1.0, Some(9)),
            (1.9, 3.0, Some(9)),
            (1.2, 40.0, Some(9)),
        ];
        let answers = cases.map(|(product, half, planned)| {
            let both = [("a", Some(0.5), product, half), ("b", Some(0.5), 2.0, half)];
            answers([(&both, planned)])
        });
        expect![[r#"
            a is as fast as b, the second, within 5 % (1.01 ± 0.02).
            a is as fast as b, the second, within 5 % (1.00).
            a is as fast as b, the second, within 5 % (1.03).
            a is 1.02 ± 0.01 times as fast as b, the second.
            a cannot be told apart from b, the second: it is 1.05 ± 0.06 times as fast, and the intervals overlap.
            a cannot be told apart from b, the second: the times are too noisy (1.67 ± 1.33 times as fast).
            a is 5.00 ± 4.00 times as fast as b, the fastest without setup.
            For 9 products with the setup, a (18.4 ms) is as fast as b (18.5 ms), within 5 % (1.00 ± 0.02).
            For 9 products with the setup, a (17.6 ms) cannot be told apart from b (18.5 ms): it is 1.05 ± 0.06 times as fast, and the intervals overlap.
            For 9 products with the setup, a (11.3 ms) cannot be told apart from b (18.5 ms): the times are too noisy (1.64 ± 1.26 times as fast).
        "#]].assert_eq(&answers.concat());
    }
}
