//! Compares two runs, to decide whether their rows may be combined in one file.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::record::run::{Corpus, RowKey, RunRecord};
use crate::record::setting::Setting;

/// A property of a run that affects its results.
type Fact = fn(&RunRecord) -> Value;

/// Returns descriptions of the differences between two runs that affect their results. It is empty if the rows
/// may be combined.
pub fn differences(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |name: &str, a: &dyn Fn() -> Value, b: &dyn Fn() -> Value| {
        let (a, b) = (a(), b());
        if a != b {
            found.push(format!("{name}: {a}, {b}"));
        }
    };
    // The libraries of a run that has just begun are not known yet.
    if !a.libraries.is_empty() && !b.libraries.is_empty() {
        let names = |run: &RunRecord| run.libraries.iter().map(|one| one.name.clone()).collect();
        compare("libraries", &|| names(a), &|| names(b));
    }
    let facts: [(&str, Fact); 7] = [
        ("version", |run| run.version.clone().into()),
        ("revision", |run| run.revision.clone().into()),
        ("CPU", |run| run.system.cpu.clone().into()),
        ("cores", |run| run.system.cores.into()),
        ("threads", |run| run.pinned_to.len().into()),
        ("GPU", |run| run.gpu.as_ref().map(|gpu| gpu.facts.name.clone()).into()),
        ("expand", |run| run.expand.into()),
    ];
    for (name, fact) in facts {
        compare(name, &|| fact(a), &|| fact(b));
    }
    let settings = |run: &RunRecord| serde_json::to_value(&run.settings).unwrap_or_default();
    let (in_a, in_b) = (settings(a), settings(b));
    for name in in_a.as_object().into_iter().flat_map(|settings| settings.keys()) {
        compare(name, &|| in_a[name].clone(), &|| in_b[name].clone());
    }
    // Compares the sets of a property of all cells, and reports what is only in one of them.
    let mut compare_cells = |name: &str, of: fn(&RowKey) -> String| {
        let [in_a, in_b] = [a, b].map(|run| run.cells.iter().map(of).collect::<BTreeSet<_>>());
        compare(name, &|| in_a.difference(&in_b).cloned().collect(), &|| {
            in_b.difference(&in_a).cloned().collect()
        });
    };
    compare_cells("settings in only one of them", |cell| Setting::from(cell).to_string());
    compare_cells("methods in only one of them", |cell| cell.method.clone());
    found
}

/// Returns the [`differences`] between two runs, including their shards of the corpus.
pub fn differences_of_shares(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let shard = |run: &RunRecord| {
        let share = |corpus: &Corpus| format!("{}/{}", corpus.shard.number, corpus.shard.of);
        run.corpus.as_ref().map(share).unwrap_or_default()
    };
    let shards = (shard(a) != shard(b)).then(|| format!("shard: {}, {}", shard(a), shard(b)));
    differences(a, b).into_iter().chain(shards).collect()
}
