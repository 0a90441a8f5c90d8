//! Compares the facts of two runs, to decide whether their rows may be compared.

use serde_json::Value;

/// Facts that define the product, with the option that sets them. Runs in which they differ computed different
/// products.
const PRODUCT: [(&str, &str); 4] = [
    ("/settings/alpha", "--alpha"),
    ("/settings/beta", "--beta"),
    ("/settings/values", "--values"),
    ("/expand", "--no-expand"),
];

/// Facts that may influence times.
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

/// A fact that both runs record with different values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The name of the fact.
    pub fact: &'static str,
    /// The value in A.
    pub in_a: Value,
    /// The value in B.
    pub in_b: Value,
    /// The option that sets the fact, if the two runs computed different products.
    pub option: Option<&'static str>,
}

/// Returns the differences between the facts of two runs (the contents of `FILE.run.json`). Facts that one of
/// them lacks, because its version is older, are ignored.
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
