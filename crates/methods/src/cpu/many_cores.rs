//! How much of a product each of many threads would do, and which cache lines of y and which pages two of them would
//! share. The divisions are those of the methods; only their threads are missing. `docs/many-cores.md` has the figures.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::path::Path;

use expect_test::expect_file;
use rayon::prelude::*;

use super::bcsr::BLOCKS;
use super::coo::rows_begun;
use super::csb::format::{Blocks, log_beta};
use super::csb::tasks::{Schedule, Task};
use super::csr_k::CsrK;
use super::csr5::{format::Chunk, shape::Shape};
use super::merge::piece;
use super::rows::{balanced, part, scales_first};
use crate::formats::block_fill::fewest_bytes;
use crate::formats::coordinates::row_indices;
use crate::formats::entries_of;
use crate::formats::register_blocks::block_offsets;
use crate::formats::strips::{self, Strips};
use crate::simd::LINE;
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::order::{band_k::grouped, sizes};
use spmv_matrix::system::pages::PAGE;

/// The numbers of threads in the tables.
const SHOWN: [usize; 2] = [64, 256];
/// The numbers of NUMA nodes in the table of pages, on which there are 64 threads.
const NODES: [usize; 3] = [2, 4, 8];
/// The tiles of `csr5` with AVX-512. The registers of the other methods have as many lanes.
const TILE: Shape = Shape { lanes: 8, sigma: 12 };
/// The rows in a chunk of `kokkos-style`.
const CHUNK: usize = 64;
const ANY: f64 = f64::INFINITY;

/// The matrices, each with more than 1000 nonzeros for each of 256 threads. No generator makes the arrow.
const MATRICES: [(&str, &str); 7] = [
    ("grid", "grid2d,n=256,points=5"),
    ("power law", "power-law,rows=40000,longest=4000,nnz=400000"),
    ("long row", "hubs,n=60000,hubs=1,length=60000,others=5"),
    ("empty rows", "empty-rows,rows=600000,cols=3000,nnz=300000,empty=0.9,clusters=4"),
    ("end", "empty-rows,rows=900000,cols=3000,nnz=300000,empty=0.999,clusters=1"),
    ("arrow", ""),
    ("few rows", "dense,rows=100,cols=3000"),
];

/// What a thread does in a product.
#[derive(Clone, Default)]
struct Share {
    /// The work as the method measures it.
    own: usize,
    /// The nonzeros, and the rows of y or of temporaries that the thread sets.
    work: usize,
    /// The rows of y that it writes.
    rows: Vec<Range<usize>>,
}

/// Returns the shares of the threads; `None` if the method refuses the matrix.
type Division = fn(&Csr<f64>, usize) -> Option<Vec<Share>>;

/// The divisions with the largest imbalance in their own measure and in rows and nonzeros, and the most shared lines of
/// y per seam between threads. A row that is not divided may be nearly all work.
const DIVISIONS: [(&str, [f64; 3], Division); 12] = [
    ("`merge`, `merge-numa`, `csc`", [1.05, 1.05, 1.0], merge),
    ("`coo`", [1.05, 1.5, 1.0], coo),
    ("`csr5`", [1.1, 1.6, 1.0], csr5),
    ("`csr-rows`, `oski-style`", [ANY, ANY, 1.0], csr_rows),
    ("`bcsr`", [ANY, ANY, 1.0], bcsr),
    ("`kokkos-style`, static", [ANY, ANY, 1.0], |csr, threads| Some(equal_rows(csr, threads))),
    ("`kokkos-style`, dynamic", [ANY, ANY, 0.0], chunks_of_rows),
    ("`csr2`", [ANY, ANY, 1.0], |csr, threads| Some(groups(csr, &sizes::CPU[..1], threads))),
    ("`csr3`", [ANY, ANY, 1.0], |csr, threads| Some(groups(csr, &sizes::CPU[..2], threads))),
    ("`sell`", [ANY, ANY, 64.0], |csr, threads| {
        Some(strips(csr, &Strips::sliced(csr, 8, 512).ok()?, threads))
    }),
    ("`ell`", [ANY, ANY, 0.0], |csr, threads| {
        Some(strips(csr, &Strips::whole(csr, 8, longest(csr)).ok()?, threads))
    }),
    ("`csb`", [ANY, 4.0, 1.0], csb),
];

fn merge(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let of_piece = |path: Range<super::merge::Coordinate>| {
        let rows = path.start.row..path.end.row;
        let work = rows.len() + path.end.nonzero - path.start.nonzero;
        Share { own: work, work, rows: vec![rows] }
    };
    Some((0..threads).map(|rank| of_piece(piece(csr, rank, threads))).collect())
}

fn coo(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let rows = row_indices(csr.row_offsets());
    let begun = (0..threads).map(|rank| rows_begun(&rows, csr.rows(), rank, threads));
    let nonzeros = (0..threads).map(|rank| part(csr.nnz(), rank, threads).len());
    Some(adding(csr, nonzeros.zip(begun).collect()))
}

/// The leader, thread 0, also multiplies the tail.
fn csr5(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let tiles = csr.nnz() / TILE.nonzeros();
    let of_rank = |rank| {
        let mut chunk = Chunk::default();
        let tiles = part(tiles, rank, threads);
        let tail = if rank == 0 { csr.nnz() % TILE.nonzeros() } else { 0 };
        chunk.fill(csr, TILE, tiles.clone());
        let start = if rank == 0 { 0 } else { chunk.rows.start };
        let end = if rank + 1 == threads { csr.rows() } else { chunk.rows.end };
        (tiles.len() * TILE.nonzeros() + tail, start..end)
    };
    Some(adding(csr, (0..threads).map(of_rank).collect()))
}

/// Returns the shares of threads with so many nonzeros, among which these rows begin.
fn adding(csr: &Csr<f64>, shares: Vec<(usize, Range<usize>)>) -> Vec<Share> {
    let first = scales_first(csr, shares.iter().map(|(_, begun)| begun.clone()));
    let equal = csr.rows() / shares.len();
    let share = |(own, begun): (usize, Range<usize>)| {
        let work = own + if first { equal } else { begun.len() };
        Share { own, work, rows: vec![begun] }
    };
    shares.into_iter().map(share).collect()
}

/// Returns the share of a thread with whole rows.
fn of_rows(csr: &Csr<f64>, rows: Range<usize>, own: usize) -> Share {
    Share { own, work: rows.len() + entries_of(csr, &rows).len(), rows: vec![rows] }
}

fn csr_rows(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let share = |rows: Range<usize>| of_rows(csr, rows.clone(), rows.len() + entries_of(csr, &rows).len());
    Some((0..threads).map(|rank| share(balanced(csr, rank, threads, 1))).collect())
}

fn bcsr(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let shape = fewest_bytes(csr, BLOCKS);
    let share = |rows: Range<usize>| {
        let blocks = block_offsets(csr, &rows, shape)[rows.len().div_ceil(shape.rows)];
        of_rows(csr, rows, blocks as usize * shape.area())
    };
    Some((0..threads).map(|rank| share(balanced(csr, rank, threads, shape.rows))).collect())
}

fn equal_rows(csr: &Csr<f64>, threads: usize) -> Vec<Share> {
    let rows = (0..threads).map(|rank| part(csr.rows(), rank, threads));
    rows.map(|rows| of_rows(csr, rows.clone(), rows.len())).collect()
}

fn groups(csr: &Csr<f64>, sizes: &[usize], threads: usize) -> Vec<Share> {
    let matrix = CsrK::new(Cow::Borrowed(csr), grouped(csr.row_lengths(), sizes));
    let share = |super_rows: &[u32]| {
        let rows = super_rows[0] as usize..super_rows[super_rows.len() - 1] as usize;
        of_rows(csr, rows, super_rows.len() - 1)
    };
    (0..threads).map(|rank| share(matrix.share(rank, threads))).collect()
}

fn strips(csr: &Csr<f64>, strips: &Strips<f64>, threads: usize) -> Vec<Share> {
    let work = |index| {
        let width = strips.strip(index).width;
        let of_row = move |row| 1 + strips::entries(csr, row, width).len();
        strips.lanes_of(index).map(of_row).sum::<usize>()
    };
    let share = |range: Range<usize>| {
        let lanes = strips.lanes_of_share(&range);
        let rows = match &strips.order {
            Some(order) => order[lanes].iter().map(|&row| row as usize..row as usize + 1).collect(),
            None => vec![lanes],
        };
        let own = range.clone().map(|index| strips.strip(index).width + 1).sum();
        Share { own, work: range.map(work).sum(), rows }
    };
    strips.shares(threads).into_iter().map(share).collect()
}

/// Returns the shares of threads that take tasks until there are none. `next` returns a task for a thread; the thread
/// that has done the least is the next to take one.
fn taken(threads: usize, mut next: impl FnMut(usize) -> Option<Share>) -> Option<Vec<Share>> {
    let mut shares = vec![Share::default(); threads];
    let mut waiting: BinaryHeap<_> = (0..threads).map(|rank| Reverse((0, rank))).collect();
    while let Some(Reverse((_, rank))) = waiting.pop() {
        let Some(task) = next(rank) else { continue };
        let share = &mut shares[rank];
        share.own += task.own;
        share.work += task.work;
        share.rows.extend(task.rows);
        waiting.push(Reverse((share.work, rank)));
    }
    Some(shares)
}

fn chunks_of_rows(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let mut starts = (0..csr.rows()).step_by(CHUNK);
    let chunk = |start| start..csr.rows().min(start + CHUNK);
    taken(threads, |_| starts.next().map(|start| of_rows(csr, chunk(start), chunk(start).len())))
}

fn csb(csr: &Csr<f64>, threads: usize) -> Option<Vec<Share>> {
    let blocks = Blocks::new(csr, log_beta(csr, threads)).ok()?;
    let schedule = Schedule::new(&blocks, false, csr.rows(), threads);
    schedule.start();
    let mut claims: Vec<_> = (0..threads).map(|rank| schedule.claims(rank)).collect();
    let share = |task: &Task| {
        let own = task.nonzeros(&blocks, false);
        let rows = task.temporary.is_none().then(|| task.outputs.clone());
        Share { own, work: own + task.outputs.len(), rows: rows.into_iter().collect() }
    };
    taken(threads, |rank| claims[rank].next().map(share))
}

fn longest(csr: &Csr<f64>) -> usize {
    csr.row_lengths().max().unwrap_or(0) as usize
}

fn matrices() -> Vec<Csr<f64>> {
    let generated = |spec: &str| Generator::parse(spec).unwrap().generate().unwrap();
    MATRICES
        .iter()
        .map(|(_, spec)| if spec.is_empty() { arrow(100_000) } else { generated(spec) })
        .collect()
}

/// Returns a matrix with a full first row, a full first column and the diagonal.
fn arrow(n: usize) -> Csr<f64> {
    let columns: Vec<_> = (0..n as u32).chain((1..n as u32).flat_map(|row| [0, row])).collect();
    let offsets = std::iter::once(0).chain((0..n).map(|row| (n + 2 * row) as u32)).collect();
    let values = vec![1.0; columns.len()];
    Csr::new(n, n, offsets, columns, values).unwrap()
}

/// Returns the largest of the numbers over their mean.
fn imbalance(shares: &[Share], number: impl Fn(&Share) -> usize) -> f64 {
    let (largest, sum) = (shares.iter().map(&number).max().unwrap(), shares.iter().map(&number).sum::<usize>());
    (largest * shares.len()) as f64 / sum as f64
}

/// Returns the number of cache lines of y, which begins with a line, that several threads write, per seam.
fn shared_lines(shares: &[Share], rows: usize) -> f64 {
    let per_line = LINE / size_of::<f64>();
    let mut writers = vec![None; rows.div_ceil(per_line)];
    let mut shared = vec![false; writers.len()];
    for (rank, share) in shares.iter().enumerate() {
        let written = share.rows.iter().filter(|rows| !rows.is_empty());
        for line in written.flat_map(|rows| rows.start / per_line..rows.end.div_ceil(per_line)) {
            shared[line] |= writers[line].replace(rank).is_some_and(|other| other != rank);
        }
    }
    shared.into_iter().filter(|shared| *shared).count() as f64 / (shares.len() - 1) as f64
}

/// Returns the imbalance in the own measure, that in rows and nonzeros, and the shared lines per seam.
fn figures(csr: &Csr<f64>, threads: usize, division: Division) -> Option<[f64; 3]> {
    let shares = division(csr, threads)?;
    let (own, work) = (imbalance(&shares, |share| share.own), imbalance(&shares, |share| share.work));
    Some([own, work, shared_lines(&shares, csr.rows())])
}

/// Returns the worst own measure, the rows and nonzeros of each matrix, and the most shared lines. Checks the limits.
fn row(matrices: &[Csr<f64>], threads: usize, (name, limits, division): (&str, [f64; 3], Division)) -> Vec<String> {
    let figures: Vec<_> = matrices.iter().map(|csr| figures(csr, threads, division)).collect();
    for ((matrix, _), figures) in MATRICES.iter().zip(&figures) {
        let exceeded = figures.is_some_and(|figures| figures.iter().zip(limits).any(|(number, limit)| *number > limit));
        assert!(!exceeded, "{name} on {matrix} with {threads} threads: {figures:?} of at most {limits:?}");
    }
    let worst = |k: usize| figures.iter().flatten().map(|figures| figures[k]).reduce(f64::max);
    let work = figures.iter().map(|figures| figures.map(|[_, work, _]| work));
    let shown = |number: f64| if number < 9.995 { format!("{number:.2}") } else { format!("{number:.0}") };
    let numbers = std::iter::once(worst(0)).chain(work).chain([worst(2)]);
    numbers.map(|number| number.map_or("–".into(), shown)).collect()
}

fn shares_table(matrices: &[Csr<f64>]) -> String {
    let line = |division: &(&str, [f64; 3], Division)| {
        let [few, many] = SHOWN.map(|threads| row(matrices, threads, *division));
        let both = few
            .iter()
            .zip(&many)
            .map(|(few, many)| if few == many { few.clone() } else { format!("{few} {many}") });
        format!("| {} | {} |\n", division.0, both.collect::<Vec<_>>().join(" | "))
    };
    let lines: Vec<_> = DIVISIONS.par_iter().map(line).collect();
    let names = MATRICES.map(|(name, _)| name).join(" | ");
    format!("\n| method | own | {names} | lines |\n|---|{}\n{}\n", "---|".repeat(9), lines.concat())
}

/// Returns who reads and who first writes each element of an array of f64 in the order of the rows: the leader alone;
/// threads with equal parts of the rows, without and with the moving of `csb`.
fn first_writers(csr: &Csr<f64>, threads: usize) -> [[Vec<Range<usize>>; 2]; 3] {
    let equal = || (0..threads).map(|rank| part(csr.nnz(), rank, threads)).collect::<Vec<_>>();
    let rows = (0..threads).map(|rank| entries_of(csr, &part(csr.rows(), rank, threads)));
    let blocks = Blocks::new(csr, log_beta(csr, threads)).unwrap();
    let schedule = Schedule::new(&blocks, false, csr.rows(), threads);
    let nonzeros = |tasks: Range<usize>| schedule.tasks[tasks].iter().map(|task| task.nonzeros(&blocks, false)).sum();
    let readers = schedule.shares.iter().map(|share| nonzeros(0..share.start)..nonzeros(0..share.end));
    let leader = std::iter::once(0..csr.nnz());
    [[equal(), leader.collect()], [equal(), rows.collect()], [readers.collect(), equal()]]
}

/// Returns the share of the pages that are first written on another node than that of their reader.
fn elsewhere([readers, writers]: &[Vec<Range<usize>>; 2], nodes: usize) -> f64 {
    let threads = readers.len();
    let node =
        |shares: &[Range<usize>], element| shares.partition_point(|share| share.end <= element) * nodes / threads;
    let len = readers[threads - 1].end;
    let pages: Vec<_> = (0..len).step_by(PAGE / size_of::<f64>()).collect();
    let differ = pages.iter().filter(|&&element| node(readers, element) != node(writers, element)).count();
    differ as f64 / pages.len() as f64
}

fn pages_table(matrices: &[Csr<f64>]) -> String {
    let all: Vec<_> = matrices.par_iter().map(|csr| first_writers(csr, SHOWN[0])).collect();
    let names = ["the leader writes all", "threads write equal parts of the rows", "`csb`, after the moving"];
    let mut table =
        "\n| pages | grid, 2 nodes | 4 | 8 | worst matrix, 2 nodes | 4 | 8 |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for (k, name) in names.iter().enumerate() {
        let worst = |nodes| all.iter().map(|cases| elsewhere(&cases[k], nodes)).fold(0.0, f64::max);
        let grid = NODES.map(|nodes| elsewhere(&all[0][k], nodes));
        let cells = grid.into_iter().chain(NODES.map(worst)).map(|share| format!("{:.0} %", 100.0 * share));
        table += &format!("| {name} | {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    table + "\n"
}

fn with_part(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{table}{end}{after}")
}

/// The tables in the document are those of the divisions; `UPDATE_EXPECT=1` writes them.
#[test]
#[cfg_attr(miri, ignore = "takes minutes in Miri")]
fn the_documented_shares_are_computed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/many-cores.md");
    let matrices = matrices();
    // `merge` and `coo` claim equal shares with any number of threads.
    for threads in [2, 3, 16] {
        DIVISIONS[..2].iter().for_each(|division| drop(row(&matrices, threads, *division)));
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let text = with_part(&text, "shares", &shares_table(&matrices));
    expect_file![path].assert_eq(&with_part(&text, "pages", &pages_table(&matrices)));
}
