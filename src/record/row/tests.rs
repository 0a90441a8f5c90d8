//! Tests of the names of matrices.

use super::*;

#[test]
fn a_matrix_is_named_without_folder_and_extension() {
    for (file, name) in [
        ("ufl_mtx/cant.mtx.gz", "cant"),
        ("cant.mtx", "cant"),
        ("a\\b.c.tar.gz", "b.c"),
        ("stand-in:Williams/cant", "cant"),
        ("gen:dense,cols=4", "gen:dense,cols=4"),
    ] {
        assert_eq!(matrix_name(file), name);
    }
}
