use super::env::Dir;
use super::{EXACT, SMALL};

const DATASETS: &str = r#"
matrix = [
    { id = "S/grid", rows = 9, cols = 9, nnz = 24, kind = "k", surrogate = "gen:grid2d,n=3" },
    { id = "S/wheel", rows = 4, cols = 4, nnz = 6, kind = "k", surrogate = "gen:wheel,spokes=3" },
    { id = "S/none", rows = 4, cols = 4, nnz = 6, kind = "k" },
    { id = "S/ring", rows = 4, cols = 4, nnz = 6, kind = "k", surrogate = "gen:ring" },
]

[set.two]
source = "this test"
members = ["S/wheel", "S/grid"]

[set.lacking]
source = "this test"
members = ["S/wheel", "S/none"]

[set.nothing]
source = "this test"
filter = "rows > 1e15"
"#;

#[test]
fn surrogates_are_named_one_by_one_or_by_set() {
    let dir = Dir::new(&[("my.toml", DATASETS)]);
    let csv = format!("--datasets DIR/my.toml {EXACT} --format csv");
    dir.run(&format!("--mtx surrogate:S/grid {csv}")).exits(0).prints("\nsurrogate:S/grid,9,9,24,");
    let mut names = dir.run(&format!("corpus surrogate:two {csv}")).exits(0).column("file");
    names.dedup();
    assert_eq!(names, ["surrogate:S/wheel", "surrogate:S/grid"]);
}

#[test]
fn matrices_without_a_surrogate_are_reported() {
    let dir = Dir::new(&[("my.toml", DATASETS)]);
    let unknown = "there is no set with matrices of this name, and no such";
    for (words, expected) in [
        ("--mtx surrogate:S/none", "S/none has no surrogate: "),
        ("corpus surrogate:lacking", "S/none has no surrogate: "),
        ("--mtx surrogate:S/ring", "the surrogate of S/ring"),
        ("--mtx surrogate:S/other", &format!("surrogate:S/other: {unknown}")),
        ("corpus surrogate:nothing", &format!("surrogate:nothing: {unknown}")),
        ("--mtx surrogate:two", "surrogate:two selects 2 matrices; `spmv-bench corpus surrogate:two`"),
    ] {
        dir.refuses(&[(&format!("{words} --datasets DIR/my.toml {EXACT}"), expected)]);
    }
}

/// Creates two copies of a folder in which matrices of different groups have the same name, and their results.
fn copies() -> Dir {
    let dir = Dir::new(&[]);
    // Two groups with a matrix of the same name, of which one has more rows.
    let groups = [("G1", SMALL.to_owned()), ("G2", SMALL.replace("\n3 4 4\n", "\n5 4 4\n"))];
    for copy in ["a", "copies/b"] {
        for (group, text) in &groups {
            for name in ["tiny", "tiny_b"] {
                dir.write(&format!("{copy}/MM/{group}/tiny/{name}.mtx"), text);
            }
        }
    }
    for (name, words) in [
        ("a.csv", "corpus DIR/a/MM DIR/a/MM/."),
        ("b.csv", "corpus DIR/copies/b/MM"),
        ("one.csv", "DIR/copies/b/MM/G2/tiny/tiny.mtx"),
        ("shard-1.csv", "corpus DIR/a/MM --shard 1/2"),
        ("shard-2.csv", "corpus DIR/a/MM --shard 2/2"),
        ("b-shard-1.csv", "corpus DIR/copies/b/MM --shard 1/2"),
        ("b-shard-2.csv", "corpus DIR/copies/b/MM --shard 2/2"),
    ] {
        let exact = format!("{EXACT} --no-bandwidth --format csv");
        let ran = dir.run(&format!("{words} {exact} -o DIR/{name}")).exits(0);
        let left_out = ran.stderr.matches("left out: ").count();
        assert_eq!(left_out, usize::from(words.starts_with("corpus")), "{ran:?}");
    }
    dir
}

/// Copies of a folder are compared by the paths below it.
#[test]
fn equal_names_in_different_groups_are_different_matrices() {
    let dir = copies();
    for files in [
        "DIR/a.csv",
        "DIR/b.csv",
        "DIR/a.csv DIR/b.csv DIR/one.csv",
        "DIR/shard-1.csv DIR/shard-2.csv",
        "DIR/shard-1.csv DIR/b-shard-1.csv DIR/shard-2.csv DIR/b-shard-2.csv",
    ] {
        dir.run(&format!("report {files} -o DIR/report.html --force")).exits(0);
        let page = dir.read("report.html");
        for part in [": 2 matrices, 3 methods.", "G1/tiny", "G2/tiny"] {
            assert!(page.contains(part), "{part} of {files}");
        }
    }
    for (b, pairs) in [("b.csv", &["G1/tiny", "G2/tiny"][..]), ("one.csv", &["G2/tiny"])] {
        let ran = dir.run(&format!("compare DIR/a.csv DIR/{b} --format csv"));
        let mut paired: Vec<_> = ran.stdout.lines().filter_map(|line| line.split_once(",seq,")).collect();
        paired.retain(|(_, rest)| rest.contains(",ok,ok,"));
        paired.sort_unstable();
        assert!(paired.iter().map(|(matrix, _)| matrix).eq(pairs), "{ran:?}");
    }
    let named = "DIR/a/MM/G1/tiny/tiny_b.mtx";
    dir.run(&format!("corpus DIR/a/MM {named} {EXACT} --format csv"))
        .prints(&format!("\n{named},"))
        .says("left out: 1 companion of a matrix (DIR/a/MM/G2/tiny/tiny_b.mtx)\n");
}

/// A file `.csv` has results, unless `--edges` says that it is an edge list.
#[test]
fn a_table_may_be_an_edge_list() {
    let dir = Dir::new(&[("a.csv", "source,target\n8000000000,2\n2,7\n"), ("k/out.k", "% sym\n1 2\n")]);
    let csv = format!("{EXACT} --format csv");
    dir.run(&format!("DIR/a.csv --edges directed,compact {csv}")).exits(0).prints("\nDIR/a.csv,3,3,2,");
    dir.run(&format!("corpus DIR/k {csv}")).exits(0).prints("\nDIR/k/out.k,2,2,2,");
    dir.refuses(&[("DIR/a.csv", "shows them; an edge list needs --edges")]);
}

/// In a folder with `ufl_mtx`, a downloaded matrix can be named as in the collection. For other matrices, the message
/// shows how to download them.
#[test]
fn a_matrix_of_the_collection_is_named_by_group_and_name() {
    let dir = Dir::new(&[("ufl_mtx/west0479.mtx", SMALL)]);
    let exact = format!("{EXACT} --format csv --no-cache --quiet");
    let run = |words: &str| dir.program(&format!("{words} {exact}"));
    for words in ["HB/west0479", "--mtx HB/west0479", "corpus HB/west0479"] {
        run(words).exits(0).prints("\nufl_mtx/west0479.mtx,3,4,4,");
    }
    for (words, mend) in [
        ("Williams/cant", "nor is it in ufl_mtx; `spmv-bench fetch Williams/cant` downloads it"),
        ("corpus Williams/cnat", "there is no such file or folder; did you mean Williams/cant"),
        ("X/unheard-of", "if it is a matrix of the SuiteSparse Matrix Collection, `spmv-bench"),
        ("csrk-64", "`spmv-bench fetch csrk-64` downloads the matrices of this set"),
    ] {
        run(words).exits(2).says(mend);
    }
}
