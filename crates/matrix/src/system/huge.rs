//! Huge pages for large arrays, the same for this program, its methods and all libraries.
//!
//! With small pages, a product on a large matrix waits for translations of addresses, the longer the less its arrays
//! are in one piece. Where the pages of an array lie depends on how it was filled. So a method that copies the matrix
//! may be faster or slower than the same method without a copy, and no repetition shows it. Where the system gives
//! huge pages only on request, glibc's allocator makes the request for everything that calls `malloc`. It reads its
//! settings when a process starts, so they must be in the environment before.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use super::files::{bytes, chosen, read};

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

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
    let own = std::env::var(VARIABLE).unwrap_or_default();
    if mode()? == "never" { None } else { added_to(&own) }
}

/// Returns when the kernel uses huge pages: always, madvise (on request of a program) or never.
pub fn mode() -> Option<String> {
    Some(chosen(&read(HUGE_PAGES)?)?.to_owned())
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

/// Returns the bytes of this process that are in huge pages.
fn held() -> Option<u64> {
    let held = |name| bytes("/proc/self/smaps_rollup", name);
    Some(held("AnonHugePages")? + held("Private_Hugetlb").unwrap_or(0))
}

/// Returns the reason why large arrays are not in huge pages although this was requested, where the kernel uses them in
/// this `mode` and the user has these settings of glibc.
pub(super) fn refusal(mode: Option<&str>, settings: &str) -> &'static str {
    let [decisive, wanted] = TUNABLES[0];
    let is_other = |setting: &str| setting.split_once('=').is_some_and(|it| it.0 == decisive && it.1 != wanted);
    match mode {
        None | Some("never") => "/sys/kernel/mm/transparent_hugepage/enabled has none",
        Some("always") => "the system had none left, or this process may not have them",
        _ if settings.split(':').any(is_other) => "GLIBC_TUNABLES refuses them",
        _ => "they are requested by the allocator of glibc 2.35 or newer, which is not used here",
    }
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
            ("a.hugetlb=2:glibc.malloc.hugetlb2=1", Some(with("a.hugetlb=2:glibc.malloc.hugetlb2=1"))),
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
        let usual = added_to("").unwrap();
        for (mode, own, expected) in [
            (None, "", "has none"),
            (Some("never"), &*usual, "has none"),
            (Some("madvise"), "glibc.malloc.hugetlb=0", "refuses"),
            (Some("madvise"), &usual, "2.35"),
            (Some("always"), "", "none left"),
        ] {
            assert!(refusal(mode, own).contains(expected), "{mode:?} {own}");
        }
    }
}
