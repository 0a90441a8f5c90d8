//! The text files in which Linux tells of the machine, and the forms of what is in them.

use std::fs;
use std::path::Path;

/// Returns the text of a file without white space at its ends.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Returns the value after the colon in the first line of a file that begins with `name`.
pub fn field(path: impl AsRef<Path>, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut facts = text.lines().filter_map(|line| line.split_once(':'));
    facts.find(|fact| fact.0.trim_end() == name).map(|fact| fact.1.trim().to_owned())
}

/// Returns the bytes in a line `NAME: 123 kB` of a file.
pub fn bytes(path: impl AsRef<Path>, name: &str) -> Option<u64> {
    kib(&field(path, name)?, "kB")
}

/// Returns the bytes of a number of KiB with this unit.
pub fn kib(size: &str, unit: &str) -> Option<u64> {
    Some(size.strip_suffix(unit)?.trim().parse::<u64>().ok()?.saturating_mul(1024))
}

/// Returns the mode in brackets: `always [madvise] never` is `madvise`.
pub fn chosen(modes: &str) -> Option<&str> {
    Some(modes.split_once('[')?.1.split_once(']')?.0)
}

/// Parses a list of CPUs: `0-2,5` is 0, 1, 2, 5.
pub fn parse_list(list: &str) -> Vec<usize> {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_sizes_and_modes_are_parsed() {
        assert_eq!(parse_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_list("7"), [7]);
        assert_eq!(parse_list(""), [0usize; 0]);
        assert_eq!([kib("2048 kB", "kB"), kib("32K", "K")], [Some(2 << 20), Some(32 << 10)]);
        assert_eq!([kib("many kB", "kB"), kib("1 MB", "kB")], [None, None]);
        assert_eq!(kib("99999999999999999 kB", "kB"), Some(u64::MAX));
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }
}
