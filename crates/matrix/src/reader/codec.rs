//! How bytes are compressed.

use std::io::{self, BufRead, ErrorKind, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::error::name_damage;
use crate::memory::Size;

/// The most memory for the dictionary of an xz file, in KiB; `xz -9` needs a quarter of it.
const MOST_XZ_KIB: u32 = 1 << 18;
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
/// The most bytes that deflate makes of one.
pub const DEFLATE_GROWTH: u64 = 1032;

/// A stream of the bytes of a file.
pub type Bytes<'a> = Box<dyn Read + Send + 'a>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Codec {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Codec {
    /// Returns the compression of data that begin with these bytes.
    pub fn of(head: &[u8]) -> Option<Self> {
        // A frame that decoders of zstd skip: pzstd begins with one.
        if let [0x50..=0x5f, b'*', b'M', 0x18, ..] = head {
            return Some(Self::Zstd);
        }
        let magics: [(&[u8], _); 4] = [
            (GZIP_MAGIC, Self::Gzip),
            (b"BZh", Self::Bzip2),
            (b"\xfd7zXZ\0", Self::Xz),
            (b"\x28\xb5\x2f\xfd", Self::Zstd),
        ];
        magics.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, codec)| codec)
    }

    /// Returns the name of the compressed data in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// Returns an upper bound on the number of bytes that a compressed byte becomes.
    pub const fn growth(self) -> u64 {
        match self {
            Self::Gzip => DEFLATE_GROWTH,
            Self::Bzip2 | Self::Xz | Self::Zstd => 1 << 20,
        }
    }

    pub fn decompress<'a>(self, compressed: impl BufRead + Send + 'a) -> Bytes<'a> {
        match self {
            Self::Gzip => Box::new(Members::<_, GzDecoder<_>>::Compressed(compressed)),
            Self::Bzip2 => Box::new(Members::<_, BzDecoder<_>>::Compressed(compressed)),
            Self::Xz => Box::new(XzReader::new_mem_limit(compressed, true, MOST_XZ_KIB)),
            Self::Zstd => {
                let decoder = ZstdDecoder::with_buffer(compressed);
                Box::new(decoder.expect("a decoder without a dictionary needs only memory"))
            }
        }
    }
}

/// Returns the contents of a file without their compression by gzip, bzip2, xz or zstd, as long as they are at most
/// `most` bytes. Contents that are not compressed, and those of zip archives, are not changed.
pub fn decompressed(contents: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    let Some(codec) = Codec::of(&contents) else { return Ok(contents) };
    let name = codec.name();
    let mut text = Vec::new();
    let read = codec.decompress(&contents[..]).take(most.saturating_add(1)).read_to_end(&mut text);
    let bytes = read.map_err(|error| name_damage(error, &format!("{name} data")))?;
    if bytes as u64 > most {
        let message = format!("it is more than {} when it is decompressed", Size(most));
        return Err(invalid(message));
    }
    if let Some(again) = Codec::of(&text) {
        let what = format!("it is compressed twice, as {} data in {name} data", again.name());
        return Err(invalid(format!("{what}: decompress it once")));
    }
    Ok(text)
}

/// The members of a file, which are read one after another.
enum Members<B, D> {
    /// The bytes from the start of a member.
    Compressed(B),
    Member(Box<D>),
    End,
}

/// A decoder of one member.
trait Decoder<B>: Read + Sized {
    /// Begins a member; `None` at the end of the file.
    fn begin(compressed: B) -> io::Result<Option<Self>>;
    fn into_inner(self) -> B;
}

impl<B: BufRead> Decoder<B> for GzDecoder<B> {
    fn begin(mut compressed: B) -> io::Result<Option<Self>> {
        // Zeros after a member are padding, as for gzip itself.
        while let zeros @ 1.. = compressed.fill_buf()?.iter().take_while(|&&byte| byte == 0).count() {
            compressed.consume(zeros);
        }
        match compressed.fill_buf()?.first() {
            None => Ok(None),
            Some(&first) if first == GZIP_MAGIC[0] => Ok(Some(Self::new(compressed))),
            Some(_) => Err(invalid(
                "after the gzip data come bytes that are none: the file is damaged, or something was appended to it",
            )),
        }
    }

    fn into_inner(self) -> B {
        self.into_inner()
    }
}

impl<B: BufRead> Decoder<B> for BzDecoder<B> {
    fn begin(mut compressed: B) -> io::Result<Option<Self>> {
        // A decoder takes long to make, and a small file may have a million members without contents.
        while is_empty_bzip2(compressed.fill_buf()?) {
            compressed.consume(EMPTY_BZIP2);
        }
        let is_end = compressed.fill_buf()?.is_empty();
        Ok((!is_end).then(|| Self::new(compressed)))
    }

    fn into_inner(self) -> B {
        self.into_inner()
    }
}

/// The size of a member of bzip2 without contents, in bytes.
const EMPTY_BZIP2: usize = 14;

/// Returns whether the bytes begin with such a member: a header, the mark of its end, and the checksum 0.
fn is_empty_bzip2(bytes: &[u8]) -> bool {
    let end = b"\x17\x72\x45\x38\x50\x90\0\0\0\0";
    matches!(bytes, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if rest.starts_with(end))
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message.into())
}

impl<B, D: Decoder<B>> Read for Members<B, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, Self::End) {
                Self::End => return Ok(0),
                Self::Compressed(compressed) => match D::begin(compressed)? {
                    Some(member) => Self::Member(Box::new(member)),
                    None => Self::End,
                },
                Self::Member(mut member) => match member.read(buffer)? {
                    0 if !buffer.is_empty() => Self::Compressed(member.into_inner()),
                    bytes => {
                        *self = Self::Member(member);
                        return Ok(bytes);
                    }
                },
            };
        }
    }
}
