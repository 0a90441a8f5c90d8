//! The page of `explain`: the bottleneck of each kernel, the source lines that contribute most to each problem, and
//! the times without each problem.

use std::io::{self, Write};

use ptx_machine::model::Cure;
use serde::Serialize;

use spmv_methods::device::Stage;
use spmv_methods::device::counts::{Counts, LineCounts};
use spmv_results::row::Row;

/// The relative change of the time below which a problem is listed as having no effect.
const SHOWN_CHANGE: f64 = 0.005;

#[derive(Serialize)]
pub struct Page<'a> {
    file: &'a str,
    num_rows: Option<usize>,
    num_cols: Option<usize>,
    num_nonzeros: Option<usize>,
    method: &'a str,
    precision: &'static str,
    device: String,
    cache: &'static str,
    modelled_ms: f64,
    stages: Vec<StagePage<'a>>,
}

/// The analysis of a kernel, fill or copy of the product.
#[derive(Serialize)]
struct StagePage<'a> {
    name: &'a str,
    modelled_ms: f64,
    occupancy: Option<f64>,
    /// The bottleneck, see [`Counts::limit`].
    bound_by: Option<&'static str>,
    /// The share of the time (0 to 1) for which each part of the GPU was busy.
    busy_shares: Vec<(&'static str, f64)>,
    cured: Vec<Cured>,
    /// Without the lines, which follow.
    counts: Option<Counts>,
    lines: &'a [LineCounts],
}

#[derive(Serialize)]
struct Cured {
    problem: &'static str,
    modelled_ms: f64,
}

/// Returns a count of a source line.
type OfLine = fn(&LineCounts) -> u64;

/// The problems that are counted per source line: the heading, the amount in a line, and the total of which it is a
/// part, if that share is informative.
const PROBLEMS: [(&str, OfLine, Option<OfLine>); 4] = [
    ("sectors of 32 bytes requested from global memory", |line| line.sectors, None),
    (
        "wasted sectors, which accesses to neighbouring bytes would not need (share of the line's sectors)",
        LineCounts::wasted_sectors,
        Some(|line| line.sectors),
    ),
    (
        "idle lanes, which wait while others of their warp execute the line (share of the line's lanes)",
        LineCounts::idle_lanes,
        Some(|line| 32 * line.warp_instructions),
    ),
    (
        "extra turns (wavefronts) of shared memory because of bank conflicts (share of the line's turns)",
        LineCounts::extra_wavefronts,
        Some(|line| line.wavefronts),
    ),
];

impl<'a> Page<'a> {
    pub fn new(row: &'a Row, stages: &'a [Stage]) -> Self {
        Self {
            file: &row.file,
            num_rows: row.num_rows,
            num_cols: row.num_cols,
            num_nonzeros: row.num_nonzeros,
            method: row.method_name.as_deref().unwrap_or_default(),
            precision: row.precision.map_or("", |precision| precision.name()),
            device: row.device.map(|device| device.name().to_owned()).unwrap_or_default(),
            cache: row.cache.map_or("", |cache| cache.name()),
            modelled_ms: row.median_ms.unwrap_or_default(),
            stages: stages.iter().map(StagePage::new).collect(),
        }
    }

    /// Writes the page as text, with at most `lines` source lines for each kernel and problem.
    pub fn write(&self, lines: usize, out: &mut dyn Write) -> io::Result<()> {
        let counts = [self.num_rows, self.num_cols, self.num_nonzeros];
        let [rows, cols, nnz] = counts.map(Option::unwrap_or_default);
        let Self { file, method, precision, device, cache, modelled_ms, .. } = self;
        writeln!(out, "{method} on {file}: {rows} x {cols}, {nnz} nonzeros")?;
        writeln!(out, "{precision}, {device}, {cache} cache: {} ms, modelled", ms(*modelled_ms))?;
        writeln!(
            out,
            "The kernels were executed and y was verified. Instructions, lanes, sectors and turns are counted \
             exactly; times and caches are modelled: docs/gpu-model.md describes the model and its errors."
        )?;
        self.stages.iter().try_for_each(|part| part.write(self.modelled_ms, lines, out))
    }
}

impl<'a> StagePage<'a> {
    fn new(stage: &'a Stage) -> Self {
        let counts = stage.counts.as_ref();
        let cured = Cure::ALL.iter().zip(&stage.cured);
        let cured = cured.map(|(cure, &ms)| Cured { problem: cure.problem(), modelled_ms: ms });
        Self {
            name: &stage.name,
            modelled_ms: stage.ms,
            occupancy: stage.occupancy,
            bound_by: counts.map(|counts| counts.limit().0),
            busy_shares: counts.map_or_else(Vec::new, |counts| counts.busy_shares().into()),
            cured: cured.collect(),
            counts: counts.map(|counts| Counts { lines: Vec::new(), ..counts.clone() }),
            lines: counts.map_or(&[], |counts| &counts.lines),
        }
    }

    fn write(&self, whole: f64, lines: usize, out: &mut dyn Write) -> io::Result<()> {
        let share = percent(self.modelled_ms / whole);
        write!(out, "\n{}: {} ms, {share} of the product", self.name, ms(self.modelled_ms))?;
        let Some(counts) = &self.counts else { return writeln!(out, "; no kernel") };
        writeln!(out, ", {}", bound(counts))?;
        let busy = self.busy_shares.iter().map(|(name, share)| format!("{name} {}", percent(*share)));
        writeln!(out, "  busy:     {}", busy.collect::<Vec<_>>().join(", "))?;
        let occupancy = self.occupancy.map_or_else(|| "-".into(), percent);
        let Counts { registers, shared_bytes, .. } = counts;
        let each = format!("{registers} registers per thread, {shared_bytes} bytes of shared memory");
        writeln!(out, "  resident: {occupancy} of a multiprocessor's threads; {each} per block")?;
        writeln!(out, "  counted:  {}", counts.counted())?;
        self.write_cured(out)?;
        PROBLEMS.iter().try_for_each(|problem| self.write_problem(*problem, lines, out))
    }

    /// Writes the lines that contribute most to the problem, or nothing if no line does.
    fn write_problem(
        &self,
        (heading, amount, total): (&str, OfLine, Option<OfLine>),
        most: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let all: u64 = self.lines.iter().map(amount).sum();
        if all == 0 || most == 0 {
            return Ok(());
        }
        let mut worst: Vec<_> = self.lines.iter().filter(|line| amount(line) > 0).collect();
        worst.sort_by_key(|line| std::cmp::Reverse(amount(line)));
        writeln!(out, "  {all} {heading}")?;
        for line in worst.into_iter().take(most) {
            let count = amount(line) as f64;
            let of_all = percent(count / all as f64);
            let of_own = total.map(|total| percent(count / total(line) as f64));
            let of_own = of_own.map_or_else(String::new, |share| format!(" ({share:>5})"));
            let (place, text) = match line.line {
                0 => (line.file.clone(), "(added by the compiler, to no line)"),
                number => (format!("{}:{number}", line.file), &line.text[..]),
            };
            writeln!(out, "    {of_all:>5}{of_own}  {place:<20} {text}")?;
        }
        Ok(())
    }

    fn write_cured(&self, out: &mut dyn Write) -> io::Result<()> {
        let change = |cured: &Cured| cured.modelled_ms / self.modelled_ms - 1.0;
        let (shown, others): (Vec<_>, Vec<_>) =
            self.cured.iter().partition(|cured| change(cured).abs() >= SHOWN_CHANGE);
        for cured in shown {
            let (time, change) = (ms(cured.modelled_ms), 100.0 * change(cured));
            writeln!(out, "  without {}: {time} ms ({change:+.0} %)", cured.problem)?;
        }
        let others: Vec<_> = others.iter().map(|cured| cured.problem).collect();
        if others.is_empty() {
            Ok(())
        } else {
            writeln!(out, "  the same time without: {}", others.join(", "))
        }
    }
}

fn bound(counts: &Counts) -> String {
    let (limit, busy) = counts.limit();
    match limit {
        "latency" => format!("bound by latency: no part is busy for more than {}", percent(busy)),
        "imbalance" => {
            let working = percent(counts.mean_cycles / counts.cycles);
            format!(
                "bound by imbalance: on average a multiprocessor works for {working} of the time; blocks that are \
                 fewer than the multiprocessors, or unequal, leave the others idle"
            )
        }
        part => format!("bound by {part}, busy for {} of the time", percent(busy)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Formats milliseconds with four significant digits.
fn ms(ms: f64) -> String {
    let digits = (3.0 - ms.max(1e-6).log10().floor()).clamp(0.0, 9.0);
    format!("{ms:.*}", digits as usize)
}
