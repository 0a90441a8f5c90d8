//! The machine profile that some methods need, which is measured once and cached.

use std::collections::BTreeMap;

use anyhow::Result;

use super::env::Env;
use spmv_matrix::cache::Key;
use spmv_matrix::scalar::Precision;
use spmv_methods::cpu::oski_style;
use spmv_methods::method::Choice;
use spmv_methods::method::profile::Profile;
use spmv_methods::team::Team;
use spmv_results::settings::RunSettings;

/// The version of the profile, which must be changed if the measurement changes.
const FORMAT: &str = "register blocks 2";

pub type Profiles = BTreeMap<Precision, Profile>;

/// Returns the profiles that the methods need, from the cache, or measured and cached with a note on stderr.
pub fn profiles(choices: &[Choice], run: &RunSettings, team: &Team, env: &mut Env) -> Result<Profiles> {
    let (method, isa, pages) = (oski_style::NAME, run.settings.isa, run.settings.pages);
    let is_needed = choices.iter().any(|choice| choice.method.name == method);
    let Some(cache) = env.profiles.clone().filter(|_| is_needed) else {
        return Ok(Profiles::new());
    };
    let cpu = env.system.cpu.clone().unwrap_or_default();
    let mut profiles = Profiles::new();
    for &precision in &run.precisions {
        let name = precision.name();
        let mut measured = || -> Result<Profile> {
            if !run.quiet {
                writeln!(env.stderr, "measuring the machine profile for {method} in {name}; this is done only once")?;
            }
            Ok(oski_style::measured(precision, team, isa, &|| env.clock.now()))
        };
        let key = Key::of([FORMAT, &cpu, name, &format!("{isa:?} {pages:?} {}", team.len())]);
        let bytes = cache.get_or(&key, || measured().map(|profile| profile.to_bytes()))?;
        profiles.insert(precision, Profile::from_bytes(&bytes).map_or_else(measured, Ok)?);
    }
    Ok(profiles)
}
