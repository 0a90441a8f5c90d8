//! What the lanes of a warp do together.

use std::cell::{Cell, RefCell};

use crate::thread::{Site, Thread};

/// Same order as `emu::Operation` in warp.hpp.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // see warp.hpp
pub enum Operation {
    Sync,
    Index,
    Up,
    Down,
    Xor,
    Ballot,
    Match,
    Add,
    Min,
    Max,
    UnsignedMin,
    UnsignedMax,
    And,
    Or,
    BitXor,
}

impl Operation {
    /// By number.
    pub const ALL: [Self; 15] = [
        Self::Sync,
        Self::Index,
        Self::Up,
        Self::Down,
        Self::Xor,
        Self::Ballot,
        Self::Match,
        Self::Add,
        Self::Min,
        Self::Max,
        Self::UnsignedMin,
        Self::UnsignedMax,
        Self::And,
        Self::Or,
        Self::BitXor,
    ];
}

/// Lanes that wait for each other in one call.
pub struct Group {
    /// The call.
    pub site: Site,
    /// All the lanes that are to come.
    pub mask: u32,
    /// Those that have.
    pub arrived: u32,
}

/// 32 fibers in a row.
pub struct Warp {
    /// Lanes that there are: all but in the last warp of a block.
    pub exists: u32,
    /// Lanes that can run.
    pub ready: Cell<u32>,
    /// Whether it is in the queue of warps that can run, or runs.
    pub queued: Cell<bool>,
    /// Whether a lane handed over since this was last asked.
    pub yielded: Cell<bool>,
    /// Open collectives.
    pub groups: RefCell<Vec<Group>>,
}

impl Warp {
    /// A warp with that many lanes, none of them ready.
    pub fn new(lanes: u32) -> Self {
        Self {
            exists: u32::MAX >> (32 - lanes),
            ready: Cell::new(0),
            queued: Cell::new(false),
            yielded: Cell::new(false),
            groups: RefCell::default(),
        }
    }

    /// A lane comes to a collective; true when it is the last, which closes the group. Lanes that do
    /// not exist count as arrived: hardware takes a full mask in a partial warp.
    pub fn arrive(&self, lane: u32, site: Site, mask: u32) -> bool {
        let mut groups = self.groups.borrow_mut();
        let known = groups.iter().position(|group| group.mask == mask && group.site == site);
        let index = known.unwrap_or_else(|| {
            groups.push(Group { site, mask, arrived: !self.exists });
            groups.len() - 1
        });
        groups[index].arrived |= 1 << lane;
        let last = groups[index].arrived & mask == mask;
        if last {
            groups.swap_remove(index);
        }
        last
    }
}

/// What the lanes of `mask` brought: `lanes` are the warp's records.
pub struct Brought<'a> {
    /// Of every lane; `None` where a lane is not in the mask or does not exist.
    pub lanes: [Option<&'a Thread>; 32],
}

impl Brought<'_> {
    /// What one lane takes from the operation.
    pub fn result(&self, operation: Operation, lane: usize) -> u64 {
        let low = |combine: fn(u32, u32) -> u32| {
            let values = self.values().map(|(_, value)| value as u32);
            u64::from(values.reduce(combine).unwrap_or_default())
        };
        match operation {
            Operation::Sync => 0,
            Operation::Index | Operation::Up | Operation::Down | Operation::Xor => {
                // What a lane that does not take part would give is arbitrary.
                self.lanes[self.source(operation, lane)].map_or(u64::MAX, |from| from.value.get())
            }
            Operation::Ballot => self.where_value(1),
            Operation::Match => self.matching(lane),
            Operation::Add => low(u32::wrapping_add),
            Operation::Min => low(|a, b| (a as i32).min(b as i32) as u32),
            Operation::Max => low(|a, b| (a as i32).max(b as i32) as u32),
            Operation::UnsignedMin => low(u32::min),
            Operation::UnsignedMax => low(u32::max),
            Operation::And => low(|a, b| a & b),
            Operation::Or => low(|a, b| a | b),
            Operation::BitXor => low(|a, b| a ^ b),
        }
    }

    /// Whether all lanes take the same.
    pub fn is_uniform(operation: Operation) -> bool {
        !matches!(
            operation,
            Operation::Index | Operation::Up | Operation::Down | Operation::Xor | Operation::Match
        )
    }

    fn values(&self) -> impl Iterator<Item = (usize, u64)> {
        let present = self.lanes.iter().enumerate();
        present.filter_map(|(lane, thread)| Some((lane, (*thread)?.value.get())))
    }

    fn where_value(&self, wanted: u64) -> u64 {
        self.values()
            .filter(|(_, value)| *value == wanted)
            .fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    /// The lanes with this lane's value; for `__match_all_sync` (parameter 1) none unless all have it.
    fn matching(&self, lane: usize) -> u64 {
        let thread = self.lanes[lane].expect("a lane in its own mask");
        let same = self.where_value(thread.value.get());
        let all = same.count_ones() as usize == self.values().count();
        if thread.parameter.get() == 0 || all { same } else { 0 }
    }

    /// The lane that a shuffle takes from; its own when the source is outside its segment.
    fn source(&self, operation: Operation, lane: usize) -> usize {
        let thread = self.lanes[lane].expect("a lane in its own mask");
        let (width, parameter) = (thread.width.get() as usize, thread.parameter.get() as usize);
        let first = lane & !(width - 1);
        let inside = |source: usize| if source < first + width { source } else { lane };
        match operation {
            Operation::Index => first + (parameter & (width - 1)),
            Operation::Up if parameter > lane - first => lane,
            Operation::Up => lane - parameter,
            Operation::Down => inside(lane.saturating_add(parameter)),
            _ => inside(lane ^ parameter),
        }
    }
}
