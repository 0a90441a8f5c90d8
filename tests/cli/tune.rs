use expect_test::expect;
use spmv_methods::device::model::Model;

use super::SMALL;
use super::env::{Dir, Ran, fake_clock, run, run_on};

const QUICK: &str = "--threads 1 --iterations 1";

#[test]
fn every_size_is_measured_on_every_matrix() {
    let dir = Dir::new(&[("small.mtx", SMALL), ("broken.mtx", "hello\n")]);
    let methods = "--methods csr2:order=natural";
    let words = format!("tune csr-k DIR gen:grid2d,n=4 {methods} {QUICK} --output DIR/sizes.csv");
    // A broken file is a failure.
    let ran = dir.run(&words).exits(1);
    ran.says("broken.mtx:1: ");
    expect![[r#"
        csr2:order=natural, f64: 18 sizes on 2 matrices
           nnz/row    srs   ssrs    GFLOP/s  matrix
             1.333      8      -     0.0000  DIR/small.mtx
             3.000      8      -     0.0001  gen:grid2d,n=4
        srs = round(8.000 + 0.000 ln(nnz/row)), R^2 -
        geometric mean of the best srs: 8.0
        srs=8 for all: 100.0 % of each matrix' best in the geometric mean

    "#]]
    .assert_eq(&ran.stdout);
    let text = dir.read("sizes.csv");
    let mut lines = text.lines();
    expect!["file,num_rows,num_nonzeros,row_length_mean,method_name,srs,ssrs,precision,device,threads,order,status,reason,setup_ms,avg_spmv_ms,gflops,run_id"].assert_eq(lines.next().unwrap());
    assert_eq!(lines.clone().count(), 1 + 2 * 18);
    assert!(lines.clone().all(|line| line.contains("broken") || line.contains(",ok,")));
    expect![[r#""gen:grid2d,n=4",16,48,3.0,csr2:order=natural,3072,,f64,cpu,1,natural,ok,,1.0,1.0,0.000096,test"#]]
        .assert_eq(lines.next_back().unwrap());
    assert!(dir.path("sizes.csv.run.json").exists());
}

fn run_with_gpu(words: &str) -> Ran {
    run_on(words, &fake_clock(), || Model::tiny(1))
}

/// A product with three kernels takes three milliseconds with any sizes.
#[test]
fn gpu_methods_are_tuned_on_a_gpu_unless_others_are_named() {
    let sources = "gen:grid2d,n=8 gen:dense,rows=8,cols=8";
    let ran = run_with_gpu(&format!("tune csr-k {sources} --device gpu {QUICK}")).exits(0);
    let sizes = "   nnz/row    srs   ssrs    GFLOP/s  matrix
     3.500      4      4     0.0002  gen:grid2d,n=8
     8.000      4      4     0.0001  gen:dense,rows=8,cols=8
srs = round(4.000 + 0.000 ln(nnz/row)), R^2 -
geometric mean of the best srs: 4.0
ssrs = round(4.000 + 0.000 ln(nnz/row)), R^2 -
geometric mean of the best ssrs: 4.0
srs=4:ssrs=4 for all: 100.0 % of each matrix' best in the geometric mean
";
    let of = |method: &str| format!("{method}, f64: 64 sizes on 2 matrices\n{sizes}\n");
    assert_eq!(ran.stdout, of("gpu-csrk-3") + &of("gpu-csrk-3.5"));
    let named = run_with_gpu(&format!("tune csr-k {sources} --methods gpu-csrk-2:srs=96 {QUICK}"));
    named.exits(0).prints("gpu-csrk-2, f64: 1 sizes on 2 matrices\n");
}

/// A launch takes a millisecond, and a search kernel is a launch of its own.
#[test]
fn shapes_are_compared_with_the_best_on_each_matrix() {
    let dir = Dir::new(&[]);
    let sources = "gen:grid2d,n=4 gen:dense,rows=30,cols=30";
    let words = format!("tune shapes {sources} --methods gpu-merge:search=* {QUICK}");
    let ran = run_with_gpu(&dir.words(&format!("{words} --output DIR/shapes.csv"))).exits(0);
    expect![[r#"
        gpu-merge, f64: 2 shapes on 2 matrices
         100.0 % of each matrix' best  gpu-merge:search=tiles
          50.0 % of each matrix' best  gpu-merge:search=kernel

    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!(dir.read("shapes.csv").lines().count(), 1 + 2 * 2);
    let words = "tune shapes gen:grid2d,n=4 --device gpu --precision both --transpose";
    let ran = run_with_gpu(&format!("{words} {QUICK}"));
    assert!(ran.error().starts_with("nothing was measured: "), "{ran:?}");
    for line in ["gpu-merge, f32: 28", "gpu-hola, f64: 12", "gpu-csr5, f64: 18"] {
        let left_out = "left out, without a time for some shape: 1; gpu-";
        ran.prints(&format!("{line} shapes on 0 matrices\n{left_out}"));
    }
}

#[test]
fn given_sizes_are_used_and_methods_are_separate() {
    let given = "--methods csr3:srs=8,csr3:ssrs=4:srs=96,csr2 --precision both";
    let ran = run(&format!("tune csr-k gen:grid2d,n=4 {given} {QUICK}")).exits(0);
    for precision in ["f64", "f32"] {
        for line in ["csr2, P: 18 sizes", "csr3, P: 8 sizes", "csr3, P: 1 sizes"] {
            let line = line.replace('P', precision) + " on 1 matrices\n";
            assert_eq!(ran.stdout.matches(&line).count(), 1, "{line} in {}", ran.stdout);
        }
    }
}

#[test]
fn modelled_times_have_a_note() {
    let words = "tune csr-k gen:grid2d,n=4 --device model:h200 --methods gpu-csrk-2:srs=96";
    let ran = run(&format!("{words} {QUICK}"));
    ran.prints("gpu-csrk-2, f64: 1 sizes on ").prints("\n\nTimes are modelled, not measured: ");
}
