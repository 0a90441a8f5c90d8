//! Archives of the SuiteSparse collection: a gzip-compressed tar file `NAME.tar.gz` with one folder, `NAME/`,
//! which contains the matrix, `NAME/NAME.mtx`, and sometimes vectors and texts.

mod ration;

use std::io::{self, Read};
use std::path::{Component, Path};

use tar::{Archive, EntryType};

pub use ration::{Ration, Rationed};

/// Returns whether the name of the file is that of an archive.
pub fn is_archive(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

/// Returns whether the name of the file is that of a matrix. Folders are searched for such files.
pub fn is_matrix(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".mtx") || name.ends_with(".mtx.gz") || is_archive(file)
}

/// Returns the position and the length in bytes of the matrix file within the uncompressed archive.
///
/// # Errors
/// Returns an error if the archive cannot be read or contains no matrix.
pub fn locate(archive: impl Read) -> io::Result<(u64, u64)> {
    let matrix = next_matrix(archive)?;
    let (_, start, size) =
        matrix.ok_or_else(|| invalid("the archive contains no NAME/NAME.mtx"))?;
    Ok((start, size))
}

/// Reads the rest of an archive, from the header after the matrix to the end.
///
/// # Errors
/// Returns an error if the archive cannot be read or contains a second matrix, which would be ambiguous.
pub fn expect_no_other(mut rest: impl Read) -> io::Result<()> {
    match next_matrix(&mut rest)? {
        Some((name, ..)) => Err(invalid(format!("the archive contains a second matrix, {name}"))),
        None => io::copy(&mut rest, &mut io::sink()).map(|_| ()),
    }
}

/// Finds the next matrix in an archive. Returns its path, the position of its text and its length in bytes.
fn next_matrix(archive: impl Read) -> io::Result<Option<(String, u64, u64)>> {
    let (archive, ration) = Rationed::new(archive);
    for entry in Archive::new(archive).entries()? {
        ration.contents();
        let mut entry = entry?;
        if entry.header().entry_type() == EntryType::Regular
            && let Some(name) = matrix_name(&entry.path()?)
        {
            let path = format!("{name}/{name}.mtx");
            return Ok(Some((path, entry.raw_file_position(), entry.size())));
        }
        io::copy(&mut entry, &mut io::sink())?;
        ration.headers();
    }
    Ok(None)
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

/// Returns `NAME` if `path` within an archive is that of its matrix, `NAME/NAME.mtx`.
pub fn matrix_name(path: &Path) -> Option<&str> {
    let (folder, file) = folder_and_file(path)?;
    (file.strip_suffix(".mtx")? == folder).then_some(folder)
}

/// Returns the folder and the file of a path within an archive, if the path has exactly these two parts.
pub fn folder_and_file(path: &Path) -> Option<(&str, &str)> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Component::Normal(folder)), Some(Component::Normal(file)), None) => {
            Some((folder.to_str()?, file.to_str()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognized_by_their_names() {
        for (name, expected) in [
            ("a/cant.tar.gz", true),
            ("cant.tgz", true),
            ("cant.mtx.gz", false),
            ("cant.tar", false),
            ("a.tar.gz/cant.mtx", false),
        ] {
            assert_eq!(is_archive(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn only_the_file_with_the_name_of_its_folder_is_the_matrix() {
        let of = |path: &'static str| matrix_name(Path::new(path));
        assert_eq!((of("cant/cant.mtx"), of("./cant/cant.mtx")), (Some("cant"), Some("cant")));
        for other in [
            "cant/cant_b.mtx",
            "cant.mtx",
            "/cant/cant.mtx",
            "../cant/cant.mtx",
            "cant/../cant.mtx",
            "x/cant/cant.mtx",
            "cant/cant.mtx/y",
            "cant/cant",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
