//! Tests of variables with which job scripts set OpenMP: they must not change what other methods take.

use crate::plugins::plugin;
use crate::{Dir, rows, skip};

#[test]
fn variables_of_openmp_change_no_other_method_and_are_recorded() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return skip("it needs two CPUs");
    }
    let undone = "opening the plug-in has changed the CPUs on which the thread may run; this was undone";
    for (name, value, remark) in [
        ("OMP_WAIT_POLICY", "active", "no policy"),
        ("GOMP_SPINCOUNT", "infinite", "no policy"),
        ("OMP_PROC_BIND", "true", undone),
        ("GOMP_CPU_AFFINITY", "1", undone),
        ("OMP_THREAD_LIMIT", "1", " CPUs with 2 threads"),
    ] {
        let place = Dir::with_matrices(&[20_000]);
        let library = plugin(&place, "openmp.c", &["-fopenmp"]);
        let words = format!(
            "corpus matrices --plugin {} --methods loop,merge,sell --threads 2 --rounds 4 --processes 1 \
             --max-time 0.1 --no-bandwidth --device cpu --output out.csv",
            library.display()
        );
        place.run_with(&words, &[(name, value)]).exits(0);
        let rows = rows(&place.read("out.csv"));
        let row = rows.iter().find(|row| row["method_name"] == "loop").unwrap();
        assert!(row["reason"].contains(remark), "{name}: {row:?}");
        let openmp = place.json("out.csv.run.json")["system"]["openmp"].clone();
        assert_eq!(openmp, format!("{name}={value}"));
        let other = place.run(&format!("{words} --resume")).exits(2);
        other.says(&format!("openmp: \"{name}={value}\", null"));
    }
}
