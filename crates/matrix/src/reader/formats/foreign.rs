//! Files that are refused with what they are instead of a matrix, and with what their user can do.

use super::super::error::Defect;
use super::super::syntax::{after_banner, body};
use super::harwell_boeing::is_harwell_boeing;
use Begin::{Bytes, Words};

/// The cure for a format that a function of networkx reads.
macro_rules! networkx {
    ($read:literal) => {
        concat!(
            "`scipy.io.mmwrite('a.mtx', networkx.to_scipy_sparse_array(networkx.",
            $read,
            "('FILE')))` converts it"
        )
    };
}

/// How a file begins.
enum Begin {
    Bytes(&'static [&'static [u8]]),
    /// The words after comments begin with these in lower case; `?` is any word, and `9` any digits.
    Words(&'static [&'static str]),
}

/// How files begin, what they are, and what their user can do.
const FOREIGN: &[(Begin, &str, &str)] = &[
    (Bytes(&[b"\x89HDF\r\n\x1a\n"]), "an HDF5 file (as of MATLAB 7.3, Binsparse or AnnData)", WRITE),
    (Bytes(&[b"MATLAB 7.3", b"MATLAB 5.0"]), "a MATLAB file", WRITE),
    (Bytes(&[b"\x93NUMPY"]), "a dense NumPy array", SAVE_NPZ),
    (Bytes(&[b"version https://git-lfs"]), "a Git LFS pointer, not the file itself", PULL),
    (Bytes(&[b"\xff\xfe", b"\xfe\xff"]), "UTF-16 text", "convert it by `iconv -f UTF-16 -t UTF-8`"),
    (Bytes(&[b"%\0"]), "UTF-16 text", "convert it by `iconv -f UTF-16LE -t UTF-8`"),
    (Bytes(&[b"7z\xbc\xaf"]), "a 7-Zip archive", DECOMPRESS),
    (Bytes(&[b"Rar!"]), "a RAR archive", DECOMPRESS),
    (Bytes(&[b"\x1f\x9d"]), "compressed by `compress`", DECOMPRESS),
    (Bytes(&[b"\x04\x22\x4d\x18"]), "compressed by lz4", DECOMPRESS),
    (Bytes(&[b"\0\x12\x7b\x50", b"\0\0\0\0\0\x12\x7b\x50"]), "a binary file of PETSc", PETSC),
    (Bytes(&[b"PAR1"]), "a Parquet file", PARQUET),
    (Words(&["*vertices", "*network", "*matrix", "*arcs", "*edges"]), "a file of Pajek", PAJEK),
    (Words(&["adjacencygraph", "weightedadjacencygraph"]), "a graph of Ligra", LIGRA),
    (Words(&["graph [", "graph[", "creator \""]), "a GML file", networkx!("read_gml")),
    (Words(GRAPHVIZ), "a graph of Graphviz", networkx!("nx_agraph.read_dot")),
    (Words(&["<graphml"]), "a GraphML file", networkx!("read_graphml")),
    (Words(&["<gexf"]), "a GEXF file", networkx!("read_gexf")),
    (Words(&[">>graph9<<"]), "a graph in the format graph6", networkx!("read_graph6")),
    (Words(&[">>sparse9<<"]), "a graph in the format sparse6", networkx!("read_sparse6")),
    (Words(&["leda.graph"]), "a graph of LEDA", networkx!("read_leda")),
    (Words(&["dl n"]), "a DL file of UCINET", WRITE),
    (Words(&["name rows", "name ? rows", "name objsense", "name ? objsense"]), "an MPS file", MPS),
    (Words(&["9 9:", "-9 9:", "+9 9:", "9 qid:", "-9 qid:", "+9 qid:"]), "a file of LIBSVM", SVMLIGHT),
    (Words(&["(9,9)", "(9, 9)", "? = (9,9)", "? = (9, 9)"]), "a sparse matrix as it is shown", WRITE),
    (Words(&["<9x9 sparse", "9 x 9 sparse"]), "a sparse matrix as it is shown", WRITE),
    (Words(&["<compressed sparse", "<coordinate sparse"]), "a sparse matrix as it is shown", WRITE),
    (Words(&["compressed column", "? = compressed"]), "a sparse matrix as it is shown", WRITE),
    (Words(&["mat object", "matrix object"]), "a matrix as PETSc shows it", WRITE),
    (Words(&["{"]), "a JSON file", WRITE),
    (Words(&[",", "\"\","]), "a table whose first column has no name", ROW_NAMES),
    (
        Words(&["<!doctype", "<html", "<?xml", "<head"]),
        "a web page, not a matrix",
        "the address of the download was wrong, or the server wants a login",
    ),
];
const WRITE: &str = "write the matrix in the Matrix Market format, for example by `scipy.io.mmwrite`";
const DECOMPRESS: &str = "decompress it; gzip, bzip2, xz, zstd and zip are read as they are";
const PETSC: &str = "`scipy.io.mmwrite('a.mtx', PetscBinaryIO.PetscBinaryIO().readBinaryFile('FILE', \
                     mattype='scipy.sparse')[0])` converts it";
const PARQUET: &str = "`pandas.read_parquet('FILE').to_csv('a.edges', index=False)` converts an edge list";
const SAVE_NPZ: &str = "`scipy.sparse.save_npz` writes sparse matrices that are read";
const PULL: &str = "`git lfs pull` fetches the file";
const GRAPHVIZ: &[&str] = &[
    "graph {",
    "graph{",
    "graph ? {",
    "digraph {",
    "digraph{",
    "digraph ? {",
    "strict graph",
    "strict digraph",
];
const PAJEK: &str = networkx!("read_pajek");
const LIGRA: &str = "in Python, `a = numpy.loadtxt('FILE', int, skiprows=1); n, m = a[:2]; scipy.io.mmwrite('a.mtx', \
                     scipy.sparse.csr_array((numpy.ones(m), a[2+n:2+n+m], numpy.append(a[2:2+n], m)), (n, n)))` \
                     converts it, with the weights `a[2+n+m:]` in place of the ones";
const MPS: &str = "`highspy` reads it; write its matrix by `scipy.io.mmwrite`";
const SVMLIGHT: &str = "`scipy.io.mmwrite('a.mtx', sklearn.datasets.load_svmlight_file('FILE')[0])` converts it";
const ROW_NAMES: &str = "write it without the names of rows: `to_csv('FILE', index=False)` of pandas, \
                         `write.csv(a, 'FILE', row.names=FALSE)` of R; if it is a matrix, by `scipy.io.mmwrite`";
/// The number of bytes and of words that are looked at.
const LOOKED: usize = 512;
const MOST_WORDS: usize = 4;

/// Refuses a file whose first bytes show what it is instead of a matrix.
pub fn refuse_what_is_no_matrix(head: &[u8]) -> Result<(), Defect> {
    let has_banner = after_banner(head).is_some();
    if has_banner && head.contains(&b'\r') && !head.contains(&b'\n') {
        let mend = "convert it by `tr '\\r' '\\n'`";
        return Err(format!("this is a text whose lines end with CR alone: {mend}").into());
    }
    // The first line of Harwell-Boeing is a title, which may be anything.
    let is_read = has_banner || is_harwell_boeing(head);
    let words = if is_read { Vec::new() } else { first_words(head) };
    let is_begin = |begin: &Begin| match begin {
        Bytes(begins) => begins.iter().any(|begin| head.starts_with(begin)),
        Words(begins) => begins.iter().any(|begin| fits(begin, &words)),
    };
    match FOREIGN.iter().find(|(begin, ..)| is_begin(begin)) {
        Some((_, what, mend)) => Err(format!("this is {what}: {mend}").into()),
        None => Ok(()),
    }
}

/// Returns the first words after comments, and in XML from the root of a graph on, with digits replaced by a 9.
fn first_words(head: &[u8]) -> Vec<String> {
    let text = body(head);
    let text = String::from_utf8_lossy(&text[..text.len().min(LOOKED)]).to_lowercase();
    let is_xml = text.starts_with("<?xml");
    let root = ["<graphml", "<gexf"].iter().find_map(|root| text.find(root).filter(|_| is_xml));
    let words = text[root.unwrap_or(0)..].split_whitespace().take(MOST_WORDS);
    words.map(without_digits).collect()
}

fn without_digits(word: &str) -> String {
    let mut short = String::new();
    for letter in word.chars().map(|it| if it.is_ascii_digit() { '9' } else { it }) {
        if letter != '9' || !short.ends_with('9') {
            short.push(letter);
        }
    }
    short
}

fn fits(begin: &str, words: &[String]) -> bool {
    let mut found = words.iter();
    let mut wanted = begin.split(' ');
    wanted.all(|begin| found.next().is_some_and(|word| begin == "?" || word.starts_with(begin)))
}
