//! Instruction scheduling within a basic block, as the assembler would do it: loads are placed as early as their
//! dependences allow, so that several are outstanding at the same time. NVRTC leaves this to the assembler. Without
//! it, modelled times would include waits that do not occur on the hardware. The results do not change, because
//! dependent instructions stay in order.

use std::collections::HashMap;

use super::flow::Block;
use super::operands::{Bank, Use};
use super::operation::{Collective, Instruction, Operation, Order, Space};
use crate::lanes::Slot;

/// The resources whose accesses must stay in order, one bit each.
const GLOBAL: u8 = 1;
const SHARED: u8 = 2;
const LOCAL: u8 = 4;
/// The order of collective instructions.
const TOGETHER: u8 = 8;
/// Global memory that is loaded as read-only data, which a launch does not change after it has waited for earlier ones.
const READ_ONLY: u8 = 16;
const ALL: u8 = GLOBAL | SHARED | LOCAL | TOGETHER;

pub fn schedule(code: &mut [Instruction], blocks: &[Block]) {
    for block in blocks {
        let fixed = code[block.end - 1].operation.jumps();
        let range = block.start..block.end - usize::from(fixed);
        let before: Vec<_> = code[range.clone()].to_vec();
        let order = order(&before);
        for (instruction, from) in code[range].iter_mut().zip(order) {
            *instruction = before[from];
        }
    }
}

/// Returns the ordered resources that an instruction reads and those that it writes.
fn effects(operation: &Operation) -> (u8, u8) {
    let of = |space: Space| match space {
        Space::Global => GLOBAL,
        Space::Constant => 0,
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Generic => GLOBAL | SHARED | LOCAL,
    };
    match operation {
        Operation::Load(access) if access.order == Order::ReadOnly => (READ_ONLY, 0),
        Operation::Load(access) if access.order == Order::Weak => (of(access.space), 0),
        Operation::Store(access) if access.order == Order::Weak => (0, of(access.space)),
        Operation::Atomic(atomic) if atomic.to.is_none() => (0, of(atomic.space)),
        Operation::WaitForEarlier => (ALL, ALL | READ_ONLY),
        Operation::Collective { collective, .. } if !matches!(collective, Collective::Barrier) => (0, TOGETHER),
        Operation::Compute { .. }
        | Operation::Convert { .. }
        | Operation::Compare { .. }
        | Operation::Select { .. }
        | Operation::Logic { .. } => (0, 0),
        _ => (ALL, ALL),
    }
}

/// Returns the approximate latency of an instruction in cycles.
fn latency(operation: &Operation) -> u32 {
    match operation {
        Operation::Load(access) if access.space == Space::Shared => 12,
        Operation::Load(_) | Operation::Atomic(_) => 60,
        Operation::Collective {
            collective: Collective::Shuffle { .. } | Collective::Vote { .. } | Collective::Multiply { .. },
            ..
        } => 12,
        Operation::Compute { kind, .. } if kind.is_wide() => 4,
        _ => 2,
    }
}

/// Returns the indices of the instructions in the new order (list scheduling by the critical path).
fn order(code: &[Instruction]) -> Vec<usize> {
    let followers = followers(code);
    // The length of the critical path from each instruction to the end of the block.
    let mut heights = vec![0; code.len()];
    for at in (0..code.len()).rev() {
        let ways = followers[at].iter().map(|&(next, cycles)| heights[next] + cycles);
        heights[at] = ways.max().unwrap_or(0);
    }
    let mut waits_for = vec![0; code.len()];
    followers.iter().flatten().for_each(|&(next, _)| waits_for[next] += 1);
    let mut ready: Vec<usize> = (0..code.len()).filter(|&at| waits_for[at] == 0).collect();
    let (mut earliest, mut now, mut order) = (vec![0; code.len()], 0, Vec::new());
    loop {
        let urgency = |&at: &usize| (now.max(earliest[at]), u32::MAX - heights[at], at);
        let Some(k) = (0..ready.len()).min_by_key(|&k| urgency(&ready[k])) else { return order };
        let at = ready.swap_remove(k);
        now = now.max(earliest[at]) + 1;
        order.push(at);
        for &(next, cycles) in &followers[at] {
            earliest[next] = earliest[next].max(now - 1 + cycles);
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(next);
            }
        }
    }
}

/// Returns for each instruction those that must follow it, with the minimum number of cycles between them.
fn followers(code: &[Instruction]) -> Vec<Vec<(usize, u32)>> {
    let mut followers: Vec<Vec<(usize, u32)>> = vec![Vec::new(); code.len()];
    let mut writers: HashMap<(Bank, Slot), usize> = HashMap::new();
    let mut readers: HashMap<(Bank, Slot), Vec<usize>> = HashMap::new();
    for at in 0..code.len() {
        for (register, purpose) in code[at].uses() {
            if let Some(&writer) = writers.get(&register) {
                let cycles = match purpose {
                    Use::Read => latency(&code[writer].operation),
                    Use::Write => 1,
                };
                followers[writer].push((at, cycles));
            }
            if purpose == Use::Write {
                for reader in readers.remove(&register).unwrap_or_default() {
                    if reader != at {
                        followers[reader].push((at, 1));
                    }
                }
                writers.insert(register, at);
            }
            if purpose == Use::Read || code[at].guard.is_some() {
                readers.entry(register).or_default().push(at);
            }
        }
        let (reads, writes) = effects(&code[at].operation);
        if reads | writes != 0 {
            for earlier in 0..at {
                let (read, written) = effects(&code[earlier].operation);
                if written & (reads | writes) | read & writes != 0 {
                    followers[earlier].push((at, 1));
                }
            }
        }
    }
    followers
}
