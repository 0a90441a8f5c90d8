//! Tests of the model: the caches that loads in hand-written PTX use.

use ptx_machine::model::{Cure, Gpu, Memories, Recorder, Traffic};
use ptx_machine::{Launch, Machine, Program, Start};

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
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry test(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %w<4>; .reg .b64 %d<3>;\nld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];\n\
         mov.u32 %w0, %tid.x; mad.wide.u32 %d0, %w0, 4, %d0; mad.wide.u32 %d1, %w0, 4, %d1;\n\
         {load} %w1, [%d0]; add.u32 %w2, %w1, 1; {load} %w3, [%d0]; add.u32 %w2, %w2, %w3;\n\
         st.global.u32 [%d1], %w2; ret;\n}}\n"
    );
    let program = Program::parse(&text).unwrap();
    let mut machine = Machine::new(1 << 20, None);
    let [input, output] = [(); 2].map(|()| machine.memory.allocate(128).unwrap());
    machine.memory.upload(&[1; 128], input).unwrap();
    let arguments = [input.to_le_bytes(), output.to_le_bytes()].concat();
    let start = Start {
        kernel: &program.kernels[0],
        arguments: &arguments,
        variables: &[],
        grid: [1; 3],
        shape: [32, 1, 1],
        dynamic_shared: 0,
    };
    let (gpu, mut blocks) = (gpu(), Vec::new());
    let kernel = start.kernel;
    let mut recorder = Recorder::new(kernel, &gpu, Cure::Nothing, 1, |block| blocks.push(block));
    machine.record(&Launch { start, resident: 2 }, &mut recorder).unwrap();
    recorder.end();
    let mut sums = [0; 128];
    machine.memory.download(output, &mut sums).unwrap();
    assert_eq!(sums[..4], (2 * 0x0101_0101u32 + 1).to_le_bytes(), "{load}");
    Memories::new(&gpu).replay(&gpu, blocks.into_iter(), 1, 0)
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
