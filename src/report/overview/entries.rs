//! Rows, each with the file that it comes from and the setting in which it may be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::files::ResultFile;
use crate::record::read::RecordedRow;
use crate::record::setting::Setting;
use crate::report::grouped::grouped;
use crate::report::matched;

/// A row with its file and setting.
pub(super) struct OverviewRow<'a> {
    pub(super) file: &'a ResultFile,
    pub(super) line: &'a RecordedRow,
    /// A description of the setting. Only rows with the same setting may be compared. Empty if no method ran on
    /// the matrix.
    pub(super) setting: String,
}

/// The rows of all files.
pub(super) struct Entries<'a> {
    pub(super) files: &'a [ResultFile],
    /// The rows, in the order of the files.
    pub(super) all: Vec<OverviewRow<'a>>,
    /// The number of rows that were left out because an earlier row has the same run, matrix, method and setting.
    pub(super) repeated: usize,
    /// The settings in which several runs measured the same matrix and method, so that each run has its own
    /// setting.
    pub(super) split_by_run: BTreeSet<String>,
}

impl<'a> OverviewRow<'a> {
    /// Returns the id of the run, or the name of the file if the row has no id.
    pub(super) fn run(&self) -> &'a str {
        let id = &self.line.row.run_id;
        if id.is_empty() { &self.file.name } else { id }
    }
}

impl<'a> Entries<'a> {
    pub(super) fn of(files: &'a [ResultFile]) -> Self {
        let all = files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
        let (threads, several) = (threads(files), has_several_machines(files));
        let entries = all.map(|(file, line)| {
            let threads = threads.get(&line.row.run_id[..]).copied();
            OverviewRow { file, line, setting: setting(file, line, threads, several) }
        });
        let mut entries: Vec<_> = entries.collect();
        let before = entries.len();
        let mut seen = BTreeSet::new();
        entries.retain(|entry| {
            let (row, setting) = (&entry.line.row, entry.setting.clone());
            seen.insert((entry.run(), &row.file, entry.line.method(), setting))
        });
        let repeated = before - entries.len();
        let split_by_run = split_by_run(&mut entries);
        Self { files, all: entries, repeated, split_by_run }
    }

    /// Returns each setting with its rows, in the order of their first appearance.
    pub(super) fn settings(&self) -> Vec<(&str, Vec<&'a RecordedRow>)> {
        let measured = self.all.iter().filter(|entry| !entry.setting.is_empty());
        let settings = grouped(measured, |entry| &entry.setting[..]).into_iter();
        settings
            .map(|(setting, of)| (setting, of.iter().map(|entry| entry.line).collect()))
            .collect()
    }

    /// Returns the number of distinct values of `of` over all rows.
    pub(super) fn distinct<T: Ord>(&self, of: impl Fn(&OverviewRow<'a>) -> T) -> usize {
        self.all.iter().map(of).collect::<BTreeSet<_>>().len()
    }
}

/// Returns the largest number of threads in each run.
fn threads(files: &[ResultFile]) -> BTreeMap<&str, usize> {
    let mut threads = BTreeMap::new();
    for row in files.iter().flat_map(|file| &file.lines).map(|line| &line.row) {
        let most = threads.entry(&row.run_id[..]).or_default();
        *most = row.threads.unwrap_or_default().max(*most);
    }
    threads
}

fn has_several_machines(files: &[ResultFile]) -> bool {
    let several = |device| {
        let machines = files.iter().filter_map(|file| file.machine(device));
        machines.collect::<BTreeSet<_>>().len() > 1
    };
    several("cpu") || several("gpu")
}

/// Describes the setting of a row, for example `f64, CPU, 2 threads, hot cache`, with what differs from the
/// defaults. Returns an empty string where no method ran.
fn setting(
    file: &ResultFile,
    line: &RecordedRow,
    threads: Option<usize>,
    name_machine: bool,
) -> String {
    let row = &line.row;
    if line.method().is_empty() {
        return String::new();
    }
    let machine = row.device.filter(|_| name_machine).and_then(|d| file.machine(d.name()));
    let setting = Setting::of(row, threads).to_string();
    let parts = [(!setting.is_empty()).then_some(setting), machine];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if parts.is_empty() { "measured".into() } else { parts }
}

/// If several runs have a row of the same matrix and method in one setting, gives each run its own setting,
/// because a mean over runs would hide the differences between them. Returns the settings that were split.
fn split_by_run(entries: &mut [OverviewRow]) -> BTreeSet<String> {
    let mut runs = BTreeMap::new();
    let mut apart = BTreeSet::new();
    for entry in entries.iter().filter(|entry| !entry.setting.is_empty()) {
        let measured = (&entry.setting, matched::matrix(entry.line), entry.line.method());
        if *runs.entry(measured).or_insert(entry.run()) != entry.run() {
            apart.insert(entry.setting.clone());
        }
    }
    for entry in entries.iter_mut().filter(|entry| apart.contains(&entry.setting)) {
        entry.setting = format!("{}, run {}", entry.setting, entry.run());
    }
    apart
}
