//! Writes a mirror of surrogates, downloads from it, and measures the matrices, the second time from the cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::place::Place;
use crate::server::Reply;
use crate::support::Ran;

/// Matrices of each symmetry in the index, two of them with the same name.
const SURROGATES: &str = r#"
matrix = [
    { id = "S/mesh", rows = 900, cols = 900, nnz = 4380, kind = "2D/3D problem", numerical-symmetry = 1.0, surrogate = "gen:grid2d,n=30,points=5" },
    { id = "S/web", rows = 500, cols = 400, nnz = 2900, entries = 3000, kind = "directed graph", binary = true, surrogate = "gen:power-law,rows=500,cols=400,nnz=3000,longest=90" },
    { id = "R/web", rows = 60, cols = 60, nnz = 180, kind = "random", surrogate = "gen:uniform,rows=60,nnz=180,random=7" },
]

[set.surrogates]
source = "this test"
members = ["S/mesh", "S/web", "R/web"]
"#;

fn program(place: &Place, words: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
    command.current_dir(place.path("")).env("SPMV_BENCH_CACHE", place.path("cache"));
    place.ran(command.args(words.split(' ')).output().unwrap()).exits(0)
}

/// Creates a place whose server is a mirror of the surrogates.
fn mirror() -> Place {
    let place = Place::new();
    place.write("my.toml", SURROGATES);
    program(&place, "generate surrogate:surrogates --datasets my.toml --mirror mirror");
    for path in ["/files/ssstats.csv", "/MM/S/mesh.tar.gz", "/MM/S/web.tar.gz", "/MM/R/web.tar.gz"] {
        let file = place.path(&format!("mirror{path}"));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o444, 0o444, "{path}");
        place.server.serve(path, &fs::read(file).unwrap(), &[Reply::File]);
    }
    place
}

#[test]
fn a_set_of_surrogates_is_mirrored_fetched_and_measured() {
    let place = mirror();
    place.succeed("surrogates");
    assert_eq!(place.server.requests().len(), 3);
    // The index of the mirror describes the same matrices.
    place.succeed("--update-index");
    for (words, count) in [("surrogates", 3), ("--filter rows>0", 3), ("--filter binary", 1)] {
        place.run(words).says(&format!("0 downloaded, {count} present"));
    }
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    // Matrices of the index must also have the hashes of the datasets file.
    let other = format!("id = \"S/mesh\", sha256 = \"{}\"", "0".repeat(64));
    place.write("my.toml", SURROGATES.replace("id = \"S/mesh\"", &other));
    assert!(place.fail("--filter rows>0").contains("gives 0000"));
    let taken = place.run("--filter rows>0 --any-archive");
    taken.says("0 downloaded, 3 present");
    let corpus = |what: &str| {
        let exact = "--methods seq --iterations 1 --rounds 1 --threads 1 --format json";
        program(&place, &format!("corpus {what} {exact}")).json()
    };
    for is_cached in [false, true] {
        let reports = corpus("to");
        assert!(reports.iter().all(|it| it["from_cache"] == is_cached), "{reports:?}");
    }
    // The results state that the matrices are surrogates, and are the same as those of matrices without a file.
    let facts = |reports: Vec<Value>| {
        let facts = |report: &Value| ["kind", "rows", "nnz"].map(|key| report[key].to_string());
        let mut facts: Vec<_> = reports.iter().map(facts).collect();
        facts.sort();
        facts
    };
    let direct = corpus("surrogate:surrogates --datasets my.toml");
    assert_eq!(direct[0]["file"], "surrogate:S/mesh");
    let direct = facts(direct);
    assert_eq!(direct, facts(corpus("to")));
    let mesh = ["\"surrogate for S/mesh: gen:grid2d,n=30,points=5\"", "900", "4380"];
    assert_eq!(direct[1], mesh);
}
