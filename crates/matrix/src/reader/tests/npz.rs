use super::archive::{renamed, zip_of};
use super::read;

/// Returns an array as NumPy stores it.
pub fn npy(kind: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\0"[..], &length[..], header.as_bytes(), elements].concat()
}

pub fn integers(numbers: &[i32]) -> Vec<u8> {
    let bytes: Vec<_> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", numbers.len()), &bytes)
}

/// Returns a matrix of 2 x 3 as scipy stores it, with another array in place of the one of that name.
fn npz(name: &str, array: Vec<u8>) -> Vec<u8> {
    let mut files = [
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", integers(&[2, 3])),
        ("indptr.npy", integers(&[0, 1, 2])),
        ("indices.npy", integers(&[1, 2])),
        ("data.npy", npy("|b1", "(2,)", &[1, 0])),
    ];
    if let Some(file) = files.iter_mut().find(|file| file.0 == name) {
        file.1 = array;
    }
    zip_of(&files)
}

#[test]
fn arrays_of_scipy_are_checked_element_by_element() {
    let values = |array| read("a.npz", &npz("data.npy", array)).unwrap().csr.values;
    assert_eq!(values(npy("|b1", "(2,)", &[1, 0])), [1.0, 0.0]);
    assert_eq!(values(npy(">i2", "(2L,)", &[255, 254, 1, 0])), [-2.0, 256.0]);
    assert_eq!(values(npy("<f4", "(2,)", &[0, 0, 0, 63, 0, 0, 128, 191])), [0.5, -1.0]);
    for (name, array, expected) in [
        ("data.npy", npy("|b1", "(2,)", &[1, 2]), "data.npy[1]: a bool must be 0 or 1, not 2"),
        ("data.npy", npy("<f4", "(2,)", &[255; 8]), "data.npy[0]: value NaN is not finite"),
        ("data.npy", npy("<c8", "(1,)", &[0; 8]), "data.npy: elements of the type `c8` are not"),
        ("data.npy", npy("|b1", "(2, 1)", &[1; 2]), "data.npy: the array must have one dimension"),
        ("data.npy", npy("|b1", "(1,)", &[1]), "indices.npy has 2 elements, not 1: one for each"),
        (
            "data.npy",
            npy("<f8", "(2305843009213693952,)", &[]),
            "data.npy: the header states 2305843009213693952 elements of 8 bytes, but 0 bytes",
        ),
        ("data.npy", npy("<f8", "(2,)", &[0; 17]), "data.npy: the header states 2 elements of 8"),
        ("data.npy", b"1 2 3 4 5".to_vec(), "data.npy: this is not a NumPy array"),
        ("data.npy", b"1".to_vec(), "the zip data of data.npy end too early"),
        ("indices.npy", integers(&[1, 3]), "indices.npy[1]: 3 must be less than 3"),
        ("indices.npy", integers(&[-1, 2]), "indices.npy[0]: -1 is negative"),
        ("indices.npy", npy("<f8", "(1,)", &[0; 8]), "indices.npy: elements of the type `f8`"),
        ("indptr.npy", integers(&[0, 2, 1]), "indptr.npy[2]: 1 follows 2: the offsets must ascend"),
        ("indptr.npy", integers(&[1, 1, 2]), "indptr.npy[0]: 1 follows 0: the offsets must ascend"),
        ("indptr.npy", integers(&[0, 1, 1]), "indptr.npy[2]: 1 follows 1: the offsets must ascend"),
        ("indptr.npy", integers(&[0, 2]), "indptr.npy has 2 elements, not 3: one for each row of"),
        ("shape.npy", integers(&[2, 3, 4]), "shape.npy has 3 elements, not 2: the numbers of rows"),
        ("shape.npy", npy("<u4", "(2,)", &[0, 0, 0, 128, 0, 0, 0, 0]), "shape.npy[0]: 2147483648"),
        ("shape.npy", integers(&[2, 0]), "indices.npy[0]: 1 must be less than 0"),
        ("format.npy", npy("|S3", "()", b"dia"), "format.npy: the format \"dia\" is not read; sa"),
    ] {
        let error = read("a.npz", &npz(name, array)).unwrap_err();
        assert!(error.starts_with(&format!("a.npz: {expected}")), "{error}");
    }
    let twice = renamed(npz("", Vec::new()), "indptr.npy", "format.npy");
    let expected = "a.npz: the zip archive contains several files with the name format.npy; unpack";
    assert!(read("a.npz", &twice).unwrap_err().starts_with(expected));
    let mut damaged = npz("", Vec::new());
    let place = damaged.windows(3).rposition(|bytes| bytes == b"\n\x01\0").unwrap();
    damaged[place + 1] = 0;
    let expected = "a.npz: the zip data of data.npy are damaged (another length or checksum than";
    assert!(read("a.npz", &damaged).unwrap_err().starts_with(expected));
    // The size of the last array in the directory of the archive.
    let place = damaged.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap() + 24;
    damaged[place + 3] = 1;
    let expected = "a.npz: data.npy in the zip archive has fewer bytes than stated";
    assert!(read("a.npz", &damaged).unwrap_err().starts_with(expected));
}
