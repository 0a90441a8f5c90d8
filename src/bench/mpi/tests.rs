//! Tests sources, shares, columns and tails without MPI: computes all ranks of a product one after another in this
//! process.

use std::fs;
use std::ops::Range;

use super::partition::{Partition, needed, renumbered, restored};
use super::rows::Rows;
use super::share::{Collector, Share};
use spmv_matrix::Csr;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::reader::{Defect, Options};
use spmv_matrix::scalar::Scalar;
use spmv_matrix::source::Source;
use spmv_matrix::verify::{Reference, RowSum};
use spmv_methods::cpu::merge::{Carry, Coordinate, consume, fix_up};
use spmv_methods::cpu::rows::Operands;
use spmv_methods::simd::{Isa, Lanes};

/// Matrices with empty rows at both ends and between, a row over all ranks, one entry, no entry, wide and tall ones.
const SPECS: [&str; 9] = [
    "gen:hubs,n=60,hubs=1,length=60,others=0,random=3",
    "gen:empty-rows,rows=50,nnz=300,empty=0.5,clusters=3,random=1",
    "gen:uniform,rows=1,cols=40,nnz=33,random=7",
    "gen:uniform,rows=37,cols=5,nnz=90,random=7",
    "gen:uniform,rows=5,cols=1,nnz=0",
    "gen:uniform,rows=3,cols=3,nnz=1",
    "gen:rmat,scale=6,edges=400,random=2",
    "gen:grid2d,n=7,points=9",
    "gen:block,n=24,r=4,c=2,nnz=80,random=2",
];

fn parse(source: &str) -> Source {
    Source::parse(source.as_ref()).unwrap()
}

fn partition(rows: &Rows, ranks: usize) -> Partition {
    let mut lengths = vec![0; rows.shape().0];
    let mut counted = 0;
    for rank in 0..ranks {
        let (part, stored) = rows.lengths(rank, ranks).unwrap();
        lengths.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        counted += stored;
    }
    rows.check(counted).unwrap();
    Partition::new(lengths, ranks)
}

fn share(rows: &Rows, partition: &Partition, rank: usize) -> Result<Share, Defect> {
    let mut collector = Collector::new(partition, rank, rows.shape().1).unwrap();
    rows.each(collector.rows(), |row, col, value| collector.take(row, col, value)).unwrap();
    collector.finish(rows.mirrors())
}

/// Checks that the shares of `ranks` ranks together are equal to the matrix that is read as a whole.
fn shares_are_the_matrix(source: &Source, ranks: usize) {
    let whole = source.open(Options::default(), ReadBounds::NONE).unwrap().load(None).unwrap();
    let rows = Rows::open(source, &Options::default()).unwrap();
    let partition = partition(&rows, ranks);
    let (mut columns, mut values, mut duplicates) = (Vec::new(), Vec::new(), 0);
    let mut lengths = vec![0; partition.rows()];
    for rank in 0..ranks {
        let share = share(&rows, &partition, rank).unwrap();
        assert!(share.csr.is_valid() && share.csr.cols() == whole.csr.cols(), "{source} {rank}");
        assert_eq!(share.csr.rows(), partition.stored(rank).len() + 1, "{source} {rank}");
        let touched = partition.touched(rank);
        touched.zip(share.csr.row_lengths()).for_each(|(row, length)| lengths[row] += length);
        columns.extend(share.csr.column_indices());
        values.extend(share.csr.values());
        duplicates += share.duplicates;
    }
    assert_eq!((&columns[..], &values[..]), (whole.csr.column_indices(), whole.csr.values()));
    assert!(lengths.into_iter().eq(whole.csr.row_lengths()), "{source} of {ranks}");
    assert_eq!(duplicates, whole.facts.map_or(0, |facts| facts.duplicates), "{source}");
}

#[test]
fn shares_of_generated_matrices() {
    for spec in SPECS {
        (1..=9).for_each(|ranks| shares_are_the_matrix(&parse(spec), ranks));
    }
}

/// Duplicates on both sides of a cut, or in both triangles of a mirrored file, are summed once, in the order of the
/// file.
#[test]
fn shares_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let coordinate = |kind: &str| format!("%%MatrixMarket matrix coordinate {kind}\n");
    let general =
        coordinate("real general") + "3 5 9\n2 3 1e16\n2 5 1\n2 3 1\n2 1 2\n2 3 -1e16\n2 5 4\n3 1 1\n1 1 1\n2 4 7\n";
    let symmetric = coordinate("real symmetric") + "4 4 6\n2 1 3\n3 1 1\n1 2 5\n4 4 2\n4 4 1\n4 1 1\n";
    let skew = coordinate("integer skew-symmetric") + "3 3 2\n2 1 3\n3 2 5\n";
    let pattern = coordinate("pattern general") + "2 2 2\n% a comment\n1 2\n\n1 1\n";
    let array = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n".into();
    for (at, text) in [general, symmetric, skew, pattern, array].into_iter().enumerate() {
        let path = dir.path().join(format!("{at}.mtx"));
        fs::write(&path, text).unwrap();
        (1..=12).for_each(|ranks| shares_are_the_matrix(&Source::File(path.clone()), ranks));
    }
}

/// The file has several blocks of text, which different ranks count.
#[test]
fn shares_of_a_long_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mtx");
    let mut text = "%%MatrixMarket matrix coordinate real general\n400 700 200000\n".to_owned();
    for k in 0..200_000u64 {
        let place = k * 7919 % 280_000;
        text += &format!("{} {} {k}\n", place % 400 + 1, place / 400 + 1);
    }
    assert!(text.len() > 2 << 20);
    fs::write(&path, text).unwrap();
    [1, 3].into_iter().for_each(|ranks| shares_are_the_matrix(&Source::File(path.clone()), ranks));
}

#[test]
fn broken_files_and_changing_sources_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mtx");
    fs::write(&path, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n").unwrap();
    let source = Source::File(path.clone());
    let short = Rows::open(&source, &Options::default()).unwrap();
    let (lengths, counted) = short.lengths(0, 1).unwrap();
    let message = short.check(counted).unwrap_err().to_string();
    assert!(message.ends_with("a.mtx:3: the file ends after 1 of 2 entries"), "{message}");
    // More entries than a CSR of one process can have are read rank by rank.
    let many = dir.path().join("many.mtx");
    fs::write(&many, "%%MatrixMarket matrix coordinate real general\n2 2 3339184668\n1 1 1\n").unwrap();
    let source = Source::File(many);
    let rows = Rows::open(&source, &Options::default()).unwrap();
    let message = rows.check(rows.lengths(0, 1).unwrap().1).unwrap_err().to_string();
    assert!(message.ends_with(":3: the file ends after 1 of 3339184668 entries"), "{message}");
    // The row was longer, then shorter, when it was counted.
    for lengths in [vec![lengths[0] + 1, lengths[1]], vec![0, 0]] {
        let changed = share(&short, &Partition::new(lengths, 1), 0).err();
        assert_eq!(changed.unwrap().to_string(), "the file changed while it was being read");
    }
}

#[test]
fn a_share_that_no_rank_can_index_is_refused() {
    let partition = Partition::new(vec![1 << 31; 3], 2);
    let refusal = Collector::new(&partition, 0, 9).err().unwrap().to_string();
    let expected = "each of 2 ranks would have 3221225473 nonzeros, but can index at most 2147483647";
    assert!(refusal.starts_with(expected), "{refusal}");
}

/// Computes a product as [`super::product`] does. Returns the sums of the rows, of which y has the results.
fn product<T: Scalar + Lanes>(rows: &Rows, partition: &Partition, given: &Operands<T>, y: &mut [T]) -> Vec<RowSum> {
    let (mut sums, mut tails): (Vec<RowSum>, Vec<_>) = Default::default();
    for rank in 0..partition.ranks() {
        let share = share(rows, partition, rank).unwrap().csr;
        let csr = share.to_precision::<T>().unwrap().into_owned();
        let own: Vec<_> = (0..csr.rows()).map(|row| RowSum::of(&csr, row, given.x)).collect();
        let needed = needed(&csr);
        let csr = renumbered(csr, &needed);
        let x: Vec<T> = needed.iter().map(|&column| given.x[column as usize]).collect();
        let stored = partition.stored(rank);
        let end = Coordinate { row: stored.len(), nonzero: csr.nnz() };
        let path = Range { start: Coordinate { row: 0, nonzero: 0 }, end };
        let (operands, y) = (Operands { x: &x, ..*given }, &mut y[stored.clone()]);
        let sum = consume(Isa::detect(), &csr, path, operands, y, false);
        assert_eq!(restored(&csr, &needed, share.cols()).column_indices(), share.column_indices());
        tails.push((Carry { row: 0, sum }, own[stored.len()]));
        sums.extend(&own[..stored.len()]);
    }
    for rank in 0..partition.ranks() {
        let stored = partition.stored(rank);
        for sender in partition.senders(rank) {
            fix_up([&tails[sender].0], given.alpha, &mut y[stored.clone()]);
            sums[stored.start] = sums[stored.start].plus(tails[sender].1);
        }
    }
    sums
}

fn products_are_right<T: Scalar + Lanes>() {
    for spec in SPECS {
        let source = parse(spec);
        let csr = source.open(Options::default(), ReadBounds::NONE).unwrap().load(None).unwrap().csr;
        let csr: Csr<T> = csr.to_precision().unwrap().into_owned();
        let rows = Rows::open(&source, &Options::default()).unwrap();
        let wave = |len: usize| (0..len).map(|k| T::narrow((k as f64 + 1.0).sin())).collect::<Vec<T>>();
        let (x, y0) = (wave(csr.cols()), wave(csr.rows()));
        for (ranks, beta) in [(1, 0.0), (2, 0.5), (3, 0.0), (4, 0.5), (7, 0.0), (70, -1.0)] {
            let (alpha, beta) = (T::narrow(-2.0), T::narrow(beta));
            let unread = vec![T::nan(); csr.rows()];
            let mut y = if beta == T::zero() { unread } else { y0.clone() };
            let given = Operands { alpha, x: &x, beta };
            let sums = product(&rows, &partition(&rows, ranks), &given, &mut y);
            let whole = Reference::new(&csr, alpha, &x, beta, &y0);
            for reference in [whole, Reference::of_sums(&sums, alpha, beta, &y0)] {
                let verdict = reference.judge(&y);
                assert!(verdict.passes(), "{spec} {ranks}: {}", verdict.describe());
            }
        }
    }
}

/// Results are compared with the reference of the whole matrix and with that of sums of parts.
#[test]
fn products_of_all_ranks_are_right() {
    products_are_right::<f64>();
    products_are_right::<f32>();
}
