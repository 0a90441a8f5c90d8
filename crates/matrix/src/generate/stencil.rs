//! Patterns whose columns are computed from the row index: grids, Mycielski graphs, wheels and diagonals.

use std::ops::RangeInclusive;

/// Appends in ascending order the points of a grid of nx × ny × nz points that are at most one step from
/// `point` in each dimension and differ from it in a number of coordinates that is in `steps`.
pub fn around(
    point: usize,
    [nx, ny, nz]: [usize; 3],
    steps: &RangeInclusive<usize>,
    row: &mut Vec<u32>,
) {
    let near = |at: usize, side: usize| at.saturating_sub(1)..(at + 2).min(side);
    let (x, y, z) = (point % nx, point / nx % ny, point / (nx * ny));
    for plane in near(z, nz) {
        for line in near(y, ny) {
            let differ = usize::from(plane != z) + usize::from(line != y);
            let is_joined = |at: &usize| steps.contains(&(differ + usize::from(*at != x)));
            let joined = near(x, nx).filter(is_joined);
            row.extend(joined.map(|at| ((plane * ny + line) * nx + at) as u32));
        }
    }
}

/// Appends the neighbours of a point in the Mycielski graph of `points` points in ascending order. The second
/// graph is a single edge. A graph of m points is followed by a graph with the points i, joined to their old
/// neighbours and the copies of these; the copies m + i, joined to the old neighbours of i; and the point 2m,
/// joined to all copies (J. Mycielski, Sur le coloriage des graphes, 1955).
pub fn mycielski(point: usize, points: usize, row: &mut Vec<u32>) {
    if points == 2 {
        row.push(1 - point as u32);
        return;
    }
    let before = points / 2;
    if point == 2 * before {
        row.extend(before as u32..point as u32);
        return;
    }
    let begin = row.len();
    mycielski(point % before, before, row);
    if point < before {
        let copies = row[begin..].iter().map(|&old| old + before as u32).collect::<Vec<_>>();
        row.extend(copies);
    } else {
        row.push(2 * before as u32);
    }
}

/// Appends the columns of a row of the wheel graph: point 0 is the hub and is joined to all `spokes` rim
/// points, and each rim point is joined to the next.
pub fn wheel(point: usize, spokes: usize, row: &mut Vec<u32>) {
    match point {
        0 => row.extend(1..=spokes as u32),
        _ => row.push((point % spokes + 1) as u32),
    }
}

/// Appends the columns in which the diagonals with these ascending offsets cross row `at`.
pub fn diagonals(at: usize, cols: usize, offsets: &[i64], row: &mut Vec<u32>) {
    let columns = offsets.iter().map(|offset| at as i64 + offset);
    row.extend(columns.filter(|col| (0..cols as i64).contains(col)).map(|col| col as u32));
}
