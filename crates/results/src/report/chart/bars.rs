//! Draws bar charts: horizontal bars, a group per category from top to bottom.

use svg::node::element::{Group, Path};

use super::data::{BarSeries, Bars};
use super::figure::*;
use super::look::{LegendEntry, Look, bar_sample, legend, looks};
use super::scale::{Scale, around, from_decade};
use crate::table::significant;

/// The margin at the right: half the width of a number.
const RIGHT: f64 = 30.0;
const GROUP_GAP: f64 = 8.0;
/// The maximum number of series for which lines of means are drawn. More lines could not be distinguished.
const MAX_SERIES_WITH_MEANS: usize = 6;

struct Layout<'a> {
    bars: &'a Bars,
    value: Scale,
    left: f64,
    top: f64,
    /// The thickness of a bar, and the height of a group including the gap below it.
    thick: f64,
    group: f64,
}

pub fn draw(bars: &Bars) -> Figure {
    // The series of a stacked chart cannot be hidden.
    let few = (!bars.stacked).then_some(&bars.few[..]);
    let looks = || looks(&bars.series, |series| &series.name, few);
    let entries = looks().map(|(series, look)| {
        let mean = series.mean.map(|mean| format!(" (mean {})", significant(mean)));
        let name = format!("{}{}", series.name, mean.unwrap_or_default());
        LegendEntry { name, sample: bar_sample(look), look: Some(look) }
    });
    let (names, height) = legend(entries.collect(), 0.0, WIDTH);
    let layout = Layout::of(bars, height + 10.0 + 2.5 * LINE);
    let mut parts = vec![names, layout.axis(), layout.categories()];
    parts.extend(looks().filter_map(|(series, look)| layout.mean(series, look)));
    parts.extend(looks().map(|(series, look)| {
        let part = look.part(layout.series(series, look));
        // If other series are hidden, the script moves the visible bars together in steps of this size.
        if look.first.is_some() { part.set("data-step", layout.thick) } else { part }
    }));
    Figure { width: WIDTH, height: layout.bottom() + 1.5 * LINE, parts }
}

/// Returns the ends of a bar with a finite value. Parts of a stack, which are not negative, are placed end to end.
fn spans(bars: &Bars, series: usize, category: usize) -> Option<(f64, f64)> {
    let value = |series: &BarSeries| series.values.get(category).copied().flatten();
    let own = value(&bars.series[series]).filter(|own| own.is_finite())?;
    let below = if bars.stacked { &bars.series[..series] } else { &[] };
    let start: f64 = below.iter().filter_map(value).filter(|part| part.is_finite()).sum();
    Some((start, start + own))
}

impl<'a> Layout<'a> {
    fn of(bars: &'a Bars, top: f64) -> Self {
        let across = if bars.stacked { 1 } else { bars.series.len() };
        let thick: f64 = match across {
            0 | 1 => 14.0,
            2 | 3 => 10.0,
            4..=8 => 8.0,
            _ => 6.0,
        };
        let group = (across as f64 * thick + GROUP_GAP).max(LINE);
        let left = (widest(&bars.categories) + 10.0).max(RIGHT);
        let value = Scale::new(reach(bars), &bars.value, (left, WIDTH - RIGHT));
        Self { bars, value, left, top, thick, group }
    }

    fn bottom(&self) -> f64 {
        self.top + self.group * self.bars.categories.len() as f64 + GROUP_GAP
    }

    /// Draws the grid lines and the numbers, above the bars and, if the chart is high, also below them.
    fn axis(&self) -> Group {
        let (top, bottom) = (self.top, self.bottom());
        let foot = self.value.foot();
        let mut lines = faint(0.15);
        let strong = faint(0.6).add(line((foot, top), (foot, bottom)));
        let label = shortened(&self.bars.value.label, WIDTH - 30.0) + " →";
        let mut numbers = Group::new().add(text(WIDTH, top - 1.9 * LINE, "end", &label));
        for tick in self.value.ticks() {
            lines = lines.add(line((tick.at, top - 4.0), (tick.at, bottom)));
            let half = text_width(&tick.label) / 2.0;
            let middle = tick.at.min(WIDTH - half);
            numbers = numbers.add(text(middle, top - 14.0, "middle", &tick.label));
            if bottom - top > 500.0 {
                numbers = numbers.add(text(middle, bottom + 12.0, "middle", &tick.label));
            }
        }
        Group::new().add(lines).add(strong).add(numbers)
    }

    fn categories(&self) -> Group {
        let names = self.bars.categories.iter().enumerate();
        names.fold(Group::new(), |group, (index, name)| {
            let middle = self.middle(index);
            group.add(written(name, NAMES, |name| text(self.left - 10.0, middle, "end", name)))
        })
    }

    fn middle(&self, category: usize) -> f64 {
        self.top + GROUP_GAP / 2.0 + self.group * (category as f64 + 0.5)
    }

    fn series(&self, series: &BarSeries, look: Look) -> Group {
        let (mut bars, mut strokes) = (look.fills(), faint(0.9).set("stroke-width", 1.2));
        for (category, name) in self.bars.categories.iter().enumerate() {
            let interval = interval(series, category);
            let middle = self.bar(look.index, category);
            let bar =
                spans(self.bars, look.index, category).and_then(|(from, to)| Some((from, to, self.value.at(to)?)));
            if let Some((from, to, end)) = bar {
                let start = self.value.at(from).unwrap_or(self.value.foot());
                let half = self.thick / 2.0 - 0.75;
                let label = format!("{} · {name}\n{}", series.name, reading(to - from, interval));
                let bar = rectangle((start, middle - half), (end, middle + half));
                bars = bars.add(bar.add(tip(&label)));
            }
            let stroke = interval.and_then(|ends| self.stroke(middle, ends));
            strokes = stroke.into_iter().fold(strokes, Group::add);
        }
        Group::new().add(bars).add(strokes)
    }

    /// Draws an interval at a height: a line with a short line across it at either end.
    fn stroke(&self, middle: f64, (low, high): (f64, f64)) -> Option<Path> {
        let (low, high) = (self.value.at(low).unwrap_or(self.value.foot()), self.value.at(high)?);
        let half = (self.thick / 2.0 - 1.5).min(3.5);
        let [above, below] = [middle - half, middle + half];
        let across = |at| [(at, above), (at, below), (at, middle)];
        Some(path(across(low).into_iter().chain(across(high).into_iter().rev())))
    }

    /// Returns the middle of a bar: of its group for a stack, or of the place of the series within the group.
    fn bar(&self, series: usize, category: usize) -> f64 {
        let place = series as f64 + 0.5 - self.bars.series.len() as f64 / 2.0;
        self.middle(category) + if self.bars.stacked { 0.0 } else { place * self.thick }
    }

    /// Draws the mean of a series as a line behind all bars, unless there are many series.
    fn mean(&self, series: &BarSeries, look: Look) -> Option<Group> {
        let mean = series.mean.filter(|_| self.bars.series.len() <= MAX_SERIES_WITH_MEANS);
        let at = self.value.at(mean?)?;
        let across = line((at, self.top - 4.0), (at, self.bottom()));
        Some(look.strokes().set("stroke-width", 1.5).add(across))
    }
}

fn interval(series: &BarSeries, category: usize) -> Option<(f64, f64)> {
    let interval = series.intervals.get(category).copied().flatten();
    interval.filter(|ends| ends.0.is_finite() && ends.1.is_finite())
}

/// Returns the range of the value axis: from the foot of the bars over all ends, intervals and means.
fn reach(bars: &Bars) -> (f64, f64) {
    let mut ends: Vec<f64> = Vec::new();
    for (index, series) in bars.series.iter().enumerate() {
        for category in 0..bars.categories.len() {
            ends.extend(spans(bars, index, category).map(|(_, end)| end));
            ends.extend(interval(series, category).into_iter().flat_map(|(low, high)| [low, high]));
        }
        ends.extend(series.mean);
    }
    if bars.value.log { from_decade(ends) } else { around(&bars.value, ends.into_iter().chain([0.0])) }
}
