//! Writes a mirror of stand-ins, downloads from it, and measures the matrices, the second time from the cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::place::Place;
use crate::server::Reply;

/// Matrices of each symmetry in the index, two of them with the same name.
const STAND_INS: &str = r#"
[[matrix]]
id = "S/mesh"
rows = 900
cols = 900
nnz = 4380
kind = "2D/3D problem"
numerical-symmetry = 1.0
stand-in = "gen:grid2d,n=30,points=5"

[[matrix]]
id = "S/web"
rows = 500
cols = 400
nnz = 2900
entries = 3000
kind = "directed graph"
binary = true
stand-in = "gen:power-law,rows=500,cols=400,nnz=3000,longest=90"

[[matrix]]
id = "R/web"
rows = 60
cols = 60
nnz = 180
kind = "random"
stand-in = "gen:uniform,rows=60,nnz=180,random=7"

[set.stand-ins]
source = "this test"
members = ["S/mesh", "S/web", "R/web"]
"#;

#[test]
fn a_set_of_stand_ins_is_mirrored_fetched_and_measured() {
    let place = Place::new();
    fs::write(place.path("my.toml"), STAND_INS).unwrap();
    let program = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        command.current_dir(place.path("")).env("SPMV_BENCH_CACHE", place.path("cache"));
        place.ran(command.args(words).output().unwrap())
    };
    let words = ["generate", "stand-in:stand-ins", "--datasets", "my.toml", "--mirror", "mirror"];
    let ran = program(&words);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for path in ["/files/ssstats.csv", "/MM/S/mesh.tar.gz", "/MM/S/web.tar.gz", "/MM/R/web.tar.gz"]
    {
        let file = place.path(&format!("mirror{path}"));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o444, 0o444, "{path}");
        let file = fs::read(file).unwrap();
        place.server.serve(path, &file, &[Reply::File]);
    }
    let fetched = place.run(&["stand-ins"]);
    assert_eq!(fetched.status, Some(0), "{fetched:?}");
    assert_eq!(place.server.requests().len(), 3);
    let again = place.run(&["stand-ins"]);
    assert!(again.stderr.contains("0 downloaded, 3 present"), "{again:?}");
    // The index of the mirror describes the same matrices.
    assert!(place.run(&["--filter", "rows>0"]).stderr.contains("0 downloaded, 3 present"));
    assert!(place.run(&["--filter", "binary"]).stderr.contains("0 downloaded, 1 present"));
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    // Matrices of the index must also have the hashes of the datasets file.
    let other = format!("id = \"S/mesh\"\nsha256 = \"{}\"", "0".repeat(64));
    fs::write(place.path("my.toml"), STAND_INS.replace("id = \"S/mesh\"", &other)).unwrap();
    let refused = place.run(&["--filter", "rows>0"]);
    assert!(refused.status == Some(1) && refused.stderr.contains("gives 0000"), "{refused:?}");
    let taken = place.run(&["--filter", "rows>0", "--any-archive"]);
    assert!(taken.stderr.contains("0 downloaded, 3 present"), "{taken:?}");
    let corpus = |what: &[&str]| {
        let exact = ["--methods", "seq", "--iterations", "1", "--rounds", "1", "--threads", "1"];
        let ran = program(&[&["corpus", "--format", "json"], what, &exact[..]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let reports = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        reports.collect::<Vec<serde_json::Value>>()
    };
    let (first, second) = (corpus(&["to"]), corpus(&["to"]));
    assert!(first.iter().all(|report| report["from_cache"] == false), "{first:?}");
    assert!(second.iter().all(|report| report["from_cache"] == true), "{second:?}");
    // The results state that the matrices are stand-ins, and are the same as those of matrices without a file.
    let direct = corpus(&["stand-in:stand-ins", "--datasets", "my.toml"]);
    let kinds = |reports: &[serde_json::Value]| {
        let of = |report: &serde_json::Value| {
            let size = (report["rows"].clone(), report["nnz"].clone());
            (report["kind"].as_str().unwrap().to_owned(), size.0.to_string(), size.1.to_string())
        };
        let mut kinds: Vec<_> = reports.iter().map(of).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&second), kinds(&direct));
    let (kind, rows, nnz) = &kinds(&direct)[1];
    assert_eq!(kind, "stand-in for S/mesh: gen:grid2d,n=30,points=5");
    assert_eq!((rows.as_str(), nnz.as_str()), ("900", "4380"));
    assert_eq!(direct[0]["file"], "stand-in:S/mesh");
}
