use svg::node::element::{Group, Rectangle};

use super::data::Heat;
use super::figure::*;
use super::scale::label;
use crate::table::significant;

const MIN_CELL_WIDTH: f64 = 17.0;
const MAX_CELL_WIDTH: f64 = 64.0;
const CELL_HEIGHT: f64 = 22.0;
/// The length of the colour bar, from 0 to 100 %.
const BAR: f64 = 300.0;

struct Layout<'a> {
    heat: &'a Heat,
    left: f64,
    top: f64,
    cell: f64,
    upward: bool,
}

pub fn draw(heat: &Heat) -> Figure {
    let left = widest(&heat.rows) + 10.0;
    let columns = heat.columns.len().max(1) as f64;
    let cell = ((WIDTH - left) / columns).clamp(MIN_CELL_WIDTH, MAX_CELL_WIDTH);
    let names = widest(&heat.columns);
    let upward = names > cell - 6.0;
    let top = 4.2 * LINE + if upward { names } else { LINE };
    let layout = Layout { heat, left, top, cell, upward };
    let parts = vec![colours(&heat.label), layout.names(), layout.cells()];
    let height = top + CELL_HEIGHT * heat.rows.len() as f64 + 4.0;
    Figure { width: WIDTH.max(left + cell * columns), height, parts }
}

fn colours(label: &str) -> Group {
    let label = written(label, WIDTH, |label| text(0.0, 10.0, "start", label));
    let parts = (0..60).map(|part| {
        let [from, to] = [part, part + 1].map(|part| BAR * f64::from(part) / 60.0);
        // Overlaps the next part a little, so that no gap is visible.
        let right = (to + 1.0).min(BAR);
        let colour = viridis((f64::from(part) + 0.5) / 60.0).0;
        rectangle((from, 24.0), (right, 36.0)).set("fill", colour)
    });
    let parts = parts.fold(Group::new().set("shape-rendering", "crispEdges"), Group::add);
    let ends = Group::new().add(text(0.0, 50.0, "start", "0")).add(text(BAR, 50.0, "end", "100"));
    let numbers = [20, 40, 60, 80].into_iter().fold(ends, |group, percent| {
        let at = BAR * f64::from(percent) / 100.0;
        let mark = faint(0.6).add(line((at, 36.0), (at, 41.0)));
        group.add(mark).add(text(at, 50.0, "middle", &percent.to_string()))
    });
    Group::new().add(label).add(parts).add(numbers)
}

impl Layout<'_> {
    fn x(&self, column: usize) -> f64 {
        self.left + self.cell * column as f64
    }

    fn y(&self, row: usize) -> f64 {
        self.top + CELL_HEIGHT * row as f64
    }

    /// Draws the names of rows at the left and of columns above, vertically unless they fit.
    fn names(&self) -> Group {
        let rows = self.heat.rows.iter().enumerate().map(|(row, name)| {
            let middle = self.y(row) + CELL_HEIGHT / 2.0;
            written(name, NAMES, |name| text(self.left - 8.0, middle, "end", name))
        });
        let columns = self.heat.columns.iter().enumerate().map(|(column, name)| {
            let middle = self.x(column) + self.cell / 2.0;
            written(name, NAMES, |name| {
                if self.upward {
                    upward(middle, self.top - 7.0, name)
                } else {
                    text(middle, self.top - 12.0, "middle", name)
                }
            })
        });
        columns.fold(rows.fold(Group::new(), Group::add), Group::add)
    }

    fn cells(&self) -> Group {
        let (mut empty, mut full) = (faint(0.3), Group::new());
        let all = self.heat.cells.iter().flatten().copied().flatten();
        let widest = all.map(|value| text_width(&short(value))).fold(0.0, f64::max);
        let numbers_fit = widest + 3.0 <= self.cell;
        for row in 0..self.heat.rows.len() {
            for column in 0..self.heat.columns.len() {
                match self.heat.cells[row][column].filter(|value| value.is_finite()) {
                    Some(value) => full = full.add(self.cell(row, column, value, numbers_fit)),
                    None => empty = empty.add(self.area(row, column, 1.5)),
                }
            }
        }
        Group::new().add(empty).add(full)
    }

    fn cell(&self, row: usize, column: usize, value: f64, number: bool) -> Group {
        let (colour, ink) = viridis(value / 100.0);
        let area = self.area(row, column, 0.5).set("fill", colour);
        let names = format!("{} · {}", self.heat.columns[column], self.heat.rows[row]);
        let cell = Group::new().add(area).add(tip(&format!("{names}\n{}", significant(value))));
        if !number {
            return cell;
        }
        let (x, y) = (self.x(column) + self.cell / 2.0, self.y(row) + CELL_HEIGHT / 2.0);
        cell.add(text(x, y, "middle", &short(value)).set("fill", ink))
    }

    fn area(&self, row: usize, column: usize, margin: f64) -> Rectangle {
        let (left, top) = (self.x(column) + margin, self.y(row) + margin);
        rectangle((left, top), (left + self.cell - 2.0 * margin, top + CELL_HEIGHT - 2.0 * margin))
    }
}

/// Formats a percentage with two significant digits.
fn short(value: f64) -> String {
    let digits = match value {
        0.0995..0.995 => 2,
        0.995..9.95 => 1,
        9.95.. => 0,
        _ => return label(value, value / 10.0),
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_two_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (0.00123, "0.0012"),
            (0.4, "0.40"),
            (0.999, "1.0"),
            (9.96, "10"),
            (100.0, "100"),
            (2e-7, "2×10⁻⁷"),
        ] {
            assert_eq!(short(value), expected);
        }
    }
}
