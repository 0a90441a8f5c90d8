use super::*;
use crate::record::row::matrix_name;
use crate::record::tuning::{Rule, Size, Sweep};

keys! {
    /// The tuning of csr-k, section 4, as by the command `tune`, from rows of a method with every size.
    Sizes {
        pub method: String,
    }
    |_view| &[]
}

struct Swept<'a> {
    setting: String,
    sweep: Sweep,
    lines: Vec<&'a RecordedRow>,
}

impl Kind for Sizes {
    fn view(&self, recorded: &Recorded) -> View {
        let met = self.shown(recorded, &[]).lines.into_iter();
        let sized: Vec<_> = met.filter_map(|line| Some((line, self.size(line)?))).collect();
        let lines: Vec<_> = sized.iter().map(|(line, _)| *line).collect();
        let settings = varying(&lines, &[&APART[..], &["order", "threads"]].concat());
        let groups = grouped(sized, |(line, _)| line.setting().words(&settings));
        let swept = groups.into_iter().filter_map(|(name, rows)| self.sweep(name, &rows));
        let swept: Vec<_> = swept.collect();
        let on_sweep = |of: &Swept| [of.sweep.heading("size"), of.sweep.conclusions()].concat();
        let no_rows = swept.is_empty().then(|| format!("no rows of {}:srs=…", self.method));
        let notes = swept.iter().flat_map(on_sweep).chain(no_rows).collect();
        View::of(notes, chart(&swept), table(&swept))
    }
}

impl Sizes {
    /// Returns the size of a row of the method, from its parameters or from the columns that `tune` writes.
    fn size(&self, line: &RecordedRow) -> Option<Size> {
        let (sizes, others): (Vec<_>, Vec<_>) = line
            .method()
            .split(':')
            .partition(|part| part.starts_with("srs=") || part.starts_with("ssrs="));
        let size = |name, column| {
            let mut pairs = sizes.iter().filter_map(|part| part.split_once('='));
            pairs.find(|pair| pair.0 == name).map_or(column, |pair| pair.1.parse().ok())
        };
        let srs = size("srs", line.added.srs).filter(|_| others.join(":") == self.method)?;
        Some(Size { srs, ssrs: size("ssrs", line.added.ssrs) })
    }

    fn sweep<'a>(&self, setting: String, rows: &[(&'a RecordedRow, Size)]) -> Option<Swept<'a>> {
        let mut sizes: Vec<_> = rows.iter().map(|row| row.1).collect();
        sizes.sort_by_key(|size| (size.srs, size.ssrs));
        sizes.dedup();
        let precision = rows.first()?.0.row.precision?;
        let mut sweep = Sweep::new(self.method.clone(), precision, sizes.clone());
        let mut lines = Vec::new();
        for (_, rows) in grouped(rows.iter().copied(), |(line, _)| matrix(line)) {
            let line = rows[0].0;
            let gflops = sizes.iter().map(|size| {
                let own = timed(rows.iter().filter(|row| row.1 == *size).map(|row| row.0));
                let gflops: Vec<_> = own.filter_map(|line| line.row.typical_gflops()).collect();
                Statistic::Max.of(&gflops)
            });
            sweep.take(&line.row.file, line.row.row_length_mean, gflops);
            lines.push(line);
        }
        Some(Swept { setting, sweep, lines })
    }
}

impl Swept<'_> {
    fn name(&self, rule: &Rule) -> String {
        join([format!("best {}", rule.name), self.setting.clone()], " ")
    }

    fn points(&self, rule: &Rule) -> Vec<Point> {
        let points = self.sweep.best().filter_map(|best| {
            let size = if rule.name == "srs" { best.size.srs } else { best.size.ssrs? };
            let label = Some(self.label(best.file));
            Some(Point { x: best.row_length, y: f64::from(size), label, ..Point::default() })
        });
        points.collect()
    }

    fn label(&self, file: &str) -> String {
        let line = self.lines.iter().find(|line| line.row.file == file);
        line.map_or_else(|| matrix_name(file).to_owned(), |line| label(matrix(line)))
    }
}

fn chart(swept: &[Swept]) -> Chart {
    let (mut series, mut guides) = (Vec::new(), Vec::new());
    for swept in swept {
        for rule in swept.sweep.rules() {
            let points = swept.points(&rule);
            let x: Vec<_> = points.iter().map(|point| point.x).filter(|&x| x > 0.0).collect();
            if let (Some(fit), Some(least), Some(most)) =
                (rule.fit, Statistic::Min.of(&x), Statistic::Max.of(&x))
            {
                let x = (0..=32).map(|part| least * (most / least).powf(f64::from(part) / 32.0));
                let points = x.map(|x| (x, fit.constant + fit.slope * x.ln())).collect();
                let name = format!("fit of {}", swept.name(&rule));
                guides.push(Guide { name, points });
            }
            series.push(chart::Series { name: swept.name(&rule), mark: Mark::Dots, points });
        }
    }
    let x = Axis::log("nonzeros per row");
    let y = Axis { whole: true, ..Axis::log("best size (rows, or super-rows)") };
    Chart::Plane(chart::Plane { x, y, series, guides, few: vec![] })
}

fn table(swept: &[Swept]) -> Table {
    let rows = swept.iter().flat_map(|swept| swept.sweep.best().map(move |best| (swept, best)));
    let rows: Vec<_> = rows.collect();
    let count = |size: u32| Cell::Count(size.into());
    Table::of(&rows)
        .column("matrix", |(swept, best)| {
            join([swept.label(best.file), swept.setting.clone()], " ")
        })
        .column("nonzeros per row", |(_, best)| best.row_length)
        .column("best srs", |(_, best)| count(best.size.srs))
        .column("best ssrs", |(_, best)| best.size.ssrs.map(count))
        .column("GFLOP/s", |(_, best)| best.gflops)
        .build()
}
