//! Rehearses a campaign with the real program on the model of an H200, from the first step to the record.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::{Dir, skip};

const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2\n1 4 3\n3 2 1\n3 3 5\n";
/// The steps that need no large generated matrix.
const STEPS: &str = "papers counters";

#[test]
fn a_campaign_is_rehearsed_on_a_model_and_taken_in() {
    let Some(place) = Dir::with_scripts("") else { return };
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv").exists() {
        return skip("no .venv with NVRTC");
    }
    let program = env!("CARGO_BIN_EXE_spmv-bench");
    // With little memory, the bandwidth is measured with the smallest working set only.
    let limited = format!("ulimit -v 1000000; exec {program} \"$@\"");
    place.program("out/rehearsal/programs/spmv-bench", &limited);
    place.write("out/rehearsal/matrices/small.mtx", SMALL);
    place.run(&format!("--rehearse --max-nonzeros 100 out {STEPS}")).exits(0);

    // The report of an experiment that was cut off is written when it is taken in.
    let fig6 = place.only_entry("out/rehearsal/results/hola-fig6");
    fs::remove_file(fig6.join("report.html")).unwrap();
    place.run("--rehearse --max-nonzeros 100 out counters").exits(0);
    fs::create_dir_all(place.path("target/release")).unwrap();
    symlink(program, place.path("target/release/spmv-bench")).unwrap();
    place.program("bin/cargo", "echo \"$*\" >asked");
    place.run("--import out/gpu-campaign.tar.xz").exits(0);
    assert_eq!(place.read("asked"), "run --release --quiet -- reproduce --documents\n");
    let record = place.only_entry("results/gpu-campaign");
    assert!(record.display().to_string().ends_with("-model-h200"), "{record:?}");
    let page = fs::read_to_string(record.join("README.md")).unwrap();
    for (step, told) in [("papers", "| ok |"), ("counters", "| ok |"), ("transposed", "| not run |")] {
        let line = page.lines().find(|line| line.starts_with(&format!("| {step} |"))).unwrap();
        assert!(line.contains(told), "{line}");
    }
    let run = place.only_entry("results/hola-table2");
    assert!(fs::read_to_string(run.join("rows.csv")).unwrap().contains("\nmatrices/small.mtx"));
    let run = place.path("results/hola-fig6").join(fig6.file_name().unwrap());
    assert!(run.join("report.html").exists() && run.join("claims.csv").exists());
}
