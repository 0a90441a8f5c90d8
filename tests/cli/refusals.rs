//! Tests of error messages and exit statuses.

use crate::env::{program, run};
use crate::{SMALL, folder};

#[test]
fn commands_that_cannot_run_are_reported_with_the_reason() {
    let dir = folder(&[("bad.mtx", "hello\n")]);
    let dir = dir.path().display();
    for (words, expected) in [
        (
            "--methods nosuch",
            "--methods nosuch: there is no method 'nosuch'; `spmv-bench methods` lists",
        ),
        ("--methods mrege", "--methods mrege: there is no method 'mrege'; did you mean merge"),
        ("--methods csr5:sgima=8", "csr5 has no parameter 'sgima'; it has "),
        ("--threads 100000", "--threads 100000: this process may run on"),
        ("--threads 0", "--threads 0: at least one thread is needed"),
        ("--mtx gen:whel,spokes=3", "there is no generator 'whel'; did you mean wheel?"),
        (&format!("--mtx {dir}/absent.mtx"), &format!("{dir}/absent.mtx: ")),
        (&format!("--mtx {dir}/bad.mtx"), &format!("{dir}/bad.mtx:1: ")),
        (&format!("corpus {dir}/absent"), "absent: there is no such file or folder"),
        (
            &format!("--mtx {dir}/bda.mtx"),
            "bda.mtx: there is no such file or folder; did you mean bad.mtx?",
        ),
        ("a.mtx b.mtx", "2 matrices are given; `spmv-bench corpus` measures several"),
        ("methods mrege", "there is no method 'mrege'; did you mean merge"),
        ("man corpsu", "man corpsu: there is no such command; did you mean corpus?"),
        (&format!("{dir}"), &format!("{dir} is a folder; `spmv-bench corpus {dir}` measures all")),
        (&format!("{dir}/bad.mtx --mtx gen:grid2d,n=3"), "'[MATRIX]' cannot be used with '--mtx"),
        (&format!("--output {dir}/absent/out.csv"), "cannot write"),
        ("--max-time never", "invalid value 'never' for '--max-time <S>'"),
        ("--alpha inf", "it must be a finite number"),
        ("--max-time 1e30", "it must be a number of seconds from 0 to 1e9"),
        ("--max-time -1", "it must be a number of seconds from 0 to 1e9"),
        ("--threads x", "it must be a whole number such as 4"),
        ("--seed x", "it must be a whole number such as 4"),
        ("--rounds x", "it must be a whole number from 1 to 1000"),
        ("gen:wheel,spokes=3 --methods seq --rounds 0", "it must be a whole number from 1 to 1000"),
        ("--iterations x", "it must be a whole number from 1 to 4294967295"),
        ("frobnicate", "frobnicate: there is no such command, file or folder; `spmv-bench --help`"),
        ("corpsu DIR", "corpsu: there is no such command, file or folder; did you mean corpus?"),
        ("grid2d,n=9", "grid2d,n=9: there is no such file or folder; did you mean gen:grid2d,n=9?"),
    ] {
        let message = run(words).result.unwrap_err();
        assert!(message.contains(expected), "{words}: {message}");
    }
}

#[test]
fn an_empty_folder_is_an_error() {
    let dir = folder(&[("a.txt", "")]);
    let ran = run(&format!("corpus {}", dir.path().display()));
    assert!(
        ran.result.unwrap_err().ends_with("this folder contains no .mtx, .mtx.gz or .tar.gz file")
    );
}

#[test]
fn exit_statuses() {
    let dir = folder(&[("a.mtx", SMALL), ("b.mtx", "hello\n")]);
    let dir = dir.path().display();
    let quick = "--methods merge --iterations 1 --rounds 1 --quiet";
    assert_eq!(program(&format!("--mtx {dir}/a.mtx {quick}")).status.code(), Some(0));
    assert_eq!(program(&format!("corpus {dir} {quick}")).status.code(), Some(1));
    let ran = program(&format!("--mtx {dir}/b.mtx {quick}"));
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(ran.stderr).unwrap().starts_with("spmv-bench: "));
    assert_eq!(program("--nonsense").status.code(), Some(2));
}

/// If the reader of stdout closes the pipe, the program prints no message and does not panic.
#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = folder(&[("a.mtx", SMALL)]);
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
        &format!("corpus {} {quick}", dir.path().display()),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        let ran = program.args(words.split(' ')).stdout(writer).output().unwrap();
        assert!(ran.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
