//! Tests of the scripts for GPU machines, with fake programs: which steps of `scripts/gpu-campaign` run and what is
//! kept of them, and what `scripts/gpu-profile` asks and converts; with the real program on the model of an H200, that
//! the steps work. Without Python, for the campaign 3.11, the tests print that they are skipped.

mod build;
mod profile;
mod rehearsal;
mod steps;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Dir, Ran, skip};

/// The fake program: it has a GPU, and prints its arguments.
const PROGRAM: &str = r#"case $1 in
system) [ -e no-gpu ] && echo '{"gpus": [], "no_gpu": "no CUDA driver"}' && exit
    echo '{"revision": "abc", "gpus": [{"name": "Some GPU", "driver": "driver 1"}]}' ;;
*) echo "$*" ;;
esac"#;

/// Returns the path of Python if it has a module, or prints that the test is skipped.
fn python(module: &str) -> Option<PathBuf> {
    let script = format!("import {module}, sys; print(sys.executable)");
    let found = Command::new("python3").args(["-c", &script]).output().ok();
    match found.filter(|ran| ran.status.success()) {
        Some(ran) => Some(PathBuf::from(String::from_utf8(ran.stdout).unwrap().trim())),
        None => skip(&format!("no python3 with {module}")),
    }
}

impl Dir {
    /// Creates a folder with the scripts and a fake bundle, as on a GPU machine, and with these steps in place of those
    /// of the project. Returns `None` without Python.
    fn with_scripts(steps: &str) -> Option<Self> {
        python("tomllib")?;
        let place = Self::new(&[]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::create_dir(place.path("scripts")).unwrap();
        for file in ["scripts/gpu-campaign", "scripts/gpu-campaign.toml", "scripts/gpu-profile"] {
            fs::copy(root.join(file), place.path(file)).unwrap();
        }
        if !steps.is_empty() {
            place.write("scripts/gpu-campaign.toml", steps);
        }
        place.program("target/gpu-campaign-state/programs/spmv-bench", PROGRAM);
        Some(place)
    }

    fn program(&self, name: &str, script: &str) {
        self.write(name, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.path("scripts/gpu-campaign"));
        command.args(words.split_whitespace()).current_dir(self.path(""));
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
        command.env("VIRTUAL_ENV", concat!(env!("CARGO_MANIFEST_DIR"), "/.venv"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    /// Returns how a step has ended, and its log; texts without characters for a step that has not begun.
    fn step(&self, name: &str) -> (String, String) {
        let state = self.json("target/gpu-campaign-state/campaign.json");
        let outcome = state["steps"][name]["outcome"].as_str().unwrap_or_default().to_owned();
        let log = self.path(&format!("target/gpu-campaign-state/logs/{name}.log"));
        (outcome, fs::read_to_string(log).unwrap_or_default())
    }
}

impl Ran {
    /// Asserts that the script is refused with this reason.
    #[track_caller]
    fn refused(self, reason: &str) -> Self {
        let ran = self.exits(2);
        ran.says(reason);
        ran
    }
}
