//! The layers in which the text of a file is packed: compression, an archive, or both. They are removed one after the
//! other while the file is read.

use std::io::{self, BufReader, Read};
use std::mem;

use super::compression::{Compression, Decompressed};
use super::error::{Defect, name_damage};
use super::input::{Input, PIECE};
use crate::archive::{self, Member};

const TAR_BLOCK: u64 = 512;
/// How often a file may be compressed. More is no mistake of a server, and a small file could become very large.
const MOST_COMPRESSIONS: usize = 2;

pub enum Layer {
    /// Compressed data. A zip archive can only be the outermost layer, because it is not read in order.
    Compressed(Compression),
    /// A file of a tar archive.
    Member(Member),
}

/// The layers of a file, the outermost first.
#[derive(Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    pub fn push(&mut self, layer: Layer) -> Result<(), Defect> {
        let most = if layer.compression().is_some() { MOST_COMPRESSIONS } else { 1 };
        let kind = mem::discriminant(&layer);
        if self.0.iter().filter(|known| mem::discriminant(*known) == kind).count() == most {
            let what = match layer.compression() {
                Some(it) => format!("it has {} data in {}: decompress it", it.name(), self.name()),
                None => "it is an archive in an archive: unpack it once".to_owned(),
            };
            return Err(what.into());
        }
        self.0.push(layer);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether what is below the layers may be an archive without a magic word, if its name says so.
    pub fn may_hold_archive(&self) -> bool {
        let is_zip = matches!(self.0.last(), Some(Layer::Compressed(Compression::Zip(_))));
        let are_compressed = self.0.iter().all(|layer| layer.compression().is_some());
        are_compressed && !is_zip && !self.0.is_empty()
    }

    /// Returns the name of the packed data in messages.
    pub fn name(&self) -> String {
        name(&self.0)
    }

    /// Returns an upper bound on the number of bytes that a byte of the file becomes.
    pub fn growth(&self) -> u64 {
        let compressions = self.0.iter().filter_map(Layer::compression);
        compressions.fold(1, |growth, compression| growth.saturating_mul(compression.growth()))
    }

    /// Returns the text of a file without its layers.
    pub fn reader<'a>(&self, input: &'a Input) -> Decompressed<'a> {
        let mut bytes: Decompressed<'a> = match self.0.first() {
            Some(Layer::Compressed(Compression::Zip(file))) => file.decompress(input),
            _ => Box::new(input.reader_at(0)),
        };
        for (place, layer) in self.0.iter().enumerate() {
            let packed: Decompressed<'a> = match layer {
                Layer::Compressed(it) => it.decompress(BufReader::with_capacity(PIECE, bytes)),
                Layer::Member(member) => Box::new(MemberReader::new(member, bytes)),
            };
            bytes = Box::new(Named { packed, name: name(&self.0[..=place]) });
        }
        bytes
    }
}

/// Returns the name of the data in these layers, such as `gzip data in zip data`.
fn name(layers: &[Layer]) -> String {
    let compressions = layers.iter().rev().filter_map(Layer::compression);
    let names: Vec<_> = compressions.map(|it| format!("{} data", it.name())).collect();
    if names.is_empty() { "tar data".to_owned() } else { names.join(" in ") }
}

/// A layer that is removed while it is read. Errors name its data.
struct Named<'a> {
    packed: Decompressed<'a>,
    name: String,
}

impl Read for Named<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.packed.read(buffer).map_err(|error| name_damage(error, &self.name))
    }
}

impl Layer {
    fn compression(&self) -> Option<&Compression> {
        if let Self::Compressed(compression) = self { Some(compression) } else { None }
    }
}

struct MemberReader<'a> {
    /// The number of bytes before the file that have not been skipped yet.
    skip: u64,
    /// The number of bytes between the end of the file and the next header.
    padding: u64,
    text: io::Take<Decompressed<'a>>,
}

impl<'a> MemberReader<'a> {
    fn new(member: &Member, archive: Decompressed<'a>) -> Self {
        let padding = member.size.next_multiple_of(TAR_BLOCK) - member.size;
        Self { skip: member.start, padding, text: archive.take(member.size) }
    }
}

impl Read for MemberReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let archive = self.text.get_mut();
        io::copy(&mut archive.take(mem::take(&mut self.skip)), &mut io::sink())?;
        let read = self.text.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            if self.text.limit() > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let archive = self.text.get_mut();
            io::copy(&mut archive.take(mem::take(&mut self.padding)), &mut io::sink())?;
            // This reads to the end of the archive, so that the gzip checksum after it is verified.
            archive::expect_no_other(archive)?;
        }
        Ok(read)
    }
}
