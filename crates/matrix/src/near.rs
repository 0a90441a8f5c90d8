const MAX_SUGGESTIONS: usize = 3;
/// The minimum similarity of a suggested word, where 1 means equal.
const MIN_SIMILARITY: f64 = 0.8;
/// A word of at least so many letters also matches a word that contains it or that differs by one typing error.
const MIN_LETTERS_WITH_SLIP: usize = 3;

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
    let known = known.into_iter().map(|other| (likeness(word, other), other));
    let mut near: Vec<_> = known.filter(|(likeness, _)| *likeness >= MIN_SIMILARITY).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<_> = near.into_iter().take(MAX_SUGGESTIONS).map(|(_, other)| other).collect();
    let (last, others) = near.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

fn likeness(word: &str, other: &str) -> f64 {
    let word = word.to_lowercase();
    let other = other.to_lowercase();
    let is_slip = other.contains(&word) || strsim::damerau_levenshtein(&word, &other) == 1;
    let least = if is_slip && word.chars().count() >= MIN_LETTERS_WITH_SLIP { MIN_SIMILARITY } else { 0.0 };
    strsim::jaro_winkler(&word, &other).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_similar_words_and_the_whole_list() {
        let known = ["merge", "merge-numa", "gpu-merge", "csr5", "mkl-ie"];
        for (word, question) in [
            ("mrege", "did you mean merge? "),
            ("MERGE", "did you mean merge, merge-numa or gpu-merge? "),
            ("numa", "did you mean merge-numa? "),
            ("csr6", "did you mean csr5? "),
            ("mkl", "did you mean mkl-ie? "),
            ("kml-ie", "did you mean mkl-ie? "),
            ("", ""),
            ("frobnicate", ""),
        ] {
            assert_eq!(hint(word, known, "see `list`"), format!("; {question}see `list`"));
        }
    }
}
