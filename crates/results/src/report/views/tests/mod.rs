mod text;

use std::path::{Path, PathBuf};

use expect_test::expect_file;

use super::kind::*;
use super::*;
use crate::files::read::read;
use crate::matrix::stage_row::StageRow;
use crate::report::cases;
use crate::report::identity::name_matrices;
use crate::row::Row;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use text::text_of;

/// Parses the definition of a view, whose keys stand on one line.
fn parse(keys: &str) -> Result<Spec, toml::de::Error> {
    let file = format!("view = {{ title = 'T', {keys} }}");
    toml::from_str::<BTreeMap<String, Spec>>(&file).map(|mut views| views.remove("view").unwrap())
}

fn spec(keys: &str) -> Spec {
    parse(keys).expect(keys)
}

fn recorded(lines: &[RecordedRow]) -> Recorded<'_> {
    Recorded { lines: lines.iter().collect(), ..Recorded::default() }
}

/// Returns the rows of a file in the folder `rows`.
fn rows(name: &str) -> Vec<RecordedRow> {
    let mut lines = read(&path(name)).unwrap();
    name_matrices(vec![lines.iter_mut().collect()]);
    lines
}

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/views/tests/rows");
    Path::new(folder).join(name).with_extension("csv")
}

/// Returns a bar chart of changed rows of three methods.
fn bars(lines: &[RecordedRow], keys: &str) -> View {
    spec(&format!("kind = 'bars', value = 'avg_spmv_ms'{keys}")).view(&recorded(lines))
}

/// The notes of views that show all of `rows.csv`.
const SHARED: &str = "\
3 matrices; f64, cpu, 2 threads, natural order
marked *: generated surrogates for matrices of the collection (1)
without a time: slow on 1 matrix
";

#[test]
fn every_kind_shows_what_the_file_says() {
    let text = cases(include_str!("cases.txt"), |case| {
        let (rows, keys) = case.split_once(": ").unwrap();
        shown(rows, keys).replace(SHARED, "(shared notes)\n")
    });
    expect_file!["cases.txt"].assert_eq(&text);
}

/// Returns the text of a view. Checks that there is also one of rows without any result, which has only notes.
fn shown(rows: &str, keys: &str) -> String {
    let spec = spec(keys);
    let nothing = RecordedRow::from(Row { file: "u.mtx".into(), ..Row::default() });
    for lines in [vec![], vec![nothing]] {
        let View { notes, chart, table, .. } = spec.view(&recorded(&lines));
        assert!(!notes.is_empty() && chart.is_none() && table.is_none(), "{keys}");
    }
    let lines = self::rows(rows);
    let mut stages: Vec<StageRow> = Vec::new();
    if rows == "stages" {
        let kernels = csv::Reader::from_path(path("kernels"));
        stages.extend(kernels.unwrap().into_deserialize().map(Result::unwrap));
    }
    text_of(&spec.view(&Recorded { stages: stages.iter().collect(), ..recorded(&lines) }))
}

fn names(view: &View) -> Vec<String> {
    let Some(Chart::Bars(bars)) = &view.chart else { panic!("no bars: {view:?}") };
    bars.series.iter().map(|series| series.name.clone()).collect()
}

/// Returns the names of all kinds of views, from the message about an unknown one.
fn kinds() -> Vec<String> {
    let error = parse("kind = 'pie'").unwrap_err();
    let message = error.message();
    assert!(message.starts_with("unknown variant `pie`, expected one of `plane`, "), "{message}");
    message.split('`').skip(3).step_by(2).map(String::from).collect()
}

/// The documents and the dictionary of the fuzz target have every kind of view.
#[test]
fn every_kind_is_documented() {
    let documents = include_str!("../../../../../../docs/experiments.md");
    let dictionary = include_str!("../../../../../../fuzz/dictionaries/experiment.dict");
    for kind in kinds() {
        assert!(documents.contains(&format!("\n| `{kind}` |")), "docs/experiments.md: {kind}");
        let word = format!("\"kind = \\\"{kind}\\\"");
        assert!(dictionary.contains(&word), "fuzz/dictionaries/experiment.dict has no {word}");
    }
}

#[test]
fn errors_name_what_is_not_in_the_grammar() {
    let error = |keys: &str| parse(keys).unwrap_err().message().to_owned();
    for kind in kinds() {
        let error = error(&format!("kind = '{kind}', breadth = 3"));
        assert!(error.starts_with("unknown field `breadth`, expected "), "{kind}: {error}");
    }
    for (keys, expected) in [
        ("kind = 'bars', value = 'speed'", "there is no column 'speed'; "),
        ("kind = 'bars'", "missing field `value`"),
        ("kind = 'listing', columns = ['median_m']", "there is no column 'median_m'; "),
        ("kind = 'heat', of = ['a where b']", "filter, character 9: "),
        ("kind = 'heat', where = 'order < r'", "filter, character 7: expected =, != or ~, but found '<'"),
        (
            "kind = 'plane', x = 'gflops', y = 'gflops', mark = 'pie'",
            "unknown variant `pie`, expected one of `dots`",
        ),
    ] {
        assert!(error(keys).starts_with(expected), "{keys}: {}", error(keys));
    }
}

/// The name of a series contains the settings in which rows differ. Threads are included only if one method has
/// several.
#[test]
fn settings_are_not_mixed() {
    type Change = fn(&mut Row);
    let changes: [(Change, &str); 6] = [
        (|row| row.precision = Some(Precision::F32), "base f64, base f32, fast f64, slow f64"),
        (|row| row.order = Some(Order::Rcm), "base natural, base rcm, fast natural, slow natural"),
        (|row| row.transpose = Some(true), "base, base transposed, fast, slow"),
        (|row| row.threads = Some(1), "base 2 threads, base 1 thread, fast, slow"),
        (|row| row.method_name = Some("seq".into()), "base, seq, fast, slow"),
        // Another run.
        (|row| row.avg_spmv_ms = Some(1.0), "base, fast, slow"),
    ];
    for (change, expected) in changes {
        let mut lines = rows("rows");
        lines.truncate(3);
        lines.insert(1, lines[0].clone());
        change(&mut lines[1].row);
        assert_eq!(names(&bars(&lines, "")).join(", "), expected);
    }
}

#[test]
fn methods_on_one_thread_are_named_among_others() {
    let named = "on one thread: base, slow";
    for (threads, expected) in [([1, 1, 1], None), ([2, 2, 4], None), ([1, 2, 1], Some(named))] {
        let mut lines = rows("rows");
        lines.truncate(3);
        for (line, threads) in lines.iter_mut().zip(threads) {
            line.row.threads = Some(threads);
        }
        let notes = bars(&lines, "").notes;
        let found = notes.iter().find(|note| note.starts_with("on one thread"));
        assert_eq!(found.map(String::as_str), expected, "{threads:?}");
    }
}

#[test]
fn methods_are_shown_in_the_order_of_the_selections() {
    for (keys, expected) in [
        ("", "base, fast, slow"),
        (", of = ['slow', 'base']", "slow, base"),
        (", of = ['f*', '*']", "fast, base, slow"),
        (", of = ['*'], where = 'matrix = b'", "base, fast"),
    ] {
        assert_eq!(names(&bars(&rows("rows"), keys)).join(", "), expected);
    }
}

/// The foot of a chart describes only the rows that the view shows.
#[test]
fn a_foot_describes_the_rows_that_are_shown() {
    let run = |id: &str, day: &str| {
        serde_json::json!({"run_id": id, "date": format!("{day}T10:00:00Z"), "gpu": {"name": "G"},
            "system": {"cpu": "C", "cores": 2}})
    };
    let runs = [run("fast", "2026-03-03"), run("base", "2026-03-02"), run("slow", "2026-03-04")];
    let mut lines = rows("rows");
    let gpu = RecordedRow { row: Row { device: Some(Device::Gpu), ..lines[4].row.clone() }, ..lines[4].clone() };
    lines.push(gpu);
    for line in &mut lines {
        line.row.run_id = line.method().to_owned();
    }
    let recorded = Recorded { runs: runs.iter().collect(), ..recorded(&lines) };
    let foot = |keys: &str| spec(keys).view(&recorded).foot;
    let bars = "kind = 'bars', value = 'avg_spmv_ms'";
    let cpu = "f64, cpu, 2 threads, natural order; C, 2 cores, 2026-03-02";
    let of_three = format!("3 matrices (generated surrogates: 1); {cpu} to 2026-03-04");
    assert_eq!(foot(&format!("{bars}, where = 'device = cpu'")), of_three);
    assert_eq!(foot(&format!("{bars}, of = ['base', 'slow']")), of_three);
    assert_eq!(foot(&format!("{bars}, of = ['base where num_rows = 7']")), "", "no chart");
    let speedup = "kind = 'speedup', over = 'base'";
    let of_b = format!("{speedup}, of = ['fast'], where = 'matrix = b && device = cpu'");
    assert_eq!(foot(&of_b), format!("1 matrix; {cpu} to 2026-03-03"));
    let both = "C, 2 cores, 2026-03-02 to 2026-03-04; G, 2026-03-03";
    assert!(foot(speedup).ends_with(both), "all methods and the baseline: {}", foot(speedup));
    let unknown = Recorded { runs: vec![], ..recorded.clone() };
    let foot = spec(bars).view(&unknown).foot;
    assert!(foot.ends_with("; machine and date not recorded"), "{foot}");
}
