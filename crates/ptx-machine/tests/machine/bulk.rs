//! Tests of asynchronous copies to shared memory and their mbarriers: a correct kernel, and the same kernel with one
//! mistake.

use ptx_machine::{Machine, Program};

use crate::{download, launch, mistaken, text, upload};

/// The threads of the block, each with 8 bytes of a copy.
const THREADS: usize = 64;
const BYTES: usize = 8 * THREADS;

/// A kernel that copies twice to the same shared array. After the first copy, each thread adds 1 to its number there,
/// and after both copies, it stores its number.
const KERNEL: &str = "
    .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %d<8>;
    .shared .align 16 .b8 data[512];
    .shared .align 8 .b8 full[8];
    ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
    mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
    mad.wide.u32 %d1, %r0, 8, %d1;
    mov.u32 %r1, data; mad.lo.u32 %r1, %r0, 8, %r1;
    @%p0 mbarrier.init.shared.b64 [full], 1;
    @%p0 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 %d4, [full], 512;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d0], 512, [full];
    FIRST: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0;
    @!%p1 bra FIRST;
    ld.shared.u64 %d5, [%r1]; add.u64 %d5, %d5, 1; st.shared.u64 [%r1], %d5;
    ld.shared.u64 %d5, [%r1]; st.global.u64 [%d1], %d5;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [full], 512;
    createpolicy.fractional.L2::evict_first.b64 %d6;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
        [data], [%d0+512], 512, [full], %d6;
    SECOND: mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 1;
    @!%p1 bra SECOND;
    ld.shared.u64 %d5, [%r1]; st.global.u64 [%d1+512], %d5;
    ret;";

/// Runs a kernel and returns its output, or the message of its fault.
fn run(kernel: &str, seed: Option<u64>) -> Result<Vec<u64>, String> {
    let text = text(&[("test(.param .u64 in, .param .u64 out)", kernel)]);
    let program = Program::parse(&text)?;
    let mut machine = Machine::new(1 << 20, seed);
    let numbers: Vec<u8> = (0..2 * THREADS as u64).flat_map(|k| (10 * k).to_le_bytes()).collect();
    let from = upload(&mut machine, &numbers);
    let to = machine.memory.allocate(2 * BYTES).unwrap();
    let arguments = [from, to].map(u64::to_le_bytes).concat();
    let launch = launch(&program.kernels[0], &arguments, 1, THREADS as u32);
    machine.launch(&launch, None).map_err(|fault| fault.to_string())?;
    Ok(download(&machine, to, 2 * THREADS).into_iter().map(u64::from_le_bytes).collect())
}

#[test]
fn threads_read_the_copies_after_their_waits() {
    let (first, second) = (0..THREADS as u64, THREADS as u64..2 * THREADS as u64);
    let expected: Vec<_> = first.map(|k| 10 * k + 1).chain(second.map(|k| 10 * k)).collect();
    for seed in (0..20).map(Some).chain([None]) {
        assert_eq!(run(KERNEL, seed).as_ref(), Ok(&expected), "seed {seed:?}");
    }
    // The bytes of a copy may be expected after it.
    let lines: Vec<_> = KERNEL.lines().collect();
    let at = lines.iter().position(|line| line.contains("expect_tx.shared.b64")).unwrap();
    let swapped = [&lines[..at], &[lines[at + 1], lines[at]], &lines[at + 2..]].concat();
    assert_eq!(run(&swapped.join("\n"), Some(1)), Ok(expected));
}

/// The mistakes: a text in the kernel, its replacement, and a part of the message.
const MISTAKES: &[&str] = &[
    // Copies have a unit, and stay in their buffers.
    "[data], [%d0], 512 => [data+8], [%d0], 512 => copies with a target of 0x",
    "[data], [%d0], 512 => [data], [%d0+8], 512 => copies with a source of 0x",
    "[data], [%d0], 512 => [data], [%d0], 504 => copies with a size of 0x1f8, no multiple of 16",
    "[data], [%d0], 512 => [data+16], [%d0], 512 => \
     copies 512 bytes to memory at offset 16 of the shared array `data` of 512 bytes",
    "[data], [%d0], 512 => [data], [%d0+528], 512 => \
     copies 512 bytes from memory at offset 528 of a buffer of 1024 bytes",
    // Mbarriers are initialised once, and become visible to other threads and to copies.
    "@%p0 mbarrier.init.shared.b64 [full], 1; =>  => \
     uses an mbarrier that was not initialised, at offset 0 of the shared array `full`",
    "[full], 1; => [full], 1; bar.sync 0; @%p0 mbarrier.init.shared.b64 [full], 1; => initialises an mbarrier twice",
    "[full], 1; => [full], 0; => initialises an mbarrier with 0 arrivals, not 1 to 1048575",
    "@%p0 mbarrier.init => mbarrier.init => data race",
    "cluster;\n    bar.sync 0; => cluster; => the shared array `full`",
    "@%p0 fence.mbarrier_init.release.cluster; =>  => copies with an mbarrier that no `fence.mbarrier_init` or",
    // Phases have the expected arrivals and bytes.
    "[full], 1; => [full], 2; => waits forever for an mbarrier whose phase lacks 1 arrivals and 0 bytes",
    "[full], 512; => [full], 528; => waits forever for an mbarrier whose phase lacks 0 arrivals and 16 bytes",
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 %d4, [full], 512; =>  => \
     waits forever for an mbarrier whose phase lacks 1 arrivals and -512 bytes",
    "arrive.expect_tx.shared.b64 %d4, [full], 512; => arrive.shared.b64 %d4, [full]; => \
     asynchronous copy of block 0 wrote",
    "[full], 512; => [full], 2000000; => expects 2000000 bytes at an mbarrier, not 1048575 at most",
    "[full], 512; => [full], 512; @%p0 mbarrier.arrive.expect_tx.shared.b64 %d4, [full], 512; => \
     arrives at an mbarrier whose phase expects no more arrivals",
    "[full], 0; => [full], 2; => waits for an mbarrier with the parity 2",
    // Waits and barriers order copies. A barrier of the block shows nothing about a copy.
    "@!%p1 bra FIRST; =>  => reads 8 bytes",
    "@!%p1 bra SECOND; =>  => data race",
    "@!%p1 bra FIRST; => bar.sync 0; => which an asynchronous copy of block 0 wrote: data race",
    "shared::cta;\n    bar.sync 0; => shared::cta; => data race",
    "fence.proxy.async.shared::cta; =>  => wrote without a later `fence.proxy.async`",
    // A fence of the writing thread must be before the barrier.
    "fence.proxy.async.shared::cta;\n    bar.sync 0; => bar.sync 0; @!%p0 fence.proxy.async; => \
     wrote without a later `fence.proxy.async`",
    "add.u64 %d5, %d5, 1; st.shared.u64 [%r1], %d5;\n    ld.shared.u64 %d5, [%r1]; st.global.u64 [%d1], %d5;\n    \
     fence.proxy.async.shared::cta;\n    bar.sync 0; => st.global.u64 [%d1], %d5; => read: data race",
    "@%p0 cp.async => @%p0 st.global.u64 [%d0], %d1; @%p0 cp.async => \
     copies 512 bytes at offset 0 of a buffer of 1024 bytes, but thread 0",
    "SECOND: mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 1;\n    @!%p1 bra SECOND;\n    \
     ld.shared.u64 %d5, [%r1]; =>  => exits, and no thread of the block has waited for its last copies",
    // Other instructions.
    "mbarrier::complete_tx::bytes => bulk_group => this instruction is not supported",
    "cp.async.bulk => cp.async.bulk.tensor.1d => this instruction is not supported",
    "mbarrier.init => mbarrier.inval => this instruction is not supported",
    "try_wait.parity => try_wait => this instruction is not supported",
    "[full], 1; => [full]; => wrong number of operands",
];

/// The kernel with a mistake fails for at least one of several orders of its threads, always with the correct message.
#[test]
fn every_mistake_is_found() {
    for mistake in MISTAKES {
        let (kernel, message) = mistaken(KERNEL, mistake);
        let faults: Vec<_> = (0..10).filter_map(|seed| run(&kernel, Some(seed)).err()).collect();
        assert!(!faults.is_empty(), "{mistake}: it is not found");
        for found in faults {
            assert!(found.contains(message), "{message:?} is not in: {found}");
        }
    }
}
