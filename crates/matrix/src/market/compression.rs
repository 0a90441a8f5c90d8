//! How the bytes of a file are compressed. The first bytes show it; the name does not matter.

use std::io::{self, BufRead, ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::error::name_damage;
use super::zip::File;
use crate::memory::Size;

/// The most memory for the dictionary of an xz file, in KiB; `xz -9` needs a quarter of it.
const MOST_XZ_KIB: u32 = 1 << 18;

#[derive(Clone, Debug)]
pub enum Compression {
    Plain,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    /// One file of a zip archive.
    Zip(File),
}

/// A stream of the bytes of a file after decompression.
pub type Decompressed<'a> = Box<dyn Read + Send + 'a>;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

impl Compression {
    /// Returns the compression of a file that begins with these bytes; `None` for a zip archive.
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(ZIP_MAGIC) {
            return None;
        }
        // A frame that decoders skip: pzstd begins with one.
        if let [0x50..=0x5f, b'*', b'M', 0x18, ..] = head {
            return Some(Self::Zstd);
        }
        let magics: [(&[u8], _); 4] = [
            (GZIP_MAGIC, Self::Gzip),
            (b"BZh", Self::Bzip2),
            (b"\xfd7zXZ\0", Self::Xz),
            (ZSTD_MAGIC, Self::Zstd),
        ];
        let found = magics.into_iter().find(|(magic, _)| head.starts_with(magic));
        Some(found.map_or(Self::Plain, |(_, compression)| compression))
    }

    /// Returns the name of the compressed data in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Zip(_) => "zip",
        }
    }

    /// Returns an upper bound on the number of bytes that a compressed byte becomes.
    pub const fn growth(&self) -> u64 {
        match self {
            Self::Plain => 1,
            // Deflate expands one byte to at most 1032.
            Self::Gzip | Self::Zip(_) => 1032,
            Self::Bzip2 | Self::Xz | Self::Zstd => 1 << 20,
        }
    }

    /// Decompresses a stream, which for a zip archive is already the decompressed file.
    pub fn decompress<'a>(&self, compressed: impl BufRead + Send + 'a) -> Decompressed<'a> {
        match self {
            Self::Plain | Self::Zip(_) => Box::new(compressed),
            Self::Gzip => Box::new(Members::Compressed(compressed)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(compressed)),
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
    let compression = Compression::of(&contents).unwrap_or(Compression::Plain);
    if matches!(compression, Compression::Plain) {
        return Ok(contents);
    }
    let (decompressed, mut text) = (compression.decompress(&contents[..]), Vec::new());
    let read = decompressed.take(most.saturating_add(1)).read_to_end(&mut text);
    let bytes = read.map_err(|error| name_damage(error, compression.name()))?;
    if bytes as u64 > most {
        let message = format!("it is more than {} when it is decompressed", Size(most));
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    Ok(text)
}

/// Reads the members of a gzip file one after another. Zeros after a member are padding, as for gzip itself.
enum Members<B> {
    /// The bytes from the start of a member.
    Compressed(B),
    Member(Box<GzDecoder<B>>),
    End,
}

impl<B: BufRead> Members<B> {
    fn begin(mut compressed: B) -> io::Result<Self> {
        while let zeros @ 1.. = compressed.fill_buf()?.iter().take_while(|&&byte| byte == 0).count()
        {
            compressed.consume(zeros);
        }
        match compressed.fill_buf()?.first() {
            None => Ok(Self::End),
            Some(&first) if first == GZIP_MAGIC[0] => {
                Ok(Self::Member(Box::new(GzDecoder::new(compressed))))
            }
            Some(_) => Err(io::Error::new(
                ErrorKind::InvalidData,
                "after the gzip data come bytes that are none: the file is damaged, or something was appended to it",
            )),
        }
    }
}

impl<B: BufRead> Read for Members<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, Self::End) {
                Self::End => return Ok(0),
                Self::Compressed(compressed) => Self::begin(compressed)?,
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
