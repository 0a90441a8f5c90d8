//! The limit of all entries together. Free space does not show the quota of a home folder, which a collection of
//! matrices would fill.

use std::fs;
use std::io;
use std::path::Path;

use crate::cache::{CacheFolder, Contents, folder_of};
use crate::memory::Size;

/// The variable of the environment that sets the limit.
pub const VARIABLE: &str = "SPMV_BENCH_CACHE_MAX";
const USUAL: Size = Size(20 << 30);

/// Returns the limit of all entries together.
pub fn limit() -> Result<Size, String> {
    let text = std::env::var_os(VARIABLE).filter(|text| !text.is_empty());
    let named = text.map(|text| text.to_string_lossy().parse::<Size>());
    named.unwrap_or(Ok(USUAL)).map_err(|error| format!("{VARIABLE}: {error}"))
}

/// Makes room for an entry of `bytes` bytes at `place`: removes the entries beside it that were not used for the
/// longest time. A process that is reading one of them can read it to its end.
pub(super) fn make(place: &Path, bytes: u64, limit: Size) -> io::Result<()> {
    if bytes > limit.0 {
        let message = format!("{} are more than {limit}, the limit of {VARIABLE}", Size(bytes));
        return Err(io::Error::other(message));
    }
    let Contents { entries, left_over, .. } = CacheFolder::at(folder_of(place)).contents()?;
    let mut others: Vec<_> = entries.into_iter().filter(|(path, _)| path != place).collect();
    // Another process may have removed one of them meanwhile.
    others.sort_by_cached_key(|(path, _)| path.metadata().and_then(|entry| entry.modified()).ok());
    let all = others.iter().chain(&left_over).map(|(_, bytes)| bytes);
    let mut total = bytes + all.sum::<u64>();
    for (path, bytes) in others {
        if total <= limit.0 {
            break;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => total -= bytes,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_entries_that_were_not_used_longest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let name = |letter: &str| folder.path().join(letter.repeat(64));
        let there = || ["a", "b", "c"].map(|letter| name(letter).exists());
        for (letter, used) in [("a", 2), ("b", 1), ("c", 3)] {
            fs::write(name(letter), [0; 100]).unwrap();
            let entry = File::options().append(true).open(name(letter)).unwrap();
            entry.set_modified(UNIX_EPOCH + Duration::from_secs(used)).unwrap();
        }
        fs::write(folder.path().join("notes"), [0; 1000]).unwrap();
        let fits = |letter, bytes| make(&name(letter), bytes, Size(350));
        let message = fits("d", 351).unwrap_err().to_string();
        assert_eq!(message, "351 bytes are more than 350 bytes, the limit of SPMV_BENCH_CACHE_MAX");
        for (letter, bytes, left) in [
            ("d", 50, [true; 3]),
            ("b", 150, [true; 3]),
            ("d", 51, [true, false, true]),
            ("c", 260, [false, false, true]),
            ("d", 350, [false; 3]),
        ] {
            fits(letter, bytes).unwrap();
            assert_eq!(there(), left, "{bytes} bytes for {letter}");
        }
        assert!(folder.path().join("notes").exists());
    }
}
