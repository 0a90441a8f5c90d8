use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::generate::Generator;

/// A folder with `a.mtx`, whose modification time is long past, and a folder for cache entries.
struct Place {
    folder: tempfile::TempDir,
    cache: CacheFolder,
}

const TEXT: &str = "%%MatrixMarket matrix coordinate real symmetric\n% kind: a kind\n3 3 4\n1 1 2\n2 1 3\n2 1 1\n\
    3 2 5\n";

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::at(folder.path().join("cache"));
        let place = Self { folder, cache };
        place.write(text, Duration::from_secs(1_000_000));
        place
    }

    /// Returns a place with an entry for `TEXT`, and the entry.
    fn cached() -> (Self, PathBuf) {
        let place = Self::new(TEXT);
        place.load(true);
        let entry = place.entries().remove(0);
        (place, entry)
    }

    /// Checks that the entry is refused with a note that ends so, and replaced.
    fn is_parsed_again(&self, ending: &str) {
        let loaded = self.load(true);
        assert!(!loaded.from_cache && loaded.csr.values == [2.0, 4.0, 4.0, 5.0, 5.0]);
        let note = loaded.note.unwrap();
        assert!(note.ends_with(ending), "{note}");
        assert!(self.load(true).from_cache);
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.mtx")
    }

    fn write(&self, text: &str, since_1970: Duration) {
        fs::write(self.path(), text).unwrap();
        let file = File::options().append(true).open(self.path()).unwrap();
        file.set_modified(UNIX_EPOCH + since_1970).unwrap();
    }

    fn load(&self, expand: bool) -> Loaded {
        let mut loaded = self.read(expand);
        loaded.write_to_cache(ReadBounds::NONE);
        loaded
    }

    /// Loads the matrix without writing a cache entry.
    fn read(&self, expand: bool) -> Loaded {
        load(&self.cache, &self.path(), &Options { expand, ..Options::default() }, ReadBounds::NONE).unwrap()
    }

    fn entries(&self) -> Vec<PathBuf> {
        list(&self.cache).unwrap().into_iter().map(|entry| entry.path).collect()
    }
}

#[test]
fn the_second_load_returns_the_same_matrix_from_the_cache() {
    for expand in [true, false] {
        let place = Place::new(TEXT);
        let first = place.load(expand);
        let second = place.load(expand);
        assert_eq!((first.from_cache, second.from_cache), (false, true));
        assert_eq!(first.csr, second.csr);
        assert_eq!(first.facts, second.facts);
        let facts = second.facts.unwrap();
        assert_eq!((facts.duplicates, facts.kind.as_deref()), (1, Some("a kind")));
        assert_eq!((facts.mirrored, first.note, second.note), (expand, None, None));
    }
}

/// Values are omitted from the entry only if all of them are 1.
#[test]
fn large_and_empty_matrices_and_any_values_are_restored() {
    let mut places = Vec::new();
    for spec in [
        "power-law,rows=200000,nnz=2000000,longest=5000,random=1",
        "grid2d,n=700",
        "empty-rows,rows=5,nnz=0,empty=0.5",
    ] {
        let place = Place::new("");
        let generator = Generator::parse(spec).unwrap();
        generator.write("k", || File::create(place.path())).unwrap();
        places.push(place);
    }
    for [first, second] in [[2, 2], [1, 2], [2, 1], [1, 1], [0, 0]] {
        let head = "%%MatrixMarket matrix coordinate real general\n2 3 2\n";
        places.push(Place::new(&format!("{head}1 1 {first}\n2 3 {second}\n")));
    }
    for place in &places {
        let first = place.load(true);
        let second = place.load(true);
        assert!(second.from_cache && first.csr == second.csr, "{}", first.csr.nnz());
    }
}

/// The second number is that of rajat01. A JSON reader that does not round correctly would return …152.
#[test]
fn the_computed_symmetry_is_restored_bit_for_bit() {
    for other in [None, Some(0.9963930635838151)] {
        let place = Place::new(&TEXT.replace("symmetric", "general"));
        let mut first = place.read(true);
        assert_eq!(first.pattern_symmetry(), Some(1.0 / 3.0));
        let symmetry = &mut first.facts.as_mut().unwrap().symmetry;
        *symmetry = other.or(*symmetry);
        let expected = *symmetry;
        first.write_to_cache(ReadBounds::NONE);
        assert_eq!(place.load(true).facts.unwrap().symmetry, expected);
    }
}

#[test]
fn the_two_forms_of_a_file_have_an_entry_each_and_all_paths_share_it() {
    let place = Place::new(TEXT);
    let link = place.folder.path().join("link.mtx");
    symlink(place.path(), &link).unwrap();
    for path in [&place.path(), &link] {
        assert_eq!((place.load(true).csr.nnz(), place.load(false).csr.nnz()), (5, 3));
        assert!(load(&place.cache, path, &Options::default(), ReadBounds::NONE).unwrap().from_cache);
    }
    assert_eq!(place.entries().len(), 2);
}

#[test]
fn an_entry_in_the_place_of_another_is_not_used() {
    let (place, expanded) = Place::cached();
    let other = Place::new(TEXT);
    let other = load(&place.cache, &other.path(), &Options::default(), ReadBounds::NONE);
    other.unwrap().write_to_cache(ReadBounds::NONE);
    assert_eq!(place.load(false).csr.nnz(), 3);
    let others: Vec<_> = place.entries().into_iter().filter(|entry| *entry != expanded).collect();
    assert_eq!(others.len(), 2, "of another file with the same text, and of the other form");
    for other in others {
        fs::copy(other, &expanded).unwrap();
        let loaded = place.load(true);
        assert!(!loaded.from_cache && loaded.csr.nnz() == 5);
        assert!(place.load(true).from_cache);
    }
}

#[test]
fn a_touched_file_is_not_parsed_again() {
    let (place, _) = Place::cached();
    place.write(TEXT, Duration::from_secs(2_000_000));
    assert!(place.load(true).from_cache && place.entries().len() == 1);
}

/// The parsed matrix differs from the file that a later run would read. If the modification time is not conclusive, the
/// contents are compared.
#[test]
fn a_file_that_changes_while_it_is_read_is_not_cached() {
    let ahead = now() + Duration::from_secs(86400);
    let before = Duration::from_secs(1_000_000);
    let after = Duration::from_secs(1_000_001);
    for (before, after) in [(before, after), (ahead, ahead)] {
        let place = Place::new(TEXT);
        place.write(TEXT, before);
        let mut loaded = place.read(true);
        place.write(&TEXT.replace("3 2 5", "3 2 6"), after);
        loaded.write_to_cache(ReadBounds::NONE);
        let note = loaded.note.unwrap();
        assert!(note.ends_with(": the file changed while it was read"), "{note}");
        assert!(place.entries().is_empty());
        assert!(place.load(true).csr.values.contains(&6.0));
    }
}

/// Neither the size nor the modification time shows most of these changes. A recent time is not conclusive, because the
/// file may be written twice within its resolution.
#[test]
fn a_file_with_other_contents_is_parsed_again() {
    let middle = |value: u32| {
        let others = "1 1 1\n".repeat(PIECE / 4);
        let entries = 2 * (others.len() / 6) + 1;
        let head = format!("%%MatrixMarket matrix coordinate real general\n3 3 {entries}\n");
        format!("{head}{others}2 2 {value}\n{others}")
    };
    let [old, new, longer] = ["5", "7", "7.0"].map(|last| TEXT.replace("3 2 5", &format!("3 2 {last}")));
    let past = Duration::from_secs(1_000_000);
    let later = Duration::from_secs(1_000_001);
    for (old, new, [before, after], renamed) in [
        (&old, &new, [past, later], false),
        (&old, &longer, [past, later], false),
        (&old, &new, [past; 2], false),
        (&old, &new, [past; 2], true),
        (&old, &new, [now(); 2], false),
        (&middle(5), &middle(7), [past; 2], false),
    ] {
        let place = Place::new("");
        place.write(old, before);
        place.load(true);
        if renamed {
            fs::rename(place.path(), place.folder.path().join("old.mtx")).unwrap();
        }
        place.write(new, after);
        let loaded = place.load(true);
        assert!(!loaded.from_cache && loaded.csr.values.contains(&7.0), "{renamed} {}", old.len());
        assert!(place.load(true).from_cache);
    }
}

#[test]
fn any_damage_is_detected_reported_and_repaired() {
    let (place, entry) = Place::cached();
    let first = place.load(true);
    let whole = fs::read(&entry).unwrap();
    let head = whole.iter().rposition(|&byte| byte == b'}').unwrap();
    let damaged = (0..whole.len()).map(|at| [&whole[..at], &[whole[at] ^ 0x10], &whole[at + 1..]].concat());
    let cut = (0..whole.len()).step_by(5).map(|length| whole[..length].to_vec());
    let mut seen = std::collections::BTreeSet::new();
    for bytes in damaged.chain(cut) {
        fs::write(&entry, &bytes).unwrap();
        let loaded = place.load(true);
        assert_eq!(loaded.csr, first.csr);
        match loaded.note {
            // Only changes of the padding between the arrays may remain undetected.
            None => assert!(loaded.from_cache && bytes[..head] == whole[..head]),
            Some(note) => {
                assert!(!loaded.from_cache);
                let (begin, how) = note.split_once(&entry.display().to_string()).unwrap();
                assert_eq!(begin, "the file was read again, because its cached copy ");
                seen.insert(how.to_owned());
            }
        }
        assert!(place.load(true).from_cache);
    }
    let expected = [" has a wrong checksum", " is damaged or of another version", " is too short"];
    assert!(seen.iter().eq(&expected), "{seen:?}");
}

/// The entries have correct checksums, as a malicious entry would have.
#[test]
fn an_entry_without_a_valid_matrix_is_refused() {
    for (column, value, ending) in [
        (3, 1.0, " does not contain a valid matrix"),
        (0, f64::NAN, " contains a value that is not finite"),
        (0, f64::INFINITY, " contains a value that is not finite"),
    ] {
        let (place, entry) = Place::cached();
        let mut loaded = place.load(true);
        (loaded.csr.column_indices[0], loaded.csr.values[0]) = (column, value);
        let stamp = Stamp::of(&place.path()).unwrap();
        let source = place.path().canonicalize().unwrap();
        let pending = Pending { place: entry, source, stamp, hash: None, how: "expanded".into() };
        pending.write(&loaded, ReadBounds::NONE).unwrap();
        place.is_parsed_again(ending);
    }
}

#[test]
fn an_entry_that_others_may_have_written_is_not_used() {
    let (place, entry) = Place::cached();
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o666)).unwrap();
    place.is_parsed_again(" can be written by other users");
    assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let elsewhere = place.folder.path().join("elsewhere");
    fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    place.is_parsed_again(" is a symbolic link");
    assert!(!entry.is_symlink());
}

/// If the entry were mapped, a signal would kill the process.
#[test]
fn an_entry_that_shrinks_while_it_is_read_is_damaged() {
    let (_place, path) = Place::cached();
    let entry = CachedMatrix::open(&path).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert_eq!(entry.load().unwrap_err(), Some("cannot be read"));
}

#[test]
fn a_file_whose_hashing_is_interrupted_is_not_cached() {
    let place = Place::new(TEXT);
    let mut loaded = place.read(true);
    loaded.write_to_cache(ReadBounds::new(&AtomicBool::new(true), u64::MAX, ""));
    assert!(place.entries().is_empty());
    let note = loaded.note.unwrap();
    assert!(note.ends_with(": interrupted while it was read"), "{note}");
}

/// A pipe must not be opened for hashing, because that would wait for a writer.
#[test]
fn a_pipe_has_no_stamp() {
    let place = Place::new(TEXT);
    let pipe = place.folder.path().join("pipe.mtx");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(Stamp::of(&pipe).unwrap_err().to_string(), "not a regular file");
}

/// Returns the entry with a changed header whose length and checksum are correct.
fn with_head(entry: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_ne_bytes(entry[8..16].try_into().unwrap()) as usize;
    let (head, arrays) = entry[24..].split_at(length);
    let head = String::from_utf8(head.to_vec()).unwrap();
    assert!(head.contains(from), "{head}");
    // Trailing blanks keep the arrays at their positions.
    let head = head.replace(from, &format!("{to:<0$}", from.len()));
    let numbers = [head.len() as u64, xxh3_64(head.as_bytes())].map(u64::to_ne_bytes);
    [&entry[..8], &numbers.concat(), head.as_bytes(), arrays].concat()
}

#[test]
fn a_header_with_impossible_sizes_is_refused() {
    let (place, entry) = Place::cached();
    let whole = fs::read(&entry).unwrap();
    let text = String::from_utf8_lossy(&whole);
    let sums = &text[text.find("\"checksums\":").unwrap()..=text.rfind("]]").unwrap() + 1];
    for (from, to, expected) in [
        ("\"rows\":3", "\"rows\":18446744073709551615", " is damaged or of another version"),
        ("\"nnz\":5", "\"nnz\":4611686018427387904", " is damaged or of another version"),
        ("\"rows\":3", "\"rows\":300", " is too short"),
        (sums, "\"checksums\":[[],[],[]]", " has a wrong checksum"),
    ] {
        fs::write(&entry, with_head(&whole, from, to)).unwrap();
        place.is_parsed_again(expected);
    }
}

#[test]
fn an_unusable_cache_folder_does_not_prevent_reading() {
    let place = Place::new(TEXT);
    fs::write(place.folder.path().join("cache"), "a file").unwrap();
    let loaded = place.load(true);
    assert_eq!(loaded.csr.nnz(), 5);
    assert!(loaded.note.unwrap().starts_with("the matrix was not cached in "));
    let missing = load(&place.cache, Path::new("no/such.mtx"), &Options::default(), ReadBounds::NONE).unwrap_err();
    assert_eq!(missing.to_string(), "no/such.mtx: No such file or directory (os error 2)");
}

#[test]
fn the_list_shows_sources_and_stale_entries() {
    let (place, _) = Place::cached();
    let list = || list(&place.cache).unwrap().remove(0);
    let source = place.path().canonicalize().unwrap().display().to_string();
    assert_eq!((list().source, list().stale), (Some(source), false));
    fs::remove_file(place.path()).unwrap();
    assert!(list().stale);
    fs::write(list().path, "damaged").unwrap();
    assert_eq!((list().source, list().stale), (None, true));
}
