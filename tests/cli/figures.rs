//! Tests reports in a real browser: nothing is cut off at any width, legends show and hide their series, and tables can
//! be sorted. Skipped without Chromium.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use spmv_results::report::View;
use spmv_results::report::chart::{Axis, BarSeries, Bars, Chart};
use spmv_results::report::overview;
use spmv_results::report::page::Section;

use super::env::{Dir, skip};

const METHODS: &str = "seq csr-rows kokkos-style merge merge-numa csb oski-style csr5 csr2:order=natural:srs=96 csr3 \
                       sell ell hyb coo dia bcsr packed auto sprs mkl-csrmv mkl-ie mkl-ie-opt";

const RECORD: &str = r#"{"run_id": "r", "date": "2026-03-02T10:00:00Z", "gpu": null,
    "system": {"cpu": "A Processor of a Long Name @ 3.00GHz", "cores": 2}}"#;

/// Returns rows of all methods on twelve matrices of increasing size. One has a long name, and some are surrogates.
fn rows() -> String {
    let mut rows = String::from(
        "file,num_rows,num_cols,num_nonzeros,row_length_variation,method_name,setup_ms,avg_spmv_ms,gflops,\
         compulsory_GBs,percent_of_peak,break_even,precision,device,threads,status,cache,order,run_id\n",
    );
    for size in 0..12_u32 {
        let file = match size {
            0 => "\"gen:uniform,rows=1000000,length=32,band=1000000,random=1\"".to_owned(),
            1..=4 => format!("surrogate:Group/matrix_of_a_long_name_{size}"),
            _ => format!("matrix-{size}.mtx"),
        };
        let (side, nonzeros) = (100 << size, 1500 << size);
        for (place, method) in METHODS.split(' ').enumerate() {
            let ms = f64::from(nonzeros) * 1e-6 * (1.0 + 0.2 * ((place + size as usize) % 9) as f64);
            let gflops = 2e-6 * f64::from(nonzeros) / ms;
            let (gbs, variation) = (7.0 * gflops, 0.1 * f64::from(size));
            let percent = 100.0 * gbs / if size < 8 { 90.0 } else { 30.0 };
            let break_even = if place % 3 == 0 { f64::INFINITY } else { 7.0 * percent };
            let setup = 3.0 * ms * place as f64;
            let numbers = format!("{setup},{ms},{gflops},{gbs},{percent},{break_even}");
            writeln!(rows, "{file},{side},{side},{nonzeros},{variation},{method},{numbers},f64,cpu,2,ok,hot,natural,r")
                .unwrap();
        }
    }
    rows
}

/// Returns a bar chart with intervals and more methods than are shown initially.
fn bars() -> View {
    let series = METHODS.split(' ').take(8).map(|method| BarSeries {
        name: method.to_owned(),
        values: vec![Some(2.0), Some(3.0)],
        intervals: vec![Some((1.5, 2.5)), None],
        ..BarSeries::default()
    });
    let (categories, few) = (vec!["a*".into(), "b".into()], vec!["seq".into(), "merge".into()]);
    let value = Axis::linear("GFLOP/s");
    let bars = Bars { value, categories, series: series.collect(), few, stacked: false };
    View { title: "Bars".into(), chart: Some(Chart::Bars(bars)), ..View::default() }
}

/// Writes the report of these rows with a script that checks it, and returns the expected result of the script.
fn write(dir: &Path) -> String {
    let rows = [dir.join("a.csv")];
    let mut page = overview::page(&overview::read(&rows, None).unwrap(), overview::Question::default());
    page.sections.push(Section { title: "More".into(), views: vec![bars()], ..Section::default() });
    let views = page.sections.iter().flat_map(|section| &section.views);
    let charts: Vec<_> = views.filter_map(|view| view.chart.as_ref()).collect();
    let has_many = |chart: &&&Chart| match chart {
        Chart::Plane(plane) => plane.series.len() > 6,
        Chart::Bars(bars) => bars.series.len() > 6,
        Chart::Heat(_) => false,
    };
    let (all, many) = (charts.len(), charts.iter().filter(has_many).count());
    let written = page.write(dir).unwrap();
    let svgs = written.iter().filter(|path| path.extension().is_some_and(|extension| extension == "svg"));
    let frame = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        format!("<iframe src='{name}' style='width: 100%; height: 2000px'></iframe>")
    };
    let frames: String = svgs.map(frame).collect();
    let script = format!("{frames}<script>{}</script></body>", include_str!("figures.js"));
    let html = fs::read_to_string(dir.join("report.html")).unwrap();
    fs::write(dir.join("looked-at.html"), html.replace("</body>", &script)).unwrap();
    format!("{all} figures, {many} with switches, {all} files")
}

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

/// Returns the page after the browser has loaded it. `scheme` is 0 for dark and 1 for light.
fn look(browser: &str, dir: &Path, width: u32, scheme: u8) -> String {
    let looked = Command::new("timeout")
        .args(["60", browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--allow-file-access-from-files", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", dir.join("browser").display()))
        .arg(format!("--window-size={width},1000"))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("file://{}", dir.join("looked-at.html").display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&looked.stdout).into_owned()
}

#[test]
fn a_browser_shows_the_report_completely_and_legends_work() {
    let Some(browser) = chromium() else {
        return skip("no Chromium on this machine");
    };
    let files = Dir::new(&[("a.csv", &rows()), ("a.csv.run.json", RECORD)]);
    let dir = files.path("");
    let seen = write(&dir);
    for (width, scheme) in [(500, 0), (500, 1), (1200, 0), (1200, 1)] {
        let page = look(browser, &dir, width, scheme);
        let verdict = format!("<pre>VERDICT {width} wide: {seen} END");
        let found = page.split_once("<pre>VERDICT").map(|(_, verdict)| verdict);
        assert!(page.contains(&verdict), "scheme {scheme}: no {verdict}: {found:?}");
    }
}
