use std::fs;
use std::path::Path;
use std::process::Command;

use super::env::{Dir, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const END: &str = "<!-- end -->\n";
const RUNS: &str = "results/sc16-fig10";

/// `spmv-bench reproduce --documents` writes them.
#[test]
fn the_documents_state_what_the_newest_records_have() {
    let ran = run(&format!("reproduce --documents {ROOT} --check"));
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), ""), "{}", ran.stderr);
}

/// Returns the newest measured record of an experiment.
fn newest() -> String {
    let runs = Path::new(ROOT).join(RUNS).read_dir().unwrap();
    let names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    format!("{RUNS}/{}", names.filter(|name| !name[10..].starts_with("-model-")).max().unwrap())
}

/// A folder with this record and a page.
fn documents(page: &str) -> Dir {
    let run = newest();
    let dir = Dir::new(&[("README.md", "# Nothing\n"), ("docs/page.md", page)]);
    fs::create_dir_all(dir.path(RUNS)).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").args([&Path::new(ROOT).join(&run), &dir.path(&run)]);
    assert!(copy.status().unwrap().success());
    dir
}

#[test]
fn blocks_follow_the_newest_record() {
    let (run, view) = (newest(), "Speedup of merge over MKL, panels (a) and (b)");
    let blocks = [
        "verdicts sc16-*".to_owned(),
        "counts".to_owned(),
        format!("view sc16-fig10 \"{view}\""),
        format!("figure sc16-fig10 {view}"),
        "verdicts hola-*".to_owned(),
    ];
    let page = blocks.map(|words| format!("\n<!-- record: {words} -->\n{END}")).concat();
    let dir = documents(&format!("# Page\n{page}The end.\n"));
    let check = || dir.run("reproduce --documents DIR --check");
    let ran = check().exits(1);
    let places = ran.stdout.lines().map(|line| line.split(": ").next().unwrap());
    assert!(places.eq([3, 6, 9, 12, 15].map(|line| format!("docs/page.md:{line}"))), "{ran:?}");
    dir.run("reproduce --documents DIR").exits(0);
    assert_eq!(check().exits(0).stdout, "");
    let text = dir.read("docs/page.md");
    for part in [
        "**sc16-fig10**: ",
        &format!("[{}](../{run}/report.md), ", &run[RUNS.len() + 1..][..10]),
        "of our merge as published over MKL",
        "| merge-spmv-sc16 ",
        &format!("![{view}](../{RUNS}/"),
        "No claim of `hola-*` has been judged yet.",
        "\nThe end.\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Without a matrix the verdicts change, and perhaps how many hold; in a newer run all blocks but the last.
    let rows = dir.read(&format!("{run}/rows.csv"));
    let fewer = rows.split_inclusive('\n').filter(|row| !row.contains("cnr-2000"));
    dir.write(&format!("{run}/rows.csv"), fewer.collect::<String>());
    assert!((1..=2).contains(&check().exits(1).stdout.lines().count()));
    fs::rename(dir.path(&run), dir.path(&format!("{RUNS}/2099-01-01-newer"))).unwrap();
    assert!((3..=4).contains(&check().exits(1).stdout.lines().count()));
}

#[test]
fn blocks_that_cannot_be_made_are_named() {
    for (words, end, expected) in [
        ("tables", END, "docs/page.md: line 2: tables: a block is one of verdicts, "),
        ("counts", "", "docs/page.md: line 2: counts: the block has no line <!-- end -->"),
        ("verdicts sc16-fig66", END, "there is no experiment sc16-fig66"),
        ("view sc16-fig9 Speed", END, "view sc16-fig9 Speed: no newest report shows it"),
        ("view sc16-fig10 Spede", END, "view sc16-fig10 Spede: no newest report shows it"),
        ("methods corpus.csv", END, "there is no results/cpu-*/corpus.csv"),
    ] {
        let dir = documents(&format!("# Page\n<!-- record: {words} -->\n{end}"));
        dir.refuses(&[("reproduce --documents DIR", expected)]);
    }
}
