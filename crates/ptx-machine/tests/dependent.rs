//! Tests of dependent launches, which may start before the kernel before them has ended: a correct pair of kernels, and
//! the same pair with one mistake.

use ptx_machine::{Launch, Machine, Program, Start};

const THREADS: usize = 64;

/// Two kernels: the first stores the number of each thread, and the second replaces it by its square.
const KERNELS: &str = "
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry first(.param .u64 to)
    {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    griddepcontrol.launch_dependents;
    mov.u32 %r0, %tid.x; ld.param.u64 %d0, [to];
    mad.wide.u32 %d1, %r0, 4, %d0;
    st.global.u32 [%d1], %r0;
    ret;
    }
    .visible .entry second(.param .u64 to)
    {
    .reg .pred %p<1>; .reg .b32 %r<3>; .reg .b64 %d<2>;
    mov.u32 %r0, %tid.x; ld.param.u64 %d0, [to];
    mad.wide.u32 %d1, %r0, 4, %d0;
    setp.lt.u32 %p0, %r0, 40;
    griddepcontrol.wait;
    ld.global.u32 %r1, [%d1];
    mul.lo.u32 %r1, %r1, %r1;
    st.global.u32 [%d1], %r1;
    ret;
    }";

/// Runs the two kernels, the second one as a dependent if `dependent`, and returns the numbers, or the message of a fault.
fn run(kernels: &str, dependent: bool) -> Result<Vec<u32>, String> {
    let program = Program::parse(kernels).map_err(|error| error.to_string())?;
    let mut machine = Machine::new(1 << 20, Some(1));
    let to = machine.memory.allocate(4 * THREADS).unwrap();
    for (kernel, dependent) in program.kernels.iter().zip([false, dependent]) {
        let start = Start {
            kernel,
            arguments: &to.to_le_bytes(),
            variables: &[],
            grid: [1, 1, 1],
            shape: [THREADS as u32, 1, 1],
            dynamic_shared: 0,
        };
        let launch = Launch { start, resident: 1, dependent };
        machine.launch(&launch).map_err(|fault| fault.to_string())?;
    }
    let mut bytes = vec![0; 4 * THREADS];
    machine.memory.download(to, &mut bytes).unwrap();
    Ok(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// Checks that the kernels with `text` replaced fail, but only if the second one is dependent.
fn check(text: &str, replacement: &str, message: &str) {
    assert!(KERNELS.contains(text), "{text}");
    let kernels = KERNELS.replacen(text, replacement, 1);
    let found = run(&kernels, true).expect_err(text);
    assert!(found.starts_with("second: block (0,0,0) thread"), "{found}");
    assert!(found.contains(message), "{message:?} is not in: {found}");
    assert!(run(&kernels, false).is_ok(), "{replacement:?} is an error without overlap");
}

#[test]
fn a_dependent_launch_that_waits_sees_the_results_of_the_launch_before() {
    let squares: Vec<_> = (0..THREADS as u32).map(|k| k * k).collect();
    assert_eq!(run(KERNELS, true).as_ref(), Ok(&squares));
    assert_eq!(run(KERNELS, false), Ok(squares));
}

#[test]
fn a_read_or_a_write_before_the_wait_is_a_data_race() {
    let read = "ld.global.u32 %r1, [%d1];";
    let wait = "griddepcontrol.wait;";
    let reads = "of a buffer of 256 bytes, which thread ";
    check(&format!("{wait}\n    {read}"), &format!("{read}\n    {wait}"), reads);
    check(
        &format!("{wait}\n    {read}"),
        &format!("ld.global.nc.u32 %r1, [%d1];\n    {wait}"),
        "as read-only data",
    );
    check(wait, &format!("st.global.u32 [%d1], 7;\n    {wait}"), "of an earlier launch");
}

#[test]
fn a_read_only_load_stays_after_the_wait() {
    let kernels = KERNELS.replace("ld.global.u32", "ld.global.nc.u32");
    let kernels = kernels.replacen("st.global.u32 [%d1], %r1;", "", 1);
    assert!(run(&kernels, true).is_ok());
}

#[test]
fn every_thread_of_a_dependent_launch_waits() {
    check("griddepcontrol.wait;", "@%p0 griddepcontrol.wait;", "data race");
    check(
        "griddepcontrol.wait;",
        "@!%p0 ret;\n    griddepcontrol.wait;",
        "thread (40,0,0): ends without having waited for the kernels before this dependent one",
    );
}
