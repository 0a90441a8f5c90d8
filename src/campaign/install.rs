//! The machine profile that some methods need, which is measured once and cached.

use std::collections::BTreeMap;

use anyhow::Result;

use super::env::Env;
use spmv_matrix::cache::{CacheFolder, Key};
use spmv_matrix::scalar::Precision;
use spmv_methods::cpu::oski_style;
use spmv_methods::method::Choice;
use spmv_methods::method::profile::Profile;
use spmv_methods::simd::Isa;

/// The version of the profile, which must be changed if the measurement changes.
const FORMAT: &str = "register blocks 1";

pub type Profiles = BTreeMap<Precision, Profile>;

/// Returns the profiles that the methods need, from the cache, or measured and cached with a note on stderr.
pub fn profiles(
    choices: &[Choice],
    precisions: &[Precision],
    isa: Isa,
    quiet: bool,
    env: &mut Env,
) -> Result<Profiles> {
    let is_needed = choices.iter().any(|choice| choice.method.name == oski_style::NAME);
    let Some(cache) = env.profiles.clone().filter(|_| is_needed) else {
        return Ok(Profiles::new());
    };
    let of_precision =
        |&precision: &Precision| Ok((precision, profile(precision, &cache, isa, quiet, env)?));
    precisions.iter().map(of_precision).collect()
}

fn profile(
    precision: Precision,
    cache: &CacheFolder,
    isa: Isa,
    quiet: bool,
    env: &mut Env,
) -> Result<Profile> {
    let cpu = env.system.cpu.clone().unwrap_or_default();
    let key = Key::of([FORMAT, &cpu, precision.name(), &format!("{isa:?}")]);
    let mut measured = || {
        if !quiet {
            let method = oski_style::NAME;
            writeln!(
                env.stderr,
                "measuring the machine profile for {method} in {}; this is done only once",
                precision.name()
            )?;
        }
        let now = || env.clock.now();
        Ok(oski_style::measured(precision, isa, &now))
    };
    let bytes = cache.get_or(&key, || measured().map(|profile: Profile| profile.to_bytes()))?;
    Profile::from_bytes(&bytes).map_or_else(measured, Ok)
}
