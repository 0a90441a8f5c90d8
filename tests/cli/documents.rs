use std::fs;
use std::path::Path;
use std::process::Command;

use crate::env::{Dir, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const END: &str = "<!-- end -->\n";
const RUN: &str = "results/csrk-fig6/2026-11-21-amd-epyc-2-cores";

/// `spmv-bench reproduce --documents` writes them.
#[test]
fn the_documents_state_what_the_newest_records_have() {
    let ran = run(&format!("reproduce --documents {ROOT} --check"));
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), ""), "{}", ran.stderr);
}

/// A folder with the record of an experiment and a page.
fn documents(page: &str) -> Dir {
    let dir = Dir::new(&[("README.md", "# Nothing\n"), ("docs/page.md", page)]);
    fs::create_dir_all(dir.path(RUN).parent().unwrap()).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").args([&Path::new(ROOT).join(RUN), &dir.path(RUN)]);
    assert!(copy.status().unwrap().success());
    dir
}

#[test]
fn blocks_follow_the_newest_record() {
    let view = "Regular matrices, f64: GFLOP/s, with means";
    let blocks = [
        "verdicts csrk-*".to_owned(),
        "counts".to_owned(),
        format!("view csrk-fig6 \"{view}\""),
        format!("picture csrk-fig6 {view}"),
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
        "**csrk-fig6**: ",
        &format!("[2026-11-21](../{RUN}/report.md), AMD EPYC, 2 cores, revision "),
        "our CSR5 is faster than our CSR-2 on debr",
        "| csr-k ",
        "![Regular matrices, f64: GFLOP/s, with means](../results/csrk-fig6/",
        "No claim of `hola-*` has been judged yet.",
        "\nThe end.\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A row less changes the verdicts, and a newer run all blocks but the last.
    let rows = dir.read(&format!("{RUN}/rows.csv"));
    let fewer = rows.split_inclusive('\n').filter(|row| !row.contains("debr"));
    dir.write(&format!("{RUN}/rows.csv"), fewer.collect::<String>());
    assert_eq!(check().exits(1).stdout.lines().count(), 2);
    fs::rename(dir.path(RUN), dir.path("results/csrk-fig6/2026-11-22-amd-epyc-2-cores")).unwrap();
    assert_eq!(check().exits(1).stdout.lines().count(), 4);
}

#[test]
fn blocks_that_cannot_be_made_are_named() {
    for (words, end, expected) in [
        ("tables", END, "docs/page.md: line 2: tables: a block is one of verdicts, "),
        ("counts", "", "docs/page.md: line 2: counts: the block has no line <!-- end -->"),
        ("verdicts csrk-fig66", END, "there is no experiment csrk-fig66"),
        ("view csrk-fig5 Speed", END, "view csrk-fig5 Speed: no newest report shows it"),
        ("view csrk-fig6 Spede", END, "view csrk-fig6 Spede: no newest report shows it"),
        ("methods corpus.csv", END, "there is no results/cpu-*/corpus.csv"),
    ] {
        let dir = documents(&format!("# Page\n<!-- record: {words} -->\n{end}"));
        dir.refuses(&[("reproduce --documents DIR", expected)]);
    }
}
