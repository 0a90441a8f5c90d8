//! Rows whose columns follow from their number: grids, the wheel, diagonals.

/// The points next to `point` along each dimension, ascending. `strides` holds, outermost dimension
/// first, the points that it spans; the next one's span is a step along it, and 1 ends the list.
pub fn neighbours(point: usize, strides: &[usize], own: bool, row: &mut Vec<u32>) {
    for pair in strides.windows(2) {
        if point % pair[0] >= pair[1] {
            row.push((point - pair[1]) as u32);
        }
    }
    if own {
        row.push(point as u32);
    }
    for pair in strides.windows(2).rev() {
        if point % pair[0] + pair[1] < pair[0] {
            row.push((point + pair[1]) as u32);
        }
    }
}

/// The points at most one step from `point` in each dimension of a grid of nx × ny × nz points, ascending, that differ
/// from it in `least` to `most` coordinates.
pub fn around(
    point: usize,
    [nx, ny, nz]: [usize; 3],
    (least, most): (usize, usize),
    row: &mut Vec<u32>,
) {
    let near = |at: usize, side: usize| at.saturating_sub(1)..(at + 2).min(side);
    let (x, y, z) = (point % nx, point / nx % ny, point / (nx * ny));
    for plane in near(z, nz) {
        for line in near(y, ny) {
            let differ = usize::from(plane != z) + usize::from(line != y);
            let is_joined = |at: &usize| (least..=most).contains(&(differ + usize::from(*at != x)));
            let joined = near(x, nx).filter(is_joined);
            row.extend(joined.map(|at| ((plane * ny + line) * nx + at) as u32));
        }
    }
}

/// The neighbours of a point in the n-th Mycielski graph, ascending. The second is an edge; from one of m points the next
/// has each point i, joined to the old neighbours and to their copies, its copy m + i, joined to the old neighbours, and
/// 2m, joined to all copies (J. Mycielski, Sur le coloriage des graphes, 1955).
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

/// A hub, point 0, joined to `spokes` rim points, each joined to the next.
pub fn wheel(point: usize, spokes: usize, row: &mut Vec<u32>) {
    match point {
        0 => row.extend(1..=spokes as u32),
        _ => row.push((point % spokes + 1) as u32),
    }
}

/// The diagonals that cross row `at`; `offsets` ascend.
pub fn diagonals(at: usize, cols: usize, offsets: &[i64], row: &mut Vec<u32>) {
    let columns = offsets.iter().map(|offset| at as i64 + offset);
    row.extend(columns.filter(|col| (0..cols as i64).contains(col)).map(|col| col as u32));
}
