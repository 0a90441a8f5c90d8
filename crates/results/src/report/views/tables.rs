//! The views that are only tables: `listing`, any columns of rows; `matrices`, facts of each matrix and a number of
//! each method on it; `each-matrix`, the same as papers print it; `repeatability`, whether a method's results are
//! bitwise the same every time.

use super::kind::*;
use crate::report::numeric::word_columns;
use crate::report::ranking::Ranking;
use crate::row::column::Value;

keys! {
    /// A row per method, setting and matrix, with a cell for each column.
    Listing {
        pub columns: Vec<Fact>,
    }
}

#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum Fact {
    Number(Column),
    Word(String),
}

impl TryFrom<String> for Fact {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if word_columns().any(|word| word == name) {
            return Ok(Self::Word(name));
        }
        Column::try_from(name).map(Self::Number)
    }
}

impl Kind for Listing {
    fn view(&self, shown: &Shown) -> View {
        let lines = shown
            .series
            .iter()
            .flat_map(|series| timed(series.lines.iter().copied()).map(move |line| (&series.name[..], line)));
        let lines: Vec<_> = lines.collect();
        let mut table = Table::of(&lines).column("method", |(name, _)| *name);
        if shown.matrices().len() > 1 {
            table = table.column("matrix", |(_, line)| label(matrix(line)));
        }
        for fact in &self.columns {
            table = match fact {
                Fact::Number(column) => table.column(column.label(), |(_, line)| column.cell_of(line)),
                Fact::Word(name) => table.column(name, |(_, line)| line.row.value(name).and_then(Value::text)),
            };
        }
        View::of(shown.notes([]), None, table)
    }
}

keys! {
    /// A row per matrix: facts of the matrix, then a number of each method. Without facts, a row per method with its
    /// number on each matrix, which is easier to read if there are more methods than matrices.
    Matrices {
        #[serde(default)]
        pub columns: Vec<Column>,
        pub value: Option<Column>,
    }
}

impl Kind for Matrices {
    fn view(&self, shown: &Shown) -> View {
        let on_several = shown.note_on_several().filter(|_| self.value.is_some());
        let by_method = self.value.as_ref().filter(|_| self.columns.is_empty());
        let meaning = by_method.map(|value| format!("on each matrix: {}", value.label()));
        let table = match by_method {
            Some(value) => self::by_method(shown, value),
            None => self.by_matrix(shown),
        };
        View::of(shown.notes([on_several, meaning]), None, table)
    }
}

impl Matrices {
    fn by_matrix(&self, shown: &Shown) -> Table {
        let matrices = shown.matrices();
        let mut table = Table::of(matrices).column("matrix", |(matrix, _)| label(*matrix));
        for column in &self.columns {
            table = table.column(column.label(), |(_, line)| column.cell_of(line));
        }
        if let Some(value) = &self.value {
            for series in &shown.series {
                let heading = format!("{} {}", series.name, value.label());
                let fastest = series.fastest();
                table = table.column(heading, |(matrix, _)| value.cell_of(fastest.get(matrix)?));
            }
        }
        table.build()
    }
}

/// Returns a table with a row per method that has a number, and a column per matrix.
fn by_method(shown: &Shown, value: &Column) -> Table {
    let methods = shown.series.iter().map(|series| (&series.name[..], series.fastest()));
    let mut methods: Vec<_> = methods.collect();
    methods.retain(|(_, rows)| rows.values().any(|line| value.of_line(line).is_some()));
    let mut table = Table::of(&methods).column("method", |(name, _)| *name);
    for (matrix, _) in shown.matrices() {
        table = table.column(label(*matrix), |(_, rows)| value.cell_of(rows.get(matrix)?));
    }
    table.build()
}

keys! {
    /// A row per matrix with a number of each method, the best of them in bold. Of many methods, those with the best
    /// means.
    EachMatrix {
        pub value: Column,
    }
}

/// The largest number of methods that fit across the page of a paper.
const METHODS_ACROSS: usize = 8;

impl Kind for EachMatrix {
    fn view(&self, shown: &Shown) -> View {
        let (matrices, all) = (shown.matrices(), shown.series.len());
        let methods = shown.each(|series| self.numbers(series));
        let more = self.value.more_is_better();
        let mut methods = Ranking::of(methods, matrices.len(), more).methods;
        let best = format!("the {METHODS_ACROSS} best of {all} methods in the geometric mean");
        let best = best + ": --methods chooses others";
        let on_others = (methods.len() > METHODS_ACROSS).then_some(best);
        methods.truncate(METHODS_ACROSS);
        let names: Vec<_> = methods.iter().map(|of| of.method).collect();
        let columns = methods.into_iter().map(|of| of.numbers.into_iter().collect());
        let columns: Vec<BTreeMap<_, _>> = columns.collect();
        let table = Table::of(matrices)
            .column("matrix", |(matrix, _)| label(*matrix))
            .columns(names, |(matrix, _)| marked(columns.iter().map(|of| of.get(matrix).copied()).collect(), more));
        let meaning = format!("{}, the best of each row in bold", self.value.label());
        View::of(shown.notes([shown.note_on_several(), Some(meaning), on_others]), None, table)
    }
}

impl EachMatrix {
    fn numbers<'a>(&self, series: &Series<'a>) -> Vec<(Matrix<'a>, f64)> {
        let rows = series.fastest().into_iter();
        rows.filter_map(|(matrix, line)| Some((matrix, self.value.of_line(line)?))).collect()
    }
}

/// Returns the cells of a row with the best number marked, and what looks the same. `more`: whether a greater one is
/// better.
fn marked(numbers: Vec<Option<f64>>, more: bool) -> Vec<Cell> {
    let statistic = if more { Statistic::Max } else { Statistic::Min };
    let best = statistic.of(numbers.iter().flatten());
    let best = best.map(significant);
    let cell = |number: Option<f64>| match number {
        Some(number) if Some(significant(number)) == best => Cell::Best(number),
        number => number.into(),
    };
    numbers.into_iter().map(cell).collect()
}

keys! {
    /// The number of bitwise different results of each method for one and the same product.
    Repeatability {}
}

impl Kind for Repeatability {
    fn view(&self, shown: &Shown) -> View {
        let column = Column::of("distinct_results");
        let counted = shown.series.iter().filter_map(|series| {
            let counts = series.numbers(&column);
            let most = *counts.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some((&series.name[..], counts, most))
        });
        let counted: Vec<_> = counted.collect();
        let same = |counts: &Numbers| counts.iter().filter(|(_, different)| *different == 1.0).count();
        let table = Table::of(&counted)
            .column("method", |(name, ..)| *name)
            .column("rows", |(_, counts, _)| counts.len())
            .column("always the same", |(_, counts, _)| same(counts))
            .column("most different results", |(.., most)| column.cell(most.1))
            .column("on", |(.., (line, most))| (*most > 1.0).then(|| label(matrix(line))));
        let meaning = "compared: the bits of y after the first product and after each round, with the same x";
        let unknown = shown.series.len() - counted.len();
        let on_unknown = format!("without a count of results: {}", count(unknown, "method"));
        let notes = [Some(meaning.into()), (unknown > 0).then_some(on_unknown)];
        View::of(shown.notes(notes), None, table)
    }
}
