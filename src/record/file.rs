//! A result file that rows are added to, all rows of a call or none, on disk before the next.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cells::to_csv;

/// A CSV file open for adding rows, by this process alone.
pub struct RowFile {
    file: File,
    path: PathBuf,
    /// Bytes up to the end of the last whole row.
    end: u64,
}

/// Whether results go to something that is there and no file, such as a pipe or a terminal: it takes rows,
/// and has none.
pub fn is_no_file(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Why rows cannot be added.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the path, and what the system says
pub enum RowFileError {
    #[error("cannot open {path} for results: {error}")]
    Closed { path: PathBuf, error: io::Error },
    #[error("{path} is a symbolic link to nothing: name another file, or remove it")]
    Dangling { path: PathBuf },
    #[error("{path}: another process is writing to it")]
    Taken { path: PathBuf },
    #[error("{path}:{line}: {what}: rows cannot be added to it; name another file")]
    Foreign { path: PathBuf, line: u64, what: String },
    #[error("cannot write {path}: {error}; what it has is whole: make room, and go on")]
    Full { path: PathBuf, error: io::Error },
}

impl RowFile {
    /// Opens a file of rows `R`, or makes it; what it has is as it was until rows are added. Two processes
    /// cannot have the same file open.
    ///
    /// # Errors
    /// When it cannot be opened, another process has it, or it has something else than rows.
    pub fn open<R: Serialize + Default>(path: &Path) -> Result<Self, RowFileError> {
        let mut file = alone(path)?;
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(|error| RowFileError::Closed { path: path.to_owned(), error })?;
        let foreign = |Foreign { line, what }| {
            let path = path.to_owned();
            RowFileError::Foreign { path, line, what }
        };
        let end = whole::<R>(&text).map_err(foreign)?;
        Ok(Self { file, path: path.to_owned(), end })
    }

    /// Opens a file, or makes it; all that it has is gone with the first rows that are added.
    ///
    /// # Errors
    /// When it cannot be opened, or another process has it.
    pub fn replace(path: &Path) -> Result<Self, RowFileError> {
        Ok(Self { file: alone(path)?, path: path.to_owned(), end: 0 })
    }

    /// Cuts off a last row that was not written to its end.
    ///
    /// # Errors
    /// When the file cannot be cut.
    pub fn cut(&mut self) -> Result<(), RowFileError> {
        let cut = self.file.set_len(self.end);
        cut.map_err(|error| RowFileError::Closed { path: self.path.clone(), error })
    }

    /// The same for a file that is not open, unless another process is at it.
    ///
    /// # Errors
    /// When the file cannot be read, or has such a row and cannot be written.
    pub fn mend<R: Serialize + Default>(path: &Path) -> Result<(), RowFileError> {
        let text = std::fs::read(path);
        let text = text.map_err(|error| RowFileError::Closed { path: path.to_owned(), error })?;
        if !whole::<R>(&text).is_ok_and(|end| end < text.len() as u64) {
            return Ok(());
        }
        match Self::open::<R>(path) {
            Err(RowFileError::Taken { .. }) => Ok(()),
            opened => opened?.cut(),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Adds rows, all of them or none, and waits until they are on the disk.
    ///
    /// # Errors
    /// When the file does not take them.
    pub fn add<R: Serialize>(&mut self, rows: &[R]) -> Result<(), RowFileError> {
        if rows.is_empty() {
            return Ok(());
        }
        let text = to_csv(rows, self.is_empty()).map_err(io::Error::from);
        let text = text.map_err(|error| RowFileError::Full { path: self.path.clone(), error })?;
        self.cut()?;
        let place = self.file.seek(SeekFrom::Start(self.end));
        let written = place.and_then(|_| self.file.write_all(&text));
        if let Err(error) = written.and_then(|()| self.file.sync_data()) {
            // Half a row is cut off now or by the next who adds to the file.
            let _ = self.cut();
            return Err(RowFileError::Full { path: self.path.clone(), error });
        }
        self.end += text.len() as u64;
        Ok(())
    }
}

/// A file open for this process alone, or made, with what it has. It is made only where nothing is: a
/// link to nothing may have been put there by somebody else.
fn alone(path: &Path) -> Result<File, RowFileError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let opened = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            options.create_new(true).open(path).or_else(|error| match error.kind() {
                // Another process may have made it meanwhile.
                io::ErrorKind::AlreadyExists => options.create_new(false).open(path),
                _ => Err(error),
            })
        }
        opened => opened,
    };
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            RowFileError::Dangling { path: path.to_owned() }
        }
        _ => RowFileError::Closed { path: path.to_owned(), error },
    })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RowFileError::Taken { path: path.to_owned() }),
        // Some network file systems have no locks; then it is the user who takes care.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// What a file of rows `R` has, without a last row that was not written to its end; all of it if it is not
/// of such rows only.
///
/// # Errors
/// When it cannot be read.
pub fn whole_rows<R: Serialize + Default>(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = std::fs::read(path)?;
    if let Ok(end) = whole::<R>(&text) {
        text.truncate(end as usize);
    }
    Ok(text)
}

/// The first line that is not of rows, from 1, and what it has.
struct Foreign {
    line: u64,
    what: String,
}

/// The bytes of CSV text up to the end of the last whole row. A row may have line breaks in its cells, so
/// that the last line break does not tell; it is whole when it ends in one and has as many cells as the
/// header. Only the last may be less: elsewhere the text is not of this program.
fn whole<R: Serialize + Default>(text: &[u8]) -> Result<u64, Foreign> {
    let header = to_csv(&[R::default()], true).expect("memory takes rows");
    let header = &header[..=header.iter().position(|&byte| byte == b'\n').expect("a header")];
    if header.starts_with(text) {
        return Ok(if text == header { text.len() as u64 } else { 0 });
    }
    if !text.starts_with(header) {
        return Err(Foreign { line: 1, what: "other columns than rows have".into() });
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let (mut record, mut end, mut cells) = (csv::ByteRecord::new(), 0, None);
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        let next = reader.position().byte();
        let (found, needed) = (record.len(), *cells.get_or_insert(record.len()));
        let has_end = text[..next as usize].ends_with(b"\n");
        if found == needed && has_end {
            end = next;
            continue;
        }
        let what = if next == text.len() as u64 {
            if !has_rows(&text[end as usize..], needed) {
                break;
            }
            "a quote that is not closed".into()
        } else if has_end {
            format!("{found} cells, not {needed}")
        } else {
            "a line end of another kind".into()
        };
        let line = record.position().map_or(0, csv::Position::line);
        return Err(Foreign { line, what });
    }
    Ok(end)
}

/// Whether text that is no row has lines that are, of so many cells.
fn has_rows(text: &[u8], cells: usize) -> bool {
    let lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let mut rows = lines.flat_map(|line| {
        let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line);
        reader.into_byte_records().flatten()
    });
    rows.any(|row| row.len() == cells)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Default, Serialize)]
    struct Named {
        name: &'static str,
        number: u32,
        value: Option<f64>,
    }

    const ROWS: [Named; 3] = [
        Named { name: "a b", number: 1, value: Some(0.5) },
        Named { name: "new\nline, \"quoted\"\n", number: 22, value: None },
        Named { name: "c", number: 333, value: Some(-1.0) },
    ];

    /// Cut anywhere, it keeps the rows before the cut, and added again they are as they were.
    #[test]
    fn a_file_cut_anywhere_goes_on_as_if_it_had_not_been() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let mut file = RowFile::open::<Named>(&path).unwrap();
        let mut ends = vec![0];
        for row in &ROWS {
            file.add(&[row]).unwrap();
            ends.push(fs::metadata(&path).unwrap().len());
        }
        drop(file);
        let text = fs::read(&path).unwrap();
        let header = text.iter().position(|&byte| byte == b'\n').unwrap() as u64 + 1;
        for cut in 0..=text.len() {
            fs::write(&path, &text[..cut]).unwrap();
            let mut file = RowFile::open::<Named>(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), &text[..cut], "nothing is lost by opening it");
            file.cut().unwrap();
            let cut = cut as u64;
            let kept = ends.iter().rposition(|&end| end <= cut).unwrap();
            let expected = if kept == 0 && cut >= header { header } else { ends[kept] };
            assert_eq!(fs::metadata(&path).unwrap().len(), expected, "cut at {cut}");
            file.add(&ROWS[kept..]).unwrap();
            drop(file);
            assert_eq!(fs::read(&path).unwrap(), text, "cut at {cut}");
        }
    }

    #[test]
    fn a_file_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let first = RowFile::open::<Named>(&path).unwrap();
        let message = RowFile::open::<Named>(&path).err().unwrap().to_string();
        assert!(message.ends_with("rows.csv: another process is writing to it"), "{message}");
        drop(first);
        RowFile::open::<Named>(&path).unwrap();
    }

    /// Somebody else may have put it there; a link to a file is as good as the file.
    #[test]
    fn no_file_is_made_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["rows.csv", "target"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for opened in [RowFile::open::<Named>(&link), RowFile::replace(&link)] {
            let message = opened.err().unwrap().to_string();
            assert!(message.contains("rows.csv is a symbolic link to nothing: "), "{message}");
        }
        assert!(!target.exists());
        fs::write(&target, "").unwrap();
        RowFile::open::<Named>(&link).unwrap();
    }

    /// What is not ours stays as it is; what is, in spite of later columns, is only read.
    #[test]
    fn files_of_others_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.csv");
        for (text, expected) in [
            ("notes", ":1: other columns than rows have: "),
            ("name,number\na,1", ":1: other columns than rows have: "),
            ("name,number,value\na,1,\nb,2\nc,3,", ":3: 2 cells, not 3: "),
            ("name,number,value\na,1,\r\nb,2,\r\n", ":2: a line end of another kind: "),
            ("name,number,value\na,1,\n\"b,2,\nc,3,\n", ":3: a quote that is not closed: "),
        ] {
            fs::write(&path, text).unwrap();
            let message = RowFile::open::<Named>(&path).err().unwrap().to_string();
            assert!(message.contains(expected), "{message}");
            RowFile::mend::<Named>(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    /// Another process may be writing, and a file that needs no mending may be read-only.
    #[test]
    fn mending_cuts_off_what_is_torn_unless_it_is_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let (whole, torn) = ("name,number,value\na,1,\n", "name,number,value\na,1,\nb,2");
        fs::write(&path, torn).unwrap();
        let writing = fs::File::open(&path).unwrap();
        writing.lock().unwrap();
        RowFile::mend::<Named>(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), torn);
        drop(writing);
        RowFile::mend::<Named>(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
}
