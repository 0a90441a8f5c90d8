//! Creates archives like those of the collection, and damaged ones.

use tar::{EntryType, Header};

use crate::support::gzip;

#[derive(Default)]
pub struct Tar(Vec<u8>);

impl Tar {
    /// Creates a tar file with the matrix `NAME/NAME.mtx`.
    pub fn of(name: &str, matrix: &str) -> Self {
        Self::default().file(&format!("{name}/{name}.mtx"), matrix)
    }

    /// Adds a file. Its path is used without any checks.
    pub fn file(self, path: &str, contents: &str) -> Self {
        self.header(path, EntryType::Regular, "", contents.len() as u64).bytes(contents.as_bytes())
    }

    /// Adds an entry without contents that links to `target`.
    pub fn entry(self, kind: EntryType, path: &str, target: &str) -> Self {
        self.header(path, kind, target, 0)
    }

    /// Adds the header of a file with `bytes` bytes, but no contents.
    pub fn declaring(self, path: &str, bytes: u64) -> Self {
        self.header(path, EntryType::Regular, "", bytes)
    }

    pub fn header(mut self, path: &str, kind: EntryType, target: &str, bytes: u64) -> Self {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(bytes);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self
    }

    pub fn bytes(mut self, contents: &[u8]) -> Self {
        self.0.extend_from_slice(contents);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// Adds the end of the tar file and compresses it.
    pub fn gzip(mut self) -> Vec<u8> {
        self.0.extend_from_slice(&[0; 1024]);
        self.cut()
    }

    /// Compresses the tar file without its end.
    pub fn cut(self) -> Vec<u8> {
        gzip(&self.0)
    }
}

/// Returns a matrix with 400 rows and columns and 4000 entries, whose archive has some tens of kilobytes.
pub fn large() -> String {
    let mut text = "%%MatrixMarket matrix coordinate real general\n400 400 4000\n".to_owned();
    let mut state = 1_u64;
    for at in 0..4000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text += &format!("{} {} {}\n", at / 10 + 1, at % 10 + 1, state >> 20);
    }
    text
}
