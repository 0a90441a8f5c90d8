//! An archive of the SuiteSparse collection: a gzip-compressed tar file `NAME.tar.gz` with one folder,
//! `NAME/`, that holds the matrix, `NAME/NAME.mtx`, and perhaps vectors and texts beside it.

use std::path::{Component, Path};

/// The name of the matrix, if `path` within an archive is that of the matrix: `NAME/NAME.mtx`.
pub fn matrix_name(path: &Path) -> Option<&str> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    let (Some(Component::Normal(folder)), Some(Component::Normal(file)), None) =
        (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let folder = folder.to_str()?;
    (file.to_str()?.strip_suffix(".mtx")? == folder).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_named_like_its_folder_is_the_matrix() {
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
