//! The index of the collection, `ssstats.csv`: the number of matrices, a date, and then one line per matrix.

use super::{DatasetsError, Matrix, is_id};

/// The names of the fields of a line, for messages.
const FIELDS: &str = "group, name, rows, cols, nnz, real, binary, 2-D or 3-D, positive definite, \
                      pattern symmetry, numerical symmetry, kind, entries";
const FIELD_COUNT: usize = 13;
const HEAD_LINES: usize = 2;

/// Why the line of a matrix is not valid.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error("{0} fields instead of {FIELD_COUNT}: {FIELDS}")]
    Fields(usize),
    #[error("'{}' is not of the form GROUP/NAME", .0.escape_debug())]
    Id(String),
    #[error("{what} '{}' is not a number or is out of range", .text.escape_debug())]
    Number { what: &'static str, text: String },
}

/// Parses an index. `file` is its name in messages.
///
/// # Errors
/// Returns an error if a line is invalid or the number of matrices differs from that in the first line.
pub fn parse(text: &str, file: &str) -> Result<Vec<Matrix>, DatasetsError> {
    let wrong = |line, message| DatasetsError::Content { file: file.to_owned(), line, message };
    let first = text.lines().next().unwrap_or("");
    let count: usize = first.trim().parse().map_err(|_| {
        wrong(
            1,
            format!("this line must be the number of matrices, not '{}'", first.escape_debug()),
        )
    })?;
    let lines = text.lines().enumerate().skip(HEAD_LINES);
    let matrices: Vec<Matrix> = lines
        .map(|(at, line)| matrix(line).map_err(|error| wrong(at + 1, error.to_string())))
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

fn matrix(line: &str) -> Result<Matrix, LineError> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let fields: [&str; FIELD_COUNT] =
        fields.try_into().map_err(|fields: Vec<&str>| LineError::Fields(fields.len()))?;
    let [group, name, rows, cols, nnz, real, binary, _, _, pattern, numerical, kind, entries] =
        fields;
    let id = format!("{group}/{name}");
    if !is_id(&id) {
        return Err(LineError::Id(id));
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
        pattern_symmetry: Some(number(pattern, "pattern symmetry")?),
        numerical_symmetry: Some(number(numerical, "numerical symmetry")?),
        longest: None,
        variation: None,
        stand_in: None,
        sha256: None,
    })
}

fn number<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T, LineError> {
    text.parse().map_err(|_| LineError::Number { what, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "1\n08-Oct-2020 17:09:58\n";
    const ARC130: &str =
        "HB,arc130,130,130,1037,1,0,1,0,0.7586805555555556,0,materials problem,1282\n";

    #[test]
    fn a_line_describes_a_matrix() {
        let matrices = parse(&format!("{HEAD}{ARC130}"), "ssstats.csv").unwrap();
        let arc130 = &matrices[0];
        assert_eq!((arc130.group(), arc130.name(), arc130.rows), ("HB", "arc130", 130));
        assert_eq!((arc130.nnz, arc130.entries), (1037, 1282));
        assert_eq!((arc130.real, arc130.binary), (true, false));
        assert_eq!(arc130.pattern_symmetry, Some(0.7586805555555556));
        assert_eq!(arc130.archive_bytes_estimate(), 8974);
    }

    #[test]
    fn a_written_index_is_read_back() {
        let matrices = parse(&format!("{HEAD}{ARC130}"), "ssstats.csv").unwrap();
        let text = write(&[&matrices[0]], "a date");
        assert_eq!(text, format!("1\na date\n{}", ARC130.replace("0,1,0,0.7", "0,0,0,0.7")));
        assert_eq!(parse(&text, "ssstats.csv").unwrap(), matrices);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("", "ssstats.csv:1: this line must be the number of matrices, not ''"),
            ("<html>\n", "ssstats.csv:1: this line must be the number of matrices, not '<html>'"),
            (
                &format!("2\n\n{ARC130}"),
                "ssstats.csv:1: 2 matrices must follow, not 1; is the file incomplete?",
            ),
            (
                &format!("{HEAD}{}", ARC130.replace("1282", "-1")),
                "ssstats.csv:3: entries '-1' is not a number or is out of range",
            ),
            (
                &format!("{HEAD}{}", ARC130.replace("HB", "..")),
                "ssstats.csv:3: '../arc130' is not of the form GROUP/NAME",
            ),
        ] {
            assert_eq!(parse(text, "ssstats.csv").unwrap_err().to_string(), expected);
        }
        let short = parse(&format!("{HEAD}HB,arc130,130\n"), "ssstats.csv").unwrap_err();
        assert!(
            short.to_string().starts_with("ssstats.csv:3: 3 fields instead of 13: group, name")
        );
    }
}
