//! Tests of the race detection with pairs of accesses.

use super::*;

fn thread<'a>(block: u32, thread: u16, clock: &'a Clock, acquired: &'a [Acquired]) -> Thread<'a> {
    Thread { launch: 1, since: 1, block, epoch: 0, thread, bytes: 0xf, clock, acquired }
}

#[test]
fn two_writes_by_two_threads_race() {
    let (clock, mut word) = (Clock::default(), Word::default());
    assert_eq!(thread(0, 3, &clock, &[]).write(&mut word, false), Ok(()));
    assert_eq!(thread(0, 3, &clock, &[]).write(&mut word, false), Ok(()));
    let race = Other { wrote: true, block: 0, thread: Some(3), before: false, copies: false };
    assert_eq!(thread(0, 4, &clock, &[]).write(&mut word, false), Err(race));
    assert_eq!(thread(1, 3, &clock, &[]).read(&mut word, false), Err(race));
    // A later launch is ordered after this one.
    let later = Thread { launch: 2, since: 2, ..thread(1, 3, &clock, &[]) };
    assert_eq!(later.write(&mut word, false), Ok(()));
}

#[test]
fn a_launch_that_may_overlap_with_an_earlier_one_races_with_its_writes_and_reads() {
    let (clock, mut word) = (Clock::default(), Word::default());
    let overlapping = || Thread { launch: 2, ..thread(0, 3, &clock, &[]) };
    thread(0, 3, &clock, &[]).read(&mut word, false).unwrap();
    assert_eq!(overlapping().read(&mut word, false), Ok(()));
    let race = Other { wrote: false, block: 0, thread: Some(3), before: true, copies: false };
    assert_eq!(overlapping().write(&mut word, false), Err(race));
    let waited = || Thread { since: 2, ..overlapping() };
    assert_eq!(waited().write(&mut word, false), Ok(()));
    let mut word = Word::default();
    thread(0, 3, &clock, &[]).write(&mut word, false).unwrap();
    let race = Other { wrote: true, block: 0, thread: Some(3), before: true, copies: false };
    assert_eq!(overlapping().read(&mut word, false), Err(race));
    assert_eq!(overlapping().read_constant(&word), Err(race));
    assert_eq!(waited().read_constant(&word), Ok(()));
}

#[test]
fn a_write_races_with_one_of_several_reads() {
    let (clock, mut word) = (Clock::default(), Word::default());
    for reader in [1, 2, 40] {
        thread(0, reader, &clock, &[]).read(&mut word, false).unwrap();
    }
    let race = Other { wrote: false, block: 0, thread: None, before: false, copies: false };
    assert_eq!(thread(0, 1, &clock, &[]).write(&mut word, false), Err(race));
    let after = Thread { epoch: 1, ..thread(0, 1, &clock, &[]) };
    assert_eq!(after.write(&mut word, false), Ok(()), "a barrier of the block");
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
    let (mut data, mut flag, mut releases) =
        (Word::default(), Word::default(), Releases::default());
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
    assert_eq!(message(true, true), Ok(()));
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
    assert_eq!(thread(2, 0, &third, &acquired).read(&mut data, false), Ok(()));
}
