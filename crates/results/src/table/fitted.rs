//! Tables that are fitted to a terminal: a line per row as far as possible. Numbers and the names in the first column
//! are never broken; long texts are, other names are cut, and columns at the end that have no room are left out and
//! named.

use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use console::{measure_text_width, truncate_str};

use crate::table::terminal::wrapped;
use crate::table::{Cell, LINES, Table};

/// The blanks beside a cell, and those between it and the next one with theirs.
const PADDING: usize = 2;
const BETWEEN: usize = 1;
/// The width below which names after the first column are not cut, and that below which texts are not broken.
const NAME: usize = 16;
const TEXT: usize = 24;

impl Table {
    /// Formats the table as text, at most `width` characters wide unless its first column alone needs more.
    pub fn fitted(&self, width: u16) -> String {
        let needs: Vec<_> = (0..self.columns.len()).map(|column| self.needed(column)).collect();
        let shown = fitting(&needs, width.into());
        let widths = self.widths(&needs[..shown], width.into());
        let mut table = self.cut(&widths).laid_out(LINES);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        for (column, &width) in table.column_iter_mut().zip(&widths) {
            let width = u16::try_from(width).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        let omitted = self.columns[shown..].join(", ");
        match &omitted[..] {
            "" => table.trim_fmt(),
            _ => {
                let note = format!("Not shown for lack of width: {omitted}.");
                format!("{}\n{}", table.trim_fmt(), wrapped(&note, Some(width)))
            }
        }
    }

    /// Returns the least width of a column with its padding.
    fn needed(&self, column: usize) -> usize {
        let widest = self.widest(column);
        let is_prose = self.cells(column).any(|cell| cell.contains(' '));
        let content = match column {
            _ if self.is_numeric(column) => widest,
            0 if !is_prose => widest,
            _ => widest.min(if is_prose { TEXT } else { NAME }),
        };
        let words = self.columns[column].split(' ').map(measure_text_width);
        content.max(words.max().unwrap_or(0)) + PADDING
    }

    /// Returns the widths of the columns: what they need, and what remains for the first ones that can use more.
    fn widths(&self, needs: &[usize], width: usize) -> Vec<usize> {
        let needed: usize = needs.iter().map(|need| need + BETWEEN).sum();
        let mut rest = (width + BETWEEN).saturating_sub(needed);
        let mut widths = needs.to_vec();
        for (column, width) in widths.iter_mut().enumerate() {
            let heading = measure_text_width(&self.columns[column]);
            let more = (self.widest(column).max(heading) + PADDING - *width).min(rest);
            *width += more;
            rest -= more;
        }
        widths
    }

    fn widest(&self, column: usize) -> usize {
        self.cells(column).map(|cell| measure_text_width(&cell)).max().unwrap_or(0)
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = String> {
        self.rows.iter().map(move |row| row[column].show())
    }

    /// Returns the first columns, with names cut to their widths.
    fn cut(&self, widths: &[usize]) -> Self {
        let cut = |(cell, &width): (&Cell, &usize)| match cell {
            Cell::Text(name) if !name.contains(' ') => {
                Cell::Text(truncate_str(name, width - PADDING, "…").into_owned())
            }
            other => other.clone(),
        };
        let rows = self.rows.iter().map(|row| row.iter().zip(widths).map(cut).collect());
        Self { columns: self.columns[..widths.len()].to_vec(), rows: rows.collect() }
    }
}

/// Returns how many of the first columns fit, at least one.
fn fitting(needs: &[usize], width: usize) -> usize {
    let ends = needs.iter().scan(0, |end, need| {
        *end += need + BETWEEN;
        Some(*end)
    });
    ends.take_while(|&end| end <= width + BETWEEN).count().max(1).min(needs.len())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::table::{Cell, Table};

    #[test]
    fn a_row_is_a_line_and_columns_without_room_are_named() {
        let table = Table {
            columns: ["method", "mean loss", "on", "why it is so", "least"]
                .map(String::from)
                .into(),
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
            Not shown
              for lack
              of
              width:
              mean
              loss,
              on, why
              it is
              so,
              least.
        "#]]
        .assert_eq(
            &(table.fitted(79) + "\n\n" + &table.fitted(50) + "\n\n" + &table.fitted(10) + "\n"),
        );
        assert_eq!(Table::default().fitted(40), Table::default().to_text(None));
    }
}
