//! Maps numbers to positions along an axis, and chooses the numbers that are labelled there.

use super::data::Axis;
use super::figure::{LINE, text_width};

/// An axis: the range of its numbers, and where it begins and ends in the figure.
#[derive(Clone, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// The smallest distance of two labelled numbers: 1 for integers.
    least_step: f64,
    from: f64,
    to: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// Whether a number can be shown on an axis. Numbers near the limits of f64 count as infinite.
pub fn has_place(log: bool, number: f64) -> bool {
    number.abs() <= 1e301 && (!log || number >= 1e-301)
}

fn extent(log: bool, numbers: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let placed = numbers.into_iter().filter(|&number| has_place(log, number));
    placed.map(|number| (number, number)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn apart(low: f64, high: f64) -> bool {
    high - low > (1e-9 * low.abs().max(high.abs())).max(1e-290)
}

/// Returns a range of an axis that contains all numbers and ends at round numbers. It is never empty. A linear axis
/// includes 0 if the smallest absolute value is at most half of the greatest. A linear axis of integers ends at
/// integers.
pub fn around(axis: &Axis, numbers: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = extent(axis.log, numbers);
    if axis.log {
        return ends.map_or((1.0, 10.0), around_log);
    }
    let (low, high) = ends.map_or((0.0, 1.0), around_linear);
    if axis.whole { (low.floor(), high.ceil()) } else { (low, high) }
}

fn around_log((low, high): (f64, f64)) -> (f64, f64) {
    if high / low < 3.0 && apart(low, high) {
        return evenly(low, high);
    }
    let (low, high) = (round_below(low), round_above(high));
    if low < high { (low, high) } else { (low / 2.0, high * 2.0) }
}

fn around_linear((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if !apart(low, high) {
        return if size < 1e-290 { (0.0, 1.0) } else { evenly(low - size / 2.0, high + size / 2.0) };
    }
    if low > 0.0 && low <= high / 2.0 {
        evenly(0.0, high)
    } else if high < 0.0 && high >= low / 2.0 {
        evenly(low, 0.0)
    } else {
        evenly(low, high)
    }
}

/// Extends a range to multiples of a round step, about a sixth of its length.
fn evenly(low: f64, high: f64) -> (f64, f64) {
    let step = round_above((high - low) / 6.0);
    ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
}

/// Returns a range from a power of ten below the smallest number, where bars begin, to a round number.
pub fn from_decade(numbers: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = extent(true, numbers).unwrap_or((1.0, 10.0));
    (10f64.powi((0.8 * low).log10().floor() as i32), round_above(high))
}

/// Returns the greatest of …, 1, 2, 5, 10, … that is not above the number.
fn round_below(number: f64) -> f64 {
    let (power, times) = decade(number);
    let round = [5.0, 2.0].into_iter().find(|&round| times > round - 1e-9);
    power * round.unwrap_or(1.0)
}

/// Returns the smallest of …, 1, 2, 5, 10, … that is not below the number.
fn round_above(number: f64) -> f64 {
    let (power, times) = decade(number);
    let round = [1.0, 2.0, 5.0].into_iter().find(|&round| times < round + 1e-9);
    power * round.unwrap_or(10.0)
}

impl Scale {
    pub fn new((low, high): (f64, f64), axis: &Axis, (from, to): (f64, f64)) -> Self {
        let least_step = if axis.whole { 1.0 } else { 0.0 };
        Self { low, high, log: axis.log, least_step, from, to }
    }

    /// Returns the position of a number as a fraction of the axis: 0 at its beginning, 1 at its end.
    pub fn share(&self, number: f64) -> f64 {
        let [low, high, number] = [self.low, self.high, number].map(|n| if self.log { n.log10() } else { n });
        (number - low) / (high - low)
    }

    /// Returns the position of a number in the figure, or `None` if it cannot be shown.
    pub fn at(&self, number: f64) -> Option<f64> {
        has_place(self.log, number).then(|| self.from + self.share(number) * (self.to - self.from))
    }

    /// Returns the position where bars begin: at 0, or at the beginning of the axis if 0 is not on it.
    pub fn foot(&self) -> f64 {
        self.at(0f64.clamp(self.low, self.high)).unwrap_or(self.from)
    }

    /// Returns as many labelled numbers as fit, above each other if the axis begins at its bottom.
    pub fn ticks(&self) -> Vec<Tick> {
        let mut choices = self.choices().into_iter().map(|step| self.labelled(step));
        choices.find(|ticks| ticks.windows(2).all(|pair| self.fit(pair))).unwrap_or_default()
    }

    fn fit(&self, pair: &[Tick]) -> bool {
        let width = text_width(&pair[0].label) + text_width(&pair[1].label);
        let room = if self.from > self.to { 1.8 * LINE } else { width / 2.0 + 22.0 };
        (pair[1].at - pair[0].at).abs() >= room
    }

    /// Returns the positions of the unlabelled marks of a logarithmic axis: 1 to 9 times the powers of ten.
    pub fn minor(&self) -> Vec<f64> {
        if !self.log || self.high / self.low > 1e9 {
            return Vec::new();
        }
        let numbers = self.multiples(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1);
        numbers.into_iter().filter_map(|number| self.at(number)).collect()
    }

    /// Returns sets of numbers to label, the largest first, each number with the step that its digits must show.
    fn choices(&self) -> Vec<Vec<(f64, f64)>> {
        if !self.log {
            return [8.0, 6.0, 4.0, 3.0, 2.0, 1.0].map(|wanted| self.even(wanted)).into();
        }
        let mut choices = Vec::new();
        if self.high / self.low < 6.0 {
            choices.extend([6.0, 4.0, 2.0].map(|wanted| self.even(wanted)));
        }
        let mut numbers = vec![self.multiples(&[1.0, 2.0, 5.0], 1)];
        numbers.extend([1, 2, 3, 5, 10, 20, 50, 100, 200].map(|by| self.multiples(&[1.0], by)));
        for numbers in numbers {
            choices.push(numbers.into_iter().map(|number| (number, decade(number).0)).collect());
        }
        choices
    }

    /// Returns about `wanted` numbers at equal distances.
    fn even(&self, wanted: f64) -> Vec<(f64, f64)> {
        let step = round_above((self.high - self.low) / wanted).max(self.least_step);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
        (0..=count).map(|index| ((first + index as f64) * step, step)).collect()
    }

    /// Returns the multiples `times` of every `by`-th power of ten within the range.
    fn multiples(&self, times: &[f64], by: i32) -> Vec<f64> {
        let [first, last] = [self.low, self.high].map(|end| (end.log10().floor() as i32).div_euclid(by));
        let powers = (first..=last).map(|exponent| 10f64.powi(exponent * by));
        let numbers = powers.flat_map(|power| times.iter().map(move |times| times * power));
        let least = self.low.max(self.least_step);
        let (low, high) = (least * (1.0 - 1e-9), self.high * (1.0 + 1e-9));
        numbers.filter(|&number| number >= low && number <= high).collect()
    }

    fn labelled(&self, numbers: Vec<(f64, f64)>) -> Vec<Tick> {
        let powers = self.log && (self.low < 0.999e-4 || self.high > 1.001e12);
        let write = |number, step| if powers { power(number, step) } else { label(number, step) };
        let placed = numbers.into_iter().filter_map(|(n, step)| Some((self.at(n)?, n, step)));
        placed.map(|(at, number, step)| Tick { at, label: write(number, step) }).collect()
    }
}

/// Splits a positive number into the largest power of ten that is not greater, and a factor from 1 to 10.
pub fn decade(number: f64) -> (f64, f64) {
    let power = 10f64.powi((number.log10() + 1e-9).floor() as i32);
    (power, number / power)
}

/// Formats a number with the digits that a step size requires: `0.5`, `20k`, `1.5M`, `2×10⁻⁵`.
pub fn label(number: f64, step: f64) -> String {
    let size = number.abs() * (1.0 + 1e-9);
    if size <= step / 1e3 {
        return "0".into();
    }
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1e-4, "")];
    match units.into_iter().find(|unit| size >= unit.0) {
        Some((_, "")) => fixed(number, step),
        Some((unit, letter)) if size < 1e12 => fixed(number / unit, step / unit) + letter,
        _ => power(number, step),
    }
}

pub fn power(number: f64, step: f64) -> String {
    let (power, times) = decade(number.abs());
    let times = fixed(times.copysign(number), step / power);
    let exponent = power.log10().round() as i32;
    let raised = match exponent {
        0 => return times,
        1 => "10".to_owned(),
        _ => format!("10{}", superscript(exponent)),
    };
    match &times[..] {
        "1" => raised,
        "-1" => format!("-{raised}"),
        _ => format!("{times}×{raised}"),
    }
}

/// Formats a number with the digits that a step size requires, without trailing zeros.
fn fixed(number: f64, step: f64) -> String {
    let digits = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn superscript(number: i32) -> String {
    let raised = |digit: char| digit.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize));
    number.to_string().chars().map(|digit| raised(digit).unwrap_or('⁻')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(log: bool) -> Axis {
        Axis { log, ..Axis::default() }
    }

    fn labels(numbers: (f64, f64), axis: &Axis, place: (f64, f64)) -> String {
        let ticks = Scale::new(numbers, axis, place).ticks();
        ticks.iter().map(|tick| &tick.label[..]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn axes_reach_from_round_number_to_round_number() {
        let around = |log, numbers: &[f64]| around(&axis(log), numbers.iter().copied());
        assert_eq!(around(false, &[3.0, 41.0]), (0.0, 50.0));
        assert_eq!(around(false, &[-3.0, -41.0]), (-50.0, 0.0));
        assert_eq!(around(false, &[99.0, 100.0, f64::NAN, f64::INFINITY]), (99.0, 100.0));
        assert_eq!(around(false, &[4.0]), (2.0, 6.0));
        assert_eq!(around(false, &[0.0]), (0.0, 1.0));
        assert_eq!(around(true, &[0.0, -1.0, 3.0, 700.0]), (2.0, 1000.0));
        assert_eq!(around(true, &[10.0]), (5.0, 20.0));
        assert_eq!(around(true, &[2.1, 3.55]), (2.0, 4.0));
        assert_eq!(around(true, &[0.0]), (1.0, 10.0));
        assert_eq!(from_decade([0.3, 7.0]), (0.1, 10.0));
        assert_eq!(from_decade([1.0, 3.0]), (0.1, 5.0));
    }

    #[test]
    fn numbers_are_written_where_there_is_room() {
        let across = |numbers, log| labels(numbers, &axis(log), (0.0, 700.0));
        assert_eq!(across((0.0, 50.0), false), "0 10 20 30 40 50");
        assert_eq!(across((1.0, 1e6), true), "1 10 100 1k 10k 100k 1M");
        assert_eq!(across((2.0, 50.0), true), "2 5 10 20 50");
        assert_eq!(across((1.0, 2.0), true), "1 1.2 1.4 1.6 1.8 2");
        assert_eq!(across((1e-6, 1.0), true), "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1");
        assert_eq!(across((1e-300, 1e300), true), "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰");
        assert_eq!(labels((0.0, 10.0), &axis(false), (700.0, 0.0)), "0 2 4 6 8 10");
    }

    #[test]
    fn counts_are_written_in_whole_numbers() {
        let written = |log, numbers: &[f64]| {
            let axis = Axis { whole: true, ..axis(log) };
            labels(around(&axis, numbers.iter().copied()), &axis, (0.0, 700.0))
        };
        assert_eq!(written(false, &[1.0]), "0 1 2");
        assert_eq!(written(false, &[1.0, 2.0]), "0 1 2");
        assert_eq!(written(false, &[3.0, 5.0]), "3 4 5");
        assert_eq!(written(false, &[0.0, 64.0]), "0 10 20 30 40 50 60 70 80");
        assert_eq!(written(true, &[1.0]), "1 2");
        assert_eq!(written(true, &[4.0, 5.0]), "4 5");
    }

    #[test]
    fn places_are_in_proportion() {
        let log = Scale::new((1.0, 100.0), &axis(true), (0.0, 200.0));
        assert_eq!([log.at(10.0), log.at(0.0), log.at(f64::NAN)], [Some(100.0), None, None]);
        let up = Scale::new((-1.0, 3.0), &axis(false), (400.0, 0.0));
        assert_eq!([up.at(0.0), Some(up.foot())], [Some(300.0); 2]);
        assert_eq!(log.minor().len(), 19);
    }

    #[test]
    fn numbers_have_the_digits_that_they_need() {
        for (number, step, expected) in [
            (0.0, 0.0, "0"),
            (1e-17, 0.1, "0"),
            (0.1 + 0.2, 0.1, "0.3"),
            (-2.5, 0.5, "-2.5"),
            (1000.0, 100.0, "1k"),
            (1500.0, 100.0, "1.5k"),
            (2e6, 1e6, "2M"),
            (1.2e9, 1e8, "1.2G"),
            (1e-4, 1e-4, "0.0001"),
            (2e-5, 1e-5, "2×10⁻⁵"),
            (-1e15, 1e15, "-10¹⁵"),
        ] {
            assert_eq!(label(number, step), expected);
        }
    }
}
