//! The machines on which rows were measured, and the dates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::facts::machine;
use crate::record::read::RecordedRow;

/// Returns the machines of these rows, each with the first and last day of its runs, from the run records.
pub fn origin(lines: &[&RecordedRow], runs: &[&Value]) -> String {
    let mut days: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for line in lines {
        let (machine, day) = of_row(line, runs).unwrap_or_default();
        let (first, last) = days.entry(machine).or_insert((day, day));
        (*first, *last) = (day.min(first), day.max(last));
    }
    let machines =
        days.into_iter().map(|(machine, (first, last))| match (&machine[..], first == last) {
            ("", _) => "machine and date not recorded".to_owned(),
            (_, true) => format!("{machine}, {first}"),
            (_, false) => format!("{machine}, {first} to {last}"),
        });
    machines.collect::<Vec<_>>().join("; ")
}

/// Returns the machine and the day of a row's run.
fn of_row<'r>(line: &RecordedRow, runs: &[&'r Value]) -> Option<(String, &'r str)> {
    let run = runs.iter().find(|run| run["run_id"].as_str() == Some(&line.row.run_id))?;
    let date = run["date"].as_str()?;
    Some((machine(run, line.row.device?.name())?, date.get(..10).unwrap_or(date)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::row::Row;
    use spmv_methods::method::Device;

    #[test]
    fn each_machine_is_named_with_its_days() {
        let run = |id: &str, day: &str| {
            json!({"run_id": id, "date": format!("{day}T10:00:00Z"), "gpu": {"name": "G"},
                "system": {"cpu": "C", "cores": 2}})
        };
        let runs = [run("r1", "2026-03-02"), run("r2", "2026-03-04"), run("r3", "2026-03-03")];
        let row = |run: &str, device| {
            RecordedRow::from(Row { run_id: run.into(), device: Some(device), ..Row::default() })
        };
        let shown = |rows: &[(&str, Device)]| {
            let lines: Vec<_> = rows.iter().map(|&(run, device)| row(run, device)).collect();
            origin(&lines.iter().collect::<Vec<_>>(), &runs.iter().collect::<Vec<_>>())
        };
        let (cpu, gpu) = (Device::Cpu, Device::Gpu);
        assert_eq!(shown(&[("r1", cpu)]), "C, 2 cores, 2026-03-02");
        assert_eq!(
            shown(&[("r2", cpu), ("r1", cpu), ("r3", gpu)]),
            "C, 2 cores, 2026-03-02 to 2026-03-04; G, 2026-03-03"
        );
        assert_eq!(shown(&[("r4", cpu)]), "machine and date not recorded");
        assert_eq!(shown(&[]), "");
    }
}
