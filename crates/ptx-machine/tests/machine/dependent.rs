//! Tests of dependent launches, which may start before the kernel before them has ended: a correct pair of kernels, and
//! the same pair with one mistake.

use ptx_machine::{Launch, Machine, Program};

use crate::{download, launch, mistaken, text};

const THREADS: usize = 64;

/// Stores the number of each thread.
const FIRST: &str = "
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    griddepcontrol.launch_dependents; /* A comment of
    two lines */ mov.u32 %r0, %tid.x; ld.param.u64 %d0, [to];
    mad.wide.u32 %d1, %r0, 4, %d0;
    st.global.u32 [%d1], %r0;
    ret;";

/// Replaces each number by its square.
const SECOND: &str = "
    .reg .pred %p<1>; .reg .b32 %r<3>; .reg .b64 %d<2>;
    mov.u32 %r0, %tid.x; ld.param.u64 %d0, [to];
    mad.wide.u32 %d1, %r0, 4, %d0;
    setp.lt.u32 %p0, %r0, 40;
    griddepcontrol.wait;
    ld.global.u32 %r1, [%d1];
    mul.lo.u32 %r1, %r1, %r1;
    st.global.u32 [%d1], %r1;
    ret;";

/// Runs the two kernels, the second one as a dependent if `dependent`, and returns the numbers, or the message of a
/// fault.
fn run(second: &str, dependent: bool) -> Result<Vec<u32>, String> {
    let text = text(&[("first(.param .u64 to)", FIRST), ("second(.param .u64 to)", second)]);
    let program = Program::parse(&text)?;
    let mut machine = Machine::new(1 << 20, Some(1));
    let to = machine.memory.allocate(4 * THREADS).unwrap();
    for (kernel, dependent) in program.kernels.iter().zip([false, dependent]) {
        let arguments = to.to_le_bytes();
        let launch = Launch { dependent, ..launch(kernel, &arguments, 1, THREADS as u32) };
        machine.launch(&launch, None).map_err(|fault| fault.to_string())?;
    }
    Ok(download(&machine, to, THREADS).into_iter().map(u32::from_le_bytes).collect())
}

#[test]
fn a_dependent_launch_that_waits_sees_the_results_of_the_launch_before() {
    let squares: Vec<_> = (0..THREADS as u32).map(|k| k * k).collect();
    assert_eq!(run(SECOND, true).as_ref(), Ok(&squares));
    assert_eq!(run(SECOND, false), Ok(squares));
}

/// A text in the second kernel, its replacement, and a part of the message. Without overlap it is not a mistake.
const MISTAKES: &[&str] = &[
    "griddepcontrol.wait;\n    ld.global.u32 %r1, [%d1]; => ld.global.u32 %r1, [%d1];\n    griddepcontrol.wait; => \
     of a buffer of 256 bytes, which thread ",
    "griddepcontrol.wait;\n    ld.global.u32 => ld.global.nc.u32 %r1, [%d1];\n    griddepcontrol.wait; ld.global.u32 \
     => as read-only data",
    "griddepcontrol.wait; => st.global.u32 [%d1], 7; griddepcontrol.wait; => of an earlier launch",
    "griddepcontrol.wait; => @%p0 griddepcontrol.wait; => data race",
    "griddepcontrol.wait; => @!%p0 ret; griddepcontrol.wait; => \
     thread (40,0,0): ends without having waited for the kernels before this dependent one",
];

#[test]
fn every_mistake_of_a_dependent_launch_is_found() {
    for mistake in MISTAKES {
        let (second, message) = mistaken(SECOND, mistake);
        let found = run(&second, true).expect_err(mistake);
        assert!(found.starts_with("second: block (0,0,0) thread"), "{found}");
        assert!(found.contains(message), "{message:?} is not in: {found}");
        assert!(run(&second, false).is_ok(), "{mistake}: an error without overlap");
    }
}

#[test]
fn a_read_only_load_stays_after_the_wait() {
    let second = SECOND.replace("ld.global.u32", "ld.global.nc.u32");
    let second = second.replacen("st.global.u32 [%d1], %r1;", "", 1);
    assert!(run(&second, true).is_ok());
}
