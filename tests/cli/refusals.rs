use super::SMALL;
use super::env::Dir;

/// Command lines and what they are refused with.
const REFUSED: &[(&str, &str)] = &[
    ("--methods nosuch", "there is no method 'nosuch'; `spmv-bench methods` lists"),
    ("--methods mrege", "--methods mrege: there is no method 'mrege'; did you mean merge"),
    ("--methods csr5:sgima=8", "csr5 has no parameter 'sgima'; it has "),
    ("--threads 100000", "--threads 100000: this process may run on"),
    ("--threads 0", "--threads 0: at least one thread is needed"),
    ("--mtx gen:whel,spokes=3", "there is no generator 'whel'; did you mean wheel?"),
    ("--mtx DIR/absent.mtx", "DIR/absent.mtx: "),
    ("--mtx DIR/bad.mtx", "DIR/bad.mtx:1: "),
    ("corpus DIR/absent", "absent: there is no such file or folder"),
    ("--mtx DIR/bda.mtx", "bda.mtx: there is no such file or folder; did you mean bad.mtx?"),
    ("a.mtx b.mtx", "2 matrices are given; `spmv-bench corpus` measures several"),
    ("methods mrege", "there is no method 'mrege'; did you mean merge"),
    ("man corpsu", "man corpsu: there is no such command; did you mean corpus?"),
    ("DIR", "DIR is a folder; `spmv-bench corpus DIR` measures all"),
    ("DIR/bad.mtx --mtx gen:grid2d,n=3", "'[MATRIX]' cannot be used with '--mtx"),
    ("--output DIR/absent/out.csv", "cannot write"),
    // Root may write to every folder except those of the kernel.
    ("corpus DIR --output /sys/kernel/out.csv", "cannot open /sys/kernel/out.csv for results: "),
    ("corpus DIR --output DIR/empty", "DIR/empty"),
    ("fetch --list --datasets absent/my.toml", "cannot read absent/my.toml: "),
    ("--max-time never", "invalid value 'never' for '--max-time <S>'"),
    ("--alpha inf", "it must be a finite number"),
    ("--max-time 1e30", "it must be a time from 0 to 1e9 seconds"),
    ("--max-time -1", "it must be a time from 0 to 1e9 seconds"),
    ("--threads x", "it must be a whole number such as 4"),
    ("--rounds x", "it must be a whole number from 1 to 1000"),
    ("gen:wheel,spokes=3 --methods seq --rounds 0", "it must be a whole number from 1 to 1000"),
    ("frobnicate", "frobnicate: there is no such command, file or folder; `spmv-bench --help`"),
    ("corpsu DIR", "corpsu: there is no such command, file or folder; did you mean corpus?"),
    ("grid2d,n=9", "grid2d,n=9: there is no such file or folder; did you mean gen:grid2d,n=9?"),
    ("corpus DIR/empty", "empty: this folder contains no file with the extension of a matrix"),
    ("--max-memory plenty", "'plenty' is not a size: write 16GiB, 500M"),
    ("tune csr-k gen:grid2d,n=4 --methods merge", "tune csr-k needs a method with the parameter srs"),
    ("tune csr-k gen:grid2d,n=4 --format csv", "tune prints text, and writes CSV to the file of"),
    ("tune csr-k gen:grid2d,n=4 --output DIR/absent/a.csv", "cannot write DIR/absent/a.csv: No such"),
    ("tune shapes gen:grid2d,n=4", "--methods gpu-merge:block=*:items=*: no CUDA driver"),
    ("explain merge gen:grid2d,n=8", "merge runs on the CPU, and explain describes kernels of GPUs"),
    ("explain gpu-csr-* gen:grid2d,n=8", "choose one"),
    ("explain gpu-ell gen:grid2d,n=8 --device gpu", "needs a modelled GPU"),
    ("explain gpu-ell gen:grid2d,n=8 --device model:a100,h200", "choose one"),
    ("explain gpu-ell gen:grid2d,n=8 --precision both", "one precision"),
    ("explain gpu-ell nowhere.mtx", "nowhere.mtx"),
    ("explain cusparse-csr gen:grid2d,n=8", "cusparse-csr: "),
    ("explain cusparse-csr gen:grid2d,n=8", "machine code"),
    ("gen:grid3d,n=24 --device model:h20", "did you mean h200"),
    ("gen:grid3d,n=24 --device model:nothing.toml", "nothing.toml: No such file"),
    ("gen:grid3d,n=24 --device model:h200,a100", "choose one"),
    ("gen:grid3d,n=24 --device model", "model:NAME"),
    ("reproduce sc16-fig10 --device model:h200,k40m", "only one modelled GPU is allowed"),
    (
        "gen:grid3d,n=24 --device model:h200 --methods merge",
        "none of these methods runs on --device model:h200",
    ),
    ("cite merge-spmv-sc61", "is not a key of docs/papers.bib: there is no method"),
    ("gpu-file --device cpu", "choose one GPU"),
    ("gpu-file --device model:v100,k40m", "choose one GPU"),
    ("gpu-file --device gpu", "no CUDA driver"),
];

#[test]
fn commands_that_cannot_run_are_reported_with_the_reason() {
    Dir::new(&[("bad.mtx", "hello\n"), ("empty/a.txt", "")]).refuses(REFUSED);
}

#[test]
fn exit_statuses() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("b.mtx", "hello\n")]);
    let quick = "--methods merge --iterations 1 --rounds 1 --quiet";
    dir.program(&format!("--mtx a.mtx {quick}")).exits(0);
    dir.program(&format!("corpus . {quick}")).exits(1);
    let ran = dir.program(&format!("--mtx b.mtx {quick}")).exits(2);
    assert!(ran.stdout.is_empty() && ran.stderr.starts_with("spmv-bench: "), "{ran:?}");
    dir.program("--nonsense").exits(2);
}

/// If the reader of stdout closes the pipe, the program prints no message and does not panic.
#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let quick = "--methods seq --iterations 1 --rounds 1 --quiet --no-isolate";
    for words in [
        "methods",
        "methods --format json",
        "man",
        "man corpus",
        "completions bash",
        "completions zsh",
        "--help",
        "corpus --help",
        "reproduce",
        "fetch --list",
        &format!("gen:wheel,spokes=9 {quick}"),
        &dir.words(&format!("corpus DIR {quick}")),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        let ran = program.args(words.split(' ')).stdout(writer).output().unwrap();
        assert!(ran.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
