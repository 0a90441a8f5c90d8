//! Tests of the scripts for GPU machines, with fake programs: which steps of `scripts/gpu-campaign` run and what is kept
//! of them, and what `scripts/gpu-profile` asks and converts; with the real program on the model of an H200, that the
//! steps work. Without Python, for the campaign 3.11, the tests print that they are skipped.

mod build;
mod profile;
mod rehearsal;
mod steps;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The fake program: it has a GPU and two methods.
const PROGRAM: &str = r#"case $1 in
system) [ -e no-gpu ] && echo '{"gpus": [], "no_gpu": "no CUDA driver"}' && exit
    echo '{"revision": "abc", "gpus": [{"name": "Some GPU", "driver": "driver 1"}]}' ;;
methods) printf 'seq    cpu\n    :a=1 x\ngpu-a   gpu\n    :block=1|2 x\n    :srs=3|4 x\ngpu-b   gpu\n' ;;
*) echo "$*" ;;
esac"#;

/// Prints that a test is skipped: directly to stderr, because the test runner hides what a passing test prints.
fn skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Returns the path of Python if it has a module, or prints that the test is skipped.
fn python(module: &str) -> Option<PathBuf> {
    let script = format!("import {module}, sys; print(sys.executable)");
    let found = Command::new("python3").args(["-c", &script]).output().ok();
    match found.filter(|ran| ran.status.success()) {
        Some(ran) => Some(PathBuf::from(String::from_utf8(ran.stdout).unwrap().trim())),
        None => {
            skip(&format!("no python3 with {module}"));
            None
        }
    }
}

struct Place(TempDir);

#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Place {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with the scripts and a fake bundle, as on a GPU machine, and with these steps in place of those
    /// of the project. Returns `None` without Python.
    fn new(steps: &str) -> Option<Self> {
        python("tomllib")?;
        let place = Self::empty();
        for name in ["", "gpu_campaign"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
            fs::create_dir_all(place.path("scripts").join(name)).unwrap();
            for entry in from.read_dir().unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_file() {
                    let to = place.path("scripts").join(name).join(entry.file_name());
                    fs::copy(entry.path(), to).unwrap();
                }
            }
        }
        if !steps.is_empty() {
            place.write("scripts/gpu_campaign/steps.toml", steps);
        }
        place.program("target/gpu-campaign-state/programs/spmv-bench", PROGRAM);
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.path("scripts/gpu-campaign"));
        command.args(words.split_whitespace()).current_dir(self.0.path());
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
        command.env("VIRTUAL_ENV", concat!(env!("CARGO_MANIFEST_DIR"), "/.venv"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    /// Returns how a step has ended, and its log.
    fn step(&self, name: &str) -> (String, String) {
        let state = self.read("target/gpu-campaign-state/campaign.json");
        let state: serde_json::Value = serde_json::from_str(&state).unwrap_or_default();
        let outcome = state["steps"][name]["outcome"].as_str().unwrap_or_default().to_owned();
        (outcome, self.read(&format!("target/gpu-campaign-state/logs/{name}.log")))
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { status: output.status.code(), stdout, stderr }
    }

    #[track_caller]
    fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:?}");
        self
    }

    /// Asserts that the script is refused with this reason.
    #[track_caller]
    fn refused(&self, reason: &str) {
        assert!(self.status == Some(2) && self.stderr.contains(reason), "no {reason}: {self:?}");
    }
}
