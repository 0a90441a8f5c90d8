//! How methods stand after the turns that they had: which may be named as the fastest, and which are far behind.

use super::ready::Ready;
use spmv_results::matrix::winner::candidates;
use spmv_results::row::{Row, RowKey, Status};

/// How many times as long as the best method one takes that is far behind.
const FAR: u32 = 2;

/// Returns the places of the methods that the closing sentence may name by the times of this process.
pub fn nameable<T, V: ?Sized>(entrants: &[Ready<T, V>], planned: Option<u32>) -> Vec<usize> {
    candidates(&entrants.iter().map(row).collect::<Vec<_>>(), planned)
}

fn row<T, V: ?Sized>(ready: &Ready<T, V>) -> Row {
    Row {
        status: Some(Status::Ok),
        setup_ms: Some(ready.setup_ms),
        median_ms: ready.samples.typical().map(|time| 1e3 * time.as_secs_f64()),
        picked: ready.prepared.picked.clone(),
        ..Row::default().with_key(&ready.cell.key)
    }
}

/// Returns the methods that are so slow that their times need not be narrow, because no sentence names them.
pub fn far_behind<T, V: ?Sized>(entrants: &[Ready<T, V>], planned: Option<u32>) -> Vec<RowKey> {
    let nameable = nameable(entrants, planned);
    let best = entrants.iter().filter_map(|ready| ready.samples.typical()).min();
    let is_far = |ready: &Ready<T, V>| ready.samples.typical() > best.map(|best| FAR * best);
    let others = entrants.iter().enumerate().filter(|(place, _)| !nameable.contains(place));
    others.filter(|(_, ready)| is_far(ready)).map(|(_, ready)| ready.cell.key.clone()).collect()
}
