//! The facts of a run in its record, and what follows if two runs differ in one of them.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::row::{GroupKey, RowKey};
use crate::run::{Corpus, RunRecord};
use crate::settings::info::Effect::{Build, Machine, Product, Rows, Times, Unrecorded};
use crate::settings::info::Fact;
use crate::settings::{Protocol, RunSettings, Settings};
use spmv_matrix::order::Order;

/// The facts of a run outside its settings, in addition to its cells and libraries.
const OTHERS: [Fact; 12] = [
    Fact::new("expand", "/expand", Product).set_by("--no-expand"),
    Fact::new("edges", "/edges", Product).set_by("--edges"),
    Fact::new("version", "/version", Build),
    Fact::new("revision", "/revision", Build),
    Fact::new("cpu", "/system/cpu", Machine),
    Fact::new("cores", "/system/cores", Machine),
    Fact::new("huge_pages", "/system/huge_pages", Times),
    Fact::new("glibc_tunables", "/system/glibc_tunables", Times),
    Fact::new("huge_arrays", "/system/huge_arrays", Times),
    Fact::new("openmp", "/system/openmp", Times),
    Fact::new("pinned_to", "/pinned_to", Times),
    Fact::new("gpu", "/gpu/name", Times),
];

/// Returns the facts of a run that affect its rows or times.
fn facts() -> impl Iterator<Item = Fact> {
    OTHERS.into_iter().chain(Settings::INFO.iter().map(|setting| setting.fact))
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub fact: &'static str,
    pub in_a: Value,
    pub in_b: Value,
    /// The option that sets the fact, if the two runs computed different products.
    pub option: Option<&'static str>,
}

/// Returns the differences that matter if times are compared. Facts that one run lacks, being older, are ignored.
pub fn differences_to_compare(a: &Value, b: &Value) -> Vec<Difference> {
    let compared = facts().filter(|fact| !matches!(fact.effect, Rows | Build));
    let differing = compared.filter_map(|fact| {
        let in_a = a.pointer(fact.place)?.clone();
        let in_b = b.pointer(fact.place)?.clone();
        let option = fact.option.filter(|_| fact.effect == Product);
        (in_a != in_b).then_some(Difference { fact: fact.name, in_a, in_b, option })
    });
    differing.collect()
}

/// Describes all differences between two runs. Their rows may be in one file only if there are none.
pub fn differences_to_join(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut differing = Vec::new();
    let mut compare = |name, [in_a, in_b]: [Value; 2]| {
        if in_a != in_b {
            differing.push(format!("{name}: {in_a}, {in_b}"));
        }
    };
    let records = [a, b].map(|run| serde_json::to_value(run).expect("every key is a string"));
    for fact in facts().filter(|fact| fact.effect != Unrecorded) {
        compare(fact.name, records.each_ref().map(|run| joined(run.pointer(fact.place))));
    }
    // The libraries of a run that has just begun are not known yet.
    if !a.libraries.is_empty() && !b.libraries.is_empty() {
        let names = |run: &RunRecord| run.libraries.iter().map(|one| one.name.clone()).collect();
        compare("libraries", [a, b].map(names));
    }
    let group = |cell: &RowKey| GroupKey::from(cell).to_string();
    compare("settings in only one of them", only_in_one(a, b, group));
    compare("methods in only one of them", only_in_one(a, b, |cell| cell.method.clone()));
    differing
}

/// Returns what only the cells of `a` have, and only those of `b`.
fn only_in_one(a: &RunRecord, b: &RunRecord, of: impl Fn(&RowKey) -> String) -> [Value; 2] {
    let [in_a, in_b] = [a, b].map(|run| run.cells.iter().map(&of).collect::<BTreeSet<_>>());
    [&in_a - &in_b, &in_b - &in_a].map(|only| only.into_iter().collect())
}

/// Describes the differences because of which a run cannot be continued: shards may not differ either.
pub fn differences_to_resume(then: &RunRecord, now: &RunRecord) -> Vec<String> {
    let [in_then, in_now] = [then, now].map(|run| {
        let shard = |Corpus { shard, .. }: &Corpus| format!("{}/{}", shard.number, shard.of);
        run.corpus.as_ref().map(shard).unwrap_or_default()
    });
    let shards = (in_then != in_now).then(|| format!("shard: {in_then}, {in_now} (to continue, --shard {in_then})"));
    differences_to_join(then, now).into_iter().chain(shards).collect()
}

/// Returns whether a recorded run measured with these settings. A run of an older version that lacks one did not.
pub fn has_settings(record: &Value, run: &RunSettings) -> bool {
    let settings = Settings::deserialize(&record["settings"]);
    record["expand"].as_bool() == Some(run.expand)
        && record["edges"] == json!(run.edges)
        && settings.is_ok_and(|settings| settings == run.settings)
}

/// Returns the options that select the settings of a run, without its methods and what its protocol sets.
pub fn options(run: &RunSettings) -> Vec<String> {
    let pair = |option: &str, value: String| vec![option.to_owned(), value];
    let device = pair("--device", run.device.to_string());
    let precisions = run.precisions.iter().map(|one| pair("--precision", one.name().into()));
    let threads = run.threads.iter().map(|threads| pair("--threads", threads.to_string()));
    let orders = run.orders.iter().filter(|&&order| order != Order::Natural);
    let orders = orders.map(|order| pair("--order", order.name().into()));
    let first = [device].into_iter().chain(changed_settings(run));
    first.chain(precisions).chain(threads).chain(orders).flatten().collect()
}

fn changed_settings(run: &RunSettings) -> Vec<Vec<String>> {
    let RunSettings { settings, expand, edges, .. } = run;
    let own = json!({ "settings": settings, "expand": expand, "edges": edges });
    let mut usual = json!({ "settings": Settings::new(settings.protocol), "expand": true, "edges": null });
    usual["settings"]["protocol"] = json!(Protocol::MergeSpmv);
    let words = |fact: Fact| {
        let option = fact.option?.to_owned();
        let value = own.pointer(fact.place)?;
        (usual.pointer(fact.place) != Some(value)).then(|| match value {
            Value::Bool(_) => vec![option],
            Value::String(text) => vec![option, text.clone()],
            value => vec![option, value.to_string()],
        })
    };
    facts().filter_map(words).collect()
}

/// Returns whether two runs were of the same build of this program on the same machine.
pub fn have_same_origin(a: &Value, b: &Value) -> bool {
    let mut of_origin = facts().filter(|fact| matches!(fact.effect, Build | Machine));
    of_origin.all(|fact| a.pointer(fact.place) == b.pointer(fact.place))
}

pub fn origin(run: &Value) -> String {
    let revision = run["revision"].as_str().unwrap_or("unknown");
    format!("revision {revision} on {}", machine(run, "cpu").unwrap_or("an unknown machine".into()))
}

/// Returns the name of the processor on which rows of a device were measured, if the run record contains it.
pub fn machine(run: &Value, device: &str) -> Option<String> {
    if device == "gpu" {
        return Some(run["gpu"]["name"].as_str()?.to_owned());
    }
    let system = &run["system"];
    Some(format!("{}, {} cores", system["cpu"].as_str()?, system["cores"].as_u64()?))
}

/// Returns what must be the same in all runs of a file: of the CPUs to which threads are pinned, the number.
fn joined(value: Option<&Value>) -> Value {
    match value {
        Some(Value::Array(cpus)) => format!("{} CPUs", cpus.len()).into(),
        value => value.cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_both_runs_record_are_compared() {
        let a = json!({"expand": true, "settings": {"alpha": 1.0, "rounds": 5, "max_time": 2.0}});
        let b = json!({"settings": {"alpha": 2.0, "rounds": 5, "max_time": null}, "gpu": null});
        let found = differences_to_compare(&a, &b);
        let found: Vec<_> = found.iter().map(|d| (d.fact, d.option)).collect();
        assert_eq!(found, [("max_time", None), ("alpha", Some("--alpha"))]);
        assert!(differences_to_compare(&a, &a).is_empty());
    }

    #[test]
    fn the_origin_is_the_build_and_the_machine() {
        let run = json!({"revision": "1", "system": {"cpu": "a CPU", "cores": 2}, "expand": true});
        assert_eq!(origin(&run), "revision 1 on a CPU, 2 cores");
        assert_eq!(origin(&json!({})), "revision unknown on an unknown machine");
        for (name, same) in [("expand", true), ("revision", false), ("system", false)] {
            let mut other = run.clone();
            other[name] = json!("other");
            assert_eq!(have_same_origin(&run, &other), same, "{name}");
        }
    }
}
