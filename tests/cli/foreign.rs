//! Result files that went through other programs: compressed, joined by `cat`, or in another format.

use super::env::Dir;
use super::{EXACT, SMALL};
use crate::support::gzip;

fn measured() -> Dir {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    for name in ["a.csv", "a.json"] {
        dir.run(&format!("corpus DIR/a.mtx {EXACT} --no-bandwidth -o DIR/{name}")).exits(0);
    }
    dir
}

#[test]
fn compressed_rows_and_json_are_read_like_the_csv() {
    let dir = measured();
    let text = dir.read("a.csv");
    // The width of tables depends on the name of the file.
    let report = |name: &str| {
        let shown = dir.run(&format!("report DIR/{name}")).exits(0).stdout.replace(name, "a.csv");
        let words = shown.split_whitespace().filter(|word| !word.starts_with(['─', '═']));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    dir.write("a.csv.gz", gzip(text.as_bytes()));
    dir.write("a.csv.zst", zstd::encode_all(text.as_bytes(), 0).unwrap());
    for name in ["a.csv.gz", "a.csv.zst", "a.json"] {
        assert_eq!(report(name), report("a.csv"));
        let ran = dir.run(&format!("compare DIR/a.csv DIR/{name}")).exits(0);
        assert!(!ran.stderr.contains("warning"), "{ran:?}");
    }
    assert_eq!(dir.words(&dir.run("merge DIR/a.csv.gz").exits(0).stdout), text);
    dir.write("a.csv.gz", b"\x1f\x8b\x08\0broken");
    let why = "a run record and the JSON of Google Benchmark have no rows; use ";
    dir.refuses(&[
        ("report DIR/a.csv.gz", "cannot read DIR/a.csv.gz: the gzip data end too early"),
        ("report DIR/a.csv.run.json", why),
    ]);
}

#[test]
fn rows_that_are_twice_in_a_file_are_named() {
    let dir = measured();
    dir.write("twice.csv", dir.read("a.csv").repeat(2));
    let left_out = "Left out because the same run has an earlier row of the same matrix and method: 3";
    dir.run("report DIR/twice.csv").exits(0).prints(left_out);
    let [two, resume] = ["compare DIR/twice.csv DIR/a.csv", "--resume -o DIR/twice.csv"];
    dir.write("twice.csv.run.json", dir.read("a.csv.run.json"));
    dir.refuses(&[
        (two, "twice.csv contains two rows of seq on DIR/a.mtx"),
        (&format!("{two} -- DIR/a.csv"), "twice.csv contains two rows of seq on DIR/a.mtx; put"),
        (&format!("corpus DIR/a.mtx {EXACT} {resume}"), "there are two rows of seq on DIR/a.mtx"),
    ]);
}
