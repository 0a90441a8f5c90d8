//! The index of the collection, `ssstats.csv`: the number of matrices, a date, and then one line per matrix.

use std::str::FromStr;

use super::datasets::DatasetsError;
use super::matrix::{Matrix, is_id};

/// Parses an index. `file` is its name in messages.
pub fn parse(text: &str, file: &str) -> Result<Vec<Matrix>, DatasetsError> {
    let wrong = |line, message| DatasetsError(format!("{file}:{line}: {message}"));
    let first = text.lines().next().unwrap_or("");
    let count: usize = first
        .trim()
        .parse()
        .map_err(|_| wrong(1, format!("this line must be the number of matrices, not '{first:.40}'")))?;
    let lines = text.lines().enumerate().skip(2);
    let matrices: Vec<Matrix> = lines
        .map(|(at, line)| matrix(line).map_err(|message| wrong(at + 1, message)))
        .collect::<Result<_, _>>()?;
    if matrices.len() != count {
        let found = matrices.len();
        let message = format!("{count} matrices must follow, not {found}; is the file incomplete?");
        return Err(wrong(1, message));
    }
    Ok(matrices)
}

/// Returns the index of these matrices in the form that [`parse`] accepts. Unknown numbers are written as 0.
pub fn write(matrices: &[&Matrix], date: &str) -> String {
    let mut text = format!("{}\n{date}\n", matrices.len());
    for matrix in matrices {
        let Matrix { rows, cols, nnz, kind, entries, .. } = matrix;
        let kind = kind.replace([',', '\n', '\r'], " ");
        let (group, name) = (matrix.group(), matrix.name());
        let (real, binary) = (u8::from(matrix.real), u8::from(matrix.binary));
        let symmetries = [matrix.pattern_symmetry, matrix.numerical_symmetry];
        let [pattern, numerical] = symmetries.map(|share| share.unwrap_or(0.0));
        text += &format!(
            "{group},{name},{rows},{cols},{nnz},{real},{binary},0,0,{pattern},{numerical},{kind},\
             {entries}\n"
        );
    }
    text
}

fn matrix(line: &str) -> Result<Matrix, String> {
    let fields: Vec<&str> = line.splitn(14, ',').map(str::trim).collect();
    let [group, name, rows, cols, nnz, real, binary, _, _, pattern, numerical, kind, entries] = fields[..] else {
        return Err(format!(
            "{} fields instead of 13: group, name, rows, cols, nnz, real, binary, 2-D or 3-D, positive definite, \
             pattern symmetry, numerical symmetry, kind, entries",
            line.split(',').count()
        ));
    };
    let id = format!("{group}/{name}");
    if !is_id(&id) {
        return Err(format!("'{id:.40}' is not of the form GROUP/NAME"));
    }
    Ok(Matrix {
        id,
        rows: number(rows, "rows")?,
        cols: number(cols, "cols")?,
        nnz: number(nnz, "nnz")?,
        entries: number(entries, "entries")?,
        kind: kind.to_owned(),
        real: number::<u8>(real, "real")? != 0,
        binary: number::<u8>(binary, "binary")? != 0,
        pattern_symmetry: Some(share(pattern, "pattern symmetry")?),
        numerical_symmetry: Some(share(numerical, "numerical symmetry")?),
        ..Matrix::default()
    })
}

fn number<T: FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| out_of_range(text, what))
}

fn share(text: &str, what: &str) -> Result<f64, String> {
    let share = number(text, what)?;
    (0.0..=1.0).contains(&share).then_some(share).ok_or_else(|| out_of_range(text, what))
}

fn out_of_range(text: &str, what: &str) -> String {
    format!("{what} '{text:.40}' is not a number or is out of range")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "HB,arc130,130,130,1037,1,0,0,0,0.7586805555555556,0,materials problem,1282\n";

    #[test]
    fn a_written_index_is_read_back() {
        let text = format!("1\n08-Oct-2020 17:09:58\n{LINE}");
        let matrices = parse(&text, "ssstats.csv").unwrap();
        let expected = Matrix {
            nnz: 1037,
            kind: "materials problem".into(),
            pattern_symmetry: Some(0.7586805555555556),
            numerical_symmetry: Some(0.0),
            ..Matrix::of_size("HB/arc130", 130, 130, 1282)
        };
        assert_eq!(matrices, [expected]);
        assert_eq!(write(&[&matrices[0]], "08-Oct-2020 17:09:58"), text);
        let other = Matrix { kind: "materials,\nproblem".into(), ..matrices[0].clone() };
        let text = text.replace("materials", "materials ");
        assert_eq!(write(&[&other], "08-Oct-2020 17:09:58"), text);
    }
}
