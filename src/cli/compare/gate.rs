//! What the limits of `compare` allow, and the exit status that follows.

use anyhow::Result;

use crate::campaign::env::Env;
use crate::cli::verb::CommandStatus;
use spmv_results::report::compare::{Comparison, End, Judged};

/// Says on stderr what in B is worse than the limits, in percent, allow or may be, or how much worse it may be within
/// the intervals. Without a limit everything is allowed. What more of decides is `counted`.
pub fn judge(
    above: Option<f64>,
    pair_above: Option<f64>,
    comparison: &Comparison,
    counted: &str,
    env: &mut Env,
) -> Result<CommandStatus> {
    if above.or(pair_above).is_none() {
        return Ok(CommandStatus::Ok);
    }
    let err = &mut env.stderr;
    let lost = comparison.lost().len();
    if lost > 0 {
        writeln!(err, "{lost} rows are ok in A but not in B")?;
    }
    let judged = comparison.judged(above, pair_above);
    for it in &judged {
        let (percent, shown) = (it.percent, in_words(it));
        match it.end() {
            End::Passed => (),
            End::Failed => writeln!(err, "slower by more than {percent} %: {shown}")?,
            End::Undecided => {
                let needed = needed(it, counted);
                writeln!(err, "not decided whether slower by more than {percent} %: {shown}; {needed}")?;
            }
        }
    }
    let any = |end| judged.iter().any(|it| it.end() == end);
    if lost > 0 || any(End::Failed) {
        return Ok(CommandStatus::Bad);
    }
    if any(End::Undecided) {
        return Ok(CommandStatus::Undecided);
    }
    let ends = judged.iter().filter_map(|it| Some((&it.label, it.ratio.interval()?.1)));
    if let Some((label, most)) = ends.max_by(|a, b| a.1.total_cmp(&b.1)) {
        writeln!(err, "passed; within its interval {label} may be {most:.2} times as long as in A")?;
    }
    Ok(CommandStatus::Ok)
}

fn in_words(Judged { label, ratio, .. }: &Judged) -> String {
    let interval = ratio.interval().map(|(low, high)| format!(" ({low:.3} to {high:.3})"));
    format!("{label}: {:.3}{}", ratio.value, interval.unwrap_or_default())
}

/// Returns what would decide.
fn needed(judged: &Judged, counted: &str) -> String {
    match (judged.ratio.half, judged.needed()) {
        (None, _) => "rows of fewer than six samples have no interval: measure with --rounds 6 or more".into(),
        (_, None) => "it is too close to the limit, and no number of runs decides".into(),
        (_, Some(needed)) => format!("if that stays so, {needed} {counted} decide"),
    }
}
