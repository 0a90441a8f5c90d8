use super::kind::*;
use crate::statistics::fit::spearman;

/// The factor up to which a modelled time counts as near the published one.
const NEAR_FACTOR: f64 = 1.5;
/// The minimum number of methods for comparing their order.
const MIN_METHODS: usize = 3;
/// The rank correlation from which two orders count as alike.
const MIN_ALIKE_CORRELATION: f64 = 0.9;

keys! {
    /// The errors of modelled times with launching and waiting against published ones, of each method and device.
    Agreement {
        #[serde(default)]
        pub long_ms: f64,
        #[serde(default)]
        pub farthest: usize,
    }
}

/// A row with the published and the modelled time, in milliseconds.
type Case<'a> = (&'a RecordedRow, (f64, f64));

fn ratio((_, (published_ms, modelled_ms)): &Case) -> f64 {
    modelled_ms / published_ms
}

/// Returns how far the ratio is from 1 in either direction, as a factor of 1 or more.
fn factor(case: &Case) -> f64 {
    ratio(case).max(1.0 / ratio(case))
}

impl Kind for Agreement {
    fn view(&self, shown: &Shown) -> View {
        let columns = ["published_ms", "waited_ms"].map(Column::of);
        let cases = shown.each(|series| series.points([&columns[0], &columns[1]]));
        let all = || cases.iter().flat_map(|(_, cases)| cases);
        let meaning = format!(
            "error: |modelled time with launching and waiting / published time - 1|; long: published times of {} ms or \
             more",
            self.long_ms
        );
        let further = self.orders(all()).into_iter().chain(self.farthest(all()));
        let near = format!("within a factor of {NEAR_FACTOR} (%)");
        let headings = |cases| [cases, "median error (%)", &near];
        let table = Table::of(&cases)
            .column("method", |(name, _)| *name)
            .columns(headings("cases"), |(_, cases)| errors(cases))
            .columns(headings("of them long: cases"), |(_, cases)| {
                errors(cases.iter().filter(|case| self.is_long(case)))
            });
        let notes = shown.notes([meaning].into_iter().chain(further).map(Some));
        View::of(notes, chart(&cases, &columns), table)
    }
}

impl Agreement {
    fn is_long(&self, (_, (published_ms, _)): &Case) -> bool {
        *published_ms >= self.long_ms
    }

    /// Returns for each device how well the published order of methods is predicted on matrices with a long case.
    fn orders<'a>(&self, cases: impl Iterator<Item = &'a Case<'a>>) -> Vec<String> {
        let mut by_device = BTreeMap::<_, BTreeMap<_, Vec<(f64, f64)>>>::new();
        for &(line, times) in cases {
            let matrices = by_device.entry(line.device()).or_default();
            matrices.entry(matrix(line)).or_default().push(times);
        }
        let note = |(device, matrices): (&str, BTreeMap<_, Vec<(f64, f64)>>)| {
            let is_meant =
                |times: &Vec<(f64, f64)>| times.len() >= MIN_METHODS && times.iter().any(|time| time.0 >= self.long_ms);
            let meant = matrices.into_values().filter(is_meant);
            let orders: Vec<_> = meant.filter_map(|times| spearman(&times)).collect();
            let median = median(&orders)?;
            let alike = orders.iter().filter(|&&order| order >= MIN_ALIKE_CORRELATION).count();
            Some(format!(
                "{device}: rank correlation of modelled and published times over the methods of each matrix: median \
                 {median:.2}, {MIN_ALIKE_CORRELATION} or more on {alike} of {} matrices with {MIN_METHODS} or more \
                 methods, of which at least one has a long published time",
                orders.len()
            ))
        };
        by_device.into_iter().filter_map(note).collect()
    }

    /// Returns a note for each of the long cases with the largest errors.
    fn farthest<'a>(&self, cases: impl Iterator<Item = &'a Case<'a>>) -> Vec<String> {
        let mut long: Vec<_> = cases.filter(|case| self.is_long(case)).collect();
        long.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
        let note = |(number, case): (usize, &Case)| {
            let (line, (published_ms, modelled_ms)) = *case;
            format!(
                "largest error {number}: {} on {}, {}: {} ms modelled, {} ms published, ratio {:.2}",
                line.method(),
                label(matrix(line)),
                line.device(),
                significant(modelled_ms),
                significant(published_ms),
                ratio(case)
            )
        };
        (1..).zip(long.into_iter().take(self.farthest)).map(note).collect()
    }
}

fn errors<'a>(cases: impl IntoIterator<Item = &'a Case<'a>>) -> [Cell; 3] {
    let cases: Vec<_> = cases.into_iter().collect();
    let errors = cases.iter().map(|case| 100.0 * (ratio(case) - 1.0).abs());
    let near = percentage(cases.iter().map(|case| factor(case) <= NEAR_FACTOR));
    [cases.len().into(), median(errors).into(), near.into()]
}

fn chart(cases: &[(&str, Vec<Case>)], [x, y]: &[Column; 2]) -> Chart {
    let dots = |cases: &Vec<Case>| cases.iter().copied().map(dot).collect();
    let series = cases.iter().map(|(name, cases)| (*name, dots(cases)));
    let series = drawn(Mark::Dots, series);
    let ends = ends(&series, true);
    let guides = [("equal", 1.0), ("1.5 times", NEAR_FACTOR), ("1.5 times less", 1.0 / NEAR_FACTOR)];
    let guide = |(name, factor): (&str, f64)| Guide {
        name: name.into(),
        points: ends.iter().map(|&x| (x, factor * x)).collect(),
    };
    let guides = guides.map(guide).to_vec();
    Chart::Plane(chart::Plane { x: axis(x), y: axis(y), series, guides, few: vec![] })
}
