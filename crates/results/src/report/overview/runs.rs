use serde_json::Value;

use super::entries::ResultFile;
use crate::report::groups::grouped;
use crate::report::names::join;
use crate::report::page::Section;
use crate::report::view::View;
use crate::table::{Table, significant};

/// The groups of facts in a run record, with their titles. The group `""` contains the facts at the top level.
const GROUPS: [(&str, &str); 6] = [
    ("", "Run"),
    ("system", "Machine"),
    ("gpu", "GPU"),
    ("settings", "Settings"),
    ("libraries", "Libraries"),
    ("bandwidth", "Bandwidth"),
];

pub fn runs(files: &[ResultFile]) -> Option<Section> {
    let recorded: Vec<_> = files.iter().filter_map(|file| Some((file, file.record.as_ref()?))).collect();
    let without = files.iter().filter(|file| file.record.is_none());
    let without = join(without.map(|file| format!("`{}.run.json`", file.name)), ", ");
    let lead = format!("Facts are missing for files without a run record: there is no {without}.");
    let lead = if without.is_empty() { vec![] } else { vec![lead] };
    let views = GROUPS.iter().filter_map(|(group, title)| view(title, group, &recorded));
    let section = Section { title: "How it was measured".into(), lead, views: views.collect() };
    (!recorded.is_empty()).then_some(section)
}

fn view(title: &str, group: &str, recorded: &[(&ResultFile, &Value)]) -> Option<View> {
    let facts: Vec<_> = recorded.iter().map(|(_, record)| facts(record, group)).collect();
    let names = grouped(facts.iter().flatten(), |(name, _)| name);
    let mut table = Table::of(&names).column("fact", |(name, _)| &name[..]);
    for ((file, _), facts) in recorded.iter().zip(&facts) {
        table =
            table.column(&file.name, |(name, _)| facts.iter().find(|fact| fact.0 == **name).map(|fact| fact.1.clone()));
    }
    let view = View::of(vec![], None, table);
    (!names.is_empty()).then(|| View { title: title.into(), ..view })
}

fn facts(record: &Value, group: &str) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if !group.is_empty() {
        flatten("", &record[group], &mut facts);
        return facts;
    }
    let top = record.as_object().into_iter().flatten();
    let own = top.filter(|(key, _)| GROUPS.iter().all(|(group, _)| key != group));
    // The cells, of which there may be many, come last.
    let (cells, others): (Vec<_>, Vec<_>) = own.partition(|(key, _)| *key == "cells");
    for (key, value) in others.into_iter().chain(cells) {
        flatten(&key.replace('_', " "), value, &mut facts);
    }
    facts
}

/// Adds a fact for each member of an object, recursively, and for each object in a list.
fn flatten(name: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    let joined = |key: &str| format!("{name} {key}").trim().replace('_', " ");
    match value {
        Value::Null => {}
        Value::Object(parts) => {
            for (key, part) in parts {
                flatten(&joined(key), part, facts);
            }
        }
        Value::Array(parts) if parts.iter().any(Value::is_object) => {
            for (index, part) in parts.iter().enumerate() {
                facts.push((joined(&(index + 1).to_string()), shown(part)));
            }
        }
        value => facts.push((name.to_owned(), shown(value))),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map(significant).unwrap_or_default(),
        Value::Array(parts) => parts.iter().map(shown).collect::<Vec<_>>().join(" "),
        Value::Object(parts) => {
            let known = parts.iter().filter(|(_, part)| !part.is_null());
            let texts = known.map(|(key, of)| format!("{} {}", key.replace('_', " "), shown(of)));
            texts.collect::<Vec<_>>().join(", ")
        }
        plain => plain.to_string(),
    }
}
