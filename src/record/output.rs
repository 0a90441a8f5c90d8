//! Where results go that are written whole: to stdout, to a pipe or device, or beside their place under a name that
//! nobody can foresee, which is renamed at the end. What is there already stays, unless it is to be replaced.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, PersistError};

use super::file::is_no_file;
use crate::cache::{PUBLIC, folder_of};

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the path, and what the system says
pub enum OutputError {
    #[error("{path} is there already: name another file, or replace it with --force")]
    Exists { path: PathBuf },
    #[error("{path} is a symbolic link to nothing: name another file, or remove it")]
    Dangling { path: PathBuf },
    #[error("cannot write {path}: {error}")]
    Failed { path: PathBuf, error: io::Error },
}

/// A place for results.
pub struct Output<'a> {
    to: To<'a>,
    path: PathBuf,
    force: bool,
    /// Whether anything was written.
    begun: bool,
}

enum To<'a> {
    Stdout(&'a mut dyn Write),
    Device(File),
    /// The file beside the path; `None` once it has its name.
    Beside(Option<NamedTempFile>),
}

/// Refuses a path that has something already, unless `force`. An empty file may be replaced: nothing is lost.
///
/// # Errors
/// What is there.
pub fn check(path: &Path, force: bool) -> Result<(), OutputError> {
    let path_of = || path.to_owned();
    match path.metadata() {
        Ok(there) if !there.is_file() || there.len() == 0 || force => Ok(()),
        Ok(_) => Err(OutputError::Exists { path: path_of() }),
        Err(_) if path.is_symlink() => Err(OutputError::Dangling { path: path_of() }),
        // Nothing is measured for a folder that is not there.
        Err(error) if !folder_of(path).is_dir() => {
            Err(OutputError::Failed { path: path_of(), error })
        }
        Err(_) => Ok(()),
    }
}

impl<'a> Output<'a> {
    /// The file of that name, or stdout.
    ///
    /// # Errors
    /// Those of [`check`], and when nothing can be written there.
    pub fn open(
        path: Option<&Path>,
        force: bool,
        stdout: &'a mut dyn Write,
    ) -> Result<Self, OutputError> {
        let Some(path) = path else {
            return Ok(Self { to: To::Stdout(stdout), path: PathBuf::new(), force, begun: false });
        };
        Self::file(path, force)
    }

    /// The file of that name.
    ///
    /// # Errors
    /// Those of [`check`], and when nothing can be written there.
    pub fn file(path: &Path, force: bool) -> Result<Self, OutputError> {
        check(path, force)?;
        let failed = |error| OutputError::Failed { path: path.to_owned(), error };
        let to = match is_no_file(path) {
            true => To::Device(OpenOptions::new().write(true).open(path).map_err(failed)?),
            false => To::Beside(Some(beside(path).map_err(failed)?)),
        };
        Ok(Self { to, path: path.to_owned(), force, begun: false })
    }

    /// Gives the file its name, when all is written.
    ///
    /// # Errors
    /// When the disk does not take it, or somebody else has made a file of that name meanwhile; then the file keeps
    /// the other name, which the error tells.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let finished = self.flush().and_then(|()| self.rename());
        finished.map_err(|error| OutputError::Failed { path: self.path.clone(), error })
    }

    /// Leaves the path as it was.
    pub fn discard(mut self) {
        if let To::Beside(beside) = &mut self.to {
            beside.take();
        }
    }

    fn rename(&mut self) -> io::Result<()> {
        let To::Beside(beside) = &mut self.to else { return Ok(()) };
        let Some(beside) = beside.take() else { return Ok(()) };
        beside.as_file().sync_data()?;
        let is_empty = self.path.metadata().is_ok_and(|there| there.len() == 0);
        let renamed = match self.force || is_empty {
            true => beside.persist(&self.path),
            false => beside.persist_noclobber(&self.path),
        };
        let Err(PersistError { error, file }) = renamed else { return Ok(()) };
        let (_, kept) = file.keep()?;
        Err(io::Error::new(
            error.kind(),
            format!("{error}; what was written is in {}", kept.display()),
        ))
    }
}

/// Writes a file whole, or leaves its place as it was.
///
/// # Errors
/// Those of [`Output`], and those of `write`.
pub fn write_whole<R>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<R>,
) -> Result<R, OutputError> {
    let mut output = Output::file(path, force)?;
    match write(&mut output) {
        Ok(written) => output.finish().map(|()| written),
        Err(error) => {
            output.discard();
            Err(OutputError::Failed { path: path.to_owned(), error })
        }
    }
}

fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(format!(".{}-", std::process::id()));
    let permissions = Permissions::from_mode(PUBLIC);
    Builder::new().prefix(&prefix).permissions(permissions).tempfile_in(folder_of(path))
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun = true;
        match &mut self.to {
            To::Stdout(to) => to.write(bytes),
            To::Device(to) => to.write(bytes),
            To::Beside(to) => to.as_mut().map_or(Ok(bytes.len()), |to| to.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(to) => to.flush(),
            To::Device(to) => to.flush(),
            To::Beside(to) => to.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

impl Drop for Output<'_> {
    /// A run that ends in an error leaves the results that it has; without any, the file that was there stays.
    fn drop(&mut self) {
        if self.begun {
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

    /// The names in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_there_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write(&path, false, "mine").unwrap();
        let refused = write(&path, false, "other").unwrap_err();
        assert!(
            refused
                .ends_with("a.csv is there already: name another file, or replace it with --force")
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        write(&path, true, "other").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
        fs::write(&path, "").unwrap();
        write(&path, false, "of an empty file").unwrap();
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), names(folder.path())),
            ("of an empty file".into(), vec!["a.csv".into()])
        );
    }

    #[test]
    fn nobody_reads_half_a_file_and_an_error_leaves_none() {
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
    fn a_folder_that_is_not_there_is_told_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let refused = check(&folder.path().join("absent/a.csv"), false).unwrap_err().to_string();
        assert!(refused.contains("absent/a.csv: No such file or directory"), "{refused}");
        check(Path::new("new.csv"), false).unwrap();
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let written = write_whole(&path, false, |out| {
            fs::write(&path, "theirs")?;
            out.write_all(b"ours")
        });
        let message = written.unwrap_err().to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        let (_, kept) = message.split_once("; what was written is in ").unwrap();
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
        assert_eq!(fs::read_to_string(&path).unwrap(), "so far", "nothing was written");
    }

    #[test]
    fn devices_and_stdout_take_all_and_links_to_nothing_none() {
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
            assert!(refused.contains("a.csv is a symbolic link to nothing: "), "{refused}");
        }
    }
}
