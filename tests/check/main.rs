//! Tests of `scripts/gpu-check` with fake programs instead of spmv-bench, the battery and NVIDIA's tools: which steps
//! run, what is recorded, what is repeated, and the summary of the results. The command lines of the steps are also
//! checked with the real program.

mod build;
mod steps;
mod summary;
mod words;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The fake program: it has a GPU and two methods, records its arguments in the file `asked`, and then runs the file
/// `behaviour`.
const PROGRAM: &str = r#"case $1 in
system) [ -e no-gpu ] && echo '{ "gpus": [], "no_gpu": "no CUDA driver" }' && exit
    echo '{ "gpus": [ { "name": "Some GPU", "driver": "driver 1" } ], "libraries": [] }' ;;
methods) printf 'seq    cpu\n    :a=1 x\ngpu-a   gpu\n    :block=1|2 x\n    :srs=3|4 x\ngpu-b   gpu\n' ;;
*) echo "$*" >>asked; . ./behaviour ;;
esac"#;

/// A test folder with the scripts and the fake programs.
struct Place(TempDir);

/// The result of a script.
#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["scripts", "target/gpu-check", "bin"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        for script in ["gpu-check", "gpu-profile", "gpu-summary"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(script);
            fs::copy(from, place.path("scripts").join(script)).unwrap();
        }
        place.behaves("true");
        place.program("target/gpu-check/spmv-bench", PROGRAM);
        place.program("target/gpu-check/battery", "echo \"battery $*\" >>asked; . ./behaviour");
        place.program("bin/compute-sanitizer", "echo \"sanitizer $*\" >>asked; . ./behaviour");
        place.program("bin/ncu", "true");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        fs::write(self.path(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Defines what all programs do after they have recorded their arguments.
    fn behaves(&self, script: &str) {
        fs::write(self.path("behaviour"), script).unwrap();
    }

    /// Changes the text of the script itself.
    fn rewrites(&self, from: &str, to: &str) {
        let script = self.read("scripts/gpu-check");
        assert_eq!(script.matches(from).count(), 1, "{from}");
        fs::write(self.path("scripts/gpu-check"), script.replace(from, to)).unwrap();
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.path("scripts/gpu-check"));
        command.args(words.split_whitespace()).current_dir(self.path("scripts"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env_remove("MATRICES").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns the recorded arguments of the programs since the last call, in order.
    fn asked(&self) -> Vec<String> {
        let asked = self.read("asked");
        let _ = fs::remove_file(self.path("asked"));
        asked.lines().map(str::to_owned).collect()
    }

    /// Returns the result of a step as recorded in the folder `out`.
    fn note(&self, step: &str) -> String {
        self.read(&format!("out/done/{step}")).trim().to_owned()
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { status: output.status.code(), stdout, stderr }
    }
}

/// Returns the names of the steps and their time limits in seconds, as the script lists them.
fn steps() -> Vec<(String, u64)> {
    let listed = Place::new().run("--steps");
    assert_eq!(listed.status, Some(0), "{listed:?}");
    let step = |line: &str| {
        let (name, limit) = line.split_once(' ').unwrap();
        (name.to_owned(), limit.parse().unwrap())
    };
    listed.stdout.lines().map(step).collect()
}
