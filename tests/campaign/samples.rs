//! What `--samples` writes.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Command;

use zstd::stream::read::Decoder;

use super::*;

/// The program in the documents computes the times and intervals of the result file from the samples.
#[test]
fn times_and_intervals_follow_from_the_samples() {
    let place = Dir::with_matrices(&[]);
    let page = include_str!("../../docs/samples.md");
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let words = "corpus gen:grid2d,n=60,points=5 --methods seq,merge,csr-rows --max-time 0.05 --no-bandwidth --quiet \
                 --samples samples.csv --output out.csv";
    assert!(place.program(words).status().unwrap().success());
    let ran = Command::new("python3").args(["-c", program]).current_dir(place.path(".")).output();
    let ran = ran.unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let rows = rows(&place.read("out.csv"));
    assert_eq!((rows.len(), printed.lines().count()), (3, 3), "{printed}");
    for row in rows {
        let line = printed.lines().find(|line| line.split(' ').next() == Some(&row["method_name"]));
        let numbers = line.unwrap().split(' ').skip(1).map(|word| word.parse::<f64>().unwrap());
        for (found, column) in numbers.zip(["median_ms", "ci95_low_ms", "ci95_high_ms"]) {
            let expected: f64 = row[column].parse().unwrap();
            assert!((found / expected - 1.0).abs() < 1e-3, "{column}: {found} and {expected}\n{printed}");
        }
    }
}

/// The further processes of a matrix, which take the place of the last one, do not change the rounds of the next one.
#[test]
fn each_matrix_begins_with_the_same_rounds() {
    let place = Dir::with_matrices(&[300, 400]);
    let words = "corpus matrices --methods seq,merge --threads 1 --max-time 0.02 --rounds 9 --no-bandwidth --quiet \
                 --samples samples.csv --output out.csv";
    assert!(place.program(words).status().unwrap().success());
    let samples = rows(&place.read("samples.csv"));
    let rounds = |file: &str, process: u32| -> BTreeSet<String> {
        let is_meant = |row: &&BTreeMap<String, String>| {
            row["file"].ends_with(file) && row["process"] == process.to_string() && row["round"] != "0"
        };
        samples.iter().filter(is_meant).map(|row| row["round"].clone()).collect()
    };
    for file in ["m1.mtx", "m2.mtx"] {
        for (process, expected) in [(1, ["1", "2", "3"].as_slice()), (3, &["7", "8", "9"]), (4, &["10"])] {
            let expected = expected.iter().map(|round| (*round).to_owned()).collect();
            assert_eq!(rounds(file, process), expected, "process {process} of {file}");
        }
    }
}

/// It is read by any program that knows zstd, and an existing file is not replaced.
#[test]
fn samples_can_be_compressed_and_replace_nothing() {
    let place = Dir::with_matrices(&[9]);
    let words = format!("matrices/m1.mtx {EXACT} seq --samples s.csv.zst");
    let run = |words: &str| place.program(words).output().unwrap();
    assert!(run(&words).status.success());
    let mut text = String::new();
    let file = fs::File::open(place.path("s.csv.zst")).unwrap();
    Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    let counts = |line: &&str| line.contains(",seq,f64,cpu,1,hot,natural,") && line.ends_with(",true");
    assert_eq!(text.lines().filter(counts).count(), 20);
    let refused = run(&words);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && error.contains("already exists"), "{error}");
}
