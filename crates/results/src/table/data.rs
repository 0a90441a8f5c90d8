//! Tables as data: headings and rows of cells, and how they are built from items.

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

impl Table {
    /// Begins a table with a row per item, to which columns are added.
    pub fn of<T>(items: &[T]) -> Columns<'_, T> {
        Columns { items, table: Self { columns: Vec::new(), rows: vec![Vec::new(); items.len()] } }
    }

    /// Whether a column contains no text, so that it is aligned to the right.
    pub fn is_numeric(&self, column: usize) -> bool {
        !self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }
}

/// A table with a row per item that is built column by column.
pub struct Columns<'a, T> {
    items: &'a [T],
    table: Table,
}

impl<'a, T> Columns<'a, T> {
    /// Adds a column. `cell` returns the content of the cell of an item.
    pub fn column<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&'a T) -> C) -> Self {
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

impl<T> From<Columns<'_, T>> for Option<Table> {
    fn from(columns: Columns<T>) -> Self {
        Some(columns.build())
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
}
