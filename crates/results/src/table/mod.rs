//! Tables as data, and how they are written as text, Markdown, LaTeX and HTML.

mod fitted;
pub mod terminal;

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, LineStyle, TableStyle};

/// The style of tables in text.
pub(super) const LINES: TableStyle = UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A value that is unknown or does not exist.
    Empty,
    Text(String),
    /// A number that is shown with all its digits.
    Count(u64),
    /// A measured number, shown with three significant digits.
    Number(f64),
    /// A number that is shown with this many decimals.
    Decimal(f64, usize),
    /// A measured number that is the best of its row.
    Best(f64),
    /// What stands in the place of a number, and is aligned like one.
    Word(String),
}

impl Cell {
    pub fn show(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Word(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) | Self::Best(number) => significant(*number),
            Self::Decimal(number, decimals) => format!("{number:.decimals$}"),
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(content: Option<T>) -> Self {
        content.map_or(Self::Empty, Into::into)
    }
}

/// Formats a number with three significant digits, all digits from 100 on, or an exponent from 10⁷ on or below 10⁻⁴.
pub fn significant(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    match size.log10().floor() as i32 {
        digits @ -4..=1 => format!("{number:.*}", (2 - digits) as usize),
        2..=6 => format!("{number:.0}"),
        _ => format!("{number:.2e}"),
    }
}

/// Joins the lines of a text, and escapes what Markdown would not show unchanged.
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        let within = before.is_alphanumeric() && after.is_alphanumeric();
        let is_mark = match letter {
            '\\' => after.is_ascii_punctuation(),
            '*' => !after.is_whitespace(),
            '_' => !after.is_whitespace() && !within,
            _ => "`<&|[]~$".contains(letter),
        };
        if is_mark {
            escaped.push('\\');
        }
        escaped.push(if letter.is_whitespace() { ' ' } else { letter });
        before = letter;
    }
    escaped
}

/// Joins the lines of a text, and writes what LaTeX would not show unchanged in commands that every engine has.
pub fn escape_latex(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '\\' => r"\textbackslash{}".into(),
        '~' => r"\textasciitilde{}".into(),
        '^' => r"\textasciicircum{}".into(),
        '×' => r"$\times$".into(),
        '±' => r"$\pm$".into(),
        'α' => r"$\alpha$".into(),
        'β' => r"$\beta$".into(),
        '<' | '>' => format!("${letter}$"),
        '–' => "--".into(),
        '{' | '}' | '#' | '$' | '%' | '&' | '_' => format!(r"\{letter}"),
        letter if letter.is_whitespace() => " ".into(),
        letter => letter.to_string(),
    };
    text.chars().map(escaped).collect::<Vec<String>>().concat()
}

/// A form in which documents hold tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Markdown,
    /// For the package booktabs. What is said about a table are comments, because its caption is the author's.
    Latex,
}

impl Document {
    pub fn title(self, text: &str) -> String {
        match self {
            Self::Markdown => format!("## {}", escape_markdown(text)),
            Self::Latex => self.prose(text),
        }
    }

    /// Returns a text on one line.
    pub fn prose(self, text: &str) -> String {
        match self {
            Self::Markdown => escape_markdown(text),
            Self::Latex => format!("% {}", text.replace(char::is_control, " ")),
        }
    }

    pub fn table(self, table: &Table) -> String {
        match self {
            Self::Markdown => table.to_markdown(),
            Self::Latex => table.to_latex(),
        }
    }
}

impl Table {
    /// Begins a table with a row per item, to which columns are added.
    pub fn of<T>(items: &[T]) -> Columns<'_, T> {
        Columns { items, table: Self { columns: Vec::new(), rows: vec![Vec::new(); items.len()] } }
    }

    /// Formats the table as text with aligned columns, at most `width` characters wide if that is given.
    pub fn to_text(&self, width: Option<u16>) -> String {
        match width {
            Some(width) => self.fitted(width),
            None => self.laid_out(LINES).trim_fmt(),
        }
    }

    /// Formats the table as Markdown. Columns without text are aligned to the right.
    pub fn to_markdown(&self) -> String {
        let mut escaped = self.clone();
        for heading in &mut escaped.columns {
            *heading = escape_markdown(heading);
        }
        for cell in escaped.rows.iter_mut().flatten() {
            match cell {
                Cell::Text(text) => *text = escape_markdown(text),
                Cell::Best(_) => *cell = Cell::Word(format!("**{}**", cell.show())),
                _ => {}
            }
        }
        let text = escaped.laid_out(ASCII_MARKDOWN).to_string();
        let [head, rule, rows @ ..] = &text.lines().collect::<Vec<_>>()[..] else { return text };
        let rule = rule.trim_matches('|').split('|').enumerate().map(|(column, dashes)| {
            if self.is_numeric(column) { format!("{}:", &dashes[1..]) } else { dashes.to_owned() }
        });
        let rule = format!("|{}|", rule.collect::<Vec<_>>().join("|"));
        [&[*head, &rule], rows].concat().join("\n")
    }

    /// Formats the table for LaTeX with the package booktabs.
    pub fn to_latex(&self) -> String {
        let columns = (0..self.columns.len()).map(|c| if self.is_numeric(c) { 'r' } else { 'l' });
        let cell = |cell: &Cell| match cell {
            Cell::Best(_) => format!(r"\textbf{{{}}}", cell.show()),
            cell => escape_latex(&cell.show()),
        };
        let line = |cells: Vec<String>| cells.join(" & ") + r" \\";
        let mut lines = vec![
            r"% Needs \usepackage{booktabs}.".into(),
            format!(r"\begin{{tabular}}{{{}}}", columns.collect::<String>()),
            r"\toprule".into(),
            line(self.columns.iter().map(|heading| escape_latex(heading)).collect()),
            r"\midrule".into(),
        ];
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(cell).collect())));
        lines.extend([r"\bottomrule", r"\end{tabular}"].map(String::from));
        lines.join("\n")
    }

    /// Whether a column contains no text, so that it is aligned to the right.
    pub fn is_numeric(&self, column: usize) -> bool {
        !self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }

    pub(super) fn laid_out(&self, style: TableStyle) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_header(&self.columns);
        for row in &self.rows {
            table.add_row(row.iter().map(Cell::show));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if self.is_numeric(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}

/// A table with a row per item that is built column by column.
pub struct Columns<'a, T> {
    items: &'a [T],
    table: Table,
}

impl<'a, T> Columns<'a, T> {
    /// Adds a column. `cell` returns the content of the cell of an item.
    pub fn column<C: Into<Cell>>(
        self,
        heading: impl Into<String>,
        cell: impl Fn(&'a T) -> C,
    ) -> Self {
        self.columns([heading], |item| [cell(item)])
    }

    /// Adds several columns. `cells` returns a content for each heading.
    pub fn columns<C: Into<Cell>, I: IntoIterator<Item = C>>(
        mut self,
        headings: impl IntoIterator<Item = impl Into<String>>,
        cells: impl Fn(&'a T) -> I,
    ) -> Self {
        self.table.columns.extend(headings.into_iter().map(Into::into));
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.extend(cells(item).into_iter().map(Into::into));
        }
        self
    }

    pub fn build(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        for (number, shown) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (-12.345, "-12.3"),
            (123.4, "123"),
            (1234567.0, "1234567"),
            (0.001234, "0.00123"),
            (1.5e-9, "1.50e-9"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(number), shown);
        }
    }

    #[test]
    fn markdown_escapes_bars_and_aligns_numbers() {
        let columns = vec!["method".into(), "ms".into()];
        let numbers = [Cell::Number(1.5), Cell::Best(0.5), Cell::Word("none".into()), Cell::Empty];
        let rows = ["a|b", "c", "d", "e"].into_iter().zip(numbers);
        let rows = rows.map(|(name, number)| vec![name.into(), number]).collect();
        let table = Table { columns, rows };
        let markdown = "\
| method |        ms |
|--------|----------:|
| a\\|b   |      1.50 |
| c      | **0.500** |
| d      |      none |
| e      |           |";
        assert_eq!(table.to_markdown(), markdown);
        assert!(table.is_numeric(1) && !table.is_numeric(0));
        assert!(table.to_text(Some(40)).contains("a|b"));
        let latex = r"% Needs \usepackage{booktabs}.
\begin{tabular}{lr}
\toprule
method & ms \\
\midrule
a|b & 1.50 \\
c & \textbf{0.500} \\
d & none \\
e &  \\
\bottomrule
\end{tabular}";
        assert_eq!(table.to_latex(), latex);
        assert_eq!(escape_latex("a_1 50 % × {x}"), r"a\_1 50 \% $\times$ \{x\}");
    }
}
