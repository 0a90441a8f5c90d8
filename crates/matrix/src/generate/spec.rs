use serde_json::{Map, Number, Value};

use super::pattern::Pattern;
use crate::near::{did_you_mean, hint};

const PREFIX: &str = "gen:";
/// The key of the seed of random values, which every generator accepts.
const RANDOM: &str = "random";
const OFFSETS: &str = "offsets";
/// The keys whose values may be fractions.
const FRACTIONS: [&str; 3] = ["variance", "exponent", "empty"];

/// The forms of all generators, for help and error messages. Each also accepts `random=SEED` for values other
/// than 1. The parser takes the valid and the required keys from here.
pub const FORMS: &[&str] = &[
    "gen:dense,cols=C[,rows=R][,nnz=N]",
    "gen:grid2d[,n=N][,nx=X][,ny=Y][,points=4|5|9]",
    "gen:grid3d[,n=N][,nx=X][,ny=Y][,nz=Z][,points=6|7|18|27]",
    "gen:mycielski,n=N",
    "gen:de-bruijn,bits=B",
    "gen:bibd,n=N,k=K",
    "gen:chessboard,m=M,n=N,rooks=R",
    "gen:wheel,spokes=S",
    "gen:rmat,scale=S[,edges=E][,seed=K]",
    "gen:diagonals,rows=R[,cols=C],offsets=-O:…:O",
    "gen:uniform,rows=R[,cols=C],nnz=N[,band=W][,run=L][,seed=K]",
    "gen:banded-normal,n=N,nnz=E,variance=V[,seed=K]",
    "gen:power-law,rows=R[,cols=C],longest=L[,shortest=S][,nnz=N][,exponent=X][,heavy=H][,band=W]\
     [,run=L][,seed=K]",
    "gen:sloped,rows=R[,cols=C],longest=L[,shortest=S][,nnz=N][,exponent=X][,heavy=H][,band=W]\
     [,run=L][,seed=K]",
    "gen:hubs,n=N[,hubs=H][,length=L][,others=O][,band=W][,seed=K]",
    "gen:empty-rows,rows=R[,cols=C],nnz=N,empty=SHARE[,clusters=K][,seed=K]",
    "gen:block,n=N,r=R,c=C,nnz=E[,band=W][,seed=K]",
];

/// The reason why a specification is invalid. Only the beginning of a long specification is shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("gen:{spec:.200}: {problem:.300}{}", form_note(spec))]
pub struct SpecError {
    spec: String,
    problem: String,
}

impl SpecError {
    pub(super) fn new(spec: &str, problem: String) -> Self {
        Self { spec: spec.into(), problem }
    }
}

/// Returns the end of an error message, which shows the form of the generator; empty if its name is unknown.
pub(super) fn form_note(spec: &str) -> String {
    form(spec).map_or(String::new(), |form| format!("; the form is {form}[,random=SEED]"))
}

/// Returns the forms of all generators for a help text, each on a line, the longest on two.
pub fn forms() -> String {
    FORMS.join("\n").replace("[,exponent", "\n  [,exponent")
}

/// Parses a specification without `gen:` into the pattern and the seed of random values.
pub fn parse(spec: &str) -> Result<(Pattern, Option<u64>), String> {
    let mut words = spec.split(',');
    let name = words.next().unwrap_or_default();
    let form = form(name).ok_or_else(|| {
        let whole = "`spmv-bench generate --help` lists the generators";
        let hint = hint(name, FORMS.iter().map(|it| name_of(it)), whole);
        format!("there is no generator '{name}'{hint}")
    })?;
    let mut parameters = Map::new();
    for word in words {
        let (key, text) = word.split_once('=').ok_or(format!("'{word}' is not KEY=VALUE"))?;
        check_key(form, name, key)?;
        if parameters.insert(key.to_owned(), value(key, text)?).is_some() {
            return Err(format!("'{key}' is given twice"));
        }
    }
    let mut required = keys(form).filter(|&(_, required)| required).map(|(key, _)| key);
    if let Some(key) = required.find(|&key| !parameters.contains_key(key)) {
        return Err(format!("{key}= is missing"));
    }
    if let Some(text) = parameters.get_mut(OFFSETS) {
        *text = offsets(text.as_str().unwrap_or_default())?;
    }
    for (key, _) in keys(form) {
        if let Some(value) = default_of(name, key) {
            parameters.entry(key).or_insert(value.into());
        }
    }
    let random = parameters.remove(RANDOM).and_then(|seed| seed.as_u64());
    let mut variant = name;
    if let "power-law" | "sloped" = name {
        parameters.insert("fall".into(), name.into());
        variant = "ranked";
    }
    let named = Map::from_iter([(variant.to_owned(), Value::Object(parameters))]);
    let pattern = serde_json::from_value(Value::Object(named));
    Ok((pattern.map_err(|error| error.to_string())?, random))
}

/// Returns the value of a parameter that is not given, unless its pattern computes it.
fn default_of(name: &str, key: &str) -> Option<u64> {
    match (name, key) {
        ("grid2d", "points") => Some(4),
        ("grid3d", "points") => Some(6),
        (_, "hubs") => Some(3),
        (_, "clusters") => Some(0),
        (_, "seed" | "run" | "shortest" | "others") => Some(1),
        _ => None,
    }
}

/// Parses a list of offsets such as `-1:0:1`, sorts it and removes duplicates.
fn offsets(text: &str) -> Result<Value, String> {
    let wrong = |word: &str| format!("offsets: '{word}' must be a whole number");
    let offset = |word: &str| word.parse::<i64>().map_err(|_| wrong(word));
    let mut offsets = text.split(':').map(offset).collect::<Result<Vec<_>, _>>()?;
    offsets.sort_unstable();
    offsets.dedup();
    Ok(offsets.into())
}

/// Returns the form of the generator with whose name a specification begins.
pub fn form(spec: &str) -> Option<&'static str> {
    let name = spec.split(',').next().unwrap_or_default();
    FORMS.iter().copied().find(|form| name_of(form) == name)
}

fn name_of(form: &'static str) -> &'static str {
    form[PREFIX.len()..].split([',', '[']).next().unwrap_or_default()
}

/// Returns the keys of a form and whether each is required. Optional keys are in brackets.
fn keys(form: &'static str) -> impl Iterator<Item = (&'static str, bool)> {
    let words = form.split(',').zip(form.split(',').skip(1));
    words.filter_map(|(before, word)| Some((word.split_once('=')?.0, !before.ends_with('['))))
}

fn check_key(form: &'static str, name: &str, key: &str) -> Result<(), String> {
    let known = || keys(form).map(|(key, _)| key).chain([RANDOM]);
    if known().any(|known| known == key) {
        return Ok(());
    }
    let question = did_you_mean(key, known()).map_or(String::new(), |it| format!(" ({it})"));
    Err(format!("{name} has no parameter '{key}'{question}"))
}

fn value(key: &str, text: &str) -> Result<Value, String> {
    let (value, what) = match key {
        OFFSETS => (Some(text.into()), "text"),
        _ if FRACTIONS.contains(&key) => (text.parse().ok().and_then(Number::from_f64).map(Value::Number), "a number"),
        _ => (text.parse::<u64>().ok().map(Value::from), "a whole number"),
    };
    value.ok_or_else(|| format!("{key}={text}: the value must be {what}"))
}
