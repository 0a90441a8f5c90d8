//! The section of a setting: views of the rows that may be compared.

use serde::Deserialize;

use super::speeds;
use crate::methods::BASELINES;
use crate::report::View;
use crate::report::lines::RecordedRow;
use crate::report::matched;
use crate::report::page::Section;
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
    let over_baselines = speeds::over_baselines(&recorded.lines);
    let specs = specs(baseline(&recorded.lines)).into_iter().filter(wanted);
    let views = specs.map(|spec| spec.view(&recorded)).filter(shows_something);
    let views = [rates, over_baselines].into_iter().chain(views).collect();
    Section { title: setting.into(), views, ..Section::default() }
}

fn shows_something(view: &View) -> bool {
    view.table.as_ref().map_or(view.chart.is_some(), |table| !table.rows.is_empty())
}

fn baseline(lines: &[&RecordedRow]) -> Option<&'static str> {
    let ran = |name: &&str| {
        lines.iter().any(|line| line.method() == *name && matched::time(line).is_some())
    };
    BASELINES.iter().map(|baseline| baseline.name).find(ran)
}

fn specs(baseline: Option<&str>) -> Vec<Spec> {
    #[derive(Deserialize)]
    struct Views {
        view: Vec<toml::Table>,
    }
    let text = VIEWS.replace("BASELINE", baseline.unwrap_or("BASELINE"));
    let views: Views = toml::from_str(&text).expect("the file is tested");
    let of_baseline = |view: &toml::Table| view.get("over").is_some();
    let views = views.view.into_iter().filter(|view| baseline.is_some() || !of_baseline(view));
    views.map(|view| view.try_into().expect("the file is tested")).collect()
}
