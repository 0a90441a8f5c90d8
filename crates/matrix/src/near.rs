const MOST: usize = 3;
/// The minimum similarity of a suggested word, where 1 means equal.
const ALIKE: f64 = 0.8;
/// A word of at least so many letters also matches a word that contains it or that differs by one typing error.
const SLIP: usize = 3;

/// Returns the end of a message about an unknown word: `; did you mean merge or merge-numa? WHOLE`, where `whole` says
/// where all known words are listed; without similar words `; WHOLE`.
pub fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str>, whole: &str) -> String {
    match did_you_mean(word, known) {
        Some(question) => format!("; {question} {whole}"),
        None => format!("; {whole}"),
    }
}

/// Returns `did you mean a, b or c?`, or `None` if no known word is similar.
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    let near = nearest(word, known.into_iter().collect());
    let (last, others) = near.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// Returns the words that are most similar to the given one, the most similar first.
fn nearest<'k>(word: &str, known: Vec<&'k str>) -> Vec<&'k str> {
    let likeness = |other: &'k str| (likeness(word, other), other);
    let mut near: Vec<_> = known.into_iter().map(likeness).collect();
    near.retain(|(likeness, _)| *likeness >= ALIKE);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(MOST);
    near.into_iter().map(|(_, other)| other).collect()
}

fn likeness(word: &str, other: &str) -> f64 {
    let (word, other) = (word.to_lowercase(), other.to_lowercase());
    let is_slip = other.contains(&word) || strsim::damerau_levenshtein(&word, &other) == 1;
    let least = if is_slip && word.chars().count() >= SLIP { ALIKE } else { 0.0 };
    strsim::jaro_winkler(&word, &other).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = ["merge", "merge-numa", "gpu-merge", "csr5", "mkl-ie"];

    #[test]
    fn similar_words_are_suggested() {
        for (word, near) in [
            ("mrege", &["merge"][..]),
            ("MERGE", &["merge", "merge-numa", "gpu-merge"]),
            ("numa", &["merge-numa"]),
            ("csr6", &["csr5"]),
            ("mkl", &["mkl-ie"]),
            ("kml-ie", &["mkl-ie"]),
            ("", &[]),
            ("frobnicate", &[]),
        ] {
            assert_eq!(nearest(word, KNOWN.to_vec()), near, "{word}");
        }
    }

    #[test]
    fn a_message_names_similar_words_and_the_whole_list() {
        let hint = |word| hint(word, KNOWN, "see `list`");
        assert_eq!(hint("merge"), "; did you mean merge, merge-numa or gpu-merge? see `list`");
        assert_eq!(hint("csr6"), "; did you mean csr5? see `list`");
        assert_eq!(hint("xyz"), "; see `list`");
    }
}
