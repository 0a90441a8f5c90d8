//! The section of a setting: views of the rows that may be compared.

use serde::Deserialize;

use super::speeds;
use crate::report::View;
use crate::report::page::Section;
use crate::report::standings::{self, Standings};
use crate::report::views::{Recorded, Spec};

/// The definitions of the views of a setting. The views of module `speeds` precede them.
const VIEWS: &str = include_str!("views.toml");

/// Returns the section with all views.
pub(super) fn section(setting: &str, recorded: Recorded) -> Section {
    of(setting, recorded, |_| true)
}

/// Returns the section with only the views whose tables are printed on a terminal.
pub(super) fn main_tables(setting: &str, recorded: Recorded) -> Section {
    of(setting, recorded, |spec| matches!(spec, Spec::Profile(_) | Spec::Best(_)))
}

fn of(setting: &str, recorded: Recorded, wanted: fn(&Spec) -> bool) -> Section {
    let Some(rates) = speeds::rates(&recorded.lines) else {
        let lead = vec!["No result is correct and timed: there is nothing to show.".into()];
        return Section { title: setting.into(), lead, ..Section::default() };
    };
    let rates = View { foot: recorded.foot(), ..rates };
    let times = standings::times(&recorded.lines);
    let standings = Standings::of(&times);
    let over_baselines = speeds::over_baselines(&standings);
    let specs = specs(standings.reference).into_iter().filter(wanted);
    let views = specs.map(|spec| spec.view(&recorded)).filter(shows_something);
    let views = [rates, over_baselines].into_iter().chain(views).collect();
    Section { title: setting.into(), views, ..Section::default() }
}

fn shows_something(view: &View) -> bool {
    view.table.as_ref().map_or(view.chart.is_some(), |table| !table.rows.is_empty())
}

/// The definition of a view.
#[derive(Deserialize)]
struct Definition {
    /// The text between title and baseline, if the view compares methods with a baseline.
    before_baseline: Option<String>,
    #[serde(flatten)]
    keys: toml::Table,
}

/// Returns the views. Without a baseline, those that need one are left out.
fn specs(baseline: Option<&str>) -> Vec<Spec> {
    #[derive(Deserialize)]
    struct Views {
        view: Vec<Definition>,
    }
    let views: Views = toml::from_str(VIEWS).expect("the file is tested");
    let spec = |Definition { before_baseline, mut keys }| {
        if let Some(text) = before_baseline {
            let (title, baseline) = (keys["title"].as_str().unwrap_or_default(), baseline?);
            keys.insert("title".into(), format!("{title}{text}{baseline}").into());
            keys.insert("over".into(), baseline.into());
        }
        Some(keys.try_into().expect("the file is tested"))
    };
    views.view.into_iter().filter_map(spec).collect()
}
