//! Opens a file: removes the containers around its text, and finds the format of the text.

use std::path::{Path, PathBuf};

use super::container::{Archive, Container, Layer};
use super::error::{Fault, ReadError, name_damage};
use super::formats::edges::declared::Edges;
use super::formats::foreign::refuse_what_is_no_matrix;
use super::formats::format::Format;
use super::formats::{self, market};
use super::input::Input;
use super::matrix::ReadMatrix;
use super::names::{extension, is_archive, is_matrix};
use super::options::Options;
use super::syntax::{LONGEST_LINE, body};
use super::text::Text;
use super::zip;
use crate::archive;
use crate::memory::{ReadBounds, SizeHint};

/// An open file, or a stream that has been read to its end.
pub struct Opened<'c> {
    pub(super) text: Text<'c>,
    pub(super) format: &'static Format,
    pub(super) options: Options,
}

impl<'c> Opened<'c> {
    pub fn open(path: &Path, options: &Options, bounds: ReadBounds<'c>) -> Result<Self, ReadError> {
        let opened = Input::open(path, bounds, is_hopeless).map_err(Fault::from).and_then(|input| {
            let opened = Self::unpacked(path, input, options);
            // The decompression or archive library may have hidden an interruption.
            bounds.check()?;
            opened
        });
        opened.map_err(|fault| ReadError::new(path, fault))
    }

    fn unpacked(path: &Path, input: Input<'c>, options: &Options) -> Result<Self, Fault> {
        let mut text = Text::of(path, input)?;
        let mut name = path.to_owned();
        while let Some(layer) = next_layer(&text, &mut name)? {
            text.unpack(layer)?;
        }
        let declares_edges = options.edges != Edges::default();
        let format = formats::of(&text.head, extension(&name), declares_edges);
        Ok(Self { text, format: format.unwrap_or(&market::FORMAT), options: *options })
    }

    /// Returns whether the text was read from a pipe or a device, which cannot be read again.
    pub fn is_stream(&self) -> bool {
        self.text.input.is_stream()
    }

    pub fn bounds(&self) -> ReadBounds<'c> {
        self.text.input.bounds
    }

    /// Returns the memory in bytes that holds the contents of a stream; 0 for a file.
    pub fn stream_bytes(&self) -> u64 {
        self.text.input.stream_bytes()
    }

    /// Returns the size of the matrix, if the format states it at the beginning of a file.
    pub fn size_hint(&self) -> Result<Option<SizeHint>, ReadError> {
        let hint = self.format.size_hint.map(|hint| hint(&self.text, &self.options));
        hint.transpose().map_err(|fault| self.text.error(fault))
    }

    /// Reads the matrix; see [`read`](super::read()).
    pub fn read(&self) -> Result<ReadMatrix, ReadError> {
        (self.format.read)(&self.text, &self.options).map_err(|fault| self.text.error(fault))
    }
}

/// Returns the layer around the text below the layers that are known, and the name of what is in it; `None` if this is
/// the text itself. An archive has an archive's magic word or name.
fn next_layer(text: &Text, name: &mut PathBuf) -> Result<Option<Layer>, Fault> {
    match Container::of(&text.head) {
        Container::Compressed(codec) => Ok(Some(Layer::Compressed(codec))),
        Container::Archive(Archive::Tar) => member(text, name).map(Some),
        Container::Archive(Archive::Zip) => zipped(text, name),
        Container::File => {
            refuse_what_is_no_matrix(&text.head)?;
            let is_archive = is_archive(name) && text.layers.may_hold_archive();
            is_archive.then(|| member(text, name)).transpose()
        }
    }
}

fn member(text: &Text, name: &mut PathBuf) -> Result<Layer, Fault> {
    let located = archive::locate(text.reader(), is_matrix);
    let member = located.map_err(|error| name_damage(error, &text.layers.name()))?;
    name.clone_from(&member.path);
    Ok(Layer::Tar(member))
}

/// Chooses the matrix of a zip archive, unless it is a NumPy archive, which is a format.
fn zipped(text: &Text, name: &mut PathBuf) -> Result<Option<Layer>, Fault> {
    if !text.layers.is_empty() {
        let data = text.layers.name();
        return Err(format!("it is a zip archive in {data}: unpack it").into());
    }
    let files = zip::files(&text.input).map_err(|error| name_damage(error, "zip data"))?;
    if files.iter().any(|file| file.name.ends_with(".npy")) {
        return Ok(None);
    }
    let file = zip::matrix(files, is_matrix)?;
    *name = PathBuf::from(&file.name);
    Ok(Some(Layer::Zip(file)))
}

/// Returns whether the first line of a stream shows that it is not a matrix.
fn is_hopeless(head: &[u8]) -> bool {
    let is_begun = head.len() <= LONGEST_LINE && !body(head).contains(&b'\n');
    let is_packed = Container::of(head) != Container::File;
    !is_begun && !is_packed && formats::of(head, None, true).is_none()
}
