//! The end of a region is counted by a tree: groups of eight workers count in a cache line of their own, and the last
//! of each group counts in the next level. With up to eight workers this is one counter. With 256 it takes three levels
//! of at most eight additions each, instead of 255 additions in one cache line, which would come one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

/// The number of counters or workers that share a counter of the next level.
const FAN_IN: usize = 8;

/// Counts how often all members have arrived, without a counter that all of them change.
pub struct Tree {
    members: usize,
    /// The counters of each level, each in a cache line of its own. The last level is a single counter.
    levels: Vec<Vec<CachePadded<AtomicUsize>>>,
}

impl Tree {
    pub fn new(members: usize) -> Self {
        let mut levels = Vec::new();
        let mut width = members;
        while width > 1 || levels.is_empty() {
            width = width.div_ceil(FAN_IN).max(1);
            levels.push((0..width).map(|_| AtomicUsize::new(0).into()).collect());
        }
        Self { members, levels }
    }

    /// Counts the arrival of a member. What any member did before is visible to who sees
    /// [`all_arrived`](Self::all_arrived).
    pub fn arrive(&self, member: usize) {
        let (mut index, mut width) = (member, self.members);
        for level in &self.levels {
            let group = index / FAN_IN;
            let size = (width - group * FAN_IN).min(FAN_IN);
            let before = level[group].fetch_add(1, Ordering::AcqRel);
            if (before + 1) % size != 0 {
                return;
            }
            (index, width) = (group, level.len());
        }
    }

    pub fn all_arrived(&self, times: usize) -> bool {
        let root = self.levels.last().expect("there is at least one level");
        let below = self.levels.len().checked_sub(2).map_or(self.members, |k| self.levels[k].len());
        root[0].load(Ordering::Acquire) == times.wrapping_mul(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests trees of one to three levels: nobody may be missed, and nobody counted for the next round.
    #[test]
    fn a_tree_counts_every_member_once_per_round() {
        for members in [1, 7, 8, 9, 64, 65, 255] {
            let tree = Tree::new(members);
            assert!(tree.levels.iter().all(|level| level.len() <= members.div_ceil(FAN_IN)));
            for round in 1..=3 {
                for member in (0..members).rev() {
                    assert!(!tree.all_arrived(round), "{member} of {members} is missing");
                    tree.arrive(member);
                }
                assert!(tree.all_arrived(round), "{members} members in round {round}");
            }
        }
    }
}
