//! The facts of a run in its record, and what follows if two runs differ in one of them.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::row::key::RowKey;
use crate::row::setting::Setting;
use crate::run::{Corpus, RunRecord};
use crate::settings::run::RunSettings;
use crate::settings::{Protocol, Settings};
use Effect::{Build, Machine, Product, Rows, Times};
use spmv_matrix::order::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Product,
    /// Times may differ for this reason.
    Times,
    /// The runs may have different rows, or rows that differ in a column.
    Rows,
    Build,
    Machine,
}

/// A fact: its name, the JSON pointer to it in the run record, the option that sets it, and the meaning of a
/// difference.
type Fact = (&'static str, &'static str, Option<&'static str>, Effect);

/// The facts of a run that affect its rows or times, in addition to its cells and libraries.
const FACTS: [Fact; 30] = [
    ("alpha", "/settings/alpha", Some("--alpha"), Product),
    ("beta", "/settings/beta", Some("--beta"), Product),
    ("values", "/settings/values", Some("--values"), Product),
    ("expand", "/expand", Some("--no-expand"), Product),
    ("edges", "/edges", Some("--edges"), Product),
    ("version", "/version", None, Build),
    ("revision", "/revision", None, Build),
    ("cpu", "/system/cpu", None, Machine),
    ("cores", "/system/cores", None, Machine),
    ("huge_pages", "/system/huge_pages", None, Times),
    ("glibc_tunables", "/system/glibc_tunables", None, Times),
    ("pinned_to", "/pinned_to", None, Times),
    ("gpu", "/gpu/name", None, Times),
    ("protocol", "/settings/protocol", Some("--protocol"), Times),
    ("rounds", "/settings/rounds", Some("--rounds"), Times),
    ("processes", "/settings/processes", Some("--processes"), Times),
    ("iterations", "/settings/iterations", Some("--iterations"), Times),
    ("planned", "/settings/planned", Some("--products"), Times),
    ("warmups", "/settings/warmups", Some("--warmups"), Times),
    ("min_time", "/settings/min_time", Some("--min-time"), Times),
    ("max_time", "/settings/max_time", Some("--max-time"), Times),
    ("timeout", "/settings/timeout", Some("--timeout"), Rows),
    ("max_memory", "/settings/max_memory", Some("--max-memory"), Rows),
    ("cache", "/settings/cache", Some("--cache"), Rows),
    ("x", "/settings/x", Some("--x"), Times),
    ("seed", "/settings/seed", None, Times),
    ("transpose", "/settings/transpose", Some("--transpose"), Rows),
    ("isa", "/settings/isa", Some("--isa"), Times),
    ("persist_x", "/settings/persist_x", Some("--persist-x"), Times),
    ("stages", "/settings/stages", Some("--stages"), Times),
];

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
    let compared = FACTS.into_iter().filter(|(.., effect)| !matches!(effect, Rows | Build));
    let differing = compared.filter_map(|(fact, place, option, effect)| {
        let (in_a, in_b) = (a.pointer(place)?.clone(), b.pointer(place)?.clone());
        let option = option.filter(|_| effect == Product);
        (in_a != in_b).then_some(Difference { fact, in_a, in_b, option })
    });
    differing.collect()
}

/// Describes all differences between two runs. Their rows may be in one file only if there are none.
pub fn differences_to_join(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let [json_a, json_b] =
        [a, b].map(|run| serde_json::to_value(run).expect("every key is a string"));
    let of_facts = FACTS
        .iter()
        .map(|&(name, place, ..)| (name, [&json_a, &json_b].map(|run| joined(run.pointer(place)))));
    let names = |run: &RunRecord| run.libraries.iter().map(|one| one.name.clone()).collect();
    // The libraries of a run that has just begun are not known yet.
    let are_known = !a.libraries.is_empty() && !b.libraries.is_empty();
    let of_libraries = are_known.then(|| ("libraries", [a, b].map(names)));
    let of_cells = |of: fn(&RowKey) -> String| {
        let [in_a, in_b] = [a, b].map(|run| run.cells.iter().map(of).collect::<BTreeSet<_>>());
        [&in_a - &in_b, &in_b - &in_a].map(|only| only.into_iter().collect())
    };
    let of_cells = [
        ("settings in only one of them", of_cells(|cell| Setting::from(cell).to_string())),
        ("methods in only one of them", of_cells(|cell| cell.method.clone())),
    ];
    let all = of_facts.chain(of_libraries).chain(of_cells);
    let differing = all.filter(|(_, [in_a, in_b])| in_a != in_b);
    differing.map(|(name, [in_a, in_b])| format!("{name}: {in_a}, {in_b}")).collect()
}

/// Describes the differences because of which a run cannot be continued: shards may not differ either.
pub fn differences_to_resume(then: &RunRecord, now: &RunRecord) -> Vec<String> {
    let [in_then, in_now] = [then, now].map(|run| {
        let shard = |Corpus { shard, .. }: &Corpus| format!("{}/{}", shard.number, shard.of);
        run.corpus.as_ref().map(shard).unwrap_or_default()
    });
    let shards = (in_then != in_now).then(|| format!("shard: {in_then}, {in_now}"));
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
    let mut usual =
        json!({ "settings": Settings::new(settings.protocol), "expand": true, "edges": null });
    usual["settings"]["protocol"] = json!(Protocol::MergeSpmv);
    let words = |(_, place, option, _): Fact| {
        let (option, value) = (option?.to_owned(), own.pointer(place)?);
        (usual.pointer(place) != Some(value)).then(|| match value {
            Value::Bool(_) => vec![option],
            Value::String(text) => vec![option, text.clone()],
            value => vec![option, value.to_string()],
        })
    };
    FACTS.into_iter().filter_map(words).collect()
}

/// Returns whether two runs were of the same build of this program on the same machine.
pub fn have_same_origin(a: &Value, b: &Value) -> bool {
    let mut facts = FACTS.iter().filter(|(.., effect)| matches!(effect, Build | Machine));
    facts.all(|(_, place, ..)| a.pointer(place) == b.pointer(place))
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
    fn every_setting_is_a_fact() {
        let settings = serde_json::to_value(Settings::new(Protocol::MergeSpmv)).unwrap();
        let keys: BTreeSet<_> = settings.as_object().unwrap().keys().map(String::as_str).collect();
        let facts = FACTS.iter().filter_map(|fact| fact.1.strip_prefix("/settings/"));
        assert_eq!(keys, facts.collect());
    }

    #[test]
    fn facts_that_both_runs_record_are_compared() {
        let a = json!({"expand": true, "settings": {"alpha": 1.0, "rounds": 5, "max_time": 2.0}});
        let b = json!({"settings": {"alpha": 2.0, "rounds": 5, "max_time": null}, "gpu": null});
        let found = differences_to_compare(&a, &b);
        let found: Vec<_> = found.iter().map(|d| (d.fact, d.option)).collect();
        assert_eq!(found, [("alpha", Some("--alpha")), ("max_time", None)]);
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
