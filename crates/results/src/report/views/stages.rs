use super::kind::*;
use super::recorded::Recorded;
use crate::matrix::stage_row::StageRow;
use crate::row::Row;

keys! {
    /// A bar per matrix and method, stacked from the times of its kernels per nonzero, as in hola-spmv-ics17, Figure
    /// 8. Conditions may use only the columns that rows of stages have.
    Stages {}
}

struct Product<'a> {
    matrix: String,
    method: String,
    line: RecordedRow,
    stages: Vec<&'a StageRow>,
}

impl Kind for Stages {
    fn view(&self, shown: &Shown) -> View {
        let products = self.products(shown.recorded);
        let most = products.iter().map(|product| product.stages.len()).max().unwrap_or(0);
        let matrices = grouped(&products, |product| &product.matrix).len();
        let meaning = "stage 1, 2, …: the kernels of a product in the order in which they run; the table \
                       has their names";
        let summary = format!("{} of {}", count(products.len(), "product"), count(matrices, "matrix"));
        let series = (0..most).map(|place| BarSeries {
            name: format!("stage {}", place + 1),
            values: products.iter().map(|product| product.time_per_nonzero(place)).collect(),
            ..BarSeries::default()
        });
        let name = |product: &Product| format!("{}, {}", product.matrix, product.method);
        let chart = chart::Bars {
            value: Axis::linear("time per nonzero (ns)"),
            categories: products.iter().map(name).collect(),
            series: series.collect(),
            stacked: true,
            few: vec![],
        };
        View::of(vec![summary, meaning.into()], Chart::Bars(chart), table(&products))
    }
}

impl Stages {
    fn products<'a>(&self, recorded: &Recorded<'a>) -> Vec<Product<'a>> {
        let key = |row: &&'a StageRow| (&row.file, &row.method_name, row.precision, &row.run_id);
        let products = grouped(recorded.stages.iter().copied(), key).into_iter();
        let products = products.map(|(_, stages)| (line(stages[0], recorded), stages));
        let place = |line: &RecordedRow| self.of.iter().position(|select| select.meets(line));
        let is_meant =
            |line: &RecordedRow| self.conditions.passes(line) && (self.of.is_empty() || place(line).is_some());
        let mut met: Vec<_> = products.filter(|(line, _)| is_meant(line)).collect();
        met.sort_by_key(|(line, _)| (line.row.num_nonzeros, line.row.file.clone(), place(line)));
        let lines: Vec<_> = met.iter().map(|(line, _)| line).collect();
        let settings = varying(&lines, &["precision"]);
        let product = |(line, stages): (RecordedRow, _)| Product {
            matrix: label(matrix(&line)),
            method: name(line.method(), line.group_key(), &settings),
            line,
            stages,
        };
        met.into_iter().map(product).collect()
    }
}

/// Returns a row with the columns of a stage, and the name that the rows of the matrix have.
fn line(stage: &StageRow, recorded: &Recorded) -> RecordedRow {
    let of_matrix = recorded.lines.iter().find(|line| line.row.file == stage.file);
    let row = Row {
        file: stage.file.clone(),
        method_name: Some(stage.method_name.clone()),
        precision: stage.precision,
        num_nonzeros: stage.num_nonzeros,
        row_length_mean: stage.row_length_mean,
        run_id: stage.run_id.clone(),
        ..Row::default()
    };
    RecordedRow { name: of_matrix.and_then(|line| line.name.clone()), ..RecordedRow::from(row) }
}

impl Product<'_> {
    fn time_per_nonzero(&self, stage: usize) -> Option<f64> {
        let nonzeros = self.line.row.num_nonzeros.filter(|&nonzeros| nonzeros > 0)?;
        Some(1e6 * self.stages.get(stage)?.ms / nonzeros as f64)
    }
}

fn table(products: &[Product]) -> Table {
    let rows = products.iter().flat_map(|of| (0..of.stages.len()).map(move |place| (of, place)));
    let occupancy = |stage: &StageRow| stage.occupancy.map(|share| 100.0 * share);
    Table::of(&rows.collect::<Vec<_>>())
        .column("matrix", |(product, _)| &product.matrix[..])
        .column("nonzeros", |(product, _)| product.line.row.num_nonzeros)
        .column("nonzeros per row", |(product, _)| product.line.row.row_length_mean)
        .column("method", |(product, _)| &product.method[..])
        .column("stage", |(product, place)| &product.stages[*place].stage[..])
        .column("time (ms)", |(product, place)| product.stages[*place].ms)
        .column("time per nonzero (ns)", |(product, place)| product.time_per_nonzero(*place))
        .column("occupancy (%)", |(product, place)| occupancy(product.stages[*place]))
        .build()
}
