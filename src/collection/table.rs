//! The facts of all matrices in the collection as the program has them: `collection.txt`, in which the form is
//! described.

use super::matrix::Matrix;

/// The file. It is written by a test in `tests/datasets.rs` from an index.
pub const TEXT: &str = include_str!("../../collection.txt");

/// Returns the date of the index from which the table was made, and its matrices.
pub fn ours() -> (String, Vec<Matrix>) {
    parse(TEXT).expect("a test reads the built-in table")
}

fn parse(text: &str) -> Result<(String, Vec<Matrix>), String> {
    let (mut date, mut group, mut kinds, mut matrices) = ("", "", Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(": ") {
            Some(("index", text)) => date = text,
            Some(("kind", text)) => kinds.push(text),
            Some(("group", text)) => group = text,
            _ => matrices.push(matrix(line, group, &kinds).ok_or(line)?),
        }
    }
    Ok((date.to_owned(), matrices))
}

fn matrix(line: &str, group: &str, kinds: &[&str]) -> Option<Matrix> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    let (name, size, entries, kind, symmetry) = (word()?, word()?, word()?, word()?, word()?);
    let values = word().unwrap_or("");
    let (rows, cols) = size.split_once('x').unwrap_or((size, size));
    let (nnz, zeros) = entries.split_once('+').unwrap_or((entries, "0"));
    let nnz = nnz.parse().ok()?;
    let is_symmetric = symmetry == "s";
    Some(Matrix {
        id: format!("{group}/{name}"),
        rows: rows.parse().ok()?,
        cols: cols.parse().ok()?,
        nnz,
        entries: nnz + zeros.parse::<u64>().ok()?,
        kind: (*kinds.get(kind.parse::<usize>().ok()?.checked_sub(1)?)?).to_owned(),
        real: !values.contains('c'),
        binary: values.contains('b'),
        pattern_symmetry: Some(if is_symmetric { 1.0 } else { symmetry.parse().ok()? }),
        numerical_symmetry: is_symmetric.then_some(1.0),
        ..Matrix::default()
    })
}
