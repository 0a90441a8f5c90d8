use super::super::super::ReadMatrix;
use super::super::super::tests::triplets;
use super::super::tests::read_file;
use super::Edges;

/// Returns `ROWSxCOLUMNS ROW,COLUMN,VALUE …` with indices from 0, or the message.
fn shown(read: &Result<ReadMatrix, String>) -> String {
    let Ok(market) = read else { return read.as_ref().unwrap_err().clone() };
    let entries = triplets(&market.csr);
    let entries = entries.iter().map(|(row, col, value)| format!(" {row},{col},{value}"));
    format!("{}x{}{}", market.csr.rows, market.csr.cols, entries.collect::<String>())
}

/// Compares what is read from texts with `MATRIX`, `MATRIX | PART OF REMARKS` or the beginning of the message. Before a
/// text is `NAME` or `NAME EDGES`.
#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (file, text, expected) in cases {
        let (name, edges) = file.split_once(' ').unwrap_or((file, ""));
        let read = read_file(name, text.as_bytes(), edges);
        let (matrix, remark) = expected.split_once(" | ").unwrap_or((expected, ""));
        let found = shown(&read);
        let is_same = if read.is_ok() { found == matrix } else { found.starts_with(matrix) };
        assert!(is_same, "{text}: {found}");
        let remarks = read.map_or(String::new(), |market| market.remarks.join("\n"));
        assert!(remarks.contains(remark), "{text}: {remarks}");
        assert!(!remark.is_empty() || remarks.is_empty(), "{text}: {remarks}");
    }
}

const GUESS_0: &str = "the edge list was read as directed,base=0, because the file does not say it";

#[test]
fn lists_of_edges_mean_what_is_declared() {
    let guessed = |words: &str| {
        format!(
            "the edge list was read as {words}, because the file does not say it; --edges declares it"
        )
    };
    for (text, edges, size, count, remark) in [
        ("0 1\n1 2\n", "", (3, 3), 2, guessed("directed,base=0")),
        ("1 2\n2 3\n", "", (3, 3), 2, guessed("directed,base=1")),
        ("1 2\n2 3\n", "base=0", (4, 4), 2, guessed("directed")),
        ("1 2\n2 2\n", "undirected,base=1", (2, 2), 3, String::new()),
        ("1 2\n1 3\n", "bipartite,base=1", (1, 3), 2, String::new()),
        ("# Undirected graph: a\n1,2,5\n", "", (2, 2), 2, guessed("base=1")),
        ("% asym unweighted\n% 1 4 4\n1 2\n", "", (4, 4), 1, String::new()),
        ("% asym unweighted\n1 2\n", "undirected", (2, 2), 2, String::new()),
        ("# empty\n", "directed", (0, 0), 0, String::new()),
        ("# empty\n", "directed,base=0", (0, 0), 0, String::new()),
    ] {
        let market = read_file("a.edges", text.as_bytes(), edges).unwrap();
        let csr = &market.csr;
        assert_eq!(((csr.rows, csr.cols), csr.nnz()), (size, count), "{text} {edges}");
        assert_eq!(market.remarks.concat(), remark, "{text} {edges}");
    }
    assert!(read_file("a.dat", b"1 2\n", "base=1").is_ok(), "declared, whatever the name");
    for (words, expected) in [
        ("directed,undirected", "'undirected' contradicts a word before it"),
        ("compact,base=1", "'base=1' contradicts a word before it"),
        (
            "base=2",
            "'base=2' is not one of directed, undirected, bipartite, base=0, base=1, compact",
        ),
    ] {
        assert_eq!(words.parse::<Edges>(), Err(expected.to_owned()));
    }
    let words = "undirected,compact";
    assert_eq!(words.parse::<Edges>().unwrap().to_string(), words);
}

#[test]
fn comments_are_understood_as_whole_words() {
    let guess = "the edge list was read as directed,base=1";
    check(&[
        ("a.edges", "% symptom count\n1 4 12\n2 3 3\n", &format!("4x4 0,3,12 1,2,3 | {guess}")),
        ("a.edges", "% symbol table\n1 2 3.0\n", &format!("2x2 0,1,3 | {guess}")),
        ("a.edges", "% sym signed times\n1 2\n", &format!("2x2 0,1,1 | {guess}")),
        ("a.edges", "% no KONECT\n% sym\n1 2\n", &format!("2x2 0,1,1 | {guess}")),
        ("a.edges", "% bipartite double\n1 2\n2 3\n", &format!("3x3 0,1,1 1,2,1 | {guess}")),
        ("a.edges", "% 2024 10 31\n1 2\n", &format!("2x2 0,1,1 | {guess}")),
        ("a.edges", "% rows cols nnz\n% 4 4 2\n1 2\n2 1\n", &format!("2x2 0,1,1 1,0,1 | {guess}")),
        ("a.edges", "# Undirected graphs\n1 2\n", &format!("2x2 0,1,1 | {guess}")),
        ("a.edges base=1", "# Undirected graph (each pair once)\n1 2\n", "2x2 0,1,1 1,0,1"),
        ("a.edges", "%\tbip\tposweighted\n% 1 2 3\n1 2 5\n", "2x3 0,1,5"),
        ("out.a", "% sym\n2 1\n1 1\n", "2x2 0,0,1 0,1,1 1,0,1"),
        (
            "a.edges",
            "% asym positive\n% 5 4 4\n1 2\n",
            "2x2 0,1,1 | its second line states 5 edges, but 1 follow",
        ),
    ]);
}

#[test]
fn a_first_line_with_sizes_is_no_edge() {
    let pair = "line 1, `5 6`, was read as the numbers of nodes and edges";
    let guess = "directed,base=1";
    let read = "5x5 0,1,1 0,2,1 1,2,1 2,3,1 3,4,1 4,0,1";
    check(&[
        ("a.edges", "5 6\n1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n", &format!("{read} | {pair}")),
        ("a.el", "# n m\n5 6\n0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n", &format!("{read} | 2, `5 6`")),
        ("a.el", "7 2\n1 2\n2 3\n", "7x7 0,1,1 1,2,1 | `7 2`, was read"),
        ("a.el", "3 4 2\n1 4\n3 1\n", "3x4 0,3,1 2,0,1 | the numbers of rows, columns and edges"),
        ("a.el undirected", "3 3 2\n1 2\n3 1\n", "3x3 0,1,1 0,2,1 1,0,1 2,0,1 | `3 3 2`"),
        ("a.el", "3 3 2\n1 2 0.5\n3 1 7\n", "3x3 0,1,0.5 2,0,7 | `3 3 2`"),
        ("a.el directed,compact", "9 2\n1 2\n2 9\n", "3x3 0,1,1 1,2,1 | `9 2`"),
        // The numbers of edges or nodes are others, or KONECT states them in its second line.
        ("a.el", "5 3\n1 2\n2 1\n", &format!("5x5 0,1,1 1,0,1 4,2,1 | {guess}")),
        ("a.el", "2 2\n1 2\n3 1\n", &format!("3x3 0,1,1 1,1,1 2,0,1 | {guess}")),
        ("a.el", "% asym\n3 2\n1 2\n2 3\n", "3x3 0,1,1 1,2,1 2,1,1"),
        ("a.el", "3 3 3\n1 2\n", "a.el:2: this edge has no weight, unlike those before it"),
        ("a.el", "1 3\n1 2 4\n", "a.el:2: this edge has a weight, unlike those before it"),
        ("a.el", "2000000000 1\n1 2\n", "a.el:1: 2000000000 nodes are too many for 1 edges"),
    ]);
}

#[test]
fn columns_may_have_names_and_quotes() {
    let names = "line 1 was skipped as the names of its columns: source,target,weight";
    let read = format!("3x3 0,1,0.5 1,2,1.5 | {names}");
    let table = "source,target,weight\n1,2,0.5\n2,3,1.5\n";
    let guess = "directed,base=1";
    check(&[
        ("a.edges", table, &read),
        ("a.csv directed", table, &read),
        ("a.csv directed", &table.replace(',', ";"), &read),
        ("a.csv directed", &format!("\u{feff}{table}"), &read),
        ("a.tsv", &format!("# a\n\n{}", table.replace(',', "\t")), "3x3 0,1,0.5 1,2,1.5 | line 3"),
        ("a.csv directed,base=1", "\u{feff}1,2\n", "2x2 0,1,1"),
        ("a.edges", "\"1\",\"2\"\n\"2\",\"3\"\n", &format!("3x3 0,1,1 1,2,1 | {guess}")),
        ("a.csv directed", "id,source,target\n1,1,2\n", "a.csv:1: column 2 has the name source"),
        ("a.csv directed", "to,from\n1,2\n", "a.csv:1: column 1 has the name to: the columns"),
        ("a.edges", "source,target\n", "a.edges:1: `source,target` is no edge list: it has only"),
        ("a.edges", "ann bob\nbob cid\n", "a.edges:2: the first node must be a whole number of"),
        ("a.edges", ",source,target\n0,1,2\n", "a.edges: this is a table whose first column has"),
        ("a.edges", "\"\",\"from\",\"to\"\n\"1\",1,2\n", "a.edges: this is a table whose first"),
        ("a.csv", table, "a.csv:1: the first line must be like `%%MatrixMarket matrix coordinate"),
    ]);
    let error = read_file("a.csv", table.as_bytes(), "").unwrap_err();
    assert!(
        error.ends_with("an edge list needs a name that ends in .el, .edges or .txt, or --edges")
    );
}

#[test]
fn attributes_of_networkx_are_read() {
    let left_out = "what follows the weights of its edges (times, for example) was left out";
    check(&[
        ("a.edgelist", "0 1 {}\n1 2 {}\n2 0 {}\n", &format!("3x3 0,1,1 1,2,1 2,0,1 | {GUESS_0}")),
        (
            "a.edgelist",
            "0 1 {'weight': 2.5}\n1 2 {'weight': np.float64(1.0)}\n",
            &format!("3x3 0,1,2.5 1,2,1 | {GUESS_0}"),
        ),
        (
            "a.edgelist",
            "0,1,{'color': 'red', 'weight': 2, 'a': 1}\n",
            &format!("2x2 0,1,2 | {left_out}"),
        ),
        ("a.edgelist", "0 1 {'my weight': 3}\n", &format!("2x2 0,1,1 | {left_out}")),
        (
            "a.edgelist",
            "0 1 {'weight': 2.5}\n1 2 {}\n",
            "a.edgelist:2: this edge has no weight, unlike those before it; `networkx.write_weighted",
        ),
        ("a.edgelist", "0 1 {'weight': None}\n", "a.edgelist:1: value `None` is not a number"),
        ("a.edgelist", "0 1 {'a': 1\n", "a.edgelist:1: the attributes of the edge do not end with"),
    ]);
}

#[test]
fn nodes_have_whole_numbers_of_any_size() {
    let large = "# Directed graph\n123456789012 5\n5 123456789013\n";
    let guess = "directed,base=1";
    check(&[
        (
            "a.txt",
            "  1.0000000e+00  1.0e+00  5.0e+00\n  2.0e+00  1e0 -1.0e+00\n",
            &format!("2x2 0,0,5 1,0,-1 | {guess}"),
        ),
        (
            "a.el",
            "2.5 1\n",
            "a.el:1: the first node must be a whole number of at least 0, not `2.5`; a",
        ),
        (
            "a.el",
            "-1 1\n",
            "a.el:1: the first node must be a whole number of at least 0, not `-1`; `pandas",
        ),
        (
            "a.el",
            large,
            "a.el:2: the first node `123456789012` is larger than 2147483647; --edges compact",
        ),
        ("a.el compact", large, "3x3 0,2,1 1,0,1"),
        ("a.el bipartite,compact", large, "2x2 0,1,1 1,0,1"),
        ("a.el directed,compact", "18446744073709551615 0\n", "2x2 1,0,1"),
        (
            "a.el compact",
            "18446744073709551616 1\n",
            "a.el:1: the first node `18446744073709551616` is too large; `pandas.factorize`",
        ),
        (
            "a.el",
            "7 1\n2000000000 2\n",
            "a.el:2: 2000000000 nodes are too many for 2 edges; --edges",
        ),
        ("a.el bipartite,base=1", "1 1000065\n", "a.el:1: 1000065 nodes are too many for 1 edges"),
        ("a.el", "% bip\n% 1 1 1000065\n1 1000065\n", "1x1000065 0,1000064,1"),
    ]);
}

#[test]
fn a_dense_matrix_is_no_list_of_edges() {
    let (dense, remark) = ("this seems to be a dense matrix: ", "it was read as an edge list, but");
    let bits = "0 1 1\n1 0 1\n1 1 0\n";
    let wide = "1 0 1 0 1\n0 0 1 0 0\n";
    check(&[
        ("a.txt", "# 3 3\n1,0,2\n0,1,0\n0,0,1\n", &format!("a.txt:2: {dense}a comment states")),
        ("a.txt", "# (2, 4)\n1 0 2 7\n3 1 4 1\n", &format!("a.txt:2: {dense}a comment states")),
        ("a.txt", "# 4 2\n1 0\n0 1\n0 0\n1 1\n", &format!("a.txt:2: {dense}a comment states")),
        ("a.txt", wide, &format!("a.txt:1: {dense}each line has more than 4 numbers")),
        ("a.txt", bits, &format!("a.txt:1: {dense}all its numbers are 0 and 1")),
        (
            "a.txt",
            "1.5,0.0\n0.0,1.0\n",
            "a.txt:1: the first node must be a whole number of at least",
        ),
        ("a.txt directed,base=0", bits, &format!("2x2 0,1,1 1,0,1 1,1,0 | {remark}")),
        ("a.txt directed,base=0", wide, &format!("2x2 0,0,1 1,0,1 | {remark}")),
        // Lists of edges may look so too.
        ("a.txt", "0 1\n1 0\n1 1\n", &format!("2x2 0,1,1 1,0,1 1,1,1 | {remark}")),
        ("a.txt", "2 0 1\n1 2 0\n0 0 3\n", &format!("3x3 0,0,3 1,2,0 2,0,1 | {remark}")),
        (
            "a.txt directed,base=1",
            "# Nodes: 3 Edges: 3\n1 2 3\n2 3 1\n3 1 2\n",
            "3x3 0,1,3 1,2,1 2,0,2",
        ),
        ("a.txt directed,base=1", "1 2 3\n2 3 0\n", "3x3 0,1,3 1,2,0"),
        (
            "a.txt",
            "% sym weighted\n1 2 3 99\n1 3 1 98\n",
            "3x3 0,1,3 0,2,1 1,0,3 2,0,1 | was left out",
        ),
    ]);
}
