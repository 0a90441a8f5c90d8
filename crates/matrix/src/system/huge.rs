//! Huge pages for large arrays, the same for this program, its methods and all libraries.
//!
//! With small pages, a product on a large matrix waits for translations of addresses, the longer the less its arrays
//! are in one piece. Where the pages of an array lie depends on how it was filled. So a method that copies the matrix
//! may be faster or slower than the same method without a copy, and no repetition shows it. Where the system gives
//! huge pages only on request, glibc's allocator makes the request for everything that calls `malloc`. It reads its
//! settings when a process starts, so they must be in the environment before.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{HUGE_PAGES, System, chosen, field, read};

/// The variable of the environment that has the settings of glibc.
pub const VARIABLE: &str = "GLIBC_TUNABLES";

/// The size of a huge page in bytes; on some machines it is larger.
pub const HUGE_PAGE: usize = 2 << 20;

/// The settings of glibc's allocator, the decisive one first.
const TUNABLES: [[&str; 2]; 3] = [
    // `malloc` requests huge pages for large arrays and for the heap of the first thread.
    ["glibc.malloc.hugetlb", "1"],
    // The heaps of other threads get 64 MiB of addresses at once. If they grew in small steps, they would get no huge
    // pages, and a thread that stores its part of a format in small blocks would be slower than the first one.
    ["glibc.malloc.top_pad", "67108864"],
    // An array of at least 2 MiB has pages of its own. Otherwise this limit would grow with what was released before,
    // and a later method would get pages of an earlier one.
    ["glibc.malloc.mmap_threshold", "2097152"],
];

/// Returns the value of [`VARIABLE`] with which a new process has huge pages; `None` if this process has it already, if
/// the user has decided otherwise, or if the system has no huge pages.
pub fn tunables() -> Option<String> {
    let modes = read(HUGE_PAGES)?;
    let own = std::env::var(VARIABLE).unwrap_or_default();
    (chosen(&modes)? != "never").then(|| added_to(&own)).flatten()
}

fn added_to(own: &str) -> Option<String> {
    let has = |name: &str| own.split(':').any(|setting| setting.split('=').next() == Some(name));
    let added = TUNABLES.iter().filter(|[name, _]| !has(name)).map(|setting| setting.join("="));
    let kept = (!own.is_empty()).then(|| own.to_owned());
    (!has(TUNABLES[0][0])).then(|| kept.into_iter().chain(added).collect::<Vec<_>>().join(":"))
}

/// Returns whether large arrays get huge pages in this process; `None` if the system does not say.
pub fn are_given() -> Option<bool> {
    let before = held()?;
    // At least three huge pages fit between its ends.
    let array = black_box(vec![1u8; 4 * HUGE_PAGE]);
    let after = held();
    drop(array);
    let are_given = after? > before;
    GIVEN.store(are_given, Ordering::Relaxed);
    Some(are_given)
}

/// The last result of [`are_given`].
static GIVEN: AtomicBool = AtomicBool::new(false);

/// Returns whether [`are_given`] has found out that large arrays get huge pages.
pub fn were_given() -> bool {
    GIVEN.load(Ordering::Relaxed)
}

/// Returns the KiB of this process that are in huge pages.
fn held() -> Option<u64> {
    let kib = |name| field("/proc/self/smaps_rollup", name)?.strip_suffix(" kB")?.parse().ok();
    let (transparent, reserved): (u64, Option<u64>) =
        (kib("AnonHugePages")?, kib("Private_Hugetlb"));
    Some(transparent + reserved.unwrap_or(0))
}

/// Returns the reason why large arrays are not in huge pages, if they are not although this was requested.
pub fn refusal(system: &System) -> Option<&'static str> {
    let [decisive, wanted] = TUNABLES[0];
    let own = system.glibc_tunables.as_deref().unwrap_or_default();
    let is_other = |setting: &str| {
        setting.split_once('=').is_some_and(|it| it.0 == decisive && it.1 != wanted)
    };
    (system.huge_arrays == Some(false)).then(|| match system.huge_pages.as_deref() {
        None | Some("never") => "/sys/kernel/mm/transparent_hugepage/enabled has none",
        Some("always") => "the system had none left, or this process may not have them",
        _ if own.split(':').any(is_other) => "GLIBC_TUNABLES refuses them",
        _ => "they are requested by the allocator of glibc 2.35 or newer, which is not used here",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_the_user_are_kept() {
        let usual = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:glibc.malloc.mmap_threshold=2097152";
        let with = |own: &str| format!("{own}:{usual}");
        for (own, expected) in [
            ("", Some(usual.to_owned())),
            ("glibc.malloc.check=1", Some(with("glibc.malloc.check=1"))),
            (
                "a.hugetlb=2:glibc.malloc.hugetlb2=1",
                Some(with("a.hugetlb=2:glibc.malloc.hugetlb2=1")),
            ),
            (
                "glibc.malloc.top_pad=0",
                Some(with("glibc.malloc.top_pad=0").replace(":glibc.malloc.top_pad=67108864", "")),
            ),
            ("glibc.malloc.check=1:glibc.malloc.hugetlb=0", None),
            (usual, None),
        ] {
            assert_eq!(added_to(own), expected, "{own}");
        }
    }

    #[test]
    fn a_refusal_has_a_reason() {
        let of = |given, mode: Option<&str>, own: &str| {
            let (huge_pages, glibc_tunables) = (mode.map(String::from), Some(own.to_owned()));
            refusal(&System { huge_arrays: given, huge_pages, glibc_tunables, ..System::detect() })
        };
        let usual = added_to("").unwrap();
        for (given, mode, own, expected) in [
            (Some(true), Some("madvise"), &*usual, ""),
            (None, None, "", ""),
            (Some(false), Some("never"), &usual, "has none"),
            (Some(false), Some("madvise"), "glibc.malloc.hugetlb=0", "refuses"),
            (Some(false), Some("madvise"), &usual, "2.35"),
            (Some(false), Some("always"), "", "none left"),
        ] {
            let reason = of(given, mode, own);
            assert_eq!(reason.is_some(), !expected.is_empty(), "{mode:?} {own}");
            assert!(reason.unwrap_or_default().contains(expected), "{reason:?}");
        }
    }
}
