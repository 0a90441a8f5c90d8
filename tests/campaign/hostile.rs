//! Tests with hostile text in file names, matrix comments and result files, which must not reach a terminal, a
//! spreadsheet, a browser or LaTeX unescaped.

use std::fs;
use std::process::{Command, Stdio};

use crate::{Dir, EXACT, column, edited, skip};

/// A file name that changes the window's title and the colour, moves the cursor up, and reverses the text direction.
const NAME: &str = "matrices/a\u{1b}]0;owned\u{7}\u{1b}[31m\u{1b}[1A\u{9b}2J\u{202e}.mtx";
/// A file name, and a kind of matrices, with what documents and spreadsheets would interpret.
const MARKED: &str = "matrices/'=1+1\\ {}$&#^_~%<b>\"'|`[x](y)*c*```<i>\u{1b}[31m\u{9b}2J\u{202e}\r\t@.mtx";
const KIND: &str = "[=cmd|' /C calc'!A0]</script><b>\\input{x}&#0;```<i>";

fn place() -> Dir {
    let place = Dir::with_matrices(&[30]);
    fs::rename(place.path("matrices/m1.mtx"), place.path(NAME)).unwrap();
    place
}

fn assert_harmless(what: &str, text: &str) {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    assert!(!text.contains(obeyed), "{what}: {text:?}");
}

#[test]
fn a_terminal_receives_no_control_characters() {
    let place = place();
    let ran = |words: &str| place.run(&words.replace('~', NAME));
    let quick = "--methods seq --no-bandwidth --max-time 0.001 --rounds 1";
    let csv = ran(&format!("corpus matrices --output a.csv {quick}")).exits(0);
    assert_harmless("the summary of corpus", &csv.stderr);
    assert_eq!(column(&place.read("a.csv"), "file"), [NAME], "a CSV is exact");
    let text = ran(&format!("--mtx ~ {quick}"));
    text.prints("matrices/a\\u{1b}]0;owned");
    assert_harmless("the text report", &text.stdout);
    for words in ["report a.csv", "compare a.csv a.csv", "merge ~"] {
        let shown = ran(words);
        assert_harmless(words, &(shown.stdout + &shown.stderr));
    }
    place.write(NAME, "%%MatrixMarket matrix\n");
    for words in ["--mtx ~", "corpus matrices", "~", "--threads ~", "--threads \u{1b}[31mx"] {
        assert_harmless(words, &ran(&format!("{words} {quick}")).stderr);
    }
    for column in ["device", "precision", "status", "cache", "order", "threads", "avg_spmv_ms"] {
        let of = |name| if name == column { "\u{1b}[31mX\u{9b}" } else { "" };
        let columns = "file,method_name,run_id,device,precision,status,cache,order,threads,avg_spmv_ms";
        let cells: Vec<_> = columns.split(',').map(of).collect();
        place.write("a.csv", format!("{columns}\n{}\n", cells.join(",")));
        for words in ["report a.csv", "compare a.csv a.csv", "methods --results a.csv"] {
            let shown = ran(words).exits(2);
            shown.says("\\u{1b}[31mX\\u{9b}");
            assert_harmless(column, &shown.stderr);
        }
    }
}

/// Asserts that LaTeX shows the text as it is: without the commands of this program, nothing is left to interpret.
fn assert_latex(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with(['%', '\\'])) {
        let [mut rest, line] = [line.trim_end_matches(r" \\"), line].map(String::from);
        let words = r"\textbackslash{} \textasciitilde{} \textasciicircum{} \textbf{ \{ \} \# \$ \% \& \_ {[} {]} {*}
                      $\times$ $\pm$ $<$ $>$";
        words.split_whitespace().for_each(|word| rest = rest.replace(word, ""));
        let rest = rest.replace(" & ", "");
        assert!(!rest.contains(|letter| r"\{$&#^_~%[*".contains(letter)), "{line}: {rest}");
        assert_eq!(rest.matches('}').count(), line.matches(r"\textbf{").count(), "{line}");
    }
}

/// Asserts that all tags and bars of the names are escaped. A table has as many columns in each line.
fn assert_markdown(text: &str) {
    for mark in ["<b>", "<i>", "</script>", "[x]", "&#0"] {
        let mut places = text.match_indices(mark);
        assert!(places.all(|(place, _)| text[..place].ends_with('\\')), "{mark}: {text}");
    }
    let columns = |line: &&str| line.replace(r"\\", "").replace(r"\|", "").matches('|').count();
    for table in text.split("\n\n").filter(|block| block.starts_with("| ")) {
        let lines: Vec<_> = table.lines().collect();
        assert!(lines.iter().all(|line| columns(line) == columns(&lines[0])), "{table}");
    }
}

fn assert_html(text: &str) {
    assert!(["<b>", "<i>"].iter().all(|tag| !text.contains(tag)), "{text}");
    assert!(text.matches("script>").count() <= 2, "{text}");
}

/// Creates a folder with the results of a marked matrix in every format. Data have its name and its kind as they are.
fn marked() -> Dir {
    let place = Dir::with_matrices(&[30]);
    fs::rename(place.path("matrices/m1.mtx"), place.path(MARKED)).unwrap();
    let matrix = fs::read_to_string(place.path(MARKED)).unwrap();
    place.write(MARKED, matrix.replacen('\n', &format!("\n% kind: {KIND}\n"), 1));
    for (format, file) in [
        ("csv", "a.csv"),
        ("json", "a.json"),
        ("md", "a.md"),
        ("latex", "a.tex"),
        ("text", "a.txt"),
        ("lines", "lines.txt"),
        ("ginkgo", "ginkgo.json"),
        ("google-benchmark", "google.json"),
    ] {
        let words = format!("corpus matrices {EXACT} seq --format {format} --output {file}");
        place.run(&words).exits(0);
    }
    let csv = place.read("a.csv");
    let [file, kind] = ["file", "kind"].map(|name| column(&csv, name).remove(0));
    // In names of files a backslash is two, and others may hold bytes that are not UTF-8.
    let marked = MARKED.replace('\\', r"\\");
    assert_eq!([file.replace("'@", "@"), kind], [&marked, KIND], "a CSV is exact");
    let [json, ginkgo, google] = ["a.json", "ginkgo.json", "google.json"].map(|file| place.json(file));
    assert_eq!([&json["file"], &ginkgo[0]["filename"]], [marked.as_str(); 2]);
    assert_eq!([&json["kind"], &ginkgo[0]["problem"]["kind"]], [KIND, KIND]);
    let name = google["benchmarks"][0]["name"].as_str().unwrap();
    assert!(marked.contains(name.split("/seq/").next().unwrap()), "{name}");
    assert_eq!(place.read("lines.txt").lines().count(), 1);
    place
}

/// Adds rows of another program, whose methods, reasons and runs have such names too.
fn add_rows(place: &Dir) {
    let row = |status: &str| {
        let hostile = edited(&place.read("a.csv"), |row| {
            let all = ["method_name", "reason", "run_id", "library_version"];
            row.extend(all.map(|column| (column.to_owned(), KIND.to_owned())));
            row.extend([("status".to_owned(), status.to_owned())]);
            *row.get_mut("method_name").unwrap() += status;
            true
        });
        String::from_utf8(hostile).unwrap()
    };
    let failed = row("failed");
    place.write("b`<i>.csv", row("ok") + failed.split_once('\n').unwrap().1);
    place.write("b`<i>.csv.run.json", format!("{{\"run_id\": {KIND:?}, \"system\": {{\"cpu\": {KIND:?}}}}}"));
}

/// Each output form of a run and of its results is harmless in its own way.
#[test]
fn every_output_form_is_harmless() {
    let place = marked();
    add_rows(&place);
    for (words, file) in [
        ("report a.csv b`<i>.csv -o report", "report/report.html"),
        ("report a.csv b`<i>.csv -o r.html", "r.html"),
        ("report a.csv b`<i>.csv -o r.md", "r.md"),
        ("report a.csv b`<i>.csv -o r.tex", "r.tex"),
        ("report a.csv -o r.svg --chart heat", "r.svg"),
        ("compare b`<i>.csv b`<i>.csv -o c.tex", "c.tex"),
        ("compare b`<i>.csv b`<i>.csv -o c.csv", "c.csv"),
        ("compare b`<i>.csv b`<i>.csv -o c.txt", "c.txt"),
    ] {
        place.run(words).exits(0);
        assert!(place.path(file).exists(), "{words}");
    }
    for entry in walkdir::WalkDir::new(place.path("")).max_depth(2).into_iter().map(Result::unwrap) {
        let name = entry.file_name().to_str().unwrap();
        let is_matrix = name.contains(".mtx");
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        match name.rsplit_once('.').map_or("", |(_, end)| end) {
            _ if is_matrix || !entry.file_type().is_file() => continue,
            "md" => assert_markdown(&text),
            "tex" => assert_latex(&text),
            "html" | "svg" => assert_html(&text),
            "txt" => (),
            _ => continue,
        }
        assert_harmless(name, &text);
    }
    for cell in column(&place.read("c.csv"), "method_name") {
        assert!(!cell.starts_with('='), "{cell}");
    }
}

/// The command `script` records the output to a terminal.
#[test]
fn rows_on_a_terminal_are_escaped() {
    let place = place();
    let program = env!("CARGO_BIN_EXE_spmv-bench");
    let words = format!("{program} corpus matrices {EXACT} seq --quiet");
    let typed = Command::new("script")
        .args(["--quiet", "--return", "--command", &words, "/dev/null"])
        .current_dir(place.path(""))
        .env("SPMV_BENCH_CACHE", place.path("cache"))
        .stdin(Stdio::null())
        .output();
    let Ok(typed) = typed else { return skip("there is no `script` to have a terminal of") };
    let text = String::from_utf8_lossy(&typed.stdout).replace('\r', "");
    assert!(text.contains("matrices/a\\u{1b}]0;owned"), "{text:?}");
    assert_harmless("rows", &text);
}

/// A kind that is a formula is escaped in the files, and unescaped when the files are read.
#[test]
fn a_spreadsheet_receives_no_formulas() {
    let place = Dir::with_matrices(&[]);
    let text = "%%MatrixMarket matrix coordinate real general\n% kind: =cmd|' /C calc'!A0\n2 2 2\n1 1 1\n2 1 3\n";
    place.write("matrices/=1+1.mtx", text);
    place.run(&format!("corpus matrices {EXACT} seq --output a.csv")).exits(0);
    assert_eq!(column(&place.read("a.csv"), "kind"), ["'=cmd|' /C calc'!A0"]);
    let compared = place.run("compare a.csv a.csv --format csv");
    assert_eq!(compared.column("matrix"), ["'=1+1"], "{compared:?}");
    // Reading and writing the file again does not add further apostrophes.
    let before = place.read("a.csv");
    assert_eq!(place.run("merge a.csv").exits(0).stdout, before);
}
