//! Tests of the model: the caches that loads in hand-written PTX use.

use std::cell::RefCell;
use std::rc::Rc;

use ptx_machine::model::{Cache, Cure, Gpu, Recorder, Traffic, replay as replayed};
use ptx_machine::{Machine, Program};

use crate::{download, launch, text, upload};

fn gpu() -> Gpu {
    Gpu {
        multiprocessors: 2,
        clock_mhz: 1000.0,
        issued_per_cycle: 1.0,
        double_cycles: 2.0,
        matrix_cycles: 8.0,
        l1_bytes: 32 << 10,
        l1_has_shared: false,
        l1_caches_loads: true,
        l2_bytes: 1 << 20,
        l1_latency: 30.0,
        l2_latency: 200.0,
        memory_latency: 500.0,
        l2_bytes_per_cycle: 64.0,
        memory_bytes_per_cycle: 32.0,
        fetched_sectors: 1,
        atomic_cycles: 2.0,
        launch_us: 2.5,
        graph_launch_us: 1.3,
    }
}

/// Replays a kernel in which one warp loads the same 32 contiguous words twice.
fn twice(load: &str) -> Traffic {
    let (traffic, word) = replay(
        &format!(
            "mad.wide.u32 %d0, %w0, 4, %d0; mad.wide.u32 %d1, %w0, 4, %d1;\n\
             {load} %w1, [%d0]; add.u32 %w2, %w1, 1; {load} %w3, [%d0]; add.u32 %w2, %w2, %w3;\n\
             st.global.u32 [%d1], %w2; ret;"
        ),
        32,
        128,
    );
    assert_eq!(word, 2 * 0x0101_0101 + 1, "{load}");
    traffic
}

/// Replays a block of `threads` threads that executes `statements` with the addresses of `bytes` bytes with the value 1
/// in `%d0`, of 128 bytes in `%d1`, and the number of the thread in `%w0`. Returns the first word at `%d1` too.
fn replay(statements: &str, threads: u32, bytes: usize) -> (Traffic, u32) {
    let body = format!(
        ".reg .pred %p<2>; .reg .b32 %w<4>; .reg .b64 %d<3>;\n\
         ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %w0, %tid.x;\n{statements}"
    );
    let text = text(&[("test(.param .u64 in, .param .u64 out)", &body)]);
    let program = Program::parse(&text).unwrap();
    let mut machine = Machine::new(1 << 22, None);
    let input = upload(&mut machine, &vec![1; bytes]);
    let output = machine.memory.allocate(128).unwrap();
    let arguments = [input, output].map(u64::to_le_bytes).concat();
    let launch = launch(&program.kernels[0], &arguments, 1, threads);
    let (gpu, blocks) = (gpu(), Rc::new(RefCell::new(Vec::new())));
    let taken = blocks.clone();
    let take = move |block| taken.borrow_mut().push(block);
    let warps = threads.div_ceil(32) as usize;
    let mut recorder = Recorder::new(launch.kernel, &gpu, Cure::Nothing, warps, take);
    machine.launch(&launch, Some(&mut recorder)).unwrap();
    recorder.end();
    let word = u32::from_le_bytes(download(&machine, output, 1)[0]);
    let mut l2 = Cache::new(gpu.l2_bytes);
    (replayed(&gpu, &mut l2, blocks.take().into_iter(), 1, 0), word)
}

#[test]
fn loads_use_the_caches_that_their_modifiers_select() {
    // The sectors requested from the first-level cache, and the hits.
    for (load, l1) in [
        ("ld.global.u32", (8, 4)),
        ("ld.global.ca.u32", (8, 4)),
        ("ld.global.nc.u32", (8, 4)),
        ("ld.global.cs.u32", (8, 4)),
        ("ld.global.cg.u32", (0, 0)),
        ("ld.volatile.global.u32", (0, 0)),
    ] {
        let traffic = twice(load);
        assert_eq!(traffic.l1, l1, "{load}");
        // Four sectors are read from memory once; the second load hits in one of the caches.
        let (loaded, stored) = (if l1.0 == 0 { 8 } else { 4 }, 4);
        assert_eq!((traffic.l2.0, traffic.read), (loaded + stored, 4), "{load}");
        // The second load is issued before the first completes, because the scheduler moves it up.
        assert!((500.0..560.0).contains(&traffic.cycles), "{load}: {}", traffic.cycles);
    }
}

/// A thread of the second warp copies 16 KiB from memory, which takes 512 cycles after the latency. Both warps wait.
#[test]
fn copies_need_the_time_of_their_bytes() {
    let (traffic, word) = replay(
        ".shared .align 16 .b8 data[16384]; .shared .align 8 .b8 full[8];\n\
         setp.eq.u32 %p0, %w0, 32;\n\
         @%p0 mbarrier.init.shared.b64 [full], 1; @%p0 fence.mbarrier_init.release.cluster; bar.sync 0;\n\
         @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 16384;\n\
         @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d0], 16384, [full];\n\
         AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra AGAIN;\n\
         ld.shared.u32 %w1, [data+16380]; st.global.u32 [%d1], %w1; ret;",
        64,
        16384,
    );
    assert_eq!(word, 0x0101_0101);
    let Traffic { l1, l2, read, .. } = traffic;
    let stored = 2;
    assert_eq!((l1.0, l2.0, read), (0, 512 + stored, 512));
    let cycles = traffic.cycles;
    assert!((1012.0 - 128.0..1200.0).contains(&cycles), "{cycles}");
    // Both warps take part from the start to the end.
    assert!(traffic.warp_cycles > 1.9 * cycles, "{} of {cycles}", traffic.warp_cycles);
}

/// A thread loads a line, copies 2 MiB through the second-level cache of 1 MiB, and loads the line again. It is still
/// in the cache only if the policy of the copies evicts their data first.
#[test]
fn copies_evict_their_own_lines_first() {
    let sectors_read = |policy: &str| {
        let (hint, operand) = if policy.is_empty() { ("", "") } else { (".L2::cache_hint", ", %d2") };
        let (traffic, _) = replay(
            &format!(
                ".shared .align 16 .b8 data[16384]; .shared .align 8 .b8 full[8];\n\
                 mbarrier.init.shared.b64 [full], 1; fence.mbarrier_init.release.cluster; {policy}\n\
                 ld.global.cg.u32 %w1, [%d0]; mov.u32 %w2, 0;\n\
                 LOOP: and.b32 %w3, %w2, 1; add.u64 %d0, %d0, 16384;\n\
                 mbarrier.arrive.expect_tx.shared.b64 _, [full], 16384;\n\
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{hint} [data], [%d0], 16384, \
                 [full]{operand};\n\
                 AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [full], %w3; @!%p1 bra AGAIN;\n\
                 add.u32 %w2, %w2, 1; setp.lt.u32 %p0, %w2, 128; @%p0 bra LOOP;\n\
                 sub.u64 %d0, %d0, 2097152; ld.global.cg.u32 %w1, [%d0]; st.global.u32 [%d1], %w1; ret;"
            ),
            1,
            129 * 16384,
        );
        traffic.read
    };
    let once = sectors_read("createpolicy.fractional.L2::evict_first.b64 %d2;");
    assert_eq!(sectors_read("") - once, 1);
}
