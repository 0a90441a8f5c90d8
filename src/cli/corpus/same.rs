//! Whether two runs measured alike, so that their rows may stand in one file.

use serde_json::Value;

use crate::record::run::{Corpus, RunRecord};

/// Something that rows depend on.
type Fact = fn(&RunRecord) -> Value;

/// How the facts of two runs differ that rows depend on, in words; nothing if they may be one.
pub fn differences(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |name: &str, a: &dyn Fn() -> Value, b: &dyn Fn() -> Value| {
        let (a, b) = (a(), b());
        if a != b {
            found.push(format!("{name}: {a}, {b}"));
        }
    };
    // Those of a run that has just begun are not known yet.
    if !a.libraries.is_empty() && !b.libraries.is_empty() {
        let names = |run: &RunRecord| run.libraries.iter().map(|one| one.name.clone()).collect();
        compare("libraries", &|| names(a), &|| names(b));
    }
    let facts: [(&str, Fact); 8] = [
        ("version", |run| run.version.clone().into()),
        ("revision", |run| run.revision.clone().into()),
        ("CPU", |run| run.system.cpu.clone().into()),
        ("cores", |run| run.system.cores.into()),
        ("threads", |run| run.pinned_to.len().into()),
        ("GPU", |run| run.gpu.as_ref().map(|gpu| gpu.facts.name.clone()).into()),
        ("expand", |run| run.expand.into()),
        ("order", |run| run.order.name().into()),
    ];
    for (name, fact) in facts {
        compare(name, &|| fact(a), &|| fact(b));
    }
    let settings = |run: &RunRecord| serde_json::to_value(&run.settings).unwrap_or_default();
    let (in_a, in_b) = (settings(a), settings(b));
    for name in in_a.as_object().into_iter().flat_map(|settings| settings.keys()) {
        compare(name, &|| in_a[name].clone(), &|| in_b[name].clone());
    }
    let only = |a: &RunRecord, b: &RunRecord| -> Value {
        let cells = a.cells.iter().filter(|cell| !b.cells.contains(cell));
        cells.map(|cell| format!("{} in {}", cell.method, cell.precision.name())).collect()
    };
    compare("methods that only one has", &|| only(a, b), &|| only(b, a));
    found
}

/// The same for what is measured: [`differences`] and the share of the corpus.
pub fn differences_of_shares(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let shard = |run: &RunRecord| {
        let share = |corpus: &Corpus| format!("{}/{}", corpus.shard.number, corpus.shard.of);
        run.corpus.as_ref().map(share).unwrap_or_default()
    };
    let shards = (shard(a) != shard(b)).then(|| format!("shard: {}, {}", shard(a), shard(b)));
    differences(a, b).into_iter().chain(shards).collect()
}
