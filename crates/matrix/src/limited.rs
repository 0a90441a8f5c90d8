//! Files that are read as a whole, up to a limit: a file of others may be endless, such as `/dev/zero`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a text of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let bytes = File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if bytes as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(read_text(file.path(), 3).unwrap(), "abc");
        for (path, most) in [(file.path(), 2), (Path::new("/dev/zero"), 1 << 20)] {
            let error = read_text(path, most).unwrap_err().to_string();
            assert_eq!(error, format!("it has more than {most} bytes"));
        }
    }
}
