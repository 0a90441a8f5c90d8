//! The answer to the question which method to use on a matrix, as a sentence: the winner, by how much, and from how
//! many products on. A method that only chose another measured one does not compete with it. Which one is faster is
//! decided in the processes that measured both: the one with the smaller median may have lost in most of them.

use std::fmt;

use crate::row::contest::contestants;
use crate::row::paired::fastest;
use crate::row::{Row, RowKey, Timing};
use crate::statistics::estimate::Estimate;
use crate::table::significant;

/// Returns the answer for rows that may be compared: for products alone, or for `planned` products with their setup.
/// `None` if fewer than two methods have a time.
pub fn answer(rows: &[Row], planned: Option<u32>) -> Option<String> {
    let field = Field::of(rows, planned, &[])?;
    Some(planned.map_or_else(|| field.of_products(), |planned| field.of_planned(planned)))
}

/// Returns the places of the rows that an answer may name: the first, the second and the fastest without setup, each
/// once. Empty if fewer than two methods have a time. The times of `preferred` methods are more certain: another one is
/// named only if it surely is faster.
pub fn named(rows: &[Row], planned: Option<u32>, preferred: &[RowKey]) -> Vec<usize> {
    Field::of(rows, planned, preferred).map_or_else(Vec::new, |field| field.named())
}

/// Returns the places of the rows that an answer names or, if their times were only a little different, might name, the
/// [`named`] ones first.
pub fn candidates(rows: &[Row], planned: Option<u32>) -> Vec<usize> {
    let Some(field) = Field::of(rows, planned, &[]) else { return Vec::new() };
    let mut places = field.named();
    let others = field.all.iter().filter(|other| !places.contains(&other.place));
    let mut close: Vec<_> = others.filter(|other| field.is_close(other)).collect();
    let over_first = |other: &Candidate| other.over(&field.first).value;
    close.sort_by(|a, b| over_first(a).total_cmp(&over_first(b)));
    places.extend(close.iter().map(|other| other.place));
    places.truncate(MOST_CANDIDATES);
    places
}

/// Returns how many times as fast the first method is as the one that the answer compares with it, see [`named`].
pub fn stated(rows: &[Row], planned: Option<u32>, preferred: &[RowKey]) -> Option<Estimate> {
    let field = Field::of(rows, planned, preferred)?;
    Some(field.rival().0.over(&field.first))
}

/// Returns the first method, and the others that are not told apart from it: the interval of the ratio contains 1.
pub fn not_told_apart(rows: &[Row]) -> Option<(&str, Vec<&str>)> {
    let Field { first, all, .. } = Field::of(rows, None, &[])?;
    let close = all.iter().filter(|other| other.method != first.method);
    let close = close.filter(|other| other.over(&first).is_apart() == Some(false));
    Some((first.method, close.map(|other| other.method).collect()))
}

/// How many times as long as a method that an answer names another one takes at most that might be named.
const CLOSE: f64 = 1.1;
/// The number of methods that might be named, at most.
const MOST_CANDIDATES: usize = 4;
/// The time that preparations without any work may take, in milliseconds.
const NOTHING_MS: f64 = 0.05;
/// Half the width of the interval of a ratio, as a share of it, above which the times are too noisy to compare methods
/// that are not told apart.
const NOISY: f64 = 0.1;
/// How far the interval of a ratio may reach from 1 if the methods are as fast as each other.
const ALIKE: f64 = 0.05;
/// Half the width of an interval below which it is not shown: the times do not vary, as those of a model.
const NO_WIDTH: f64 = 0.0005;

/// A method with its times on a matrix, in milliseconds.
#[derive(Clone)]
struct Candidate<'a> {
    place: usize,
    method: &'a str,
    /// The time of a product.
    product: f64,
    /// The time of what is done once per matrix; `None` if it was not measured.
    setup: Option<f64>,
    /// The time that is compared: of a product, or of the planned ones with the setup.
    time: Timing,
    is_preferred: bool,
}

impl<'a> Candidate<'a> {
    fn of(place: usize, row: &'a Row, planned: Option<u32>) -> Option<Self> {
        let (method, product) = (row.method_name.as_deref()?, row.typical_ms()?);
        let (setup, time) = (row.once_ms(), row.timing(planned)?);
        Some(Self { place, method, product, setup, time, is_preferred: true })
    }

    /// Returns how many times as long this method takes as another one.
    fn over(&self, other: &Self) -> Estimate {
        self.time.over(&other.time)
    }

    fn is_faster(&self, other: &Self) -> bool {
        self.over(other).value < 1.0
    }

    /// Whether the setup takes no longer than a product, or than no work at all. One that was not measured is not
    /// compared.
    fn needs_no_setup(&self) -> bool {
        self.setup.is_none_or(|setup| setup <= self.product.max(NOTHING_MS))
    }

    /// Returns the number of products from which on this method, with the faster product, takes less time in all.
    fn pays_from(&self, other: &Self) -> Option<f64> {
        Some(((self.setup? - other.setup?) / (other.product - self.product)).max(0.0))
    }
}

/// The methods that compete, and those among them that an answer may name.
struct Field<'a> {
    all: Vec<Candidate<'a>>,
    first: Candidate<'a>,
    second: Candidate<'a>,
    /// The fastest without setup, if products alone are compared and the first one needs a setup.
    plain: Option<Candidate<'a>>,
}

impl<'a> Field<'a> {
    fn of(rows: &'a [Row], planned: Option<u32>, preferred: &[RowKey]) -> Option<Self> {
        let candidate = |(place, row)| Candidate::of(place, row, planned);
        let mut all: Vec<_> = contestants(rows).into_iter().filter_map(candidate).collect();
        let is_preferred = |row: &Row| row.cell().is_some_and(|cell| preferred.contains(&cell));
        if all.iter().any(|candidate| is_preferred(&rows[candidate.place])) {
            all.iter_mut().for_each(|it| it.is_preferred = is_preferred(&rows[it.place]));
        }
        let first = leader(all.iter())?;
        let others = all.iter().filter(|other| other.method != first.method);
        let second = leader(others.clone())?;
        let plain = if planned.is_none() && !first.needs_no_setup() {
            leader(others.filter(|other| other.needs_no_setup())).cloned()
        } else {
            None
        };
        // Of three methods, each may be faster than the next one, if not all processes measured all of them.
        let two = if second.is_faster(first) { [second, first] } else { [first, second] };
        let [first, second] = two.map(Candidate::clone);
        Some(Self { all, first, second, plain })
    }

    /// Returns the places of the methods that an answer may name, each once.
    fn named(&self) -> Vec<usize> {
        let mut places = vec![self.first.place, self.second.place];
        let plain = self.plain.as_ref().map(|plain| plain.place);
        places.extend(plain.filter(|plain| !places.contains(plain)));
        places
    }

    /// Whether a method is about as fast as the second, or without setup as the fastest without one.
    fn is_close(&self, other: &Candidate) -> bool {
        let plain = self.plain.as_ref().filter(|_| other.needs_no_setup());
        let is_close = |to: &Candidate| other.over(to).value < CLOSE;
        is_close(&self.second) || plain.is_some_and(is_close)
    }

    /// Returns the method that the answer compares with the first, and what it is.
    fn rival(&self) -> (&Candidate<'a>, &'static str) {
        match self.plain.as_ref().filter(|plain| !plain.is_faster(&self.first)) {
            Some(plain) => (plain, "the fastest without setup"),
            None => (&self.second, "the second"),
        }
    }

    fn of_products(&self) -> String {
        let first = &self.first;
        let (rival, role) = self.rival();
        let speed = Speed(rival.over(first));
        let other = format!("{}, {role}", rival.method);
        if let Some(undecided) = speed.undecided(first.method, &other) {
            return undecided;
        }
        let pays = match first.pays_from(rival).filter(|from| from.is_finite()) {
            Some(from) if from > 1.0 && !first.needs_no_setup() => {
                format!(", and pays after {}", products(from))
            }
            _ => String::new(),
        };
        format!("{} is {speed} times as fast as {other}{pays}.", first.method)
    }

    fn of_planned(&self, planned: u32) -> String {
        let Self { all, first, second, .. } = self;
        let speed = Speed(second.over(first));
        let name = first.method;
        let ms = significant(first.time.ms);
        let count = products(f64::from(planned));
        let other = format!("{} ({} ms)", second.method, significant(second.time.ms));
        if let Some(undecided) = speed.undecided(&format!("{name} ({ms} ms)"), &other) {
            return format!("For {count} with the setup, {undecided}");
        }
        let range = range(first, all.iter().filter(|other| other.method != name));
        format!(
            "For {count} {name} takes the least time with its setup: {ms} ms, {speed} times as fast as {other}. It \
             does so {range}."
        )
    }
}

/// Returns the fastest of methods, of those that were measured best: if some are preferred, or if further processes
/// measured only some, because those were the fastest ones before, another one must surely be faster than these.
fn leader<'c, 'a>(all: impl Iterator<Item = &'c Candidate<'a>>) -> Option<&'c Candidate<'a>> {
    let all: Vec<_> = all.collect();
    let measured = |it: &Candidate| (it.is_preferred, it.time.processes());
    let best = all.iter().map(|candidate| measured(candidate)).max()?;
    let (measured, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|candidate| measured(candidate) == best);
    let best = *fastest(&measured, |candidate| &candidate.time)?;
    let is_faster = |other: &Candidate| other.over(best).interval().is_some_and(|it| it.1 < 1.0);
    let faster: Vec<_> = others.into_iter().filter(|other| is_faster(other)).collect();
    Some(fastest(&faster, |candidate| &candidate.time).copied().unwrap_or(best))
}

/// How many times as fast as another method one is.
struct Speed(Estimate);

impl Speed {
    /// Returns what is known of a method and another one, which may be the faster of them; `None` if it is not.
    fn undecided(&self, method: &str, other: &str) -> Option<String> {
        let ratio = self.0.value;
        let half = self.0.half_width();
        let is_certain = self.0.is_apart().unwrap_or(ratio != 1.0);
        let is_alike = (ratio - 1.0).abs() + half <= ALIKE;
        if is_alike && (!is_certain || half < NO_WIDTH) {
            return Some(format!("{method} is as fast as {other}, within 5 % ({self})."));
        }
        let why = if half > NOISY * ratio {
            format!("the times are too noisy ({self} times as fast)")
        } else {
            format!("it is {self} times as fast, which includes 1")
        };
        (!is_certain).then(|| format!("{method} cannot be told apart from {other}: {why}."))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let ratio = self.0.value;
        match self.0.half_width() {
            half if half < NO_WIDTH => write!(f, "{ratio:.2}"),
            half if half < 0.005 => write!(f, "{ratio:.3} ± {half:.3}"),
            half => write!(f, "{ratio:.2} ± {half:.2}"),
        }
    }
}

/// Returns the numbers of products for which a method takes the least time with its setup, in words.
fn range<'c>(first: &Candidate, others: impl Iterator<Item = &'c Candidate<'c>>) -> String {
    let (mut from, mut until) = (0.0f64, f64::INFINITY);
    for other in others {
        if other.product > first.product {
            from = from.max(first.pays_from(other).unwrap_or(0.0));
        } else if other.product < first.product {
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

#[cfg(test)]
mod tests;
