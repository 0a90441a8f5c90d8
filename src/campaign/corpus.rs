//! The matrices of a corpus, each with its name in rows. In a run that is continued a file keeps its name, however the
//! command names it now.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use xxhash_rust::xxh3::xxh3_64;

use super::resume::Begun;
use super::work::Work;
use spmv_matrix::source::Source;
use spmv_results::row::Row;
use spmv_results::run::StoredFile;

impl Work {
    /// Creates the work on a matrix of a command that names these folders.
    pub fn in_folders(source: Source, bytes: u64, folders: &[PathBuf]) -> Self {
        let mut work = Self::new(source, bytes);
        if let Source::File(path) = &work.source {
            work.now = Some(stored(path, &work.name, bytes, folders));
        }
        work
    }

    /// Returns what is the same if two matrices are.
    pub fn place(&self) -> &str {
        self.now.as_ref().map_or(&self.name, |file| &file.place)
    }

    /// Returns whether the file has changed since those of its rows were measured that stay.
    pub fn is_changed(&self) -> bool {
        let files = self.now.as_ref().zip(self.then.as_ref());
        files.is_some_and(|(now, then)| now.is_changed_since(then)) && !self.existing.is_empty()
    }

    /// Returns the name without the folder of the command.
    pub fn below(&self) -> &str {
        self.now.as_ref().map_or(&self.name, |file| &file.below)
    }
}

fn stored(path: &Path, name: &str, bytes: u64, folders: &[PathBuf]) -> StoredFile {
    let file = Path::new(path.file_name().unwrap_or_default());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    // The last part may be a link: two links to one file are two matrices.
    let place = parent.map_or_else(|_| path.to_owned(), |parent| parent.join(file));
    let below = folders.iter().find_map(|folder| path.strip_prefix(folder).ok()).unwrap_or(file);
    let modified = path.metadata().and_then(|file| file.modified()).ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    StoredFile {
        name: name.to_owned(),
        place: format!("{:016x}", xxh3_64(place.as_os_str().as_encoded_bytes())),
        below: Source::File(below.to_owned()).to_string(),
        bytes,
        modified_ms: modified.map_or(0, |time| time.as_millis() as u64),
    }
}

impl Begun {
    /// Gives the files that the run has already the names that they have there, and all matrices their rows, except
    /// those that are measured again.
    pub fn continue_with(&mut self, all: &mut [Work]) {
        let files: Vec<_> = all.iter().filter_map(|matrix| matrix.now.clone()).collect();
        let known = self.corpus().map(|then| then.known(&files)).unwrap_or_default();
        let of_files = all.iter_mut().filter(|matrix| matrix.now.is_some());
        for (matrix, then) in of_files.zip(known).filter_map(|(matrix, then)| Some((matrix, then?))) {
            matrix.name.clone_from(&then.name);
            matrix.now.as_mut().expect("it is a file").name.clone_from(&then.name);
            matrix.then = Some(then);
        }
        self.forget_failed(&all.iter().map(|matrix| &matrix.name[..]).collect());
        let mut rows: HashMap<&str, Vec<Row>> = HashMap::new();
        for row in &self.rows {
            rows.entry(&row.file).or_default().push(row.clone());
        }
        for matrix in all {
            matrix.existing = rows.get(&matrix.name[..]).cloned().unwrap_or_default();
        }
    }

    /// Returns the files for the record. One with rows that stay is described as it was when they were measured, and
    /// one that is no longer there remains.
    pub fn stored(&self, matrices: &[Work]) -> Vec<StoredFile> {
        let then = self.corpus().map_or(&[][..], |then| &then.stored);
        let with_rows: BTreeSet<_> = self.rows.iter().map(|row| &row.file).collect();
        let kept: Vec<_> = then.iter().filter(|file| with_rows.contains(&file.name)).cloned().collect();
        let now = matrices.iter().filter_map(|matrix| matrix.now.as_ref());
        let new = now.filter(|file| kept.iter().all(|kept| kept.name != file.name));
        kept.iter().chain(new).cloned().collect()
    }
}
