mod kinds;
mod others;

use super::*;
use crate::row::{Row, Status};
use crate::settings::Values;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// Returns a row that is correct and timed. Its GFLOP/s are nonzeros / 1000 / time, and its compulsory GB/s ten
/// times that.
fn row(file: &str, nonzeros: usize, method: &str, ms: f64) -> Row {
    let gflops = nonzeros as f64 / 1000.0 / ms;
    Row {
        num_rows: Some(100),
        num_cols: Some(100),
        num_nonzeros: Some(nonzeros),
        order: Some(Order::Natural),
        setup_ms: Some(0.0),
        gflops: Some(gflops),
        compulsory_gbs: Some(10.0 * gflops),
        ..crate::report::row(file, method, ms)
    }
}

/// Returns the rows of three methods on three matrices, the last a surrogate, with the times in ms and the ceiling in
/// GB/s; `slow` does not run on b. The setups take 0, 10 and 1 ms. Values repeat on the last matrix only.
fn rows() -> Vec<Row> {
    let matrices = [
        ("a.mtx", 1000, [2.0, 1.0, 4.0], 20.0),
        ("b.mtx", 10_000, [3.0, 6.0, 0.0], 20.0),
        ("surrogate:G/c", 100_000, [8.0, 2.0, 8.0], 50.0),
    ];
    let mut rows = Vec::new();
    for (file, nonzeros, times, ceiling) in matrices {
        for ((method, setup), ms) in
            [("base", 0.0), ("fast", 10.0), ("slow", 1.0)].into_iter().zip(times)
        {
            let row = Row {
                setup_ms: Some(setup),
                values: Some(Values::Stored),
                distinct_values: Some(if nonzeros == 100_000 { 1 } else { 1000 }),
                ..row(file, nonzeros, method, ms)
            };
            let percent = row.compulsory_gbs.map(|gbs| 100.0 * gbs / ceiling);
            rows.push(match ms {
                0.0 => Row { avg_spmv_ms: None, ..row.ended(Status::Skipped, "not for b".into()) },
                _ => Row { percent_of_peak: percent, ..row },
            });
        }
    }
    rows
}

fn spec(toml: &str) -> Spec {
    toml::from_str(&format!("title = 'T'\n{toml}")).expect(toml)
}

/// Returns the view of these rows. Checks that there is also one of rows without any result, which has only notes.
fn view(rows: Vec<Row>, toml: &str) -> View {
    let view_of = |rows: Vec<Row>| {
        let lines: Vec<_> = rows.into_iter().map(RecordedRow::from).collect();
        spec(toml).view(&Recorded { lines: lines.iter().collect(), ..Recorded::default() })
    };
    for rows in [vec![], vec![Row { file: "u.mtx".into(), ..Row::default() }]] {
        let View { notes, chart, table, .. } = view_of(rows);
        assert!(!notes.is_empty() && chart.is_none() && table.is_none(), "{toml}");
    }
    view_of(rows)
}

fn text_of(view: &View) -> String {
    assert_eq!(view.title, "T");
    let table = view.table.as_ref().map(|table| table.to_markdown() + "\n").unwrap_or_default();
    let chart = view.chart.as_ref().map(chart_text).unwrap_or_default();
    format!("{}\n{table}{chart}", view.notes.join("\n"))
}

/// Returns a line per series, guide or row of a chart. Of long series and guides, it has the first two points and the
/// last.
fn chart_text(chart: &Chart) -> String {
    let number = |number: Option<f64>| number.map_or("-".into(), significant);
    let numbers = |row: &Vec<Option<f64>>| row.iter().map(|&of| number(of)).collect::<Vec<_>>();
    let ends = |(low, high)| format!(" ({} to {})", significant(low), significant(high));
    let few = |points: Vec<String>| match &points[..] {
        [first, second, _, .., last] if points.len() > 4 => format!("{first} {second} … {last}"),
        _ => points.join(" "),
    };
    let place = |x, y| format!("{},{}", significant(x), significant(y));
    let mut lines = Vec::new();
    match chart {
        Chart::Plane(plane) => {
            for series in &plane.series {
                let points = series.points.iter().map(|point| {
                    let label = point.label.as_deref().unwrap_or_default();
                    let spread = point.spread.map(ends).unwrap_or_default();
                    format!("{label}@{}{spread}", place(point.x, point.y))
                });
                lines.push(format!("{}: {}", series.name, few(points.collect())));
            }
            for Guide { name, points } in &plane.guides {
                let points = points.iter().map(|&(x, y)| place(x, y)).collect();
                lines.push(format!("guide {name}: {}", few(points)));
            }
        }
        Chart::Bars(bars) => {
            let stacked = if bars.stacked { "stacked bars" } else { "bars" };
            lines.push(format!("{stacked}: {}", bars.categories.join(" | ")));
            for series in &bars.series {
                let values = numbers(&series.values).join(" ");
                lines.push(format!("{}: {values}; mean {}", series.name, number(series.mean)));
            }
        }
        Chart::Heat(heat) => {
            lines.push(format!("columns {}", heat.columns.join(" ")));
            let rows = heat.rows.iter().zip(&heat.cells);
            lines.extend(rows.map(|(name, cells)| format!("{name}: {}", numbers(cells).join(" "))));
        }
    }
    lines.join("\n") + "\n"
}

fn names(view: &View) -> Vec<String> {
    let Some(Chart::Bars(bars)) = &view.chart else { panic!("no bars: {view:?}") };
    bars.series.iter().map(|series| series.name.clone()).collect()
}

const BARS: &str = "kind = 'bars'\nvalue = 'avg_spmv_ms'";

/// Returns the names of all kinds of views, from the message about an unknown one.
fn kinds() -> Vec<String> {
    let error = toml::from_str::<Spec>("kind = 'pie'\ntitle = 'T'\n").unwrap_err();
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
    let error = |toml: &str| toml::from_str::<Spec>(toml).unwrap_err().message().to_owned();
    for kind in kinds() {
        let error = error(&format!("kind = '{kind}'\ntitle = 'T'\nbreadth = 3\n"));
        assert!(error.starts_with("unknown field `breadth`, expected "), "{kind}: {error}");
    }
    let error = |toml: &str| error(&format!("title = 'T'\n{toml}"));
    assert!(error("kind = 'bars'\nvalue = 'speed'").starts_with("there is no column 'speed'; "));
    assert_eq!(error("kind = 'bars'"), "missing field `value`");
    let column = "kind = 'listing'\ncolumns = ['median_m']";
    assert!(error(column).starts_with("there is no column 'median_m'; "));
    assert!(error("kind = 'heat'\nof = ['a where b']").starts_with("filter, character 9: "));
    let filter = "filter, character 7: expected =, != or ~, but found '<'";
    assert_eq!(error("kind = 'heat'\nwhere = 'order < rcm'"), filter);
    assert!(error("kind = 'plane'\nx = 'gflops'\ny = 'gflops'\nmark = 'pie'").contains("`trend`"));
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
        let mut rows: Vec<_> = rows().into_iter().filter(|row| row.file == "a.mtx").collect();
        rows.insert(1, rows[0].clone());
        change(&mut rows[1]);
        assert_eq!(names(&view(rows, BARS)).join(", "), expected);
    }
}

#[test]
fn methods_on_one_thread_are_named_among_others() {
    let named = "on one thread: base, slow";
    for (threads, expected) in [([1, 1, 1], None), ([2, 2, 4], None), ([1, 2, 1], Some(named))] {
        let on = |(row, threads)| Row { threads: Some(threads), ..row };
        let notes = view(rows().into_iter().zip(threads).map(on).collect(), BARS).notes;
        let found = notes.iter().find(|note| note.starts_with("on one thread"));
        assert_eq!(found.map(String::as_str), expected, "{threads:?}");
    }
}

#[test]
fn methods_are_shown_in_the_order_of_the_selections() {
    let named = |of: &str| names(&view(rows(), &format!("{BARS}\nof = {of}")));
    assert_eq!(named("[]"), ["base", "fast", "slow"]);
    assert_eq!(named("['slow', 'base']"), ["slow", "base"]);
    assert_eq!(named("['f*', '*']"), ["fast", "base", "slow"]);
    assert_eq!(named("['*']\nwhere = 'matrix = b'"), ["base", "fast"]);
}
