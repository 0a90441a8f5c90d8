//! The on-disk cache for results that take long to compute: compiled kernels, machine profiles, the index of
//! the collection, and parsed matrices. Entries are private to the user who created them, except in folders
//! that are explicitly shared.

use std::fmt;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::signal::kill;
use nix::unistd::{Pid, geteuid};
use sha2::{Digest, Sha256};
use tempfile::{Builder, NamedTempFile};

const CHECKSUM: usize = 32;

/// A folder of cache entries. A failure of the cache is not an error, because it only costs time.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    folder: Option<PathBuf>,
    /// Whether entries of other users are used, and other users can read the entries of this user.
    shared: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The entries with their sizes in bytes.
    pub entries: Vec<(PathBuf, u64)>,
    /// The unfinished files of processes that have ended, with their sizes in bytes.
    pub left_over: Vec<(PathBuf, u64)>,
    /// The number of other files and folders, which do not belong to the cache.
    pub others: usize,
}

/// The key of an entry: a hash of everything on which its contents depend.
#[derive(Clone)]
pub struct Key(Sha256);

impl Key {
    /// Creates the key of these texts. Their order matters.
    pub fn of<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(Sha256::new()).and(texts)
    }

    pub fn and<T: AsRef<[u8]>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        for text in texts {
            let text = text.as_ref();
            // The length distinguishes "ab", "c" from "a", "bc".
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self
    }

    fn file_name(&self) -> String {
        hex(self.0.clone())
    }
}

/// The variable of the environment that names the folder of all caches.
pub const VARIABLE: &str = "SPMV_BENCH_CACHE";

/// Returns the folder of the user's caches; `None` if there is none.
pub fn of_user() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    let usual = || dirs::cache_dir().map(|caches| caches.join("spmv-bench"));
    named.map(PathBuf::from).or_else(usual)
}

impl fmt::Display for CacheFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => folder.display().fmt(f),
            None => write!(f, "no folder"),
        }
    }
}

impl CacheFolder {
    /// Returns the user's cache for entries of a kind: the folder `kind` in `SPMV_BENCH_CACHE`, or else in
    /// `spmv-bench` in the user's cache folder (by default `~/.cache`).
    pub fn of_user(kind: &str) -> Self {
        Self { folder: of_user().map(|folder| folder.join(kind)), shared: false }
    }

    /// Returns the cache in `folder` for entries that are private to this user.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: false }
    }

    /// Returns the cache in `folder` for entries that several users share. The caller must trust every user
    /// who can write to the folder.
    pub fn shared(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), shared: true }
    }

    /// Returns the path of the entry of `key`, which need not exist; `None` if there is no cache folder.
    pub fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.file_name()))
    }

    pub fn contents(&self) -> io::Result<Contents> {
        let mut contents = Contents::default();
        let entries = match self.folder.as_ref().map(fs::read_dir) {
            Some(Ok(entries)) => entries,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(contents),
        };
        for entry in entries {
            let entry = entry?;
            let metadata = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata?,
            };
            let (file, is_file) = ((entry.path(), metadata.len()), metadata.is_file());
            match Name::of(&entry.file_name().to_string_lossy()) {
                Name::Entry if is_file => contents.entries.push(file),
                name @ Name::Partial(_) if is_file => {
                    contents.left_over.extend(name.is_left_over().then_some(file));
                }
                _ => contents.others += 1,
            }
        }
        Ok(contents)
    }

    /// Returns the entry of `key`. If it is absent or damaged, `make` is called and its result is stored.
    pub fn get_or<E>(&self, key: &Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        if let Some((entry, _)) = self.get(key) {
            return Ok(entry);
        }
        let entry = make()?;
        self.put(key, &entry);
        Ok(entry)
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the entry of `key` and its age. Returns `None` if it is absent, damaged or not trusted.
    pub fn get(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        let path = self.path(key)?;
        let file = if self.shared { File::open(path).ok()? } else { open_own(&path).ok()? };
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        Some((read(file)?, age))
    }

    /// Stores the entry of `key`. Failures are ignored, because the next run then only takes longer.
    pub fn put(&self, key: &Key, entry: &[u8]) {
        let _ = self.store(key, entry);
    }

    /// Stores the entry of `key`.
    pub fn store(&self, key: &Key, entry: &[u8]) -> io::Result<()> {
        let missing = || io::Error::other(format!("neither {VARIABLE} nor HOME is set"));
        let path = self.path(key).ok_or_else(missing)?;
        let write = |file: &mut File| {
            file.write_all(&Sha256::digest(entry))?;
            file.write_all(entry)
        };
        if self.shared { replace(&path, write) } else { replace_private(&path, write) }
    }
}

pub fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads an entry and verifies the checksum that precedes it in the file.
fn read(mut file: File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (checksum, entry) = bytes.split_at_checked(CHECKSUM)?;
    (Sha256::digest(entry)[..] == *checksum).then(|| entry.to_vec())
}

// Atomic replacement of files, and access to files that only the user can have written. These functions are safe even
// if other users can write to the same folder.

/// The permissions of a file for all users, before the umask of the process is applied.
pub const PUBLIC: u32 = 0o666;
const PRIVATE: u32 = 0o600;
/// The permission bits that allow the group and other users to write.
const OTHERS_WRITE: u32 = 0o022;
/// The number of digits of the name of an entry, which is a SHA-256.
const NAME_DIGITS: usize = 64;

/// The reason why a file is not used, as in `belongs to another user`: another user may have written it, or it cannot
/// be opened. `None` if it does not exist.
pub type Unusable = Option<&'static str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Entry,
    /// An entry that the process with this number is writing or has left unfinished.
    Partial(i32),
    Other,
}

impl Name {
    /// Classifies a file name. Names of unfinished files are `ENTRY.PROCESS-LETTERS`, as created by
    /// [`replace_private`].
    fn of(name: &str) -> Self {
        let (entry, rest) = name.split_once('.').unwrap_or((name, ""));
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if entry.len() != NAME_DIGITS || !entry.bytes().all(digit) {
            return Self::Other;
        }
        let partial = rest.split_once('-').and_then(|(process, letters)| {
            let fits = !letters.is_empty() && letters.bytes().all(|c| c.is_ascii_alphanumeric());
            process.parse().ok().filter(|&process: &i32| fits && process > 0)
        });
        match partial {
            Some(process) => Self::Partial(process),
            None if name == entry => Self::Entry,
            None => Self::Other,
        }
    }

    /// Returns whether this is an unfinished file whose process has ended.
    fn is_left_over(self) -> bool {
        matches!(self, Self::Partial(process) if kill(Pid::from_raw(process), None) == Err(Errno::ESRCH))
    }
}

/// Replaces a file atomically: writes a temporary file with a random name in the same folder, waits until it is
/// on the disk, and renames it to `path`. Other processes never see a partial file. A link at `path` is
/// replaced, not followed.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    in_folder(folder_of(path), || replaced(path, PUBLIC, write))
}

/// Creates a folder, unless it exists, for `work`. If that fails, removes the new folders that are empty.
pub fn in_folder<R>(folder: &Path, work: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let new: Vec<_> = folder.ancestors().take_while(is_missing).collect();
    let done = fs::create_dir_all(folder).and_then(|()| work());
    done.inspect_err(|_| new.iter().for_each(|folder| drop(fs::remove_dir(folder))))
}

/// Replaces a file like [`replace`], with permissions for its owner only. Missing folders are created with
/// permissions for their owner only.
pub fn replace_private(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    create_private_folder(folder_of(path))?;
    replaced(path, PRIVATE, write)
}

fn replaced(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    ready(path, mode, write)?.persist(path)?;
    Ok(())
}

/// Writes the temporary file for [`replace`], with these permissions, and waits until it is on the disk.
pub fn ready(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(format!(".{}-", std::process::id()));
    let permissions = Permissions::from_mode(mode);
    let mut file = Builder::new().prefix(&prefix).permissions(permissions).tempfile_in(folder)?;
    write(file.as_file_mut())?;
    file.as_file().sync_data()?;
    Ok(file)
}

pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns the folder that contains a path; `.` if the path has no folder.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a file for reading if only the user can have written it: it must be a regular file and not a link,
/// belong to the effective user, and not be writable by other users.
pub fn open_own(path: &Path) -> Result<File, Unusable> {
    let mut options = File::options();
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    options.read(true).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    let file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => None,
        _ if path.is_symlink() => Some("is a symbolic link"),
        _ => Some("cannot be opened"),
    })?;
    let metadata = file.metadata().map_err(|_| Some("cannot be opened"))?;
    if !metadata.is_file() {
        return Err(Some("is not a regular file"));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(Some("belongs to another user"));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(Some("can be written by other users"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_names_in_the_form_of_the_cache_are_entries() {
        let entry = "0123456789abcdef".repeat(4);
        assert_eq!(Name::of(&entry), Name::Entry);
        assert_eq!(Name::of(&format!("{entry}.12-aZ9")), Name::Partial(12));
        for name in ["", "thesis.mtx", &entry[1..], &entry.to_uppercase()] {
            assert_eq!(Name::of(name), Name::Other, "{name}");
        }
        for end in ["0", ".mtx", ".", ".12-", ".0-a", ".-1-a", ".12-a.b", ".99999999999-a"] {
            assert_eq!(Name::of(&format!("{entry}{end}")), Name::Other, "{end}");
        }
    }

    #[test]
    fn a_partial_file_is_left_over_when_its_process_has_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        let ended = i32::try_from(child.id()).unwrap();
        child.wait().unwrap();
        assert!(Name::Partial(ended).is_left_over());
        let running = i32::try_from(std::process::id()).unwrap();
        // The process with number 1 usually belongs to another user.
        for name in [Name::Partial(running), Name::Partial(1), Name::Entry, Name::Other] {
            assert!(!name.is_left_over(), "{name:?}");
        }
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (link, victim) = (dir.path().join("a.json"), dir.path().join("victim"));
        for private in [false, true] {
            let _ = fs::remove_file(&link);
            symlink(&victim, &link).unwrap();
            let write = |file: &mut File| file.write_all(b"new");
            if private { replace_private(&link, write) } else { replace(&link, write) }.unwrap();
            assert!(!link.is_symlink() && fs::read(&link).unwrap() == b"new");
            assert!(!victim.exists());
        }
    }

    #[test]
    fn private_files_are_accessible_to_their_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/folder/entry");
        replace_private(&path, |file| file.write_all(b"x")).unwrap();
        let modes = path.ancestors().map(|path| path.metadata().unwrap().mode() & 0o777);
        assert_eq!(modes.take(3).collect::<Vec<_>>(), [0o600, 0o700, 0o700]);
        open_own(&path).unwrap();
    }

    #[test]
    fn files_that_others_may_have_written_are_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("entry");
        let why = |path: &Path| open_own(path).unwrap_err();
        assert_eq!(why(&path), None);
        fs::write(&path, "x").unwrap();
        for mode in [0o620, 0o602, 0o666] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(why(&path), Some("can be written by other users"));
        }
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(why(&link), Some("is a symbolic link"));
        assert_eq!(why(dir.path()), Some("is not a regular file"));
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(why(&pipe), Some("is not a regular file"));
        // Only root can change the owner of a file, and not in every container.
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        if std::os::unix::fs::chown(&path, Some(geteuid().as_raw() + 1), None).is_ok() {
            assert_eq!(why(&path), Some("belongs to another user"));
        }
    }
}
