//! Tables as lines of text that fit a width: a line per row as far as possible. Numbers and the names in the first
//! column are never broken; long texts are, other names are cut, and columns that have no room are left out.

use console::{Alignment, pad_str, truncate_str};
use textwrap::core::display_width;

use super::data::{Cell, Table};
use super::terminal::{broken, wrapped};

/// What is before, between and after the cells of a line.
pub type Frame = [&'static str; 3];
/// The frame of a table with rules.
const RULED: Frame = [" ", "   ", " "];
/// The width below which names after the first column are not cut, and that below which texts are not broken.
const NAME: usize = 16;
const TEXT: usize = 24;

/// The room for a column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// The place of the column in the table.
    column: usize,
    alignment: Alignment,
    /// The width of the column, in characters: the least one until the table is laid out.
    width: usize,
    /// The width of its widest cell or its heading.
    most: usize,
    /// How early the column is left out: that with the highest rank first, with rank 0 never.
    rank: usize,
}

impl Space {
    /// Returns the room for the column without broken or cut cells, at least `width` characters. A column with a higher
    /// `rank` is left out earlier, one with rank 0 never.
    pub fn whole(self, width: usize, rank: usize) -> Self {
        let width = width.max(self.most);
        Self { width, most: width, rank, ..self }
    }
}

/// A table whose columns have fixed widths, so that it can be printed line by line.
pub struct Layout<'t> {
    table: &'t Table,
    spaces: Vec<Space>,
    frame: Frame,
    /// The width of the longest line, in characters.
    width: usize,
}

impl Table {
    /// Formats the table as text with aligned columns. It is at most `width` characters wide if that is given, unless
    /// its first column alone needs more.
    pub fn to_text(&self, width: Option<u16>) -> String {
        let layout = self.layout(self.spaces(), RULED, width);
        let [thin, double] = ["─", "═"].map(|rule| rule.repeat(layout.width));
        let mut lines = layout.lines(double);
        lines.insert(0, thin.clone());
        lines.push(thin);
        let omitted = self.columns[layout.spaces.len()..].join(", ");
        if !omitted.is_empty() {
            lines.push(wrapped(&format!("Not shown for lack of width: {omitted}."), width));
        }
        lines.join("\n")
    }

    /// Returns the room that each column needs. The last ones are left out first.
    pub fn spaces(&self) -> Vec<Space> {
        (0..self.columns.len()).map(|column| self.space(column)).collect()
    }

    fn space(&self, column: usize) -> Space {
        let cells: Vec<_> = self.rows.iter().map(|row| row[column].show()).collect();
        let widest = cells.iter().map(|cell| display_width(cell)).max().unwrap_or(0);
        let is_prose = cells.iter().any(|cell| cell.contains(' '));
        let is_numeric = self.is_numeric(column);
        let least = match column {
            _ if is_numeric => widest,
            0 if !is_prose => widest,
            _ => widest.min(if is_prose { TEXT } else { NAME }),
        };
        let heading = &self.columns[column];
        let words = heading.split(' ').map(display_width).max().unwrap_or(0);
        Space {
            column,
            alignment: if is_numeric { Alignment::Right } else { Alignment::Left },
            width: least.max(words),
            most: widest.max(display_width(heading)),
            rank: column,
        }
    }

    /// Leaves out columns until the others fit `width`, and gives what remains to the first ones that can use more.
    pub fn layout(&self, mut spaces: Vec<Space>, frame: Frame, width: Option<u16>) -> Layout<'_> {
        let [before, between, after] = frame.map(str::len);
        let needed = |spaces: &[Space]| {
            let cells: usize = spaces.iter().map(|space| space.width + between).sum();
            (cells + before + after).saturating_sub(between)
        };
        let room = width.map_or(usize::MAX, usize::from);
        while needed(&spaces) > room {
            let last = (0..spaces.len()).max_by_key(|&place| spaces[place].rank);
            let Some(last) = last.filter(|&place| spaces[place].rank > 0) else { break };
            spaces.remove(last);
        }
        for place in 0..spaces.len() {
            let rest = room.saturating_sub(needed(&spaces));
            let space = &mut spaces[place];
            space.width = space.most.min(space.width + rest);
        }
        Layout { table: self, width: needed(&spaces), spaces, frame }
    }
}

impl Layout<'_> {
    /// Returns the headings of the columns that have room.
    pub fn columns(&self) -> Vec<&str> {
        self.spaces.iter().map(|space| &self.table.columns[space.column][..]).collect()
    }

    pub fn head(&self) -> String {
        self.line(|space| self.table.columns[space.column].clone())
    }

    /// Returns a row, as several lines if it has a text that is broken.
    pub fn row(&self, row: usize) -> String {
        self.line(|space| match &self.table.rows[row][space.column] {
            Cell::Text(name) if !name.contains(' ') => truncate_str(name, space.width, "…").into_owned(),
            other => other.show(),
        })
    }

    pub(super) fn lines(&self, rule: String) -> Vec<String> {
        let rows = (0..self.table.rows.len()).map(|row| self.row(row));
        [self.head(), rule].into_iter().chain(rows).collect()
    }

    fn line(&self, text: impl Fn(&Space) -> String) -> String {
        let cells: Vec<_> = self.spaces.iter().map(|of| broken(&text(of), of.width)).collect();
        let [before, between, after] = self.frame;
        let line = |number: usize| {
            let parts = cells.iter().map(|parts| parts.get(number).map_or("", String::as_str));
            let padded = |(of, part): (&Space, _)| pad_str(part, of.width, of.alignment, None);
            let line: Vec<_> = self.spaces.iter().zip(parts).map(padded).collect();
            format!("{before}{}{after}", line.join(between)).trim_end().to_owned()
        };
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height).map(line).collect::<Vec<_>>().join("\n")
    }

    /// Returns the rule of a Markdown table, which aligns numbers to the right.
    pub(super) fn markdown_rule(&self) -> String {
        let part = |space: &Space| {
            let end = if space.alignment == Alignment::Right { ":" } else { "-" };
            "-".repeat(space.width + 1) + end
        };
        format!("|{}|", self.spaces.iter().map(part).collect::<Vec<_>>().join("|"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::table::{Cell, Table};

    #[test]
    fn a_row_is_a_line_and_columns_without_room_are_named() {
        let table = Table {
            columns: ["method", "mean loss", "on", "why it is so", "least"].map(String::from).into(),
            rows: vec![
                vec![
                    "packed:values=coded".into(),
                    Cell::Number(1.25),
                    "gen:grid2d,n=1000,points=5".into(),
                    "its nonzeros are few, and its rows are long".into(),
                    Cell::Count(7),
                ],
                vec!["seq".into(), Cell::Empty, "nw04".into(), Cell::Empty, Cell::Count(12345)],
            ],
        };
        expect![[r#"
            ───────────────────────────────────────────────────────────────────────────────
             method                mean loss   on                 why it is so
            ═══════════════════════════════════════════════════════════════════════════════
             packed:values=coded        1.25   gen:grid2d,n=10…   its nonzeros are few,
                                                                  and its rows are long
             seq                               nw04
            ───────────────────────────────────────────────────────────────────────────────
            Not shown for lack of width: least.

            ──────────────────────────────────────────────────
             method                   mean   on
                                      loss
            ══════════════════════════════════════════════════
             packed:values=coded      1.25   gen:grid2d,n=10…
             seq                             nw04
            ──────────────────────────────────────────────────
            Not shown for lack of width: why it is so, least.

            ─────────────────────
             method
            ═════════════════════
             packed:values=coded
             seq
            ─────────────────────
            Not shown for lack
              of width: mean
              loss, on, why it
              is so, least.
        "#]]
        .assert_eq(&([79, 50, 20].map(|width| table.to_text(Some(width))).join("\n\n") + "\n"));
    }
}
