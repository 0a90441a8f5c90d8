//! Decoding of asynchronous copies and of the operations on their mbarriers.

use super::decode::{Decoder, Reason, miscounted, unknown};
use super::{Bank, Copies, EVICT_FIRST, Mbarrier, MbarrierAction, Operation};
use crate::ptx::Operand;

impl<'a> Decoder<'a> {
    /// Decodes `mbarrier`. The scope and the default order of an operation may be written.
    pub(super) fn mbarrier(
        &mut self,
        parts: &[&str],
        operands: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        let defaults = |part: &&str| !matches!(*part, "cta" | "release" | "acquire");
        let named: Vec<_> = parts[1..].iter().copied().filter(defaults).collect();
        let Some((&"b64", rest)) = named.split_last() else { return Err(unknown()) };
        let Some((&("shared" | "shared::cta"), rest)) = rest.split_last() else {
            return Err(unknown());
        };
        let (address, action) = match (rest, operands) {
            (["init"], [address, count]) => {
                (address, MbarrierAction::Init(self.value(count, false)?))
            }
            (["arrive"], [to, address]) => {
                (address, MbarrierAction::Arrive { to: self.result(to, true)?, bytes: None })
            }
            (["arrive", "expect_tx"], [to, address, bytes]) => {
                let bytes = Some(self.value(bytes, false)?);
                (address, MbarrierAction::Arrive { to: self.result(to, true)?, bytes })
            }
            ([wait @ ("try_wait" | "test_wait"), "parity"], [to, address, parity]) => {
                let to = self.target(to, Bank::Predicate)?;
                let parity = self.value(parity, false)?;
                (address, MbarrierAction::Wait { to, parity, blocks: *wait == "try_wait" })
            }
            (["init" | "arrive", ..] | ["try_wait" | "test_wait", "parity"], _) => {
                return Err(miscounted());
            }
            _ => return Err(unknown()),
        };
        Ok(Operation::Mbarrier(Mbarrier { address: self.address(address)?, action }))
    }

    /// Decodes `cp.async.bulk`, a copy from global to shared memory that an mbarrier counts.
    pub(super) fn copy(
        &mut self,
        parts: &[&str],
        [to, from, mbarrier]: [&Operand<'a>; 3],
        bytes: &Operand<'a>,
        policy: &[Operand<'a>],
    ) -> Result<Operation, Reason> {
        // Since PTX 8.6, the destination may also be called `shared::cta`.
        let ["async", "bulk", "shared::cluster" | "shared::cta", rest @ ..] = &parts[1..] else {
            return Err(unknown());
        };
        let policy = match (rest, policy) {
            (["global", "mbarrier::complete_tx::bytes"], []) => None,
            (["global", "mbarrier::complete_tx::bytes", "L2::cache_hint"], [policy]) => {
                Some(self.value(policy, true)?)
            }
            _ => return Err(unknown()),
        };
        Ok(Operation::Copy(Copies {
            to: self.address(to)?,
            from: self.address(from)?,
            bytes: self.value(bytes, false)?,
            mbarrier: self.address(mbarrier)?,
            policy,
        }))
    }

    /// Decodes the creation of a policy of the second-level cache for all accesses that use it.
    pub(super) fn create_policy(&mut self, parts: &[&str], to: &Operand<'a>) -> Result<(), Reason> {
        let ["fractional", "L2::evict_first", "b64"] = parts[1..] else { return Err(unknown()) };
        self.mov(&["mov", "u64"], to, &Operand::Number(EVICT_FIRST))
    }
}
