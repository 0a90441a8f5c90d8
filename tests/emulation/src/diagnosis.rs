//! Why a launch does not get any further.

use crate::launch::Launch;
use crate::thread::{State, Thread};
use crate::warp::Group;

/// What the waiting threads of a block lack, if any wait.
pub fn stuck(launch: &Launch, slot: usize) -> Option<String> {
    let count = launch.warps_per_block();
    let in_warp = (slot * count..(slot + 1) * count).find_map(|number| warp(launch, number));
    in_warp.or_else(|| barrier(launch, slot))
}

/// The same for all blocks; and when none lacks anything, that nothing ever happens.
pub fn standstill(launch: &Launch) -> String {
    let resident = (0..launch.blocks.len()).filter(|&slot| launch.blocks[slot].resident.get());
    let threads = launch.threads as usize;
    resident.clone().find_map(|slot| stuck(launch, slot)).unwrap_or_else(|| {
        let first = |slot: usize| slot * launch.warps_per_block() * 32;
        let runs = |thread: &&Thread| thread.state.get() == State::Ready;
        let mut all = resident.flat_map(|slot| first(slot)..first(slot) + threads);
        let waiting = all.find_map(|number| Some(launch.thread(number)).filter(runs));
        let place = waiting.map(Thread::place).unwrap_or_default();
        launch.at.set(waiting.map(|thread| thread.code.get()).filter(|&code| code != 0));
        format!("{place}: waits for ever: all threads that can run repeat themselves")
    })
}

fn warp(launch: &Launch, number: usize) -> Option<String> {
    let groups = launch.warps[number].groups.borrow();
    let group = groups.first()?;
    let waiting = group.arrived & group.mask & launch.warps[number].exists;
    let thread = launch.thread(number * 32 + waiting.trailing_zeros() as usize);
    Some(format!("{}: {}", thread.place(), lacking(launch, number, group)))
}

fn lacking(launch: &Launch, number: usize, group: &Group) -> String {
    let missing = group.mask & !group.arrived;
    let lane = missing.trailing_zeros();
    let doing = launch.thread(number * 32 + lane as usize).doing();
    format!(
        "{} with the mask {:#010x} lacks the lanes {missing:#010x}: lane {lane} {doing}",
        group.site, group.mask
    )
}

fn barrier(launch: &Launch, slot: usize) -> Option<String> {
    let first = slot * launch.warps_per_block() * 32;
    let threads = || (first..first + launch.threads as usize).map(|number| launch.thread(number));
    let waiting = threads().find(|thread| thread.state.get() == State::Waiting)?;
    let missing = threads().find(|thread| thread.state.get() != State::Waiting)?;
    let [x, y, z] = missing.index;
    Some(format!(
        "{}: {} lacks thread ({x},{y},{z}), which {}",
        waiting.place(),
        waiting.site.get(),
        missing.doing()
    ))
}
