//! The table of choices: the times of the candidates on a set of matrices, per GPU and precision.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::ensure;
use serde::Deserialize;

use crate::device::facts::Facts;
use crate::device::{Failed, Unavailable};
use spmv_matrix::scalar::Precision;

/// The embedded tables: the compute capability and the name of the modelled GPU, and the rows. The experiment
/// `gpu-choices` makes them.
const EMBEDDED: [((u32, u32), &str, &str); 3] = [
    ((7, 0), "v100, modelled", include_str!("../../../ptx-machine/devices/choices/v100.csv")),
    ((8, 0), "a100, modelled", include_str!("../../../ptx-machine/devices/choices/a100.csv")),
    ((9, 0), "h200, modelled", include_str!("../../../ptx-machine/devices/choices/h200.csv")),
];
/// The variable that names a result file, whose rows replace the embedded tables.
pub const VARIABLE: &str = "SPMV_BENCH_CHOICES";

/// The number of similar matrices by which a method is judged.
const NEIGHBOURS: usize = 4;
const REFUSED: f64 = 3.0;
/// The method whose refusals do not count, because `gpu-auto` itself inspects how well it suits the given matrix.
const INSPECTED: &str = "gpu-dia";

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    pub rows: f64,
    pub nnz: f64,
    /// The population standard deviation of the row lengths.
    pub std_dev: f64,
    pub longest: f64,
}

#[derive(Debug, Deserialize)]
struct Row {
    file: String,
    method_name: String,
    precision: Precision,
    status: String,
    num_rows: f64,
    num_nonzeros: f64,
    row_length_std_dev: Option<f64>,
    max_row_length: f64,
    setup_ms: Option<f64>,
    avg_spmv_ms: Option<f64>,
}

/// The costs of a method: once per matrix, and per product, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
struct Timed {
    method: String,
    setup_ms: f64,
    product_ms: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Known {
    matrix: String,
    precision: Precision,
    shape: Shape,
    times: Vec<Timed>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub method: &'static str,
    /// The weighted geometric mean of its cost, relative to that of the cheapest method of each matrix; infinite if it
    /// has no time on any of them.
    pub cost: f64,
}

#[derive(Debug)]
pub struct Choices {
    pub origin: String,
    known: Vec<Known>,
}

impl Shape {
    /// Returns how much two shapes differ: the square of their distance in weighted logarithms. With these weights and
    /// [`NEIGHBOURS`], choices for the matrices of the table, each without itself, and for 23 real matrices lost the
    /// least on the model of an H200 in f64; with half or twice a weight they lost at most 3 % more.
    fn difference(&self, other: &Self) -> f64 {
        let weighted = |shape: &Self| {
            let mean = shape.nnz / shape.rows;
            [
                shape.nnz.log2() / 4.0,
                mean.log2() / 2.0,
                (1.0 + shape.std_dev / mean).log2(),
                (shape.longest / mean).log2() / 2.0,
            ]
        };
        weighted(self).iter().zip(weighted(other)).map(|(a, b)| (a - b).powi(2)).sum()
    }
}

impl Known {
    fn time(&self, method: &str) -> Option<&Timed> {
        self.times.iter().find(|it| it.method == method)
    }

    /// Returns the cost of setup and planned products, relative to the cheapest method of all; `None` if it is unknown.
    fn relative_cost(&self, method: &str, planned: f64) -> Option<f64> {
        let cost = |it: &Timed| it.setup_ms + planned * it.product_ms;
        let least = self.times.iter().map(cost).fold(f64::INFINITY, f64::min);
        let time = self.time(method);
        let refused = (method != INSPECTED).then_some(REFUSED);
        time.map(|time| cost(time) / least).or(refused)
    }
}

impl Choices {
    /// Returns the embedded table of the newest GPU that is not newer than this one.
    pub fn embedded(facts: &Facts) -> &'static Self {
        static TABLES: OnceLock<Vec<Choices>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let parse = |(_, name, rows): &(_, &str, &str)| Self::parse(name, rows);
            EMBEDDED.iter().map(|it| parse(it).expect("the embedded table is right")).collect()
        });
        let older =
            |(capability, _, _): &&((u32, u32), _, _)| *capability <= facts.compute_capability;
        let index = EMBEDDED.iter().filter(older).count().saturating_sub(1);
        &tables[index]
    }

    /// Reads the result file that `SPMV_BENCH_CHOICES` names, which must have a measured row.
    pub fn read(path: &Path) -> Result<Self, Failed> {
        let name = path.display().to_string();
        let read = || -> anyhow::Result<Self> {
            let choices = Self::parse(&name, &std::fs::read_to_string(path)?)?;
            let is_measured = !choices.known.is_empty();
            ensure!(is_measured, "has no measured row; give a file that corpus wrote on this GPU");
            Ok(choices)
        };
        read().map_err(|error| Failed(format!("{VARIABLE}: {name}: {error}")))
    }

    /// Parses rows of results, of which those without a time are left out.
    fn parse(origin: &str, text: &str) -> Result<Self, csv::Error> {
        let mut known: Vec<Known> = Vec::new();
        for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
            let row: Row = row?;
            let (Some(setup_ms), Some(product_ms)) = (row.setup_ms, row.avg_spmv_ms) else {
                continue;
            };
            if row.status != "ok" || row.num_nonzeros == 0.0 {
                continue;
            }
            let shape = Shape {
                rows: row.num_rows,
                nnz: row.num_nonzeros,
                std_dev: row.row_length_std_dev.unwrap_or(0.0),
                longest: row.max_row_length,
            };
            let time = Timed { method: row.method_name, setup_ms, product_ms };
            let same = |it: &&mut Known| it.matrix == row.file && it.precision == row.precision;
            match known.iter_mut().find(same) {
                Some(it) => it.times.push(time),
                None => known.push(Known {
                    matrix: row.file,
                    precision: row.precision,
                    shape,
                    times: vec![time],
                }),
            }
        }
        Ok(Self { origin: origin.into(), known })
    }

    /// Returns the methods in the order of their costs on the most similar matrices, for this number of planned
    /// products, and the names of these matrices. The table must have times in this precision.
    pub fn rank(
        &self,
        shape: &Shape,
        precision: Precision,
        planned: usize,
        methods: impl Iterator<Item = &'static str>,
    ) -> Result<(Vec<Ranked>, Vec<&str>), Unavailable> {
        let known = self.known.iter().filter(|known| known.precision == precision);
        let mut near: Vec<_> = known.map(|known| (known.shape.difference(shape), known)).collect();
        near.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        near.truncate(NEIGHBOURS);
        if near.is_empty() {
            let (name, origin) = (precision.name(), &self.origin);
            return Err(Unavailable(format!(
                "the table of choices has no times in {name}: {origin}"
            )));
        }
        let cost = |method| {
            let weighted = near.iter().filter_map(|(difference, known)| {
                let weight = 1.0 / (difference + 0.1);
                Some((weight, weight * known.relative_cost(method, planned as f64)?.ln()))
            });
            let (weights, sum) = weighted.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
            let is_timed = near.iter().any(|(_, known)| known.time(method).is_some());
            if is_timed { f64::exp(sum / weights) } else { f64::INFINITY }
        };
        let mut ranked: Vec<_> =
            methods.map(|method| Ranked { method, cost: cost(method) }).collect();
        ranked.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        Ok((ranked, near.iter().map(|(_, known)| known.matrix.as_str()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "file,precision,num_rows,num_nonzeros,row_length_std_dev,max_row_length,\
                          method_name,status,setup_ms,avg_spmv_ms\n";

    fn choices(rows: &[&str]) -> Choices {
        Choices::parse("a file", &[HEADER, &rows.join("\n")].concat()).unwrap()
    }

    /// Returns the methods that the table ranks for a matrix of even rows, with their costs in percent.
    fn ranked(
        rows: &[&str],
        (nnz, precision): (f64, Precision),
        planned: usize,
        methods: [&'static str; 2],
    ) -> [(&'static str, f64); 2] {
        let shape = Shape { rows: 100.0, nnz, std_dev: 0.0, longest: nnz / 100.0 };
        let choices = choices(rows);
        let (ranked, _) = choices.rank(&shape, precision, planned, methods.into_iter()).unwrap();
        [0, 1].map(|place| (ranked[place].method, (ranked[place].cost * 100.0).round()))
    }

    #[test]
    fn setup_pays_after_enough_products() {
        let rows = ["a,f64,100,500,0,5,plain,ok,0,2", "a,f64,100,500,0,5,packed,ok,100,1"];
        let ranked = |planned| ranked(&rows, (500.0, Precision::F64), planned, ["plain", "packed"]);
        assert_eq!(ranked(50), [("plain", 100.0), ("packed", 150.0)]);
        assert_eq!(ranked(300), [("packed", 100.0), ("plain", 150.0)]);
    }

    #[test]
    fn similar_matrices_count_more_and_a_refusal_counts_as_slow() {
        let rows = [
            "a,f64,100,500,0,5,plain,ok,0,2",
            "a,f64,100,500,0,5,packed,ok,0,1",
            "b,f64,100,50000,0,500,plain,ok,0,1",
            "b,f64,100,50000,0,500,packed,skipped,,",
            "c,f32,100,500,0,5,packed,ok,0,1",
        ];
        let first = |nnz| ranked(&rows, (nnz, Precision::F64), 1, ["plain", "packed"])[0].0;
        assert_eq!([first(500.0), first(50000.0)], ["packed", "plain"]);
        let other = ranked(&rows, (1.0, Precision::F32), 1, ["other", "packed"]);
        assert_eq!(other, [("packed", 100.0), ("other", f64::INFINITY)]);
        let table = choices(&rows);
        let (_, similar) =
            table.rank(&Shape::default(), Precision::F32, 1, ["packed"].into_iter()).unwrap();
        assert_eq!(similar, ["c"]);
    }

    #[test]
    fn diagonals_are_judged_by_the_matrices_that_have_them() {
        let rows = [
            "a,f64,100,500,0,5,gpu-dia,ok,0,1",
            "a,f64,100,500,0,5,plain,ok,0,2",
            "b,f64,100,500,0,5,plain,ok,0,2",
            "c,f64,100,500,0,5,plain,ok,0,2",
        ];
        let ranked = ranked(&rows, (500.0, Precision::F64), 1, ["plain", "gpu-dia"]);
        assert_eq!(ranked[0], ("gpu-dia", 100.0));
    }

    #[test]
    fn a_table_without_times_is_refused() {
        let choices = choices(&["a,f64,1,1,0,1,plain,ok,0,1"]);
        let ranked = choices.rank(&Shape::default(), Precision::F32, 1, ["plain"].into_iter());
        let reason = ranked.unwrap_err().0;
        assert_eq!(reason, "the table of choices has no times in f32: a file");
        assert!(Choices::parse("a file", "file,method_name\na,plain\n").is_err());
        let missing = Choices::read(Path::new("none.csv")).unwrap_err().0;
        assert!(missing.starts_with("SPMV_BENCH_CHOICES: none.csv: "), "{missing}");
    }

    #[test]
    fn a_gpu_has_the_table_of_the_newest_one_that_is_not_newer() {
        let origin = |compute_capability| {
            Choices::embedded(&Facts { compute_capability, ..Facts::default() }).origin.as_str()
        };
        let origins = [(6, 0), (8, 9), (12, 0)].map(origin);
        assert_eq!(origins, ["v100, modelled", "a100, modelled", "h200, modelled"]);
    }
}
