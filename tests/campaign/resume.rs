//! Tests of `--resume`: only missing rows are measured, with the settings of the file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use crate::{Dir, EXACT, Ran, band, column, corpus, edited, rows};

fn words(more: &str) -> String {
    corpus(&format!("--output out.csv {more}"))
}

#[test]
fn existing_rows_are_kept_and_missing_ones_measured() {
    let place = Dir::with_matrices(&[40, 30, 20]);
    place.run(&words("--resume")).exits(0);
    let whole = place.read("out.csv");
    // No row is missing.
    place.run(&words("--resume")).exits(0).says("rows: 6 ok");
    assert_eq!(place.read("out.csv"), whole);
    // The second line is removed and the last one is cut off.
    let mut lines: Vec<_> = whole.lines().collect();
    let missing = lines.remove(1);
    let torn = lines.join("\n")[..whole.len() - missing.len() - 30].to_owned();
    place.write("out.csv", &torn);
    place.run(&words("--resume")).exits(0);
    let resumed = place.read("out.csv");
    let kept = &torn[..torn.rfind('\n').unwrap()];
    assert!(resumed.starts_with(kept), "rows that are there are not touched");
    let key = |csv: &str| {
        let pairs = column(csv, "file").into_iter().zip(column(csv, "method_name"));
        pairs.collect::<BTreeSet<_>>()
    };
    assert_eq!((key(&resumed), rows(&resumed).len()), (key(&whole), 6));
    let run_ids = column(&resumed, "run_id");
    assert!(run_ids.iter().all(|run_id| *run_id == run_ids[0]), "{run_ids:?}");
    let record = place.json("out.csv.run.json");
    assert_eq!(record["run_id"].as_str(), Some(&*run_ids[0]));
    assert_eq!(record["sessions"].as_array().unwrap().len(), 3);
    assert!(record["sessions"][0]["end"].is_object(), "{record:#}");
}

#[test]
fn other_settings_are_refused_with_the_difference() {
    let place = Dir::with_matrices(&[40, 30]);
    place.run(&words(""));
    let whole = place.read("out.csv");
    for (more, difference) in [
        ("--warmups 9", "warmups: 5, 9"),
        ("--x ones", "x: \"random\", \"ones\""),
        ("--order rcm", "cache\"], [\"f64, CPU, 1 thread, hot cache, order rcm\"]"),
        ("--order natural,rcm", "them: [], [\"f64, CPU, 1 thread, hot cache, order rcm\"]"),
        ("--methods merge,sell", "methods in only one of them: [], [\"sell\"]"),
        ("--no-expand", "expand: true, false"),
        ("--shard 1/2", "shard: 1/1, 1/2 (to continue, --shard 1/1)"),
        ("--timeout 7", "timeout: 900.0, 7.0"),
        ("--precision f32", "them: [\"f64, CPU, 1 thread, hot cache\"], [\"f32, CPU, 1 thread"),
    ] {
        let ran = place.run(&words(&format!("--resume {more}"))).exits(2);
        ran.says(difference);
        let message = "spmv-bench: out.csv was measured with different settings (first in the file, then now): ";
        assert!(ran.stderr.starts_with(message), "{ran:?}");
        assert_eq!(place.read("out.csv"), whole, "{more}");
    }
}

#[test]
fn files_that_cannot_be_resumed_are_refused() {
    let place = Dir::with_matrices(&[40]);
    place.run("corpus matrices --methods seq --resume").exits(2).says("--resume needs --output FILE");
    let json = words("--resume --format json").replace("out.csv", "out");
    place.run(&json).exits(2).says("--resume can continue files of --format csv only");
    place.run(&words(""));
    place.remove("out.csv.run.json");
    let reason = "cannot read the run record out.csv.run.json";
    place.run(&words("--resume")).exits(2).says(reason);
    // Duplicate rows.
    place.run(&words("--force"));
    let text = place.read("out.csv");
    place.write("out.csv", format!("{text}{}\n", text.lines().last().unwrap()));
    let twice = "out.csv: there are two rows of merge on matrices/m1.mtx";
    place.run(&words("--resume")).exits(2).says(twice);
    // A file of another program is not changed.
    let notes = "notes,\nunfinished";
    place.write("out.csv", notes);
    for more in ["", "--resume"] {
        let ran = place.run(&words(more));
        let message = "spmv-bench: out.csv:1: its columns are not those of result rows: ";
        assert!(ran.stderr.starts_with(message), "{ran:?}");
        assert_eq!(place.read("out.csv"), notes);
    }
}

/// What is unambiguous is continued, and stays as it is.
#[test]
fn a_file_that_another_program_saved_is_continued_or_refused_with_the_cure() {
    let place = Dir::with_matrices(&[40]);
    place.run(&words("")).exits(0);
    let text = place.read("out.csv");
    let kept = format!("{}\n", text.trim_end().rsplit_once('\n').unwrap().0);
    for kept in [format!("\u{feff}{kept}"), kept.replace(",false,", ",FALSE,")] {
        place.write("out.csv", &kept);
        place.run(&words("--resume")).exits(0).says("rows: 2 ok");
        let resumed = place.read("out.csv");
        assert!(resumed.starts_with(&kept) && resumed.lines().count() == 3, "{resumed}");
    }
    for (edited, cause) in [
        (text.replace('\n', "\r\n"), "out.csv:1: its lines end with CR LF: convert them to LF"),
        (text.replace(',', ";"), "out.csv:1: its columns are separated by semicolons: save it"),
    ] {
        place.write("out.csv", &edited);
        place.run(&words("--resume")).exits(2).says(cause);
        assert_eq!(place.read("out.csv"), edited);
    }
}

/// A matrix that cannot be measured has a row, and is read again: the file may have been repaired.
#[test]
fn matrices_without_results_have_a_row_too() {
    let place = Dir::with_matrices(&[40]);
    place.write("matrices/broken.mtx", "nothing\n");
    let one = "%%MatrixMarket matrix coordinate real general\n1 3 1\n1 2 5\n";
    place.write("matrices/one.mtx", one);
    place.run(&words("")).exits(1);
    let whole = place.read("out.csv");
    assert_eq!(column(&whole, "status"), ["failed", "skipped", "ok", "ok"]);
    let ran = place.run(&words("--resume")).exits(1);
    ran.says("3 matrices (1 not measured; 1 trivial ones skipped)");
    ran.says("to measure again what failed: spmv-bench corpus matrices");
    let again = place.read("out.csv");
    assert_eq!(column(&again, "status"), ["skipped", "ok", "ok", "failed"]);
    assert!(whole.contains(again.lines().nth(2).unwrap()), "rows that are there are not touched");
    place.write("matrices/broken.mtx", band(30));
    place.run(&words("--resume")).exits(0);
    assert_eq!(column(&place.read("out.csv"), "status"), ["skipped", "ok", "ok", "ok", "ok"]);
}

/// The folder is named in other ways, from another folder, and after it was moved.
#[test]
fn a_file_is_known_by_its_place() {
    let place = Dir::with_matrices(&[40, 30]);
    place.run(&words("")).exits(0);
    let whole = place.read("out.csv");
    symlink("matrices", place.path("link")).unwrap();
    fs::create_dir(place.path("sub")).unwrap();
    let absolute = place.path("matrices").display().to_string();
    let named = |folder: &str| words("--resume").replacen("matrices", folder, 1);
    for folder in ["./matrices/", "sub/../matrices", &absolute, "link", "matrices/m1.mtx ./matrices"] {
        place.run(&named(folder)).exits(0).says("rows: 4 ok");
        assert_eq!(place.read("out.csv"), whole, "{folder}");
    }
    let from_sub = named("../matrices").replace("out.csv", "../out.csv");
    let ran = place.program(&from_sub).current_dir(place.path("sub")).output();
    Ran::of(ran.unwrap()).exits(0).says("rows: 4 ok");
    fs::rename(place.path("matrices"), place.path("sub/moved")).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    place.write("out.csv", lines[..4].join("\n") + "\n");
    place.run(&named("sub/moved")).exits(0).says("rows: 4 ok");
    assert_eq!(column(&place.read("out.csv"), "file"), column(&whole, "file"));
}

/// A file of another size, and one of the same size that was written anew, are named. Their rows stay.
#[test]
fn a_file_that_has_changed_is_named() {
    let place = Dir::with_matrices(&[40, 30, 20]);
    place.run(&words("")).exits(0);
    let whole = place.read("out.csv");
    place.write("matrices/m1.mtx", band(50));
    let file = fs::File::options().append(true).open(place.path("matrices/m3.mtx")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    for _ in 0..2 {
        let ran = place.run(&words("--resume")).exits(0);
        let names = "matrices/m3.mtx, matrices/m1.mtx; these rows stay";
        ran.says(&format!("warning: 2 files changed (size or time) after the rows were measured: {names}"));
        assert_eq!(place.read("out.csv"), whole);
    }
}

/// Comparisons between methods include the methods that were measured before.
#[test]
fn a_row_measured_later_is_compared_with_the_earlier_ones() {
    let place = Dir::with_matrices(&[40]);
    let words = format!("corpus matrices {EXACT} csr-rows,merge,auto --output out.csv --resume");
    // Returns the row of `again` after a resumption, for this earlier time of csr-rows in milliseconds.
    let measured_again = |again: &str, csr_rows_ms: &str| {
        let others = edited(&place.read("out.csv"), |row| {
            if row["method_name"] == "csr-rows" {
                row.insert("median_ms".into(), csr_rows_ms.into());
            }
            row["method_name"] != again
        });
        place.write("out.csv", others);
        place.run(&words).exits(0);
        rows(&place.read("out.csv")).into_iter().find(|row| row["method_name"] == again).unwrap()
    };
    place.run(&words).exits(0);
    assert_eq!(measured_again("merge", "1e-9")["break_even"], "inf", "never");
    let merge = measured_again("merge", "1e9");
    let [setup, break_even] = ["setup_ms", "break_even"].map(|name| merge[name].parse::<f64>().unwrap());
    assert!(break_even > 0.0 && (break_even * 1e9 / setup - 1.0).abs() < 1e-3, "{merge:?}");
    let reason = measured_again("auto", "1e-9")["reason"].clone();
    assert!(reason.contains(" times the time of the fastest, csr-rows"), "{reason}");
}

/// Rows of two different matrices must not have the same file name.
#[test]
fn a_matrix_that_was_replaced_is_not_resumed() {
    let place = Dir::with_matrices(&[40, 30]);
    place.run(&words("")).exits(0);
    let text = place.read("out.csv");
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    place.write("out.csv", format!("{kept}\n"));
    place.write("matrices/m1.mtx", band(50));
    place.run(&words("--resume")).exits(1);
    let last = rows(&place.read("out.csv")).pop().unwrap();
    assert_eq!((&*last["status"], &*last["method_name"]), ("failed", ""));
    let expected = "the matrix is now 50 x 50 with 145 nonzeros, but its rows in the file belong to 40 x 40 with \
                    115 nonzeros; remove these rows to measure it again";
    assert_eq!(last["reason"], expected);
}

#[test]
fn rows_of_another_run_are_refused() {
    let place = Dir::with_matrices(&[40, 30]);
    place.run(&words(""));
    let run_id = column(&place.read("out.csv"), "run_id").remove(0);
    let edited = place.read("out.csv").replacen(&run_id, "another", 1);
    place.write("out.csv", &edited);
    for command in [words("--resume"), "merge out.csv".into()] {
        let ran = place.run(&command);
        let message = format!(
            "spmv-bench: out.csv: the row of seq on matrices/m2.mtx belongs to the run another and not to {run_id}; \
             remove it from the file\n"
        );
        assert_eq!(ran.exits(2).stderr, message, "{command}");
        assert_eq!(place.read("out.csv"), edited);
    }
}
