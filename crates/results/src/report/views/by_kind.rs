//! The view `kinds`: speed-ups by the kind of problem that a matrix is from.

use super::kind::*;

keys! {
    /// The speed-up of each method over a baseline, by the kinds of problems that the matrices are from.
    ByKind {
        pub over: Select,
    }
}

impl Kind for ByKind {
    fn over(&self) -> Vec<Select> {
        vec![self.over.clone()]
    }

    fn view(&self, shown: &Shown) -> View {
        let meaning = format!(
            "geometric means of the speed-ups over {} on the matrices of a kind; above 1 the method is faster",
            self.over
        );
        let (speeds, notes) = shown.compared(&self.over, meaning, Series::speeds);
        let kind = |line: &RecordedRow| line.row.kind.clone().unwrap_or_default();
        let of_kinds = shown.matrices().iter().filter(|(_, line)| !kind(line).is_empty());
        let mut kinds = grouped(of_kinds, |(_, line)| kind(line));
        kinds.sort_by_key(|(_, matrices)| std::cmp::Reverse(matrices.len()));
        let mut table = Table::of(&kinds)
            .column("kind", |(kind, _)| &kind[..])
            .column("matrices", |(_, matrices)| matrices.len());
        for (name, speeds) in &speeds {
            table = table.column(*name, |(of, _)| {
                let own = speeds.iter().filter(|(line, _)| kind(line) == *of);
                Statistic::GeometricMean.of(own.map(|speed| speed.1))
            });
        }
        let table = Some(table.build()).filter(|_| kinds.len() > 1);
        View::of(notes, None, table)
    }
}
