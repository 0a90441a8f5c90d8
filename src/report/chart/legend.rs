//! The legend: the names of series, in columns.

use svg::node::element::Group;

use super::drawing::{line, rectangle, tenth, text, written};
use super::look::Look;
use super::switch::Switch;
use super::theme::{LINE, text_width};

/// The width of a sample, and the gap between it and its name.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 6.0;
/// The gap between a column and the next.
const BETWEEN: f64 = 20.0;

/// A name in the legend with a sample of its style.
pub struct LegendEntry {
    /// The text of the entry.
    pub name: String,
    /// The sample, centred at the origin and [`SAMPLE`] units wide.
    pub sample: Group,
    /// Whether and how the entry shows and hides a series.
    pub switch: Option<Switch>,
}

/// Draws the entries column by column. Returns the drawing and its height.
pub fn legend(entries: Vec<LegendEntry>, top: f64, width: f64) -> (Group, f64) {
    let room = width - SAMPLE - GAP;
    let widths: Vec<_> =
        entries.iter().map(|entry| SAMPLE + GAP + text_width(&entry.name).min(room)).collect();
    let (rows, lefts) = columns(&widths, width);
    let placed = entries.into_iter().enumerate().map(|(index, entry)| {
        drawn(entry, lefts[index / rows], top + ((index % rows) as f64 + 0.5) * LINE, room)
    });
    (placed.fold(Group::new(), Group::add), rows.min(widths.len()) as f64 * LINE)
}

/// Returns the smallest number of rows that fits into the width, and the left edges of the columns.
fn columns(widths: &[f64], room: f64) -> (usize, Vec<f64>) {
    let lefts = |rows: usize| {
        let widest = |column: &[f64]| column.iter().fold(0.0, |a: f64, b| a.max(*b)) + BETWEEN;
        let mut right = 0.0;
        let mut lefts = vec![];
        for column in widths.chunks(rows) {
            lefts.push(right);
            right += widest(column);
        }
        (right - BETWEEN, lefts)
    };
    let fits = (1..widths.len()).find(|&rows| lefts(rows).0 <= room);
    let rows = fits.unwrap_or(widths.len().max(1));
    (rows, lefts(rows).1)
}

fn drawn(entry: LegendEntry, left: f64, middle: f64, room: f64) -> Group {
    let at = format!("translate({} {})", tenth(left + SAMPLE / 2.0), tenth(middle));
    let width = SAMPLE + GAP + text_width(&entry.name).min(room);
    let name = written(&entry.name, room, |name| text(left + SAMPLE + GAP, middle, "start", name));
    let drawn = Switch::name(entry.switch, Group::new());
    // Makes the whole entry clickable, not only its letters.
    let area = rectangle((left, middle - LINE / 2.0), (left + width, middle + LINE / 2.0));
    let area = entry.switch.map(|_| area.set("fill", "none").set("pointer-events", "all"));
    let drawn = area.into_iter().fold(drawn, Group::add);
    drawn.add(entry.sample.set("transform", at)).add(name)
}

/// Draws the sample of a line.
pub fn line_sample(group: Group) -> Group {
    group.add(line((-SAMPLE / 2.0, 0.0), (SAMPLE / 2.0, 0.0)))
}

/// Draws the sample of a bar.
pub fn bar_sample(look: Look) -> Group {
    look.fills().add(rectangle((-9.0, -5.0), (9.0, 5.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_few_rows_as_fit() {
        assert_eq!(columns(&[100.0, 80.0, 90.0], 310.0), (1, vec![0.0, 120.0, 220.0]));
        assert_eq!(columns(&[100.0, 80.0, 90.0], 309.0), (2, vec![0.0, 120.0]));
        assert_eq!(columns(&[100.0, 80.0], 100.0), (2, vec![0.0]));
        assert_eq!(columns(&[], 100.0), (1, vec![]));
    }
}
