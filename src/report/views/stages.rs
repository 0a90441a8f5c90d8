//! The view `stages`: the times of the kernels of products.

use serde::Deserialize;

use super::setting::{count, grouped, join, label, setting, varying};
use crate::record::row::Row;
use crate::record::stages::StageRow;
use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::lines::RecordedRow;
use crate::report::matched::matrix;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

/// A bar per matrix and method, stacked from the times of its kernels per nonzero, as in hola-spmv-ics17, Figure
/// 8. Conditions may use only the columns that rows of stages have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

/// The product of a method on a matrix.
struct Product<'a> {
    matrix: String,
    method: String,
    line: RecordedRow,
    stages: Vec<&'a StageRow>,
}

impl Stages {
    pub(super) fn view(&self, rows: &[&StageRow]) -> View {
        let products = self.products(rows);
        let most = products.iter().map(|product| product.stages.len()).max().unwrap_or(0);
        let matrices = grouped(&products, |product| &product.matrix).len();
        let meaning = "stage 1, 2, …: the kernels of a product in the order in which they run; the table \
                       has their names";
        let summary =
            format!("{} of {}", count(products.len(), "product"), count(matrices, "matrix"));
        let value = Axis::linear("time per nonzero (ns)");
        let series = (0..most).map(|place| BarSeries {
            name: format!("stage {}", place + 1),
            values: products.iter().map(|product| product.time_per_nonzero(place)).collect(),
            ..BarSeries::default()
        });
        View {
            title: self.title.clone(),
            notes: vec![summary, meaning.into()],
            table: Some(table(&products)),
            chart: Some(Chart::Bars(Bars {
                value,
                categories: products
                    .iter()
                    .map(|p| format!("{}, {}", p.matrix, p.method))
                    .collect(),
                series: series.collect(),
                stacked: true,
                few: Vec::new(),
            })),
            ..View::default()
        }
    }

    /// Returns the products, sorted by the nonzeros of the matrices, then in the order of the methods.
    fn products<'a>(&self, rows: &[&'a StageRow]) -> Vec<Product<'a>> {
        let key = |row: &&StageRow| {
            (row.file.clone(), row.method_name.clone(), row.precision, row.run_id.clone())
        };
        let products = grouped(rows.iter().copied(), key).into_iter();
        let products = products.map(|(_, stages)| (line(stages[0]), stages));
        let met = products.filter(|(line, _)| self.conditions.passes(line));
        let place = |line: &RecordedRow| self.of.iter().position(|select| select.meets(line));
        let met = met.filter(|(line, _)| self.of.is_empty() || place(line).is_some());
        let mut met: Vec<_> = met.collect();
        met.sort_by_key(|(line, _)| (line.row.num_nonzeros, line.row.file.clone(), place(line)));
        let lines: Vec<_> = met.iter().map(|(line, _)| line).collect();
        let settings = varying(&lines, &["precision"]);
        let product = |(line, stages): (RecordedRow, _)| Product {
            matrix: label(matrix(&line)),
            method: join([line.method().to_owned(), setting(&line, &settings)], " "),
            line,
            stages,
        };
        met.into_iter().map(product).collect()
    }
}

/// Returns a row with the columns of a stage, from which rows can be selected.
fn line(stage: &StageRow) -> RecordedRow {
    RecordedRow::from(Row {
        file: stage.file.clone(),
        method_name: Some(stage.method_name.clone()),
        precision: stage.precision,
        num_nonzeros: stage.num_nonzeros,
        row_length_mean: stage.row_length_mean,
        run_id: stage.run_id.clone(),
        ..Row::default()
    })
}

impl Product<'_> {
    /// Returns the time of a stage per nonzero, in nanoseconds.
    fn time_per_nonzero(&self, stage: usize) -> Option<f64> {
        let nonzeros = self.line.row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
        Some(1e6 * self.stages.get(stage)?.ms / nonzeros as f64)
    }

    fn row(&self, place: usize) -> Vec<Cell> {
        let stage = self.stages[place];
        vec![
            Cell::text(&self.matrix),
            self.line.row.num_nonzeros.map_or(Cell::Empty, Cell::from),
            self.line.row.row_length_mean.into(),
            Cell::text(&self.method),
            Cell::text(&stage.stage),
            stage.ms.into(),
            self.time_per_nonzero(place).into(),
            stage.occupancy.map(|share| 100.0 * share).into(),
        ]
    }
}

fn table(products: &[Product]) -> Table {
    let rows =
        products.iter().flat_map(|product| (0..product.stages.len()).map(|k| product.row(k)));
    let columns = [
        "matrix",
        "nonzeros",
        "nonzeros per row",
        "method",
        "stage",
        "time (ms)",
        "time per nonzero (ns)",
        "occupancy (%)",
    ];
    Table::new(columns, rows.collect())
}
