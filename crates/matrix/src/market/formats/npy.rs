//! Arrays as NumPy stores them (`.npy`): a magic word, the version, the length of the header, the header as a Python
//! dictionary, and the numbers.

use super::super::error::{Defect, quote};

const MAGIC: &[u8] = b"\x93NUMPY";

pub struct Array {
    bytes: Vec<u8>,
    /// Where the numbers begin.
    start: usize,
    /// The type, such as `f8` or `S3`, without the letter of the byte order.
    kind: String,
    is_big_endian: bool,
}

impl Array {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, Defect> {
        let (header, start) = header(&bytes).ok_or("this is not a NumPy array")?;
        let kind = field(&header, "descr").map(|text| text.trim_matches('\'').to_owned());
        let kind = kind.ok_or("the header has no type")?;
        if field(&header, "fortran_order") == Some("True") {
            return Err("the array is in the order of Fortran".into());
        }
        let (order, kind) = kind.split_at_checked(1).ok_or("the header has no type")?;
        Ok(Self { start, kind: kind.to_owned(), is_big_endian: order == ">", bytes })
    }

    fn elements(&self) -> Result<std::slice::ChunksExact<'_, u8>, Defect> {
        let size: usize = self.kind.get(1..).and_then(|size| size.parse().ok()).unwrap_or(0);
        let data = &self.bytes[self.start..];
        if !(1..=16).contains(&size) || !data.len().is_multiple_of(size) {
            let kind = quote(self.kind.as_bytes());
            return Err(format!("the data do not consist of elements of the type {kind}").into());
        }
        Ok(data.chunks_exact(size))
    }

    pub fn is_integer(&self) -> bool {
        self.kind.starts_with(['i', 'u', 'b'])
    }

    /// Returns the data as text, as of `format.npy`, without padding.
    pub fn text(&self) -> String {
        let bytes = self.bytes[self.start..].iter().filter(|byte| **byte != 0);
        bytes
            .map(|&byte| char::from(byte))
            .filter(|letter| letter.is_ascii_graphic())
            .take(20)
            .collect()
    }

    /// Returns whole numbers that are not negative.
    pub fn indices(&self) -> Result<Vec<u64>, Defect> {
        let elements = self.elements()?;
        let is_signed = match &*self.kind {
            "i4" | "i8" => true,
            "u4" | "u8" => false,
            kind => {
                return Err(
                    format!("indices of the type {} are not read", quote(kind.as_bytes())).into()
                );
            }
        };
        let number = |bytes: &[u8]| self.whole(bytes, is_signed);
        let number = |bytes| u64::try_from(number(bytes)).map_err(|_| "a negative index".into());
        elements.map(number).collect()
    }

    pub fn values(&self) -> Result<Vec<f64>, Defect> {
        let elements = self.elements()?;
        let value: fn(&Self, &[u8]) -> f64 = match &*self.kind {
            "f8" => |array, bytes| f64::from_bits(array.whole(bytes, false) as u64),
            "f4" => |array, bytes| f32::from_bits(array.whole(bytes, false) as u32).into(),
            "b1" | "u1" | "u2" | "u4" | "u8" => |array, bytes| array.whole(bytes, false) as f64,
            "i1" | "i2" | "i4" | "i8" => |array, bytes| array.whole(bytes, true) as f64,
            kind => {
                let kind = quote(kind.as_bytes());
                return Err(Defect::unsupported(format!(
                    "values of the type {kind} are not supported"
                )));
            }
        };
        Ok(elements.map(|bytes| value(self, bytes)).collect())
    }

    fn whole(&self, bytes: &[u8], is_signed: bool) -> i128 {
        let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        let number = match self.is_big_endian {
            true => bytes.iter().fold(0, fold),
            false => bytes.iter().rev().fold(0, fold),
        };
        let unused = 64 - 8 * bytes.len().min(8) as u32;
        if is_signed { i128::from((number << unused) as i64 >> unused) } else { number.into() }
    }
}

/// Returns the header of an array and where it ends.
fn header(bytes: &[u8]) -> Option<(String, usize)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    let (length, start) = match version[0] {
        1 => (u16::from_le_bytes(*rest.first_chunk()?).into(), MAGIC.len() + 4),
        2 | 3 => (u32::from_le_bytes(*rest.first_chunk()?) as usize, MAGIC.len() + 6),
        _ => return None,
    };
    let end = start.checked_add(length)?;
    Some((String::from_utf8_lossy(bytes.get(start..end)?).into_owned(), end))
}

/// Returns the text of a value in a Python dictionary such as `{'descr': '<f8', 'fortran_order': False}`.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    rest.split([',', '}']).next().map(str::trim)
}
