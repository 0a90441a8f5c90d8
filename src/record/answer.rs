//! The answer to the question which method to use on a matrix, as a sentence: the winner, by how much, and from how
//! many products on. A method that only chose another measured one does not compete with it.

use super::row::Row;
use super::table::significant;

/// Returns the answer for rows that may be compared: for products alone, or for `planned` products with their setup.
/// `None` if fewer than two methods have a time.
pub fn answer(rows: &[Row], planned: Option<u32>) -> Option<String> {
    let candidates: Vec<_> = contest(rows).filter_map(|(_, row)| Candidate::of(row)).collect();
    match planned {
        Some(planned) => of_planned(&candidates, f64::from(planned)),
        None => of_products(&candidates),
    }
}

/// Returns the rows with a time, each with its place, except those of methods that chose one of the other rows.
pub fn contest(rows: &[Row]) -> impl Iterator<Item = (usize, &Row)> {
    let is_timed = |row: &&Row| row.is_ok() && row.typical_ms().is_some();
    let chose_other = move |row: &Row| {
        let is_chosen = |other: &Row| other.method_name.as_deref() == row.picked();
        row.picked().is_some() && rows.iter().filter(is_timed).any(is_chosen)
    };
    let timed = rows.iter().enumerate().filter(move |(_, row)| is_timed(row));
    timed.filter(move |(_, row)| !chose_other(row))
}

/// The time that preparations without any work may take, in milliseconds.
const NOTHING_MS: f64 = 0.05;

/// A method with its times on a matrix, in milliseconds.
struct Candidate<'a> {
    method: &'a str,
    /// The time of what is done once per matrix; `None` if it was not measured.
    setup: Option<f64>,
    product: f64,
    /// Half the 95 % confidence interval of the product.
    half: f64,
}

impl<'a> Candidate<'a> {
    fn of(row: &'a Row) -> Option<Self> {
        let product = row.typical_ms()?;
        let half = row.uncertainty().unwrap_or(0.0) / 100.0 * product;
        Some(Self { method: row.method_name.as_deref()?, setup: row.once_ms(), product, half })
    }

    /// Whether the setup takes no longer than a product, or than no work at all. One that was not measured is not
    /// compared.
    fn needs_no_setup(&self) -> bool {
        self.setup.is_none_or(|setup| setup <= self.product.max(NOTHING_MS))
    }

    fn total(&self, products: f64) -> Option<f64> {
        Some(self.setup? + products * self.product)
    }

    /// Returns the number of products from which on this method, with the faster product, takes less time in all.
    fn pays_from(&self, other: &Self) -> Option<f64> {
        Some(((self.setup? - other.setup?) / (other.product - self.product)).max(0.0))
    }
}

fn of_products(candidates: &[Candidate]) -> Option<String> {
    let of = |c: &&Candidate| c.product;
    let first = least(candidates.iter(), of)?;
    let others = || candidates.iter().filter(|other| other.method != first.method);
    let plain = least(others().filter(|other| other.needs_no_setup()), of);
    let (other, role) = match plain.filter(|_| !first.needs_no_setup()) {
        Some(plain) => (plain, "the fastest without setup"),
        None => (least(others(), of)?, "the second"),
    };
    let halves = [first, other].map(|c| c.half / c.product);
    let speed = with_half(other.product / first.product, halves);
    let pays = first.pays_from(other).filter(|_| !first.needs_no_setup());
    let pays = pays.filter(|from| *from > 1.0 && from.is_finite());
    let pays = pays.map(|from| format!(", and pays after {}", products(from)));
    let (name, pays) = (first.method, pays.unwrap_or_default());
    if first.product + first.half >= other.product - other.half {
        let other = other.method;
        return Some(format!(
            "{name} is as fast as {other}, {role}, within their intervals ({speed})."
        ));
    }
    Some(format!("{name} is {speed} times as fast as {}, {role}{pays}.", other.method))
}

fn of_planned(candidates: &[Candidate], planned: f64) -> Option<String> {
    let known: Vec<_> = candidates.iter().filter(|c| c.setup.is_some()).collect();
    let total = |c: &Candidate| c.total(planned).unwrap_or(f64::INFINITY);
    let first = *least(known.iter(), |c| total(c))?;
    let others = || known.iter().filter(|other| other.method != first.method);
    let second = *least(others(), |c| total(c))?;
    let halves = [first, second].map(|c| planned * c.half / total(c));
    let speed = with_half(total(second) / total(first), halves);
    let is_certain = total(first) * (1.0 + halves[0]) < total(second) * (1.0 - halves[1]);
    let within = if is_certain { "" } else { ", within their intervals" };
    let slower = others().filter(|other| other.product > first.product);
    let from = slower.filter_map(|other| first.pays_from(other)).fold(0.0, f64::max);
    let faster = others().filter(|other| other.product < first.product);
    let until = faster.filter_map(|other| other.pays_from(first)).fold(f64::INFINITY, f64::min);
    let range = match (from > 1.0, until.is_finite()) {
        (false, false) => "for any number of products".into(),
        (true, false) => format!("from {} on", products(from)),
        (false, true) => format!("up to {}", products(until)),
        (true, true) => format!("from {from:.0} to {}", products(until)),
    };
    let [ms, other_ms] = [first, second].map(|c| significant(total(c)));
    Some(format!(
        "For {} {} takes the least time with its setup: {ms} ms, {speed} times as fast as {} ({other_ms} ms){within}. \
         It does so {range}.",
        products(planned),
        first.method,
        second.method
    ))
}

fn products(number: f64) -> String {
    format!("{number:.0} product{}", if number.round() == 1.0 { "" } else { "s" })
}

fn least<T>(all: impl Iterator<Item = T>, of: impl Fn(&T) -> f64) -> Option<T> {
    all.min_by(|a, b| of(a).total_cmp(&of(b)))
}

/// Formats a ratio with half its interval, from the relative halves of both numbers, if these are known. Their sum,
/// because two numbers count as different only if their intervals do not overlap.
fn with_half(ratio: f64, [a, b]: [f64; 2]) -> String {
    let half = ratio * (a + b);
    if half == 0.0 {
        return format!("{ratio:.2}");
    }
    let digits = if half < 0.005 { 3 } else { 2 };
    format!("{ratio:.digits$} ± {half:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::super::row::Status;
    use super::*;

    fn row(&(name, setup, product): &(&str, Option<f64>, f64)) -> Row {
        let (method_name, picked) = match name.split_once(" picked ") {
            Some((name, picked)) => (name, Some(format!("noisy; picked {picked}: 1.00 times"))),
            None => (name, None),
        };
        Row {
            method_name: Some(method_name.into()),
            status: Some(Status::Ok),
            reason: picked,
            setup_ms: setup,
            median_ms: Some(product),
            ci95_low_ms: Some(0.99 * product),
            ci95_high_ms: Some(1.01 * product),
            ..Row::default()
        }
    }

    #[test]
    fn the_winner_is_compared_with_what_a_user_would_take_otherwise() {
        let merge = ("merge", Some(0.5), 2.0);
        let rows = [merge, ("sell", Some(40.0), 1.5), ("packed", Some(100.5), 1.0)];
        let auto = ("auto picked packed", Some(120.0), 0.9);
        let fast = ("fast", Some(0.5), 0.5);
        let modelled = [("a", None, 1.0), ("b", None, 2.0)];
        for (rows, planned, expected) in [
            (
                vec![rows[0], rows[1], rows[2]],
                None,
                "packed is 2.00 ± 0.04 times as fast as merge, the fastest without setup, and pays after 100 products.",
            ),
            (
                vec![rows[0], rows[2], auto],
                None,
                "packed is 2.00 ± 0.04 times as fast as merge, the fastest without setup, and pays after 100 products.",
            ),
            (
                vec![rows[0], auto],
                None,
                "auto is 2.22 ± 0.04 times as fast as merge, the fastest without setup, and pays after 109 products.",
            ),
            (
                vec![merge, ("equal", Some(0.5), 1.99)],
                None,
                "equal is as fast as merge, the second, within their intervals (1.01 ± 0.02).",
            ),
            (vec![rows[0], fast], None, "fast is 4.00 ± 0.08 times as fast as merge, the second."),
            (modelled.to_vec(), None, "a is 2.00 ± 0.04 times as fast as b, the second."),
            (
                vec![rows[0], rows[1], rows[2]],
                Some(100),
                "For 100 products sell takes the least time with its setup: 190 ms, 1.06 ± 0.02 times as fast as merge \
                 (200 ms). It does so from 79 to 121 products.",
            ),
            (
                vec![rows[0], rows[2]],
                Some(1000),
                "For 1000 products packed takes the least time with its setup: 1100 ms, 1.82 ± 0.03 times as fast as \
                 merge (2000 ms). It does so from 100 products on.",
            ),
            (
                vec![rows[0], rows[2]],
                Some(1),
                "For 1 product merge takes the least time with its setup: 2.50 ms, 40.60 ± 0.33 times as fast as \
                 packed (102 ms). It does so up to 100 products.",
            ),
        ] {
            let rows: Vec<_> = rows.iter().map(row).collect();
            assert_eq!(answer(&rows, planned).unwrap(), expected);
        }
        assert_eq!(answer(&[row(&merge)], None), None, "one method wins nothing");
        assert_eq!(answer(&modelled.map(|it| row(&it)), Some(5)), None, "setups are not known");
    }
}
