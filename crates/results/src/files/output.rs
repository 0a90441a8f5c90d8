//! The output of results that are written as a whole: to stdout, to a pipe or device, or to a temporary file with an
//! unpredictable name in the folder of the output file, which is renamed at the end. An existing file is replaced only
//! on request.

use std::ffi::OsStr;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail, ensure};
use tempfile::{Builder, NamedTempFile, PersistError};

use crate::files::rows::{dangling, is_not_regular_file};
use spmv_matrix::cache::{PUBLIC, folder_of};
use spmv_matrix::system::longest_name;

/// The bytes of what is appended to the name of a temporary file: a process, whose number has up to seven digits, and
/// six random letters.
const MOST_APPENDED: usize = ".4194304-".len() + 6;

pub struct Output<'a> {
    to: To<'a>,
    path: PathBuf,
    force: bool,
    /// Whether there is anything to keep: something was written, and no write has failed.
    has_results: bool,
    /// Whether a part of the results is of no use.
    is_whole: bool,
}

enum To<'a> {
    /// Stdout, a pipe or a device.
    Stream(Box<dyn Write + 'a>),
    /// The temporary file in the folder of the path; `None` after it was renamed.
    Temporary(Option<NamedTempFile>),
}

/// Checks that `path` can be written: that it does not exist, is empty, is not a regular file, or `force` is set.
pub fn check(path: &Path, force: bool) -> Result<()> {
    check_name(path)?;
    match path.metadata() {
        Ok(there) if !there.is_file() || there.len() == 0 || force => Ok(()),
        Ok(_) => bail!("{} already exists: name another file, or replace it with --force", path.display()),
        Err(_) if path.is_symlink() => Err(dangling(path)),
        // A missing folder is an error before anything is measured.
        Err(error) if !folder_of(path).is_dir() => {
            Err(failed(path)(error).context(format!("there is no folder {}", folder_of(path).display())))
        }
        Err(_) => Ok(()),
    }
}

/// Checks that the file system allows the name of a file, also with what is appended to it until it is complete.
pub fn check_name(path: &Path) -> Result<()> {
    let bytes = path.file_name().map_or(0, OsStr::len);
    let most = longest_name(folder_of(path));
    ensure!(
        bytes + MOST_APPENDED <= most || is_not_regular_file(path),
        "a file name of {bytes} bytes is too long: names have up to {most} bytes here, and {MOST_APPENDED} are appended \
         until the file is complete; choose a shorter one than {}",
        path.display()
    );
    Ok(())
}

/// Names the file in an error that does not name it yet.
pub fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| {
        let (what, error) = (format!("cannot write {}", path.display()), error.to_string());
        if error.starts_with(&what) { anyhow!(error) } else { anyhow!("{what}: {error}") }
    }
}

impl<'a> Output<'a> {
    pub fn open(path: Option<&Path>, force: bool, stdout: &'a mut dyn Write) -> Result<Self> {
        path.map_or_else(|| Ok(Self::stdout(stdout)), |path| Self::file(path, force))
    }

    pub fn stdout(stdout: &'a mut dyn Write) -> Self {
        let to = To::Stream(Box::new(stdout));
        Self { to, path: "stdout".into(), force: false, has_results: false, is_whole: false }
    }

    pub fn file(path: &Path, force: bool) -> Result<Self> {
        check(path, force)?;
        let to = if is_not_regular_file(path) {
            let file = OpenOptions::new().write(true).open(path).map_err(failed(path))?;
            To::Stream(Box::new(file))
        } else {
            To::Temporary(Some(temporary_file(path).map_err(failed(path))?))
        };
        Ok(Self { to, path: path.to_owned(), force, has_results: false, is_whole: false })
    }

    /// Opens a file of which nothing is kept unless it is finished.
    pub fn whole(path: &Path, force: bool) -> Result<Self> {
        let mut output = Self::file(path, force)?;
        output.is_whole = true;
        Ok(output)
    }

    /// Renames the temporary file to the output file, after everything was written. If that fails, for example because
    /// a file of that name was created meanwhile, the temporary file is not removed, and the error gives its name. If
    /// nothing was written, as by a run that was interrupted, there is no output file, and an earlier one is not
    /// changed.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.flush();
        let is_renamed = self.has_results;
        let finished = flushed.and_then(|()| if is_renamed { self.rename() } else { Ok(()) });
        finished.map_err(failed(&self.path))
    }

    fn named(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), failed(&self.path)(error))
    }

    fn rename(&mut self) -> io::Result<()> {
        let To::Temporary(temporary) = &mut self.to else { return Ok(()) };
        let Some(temporary) = temporary.take() else { return Ok(()) };
        temporary.as_file().sync_data()?;
        let is_empty = self.path.metadata().is_ok_and(|there| there.len() == 0);
        let renamed = if self.force || is_empty {
            temporary.persist(&self.path)
        } else {
            temporary.persist_noclobber(&self.path)
        };
        let Err(PersistError { error, file }) = renamed else { return Ok(()) };
        let (_, kept) = file.keep()?;
        Err(io::Error::new(error.kind(), format!("{error}; the results are in {}", kept.display())))
    }
}

/// Writes a complete file, or leaves the path unchanged if `write` fails.
pub fn write_whole<R>(path: &Path, force: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<R>) -> Result<R> {
    let mut output = Output::whole(path, force)?;
    let written = write(&mut output).map_err(failed(path))?;
    output.finish().map(|()| written)
}

fn temporary_file(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(format!(".{}-", std::process::id()));
    let permissions = Permissions::from_mode(PUBLIC);
    Builder::new().prefix(&prefix).permissions(permissions).tempfile_in(folder_of(path))
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Stream(to) => to.write(bytes),
            To::Temporary(to) => to.as_mut().map_or(Ok(bytes.len()), |to| to.as_file_mut().write(bytes)),
        };
        match (&written, &mut self.to) {
            (Ok(count), _) => self.has_results |= *count > 0,
            // An incomplete file must not replace a complete one.
            (Err(_), To::Temporary(file)) => *file = None,
            (Err(_), To::Stream(_)) => (),
        }
        written.map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.to {
            To::Stream(to) => to.flush(),
            To::Temporary(to) => to.as_mut().map_or(Ok(()), Write::flush),
        };
        flushed.map_err(|error| self.named(error))
    }
}

impl Drop for Output<'_> {
    /// Keeps the results so far of a run that ends with an error. Without results, an existing file is not changed.
    fn drop(&mut self) {
        if self.has_results && !self.is_whole {
            let _ = self.rename();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, force: bool, text: &str) -> Result<(), String> {
        let written = write_whole(path, force, |out| out.write_all(text.as_bytes()));
        written.map_err(|error| error.to_string())
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write(&path, false, "mine").unwrap();
        let refused = write(&path, false, "other").unwrap_err();
        let advice = "name another file, or replace it with --force";
        assert!(refused.ends_with(&format!("a.csv already exists: {advice}")), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        write(&path, true, "other").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
        fs::write(&path, "").unwrap();
        write(&path, false, "of an empty file").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "of an empty file");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn no_incomplete_file_is_visible_and_an_error_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let failed = write_whole(&path, false, |out| {
            out.write_all(b"half")?;
            assert!(!path.exists());
            Err::<(), _>(io::Error::other("no room"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("a.csv: no room"));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_file_that_is_created_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let written = write_whole(&path, false, |out| {
            fs::write(&path, "theirs")?;
            out.write_all(b"ours")
        });
        let message = written.unwrap_err().to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        let (_, kept) = message.split_once("; the results are in ").unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "ours");
    }

    #[test]
    fn results_of_a_run_that_ends_early_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let mut output = Output::file(&path, false).unwrap();
        output.write_all(b"so far").unwrap();
        drop(output);
        assert_eq!(fs::read_to_string(&path).unwrap(), "so far");
        drop(Output::file(&path, true).unwrap());
        Output::file(&path, true).unwrap().finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "so far", "nothing was written");
    }

    #[test]
    fn devices_and_stdout_are_written_and_links_without_target_are_refused() {
        write("/dev/null".as_ref(), false, "gone").unwrap();
        let mut stdout = Vec::new();
        let mut output = Output::open(None, false, &mut stdout).unwrap();
        output.write_all(b"shown").unwrap();
        output.finish().unwrap();
        assert_eq!(stdout, b"shown");
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("a.csv");
        std::os::unix::fs::symlink(folder.path().join("target"), &link).unwrap();
        for force in [false, true] {
            let refused = write(&link, force, "").unwrap_err();
            assert!(refused.contains("a.csv is a symbolic link whose target does not exist: "));
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let most = longest_name(folder.path());
        for bytes in [most - MOST_APPENDED, most - MOST_APPENDED + 1, most + 1] {
            let path = folder.path().join("a".repeat(bytes));
            let written = write(&path, false, "text");
            if bytes + MOST_APPENDED <= most {
                written.unwrap();
                fs::remove_file(&path).unwrap();
            } else {
                let error = written.unwrap_err();
                let begin = format!("a file name of {bytes} bytes is too long: names have up to {most} ");
                assert!(error.starts_with(&begin), "{error}");
            }
            assert!(names(folder.path()).is_empty());
        }
    }
}
