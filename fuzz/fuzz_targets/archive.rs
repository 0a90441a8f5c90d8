//! Reads an archive of the collection. The matrix among odd members must be read as its text is; with damaged blocks
//! the result is an error or a matrix. The last bytes of the input determine what precedes the matrix and what is
//! damaged.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use spmv_fuzz::{BENCH, assert_same, gzip, may_announce_too_much};
use tar::{Builder, EntryType, Header};

const BLOCK: usize = 512;
const MATRIX: &str = "m/m.mtx";
/// What may precede the matrix: type, path, and whether its contents are the text.
const ODD: [(EntryType, &str, bool); 12] = [
    (EntryType::Directory, "m/", false),
    (EntryType::Regular, "m/m_b.mtx", true),
    (EntryType::Regular, "m.mtx", true),
    (EntryType::Regular, "m/n/m.mtx", true),
    (EntryType::Symlink, MATRIX, false),
    (EntryType::Link, MATRIX, false),
    (EntryType::Fifo, MATRIX, false),
    (EntryType::Directory, MATRIX, false),
    (EntryType::Continuous, MATRIX, true),
    (EntryType::XGlobalHeader, "g", false),
    (EntryType::Regular, "m/m.mtx.gz", true),
    (EntryType::Regular, "n/m.mtx", true),
];

fuzz_target!(|input: &[u8]| -> Corpus {
    let Some((text, &[kind, how, members, place, further, bits])) = input.split_last_chunk() else {
        return Corpus::Reject;
    };
    let read = |archive: &[u8]| BENCH.read("m.tar.gz", &gzip(archive, 1), true, how);
    if may_announce_too_much(text) {
        return Corpus::Reject;
    }
    if kind % 4 == 0 {
        let mut archive = text.to_vec();
        mend(&mut archive);
        let _ = read(&archive);
        return Corpus::Keep;
    }
    let mut archive = tar(text, members, kind);
    if !text.starts_with(&[0x1f, 0x8b]) {
        let expected = BENCH.read("a.mtx", text, true, how);
        match kind & 64 {
            0 => assert_same(&read(&archive), &expected),
            _ => assert!(read(&archive).is_err(), "there are two matrices"),
        }
    }
    let place = usize::from(u16::from_le_bytes([place, further])) % archive.len();
    archive[place] ^= bits;
    if kind & 4 == 4 {
        mend(&mut archive);
    }
    if !may_announce_too_much(&archive) {
        let _ = (read(&archive), read(&archive[..place]));
    }
    Corpus::Keep
});

/// Makes an archive of up to three odd members, the matrix, and perhaps a second member with its name.
fn tar(text: &[u8], members: u8, kind: u8) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let mut add = |kind, path: &str, contents: &[u8]| {
        let mut header = if members & 1 == 1 { Header::new_gnu() } else { Header::new_ustar() };
        header.set_entry_type(kind);
        header.set_size(contents.len() as u64);
        if header.set_path(path).is_ok() {
            header.set_cksum();
            builder.append(&header, contents).expect("a vector takes all bytes");
        }
    };
    for number in 0..usize::from(kind >> 3) % 4 {
        let (kind, path, whole) = ODD[(usize::from(members) + 5 * number) % ODD.len()];
        add(kind, path, if whole { text } else { &[] });
    }
    add(EntryType::Regular, MATRIX, text);
    if kind & 64 == 64 {
        add(EntryType::Regular, MATRIX, b"another");
    }
    builder.into_inner().expect("a vector takes all bytes")
}

/// Corrects the checksums of the headers, as far as the sizes lead to them.
fn mend(archive: &mut [u8]) {
    let mut at = 0;
    while let Some(block) = archive.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<BLOCK>()) {
        let mut header = Header::new_old();
        header.as_mut_bytes().copy_from_slice(block);
        header.set_cksum();
        block.copy_from_slice(header.as_bytes());
        let blocks = header.entry_size().unwrap_or_default().div_ceil(BLOCK as u64);
        at = (blocks as usize).saturating_mul(BLOCK).saturating_add(at + BLOCK);
    }
}
