//! The parser of generator specifications and the list of their forms.

use serde_json::{Map, Number, Value};

use super::error::ParameterError;
use super::pattern::Pattern;
use crate::near::{did_you_mean, hint};

/// The prefix of a specification.
const PREFIX: &str = "gen:";
/// The key of the seed of random values, which every generator accepts.
const RANDOM: &str = "random";
/// The key of the list of diagonal offsets.
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

/// Returns all forms in one line.
pub fn forms() -> String {
    format!("{}; each also accepts [,random=SEED] for values other than 1", FORMS.join("  "))
}

/// Parses a specification without `gen:` into the pattern and the seed of random values.
pub fn parse(spec: &str) -> Result<(Pattern, Option<u64>), ParameterError> {
    let mut words = spec.split(',');
    let name = words.next().unwrap_or_default();
    let form = form(name).ok_or_else(|| {
        let whole = "`spmv-bench generate --help` lists the generators";
        let hint = hint(name, FORMS.iter().map(|it| name_of(it)), whole);
        ParameterError(format!("there is no generator '{name}'{hint}"))
    })?;
    let mut parameters = Map::new();
    for word in words {
        let pair = word.split_once('=');
        let (key, value) = pair.ok_or(ParameterError(format!("'{word}' is not KEY=VALUE")))?;
        check_key(form, name, key)?;
        if parameters.insert(key.to_owned(), self::value(key, value)?).is_some() {
            return Err(ParameterError(format!("'{key}' is given twice")));
        }
    }
    if let Some((key, _)) =
        keys(form).find(|&(key, required)| required && !parameters.contains_key(key))
    {
        return Err(ParameterError(format!("{key}= is missing")));
    }
    let random = parameters.remove(RANDOM).and_then(|seed| seed.as_u64());
    let named = Map::from_iter([(name.to_owned(), Value::Object(parameters))]);
    let pattern = serde_json::from_value(Value::Object(named));
    Ok((pattern.map_err(|error| ParameterError(error.to_string()))?, random))
}

/// Returns the form of the generator with this name.
pub fn form(name: &str) -> Option<&'static str> {
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

fn check_key(form: &'static str, name: &str, key: &str) -> Result<(), ParameterError> {
    let known = || keys(form).map(|(key, _)| key).chain([RANDOM]);
    if known().any(|known| known == key) {
        return Ok(());
    }
    let question = did_you_mean(key, known()).map_or(String::new(), |it| format!(" ({it})"));
    Err(ParameterError(format!("{name} has no parameter '{key}'{question}")))
}

/// Parses the value after `key=`.
fn value(key: &str, text: &str) -> Result<Value, ParameterError> {
    let (value, what) = match key {
        OFFSETS => (Some(text.into()), "text"),
        _ if FRACTIONS.contains(&key) => {
            (text.parse().ok().and_then(Number::from_f64).map(Value::Number), "a number")
        }
        _ => (text.parse::<u64>().ok().map(Value::from), "a whole number"),
    };
    value.ok_or_else(|| ParameterError(format!("{key}={text}: the value must be {what}")))
}
