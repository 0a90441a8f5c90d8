//! What is around the text of a file: compression, an archive, or both. The layers are removed one after the other
//! while the file is read.

use std::io::{self, BufReader, Read};
use std::mem;

use super::codec::{Bytes, Codec, DEFLATE_GROWTH};
use super::error::{Defect, name_damage};
use super::input::{Input, PIECE};
use super::zip;
use crate::archive::{self, Member};

/// What data are, as their first bytes or the name of the file say. The order is the one in which a matrix that is
/// there in several forms is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Container {
    /// The text itself, or at least nothing known around it.
    File,
    Compressed(Codec),
    Archive(Archive),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Archive {
    Tar,
    Zip,
}

/// The position of the magic word in the first header of a tar archive, in bytes.
const USTAR: usize = 257;
const TAR_BLOCK: u64 = 512;
pub const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// How often a file may be compressed. More is no mistake of a server, and a small file could become very large.
const MOST_COMPRESSIONS: usize = 2;

impl Container {
    pub fn of(head: &[u8]) -> Self {
        if head.get(USTAR..).is_some_and(|rest| rest.starts_with(b"ustar")) {
            Self::Archive(Archive::Tar)
        } else if head.starts_with(ZIP_MAGIC) {
            Self::Archive(Archive::Zip)
        } else {
            Codec::of(head).map_or(Self::File, Self::Compressed)
        }
    }
}

/// A container around the text, with the place of the text in it.
pub enum Layer {
    Compressed(Codec),
    /// A file of a zip archive. It can only be the outermost layer, because an archive is not read in order.
    Zip(zip::File),
    /// A file of a tar archive.
    Tar(Member),
}

impl Layer {
    /// Returns the name of the data in messages, if they are compressed.
    fn compression(&self) -> Option<&'static str> {
        match self {
            Self::Compressed(codec) => Some(codec.name()),
            Self::Zip(_) => Some("zip"),
            Self::Tar(_) => None,
        }
    }

    const fn growth(&self) -> u64 {
        match self {
            Self::Compressed(codec) => codec.growth(),
            Self::Zip(_) => DEFLATE_GROWTH,
            Self::Tar(_) => 1,
        }
    }
}

/// The layers of a file, the outermost first.
#[derive(Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    pub fn push(&mut self, layer: Layer) -> Result<(), Defect> {
        let compressions = self.0.iter().filter_map(Layer::compression).count();
        match layer.compression() {
            Some(data) if compressions == MOST_COMPRESSIONS => {
                let what = format!("it has {data} data in {}: decompress it", self.name());
                return Err(what.into());
            }
            None if compressions < self.0.len() => {
                return Err("it is an archive in an archive: unpack it once".into());
            }
            _ => self.0.push(layer),
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether what is below the layers may be an archive without a magic word, if its name says so.
    pub fn may_hold_archive(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|layer| matches!(layer, Layer::Compressed(_)))
    }

    /// Returns the name of the packed data in messages.
    pub fn name(&self) -> String {
        name(&self.0)
    }

    /// Returns an upper bound on the number of bytes that a byte of the file becomes.
    pub fn growth(&self) -> u64 {
        self.0.iter().fold(1, |growth: u64, layer| growth.saturating_mul(layer.growth()))
    }

    /// Returns the text of a file without its layers.
    pub fn reader<'a>(&self, input: &'a Input) -> Bytes<'a> {
        let mut bytes: Bytes<'a> = Box::new(input.reader_at(0));
        for (place, layer) in self.0.iter().enumerate() {
            let unpacked: Bytes<'a> = match layer {
                Layer::Compressed(it) => it.decompress(BufReader::with_capacity(PIECE, bytes)),
                Layer::Zip(file) => file.decompress(input),
                Layer::Tar(member) => Box::new(MemberReader::new(member, bytes)),
            };
            bytes = Box::new(Named { unpacked, name: name(&self.0[..=place]) });
        }
        bytes
    }
}

/// Returns the name of the data in these layers, such as `gzip data in zip data`.
fn name(layers: &[Layer]) -> String {
    let compressions = layers.iter().rev().filter_map(Layer::compression);
    let names: Vec<_> = compressions.map(|name| format!("{name} data")).collect();
    if names.is_empty() { "tar data".to_owned() } else { names.join(" in ") }
}

/// A layer that is removed while it is read. Errors name its data.
struct Named<'a> {
    unpacked: Bytes<'a>,
    name: String,
}

impl Read for Named<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.unpacked.read(buffer).map_err(|error| name_damage(error, &self.name))
    }
}

struct MemberReader<'a> {
    /// The number of bytes before the file that have not been skipped yet.
    skip: u64,
    /// The number of bytes between the end of the file and the next header.
    padding: u64,
    text: io::Take<Bytes<'a>>,
}

impl<'a> MemberReader<'a> {
    fn new(member: &Member, archive: Bytes<'a>) -> Self {
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
