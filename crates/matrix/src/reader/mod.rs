//! The reader of matrix files, and the writer of Matrix Market files.
//!
//! A file ([`Opened`]) is the `Text` of a matrix in containers: compression, an archive, or both. The text has one of
//! the formats of [`FORMATS`], which its first bytes show, or else the extension of the file (`names`). Each format has
//! a file in `formats`; what is in none of them is refused with what it is (`formats::foreign`).
//!
//! | module | contents |
//! |---|---|
//! | `syntax`, `number`, `field`, `entry`, `arrays`, `assemble` | what all formats share |
//! | `input` | the bytes of a file or a stream |
//! | `codec`, `zip`, `container` | what is around a text |
//! | `text`, `lines` | the text, as bytes and in lines |
//! | `formats` | the formats |
//! | `names` | what the name of a file says |
//! | `open` | from a file to its matrix |
//! | `stream` | the entries of a file for the ranks of MPI |

mod arrays;
mod assemble;
mod codec;
mod container;
mod entry;
mod error;
mod field;
mod formats;
mod input;
mod lines;
mod matrix;
mod names;
mod number;
mod open;
mod options;
mod stream;
mod syntax;
mod text;
mod zip;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::memory::ReadBounds;
pub use arrays::sum;
pub use codec::decompressed;
pub use error::{Defect, ReadError};
pub use field::{Field, Symmetry};
pub use formats::FORMATS;
pub use formats::edges::declared::Edges;
pub use formats::market::header::{Banner, Sizes};
pub use formats::market::write::write;
pub(crate) use formats::market::write::{write_block, write_head};
pub use matrix::ReadMatrix;
pub use names::{MatrixName, Packing, is_archive, is_konect_file, is_matrix, packing};
pub use open::Opened;
pub use options::Options;
pub use stream::Stream;
pub use syntax::LONGEST_LINE;

/// Reads the matrix file at `path` on the current rayon pool, in any of the [`FORMATS`], plain or compressed by gzip,
/// bzip2, xz, zstd or zip, or in a tar archive.
///
/// Of Matrix Market, both formats, all symmetries and all fields except `complex` are supported. All elements of an
/// array become entries. The values of a `pattern` are 1, and `hermitian` means symmetric because no value is
/// complex. Numbers of an `integer` file may have a fraction. Entries of a symmetric file may lie in either
/// triangle. Entries with the same position are summed in the order of the file. With expansion, (i, j) and
/// (j, i) of a symmetric file have the same position: both positions get the sum, and this counts as one
/// duplicate. A file is read in blocks and is never in memory as a whole; a pipe or device is read into memory.
/// The error names the first defect of the file and its line.
pub fn read(path: &Path, options: &Options) -> Result<ReadMatrix, ReadError> {
    Opened::open(path, options, ReadBounds::NONE)?.read()
}
