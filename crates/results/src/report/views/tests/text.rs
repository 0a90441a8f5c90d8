//! Views as text.

use crate::report::chart::{BarSeries, Chart, Point, Series};
use crate::report::means::between;
use crate::report::names::join;
use crate::report::view::View;
use crate::table::significant;

pub fn text_of(view: &View) -> String {
    assert_eq!(view.title, "T");
    let table = view.table.as_ref().map(|table| table.to_markdown() + "\n").unwrap_or_default();
    let chart = view.chart.as_ref().map(chart_text).unwrap_or_default();
    format!("{}\n{table}{chart}", view.notes.join("\n"))
}

/// Returns a line per series, guide or row of a chart.
fn chart_text(chart: &Chart) -> String {
    let lines: Vec<_> = match chart {
        Chart::Plane(plane) => {
            let guides =
                plane.guides.iter().map(|of| format!("guide {}: {}", of.name, few(of.points.iter().map(place))));
            plane.series.iter().map(series).chain(guides).collect()
        }
        Chart::Bars(bars) => {
            let stacked = if bars.stacked { "stacked bars" } else { "bars" };
            let head = format!("{stacked}: {}", bars.categories.join(" | "));
            std::iter::once(head).chain(bars.series.iter().map(of_bars)).collect()
        }
        Chart::Heat(heat) => {
            let rows = heat.rows.iter().zip(&heat.cells);
            let rows = rows.map(|(name, cells)| format!("{name}: {}", numbers(cells)));
            std::iter::once(format!("columns {}", heat.columns.join(" "))).chain(rows).collect()
        }
    };
    lines.join("\n") + "\n"
}

fn series(series: &Series) -> String {
    let point = |point: &Point| {
        let label = point.label.as_deref().unwrap_or_default();
        let spread = point.spread.map_or(String::new(), |ends| format!(" ({})", between(ends)));
        format!("{label}@{}{spread}", place(&(point.x, point.y)))
    };
    format!("{}: {}", series.name, few(series.points.iter().map(point)))
}

fn of_bars(series: &BarSeries) -> String {
    let intervals = series.intervals.iter().flatten();
    let intervals = join(intervals.map(|&ends| format!(" ({})", between(ends))), "");
    let mean = series.mean.map_or(String::new(), |mean| format!("; mean {}", significant(mean)));
    format!("{}: {}{intervals}{mean}", series.name, numbers(&series.values))
}

fn place((x, y): &(f64, f64)) -> String {
    format!("{},{}", significant(*x), significant(*y))
}

fn numbers(numbers: &[Option<f64>]) -> String {
    join(numbers.iter().map(|number| number.map_or("-".into(), significant)), " ")
}

/// Joins points. Of many, there are the first two and the last.
fn few(points: impl Iterator<Item = String>) -> String {
    let points: Vec<_> = points.collect();
    match &points[..] {
        [first, second, _, .., last] if points.len() > 4 => format!("{first} {second} … {last}"),
        _ => points.join(" "),
    }
}
