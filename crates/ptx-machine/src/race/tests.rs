//! Tests of the race detection with pairs of accesses.

use super::*;

fn thread<'a>(block: u32, thread: u16, clock: &'a Clock, acquired: &'a [Acquired]) -> Thread<'a> {
    Thread { launch: 1, since: 1, block, epoch: 0, thread, bytes: 0xf, clock, acquired }
}

/// Returns the earlier access of a race; an empty text if there is none.
fn race(result: Result<(), Other>) -> String {
    let kind = |wrote| if wrote { "a write" } else { "a read" };
    result.err().map_or(String::new(), |other| format!("{} by {}", kind(other.wrote), other.by()))
}

#[test]
fn two_writes_by_two_threads_race() {
    let (clock, mut word) = (Clock::default(), Word::default());
    let by = |block, number| thread(block, number, &clock, &[]);
    by(0, 3).write(&mut word, false).unwrap();
    by(0, 3).write(&mut word, false).unwrap();
    assert_eq!(race(by(0, 4).write(&mut word, false)), "a write by thread 3 of block 0");
    assert_eq!(race(by(1, 3).read(&mut word, false)), "a write by thread 3 of block 0");
    // A later launch is ordered after this one.
    Thread { launch: 2, since: 2, ..by(1, 3) }.write(&mut word, false).unwrap();
}

#[test]
fn a_write_races_with_one_of_several_reads() {
    let (clock, mut word) = (Clock::default(), Word::default());
    let by = |number| thread(0, number, &clock, &[]);
    for reader in [1, 2, 40] {
        by(reader).read(&mut word, false).unwrap();
    }
    let several = "a read by several threads, one of them in block 0";
    assert_eq!(race(by(1).write(&mut word, false)), several);
    let after = Thread { epoch: 1, ..by(1) }.write(&mut word, false);
    assert_eq!(race(after), "", "a barrier of the block");
}

#[test]
fn accesses_to_different_halves_of_a_word_do_not_race() {
    let (clock, mut word) = (Clock::default(), Word::default());
    let half = |number: u16, bytes| Thread { bytes, ..thread(0, number, &clock, &[]) };
    half(1, 0b0011).write(&mut word, false).unwrap();
    half(2, 0b1100).write(&mut word, false).unwrap();
    half(1, 0b0011).read(&mut word, false).unwrap();
    half(2, 0b1100).read(&mut word, false).unwrap();
    half(2, 0b1100).write(&mut word, false).unwrap();
    assert!(half(1, 0b1110).read(&mut word, false).is_err());
}

#[test]
fn atomics_race_only_with_other_accesses() {
    let (clock, mut word) = (Clock::default(), Word::default());
    thread(0, 1, &clock, &[]).write(&mut word, true).unwrap();
    thread(7, 1, &clock, &[]).write(&mut word, true).unwrap();
    assert!(thread(0, 1, &clock, &[]).read(&mut word, false).is_err());
}

#[test]
fn a_barrier_of_a_warp_orders_only_its_own_lanes() {
    let (mut clock, mut word) = (Clock::default(), Word::default());
    thread(0, 1, &clock, &[]).write(&mut word, false).unwrap();
    assert!(thread(0, 2, &clock, &[]).read(&mut word, false).is_err());
    clock.barrier(!0);
    assert!(thread(0, 2, &clock, &[]).read(&mut word, false).is_ok());
    let mut word = Word::default();
    thread(0, 1, &clock, &[]).write(&mut word, false).unwrap();
    clock.barrier(!0);
    assert!(thread(0, 33, &clock, &[]).read(&mut word, false).is_err(), "another warp");
}

/// Message passing: thread 0 of block 0 writes the data, executes a fence if `writer_fences`, and writes the flag.
/// Thread 0 of block 1 reads the flag, executes a fence if `reader_fences`, and reads the data.
fn message(writer_fences: bool, reader_fences: bool) -> Result<(), Other> {
    let (mut from, mut to) = (Clock::default(), Clock::default());
    let (mut data, mut flag, mut releases) = (Word::default(), Word::default(), Releases::default());
    thread(0, 0, &from, &[]).write(&mut data, false)?;
    if writer_fences {
        from.fence(1, 0, 0);
    }
    let writer = thread(0, 0, &from, &[]);
    writer.write(&mut flag, true)?;
    releases.write(64, &writer, true);
    thread(1, 0, &to, &[]).read(&mut flag, true)?;
    releases.read(64, 0, &mut to);
    let acquired = if reader_fences { to.fence(1, 0, 0) } else { Vec::new() };
    thread(1, 0, &to, &acquired).read(&mut data, false)
}

#[test]
fn a_missing_fence_is_detected() {
    message(true, true).unwrap();
    assert!(message(false, true).is_err());
    assert!(message(true, false).is_err());
}

#[test]
fn a_release_includes_what_its_thread_acquired() {
    let (mut first, mut second, mut third) = (Clock::default(), Clock::default(), Clock::default());
    let (mut data, mut releases) = (Word::default(), Releases::default());
    thread(0, 0, &first, &[]).write(&mut data, false).unwrap();
    first.fence(1, 0, 0);
    releases.write(64, &thread(0, 0, &first, &[]), false);
    releases.read(64, 0, &mut second);
    let acquired = second.fence(1, 0, 0);
    releases.write(72, &thread(1, 0, &second, &acquired), false);
    releases.read(72, 0, &mut third);
    let acquired = third.fence(1, 0, 0);
    thread(2, 0, &third, &acquired).read(&mut data, false).unwrap();
}
