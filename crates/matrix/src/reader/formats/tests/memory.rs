use std::sync::atomic::AtomicBool;

use super::super::super::tests::archive::zip_of;
use super::super::super::tests::gzip;
use super::npz::{integers, npy};
use super::{octave, read_within};
use crate::memory::ReadBounds;

/// The arrays that are held at the same time must fit together, whatever a header states and compressed data become.
#[test]
fn memory_is_compared_with_the_limit_before_it_is_taken() {
    let offsets = "0 ".repeat(100_001);
    let boeing = format!("t\n 3 1 1 1\nPUA 1 100000 0 0\n(1I1) (8I10)\n{}", "1\n".repeat(100_001));
    let edges: String =
        (0..20_000u64).map(|node| format!("{} 7\n", 1_000_000_007 * node)).collect();
    let coordinates = [
        ("format.npy", npy("|S3", "()", b"coo")),
        ("shape.npy", integers(&[100_000, 1])),
        ("row.npy", integers(&[1])),
        ("col.npy", integers(&[0])),
        ("data.npy", npy("|b1", "(1,)", &[1])),
    ];
    for (name, edges, contents) in [
        (
            "a.mtx",
            "",
            b"%%MatrixMarket matrix coordinate real general\n100000 1 1\n1 1 1\n".to_vec(),
        ),
        ("a.gr", "", b"p sp 100000 1\na 1 2 3\n".to_vec()),
        ("a.txt", "", octave("100000 1 1", "1 1 1\n").into_bytes()),
        ("a.smtx.gz", "", gzip(format!("100000, 1, 0\n{offsets}").as_bytes())),
        ("a.graph", "", format!("100000 0\n{}", "\n".repeat(100_000)).into_bytes()),
        ("a.rb", "", boeing.into_bytes()),
        ("a.npz", "", zip_of(&coordinates)),
        ("a.el", "directed,compact", edges.into_bytes()),
    ] {
        let never = AtomicBool::new(false);
        let read = |most| read_within(name, &contents, edges, ReadBounds::new(&never, most, "it"));
        let error = read(300_000).map(|_| ()).unwrap_err();
        let expected = "bytes of memory, but only 300000 are available (it)";
        assert!(error.ends_with(expected), "{name}: {error}");
        assert!(read(8 << 20).is_ok(), "{name}");
    }
}
