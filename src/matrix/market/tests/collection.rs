//! Real matrices, where they are at hand: a table beside them says what they are.

use std::path::Path;

use super::Options;

#[test]
fn real_matrices_are_what_their_table_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/matrices");
    let Ok(table) = std::fs::read_to_string(folder.join("README.md")) else {
        println!("skipped: there is no {}", folder.display());
        return;
    };
    let lines = table.lines().filter(|line| line.contains(".mtx.gz |"));
    let checked = lines.map(|line| check(&folder, line)).count();
    assert!(checked > 0, "the table lists no matrices");
}

fn check(folder: &Path, line: &str) {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let market = super::super::read(&folder.join(cells[1]), &Options::default());
    if cells[7] == "complex" {
        assert!(market.unwrap_err().is_unsupported(), "{line}");
        return;
    }
    let market = market.unwrap();
    assert!(market.csr.is_valid());
    let numbers = [market.csr.rows, market.csr.cols, market.stored as usize, market.csr.nnz()];
    assert_eq!(numbers.map(|number| number.to_string())[..], cells[3..7], "{line}");
    assert_eq!([market.field.name(), market.symmetry.name()][..], cells[7..9], "{line}");
}
