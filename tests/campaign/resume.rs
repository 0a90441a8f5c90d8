//! Tests of `--resume`: only missing rows are measured, with the settings of the file.

use std::fs;

use crate::{EXACT, Place, column, rows};

fn words(more: &str) -> String {
    format!("corpus matrices {EXACT} seq,merge --output out.csv {more}")
}

#[test]
fn existing_rows_are_kept_and_missing_ones_measured() {
    let place = Place::with_matrices(&[40, 30, 20]);
    let ran = place.run(&words("--resume"));
    assert_eq!(ran.status, Some(0), "a file that is not there is begun: {ran:?}");
    let whole = place.read("out.csv");
    // No row is missing.
    let ran = place.run(&words("--resume"));
    assert_eq!((ran.status, place.read("out.csv")), (Some(0), whole.clone()));
    assert!(ran.stderr.contains("rows: 6 ok"), "{ran:?}");
    // The second line is removed and the last one is cut off.
    let mut lines: Vec<_> = whole.lines().collect();
    let missing = lines.remove(1);
    let torn = lines.join("\n")[..whole.len() - missing.len() - 30].to_owned();
    fs::write(place.path("out.csv"), &torn).unwrap();
    assert_eq!(place.run(&words("--resume")).status, Some(0));
    let resumed = place.read("out.csv");
    let kept = &torn[..torn.rfind('\n').unwrap()];
    assert!(resumed.starts_with(kept), "rows that are there are not touched");
    let key = |csv: &str| {
        let mut keys: Vec<_> = rows(csv)
            .into_iter()
            .map(|row| (row["file"].clone(), row["method_name"].clone()))
            .collect();
        keys.sort();
        keys
    };
    assert_eq!(key(&resumed), key(&whole));
    let run_ids = column(&resumed, "run_id");
    assert!(run_ids.iter().all(|run_id| *run_id == run_ids[0]), "{run_ids:?}");
    let record: serde_json::Value = serde_json::from_str(&place.read("out.csv.run.json")).unwrap();
    assert_eq!(record["run_id"].as_str(), Some(&*run_ids[0]));
    assert_eq!(record["sessions"].as_array().unwrap().len(), 3);
    assert!(record["sessions"][0]["end"].is_object(), "{record:#}");
}

#[test]
fn other_settings_are_refused_with_the_difference() {
    let place = Place::with_matrices(&[40, 30]);
    place.run(&words(""));
    let whole = place.read("out.csv");
    for (more, difference) in [
        ("--warmups 9", "warmups: 5, 9"),
        ("--x ones", "x: \"random\", \"ones\""),
        ("--order rcm", "cache\"], [\"f64, CPU, 1 thread, hot cache, order rcm\"]"),
        (
            "--order natural,rcm",
            "only one of them: [], [\"f64, CPU, 1 thread, hot cache, order rcm\"]",
        ),
        ("--methods merge,sell", "methods in only one of them: [], [\"sell\"]"),
        ("--no-expand", "expand: true, false"),
        ("--shard 1/2", "shard: 1/1, 1/2"),
        ("--timeout 7", "timeout: 900.0, 7.0"),
        (
            "--fp32",
            "settings in only one of them: [\"f64, CPU, 1 thread, hot cache\"], [\"f32, CPU, 1 thread",
        ),
    ] {
        let ran = place.run(&words(&format!("--resume {more}")));
        assert_eq!(ran.status, Some(2), "{more}: {ran:?}");
        let message = "spmv-bench: out.csv was measured with different settings (first in the file, then now): ";
        assert!(ran.stderr.starts_with(message), "{more}: {ran:?}");
        assert!(ran.stderr.contains(difference), "{more}: {ran:?}");
        assert_eq!(place.read("out.csv"), whole, "{more}");
    }
}

#[test]
fn results_are_not_overwritten_and_have_one_writer() {
    let place = Place::with_matrices(&[40]);
    place.run(&words(""));
    let whole = place.read("out.csv");
    let ran = place.run(&words(""));
    let message = "spmv-bench: out.csv already has results: continue with --resume, use another file, or \
                   replace it with --force\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(2), message));
    assert_eq!(place.read("out.csv"), whole);

    let endless = "corpus gen:grid2d,n=300,points=5 --no-bandwidth --methods seq --min-time 60 --max-time 60 --output one.csv";
    let mut first = place.program(endless).spawn().unwrap();
    assert!(crate::eventually(|| place.path("one.csv.run.json").exists()));
    let second = place.run(&format!("{endless} --resume"));
    first.kill().unwrap();
    first.wait().unwrap();
    let message = "spmv-bench: one.csv: another process is writing to it\n";
    assert_eq!((second.status, &*second.stderr), (Some(2), message));
}

#[test]
fn files_that_cannot_be_resumed_are_refused() {
    let place = Place::with_matrices(&[40]);
    let ran = place.run("corpus matrices --methods seq --resume");
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("--resume needs --output FILE"), "{ran:?}");
    let ran = place.run(&words("--resume --format json").replace("out.csv", "out"));
    assert!(ran.stderr.contains("--resume can continue files of --format csv only"), "{ran:?}");
    place.run(&words(""));
    fs::remove_file(place.path("out.csv.run.json")).unwrap();
    let ran = place.run(&words("--resume"));
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("cannot read the run record out.csv.run.json"), "{ran:?}");
    // Duplicate rows.
    place.run(&words("--resume"));
    place.run(&words("--force"));
    let text = place.read("out.csv");
    fs::write(place.path("out.csv"), format!("{text}{}\n", text.lines().last().unwrap())).unwrap();
    let ran = place.run(&words("--resume"));
    assert!(
        ran.stderr.contains("out.csv: there are two rows of merge on matrices/m1.mtx"),
        "{ran:?}"
    );
    // A file of another program is not changed.
    let notes = "notes,\nunfinished";
    fs::write(place.path("out.csv"), notes).unwrap();
    for more in ["", "--resume"] {
        let ran = place.run(&words(more));
        let message = "spmv-bench: out.csv:1: its columns are not those of result rows: ";
        assert!(ran.stderr.starts_with(message), "{ran:?}");
        assert_eq!(place.read("out.csv"), notes);
    }
}

/// A matrix that cannot be measured has a row, and is not read again.
#[test]
fn matrices_without_results_have_a_row_too() {
    let place = Place::with_matrices(&[40]);
    fs::write(place.path("matrices/broken.mtx"), "nothing\n").unwrap();
    let one = "%%MatrixMarket matrix coordinate real general\n1 3 1\n1 2 5\n";
    fs::write(place.path("matrices/one.mtx"), one).unwrap();
    assert_eq!(place.run(&words("")).status, Some(1));
    let whole = place.read("out.csv");
    assert_eq!(column(&whole, "status"), ["failed", "skipped", "ok", "ok"]);
    let ran = place.run(&words("--resume"));
    assert_eq!((ran.status, place.read("out.csv")), (Some(1), whole));
    assert!(ran.stderr.contains("3 matrices (1 not measured; 1 trivial ones skipped)"), "{ran:?}");
}

/// Comparisons between methods include the methods that were measured before.
#[test]
fn a_row_measured_later_is_compared_with_the_earlier_ones() {
    let place = Place::with_matrices(&[40]);
    let words = format!("corpus matrices {EXACT} csr-rows,merge,auto --output out.csv --resume");
    // Returns the row of `again` after a resumption, for this earlier time of csr-rows in milliseconds.
    let measured_again = |again: &str, csr_rows_ms: &str| {
        let text = place.read("out.csv");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let place_of = |column| header.iter().position(|name| name == column).unwrap();
        let mut writer = csv::Writer::from_path(place.path("out.csv")).unwrap();
        writer.write_record(&header).unwrap();
        for row in reader.records().map(Result::unwrap) {
            let method = &row[place_of("method_name")];
            let cells = row.iter().enumerate().map(|(k, cell)| match method {
                "csr-rows" if k == place_of("median_ms") => csr_rows_ms,
                _ => cell,
            });
            if method != again {
                writer.write_record(cells).unwrap();
            }
        }
        drop(writer);
        let ran = place.run(&words);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        rows(&place.read("out.csv")).into_iter().find(|row| row["method_name"] == again).unwrap()
    };
    assert_eq!(place.run(&words).status, Some(0));
    assert_eq!(measured_again("merge", "1e-9")["break_even"], "inf", "never");
    let merge = measured_again("merge", "1e9");
    let [setup, break_even] =
        ["setup_ms", "break_even"].map(|name| merge[name].parse::<f64>().unwrap());
    assert!(break_even > 0.0 && (break_even * 1e9 / setup - 1.0).abs() < 1e-3, "{merge:?}");
    let reason = measured_again("auto", "1e-9")["reason"].clone();
    assert!(reason.contains(" times the time of the fastest, csr-rows"), "{reason}");
}

/// Rows of two different matrices must not have the same file name.
#[test]
fn a_matrix_that_was_replaced_is_not_resumed() {
    let place = Place::with_matrices(&[40, 30]);
    assert_eq!(place.run(&words("")).status, Some(0));
    let text = place.read("out.csv");
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(place.path("out.csv"), format!("{kept}\n")).unwrap();
    fs::write(place.path("matrices/m1.mtx"), crate::band(50)).unwrap();
    let ran = place.run(&words("--resume"));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let last = rows(&place.read("out.csv")).pop().unwrap();
    assert_eq!((&*last["status"], &*last["method_name"]), ("failed", ""));
    let expected = "the matrix is now 50 x 50 with 145 nonzeros, but its rows in the file belong to 40 x 40 with \
                    115 nonzeros; remove these rows to measure it again";
    assert_eq!(last["reason"], expected);
}

#[test]
fn rows_of_another_run_are_refused() {
    let place = Place::with_matrices(&[40, 30]);
    place.run(&words(""));
    let run_id = column(&place.read("out.csv"), "run_id").remove(0);
    let edited = place.read("out.csv").replacen(&run_id, "another", 1);
    fs::write(place.path("out.csv"), &edited).unwrap();
    for command in [words("--resume"), "merge out.csv".into()] {
        let ran = place.run(&command);
        let message = format!(
            "spmv-bench: out.csv: the row of seq on matrices/m2.mtx belongs to the run another and not to {run_id}; \
             remove it from the file\n"
        );
        assert_eq!((ran.status, ran.stderr), (Some(2), message), "{command}");
        assert_eq!(place.read("out.csv"), edited);
    }
}
