//! Bars to the right, a group per category from top to bottom.

use svg::node::element::{Group, Path};

use super::drawing::{faint, line, path, reading, rectangle, text, tip, written};
use super::legend::{LegendEntry, bar_sample, legend};
use super::look::Look;
use super::picture::Picture;
use super::scale::{Direction, Scale, around, from_decade};
use super::switch::Switch;
use super::theme::{LINE, WIDTH, shortened, text_width};
use super::{BarSeries, Bars};
use crate::report::table::significant;

/// The widest that names of categories get.
const NAMES: f64 = 290.0;
/// Free at the right: half a number's width.
const RIGHT: f64 = 30.0;
/// Free between groups.
const BETWEEN: f64 = 8.0;
/// Of more means than this no line could be followed.
const MEANS: usize = 6;

/// Bars with their axis laid out.
struct Layout<'a> {
    bars: &'a Bars,
    value: Scale,
    left: f64,
    top: f64,
    /// Of a bar, and of a group with what is free below it.
    thick: f64,
    group: f64,
}

/// The bars as a picture.
pub fn draw(bars: &Bars) -> Picture {
    let (names, height) = legend(entries(bars), 0.0, WIDTH);
    let layout = Layout::of(bars, height + 10.0 + 2.5 * LINE);
    let mut parts = vec![names, layout.axis(), layout.categories()];
    parts.extend(looks(bars).filter_map(|(series, look, _)| layout.mean(series, look)));
    parts.extend(looks(bars).enumerate().map(|(index, (series, look, switch))| {
        let part = Switch::part(switch, layout.series(index, series, look));
        // Where bars of other series are hidden, those that are left move together by so much.
        if switch.is_some() { part.set("data-step", layout.thick) } else { part }
    }));
    Picture { width: WIDTH, height: layout.bottom() + 1.5 * LINE, parts }
}

/// A stack is shown whole.
fn looks(bars: &Bars) -> impl Iterator<Item = (&BarSeries, Look, Option<Switch>)> {
    let switches = Switch::all(bars.series.iter().map(|series| &series.name[..]), &bars.few);
    let looks = bars.series.iter().zip(switches).enumerate();
    let switch = |switch: Option<Switch>| switch.filter(|_| !bars.stacked);
    looks.map(move |(index, (series, of))| (series, Look::of(index), switch(of)))
}

/// The names of series with their means.
fn entries(bars: &Bars) -> Vec<LegendEntry> {
    let entry = |(series, look, switch): (&BarSeries, Look, _)| {
        let mean = series.mean.map(|mean| format!(" (mean {})", significant(mean)));
        let name = format!("{}{}", series.name, mean.unwrap_or_default());
        LegendEntry { name, sample: bar_sample(look), switch }
    };
    looks(bars).map(entry).filter(|entry| !entry.name.is_empty()).collect()
}

/// From where to where each bar reaches, by series and category. Parts of a stack lie end to end, those
/// below 0 to the other side.
fn spans(bars: &Bars, series: usize, category: usize) -> Option<(f64, f64)> {
    let value = |series: &BarSeries| series.values.get(category).copied().flatten();
    let own = value(&bars.series[series]).filter(|own| own.is_finite())?;
    if !bars.stacked {
        return Some((0.0, own));
    }
    let before = bars.series[..series].iter().filter_map(value);
    let same_side = before.filter(|part| part.is_finite() && (*part < 0.0) == (own < 0.0));
    let start: f64 = same_side.sum();
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
        let group = (across as f64 * thick + BETWEEN).max(LINE);
        let names = bars.categories.iter().map(|name| text_width(name));
        let left = names.fold(0.0, f64::max).min(NAMES) + 10.0;
        let left = left.max(RIGHT);
        let value = Scale::new(reach(bars), &bars.value, (left, WIDTH - RIGHT));
        Self { bars, value, left, top, thick, group }
    }

    fn bottom(&self) -> f64 {
        self.top + self.group * self.bars.categories.len() as f64 + BETWEEN
    }

    /// Lines at the numbers, and the numbers above and, where that is far away, below.
    fn axis(&self) -> Group {
        let (top, bottom) = (self.top, self.bottom());
        let foot = self.value.foot();
        let mut lines = faint(0.15);
        let strong = faint(0.6).add(line((foot, top), (foot, bottom)));
        let label = shortened(&self.bars.value.label, WIDTH - 30.0) + " →";
        let mut numbers = Group::new().add(text(WIDTH, top - 1.9 * LINE, "end", &label));
        for tick in self.value.ticks(Direction::Across) {
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
        let written = names.map(|(index, name)| {
            written(name, NAMES, |name| text(self.left - 10.0, self.middle(index), "end", name))
        });
        written.fold(Group::new(), Group::add)
    }

    /// Of a group.
    fn middle(&self, category: usize) -> f64 {
        self.top + BETWEEN / 2.0 + self.group * (category as f64 + 0.5)
    }

    fn series(&self, index: usize, series: &BarSeries, look: Look) -> Group {
        let bars = self.bars.categories.iter().enumerate().filter_map(|(category, name)| {
            let (from, to) = spans(self.bars, index, category)?;
            let end = self.value.at(to)?;
            let start = self.value.at(from).unwrap_or(self.value.foot());
            let (middle, half) = (self.bar(index, category), self.thick / 2.0 - 0.75);
            let number = reading(to - from, interval(self.bars, series, category));
            let told = format!("{} · {name}\n{number}", series.name);
            Some(rectangle((start, middle - half), (end, middle + half)).add(tip(&told)))
        });
        let bars = bars.fold(look.fills(), Group::add);
        let strokes = (0..self.bars.categories.len()).filter_map(|category| {
            let ends = interval(self.bars, series, category)?;
            self.stroke(self.bar(index, category), ends)
        });
        let strokes = strokes.fold(faint(0.9).set("stroke-width", 1.2), Group::add);
        Group::new().add(bars).add(strokes)
    }

    /// An interval about a height: a line with a short one across it at either end.
    fn stroke(&self, middle: f64, (low, high): (f64, f64)) -> Option<Path> {
        let (low, high) = (self.value.at(low).unwrap_or(self.value.foot()), self.value.at(high)?);
        let half = (self.thick / 2.0 - 1.5).min(3.5);
        let [above, below] = [middle - half, middle + half];
        let across = |at| [(at, above), (at, below), (at, middle)];
        Some(path(across(low).into_iter().chain(across(high).into_iter().rev())))
    }

    /// The middle of a bar: in the group's, or as far from there as its place in the group says.
    fn bar(&self, series: usize, category: usize) -> f64 {
        let place = series as f64 + 0.5 - self.bars.series.len() as f64 / 2.0;
        self.middle(category) + if self.bars.stacked { 0.0 } else { place * self.thick }
    }

    /// A line behind the bars of all categories; a part of a stack has no place of its own for it, and of
    /// many lines none could be followed.
    fn mean(&self, series: &BarSeries, look: Look) -> Option<Group> {
        let few = self.bars.series.len() <= MEANS;
        let mean = series.mean.filter(|_| few && !self.bars.stacked)?;
        let at = self.value.at(mean)?;
        let across = line((at, self.top - 4.0), (at, self.bottom()));
        Some(look.strokes().set("stroke-width", 1.5).add(across))
    }
}

/// From where to where a bar's value lies. A part of a stack has no place for that.
fn interval(bars: &Bars, series: &BarSeries, category: usize) -> Option<(f64, f64)> {
    let interval = series.intervals.get(category).copied().flatten();
    interval.filter(|ends| !bars.stacked && ends.0.is_finite() && ends.1.is_finite())
}

/// From the foot of the bars over all ends, intervals and means.
fn reach(bars: &Bars) -> (f64, f64) {
    let categories = 0..bars.categories.len();
    let ends = categories.flat_map(|category| {
        let end = move |series: usize| Some(spans(bars, series, category)?.1);
        let intervals =
            bars.series.iter().filter_map(move |series| interval(bars, series, category));
        let ends = (0..bars.series.len()).filter_map(end);
        ends.chain(intervals.flat_map(|(low, high)| [low, high]))
    });
    let means = bars.series.iter().filter_map(|series| series.mean).filter(|_| !bars.stacked);
    let ends = ends.chain(means);
    if bars.value.log { from_decade(ends) } else { around(&bars.value, ends.chain([0.0])) }
}
