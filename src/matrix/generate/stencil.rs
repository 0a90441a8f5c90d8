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

/// The points at most one step from `point` in each dimension of an n × n × n grid, ascending; with
/// `flat` of an n × n grid.
pub fn around(point: usize, n: usize, flat: bool, row: &mut Vec<u32>) {
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(n);
    let planes = if flat { 0..1 } else { near(point / (n * n)) };
    for plane in planes {
        for line in near(point / n % n) {
            row.extend(near(point % n).map(|at| ((plane * n + line) * n + at) as u32));
        }
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
