//! Loads the file of a cached matrix. A damaged file is rejected, or loads bit for bit what was stored. A forged file
//! with correct checksums is rejected, or loads a valid matrix.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use spmv_fuzz::{Bench, alone, assert_same_csr, check_csr};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::cached;
use spmv_matrix::loaded::Loaded;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::reader::Options;
use xxhash_rust::xxh3::xxh3_64;

/// Files with summed duplicates, a kind and mirrored entries; with ones only; without entries.
const TEXTS: [&str; 3] = [
    "%%MatrixMarket matrix coordinate real symmetric\n% kind: a kind\n3 3 4\n1 1 2\n2 1 3\n2 1 1\n3 2 5\n",
    "%%MatrixMarket matrix coordinate pattern general\n2 40 3\n1 1\n2 40\n2 7\n",
    "%%MatrixMarket matrix coordinate real general\n5 0 0\n",
];
/// The size of magic number, header length and header checksum in bytes.
const PRELUDE: usize = 24;
const ALIGNMENT: usize = 64;
const SIZES: [u64; 4] = [i32::MAX as u64, u32::MAX as u64, 1 << 62, u64::MAX];

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| TEXTS.map(Place::new).into());

struct Place {
    bench: Bench,
    cache: CacheFolder,
    /// The file in the cache and its contents.
    entry: std::path::PathBuf,
    whole: Vec<u8>,
    loaded: Loaded,
}

impl Place {
    fn new(text: &str) -> Self {
        let bench = Bench::default();
        bench.put("a.mtx", text.as_bytes());
        let cache = CacheFolder::at(bench.path("cache"));
        let mut loaded = cached::load(&cache, &bench.path("a.mtx"), &Options::default(), ReadBounds::NONE)
            .expect("the text is correct");
        loaded.write_to_cache(ReadBounds::NONE);
        let entry = cached::list(&cache).expect("a folder").remove(0).path;
        let whole = fs::read(&entry).expect("the entry was written");
        Self { bench, cache, entry, whole, loaded }
    }

    /// Loads the matrix file while the file in the cache has these contents.
    fn load(&self, entry: &[u8]) -> Loaded {
        fs::write(&self.entry, entry).expect("a file is written");
        let load = || cached::load(&self.cache, &self.bench.path("a.mtx"), &Options::default(), ReadBounds::NONE);
        let loaded = alone(load).expect("the file is correct");
        assert!(cached::list(&self.cache).is_ok_and(|listed| listed.len() == 1));
        check_csr(&loaded.csr);
        loaded
    }

    fn head(&self) -> &[u8] {
        let length = u64::from_ne_bytes(self.whole[8..16].try_into().expect("eight bytes"));
        &self.whole[PRELUDE..PRELUDE + length as usize]
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&kind, input)) = input.split_first() else { return };
    let place = &PLACES[usize::from(kind / 4) % TEXTS.len()];
    let entry = match kind % 4 {
        0 => forged(place, input),
        1 => Some([&place.whole[..PRELUDE.min(input.len())], input].concat()),
        _ => Some(edited(&place.whole, input)),
    };
    let Some(entry) = entry else { return };
    let loaded = place.load(&entry);
    let damaged = kind % 4 > 0;
    if damaged || !loaded.from_cache {
        assert_same_csr(&loaded.csr, &place.loaded.csr);
        assert_eq!(loaded.facts, place.loaded.facts);
    }
    // A forged entry may belong to another file, which is not reported as damage.
    assert!(!damaged || loaded.from_cache || loaded.note.is_some());
});

/// Returns the entry with bytes changed, removed or added. Three bytes of the input define each edit.
fn edited(whole: &[u8], input: &[u8]) -> Vec<u8> {
    let mut entry = whole.to_vec();
    for &[place, further, bits] in input.as_chunks().0 {
        let place = usize::from(u16::from_le_bytes([place, further])) % (entry.len() + 1);
        match entry.get_mut(place) {
            Some(byte) if bits < 0xf0 => *byte ^= bits,
            Some(_) => entry.truncate(place),
            None => entry.push(bits),
        }
    }
    entry
}

/// Returns an entry with other sizes and arrays and with correct checksums, or one whose header is the input itself.
fn forged(place: &Place, input: &[u8]) -> Option<Vec<u8>> {
    let (&[rows, cols, nnz, flags], mut rest) = input.split_first_chunk()?;
    if flags & 1 == 1 {
        return Some(assembled(rest, &[]));
    }
    let mut head: Value = serde_json::from_slice(place.head()).expect("the entry's own");
    let size = |size: u8| SIZES.get(usize::from(255 - size)).copied().unwrap_or(size.into());
    let ones = flags & 2 == 2;
    let [rows, cols, nnz] = [rows, cols, nnz].map(size);
    let value_bytes = if ones { 0 } else { nnz.saturating_mul(8) };
    let lengths = [rows.saturating_add(1).saturating_mul(4), nnz.saturating_mul(4), value_bytes];
    let arrays = lengths.map(|length| take(&mut rest, length));
    let sums = |array: &Vec<u8>| Vec::from_iter((!array.is_empty()).then(|| xxh3_64(array)));
    (head["rows"], head["cols"], head["nnz"]) = (json!(rows), json!(cols), json!(nnz));
    head["ones"] = json!(ones);
    head["checksums"] = json!(arrays.each_ref().map(sums));
    Some(assembled(head.to_string().as_bytes(), &arrays))
}

/// Removes up to 4096 bytes from the input, padded with zeros at its end.
fn take(rest: &mut &[u8], length: u64) -> Vec<u8> {
    let length = length.min(1 << 12) as usize;
    let mut taken = rest.split_off(..length.min(rest.len())).expect("so many are left").to_vec();
    taken.resize(length, 0);
    taken
}

fn assembled(head: &[u8], arrays: &[Vec<u8>]) -> Vec<u8> {
    let mut entry = PLACES[0].whole[..8].to_vec();
    for number in [head.len() as u64, xxh3_64(head)] {
        entry.extend_from_slice(&number.to_ne_bytes());
    }
    entry.extend_from_slice(head);
    for array in arrays {
        entry.resize(entry.len().next_multiple_of(ALIGNMENT), 0);
        entry.extend_from_slice(array);
    }
    entry
}
