//! What the facts of two runs say of whether their rows may be compared.

use serde_json::Value;

/// Facts that name another product when they differ, with the option that sets them.
const PRODUCT: [(&str, &str); 4] = [
    ("/settings/alpha", "--alpha"),
    ("/settings/beta", "--beta"),
    ("/settings/values", "--values"),
    ("/expand", "--no-expand"),
];

/// Facts that times may depend on.
const CIRCUMSTANCES: [&str; 16] = [
    "/settings/protocol",
    "/settings/iterations",
    "/settings/warmups",
    "/settings/min_time",
    "/settings/max_time",
    "/settings/rounds",
    "/settings/x",
    "/settings/seed",
    "/settings/isa",
    "/settings/stages",
    "/pinned_to",
    "/system/cpu",
    "/system/cores",
    "/system/huge_pages",
    "/system/glibc_tunables",
    "/gpu/name",
];

/// A fact that both runs tell, and tell differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its name.
    pub fact: &'static str,
    /// What A has.
    pub in_a: Value,
    /// What B has.
    pub in_b: Value,
    /// The option that sets it, if the two runs are of different products.
    pub option: Option<&'static str>,
}

/// How the facts of two runs differ, `FILE.run.json`'s contents. What one of them does not tell, as it is
/// older, does not count.
pub fn differences(a: &Value, b: &Value) -> Vec<Difference> {
    let product = PRODUCT.into_iter().map(|(place, option)| (place, Some(option)));
    let all = product.chain(CIRCUMSTANCES.into_iter().map(|place| (place, None)));
    let differing = all.filter_map(|(place, option)| {
        let (in_a, in_b) = (a.pointer(place)?.clone(), b.pointer(place)?.clone());
        let fact = place.rsplit('/').next().unwrap_or(place);
        (in_a != in_b).then_some(Difference { fact, in_a, in_b, option })
    });
    differing.collect()
}
