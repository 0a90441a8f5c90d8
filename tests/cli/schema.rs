//! Checks the output for other programs against `docs/schema/`, and reads it with the example for pandas in
//! `docs/csv.md`. Without jsonschema and pandas in .venv, that test is skipped with a message.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use expect_test::expect_file;
use serde_json::{Value, json};
use spmv_bench::bench::clock::SystemClock;
use spmv_matrix::reader::FORMATS;
use spmv_methods::METHODS;
use spmv_methods::device::Stage;
use spmv_methods::device::counts::Counts;
use spmv_methods::device::facts::{Activity, Clocks};
use spmv_methods::device::model::Model;
use spmv_methods::method::{Device, Method};
use spmv_methods::simd::Isa;
use spmv_results::matrix::MatrixReport;
use spmv_results::metrics::Peak;
use spmv_results::report::numeric::DERIVED;
use spmv_results::row::Row;
use spmv_results::row::column::{ColumnInfo, Kind};
use spmv_results::run::{Bandwidth, DeviceBandwidth, HostEnergy, RunRecord};
use spmv_results::settings::info::{Effect, SettingInfo};
use spmv_results::settings::{CacheState, Fill, Pages, Protocol, Settings, Values};

use super::check_parts;
use super::env::{Dir, run, run_on, skip};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A matrix whose kind looks like a spreadsheet formula, and whose file name `NA` is a missing value for pandas.
const FORMULA: &str = "%%MatrixMarket matrix coordinate real general\n% kind: =1+1\n\
                       3 4 4\n1 1 2\n1 4 3\n3 2 1\n3 3 5\n";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// Returns the facts about a column as JSON Schema.
fn property(column: &ColumnInfo) -> Value {
    let (word, pandas) = match column.kind {
        Kind::Name | Kind::Text | Kind::Pattern(_) | Kind::Words(_) => ("string", "string"),
        Kind::Boolean => ("boolean", "boolean"),
        Kind::Count => ("integer", "Int64"),
        Kind::Number | Kind::NumberOrInfinity => ("number", "Float64"),
    };
    let mut form = match column.kind {
        Kind::Name => json!({"type": word}),
        _ => json!({"type": [word, "null"]}),
    };
    let limits = [("minimum", column.min), ("maximum", column.max)];
    for (name, limit) in limits.into_iter().filter(|(_, limit)| limit.is_some()) {
        form[name] = json!(limit);
    }
    match column.kind {
        Kind::Pattern(pattern) => form["pattern"] = pattern.into(),
        Kind::Words(words) => {
            form["enum"] = words.iter().copied().map(Some).chain([None]).collect();
        }
        Kind::NumberOrInfinity => form = json!({"anyOf": [form, {"const": "inf"}]}),
        _ => (),
    }
    form["description"] = column.meaning.into();
    form["x-pandas"] = pandas.into();
    form
}

/// Returns the facts about a setting as JSON Schema.
fn setting(info: &SettingInfo) -> Value {
    let mut form = match info.kind {
        "bool" => json!({"type": "boolean"}),
        "f64" => json!({"type": "number"}),
        "Duration" => json!({"type": "number", "minimum": 0}),
        "TimeLimit" => json!({"type": ["number", "null"], "minimum": 0}),
        "u64" | "usize" => json!({"type": "integer", "minimum": info.least}),
        "Option<u32>" | "Option<u64>" | "Option<usize>" => {
            json!({"type": ["integer", "null"], "minimum": info.least})
        }
        "CacheState" => json!({"enum": CacheState::value_variants()}),
        "Fill" => json!({"enum": Fill::value_variants()}),
        "Isa" => json!({"enum": Isa::value_variants()}),
        "Protocol" => json!({"enum": Protocol::value_variants()}),
        "Values" => json!({"enum": Values::value_variants()}),
        "Pages" => json!({"enum": Pages::value_variants()}),
        other => panic!("{}: settings of the type {other} need a form here", info.fact.name),
    };
    form["description"] = info.meaning.into();
    form
}

/// The properties of settings in `docs/schema/run.schema.json` follow from the list of settings; `UPDATE_EXPECT=1`
/// writes them. None is added to the required ones, because older records lack a new setting.
#[test]
fn the_schema_of_settings_follows_from_the_settings() {
    let schema = read("docs/schema/run.schema.json");
    let settings = schema.find("\"settings\": {\n").unwrap();
    let begin = settings + schema[settings..].find("\"properties\": {\n").unwrap();
    let end = begin + schema[begin..].find("\n      },\n      \"required\"").unwrap();
    let recorded = Settings::INFO.iter().filter(|info| info.fact.effect != Effect::Unrecorded);
    let line = |info: &SettingInfo| format!("        \"{}\": {}", info.fact.name, setting(info));
    let properties = recorded.map(line).collect::<Vec<_>>().join(",\n");
    let expected = format!("{}\"properties\": {{\n{properties}{}", &schema[..begin], &schema[end..]);
    expect_file!["../../docs/schema/run.schema.json"].assert_eq(&expected);
}

/// Replaces the numbers after `before`, which are versions of the schema of rows, by the number of columns.
fn with_version(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let first = parts.next().unwrap().to_owned();
    let version = format!("{before}{}", Row::COLUMNS.len());
    parts.fold(first, |text, part| text + &version + part.trim_start_matches(char::is_numeric))
}

/// The version and the properties in `docs/schema/row.schema.json` follow from the table of columns; `UPDATE_EXPECT=1`
/// writes them.
#[test]
fn the_schema_of_rows_follows_from_the_columns() {
    let schema = read("docs/schema/row.schema.json");
    let (head, _) = schema.split_once("  \"properties\"").unwrap();
    let name = "urn:spmv-bench:schema:row:";
    let head = with_version(&with_version(head, name), "\"version\": ");
    let of_matrix = with_version(&read("docs/schema/matrix.schema.json"), name);
    expect_file!["../../docs/schema/matrix.schema.json"].assert_eq(&of_matrix);
    let line = |column: &ColumnInfo| format!("    \"{}\": {}", column.name, property(column));
    let properties = Row::COLUMNS.iter().map(line).collect::<Vec<_>>().join(",\n");
    let names: Value = Row::COLUMNS.iter().map(|column| column.name).collect();
    let expected = format!("{head}  \"properties\": {{\n{properties}\n  }},\n  \"required\": {names}\n}}\n");
    expect_file!["../../docs/schema/row.schema.json"].assert_eq(&expected);
}

/// The help and the table of protocols have all of them.
#[test]
fn every_protocol_is_documented() {
    let names = json!(Protocol::value_variants());
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    let help = run("--help").exits(0).stdout;
    let help = help.split("--protocol <NAME>").nth(1).and_then(|it| it.split("--").next()).unwrap();
    let table = read("docs/methodology.md");
    for (name, &protocol) in names.iter().zip(Protocol::value_variants()) {
        assert!(help.contains(name), "the help of --protocol has no {name}");
        let Settings { rounds, warmups, max_time, x, iterations, .. } = Settings::new(protocol);
        let limit = match max_time {
            Duration::MAX => "none".into(),
            limit => format!("{} s", limit.as_secs_f64()),
        };
        let products = iterations.map_or("clamp(".into(), |products| format!("{products} |\n"));
        let x = format!("{x:?}").to_lowercase();
        let row = format!("\n| `{name}` | {rounds} | {warmups} | {limit} | {x} | {products}");
        assert!(table.contains(&row), "docs/methodology.md has no row {row}");
    }
}

/// Every method has its place in the tables that are written by hand.
#[test]
fn every_method_is_in_the_tables_of_methods() {
    let of_libraries = |method: &&Method| method.name.starts_with("cusparse");
    for method in METHODS.iter().filter(|method| !of_libraries(method)) {
        let own_on_cpu = method.device() == Device::Cpu && !method.name.starts_with("mkl");
        for file in ["README.md", "docs/many-cores.md"].iter().take(1 + usize::from(own_on_cpu)) {
            let name = format!("`{}`", method.name);
            assert!(read(file).contains(&name), "{file} has no {name} in its table of methods");
        }
    }
}

/// The tables in `docs/csv.md` follow from the tables of columns; `UPDATE_EXPECT=1` writes them.
#[test]
fn the_documented_columns_are_those_of_rows() {
    let line = |column: &ColumnInfo| format!("| `{}` | {} |\n", column.name, column.meaning);
    let table = |lines: String| format!("\n| column | meaning |\n|---|---|\n{lines}\n");
    let columns = table(Row::COLUMNS.iter().map(line).collect());
    let derived = table(DERIVED.iter().map(|(column, _)| line(column)).collect());
    check_parts("docs/csv.md", &[("columns", &columns), ("derived columns", &derived)]);
}

/// The table of formats in `docs/matrices.md` follows from the list of formats; `UPDATE_EXPECT=1` writes it.
#[test]
fn the_documented_formats_are_those_of_the_reader() {
    let listed = |extensions: &[&str]| extensions.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let mut table = "\n| format | extensions | recognized by | values | notes |\n".to_owned();
    table += "|---|---|---|---|---|\n";
    for format in FORMATS {
        let mut extensions = listed(format.extensions);
        if !format.common_extensions.is_empty() {
            let common = listed(format.common_extensions);
            extensions += &format!("; {common} if named, not in folders");
        }
        let [signs, values, notes] = format.document;
        table += &format!("| {} | {extensions} | {signs} | {values} | {notes} |\n", format.name);
    }
    check_parts("docs/matrices.md", &[("formats", &(table + "\n"))]);
}

/// Writes the results of a modelled GPU that reports its clocks; those results with counts of a kernel, which may be
/// missing there because kernels need NVRTC; and a run record with the bandwidths, which take long to measure, and with
/// fields that only some runs have.
fn write_modelled(folder: &Dir) {
    let model = || {
        let clocks = Clocks { throttled_by: vec!["power cap".into()], ..Clocks::default() };
        let activity = Activity { utilisation_percent: 1, other_processes: Some(1) };
        Model::tiny(1).with(|model| (model.clocks, model.activity) = (Some(clocks), Some(activity)))
    };
    let words = "corpus gen:wheel,spokes=40 --methods seq,csr-rows,hyb,gpu-csr-vector,gpu-sell --threads 1 \
                 --iterations 3 --rounds 1 --stages --order rcm --no-bandwidth --format json \
                 --output DIR/gpu.json";
    run_on(&folder.words(words), &SystemClock::default(), model).exits(0);
    let mut report: MatrixReport = serde_json::from_str(&folder.read("gpu.json")).unwrap();
    let counts = Some(Counts::default());
    report.groups[0].stages.push(vec![Stage { counts, ..Stage::default() }]);
    folder.write("counted.json", serde_json::to_string(&report).unwrap());
    let mut record: RunRecord = serde_json::from_str(&folder.read("gpu.json.run.json")).unwrap();
    let peak = Peak::Gpu { copy_gbs: 1.0, read_gbs: 2.0, nominal_gbs: 3.0 };
    record.bandwidth.push(Bandwidth { threads: 1, bytes: 8, peak: Peak::default() });
    record.gpu.as_mut().unwrap().bandwidth.push(DeviceBandwidth { bytes: 8, peak });
    record.gpu.as_mut().unwrap().idle_watts = Some(1.0);
    record.energy = Some(HostEnergy { domains: vec!["dram".into()], idle_watts: Some(1.0) });
    record.joined.push("r1".into());
    record.edges = Some("undirected,base=1".parse().unwrap());
    folder.write("merged.run.json", serde_json::to_string(&record).unwrap());
}

/// Writes the output of the real program on this machine, including rows without results.
fn write_real(folder: &Dir) {
    let quick = "--device cpu --methods csr-rows,ell --iterations 3 --no-bandwidth";
    for (output, sources, status) in [
        ("out.csv", "gen:wheel,spokes=40 NA.mtx bad.mtx", 1),
        ("without.csv", "bad.mtx gen:dense,nnz=5,cols=5", 2),
        ("out.json", "NA.mtx bad.mtx gen:dense,nnz=5,cols=5", 1),
    ] {
        folder.program(&format!("corpus {sources} {quick} --output {output}")).exits(status);
    }
}

#[test]
fn the_output_conforms_to_the_schemas() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    let has = Command::new(&python).args(["-c", "import jsonschema, pandas"]).output();
    if !has.is_ok_and(|ran| ran.status.success()) {
        return skip(&format!("{} has no jsonschema or no pandas", python.display()));
    }
    let folder = Dir::new(&[("NA.mtx", FORMULA), ("bad.mtx", "nonsense")]);
    write_modelled(&folder);
    write_real(&folder);
    let script = Path::new(ROOT).join("tests/cli/schema.py");
    let ran = Command::new(&python).arg(script).arg(ROOT).current_dir(folder.path("")).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
