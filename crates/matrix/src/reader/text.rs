use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::codec::Bytes;
use super::container::{Layer, Layers};
use super::error::{Fault, ReadError};
use super::input::Input;
use super::lines::Lines;

/// The number of bytes from which the contents of a file are recognized.
const HEAD: usize = 1 << 12;

/// The text of a file without the containers around it.
pub struct Text<'c> {
    path: PathBuf,
    pub input: Input<'c>,
    pub layers: Layers,
    /// The first bytes.
    pub head: Vec<u8>,
}

impl<'c> Text<'c> {
    /// Returns the bytes of a file as they are.
    pub fn of(path: &Path, input: Input<'c>) -> io::Result<Self> {
        let head = input.head(HEAD)?;
        Ok(Self { path: path.to_owned(), input, layers: Layers::default(), head })
    }

    /// Removes the next layer.
    pub fn unpack(&mut self, layer: Layer) -> Result<(), Fault> {
        self.layers.push(layer)?;
        self.head.clear();
        self.layers.reader(&self.input).take(HEAD as u64).read_to_end(&mut self.head)?;
        Ok(())
    }

    pub fn reader(&self) -> Bytes<'_> {
        self.layers.reader(&self.input)
    }

    pub fn error(&self, fault: impl Into<Fault>) -> ReadError {
        ReadError::new(&self.path, fault)
    }

    /// Returns an upper bound on the number of entries that the text can contain.
    pub fn most_entries(&self) -> u64 {
        // The shortest entry is `1 1` and a line end.
        self.input.size.saturating_mul(self.layers.growth()).saturating_add(1) / 4
    }

    /// Returns the text line by line. It is read in blocks of about `size` bytes.
    pub fn lines(&self, size: usize) -> Lines<'_> {
        let unpacked = (!self.layers.is_empty()).then(|| self.reader());
        Lines::of(&self.input, unpacked, size)
    }
}
