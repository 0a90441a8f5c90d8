//! Orders that other programs computed, read from files. There are two directions: `file:p.txt` lists the old row at
//! each new position, as MATLAB's `A(p,p)` and AMD's `P`; `inverse-file:g.iperm` lists the new position of each old
//! row, as METIS and SCOTCH write.

use std::io;
use std::path::Path;

use super::permutation::Permutation;
use crate::limited::read_text;

/// The beginning of each form of the name, and the extension of the files in a folder.
const FORMS: [(&str, &str); 2] = [("file:", "perm"), ("inverse-file:", "iperm")];

/// The largest file: comments, and a line of a label and a number, or a number in scientific notation, per row.
const LARGEST: u64 = 1 << 20;
const LARGEST_PER_ROW: u64 = 64;

/// A number of a file, with its line.
#[derive(Clone, Copy)]
struct Number {
    value: u32,
    line: u32,
}

/// The path of an order in a file or a folder, and the extension of the files in a folder.
type Parts<'a> = (&'a Path, &'static str);

/// Returns the parts of the name of an order in a file; `None` if it is another name.
pub fn parts(name: &str) -> Option<Parts<'_>> {
    let of_form = |(form, extension)| Some((Path::new(name.strip_prefix(form)?), extension));
    FORMS.into_iter().find_map(of_form).filter(|(path, _)| !path.as_os_str().is_empty())
}

/// Reads the permutation of a matrix from a file, or from that of the matrix in a folder.
pub fn read((path, extension): Parts, matrix: &str, rows: usize) -> Result<Permutation, String> {
    let file = match path.is_dir() {
        true => path.join(format!("{matrix}.{extension}")),
        false => path.to_owned(),
    };
    let read = read_file(&file, rows).map_err(|error| format!("{}{error}", file.display()))?;
    Ok(if extension == "iperm" { read.inverse() } else { read })
}

/// Reads a permutation. An error has no path, but the line.
fn read_file(path: &Path, rows: usize) -> Result<Permutation, String> {
    let most = LARGEST + LARGEST_PER_ROW * rows as u64;
    let text = text_of(path, most).map_err(|error| format!(": {error}"))?;
    let numbers = numbers(&text)?;
    match numbers.len() {
        count if count == rows => permutation(&numbers),
        count if count == 2 * rows + 1 && numbers[0].value as usize == rows => labelled(&numbers[1..]),
        count => Err(format!(
            ": it has {count} numbers, but the matrix has {rows} rows: it must have one per row, or as SCOTCH's, the \
             number of rows and then a row and a number per line"
        )),
    }
}

/// A pipe could block, and a second process could not read it again.
fn text_of(path: &Path, most: u64) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    read_text(path, most)
}

/// Returns the numbers between blanks or commas. The rest of a line after `%` or `#` is a comment.
fn numbers(text: &str) -> Result<Vec<Number>, String> {
    let mut numbers = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split(['%', '#']).next().unwrap_or("");
        let words = words.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            let value = number(word).ok_or_else(|| {
                format!(", line {line}: '{word}' is not the number of a row; comments begin with % or #")
            })?;
            numbers.push(Number { value, line });
        }
    }
    Ok(numbers)
}

/// Reads a whole number; also in the notation of MATLAB's `save -ascii` and numpy's `savetxt`, as `1.0e+00`.
fn number(word: &str) -> Option<u32> {
    let of_float = || {
        let number: f64 = word.parse().ok()?;
        let is_row = number.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&number);
        is_row.then_some(number as u32)
    };
    word.parse().ok().or_else(of_float)
}

/// Makes a permutation of numbers that count from 0 if one of them is 0, and from 1 otherwise.
fn permutation(numbers: &[Number]) -> Result<Permutation, String> {
    let rows = numbers.len();
    let zero = numbers.iter().find(|number| number.value == 0);
    let base = if zero.is_some() { 0 } else { 1 };
    let mut lines = vec![0; rows];
    for Number { value, line } in numbers {
        let Some(first) = lines.get_mut((value - base) as usize) else {
            let why = match zero {
                Some(zero) => {
                    format!("line {} has 0, so that the numbers are 0 to {}", zero.line, rows - 1)
                }
                None => format!("none is 0, so that the numbers are 1 to {rows}"),
            };
            return Err(format!(", line {line}: {value} is no row of {rows}: {why}"));
        };
        if *first > 0 {
            return Err(format!(", line {line}: {value} occurs again after line {first}; each row must occur once"));
        }
        *first = *line;
    }
    Ok(numbers.iter().map(|number| number.value - base).collect::<Vec<_>>().into())
}

/// Makes a permutation of pairs: a label, and the number of the row that has it.
fn labelled(pairs: &[Number]) -> Result<Permutation, String> {
    let column = |first| pairs.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    let labels = permutation(&column(0))?;
    let numbers = permutation(&column(1))?;
    Ok(labels.inverse().apply(numbers.old()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files for a matrix of three rows: all good ones contain the same order.
    #[test]
    fn orders_of_other_programs_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cant.perm");
        let read = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            read_file(&path, 3).map(|order| order.old().to_vec())
        };
        for text in [
            "2\n0\n1\n",
            "3 1 2",
            "3,1,2",
            "% 7\r\n 3\r\n\r\n1 # one\r\n2",
            "3\n1\t3\n3\t2\n2\t1\n",
            "3.0e+00\n1.0000000e+00 2.",
        ] {
            assert_eq!(read(text.as_bytes()), Ok(vec![2, 0, 1]), "{text}");
        }
        let three = ": it has 2 numbers, but the matrix has 3 rows";
        for (text, error) in [
            ("1\n2", three),
            ("", ": it has 0 numbers"),
            ("1 2 3 4", ": it has 4 numbers"),
            ("4\n1 1\n2 2\n3 3", ": it has 7 numbers"),
            ("1\n2\n2", ", line 3: 2 occurs again after line 2; each row must occur once"),
            ("1\n2\n4", ", line 3: 4 is no row of 3: none is 0, so that the numbers are 1 to 3"),
            ("1\n3\n0", ", line 2: 3 is no row of 3: line 3 has 0, so that the numbers are 0 to 2"),
            ("3\n1 1\n1 2\n2 3", ", line 3: 1 occurs again after line 2"),
            ("1 2\n-3", ", line 2: '-3' is not the number of a row"),
            ("1 2 4294967296", ", line 1: '4294967296' is not"),
            ("1 2 2.5", ", line 1: '2.5' is not"),
            ("1 2 nan", ", line 1: 'nan' is not"),
            ("%%MatrixMarket\nx", ", line 2: 'x' is not the number of a row; comments begin with % or #"),
            ("\u{fffd}", ", line 1: '\u{fffd}' is not"),
        ] {
            let found = read(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(error), "{text}: {found}");
        }
        assert!(read(b"1 2 3\xff").unwrap_err().contains("UTF-8"));
        assert!(read(&[b' '; 2 << 20]).unwrap_err().contains("more than"));
    }
}
