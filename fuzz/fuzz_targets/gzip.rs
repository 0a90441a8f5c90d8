//! Reads a compressed text. Whatever its members, their compression and the chunks are, the result must be that of the
//! text itself; if it is cut off or damaged, an error or the same. The last bytes of the input determine the form.

#![no_main]

use std::io::Read;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use libfuzzer_sys::{Corpus, fuzz_target};
use spmv_fuzz::{BENCH, announces_too_much, assert_same, gzip};

const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// A header without a name or a time.
const HEADER: [u8; 10] = [MAGIC[0], MAGIC[1], 8, 0, 0, 0, 0, 0, 0, 255];
/// Longer texts take longer than a run may.
const MOST_TEXT: u64 = 1 << 16;

fuzz_target!(|input: &[u8]| -> Corpus {
    let Some((input, &[kind, how, level, first, second, place, further, bits])) = input.split_last_chunk() else {
        return Corpus::Reject;
    };
    let read = |bytes: &[u8]| BENCH.read("a.mtx", bytes, true, how);
    let (text, members) = match kind % 4 {
        0 => match inflated(input) {
            Some(text) => (text.clone(), vec![(member(input, &text), text)]),
            None => return Corpus::Reject,
        },
        _ => (input.to_vec(), members(input, [first, second], level)),
    };
    if announces_too_much(&text) || text.starts_with(&MAGIC) {
        return Corpus::Reject;
    }
    let compressed: Vec<u8> = members.iter().flat_map(|(compressed, _)| compressed).copied().collect();
    let expected = read(&text);
    let found = read(&compressed);
    assert_same(&found, &expected);

    let place = usize::from(u16::from_le_bytes([place, further])) % compressed.len();
    let cut = read(&compressed[..place]);
    match whole_members(&members, place) {
        Some(text) => assert_same(&cut, &read(&text)),
        None => assert!(cut.is_err(), "{place} of {} bytes", compressed.len()),
    }
    let mut damaged = compressed;
    damaged[place] ^= bits;
    if let found @ Ok(_) = read(&damaged) {
        assert_same(&found, &expected);
    }
    Corpus::Keep
});

type Members = Vec<(Vec<u8>, Vec<u8>)>;

fn members(text: &[u8], cuts: [u8; 2], level: u8) -> Members {
    let [first, second] = cuts.map(|cut| usize::from(cut) * text.len() / 255);
    let (first, second) = (first.min(second), first.max(second));
    let pieces = [&text[..first], &text[first..second], &text[second..]];
    pieces.map(|text| (gzip(text, u32::from(level % 10)), text.to_vec())).into()
}

/// Returns the text of the members before `place`, if one of them ends there or `place` is the start.
fn whole_members(members: &Members, place: usize) -> Option<Vec<u8>> {
    let (mut end, mut text) = (0, Vec::new());
    for (compressed, more) in members {
        if end == place {
            return Some(text);
        }
        end += compressed.len();
        text.extend_from_slice(more);
    }
    None
}

/// Returns the text of a deflate stream, if it is valid and ends with the input.
fn inflated(stream: &[u8]) -> Option<Vec<u8>> {
    let (mut rest, mut text) = (stream, Vec::new());
    DeflateDecoder::new(&mut rest).take(MOST_TEXT).read_to_end(&mut text).ok()?;
    (rest.is_empty() && (text.len() as u64) < MOST_TEXT).then_some(text)
}

/// Makes a member of a deflate stream that perhaps no compressor would make.
fn member(stream: &[u8], text: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(text);
    [&HEADER, stream, &crc.sum().to_le_bytes(), &crc.amount().to_le_bytes()].concat()
}
