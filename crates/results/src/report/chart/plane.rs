use svg::node::element::Group;

use super::data::{Axis, Mark, Plane, Point, Series};
use super::figure::*;
use super::look::{LegendEntry, Look, guide_strokes, legend, line_sample, looks};
use super::scale::{Scale, around, has_place};
use crate::report::names::join;
use crate::table::significant;

const TOP: f64 = 34.0;
const BOTTOM: f64 = 414.0;
const RIGHT: f64 = 14.0;

struct Layout<'a> {
    plane: &'a Plane,
    x: Scale,
    y: Scale,
    left: f64,
}

pub fn draw(plane: &Plane) -> Figure {
    let looks = || looks(&plane.series, |series| &series.name, Some(&plane.few));
    let layout = Layout::of(plane);
    let mut parts = vec![layout.grid(), layout.guides()];
    for layer in [Layout::band, Layout::joined, Layout::marked] {
        let drawn = |(series, look): (_, Look)| Some(look.part(layer(&layout, series, look)?));
        parts.extend(looks().filter_map(drawn));
    }
    let mut entries: Vec<_> = looks().map(|(series, look)| entry(series, look)).collect();
    entries.extend(plane.guides.iter().enumerate().map(|(index, guide)| LegendEntry {
        name: guide.name.clone(),
        sample: line_sample(guide_strokes(index)),
        look: None,
    }));
    let top = BOTTOM + 3.2 * LINE;
    let (names, height) = legend(entries, top, WIDTH);
    parts.push(names);
    Figure { width: WIDTH, height: top + height + 4.0, parts }
}

fn entry(series: &Series, look: Look) -> LegendEntry {
    let line = line_sample(look.strokes());
    let mark = look.marks().add(look.mark_at(0.0, 0.0));
    let sample = match series.mark {
        Mark::Dots => mark,
        Mark::Line => Group::new().add(line).add(mark),
        Mark::Trend => line,
    };
    LegendEntry { name: series.name.clone(), sample, look: Some(look) }
}

impl<'a> Layout<'a> {
    fn of(plane: &'a Plane) -> Self {
        let mut xs = Vec::new();
        let mut ys = Vec::new();
        for point in plane.series.iter().flat_map(|of| of.points.iter().chain(&of.outliers)) {
            if has_place(plane.x.log, point.x) && has_place(plane.y.log, point.y) {
                xs.push(point.x);
                ys.push(point.y);
                ys.extend(point.spread.into_iter().flat_map(|(low, high)| [low, high]));
            }
        }
        for &(x, y) in plane.guides.iter().flat_map(|guide| &guide.points) {
            xs.push(x);
            ys.push(y);
        }
        let y = Scale::new(around(&plane.y, ys), &plane.y, (BOTTOM, TOP));
        let labels = y.ticks().into_iter().map(|tick| text_width(&tick.label));
        let left = labels.fold(30.0, f64::max) + 10.0;
        let x = Scale::new(around(&plane.x, xs), &plane.x, (left, WIDTH - RIGHT));
        Self { plane, x, y, left }
    }

    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x.at(x)?, self.y.at(y)?))
    }

    fn grid(&self) -> Group {
        let (left, right) = (self.left, WIDTH - RIGHT);
        let mut lines = faint(0.15);
        let mut strong = faint(0.6).add(line((left, BOTTOM), (right, BOTTOM)));
        let mut numbers = Group::new();
        for tick in self.y.ticks() {
            lines = lines.add(line((left, tick.at), (right, tick.at)));
            numbers = numbers.add(text(left - 8.0, tick.at, "end", &tick.label));
        }
        for tick in self.x.ticks() {
            lines = lines.add(line((tick.at, TOP), (tick.at, BOTTOM)));
            strong = strong.add(line((tick.at, BOTTOM), (tick.at, BOTTOM + 6.0)));
            let half = text_width(&tick.label) / 2.0;
            let middle = tick.at.clamp(half, WIDTH - half);
            numbers = numbers.add(text(middle, BOTTOM + 17.0, "middle", &tick.label));
        }
        for at in self.x.minor() {
            strong = strong.add(line((at, BOTTOM), (at, BOTTOM + 3.0)));
        }
        for at in self.y.minor() {
            strong = strong.add(line((left - 3.0, at), (left, at)));
        }
        let label = |axis: &Axis| shortened(&axis.label, WIDTH - 30.0);
        let [x, y] = [label(&self.plane.x) + " →", "↑ ".to_owned() + &label(&self.plane.y)];
        let labels = Group::new().add(text(0.0, 10.0, "start", &y));
        let labels = labels.add(text(right, BOTTOM + 17.0 + LINE, "end", &x));
        Group::new().add(lines).add(strong).add(numbers).add(labels)
    }

    /// Draws the guides. A horizontal guide extends from side to side.
    fn guides(&self) -> Group {
        let mut guides = Group::new();
        for (index, guide) in self.plane.guides.iter().enumerate() {
            let corners = guide.points.iter().filter_map(|corner| self.at(corner.0, corner.1));
            let mut corners: Vec<_> = corners.collect();
            let Some(&(_, y)) = corners.first() else { continue };
            if corners.iter().all(|corner| corner.1 == y) {
                corners = vec![(self.left, y), (WIDTH - RIGHT, y)];
            }
            guides = guides.add(guide_strokes(index).add(path(corners).add(tip(&guide.name))));
        }
        guides
    }

    fn places<'b>(&self, points: &'b [Point]) -> Vec<((f64, f64), &'b Point)> {
        points.iter().filter_map(|point| Some((self.at(point.x, point.y)?, point))).collect()
    }

    /// Returns the vertical ends of a point's spread, the bottom if a logarithmic axis cannot show an end.
    fn ends(&self, point: &Point) -> Option<[f64; 2]> {
        let (low, high) = point.spread.filter(|ends| ends.0.is_finite() && ends.1.is_finite())?;
        Some([low, high].map(|end| self.y.at(end).unwrap_or(BOTTOM)))
    }

    fn band(&self, series: &Series, look: Look) -> Option<Group> {
        let places = self.places(&series.points);
        if series.mark != Mark::Trend || places.iter().all(|(_, point)| point.spread.is_none()) {
            return None;
        }
        let edge =
            |which: usize| places.iter().map(move |&((x, y), point)| (x, self.ends(point).map_or(y, |e| e[which])));
        let around = path(edge(0).chain(edge(1).rev()));
        Some(Group::new().set("fill", look.colour).set("fill-opacity", 0.18).add(around))
    }

    /// Draws the line of a series, and the spreads as strokes side by side, except for trends.
    fn joined(&self, series: &Series, look: Look) -> Option<Group> {
        let all = self.plane.series.len() as f64;
        let aside = (look.index as f64 - (all - 1.0) / 2.0) * (24.0 / all).min(3.0);
        let places = self.places(&series.points);
        let mut group = look.strokes();
        for ((x, _), point) in places.iter().filter(|_| series.mark != Mark::Trend) {
            let Some([low, high]) = self.ends(point) else { continue };
            let stroke = line((x + aside, low), (x + aside, high)).set("stroke-width", 1);
            group = group.add(stroke.set("stroke-dasharray", "none"));
        }
        if series.mark != Mark::Dots {
            let joined = path(places.iter().map(|place| place.0));
            group = group.add(joined.add(tip(&series.name)));
        }
        (!places.is_empty()).then_some(group)
    }

    /// Draws the marks of a series. A trend has marks only for its outliers, or if it consists of a single point.
    fn marked(&self, series: &Series, look: Look) -> Option<Group> {
        let mut places = self.places(&series.points);
        if series.mark == Mark::Trend && places.len() > 1 {
            places = self.places(&series.outliers);
        }
        if places.is_empty() {
            return None;
        }
        let marks = places.into_iter().map(|((x, y), point)| look.mark_at(x, y).add(tip(&tooltip(series, point))));
        Some(marks.fold(look.marks(), Group::add))
    }
}

fn tooltip(series: &Series, point: &Point) -> String {
    let name = join([series.name.clone(), point.label.clone().unwrap_or_default()], " · ");
    format!("{name}\n{} → {}", significant(point.x), reading(point.y, point.spread))
}
