//! The power of the machine when no product runs.

use std::time::Duration;

use crate::bench::clock::Clock;
use crate::bench::execute::shortest_interval;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::device::Gpu;
use spmv_methods::method::Device;

/// The shortest time over which it is measured.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns the power in watts that the host and the GPU need while this program pauses, for a second or two; `None` for
/// what has no counter of energy that can be trusted. Without any counter there is no pause.
pub fn watts(host: Option<&Rapl>, gpu: Option<&Gpu>, clock: &dyn Clock) -> [Option<f64>; 2] {
    let joules = || {
        let gpu = gpu.and_then(|gpu| gpu.energy());
        [host.and_then(Rapl::joules), gpu.map(|energy| energy.joules)]
    };
    let (before, begin) = (joules(), clock.now());
    match before {
        [None, None] => return [None; 2],
        [_, None] => clock.pause(PAUSE),
        [_, Some(_)] => clock.pause(PAUSE.max(shortest_interval(Device::Gpu))),
    }
    let (after, seconds) = (joules(), (clock.now() - begin).as_secs_f64());
    let used = [0, 1].map(|device| Some(after[device]? - before[device]?));
    let can_be = |joules: &f64| host.is_some_and(|host| host.can_be(*joules, seconds));
    let used = [used[0].filter(can_be), used[1].filter(|joules| *joules > 0.0)];
    used.map(|joules| Some(joules? / seconds))
}
