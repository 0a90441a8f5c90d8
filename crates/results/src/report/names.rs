use super::matched::Matrix;

/// Returns the name of a matrix; surrogates are marked with `*`.
pub fn label((name, is_surrogate, _): Matrix) -> String {
    format!("{name}{}", if is_surrogate { "*" } else { "" })
}

pub fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (1, _) => format!("1 {thing}"),
        (_, "matrix") => format!("{number} matrices"),
        _ => format!("{number} {thing}s"),
    }
}

/// Joins the first `most` names, and adds the number of the others.
pub fn listed<T: AsRef<str>>(names: impl ExactSizeIterator<Item = T>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let first = join(names.take(most).map(|name| name.as_ref().to_owned()), ", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Joins the words that are not empty.
pub fn join(words: impl IntoIterator<Item = String>, between: &str) -> String {
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(between)
}
