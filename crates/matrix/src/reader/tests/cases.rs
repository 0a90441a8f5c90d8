//! Texts and what is read from them, in the files of `tests/cases`: a line per case with the name of a file, the words
//! of `--edges` if there are any, the text, and the matrix or the message. `UPDATE_EXPECT=1` writes what is read.

use std::fs;
use std::path::Path;

use expect_test::expect_file;

use super::{CHUNKS, Options, gzip, read_within, shown};
use crate::memory::ReadBounds;

#[test]
fn texts_are_read_as_the_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let cases = fs::read_to_string(&path).unwrap();
        let found: String = cases.lines().map(case).collect();
        expect_file![path].assert_eq(&found);
    }
}

/// Returns a line with what is read from its text.
fn case(line: &str) -> String {
    let (given, _) = line.split_once(" => ").unwrap();
    let (file, text) = given.split_once(": ").unwrap();
    let (name, edges) = file.split_once(' ').unwrap_or((file, "undeclared"));
    let options = Options::new(true, edges.parse().ok());
    format!("{given} => {}\n", read_in_every_way(name, &unescaped(text), options))
}

/// Reads a text with every chunk size and 1 to 3 threads, plain and compressed. All results must be equal. One thread
/// reads the formats other than Matrix Market, so that for them one way is enough.
fn read_in_every_way(name: &str, text: &[u8], options: Options) -> String {
    let ways = if name == "a.mtx" { CHUNKS.len() } else { 1 };
    let compressed = gzip(text);
    let mut found = Vec::new();
    for threads in 1..=ways.min(3) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for &chunk in &CHUNKS[..ways] {
            for contents in [text, &compressed] {
                let options = Options { chunk, ..options };
                let read = || read_within(name, contents, &options, ReadBounds::NONE);
                let read = pool.install(read);
                assert!(read.as_ref().map_or(0, |read| read.text_bytes) as usize <= text.len());
                found.push(shown(&read));
            }
        }
    }
    assert!(found.iter().all(|shown| *shown == found[0]), "{found:#?}");
    found.swap_remove(0)
}

/// Returns a text with the bytes that `\n`, `\r`, `\t`, `\\` and `\xff` stand for.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let (byte, length) = match more {
            _ if *first != b'\\' => (*first, 1),
            [b'n', ..] => (b'\n', 2),
            [b'r', ..] => (b'\r', 2),
            [b't', ..] => (b'\t', 2),
            [b'\\', ..] => (b'\\', 2),
            [b'x', ..] => (u8::from_str_radix(&text[text.len() - rest.len()..][2..4], 16).unwrap(), 4),
            _ => panic!("an unknown escape in {text}"),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes
}
