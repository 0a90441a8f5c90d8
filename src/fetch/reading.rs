//! An archive as a stream of entries: gzip, tar, and a limit on what stands between entries.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use tar::Archive;

/// Bytes between the contents of two entries: headers, long names, padding. They are held in memory.
const MOST_HEADER_BYTES: u64 = 1 << 20;
/// Compressed bytes read at once.
const PIECE: usize = 1 << 17;

/// A tar archive out of a gzip file.
pub type Tar<R> = Archive<Rationed<MultiGzDecoder<BufReader<R>>>>;

/// How many bytes may be read until it is set again.
#[derive(Clone)]
pub struct Ration(Rc<Cell<u64>>);

impl Ration {
    /// Between two entries.
    pub fn headers(&self) {
        self.0.set(MOST_HEADER_BYTES);
    }

    /// Within an entry, whose size is the limit.
    pub fn contents(&self) {
        self.0.set(u64::MAX);
    }
}

/// Opens an archive, at its first header.
pub fn open<R: Read>(from: R) -> (Tar<R>, Ration) {
    let ration = Ration(Rc::new(Cell::new(MOST_HEADER_BYTES)));
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(PIECE, from));
    (Archive::new(Rationed { inner: decoder, left: ration.0.clone() }), ration)
}

/// Reads what is left behind the last entry, so that the checksum of the whole counts, and gives back
/// the source.
pub fn end<R: Read>(tar: Tar<R>) -> io::Result<R> {
    let mut rationed = tar.into_inner();
    io::copy(&mut rationed, &mut io::sink())?;
    Ok(rationed.inner.into_inner().into_inner())
}

/// A reader with a limit.
pub struct Rationed<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let most = piece.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        if most == 0 && !piece.is_empty() {
            let message = format!("more than {MOST_HEADER_BYTES} bytes between two entries");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let bytes = self.inner.read(&mut piece[..most])?;
        self.left.set(self.left.get() - bytes as u64);
        Ok(bytes)
    }
}

/// A reader that hashes what passes.
pub struct Hashing<R> {
    inner: R,
    pub sha256: Sha256,
    pub bytes: u64,
}

impl<R> Hashing<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, sha256: Sha256::new(), bytes: 0 }
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(piece)?;
        self.sha256.update(&piece[..bytes]);
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}
