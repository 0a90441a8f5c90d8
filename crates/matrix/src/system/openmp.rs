//! How users and batch systems have set the OpenMP libraries that MKL and plug-ins use.

use std::ffi::OsString;

/// What the names of variables begin with that the OpenMP libraries of GNU and LLVM read, and MKL, which uses one.
const BEGINS: [&str; 4] = ["GOMP_", "KMP_", "MKL_", "OMP_"];

/// Returns these variables of the environment by name: `OMP_PLACES=cores OMP_PROC_BIND=true`; `None` if there are none.
pub fn variables() -> Option<String> {
    among(std::env::vars_os())
}

fn among(all: impl Iterator<Item = (OsString, OsString)>) -> Option<String> {
    let named = all.map(|(name, value)| [name, value].map(|it| it.to_string_lossy().into_owned()));
    let is_read = |[name, _]: &[String; 2]| BEGINS.iter().any(|begin| name.starts_with(begin));
    let mut found: Vec<_> = named.filter(is_read).map(|pair| pair.join("=")).collect();
    found.sort();
    (!found.is_empty()).then(|| found.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_openmp_are_named_in_order() {
        for (all, expected) in [
            (
                &[("OMP_PROC_BIND", "true"), ("HOME", "/"), ("GOMP_SPINCOUNT", "9")][..],
                Some("GOMP_SPINCOUNT=9 OMP_PROC_BIND=true"),
            ),
            (&[("XOMP_A", "1"), ("PATH", "OMP_B=1")], None),
        ] {
            let all = all.iter().map(|(name, value)| (name.into(), value.into()));
            assert_eq!(among(all).as_deref(), expected);
        }
    }
}
