//! Tests `scripts/gpu-profile` with a fake profiler: its command lines, the conversion of its table, and the error
//! messages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::{Dir, Ran, python};
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;
use spmv_results::row::{Row, Status};
use spmv_results::settings::CacheState;

const SHARES: [&str; 3] = ["achieved_occupancy", "warp_execution_efficiency", "global_load_efficiency"];

/// What a profiler prints around its table: lines of its own and of the program, a warning within the table, and a
/// value of another section.
const BEFORE: &str = r#"==PROF== Profiling "pcsr_products" - 0: 0%....50%....100% - 3 passes
gen:grid3d,n=4 (generated in 0.1 ms)
"a line of the program", quoted
gpu-pcsr              PASS         0.0100     0.00500     0.1000
"#;
const WITHIN: &str = r#"==WARNING== Found outstanding GPU clock reset, trying to revert...Success.
"a line that belongs to none"
"0","4711","pcsr_products","0","Duration","usecond","9.00"
"#;

/// Returns a profiler's table with the columns that the script reads. `kernels` are name, duration with unit, and the
/// three shares.
fn table(kernels: &[(&str, [&str; 2], [&str; 3])]) -> String {
    let mut text = String::from("==PROF== Connected to process 1 (/opt/spmv-bench)\n");
    text += "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    for (id, (kernel, [duration, time], shares)) in kernels.iter().enumerate() {
        let metrics = [
            ("gpu__time_duration.sum", *time, *duration),
            ("sm__warps_active.avg.pct_of_peak_sustained_active", "%", shares[0]),
            ("smsp__thread_inst_executed_per_inst_executed.ratio", "", shares[1]),
            ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", shares[2]),
        ];
        for (metric, unit, value) in metrics {
            text += &format!("\"{id}\",\"4711\",\"{kernel}\",\"0\",\"{metric}\",\"{unit}\",\"{value}\"\n");
        }
    }
    text
}

/// Returns a row of a GPU method with the columns that the script reads.
fn row(file: &str, method: &str) -> Row {
    Row {
        file: file.into(),
        num_rows: Some(64),
        method_name: Some(method.into()),
        avg_spmv_ms: Some(0.005),
        precision: Some(Precision::F64),
        device: Some(Device::Gpu),
        transpose: Some(false),
        status: Some(Status::Ok),
        cache: Some(CacheState::Hot),
        order: Some(Order::Natural),
        run_id: "test".into(),
        ..Row::default()
    }
}

/// Creates a folder with a file of rows, a fake profiler that prints the file named after the method or fails without
/// such a file, and a program to profile. Returns `None` without Python.
fn place(rows: &[Row]) -> Option<Dir> {
    python("csv")?;
    let place = Dir::new(&[]);
    let mut writer = csv::Writer::from_path(place.path("rows.csv")).unwrap();
    rows.iter().for_each(|row| writer.serialize(row).unwrap());
    writer.flush().unwrap();
    place.program("bin/spmv-bench", "exit 0");
    let profiler = r#"echo "$LC_ALL $*" >>asked
while [ "$1" != --methods ]; do shift; done
[ -e "$2.status" ] && cat "$2.table" && exit "$(cat "$2.status")"
echo '==PROF== Connected to process 4711 (/opt/spmv-bench)'
echo '==ERROR== The application returned an error code (2).'
echo 'spmv-bench: out of memory' >&2
exit 2"#;
    place.program("bin/ncu", profiler);
    Some(place)
}

impl Dir {
    /// Sets the profiler's output and exit status for a method.
    fn prints(&self, method: &str, output: &str, status: u8) {
        self.write(&format!("{method}.table"), output);
        self.write(&format!("{method}.status"), status.to_string());
    }

    fn has_record(&self, iterations: &str) {
        let settings = format!(r#"{{"alpha": -1.5, "beta": 0.5, "iterations": {iterations}}}"#);
        let command = r#"["spmv-bench", "--no-expand"]"#;
        let record = format!(r#"{{"settings": {settings}, "command": {command}}}"#);
        self.write("rows.csv.run.json", &record);
    }

    fn profile(&self, words: &str) -> Ran {
        self.profile_in(&format!("{}:/usr/bin:/bin", self.path("bin").display()), words)
    }

    fn profile_in(&self, path: &str, words: &str) -> Ran {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/gpu-profile");
        let mut command = Command::new(python("csv").unwrap());
        command.arg(script).args(words.split_whitespace()).current_dir(self.path(""));
        command.env("PATH", path).env("SPMV_BENCH_CACHE", self.path("cache"));
        Ran::of(command.output().unwrap())
    }

    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    fn rows(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(self.path(name)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// Returns the three shares of each row; `None` for an empty cell.
    fn shares(&self, name: &str) -> Vec<[Option<f64>; 3]> {
        let number = |cell: &String| (!cell.is_empty()).then(|| cell.parse().unwrap());
        self.rows(name).iter().map(|row| SHARES.map(|share| number(&row[share]))).collect()
    }
}

const RUN: &str = "rows.csv -o out.csv --spmv-bench bin/spmv-bench";

/// Returns rows of the CPU, of two GPU methods that are profiled once, and of one that was skipped.
fn rows_of_all_kinds() -> [Row; 5] {
    let grid = "gen:grid3d,n=4";
    let cpu = Row { device: Some(Device::Cpu), ..row(grid, "seq") };
    let light = Row {
        precision: Some(Precision::F32),
        transpose: Some(true),
        order: Some(Order::Rcm),
        ..row("m.mtx", "gpu-light:level=vector")
    };
    let reason = "it would be 9.0 times as large, \"mostly fill\"".to_owned();
    let skipped = row(grid, "gpu-ell").ended(Status::Skipped, reason);
    let cold = Row { cache: Some(CacheState::Cold), ..row(grid, "gpu-pcsr") };
    [cpu, row(grid, "gpu-pcsr"), light, skipped, cold]
}

#[test]
fn shares_are_added_to_their_rows() {
    let Some(place) = place(&rows_of_all_kinds()) else { return };
    place.write("m.mtx", "");
    // Values with thousands separators, and times in several units.
    let kernels = [
        ("pcsr_products", ["3,000", "ns"], ["90.00", "32", "80.00"]),
        ("pcsr_sums", ["1.00", "usecond"], ["50.00", "24", "40.00"]),
    ];
    let table_of_pcsr = table(&kernels).replacen("\"1\",", &format!("{WITHIN}\"1\","), 1);
    place.prints("gpu-pcsr", &format!("{BEFORE}{table_of_pcsr}"), 0);
    // The first kernel loads nothing.
    let filling = [
        ("fill", ["0.5", "us"], ["20", "32", "0"]),
        ("light<float>(int, float)", ["0.0015", "msecond"], ["60", "16", "25"]),
    ];
    place.prints("gpu-light:level=vector", &table(&filling), 0);
    place.profile(RUN).exits(0);

    // Weights: 3000 ns and 1000 ns for pcsr, 500 ns and 1500 ns for light, of which only the second kernel loads.
    let pcsr = [Some(80.0), Some(93.75), Some(70.0)];
    let light = [Some(50.0), Some(62.5), Some(25.0)];
    assert_eq!(place.shares("out.csv"), [[None; 3], pcsr, light, [None; 3], pcsr]);
    expect![[r#"
        file,method_name,precision,transpose,order,kernel,duration_ns,achieved_occupancy,warp_execution_efficiency,global_load_efficiency
        "gen:grid3d,n=4",gpu-pcsr,f64,false,natural,pcsr_products,3000.0,90.0,100.0,80.0
        "gen:grid3d,n=4",gpu-pcsr,f64,false,natural,pcsr_sums,1000.0,50.0,75.0,40.0
        m.mtx,gpu-light:level=vector,f32,true,rcm,fill,500.0,20.0,100.0,
        m.mtx,gpu-light:level=vector,f32,true,rcm,"light<float>(int, float)",1500.0,60.0,50.0,25.0
    "#]].assert_eq(&place.read("out.kernels.csv"));

    // All other columns are unchanged, and the rows with hot and cold caches share one profiler run.
    let [joined, before] = ["out.csv", "rows.csv"].map(|name| {
        let mut rows = place.rows(name);
        rows.iter_mut().for_each(|row| row.retain(|name, _| !SHARES.contains(&name.as_str())));
        rows
    });
    assert_eq!(joined, before);
    expect![[r#"
        C --csv --print-units base --clock-control none --profile-from-start off --metrics gpu__time_duration.sum,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__thread_inst_executed_per_inst_executed.ratio,smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct bin/spmv-bench --mtx gen:grid3d,n=4 --methods gpu-pcsr --device gpu --precision f64 --order natural --rounds 1 --warmups 1 --max-time 0 --no-isolate --format text --quiet
        C --csv --print-units base --clock-control none --profile-from-start off --metrics gpu__time_duration.sum,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__thread_inst_executed_per_inst_executed.ratio,smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct bin/spmv-bench --mtx m.mtx --methods gpu-light:level=vector --device gpu --precision f32 --order rcm --rounds 1 --warmups 1 --max-time 0 --no-isolate --format text --quiet --transpose
    "#]].assert_eq(&place.read("asked"));
}

#[test]
fn unknown_shares_are_empty_and_reported() {
    let methods = ["gpu-merge", "gpu-pcsr", "gpu-csc", "gpu-coo", "gpu-hola", "gpu-light", "gpu-sell"];
    let rows = methods.map(|method| row("gen:wheel,spokes=9", method));
    let Some(place) = place(&rows) else { return };
    let known = ["60", "16", "25"];
    place.prints("gpu-pcsr", "==PROF== Connected\n==WARNING== No kernels were profiled.\n", 0);
    let second_unknown = [("a", ["10", "ns"], known), ("b", ["1", "ns"], ["20", "n/a", "nan"])];
    place.prints("gpu-csc", &table(&second_unknown), 0);
    let odd_unit = table(&[("c", ["10", "cycle"], known)]);
    place.prints("gpu-coo", odd_unit.strip_suffix(",\"25\"\n").unwrap(), 0);
    place.prints("gpu-hola", &table(&[("d", ["10", "ns"], known)]), 0);
    let cut_off = table(&[("e", ["10", "ns"], known)]);
    place.prints("gpu-light", &cut_off, 1);
    place.prints("gpu-sell", &format!("==ERROR== Failed to profile kernel\n{cut_off}"), 0);
    let ran = place.profile(RUN).exits(1);
    let occupancy = (10.0 * 60.0 + 20.0) / 11.0;
    let none = [None; 3];
    let (partly, whole) = ([Some(occupancy), None, Some(25.0)], [Some(60.0), Some(50.0), Some(25.0)]);
    assert_eq!(place.shares("out.csv"), [none, none, partly, none, whole, none, none]);
    expect![[r#"
        file,method_name,precision,transpose,order,kernel,duration_ns,achieved_occupancy,warp_execution_efficiency,global_load_efficiency
        "gen:wheel,spokes=9",gpu-csc,f64,false,natural,a,10.0,60.0,50.0,25.0
        "gen:wheel,spokes=9",gpu-csc,f64,false,natural,b,1.0,20.0,,
        "gen:wheel,spokes=9",gpu-coo,f64,false,natural,c,,60.0,50.0,
        "gen:wheel,spokes=9",gpu-hola,f64,false,natural,d,10.0,60.0,50.0,25.0
    "#]].assert_eq(&place.read("out.kernels.csv"));
    for expected in [
        "gen:wheel,spokes=9 gpu-merge f64 false natural: no achieved_occupancy, \
         warp_execution_efficiency, global_load_efficiency; ncu ended with 2; \
         ==ERROR== The application returned an error code (2).; spmv-bench: out of memory\n",
        "ncu ended with 0; ==WARNING== No kernels were profiled.\n",
        "gpu-csc f64 false natural: no warp_execution_efficiency; ncu ended with 0",
    ] {
        ran.says(expected);
    }
    assert!(!ran.stderr.contains("gpu-hola f64 false natural: "), "{}", ran.stderr);
}

#[test]
fn settings_of_the_run_and_folders_of_matrices_are_used() {
    let rows = [row("there/a.mtx", "gpu-merge"), row("b.mtx", "gpu-merge")];
    let Some(place) = place(&rows) else { return };
    place.write("matrices/there/a.mtx", "");
    place.write("matrices/b.mtx", "");
    place.has_record("3");
    place.prints("gpu-merge", &table(&[("merge", ["10", "ns"], ["60", "16", "25"])]), 0);
    place.profile("rows.csv --spmv-bench bin/spmv-bench --matrices matrices").exits(0);
    let asked = place.asked();
    assert!(asked[0].contains("--mtx matrices/there/a.mtx"), "{asked:?}");
    assert!(asked[1].contains("--mtx matrices/b.mtx"), "{asked:?}");
    let end = "--quiet --alpha=-1.5 --beta=0.5 --iterations=3 --no-expand";
    assert!(asked[0].ends_with(end), "{asked:?}");
    assert_eq!(place.shares("rows.profile.csv"), [[Some(60.0), Some(50.0), Some(25.0)]; 2]);
    assert_eq!(place.rows("rows.profile.kernels.csv").len(), 2);

    // Applied to its own output, the script does not add the columns again.
    let again = "rows.profile.csv --spmv-bench bin/spmv-bench -o rows.profile.csv --matrices matrices";
    place.profile(again).exits(0);
    let header = place.read("rows.profile.csv");
    assert_eq!(header.lines().next().unwrap().matches("achieved_occupancy").count(), 1);
}

#[test]
fn shares_of_modelled_products_are_not_changed() {
    let device = Some(Device::model("h200"));
    let modelled = Row { device, achieved_occupancy: Some(80.0), ..row("b.mtx", "gpu-merge") };
    let Some(place) = place(&[modelled]) else { return };
    place.profile(RUN).exits(0);
    assert_eq!(place.shares("out.csv"), [[Some(80.0), None, None]]);
    assert!(place.asked().is_empty());
}

/// The fake profiler runs the real program, which must accept the options. It may fail only because there is no GPU.
#[test]
fn the_program_accepts_the_options() {
    let turned = Row { transpose: Some(true), order: Some(Order::Rcm), ..row("", "gpu-csc") };
    let rows = [row("", "gpu-light:level=vector"), turned];
    let rows = rows.map(|row| Row { file: "gen:grid2d,n=4".into(), ..row });
    let Some(place) = place(&rows) else { return };
    place.has_record("null");
    place.program("bin/ncu", r#"while [ "$1" != --metrics ]; do shift; done; shift 2; exec "$@""#);
    let program = env!("CARGO_BIN_EXE_spmv-bench");
    let ran = place.profile(&format!("rows.csv --spmv-bench {program}")).exits(1);
    for method in ["gpu-light:level=vector", "gpu-csc"] {
        let mut lines = ran.stderr.lines().filter(|line| line.contains(&format!(" {method} ")));
        let measured = format!("; ncu ended with 0; {method} ");
        let refused = "; ncu ended with 2; spmv-bench: --device gpu: ";
        assert!(lines.any(|line| line.contains(&measured) || line.contains(refused)), "{ran:?}");
    }
}

#[test]
fn errors_have_a_reason() {
    let Some(place) = place(&[row("gone.mtx", "gpu-merge")]) else { return };
    place.write("other.csv", "file,method_name\n");
    for (words, message) in [
        ("absent.csv", "absent.csv: No such file or directory"),
        ("other.csv", "other.csv: missing columns: precision, transpose, order, device, status;"),
        ("rows.csv --spmv-bench bin/absent", "bin/absent: no such program; give its path with"),
        (RUN, "gone.mtx: no such file; give the folder of matrices with --matrices"),
    ] {
        place.profile(words).refused(&format!("gpu-profile: {message}"));
    }
    place.write("gone.mtx", "");
    let absent = place.profile("rows.csv -o absent/out.csv --spmv-bench bin/spmv-bench");
    absent.refused("gpu-profile: absent/out.csv.part: No such");
    place.profile_in(place.path("").to_str().unwrap(), RUN).refused("no ncu in PATH");
    assert_eq!(place.asked(), [""; 0], "nothing ran");
}

#[test]
fn without_permission_the_message_explains_how_to_get_it() {
    let Some(place) = place(&[row("gen:wheel,spokes=9", "gpu-merge")]) else { return };
    let denied = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA \
        GPU Performance Counters on the target device 0.\n";
    place.prints("gpu-merge", denied, 0);
    place.write("out.csv", "of an earlier run");
    place.profile(RUN).refused("options nvidia NVreg_RestrictProfilingToAdminUsers=0");
    assert_eq!(place.read("out.csv"), "of an earlier run");
}
