//! How the bytes of a file are packed. The first bytes show it; the name does not matter.

use std::io::{self, BufRead, ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::BlockDecodingStrategy::UptoBlocks;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame;

use super::input::Input;
use super::zip::File;

/// The most memory for the dictionary of an xz file, in KiB; `xz -9` needs a quarter of it.
const MOST_XZ_KIB: u32 = 1 << 18;

#[derive(Clone, Debug)]
pub enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    /// One file of a zip archive.
    Zip(File),
}

/// A stream of the bytes of a file after unpacking.
pub type Unpacked<'a> = Box<dyn Read + Send + 'a>;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

impl Packing {
    /// Returns the packing of a file that begins with these bytes; `None` for a zip archive.
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
        Some(found.map_or(Self::Plain, |(_, packing)| packing))
    }

    /// Returns the name of the packed data in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            // Only the data of an archive are named, and a plain archive is a tar archive.
            Self::Plain => "tar",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Zip(_) => "zip",
        }
    }

    pub const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Returns an upper bound on the number of bytes that a packed byte becomes.
    pub const fn growth(&self) -> u64 {
        match self {
            Self::Plain => 1,
            // Deflate expands one byte to at most 1032.
            Self::Gzip | Self::Zip(_) => 1032,
            Self::Bzip2 | Self::Xz | Self::Zstd => 1 << 20,
        }
    }

    pub fn unpack<'a>(&self, input: &'a Input) -> Unpacked<'a> {
        let packed = input.reader_at(0);
        match self {
            Self::Plain => Box::new(packed),
            Self::Gzip => Box::new(Members { next: Next::<_, GzDecoder<_>>::Packed(packed) }),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Self::Xz => Box::new(XzReader::new_mem_limit(packed, true, MOST_XZ_KIB)),
            Self::Zstd => Box::new(Members { next: Next::<_, Frame<_>>::Packed(packed) }),
            Self::Zip(file) => file.unpack(input),
        }
    }
}

/// Reads the members of a gzip file, or the frames of a zstd file, one after another.
struct Members<B, D> {
    next: Next<B, D>,
}

enum Next<B, D> {
    /// The bytes from the start of a member.
    Packed(B),
    Member(D),
    End,
}

/// The decoder of one member.
trait Member<B>: Read + Sized {
    /// Begins the member at the start of `packed`; `None` if there is no other.
    fn begin(packed: B) -> io::Result<Option<Self>>;

    /// Returns the bytes after the member, which has been read to its end.
    fn rest(self) -> io::Result<B>;
}

impl<B, D: Member<B>> Read for Members<B, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.next = match std::mem::replace(&mut self.next, Next::End) {
                Next::End => return Ok(0),
                Next::Packed(packed) => D::begin(packed)?.map_or(Next::End, Next::Member),
                Next::Member(mut member) => match member.read(buffer)? {
                    0 if !buffer.is_empty() => Next::Packed(member.rest()?),
                    bytes => {
                        self.next = Next::Member(member);
                        return Ok(bytes);
                    }
                },
            };
        }
    }
}

impl<B: BufRead> Member<B> for GzDecoder<B> {
    /// Zeros after a member are padding, as for gzip itself.
    fn begin(mut packed: B) -> io::Result<Option<Self>> {
        while let zeros @ 1.. = packed.fill_buf()?.iter().take_while(|&&byte| byte == 0).count() {
            packed.consume(zeros);
        }
        match packed.fill_buf()?.first() {
            None => Ok(None),
            Some(&first) if first == GZIP_MAGIC[0] => Ok(Some(Self::new(packed))),
            Some(_) => Err(damaged(
                "after the gzip data come bytes that are none: the file is damaged, or something was appended to it",
            )),
        }
    }

    fn rest(self) -> io::Result<B> {
        Ok(self.into_inner())
    }
}

struct Frame<B> {
    decoder: FrameDecoder,
    packed: B,
}

impl<B: BufRead> Member<B> for Frame<B> {
    /// Frames that are to be skipped hold no data.
    fn begin(mut packed: B) -> io::Result<Option<Self>> {
        while !packed.fill_buf()?.is_empty() {
            let mut decoder = FrameDecoder::new();
            match decoder.init(&mut packed) {
                Ok(()) => return Ok(Some(Self { decoder, packed })),
                Err(FrameDecoderError::ReadFrameHeaderError(SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut packed).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(None)
    }

    fn rest(self) -> io::Result<B> {
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(damaged("the zstd data have a wrong checksum"));
        }
        Ok(self.packed)
    }
}

impl<B: BufRead> Read for Frame<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let decoded = self.decoder.decode_blocks(&mut self.packed, UptoBlocks(1));
            decoded.map_err(io::Error::other)?;
        }
        self.decoder.read(buffer)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
