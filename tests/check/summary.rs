//! Tests of the summary page with rows whose results can be computed by hand. Without Python, the tests are skipped
//! with a message.

use std::fs;
use std::io::Write;
use std::process::Command;

use spmv_bench::bench::plan::CacheState;
use spmv_bench::method::Device;
use spmv_bench::record::row::{Row, Status};
use spmv_bench::scalar::Precision;

use crate::Place;

/// A run record with the bandwidth of the GPU: a copy beyond the cache reaches 3000 GB/s.
const FACTS: &str = r#"{"gpu": {"bandwidth": [{"bytes": 4, "copy_gbs": 9000, "read_gbs": 9500},
    {"bytes": 9, "copy_gbs": 3000, "read_gbs": 3100}]}}"#;

/// Creates a row of a regular matrix whose product takes `ms` milliseconds and moves 300 MB.
fn row(file: &str, method: &str, precision: Precision, ms: f64) -> Row {
    let speed = 0.3 / (1e-3 * ms);
    Row {
        file: file.into(),
        row_length_variation: Some(0.1),
        method_name: Some(method.into()),
        avg_spmv_ms: Some(ms),
        precision: Some(precision),
        device: Some(Device::Gpu),
        transpose: Some(false),
        status: Some(Status::Ok),
        compulsory_gbs: Some(speed),
        ..Row::default()
    }
}

fn f64(file: &str, method: &str, ms: f64) -> Row {
    row(file, method, Precision::F64, ms)
}

fn irregular(row: Row) -> Row {
    Row { row_length_variation: Some(2.0), ..row }
}

/// Creates a test folder with results in `out`. Returns `None` without Python.
fn place(files: &[(&str, Vec<Row>)]) -> Option<Place> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        // Written directly to stderr, because the test runner hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "skipped: no python3");
        return None;
    }
    let place = Place::new();
    fs::create_dir_all(place.path("out/done")).unwrap();
    for (name, rows) in files {
        let mut writer = csv::Writer::from_path(place.path("out").join(name)).unwrap();
        rows.iter().for_each(|row| writer.serialize(row).unwrap());
        writer.flush().unwrap();
    }
    Some(place)
}

fn page(place: &Place) -> String {
    let ran = place.run("--summary out");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{}", ran.stdout);
    ran.stdout
}

#[track_caller]
fn has(page: &str, line: &str) {
    assert!(page.lines().any(|other| other == line), "no line\n{line}\nin\n{page}");
}

#[test]
fn machine_steps_and_verdicts() {
    let failed = f64("b.mtx", "gpu-coo", 1.0).ended(Status::Failed, "out of memory".into());
    let skipped = f64("b.mtx", "gpu-ell", 1.0).ended(Status::Skipped, "stores 9.0 times".into());
    let wrong = f64("c.mtx", "gpu-coo:block=128", 1.0).ended(Status::Wrong, "row 3".into());
    let unread = Row { file: "d.mtx".into(), ..Row::default() }.ended(Status::Failed, "cut".into());
    let verify = vec![f64("a.mtx", "gpu-merge", 1.0), f64("a.mtx", "gpu-ell", 1.0), skipped];
    let bench =
        vec![f64("a.mtx", "gpu-merge", 1.0), f64("a.mtx", "gpu-coo", 2.0), failed, wrong, unread];
    let profile = vec![f64("a.mtx", "gpu-hola", 1.0)];
    let rows = vec![f64("a.mtx", "gpu-sell", 1.0)];
    let files = [
        ("verify.csv", verify),
        ("bench-regular.csv", bench),
        ("profile.csv", profile),
        ("profile-rows.csv", rows),
    ];
    let Some(place) = place(&files) else { return };
    let system = r#"{"gpus": [{"name": "Some GPU", "driver": "driver 1"}],
        "libraries": [{"name": "NVRTC 13.0", "place": "/lib"}]}"#;
    fs::write(place.path("out/system.json"), system).unwrap();
    for (step, note) in [
        ("battery", "ok, 9 s"),
        ("verify", "ok, 8 s"),
        ("memcheck", "failed with status 9, 7 s"),
        ("racecheck", "not run: no compute-sanitizer"),
    ] {
        fs::write(place.path("out/done").join(step), note).unwrap();
    }
    let page = page(&place);
    has(&page, "Some GPU, driver 1; NVRTC 13.0: /lib");
    has(&page, "ok: battery, verify");
    has(&page, "failed with status 9: memcheck");
    has(&page, "not run: no compute-sanitizer: racecheck");
    assert!(page.contains("\nnot yet: verify-transposed, bench-regular, "), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 120), "{page}");
    has(&page, "all ok: gpu-merge 2, gpu-sell 1");
    has(&page, "wrong    gpu-coo              1 ok, 1 wrong, 1 failed; wrong: c.mtx: row 3");
    has(&page, "failed   (the matrix)         1 failed; failed: d.mtx: cut");
    has(&page, "ok       gpu-ell              1 ok, 1 skipped; skipped: b.mtx: stores 9.0 times");
    assert!(!page.contains("gpu-hola"), "what is profiled was measured elsewhere: {page}");
}

#[test]
fn shares_of_the_copy_and_ratios() {
    let small = Row { compulsory_gbs: Some(1000.0), ..f64("small.mtx", "gpu-merge", 0.1) };
    let turned = Row { transpose: Some(true), ..f64("a.mtx", "gpu-csc", 0.001) };
    let failed = f64("a.mtx", "gpu-coo", 1.0).ended(Status::Failed, "why".into());
    let regular = vec![
        f64("a.mtx", "gpu-auto", 0.16),
        f64("a.mtx", "gpu-merge", 0.2),
        Row {
            ci95_low_ms: Some(0.124),
            ci95_high_ms: Some(0.127),
            ..f64("a.mtx", "gpu-sell", 0.125)
        },
        f64("a.mtx", "gpu-packed-values", 0.1),
        f64("a.mtx", "cusparse-csr", 0.5),
        f64("a.mtx", "cusparse-csr-pre", 0.25),
        f64("b.mtx", "gpu-merge", 0.25),
        f64("b.mtx", "gpu-auto", 0.2),
        f64("b.mtx", "cusparse-csr", 0.2),
        row("b.mtx", "gpu-merge", Precision::F32, 0.15),
        small,
        turned,
        failed,
    ];
    let others = ["gpu-merge", "cusparse-csr"].map(|method| f64("r.mtx", method, 0.4));
    let others = others.map(irregular).to_vec();
    let Some(place) = place(&[("bench-regular.csv", regular), ("bench-irregular.csv", others)])
    else {
        return;
    };
    has(&page(&place), "no copy was measured");
    fs::write(place.path("out/bench-regular.csv.run.json"), FACTS).unwrap();
    let page = page(&place);
    // 300 MB in 0.125 ms are 2400 GB/s of 3000; in 0.25 ms half as much.
    let a = "a.mtx                          f64  gpu-sell 2400 of 3000: 80.0 %  cusparse-csr-pre 1200 of 3000: 40.0 %";
    has(&page, a);
    let b = "b.mtx                          f32  gpu-merge 2000 of 3000: 66.7 %  no cusparse-*";
    has(&page, b);
    let copies = page.split("\n## ").find(|part| part.starts_with("Large regular")).unwrap();
    assert!(!copies.contains("\nsmall.mtx") && !copies.contains("\nr.mtx"), "{copies}");
    // 0.125/0.16 and 0.25/0.2.
    has(&page, "f64: 0.99 (0.78, 2); least on a.mtx, where gpu-sell is the best");
    has(&page, "f32: nothing to compare");
    // Neither gpu-auto nor gpu-packed-values is the best.
    let best = |file: &str, ours: &str, theirs: &str, ratio: &str| {
        format!("{file:<28} f64  {ours:<30} {theirs:<34} {ratio}")
    };
    has(&page, &best("a.mtx", "gpu-sell 125.0 ± 1.5", "cusparse-csr-pre 250.0", "2.00"));
    has(&page, &best("r.mtx", "gpu-merge 400.0", "cusparse-csr 400.0", "1.00"));
    has(&page, "regular f64: 1.26 (0.80, 2)");
    has(&page, "irregular f64: 1.00 (1.00, 1)");
    has(&page, "left out: 1 failed");
    // 0.25/0.2 and 0.2/0.25; 0.25/0.125; 0.25/0.16 and 0.2/0.2.
    let ratios = |method: &str, regular: &str, irregular: &str, least: &str| {
        format!("{method:<20}{regular:>17}{:>17}{irregular:>17}{:>17}  {least}", "-", "-")
    };
    has(&page, &ratios("gpu-sell", "2.00 (2.00, 1)", "-", "a.mtx f64"));
    has(&page, &ratios("gpu-auto", "1.25 (1.00, 2)", "-", "b.mtx f64"));
    has(&page, &ratios("gpu-merge", "1.00 (0.80, 2)", "1.00 (1.00, 1)", "b.mtx f64"));
}

#[test]
fn proposed_changes_of_launch_shapes() {
    let times = |method: &str, a: f64, b: f64| [f64("a.mtx", method, a), f64("b.mtx", method, b)];
    let shapes = [
        times("gpu-merge", 0.2, 0.1),
        times("gpu-merge:block=64:items=7", 0.1, 0.1),
        times("gpu-merge:block=96:items=7", 0.2, 0.05),
        times("gpu-csr5", 0.1, 0.101),
        times("gpu-csr5:sigma=4:block=64", 0.1, 0.1),
    ];
    let lacking = f64("a.mtx", "gpu-merge:block=32:items=7", 0.1);
    let shapes = shapes.into_iter().flatten().chain([lacking]).collect();
    let Some(place) = place(&[("shapes.csv", shapes)]) else { return };
    let log = "gpu-csrk-3, f64: 64 sizes on 2 matrices\n1.0 8 8 0.5 a.mtx\nsrs = round(1.000 + 2.000 \
               ln(nnz/row)), R^2 0.9\nsrs=8:ssrs=8 for all: 90.0 % of each matrix' best\n";
    fs::write(place.path("out/csr-k.log"), log).unwrap();
    let page = page(&place);
    // The present shape reaches 1/2 and 1/2; 64 threads reach 1 and 1/2; 96 threads reach 1/2 and 1, the same mean.
    has(
        &page,
        "gpu-merge f64: would change; today 50.0 (50.0), best 70.7 (50.0) gpu-merge:block=64:items=7, \
                of 3 shapes on 2 matrices; 1 shapes lack times",
    );
    has(
        &page,
        "gpu-csr5 f64: stays; today 99.5 (99.0), best 100.0 (100.0) gpu-csr5:sigma=4:block=64, \
                of 2 shapes on 2 matrices; 0 shapes lack times",
    );
    assert!(page.ends_with(&log.replace("1.0 8 8 0.5 a.mtx\n", "")), "{page}");
}

#[test]
fn the_page_has_a_limited_length_and_states_what_is_missing() {
    let many: Vec<Row> = (0..60)
        .flat_map(|k| {
            let file = format!("m{k}.mtx");
            let method = format!("gpu-m{k}");
            let failed = f64(&file, &format!("gpu-f{k}"), 1.0).ended(Status::Failed, "why".into());
            [f64(&file, &method, 0.2), f64(&file, "cusparse-csr", 0.2), failed]
        })
        .collect();
    let shapes = (0..60).flat_map(|k| {
        let method = format!("gpu-m{k}");
        [f64("a.mtx", &method, 0.2), f64("a.mtx", &format!("{method}:block=1"), 0.1)]
    });
    let Some(place) = place(&[("bench-regular.csv", many), ("shapes.csv", shapes.collect())])
    else {
        return;
    };
    fs::write(place.path("out/bench-regular.csv.run.json"), FACTS).unwrap();
    fs::write(place.path("out/csr-k.log"), "srs = round(1)\n".repeat(60)).unwrap();
    let page = page(&place);
    assert!(page.lines().count() <= 130, "{} lines", page.lines().count());
    for left in
        ["… and 48 more", "… and 54 more", "… and 36 more", "… and 50 more", "… and 44 more"]
    {
        has(&page, left);
    }
    fs::remove_dir_all(place.path("out")).unwrap();
    assert_eq!(place.run("--summary out").status, Some(2));
    fs::create_dir(place.path("out")).unwrap();
    let empty = self::page(&place);
    for line in ["no copy was measured", "nothing to compare", "not measured"] {
        has(&empty, line);
    }
}

/// Three products are measured and modelled with hot caches, and one with cold caches is compared with ncu's counters.
#[test]
fn the_model_is_compared_with_the_gpu() {
    let at = |row: Row, cache| Row { cache: Some(cache), ..row };
    let measured = [
        f64("a.mtx", "gpu-merge", 0.2),
        f64("b.mtx", "gpu-merge", 0.1),
        f64("a.mtx", "gpu-coo", 1.0),
    ];
    let measured = measured.map(|row| at(row, CacheState::Hot));
    let modelled = |ms, cache, row: &Row| {
        let device = Some(Device::model("mine.toml"));
        let counted = (Some(80.0), Some(50.0));
        let (achieved_occupancy, global_load_efficiency) = counted;
        let row = Row { avg_spmv_ms: Some(ms), device, achieved_occupancy, ..row.clone() };
        at(Row { global_load_efficiency, ..row }, cache)
    };
    let times = [0.1, 0.1, 1.1];
    let mut model: Vec<_> =
        measured.iter().zip(times).map(|(row, ms)| modelled(ms, CacheState::Hot, row)).collect();
    model.push(modelled(9.0, CacheState::Cold, &measured[0]));
    let profile = Row { achieved_occupancy: Some(75.0), ..measured[0].clone() };
    let files = [
        ("bench-regular.csv", measured.to_vec()),
        ("profile.csv", vec![profile]),
        ("model.csv", model),
    ];
    let Some(place) = place(&files) else { return };
    fs::write(place.path("out/gpu-file.toml"), "name = \"mine\"\n").unwrap();
    let page = page(&place);
    // Ratios 0.5, 1 and 1.1: errors of 50, 0 and 10 %.
    for line in [
        "3 products: median error 10 %, 67 % within a factor of 1.5",
        "gpu-merge                0.71 (0.50 to 1.00, 2)",
        "gpu-coo                  1.10 (1.10 to 1.10, 1)",
        "achieved_occupancy: off ncu's by 5 points in the median of 1 products, by 5 at most, with gpu-merge on a.mtx",
        "global_load_efficiency: nothing to compare",
    ] {
        has(&page, line);
    }
    assert!(!page.contains("mine.toml"), "{page}");
}
