//! Reads an archive as a stream of entries: gzip, tar, and a limit on the headers between entries.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use tar::Archive;

use spmv_matrix::archive::{Ration, Rationed};

/// The size of the read buffer for compressed data, in bytes.
const PIECE: usize = 1 << 17;

/// A gzip-compressed tar archive.
pub type Tar<R> = Archive<Rationed<MultiGzDecoder<BufReader<R>>>>;

/// Opens an archive. It is positioned at its first header.
pub fn open<R: Read>(from: R) -> (Tar<R>, Ration) {
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(PIECE, from));
    let (rationed, ration) = Rationed::new(decoder);
    (Archive::new(rationed), ration)
}

/// Reads the archive to its end, so that the checksum of the whole file is verified, and returns the source.
pub fn end<R: Read>(tar: Tar<R>) -> io::Result<R> {
    let mut rationed = tar.into_inner();
    io::copy(&mut rationed, &mut io::sink())?;
    Ok(rationed.into_inner().into_inner().into_inner())
}

/// A reader that hashes and counts the bytes that are read through it.
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
