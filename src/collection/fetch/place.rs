//! Finds the file of a matrix of the collection in a folder.

use std::path::PathBuf;

use super::error::FetchError;
use super::folder::Folder;
use super::ledger::Ledger;

/// The extensions of matrix files, the fastest to read first.
const ENDINGS: [&str; 3] = [".mtx", ".mtx.gz", ".tar.gz"];

/// Returns the file of the matrix `GROUP/NAME`: `GROUP-NAME.mtx`, or `NAME.mtx` unless that was downloaded for a
/// matrix of another group; or the same names with another extension.
///
/// # Errors
/// Returns an error if the folder's ledger cannot be read.
pub fn of(folder: &Folder, id: &str) -> Result<Option<PathBuf>, FetchError> {
    let ledger = Ledger::read(folder)?;
    let (_, name) = id.split_once('/').unwrap_or(("", id));
    let names = [id.replace('/', "-"), name.to_owned()];
    let files =
        ENDINGS.iter().flat_map(|ending| names.iter().map(move |name| format!("{name}{ending}")));
    let own = files.filter(|file| ledger.owner(file).is_none_or(|owner| owner == id));
    Ok(own.map(|file| folder.file(&file)).find(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If two matrices have the same name, the file name of the later one contains its group.
    #[test]
    fn a_file_of_another_group_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let found = |id| of(&folder, id).unwrap().map(|path| path.file_name().unwrap().to_owned());
        assert_eq!(found("A/x"), None);
        std::fs::write(folder.file("x.mtx.gz"), "").unwrap();
        assert_eq!(found("A/x").unwrap(), "x.mtx.gz");
        std::fs::create_dir(folder.state("")).unwrap();
        let ledger = "matrix,file,bytes,sha256,archive_bytes,archive_sha256,address,date\n\
                      A/x,x.mtx,1,,1,,,\nB/x,B-x.mtx,1,,1,,,\n";
        std::fs::write(folder.state("ledger.csv"), ledger).unwrap();
        for file in ["x.mtx", "B-x.mtx"] {
            std::fs::write(folder.file(file), "").unwrap();
        }
        std::fs::remove_file(folder.file("x.mtx.gz")).unwrap();
        assert_eq!(found("A/x").unwrap(), "x.mtx");
        assert_eq!(found("B/x").unwrap(), "B-x.mtx");
        assert_eq!(found("C/x"), None);
    }
}
