use super::kind::*;
use crate::files::tuning::{Rule, Size, Sweep};
use spmv_matrix::method_name::MethodName;

keys! {
    /// The tuning of csr-k, section 4, as by the command `tune`, from rows of a method with every size.
    Sizes {
        pub method: String,
    }
    |_view| Vec::new()
}

/// The settings of a sweep, if there are several, and the sweep.
type Swept = (String, Sweep);

impl Kind for Sizes {
    fn view(&self, shown: &Shown) -> View {
        let met = shown.lines.iter().copied();
        let sized: Vec<_> = met.filter_map(|line| Some((line, self.size(line)?))).collect();
        let lines: Vec<_> = sized.iter().map(|(line, _)| *line).collect();
        let settings = varying(&lines, &[&COMPARED_WITHIN[..], &["order", "threads"]].concat());
        let groups = grouped(sized, |(line, _)| line.group_key().words(&settings));
        let swept = groups.into_iter().filter_map(|(name, rows)| self.sweep(name, &rows));
        let swept: Vec<_> = swept.collect();
        let on_sweep = |(_, of): &Swept| [of.heading("size"), of.conclusions()].concat();
        let no_rows = swept.is_empty().then(|| format!("no rows of {}:srs=…", self.method));
        let notes = swept.iter().flat_map(on_sweep).chain(no_rows).collect();
        View::of(notes, chart(&swept), table(&swept))
    }
}

impl Sizes {
    /// Returns the size of a row of the method, from its parameters or from the columns that `tune` writes.
    fn size(&self, line: &RecordedRow) -> Option<Size> {
        let name = MethodName::parse(line.method());
        let size = |parameter, column| name.value(parameter).map_or(column, |value| value.parse().ok());
        let (srs, ssrs) = (size("srs", line.added.srs)?, size("ssrs", line.added.ssrs));
        let is_own = name.without(&["srs", "ssrs"]) == MethodName::parse(&self.method);
        is_own.then_some(Size { srs, ssrs })
    }

    fn sweep(&self, setting: String, rows: &[(&RecordedRow, Size)]) -> Option<Swept> {
        let mut sizes: Vec<_> = rows.iter().map(|row| row.1).collect();
        sizes.sort_by_key(|size| (size.srs, size.ssrs));
        sizes.dedup();
        let precision = rows.first()?.0.row.precision?;
        let mut sweep = Sweep::new(self.method.clone(), precision, sizes.clone());
        for (_, rows) in grouped(rows.iter().copied(), |(line, _)| matrix(line)) {
            let line = rows[0].0;
            let gflops = sizes.iter().map(|size| {
                let own = timed(rows.iter().filter(|row| row.1 == *size).map(|row| row.0));
                Statistic::Max.of(own.filter_map(|line| line.row.typical_gflops()))
            });
            sweep.take(&label(matrix(line)), line.row.row_length_mean, gflops);
        }
        Some((setting, sweep))
    }
}

fn points(sweep: &Sweep, rule: &Rule) -> Vec<Point> {
    let points = sweep.best().filter_map(|best| {
        let size = if rule.name == "srs" { best.size.srs } else { best.size.ssrs? };
        let label = Some(best.file.to_owned());
        Some(Point { x: best.row_length, y: f64::from(size), label, ..Point::default() })
    });
    points.collect()
}

fn chart(swept: &[Swept]) -> Chart {
    let (mut series, mut guides) = (Vec::new(), Vec::new());
    for (setting, sweep) in swept {
        for rule in sweep.rules() {
            let name = join([format!("best {}", rule.name), setting.clone()], " ");
            let points = points(sweep, &rule);
            let own = chart::Series { name, mark: Mark::Dots, points, outliers: vec![] };
            let ends = ends(std::slice::from_ref(&own), true);
            if let (Some(fit), [least, most]) = (rule.fit, &ends[..]) {
                let x = (0..=32).map(|part| least * (most / least).powf(f64::from(part) / 32.0));
                let points = x.map(|x| (x, fit.constant + fit.slope * x.ln())).collect();
                guides.push(Guide { name: format!("fit of {}", own.name), points });
            }
            series.push(own);
        }
    }
    let x = Axis::log("nonzeros per row");
    let y = Axis { whole: true, ..Axis::log("best size (rows, or super-rows)") };
    Chart::Plane(chart::Plane { x, y, series, guides, few: vec![] })
}

fn table(swept: &[Swept]) -> Table {
    let rows = swept.iter().flat_map(|(setting, of)| of.best().map(move |best| (setting, best)));
    let rows: Vec<_> = rows.collect();
    let count = |size: u32| Cell::Count(size.into());
    Table::of(&rows)
        .column("matrix", |(setting, best)| join([best.file.to_owned(), (*setting).clone()], " "))
        .column("nonzeros per row", |(_, best)| best.row_length)
        .column("best srs", |(_, best)| count(best.size.srs))
        .column("best ssrs", |(_, best)| best.size.ssrs.map(count))
        .column("GFLOP/s", |(_, best)| best.gflops)
        .build()
}
