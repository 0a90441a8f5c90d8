//! `spmv-bench methods --results CSV`: the list beside measured results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::regression::geometric_mean;
use crate::method::Method;
use crate::methods::METHODS;
use crate::methods::vendor::mkl_ie;
use crate::record::cells::of_csv;

/// What the table needs of a row of results.
#[derive(serde::Deserialize)]
struct Measured {
    file: String,
    num_rows: Option<f64>,
    num_nonzeros: Option<f64>,
    method_name: String,
    setup_ms: Option<f64>,
    avg_spmv_ms: Option<f64>,
    precision: Option<String>,
    extra_bytes: Option<f64>,
}

/// Prints a Markdown table of the methods that ran in f64 on a corpus: times per product as the geometric
/// mean of MKL's over theirs, setups as medians in products of `mkl-ie`, memory as medians over that of
/// the CSR arrays.
pub fn table(results: &Path, out: &mut dyn Write) -> Result<()> {
    let context = || format!("cannot read {}", results.display());
    let file = File::open(results).with_context(context)?;
    let rows: Vec<Measured> = of_csv(file).with_context(context)?;
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row.precision.as_deref() == Some("f64") && row.avg_spmv_ms.is_some())
        .collect();
    let of = |name: &str| -> BTreeMap<&str, &Measured> {
        let rows = rows.iter().filter(|row| row.method_name == name);
        rows.map(|row| (&row.file[..], *row)).collect()
    };
    let (plain, optimised) = (of(mkl_ie::METHOD.name), of(mkl_ie::METHOD_OPT.name));
    writeln!(
        out,
        "| name | source | setup | in products | memory | × `mkl-ie` | × `mkl-ie-opt` | matrices |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    for method in METHODS {
        let own = of(method.name);
        if !own.is_empty() {
            writeln!(out, "{}", line(method, &own, &plain, &optimised))?;
        }
    }
    Ok(())
}

/// A method's line; a dash for what is unknown.
fn line(
    method: &Method,
    own: &BTreeMap<&str, &Measured>,
    plain: &BTreeMap<&str, &Measured>,
    optimised: &BTreeMap<&str, &Measured>,
) -> String {
    let ms = |row: &Measured| row.avg_spmv_ms.expect("rows without a time are left out");
    let speed = |baseline: &BTreeMap<&str, &Measured>| {
        let ratios = own.iter().filter_map(|(file, row)| Some(ms(baseline.get(file)?) / ms(row)));
        geometric_mean(ratios)
    };
    let setup = own.iter().filter_map(|(file, row)| Some(row.setup_ms? / ms(plain.get(file)?)));
    let memory = own.values().filter_map(|row| {
        let csr = 12.0 * row.num_nonzeros? + 4.0 * (row.num_rows? + 1.0);
        Some(row.extra_bytes? / csr)
    });
    let cell = |value: Option<f64>, digits| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    format!(
        "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
        method.name,
        method.source,
        method.setup.name(),
        cell(median(setup.collect()), 1),
        cell(median(memory.collect()), 2),
        cell(speed(plain), 2),
        cell(speed(optimised), 2),
        own.len(),
    )
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
