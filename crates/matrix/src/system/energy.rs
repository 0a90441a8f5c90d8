//! The energy that the CPUs and their memory use, from the counters that Linux has in its powercap tree (RAPL, also of
//! AMD).

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the counters in Linux.
pub const MOUNTED: &str = "/sys/class/powercap";
/// The power that no package and no memory reaches, in watts.
const MOST_WATTS: f64 = 1000.0;

/// The counters of all packages and, where the machine has them, of the memory. They count for all programs.
pub struct Rapl(Vec<Domain>);

struct Domain {
    /// Such as `package-0` or `dram`.
    name: String,
    counter: PathBuf,
    /// The value after which the counter begins again at 0, in microjoules.
    range: u64,
    last: Cell<u64>,
    /// The microjoules since the counter was opened.
    used: Cell<u64>,
}

impl Rapl {
    /// Opens the counters in this folder. The error says why there are none.
    pub fn open(folder: &Path) -> Result<Self, String> {
        let entries = fs::read_dir(folder);
        let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut zones: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        zones.sort();
        // Other trees, such as `intel-rapl-mmio:0`, have the same packages again.
        let is_zone =
            |zone: &&PathBuf| zone.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"intel-rapl:"));
        let domains = zones.iter().filter(is_zone).filter_map(|zone| Domain::open(zone).transpose());
        let domains: Vec<_> = domains.collect::<Result<_, _>>()?;
        match domains.iter().any(|domain| domain.name.starts_with("package")) {
            true => Ok(Self(domains)),
            false => Err(format!("{}: it has no counter of a package (RAPL)", folder.display())),
        }
    }

    /// Returns the names of what is counted, each once.
    pub fn domains(&self) -> Vec<String> {
        let mut names: Vec<_> = self.0.iter().map(|domain| domain.name.clone()).collect();
        names.sort_by_key(|name| !name.starts_with("package"));
        names.dedup();
        names
    }

    /// Returns the joules since some time before the first call; `None` if they cannot be read. The difference between
    /// a call and the next one is right only if it [`can_be`](Self::can_be).
    pub fn joules(&self) -> Option<f64> {
        let used: Option<u128> = self.0.iter().map(|domain| domain.used().map(u128::from)).sum();
        Some(used? as f64 / 1e6)
    }

    /// Whether so many joules can be the energy of so many seconds: not if the counters stand still, if one has gone
    /// backwards, which looks as if it had begun again, or if one can have begun again more than once, which takes
    /// seconds at least.
    pub fn can_be(&self, joules: f64, seconds: f64) -> bool {
        let most = MOST_WATTS * self.0.len() as f64 * seconds;
        let is_below = |domain: &Domain| most < domain.range as f64 / 1e6;
        0.0 < joules && joules <= most && self.0.iter().all(is_below)
    }
}

impl Domain {
    /// Opens a zone; `None` if it is a part of a package (cores, graphics) or of all (platform).
    fn open(zone: &Path) -> Result<Option<Self>, String> {
        let text = |file: &str| {
            let path = zone.join(file);
            let text = fs::read_to_string(&path).map(|text| text.trim().to_owned());
            text.map_err(|error| format!("{}: {error}", path.display()))
        };
        let name = text("name")?;
        if !name.starts_with("package") && name != "dram" {
            return Ok(None);
        }
        let number = |file: &str| {
            let text = text(file)?;
            let path = zone.join(file);
            text.parse().map_err(|_| format!("{}: '{text}' is not a number", path.display()))
        };
        let (range, last): (u64, _) = (number("max_energy_range_uj")?, Cell::new(number("energy_uj")?));
        if range == 0 {
            let zone = zone.display();
            return Err(format!("{zone}/max_energy_range_uj: a counter has no range of 0"));
        }
        Ok(Some(Self { name, counter: zone.join("energy_uj"), range, last, used: Cell::new(0) }))
    }

    fn used(&self) -> Option<u64> {
        let now: u64 = fs::read_to_string(&self.counter).ok()?.trim().parse().ok()?;
        if now > self.range {
            return None;
        }
        let last = self.last.replace(now);
        let begun_again = if now < last { self.range } else { 0 };
        let passed = now.saturating_add(begun_again).saturating_sub(last);
        self.used.set(self.used.get().saturating_add(passed));
        Some(self.used.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::groups::tests::write as write_files;

    /// Writes a zone with these microjoules, of which it counts 1000 at most.
    fn write(folder: &Path, zone: &str, name: &str, energy: &str) {
        let files = format!("{zone}/name {name}; {zone}/max_energy_range_uj 1000; {zone}/energy_uj {energy}");
        write_files(folder, &files);
    }

    #[test]
    fn packages_and_memory_are_counted_over_the_end_of_the_range() {
        let folder = tempfile::tempdir().unwrap();
        let write = |zone, name, energy| write(folder.path(), zone, name, energy);
        write("intel-rapl:0", "package-0", "900");
        write("intel-rapl:0:0", "core", "5");
        write("intel-rapl:1", "package-1", "10");
        write("intel-rapl-mmio:0", "package-0", "900");
        let packages = Rapl::open(folder.path()).unwrap();
        assert_eq!(packages.domains(), ["package-0", "package-1"]);
        write("intel-rapl:0:1", "dram", "0");
        write("intel-rapl:1:1", "dram", "0");
        let all = Rapl::open(folder.path()).unwrap();
        assert_eq!(all.domains(), ["package-0", "package-1", "dram"]);
        // 150 and 5 of the packages, one of which begins again, and 3 of the memory.
        write("intel-rapl:0", "package-0", "50");
        write("intel-rapl:1", "package-1", "15");
        write("intel-rapl:0:1", "dram", "3");
        assert_eq!([packages.joules(), all.joules()], [Some(155e-6), Some(158e-6)]);
        write("intel-rapl:0", "package-0", "60");
        assert_eq!([packages.joules(), all.joules()], [Some(165e-6), Some(168e-6)]);
        fs::remove_dir_all(folder.path().join("intel-rapl:1")).unwrap();
        assert_eq!(packages.joules(), None);
    }

    /// Each case has readings one after the other, of a counter of at most 262143 J, and the joules of each interval of
    /// 20 ms that can be trusted.
    #[test]
    fn what_cannot_be_the_energy_of_an_interval_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("intel-rapl:0");
        let write = |energy: &str| {
            write(folder.path(), "intel-rapl:0", "package-0", energy);
            fs::write(zone.join("max_energy_range_uj"), "262143000000").unwrap();
        };
        write("0");
        for (readings, joules) in [
            (&["1000000", "3000000", "3000000"][..], &[Some(2.0), None][..]),
            (&["262142000000", "1000000"], &[Some(2.0)]),
            (&["3000000", "2999999", "5000000"], &[None, Some(2.000001)]),
            (&["3000000", "0", "1000000"], &[None, Some(1.0)]),
            (&["1000000", "many", "-5", "2000000", "3000000"], &[None, None, None, Some(1.0)]),
            (&["1000000", "", "18446744073709551615", "0", "9"], &[None, None, None, Some(9e-6)]),
            (&["18446744073709551616", "5"], &[None]),
        ] {
            let rapl = Rapl::open(folder.path()).unwrap();
            let read = |text: &&str| {
                write(text);
                rapl.joules()
            };
            let read: Vec<_> = readings.iter().map(read).collect();
            let of = |pair: &[Option<f64>]| Some(pair[1]? - pair[0]?).filter(|&joules| rapl.can_be(joules, 0.02));
            let microjoules = |joules: Option<f64>| joules.map(|joules| (1e6 * joules).round());
            let found: Vec<_> = read.windows(2).map(of).map(microjoules).collect();
            let expected: Vec<_> = joules.iter().copied().map(microjoules).collect();
            assert_eq!(found, expected, "{readings:?}");
            write("0");
        }
        let rapl = Rapl::open(folder.path()).unwrap();
        // With less than 1000 W the counter begins again after 262 s.
        let trusted = [262.0, 263.0].map(|seconds| rapl.can_be(100.0 * seconds, seconds));
        assert_eq!(trusted, [true, false]);
        fs::write(zone.join("max_energy_range_uj"), "0").unwrap();
        let why = Rapl::open(folder.path()).err().unwrap();
        assert!(why.ends_with("max_energy_range_uj: a counter has no range of 0"), "{why}");
    }

    #[test]
    fn errors_say_why_there_are_no_counters() {
        let folder = tempfile::tempdir().unwrap();
        let why = || Rapl::open(folder.path()).err().unwrap();
        assert!(why().ends_with(": it has no counter of a package (RAPL)"), "{}", why());
        write(folder.path(), "intel-rapl:0:0", "dram", "1");
        assert!(why().ends_with(": it has no counter of a package (RAPL)"), "{}", why());
        write(folder.path(), "intel-rapl:0", "package-0", "many");
        assert!(why().ends_with("intel-rapl:0/energy_uj: 'many' is not a number"), "{}", why());
        // Root may read every file, so a folder is what cannot be read.
        let counter = folder.path().join("intel-rapl:0/energy_uj");
        fs::remove_file(&counter).unwrap();
        fs::create_dir(counter).unwrap();
        assert!(why().contains("intel-rapl:0/energy_uj: Is a directory"), "{}", why());
        let missing = Rapl::open(&folder.path().join("none")).err().unwrap();
        assert!(missing.ends_with("none: No such file or directory (os error 2)"), "{missing}");
    }
}
