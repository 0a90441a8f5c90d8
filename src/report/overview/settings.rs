//! The section of a setting: views of the rows that may be compared.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::record::read::RecordedRow;
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::Axis;
use crate::report::matched::{self, Numbers, timed};
use crate::report::page::Section;
use crate::report::standings::{self, Ranking, Standings};
use crate::report::statistics::{Kinds, Statistic};
use crate::report::views::{Recorded, Spec};

/// The definitions of the views of a setting, which follow the tables of rates and of speed-ups.
const VIEWS: &str = include_str!("views.toml");

pub(super) fn section(setting: &str, recorded: &Recorded, wanted: fn(&Spec) -> bool) -> Section {
    let Some(rates) = rates(&recorded.lines) else {
        let lead = vec!["No result is correct and timed: there is nothing to show.".into()];
        return Section { title: setting.into(), lead, ..Section::default() };
    };
    let times = standings::times(&recorded.lines);
    let standings = Standings::of(&times);
    let over_baselines = View {
        title: "Speed-up over the best baseline on each matrix".into(),
        ..View::of(standings.notes(), None, standings.table())
    };
    let mut views = vec![View { foot: recorded.foot(&recorded.lines), ..rates }, over_baselines];
    for spec in specs(standings.reference).into_iter().filter(wanted) {
        let view = spec.view(recorded);
        if view.table.as_ref().map_or(view.chart.is_some(), |table| !table.rows.is_empty()) {
            views.push(view);
        }
    }
    Section { title: setting.into(), views, ..Section::default() }
}

/// Returns a bar chart of geometric means, the fastest method first, and a table that also has the extremes.
/// Returns `None` if no row is correct and timed.
fn rates(lines: &[&RecordedRow]) -> Option<View> {
    let timed: Vec<_> = timed(lines.iter().copied()).collect();
    let [matrices, _] = matched::matrices(timed.iter().copied());
    let methods: BTreeSet<_> = timed.iter().map(|line| line.method()).collect();
    let rates = |method| -> Numbers {
        let own = timed.iter().filter(|line| line.method() == method);
        own.filter_map(|&line| Some((line, line.row.typical_gflops()?))).collect()
    };
    let rates = methods.into_iter().map(|method| (method, rates(method)));
    let ranking = Ranking::of(rates, matrices, true);
    if ranking.methods.is_empty() {
        return None;
    }
    let kinds = Kinds::of_lines(&timed);
    let axis = Axis::linear(format!("GFLOP/s, geometric mean over {matrices} matrices"));
    let table = Table::of(&ranking.methods)
        .column("method", |of| of.method)
        .column("matrices", |of| of.numbers.len())
        .column("least", |of| Statistic::Min.over(&of.numbers))
        .means(kinds, ("geometric mean", Statistic::GeometricMean), |of| &of.numbers)
        .column("greatest", |of| Statistic::Max.over(&of.numbers))
        .build();
    let notes = kinds.note().into_iter().chain(ranking.note()).collect();
    let view = View::of(notes, ranking.chart(axis, "GFLOP/s"), table);
    Some(View { title: "Speed of each method, in GFLOP/s".into(), ..view })
}

#[derive(Deserialize)]
struct Definitions {
    view: Vec<Definition>,
}

#[derive(Deserialize)]
struct Definition {
    /// The text between title and baseline, if the view compares methods with a baseline.
    before_baseline: Option<String>,
    #[serde(flatten)]
    keys: toml::Table,
}

/// Returns the views. Without a baseline, those that need one are left out.
fn specs(baseline: Option<&str>) -> Vec<Spec> {
    let definitions: Definitions = toml::from_str(VIEWS).expect("the file is tested");
    let spec = |Definition { before_baseline, mut keys }| {
        if let Some(text) = before_baseline {
            let (title, baseline) = (keys["title"].as_str().unwrap_or_default(), baseline?);
            keys.insert("title".into(), format!("{title}{text}{baseline}").into());
            keys.insert("over".into(), baseline.into());
        }
        Some(keys.try_into().expect("the file is tested"))
    };
    definitions.view.into_iter().filter_map(spec).collect()
}
