//! A result file to which rows are appended: all rows of a call or none, and on disk before the call returns.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::files::cells::to_csv;
use crate::files::whole::whole;
use spmv_matrix::cache::folder_of;

/// A CSV file that this process has locked to append rows.
pub struct RowFile {
    file: File,
    path: PathBuf,
    /// The offset of the end of the last complete row, in bytes.
    end: u64,
    /// Whether this process has created it. Then it is removed if it gets no rows, unless it is kept.
    is_new: bool,
}

/// Whether `path` is a pipe or a terminal, for example: rows can be written to it, but none can be read.
pub fn is_not_regular_file(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

impl RowFile {
    /// Opens and locks a file of rows `R`, or creates it. Its contents do not change until rows are appended.
    pub fn open<R: Serialize + Default>(path: &Path) -> Result<Self> {
        let mut rows = Self::replace(path)?;
        let mut text = Vec::new();
        rows.file.read_to_end(&mut text).map_err(closed(path))?;
        rows.end = whole::<R>(&text).map_err(|problem| {
            let path = path.display();
            anyhow!("{path}:{problem}: rows cannot be appended to this file; name another file")
        })?;
        Ok(rows)
    }

    /// Opens and locks a file, or creates it. The first rows that are added replace its contents.
    pub fn replace(path: &Path) -> Result<Self> {
        let alone = || anyhow!("{}: another process is writing to it", path.display());
        let (file, is_new) = locked(path)?.ok_or_else(alone)?;
        Ok(Self { file, path: path.to_owned(), end: 0, is_new })
    }

    /// Keeps the file even if it has no rows, as that of a shard without matrices.
    pub fn keep(mut self) {
        self.is_new = false;
    }

    /// Removes an incomplete last row.
    pub fn cut(&mut self) -> Result<()> {
        self.file.set_len(self.end).map_err(closed(&self.path))
    }

    /// Replaces the contents by these rows. Up to the end of this call, and if it fails, the file is as before.
    pub fn rewrite<R: Serialize>(&mut self, rows: &[R]) -> Result<()> {
        let text = if rows.is_empty() { Vec::new() } else { to_csv(rows, true)? };
        let path = self.path.canonicalize().map_err(closed(&self.path))?;
        self.file = replaced(&self.file, &path, &text).map_err(closed(&path))?;
        self.end = text.len() as u64;
        Ok(())
    }

    /// Removes an incomplete last row from a file that is not open, unless another process has locked it.
    pub fn repair<R: Serialize + Default>(path: &Path) -> Result<()> {
        let text = fs::read(path).map_err(closed(path))?;
        let is_torn = whole::<R>(&text).is_ok_and(|end| end < text.len() as u64);
        if !is_torn || locked(path)?.is_none() {
            return Ok(());
        }
        Self::open::<R>(path)?.cut()
    }

    /// Returns whether the file has no complete row and no header.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Appends rows, all of them or none, and waits until they are on disk.
    pub fn add<R: Serialize>(&mut self, rows: &[R]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let text = to_csv(rows, self.is_empty())?;
        self.cut()?;
        let place = self.file.seek(SeekFrom::Start(self.end));
        let written = place.and_then(|_| self.file.write_all(&text));
        if let Err(error) = written.and_then(|()| self.file.sync_data()) {
            // An incomplete row is removed now or, if that fails, before rows are appended the next time.
            let _ = self.cut();
            let cure = "; the rows in it are complete: free disk space, then resume";
            let cure = if self.is_empty() { "" } else { cure };
            bail!("cannot write {}: {error}{cure}", self.path.display());
        }
        self.end += text.len() as u64;
        Ok(())
    }
}

fn closed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |error| anyhow!("cannot open {} for results: {error}", path.display())
}

impl Drop for RowFile {
    /// Removes the file if a run could not begin, so that it has no rows.
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        if self.is_new && is_empty && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Replaces the locked file `old` at `path` by another with this text, which is locked from the beginning.
fn replaced(old: &File, path: &Path, text: &[u8]) -> io::Result<File> {
    let mut file = NamedTempFile::new_in(folder_of(path))?;
    file.as_file().set_permissions(old.metadata()?.permissions())?;
    let _ = file.as_file().try_lock();
    file.write_all(text)?;
    file.as_file().sync_data()?;
    Ok(file.persist(path)?)
}

fn is_at(file: &File, path: &Path) -> bool {
    let number = |file: Metadata| (file.dev(), file.ino());
    path.metadata().map(number).ok() == file.metadata().map(number).ok()
}

/// Opens and locks a file, or creates it, unless another process has locked it. Returns whether it was created.
fn locked(path: &Path) -> Result<Option<(File, bool)>> {
    loop {
        let (file, is_new) = opened(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => dangling(path),
            _ => closed(path)(error),
        })?;
        // Some network file systems have no locks. Then the user must avoid concurrent writers.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(None);
        }
        // The process that had created it may have removed it before it was locked here.
        if is_at(&file, path) || file.metadata().is_ok_and(|file| file.nlink() > 0) {
            return Ok(Some((file, is_new)));
        }
    }
}

/// Opens a file, or creates it only if the path does not exist: a symbolic link without a target may be an attempt of
/// another user to redirect the output.
fn opened(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return Ok((opened?, false)),
    }
    match options.create_new(true).open(path) {
        // Another process may have created it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok((options.create_new(false).open(path)?, false))
        }
        created => Ok((created?, true)),
    }
}

pub(super) fn dangling(path: &Path) -> Error {
    anyhow!(
        "{} is a symbolic link whose target does not exist: name another file, or remove the link",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::foreign::MARK;
    use crate::files::whole::complete_rows;

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

    /// A file that is truncated anywhere keeps the complete rows, and after appending the others it is as before.
    #[test]
    fn a_file_truncated_anywhere_can_be_continued() {
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
            assert_eq!(fs::read(&path).unwrap(), &text[..cut], "opening changes nothing");
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

    /// Another user may have created the link. A link to an existing file is treated like the file.
    #[test]
    fn no_file_is_created_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["rows.csv", "target"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for opened in [RowFile::open::<Named>(&link), RowFile::replace(&link)] {
            let message = opened.err().unwrap().to_string();
            assert!(message.contains("rows.csv is a symbolic link whose target does not exist: "));
        }
        assert!(!target.exists());
        fs::write(&target, "").unwrap();
        RowFile::open::<Named>(&link).unwrap();
    }

    /// A file that does not contain rows of this program, or has other columns, is not changed.
    #[test]
    fn files_with_other_contents_are_refused_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.csv");
        for (text, expected) in [
            ("notes", "1: its columns are not those of result rows"),
            ("name,number\na,1", "1: its columns are not those of result rows"),
            ("name,number,value\na,1,\nb,2\nc,3,", "3: 2 cells instead of 3"),
            ("name,number,value\na,1,\r\nb,2,\r\n", "2: a line end that is not a single line feed"),
            (
                "name,number,value\r\na,1,\r\n",
                "1: its lines end with CR LF: convert them to LF, as by sed -i 's/\\r$//'",
            ),
            (
                "\"file\",method_name,avg_spmv_ms,run_id\n",
                "1: its columns are those of another version, or in quotes or another order",
            ),
            (
                "file;method_name;avg_spmv_ms;run_id\n",
                "1: its columns are separated by semicolons: save it with commas",
            ),
            ("name,number,value\na,1,\n\"b,2,\nc,3,\n", "3: a quote that is not closed"),
        ] {
            fs::write(&path, text).unwrap();
            let message = RowFile::open::<Named>(&path).err().unwrap().to_string();
            assert!(message.contains(&format!("notes.csv:{expected}: rows cannot be")), "{message}");
            RowFile::repair::<Named>(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    /// A run that cannot begin leaves no file behind.
    #[test]
    fn a_new_file_without_rows_is_removed_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let open = || RowFile::open::<Named>(&path).unwrap();
        drop(open());
        assert!(!path.exists());
        open().add(&ROWS).unwrap();
        let rows = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        open().keep();
        drop(open());
        assert_eq!(fs::read(&path).unwrap(), b"", "it was there before");
        // An editor may put a mark at the beginning.
        fs::write(&path, [MARK, &rows, b"d,4"].concat()).unwrap();
        open().add(&ROWS[..1]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("\u{feff}name,") && text.ends_with("\nc,333,-1.0\na b,1,0.5\n"), "{text}");
        assert_eq!(complete_rows::<Named>(&path).unwrap(), &text.as_bytes()[MARK.len()..]);
    }

    /// Another process may still be writing the row. A file without an incomplete row may be read-only.
    #[test]
    fn an_incomplete_row_is_removed_unless_the_file_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let (whole, torn) = ("name,number,value\na,1,\n", "name,number,value\na,1,\nb,2");
        fs::write(&path, torn).unwrap();
        let writing = fs::File::open(&path).unwrap();
        writing.lock().unwrap();
        RowFile::repair::<Named>(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), torn);
        drop(writing);
        RowFile::repair::<Named>(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
}
