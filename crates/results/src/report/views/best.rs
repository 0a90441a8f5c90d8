//! The view `best`: how often each method is the fastest, and what is lost if it is the only one.

use super::contest::{Contest, Run};
use super::kind::*;
use crate::report::matched::is_loss;
use crate::report::ranking::{Ranked, Ranking};

keys! {
    /// The number of matrices on which each method is the fastest, and how much time is lost if it is used for all.
    Best {}
}

impl Kind for Best {
    fn view(&self, shown: &Shown) -> View {
        let losses = Contest::losses(shown.contests(), &shown.series);
        let ranking = Ranking::of(losses, shown.matrices().len(), false).with_intervals();
        let kinds = shown.kinds();
        let chart = ranking.chart(Axis::linear("mean loss: time / time of the fastest"), "geometric mean");
        let table = best_table(&ranking, &wins(shown), kinds);
        let meaning = "loss: time divided by the time of the fastest method on the same matrix; means are over the \
                       matrices on which the method runs; equally fast methods all count as the fastest, and methods \
                       that chose another measured one not at all; certain: the 95 % intervals of the times of all \
                       others over its time lie above 1";
        let notes = [shown.note_on_several(), Some(meaning.into())].into_iter().chain(ranking.notes());
        View { kinds, ..View::of(shown.notes(notes), chart, table) }
    }
}

/// The numbers of matrices on which each method is the fastest, and on which it certainly is if intervals are known.
type Wins<'a> = BTreeMap<&'a str, (usize, Option<usize>)>;

fn wins<'s>(shown: &'s Shown) -> Wins<'s> {
    let mut wins = Wins::new();
    for contest in shown.winners() {
        let is_certain = contest.is_certain(usize::MAX);
        let first = contest.ranking.iter().take_while(|(_, loss)| *loss <= 1.0);
        for (place, _) in first {
            let (won, certain) = wins.entry(&shown.series[*place].name[..]).or_default();
            *won += 1;
            *certain = is_certain.map(|is| certain.unwrap_or(0) + usize::from(is)).or(*certain);
        }
    }
    wins
}

fn best_table(ranking: &Ranking<Run>, wins: &Wins, kinds: Kinds) -> Table {
    let certain = wins.values().any(|(_, certain)| certain.is_some()).then_some("certain on");
    let won = |of: &Ranked<Run>| wins.get(of.method).copied().unwrap_or_default();
    let means = |of: &Ranked<Run>| kinds.means(&of.numbers, Statistic::GeometricMean);
    Table::of(&ranking.methods)
        .column("method", |of| of.method)
        .column("fastest on", |of| won(of).0)
        .columns(certain, |of| certain.map(|_| won(of).1))
        .column("runs on", |of| of.numbers.len())
        .columns(kinds.columns("mean loss"), |of| means(of).into_iter().map(loss))
        .column("95 % interval", |of| of.between())
        .column("greatest loss", |of| loss(Statistic::Max.over(&of.numbers)))
        .column("on", |of| {
            let worst = of.numbers.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            worst.filter(|worst| is_loss(worst.1)).map(|worst| &worst.0.1.name[..])
        })
        .build()
}

/// Returns a loss for a table, `none` where it would be shown as 1.00.
fn loss(ratio: Option<f64>) -> Cell {
    match ratio {
        Some(ratio) if !is_loss(ratio) => Cell::Word("none".into()),
        ratio => ratio.into(),
    }
}
