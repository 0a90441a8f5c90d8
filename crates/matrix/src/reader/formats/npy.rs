//! Arrays as NumPy stores them (`.npy`): a magic word, the version, the length of the header, the header as a Python
//! dictionary, and the elements, which are read one after another.

use std::io::{self, BufRead, BufReader, Read};

use super::super::codec::Bytes;
use super::super::error::{Defect, Fault, name_damage, quote};

const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header and the longest text that are read, in bytes. NumPy does not read longer headers either.
const LONGEST_HEADER: usize = 10_000;
const LONGEST_TEXT: u64 = 64;

/// The letters of the types of NumPy that are read as indices, values and texts.
pub const INDICES: &str = "iu";
pub const VALUES: &str = "fiub";
pub const TEXTS: &str = "SU";

pub struct Array<'a> {
    /// The name of its file.
    name: String,
    file: BufReader<Bytes<'a>>,
    /// The letter of the type, and the size of an element in bytes.
    letter: u8,
    size: usize,
    is_big_endian: bool,
    /// The number of elements, and of those that have been read.
    pub length: u64,
    taken: u64,
}

impl<'a> Array<'a> {
    /// Opens a file with this name and number of bytes, whose elements must have a type with one of these `letters`.
    pub fn open(name: String, file: Bytes<'a>, bytes: u64, letters: &str) -> Result<Self, Fault> {
        let mut file = BufReader::with_capacity(1 << 16, file);
        let header = header(&mut file).map_err(|error| damage(error, &name))?;
        let form = header
            .ok_or_else(|| "this is not a NumPy array".into())
            .and_then(|(header, start)| Form::parse(&header, letters, bytes.saturating_sub(start)));
        let Form { letter, size, is_big_endian, length } = form.map_err(|defect: Defect| defect.of(&name))?;
        Ok(Self { name, file, letter, size, is_big_endian, length, taken: 0 })
    }

    pub fn is_integer(&self) -> bool {
        self.letter != b'f'
    }

    /// Checks the number of elements.
    pub fn expect(&self, length: u64, why: &str) -> Result<(), Defect> {
        if self.length == length {
            return Ok(());
        }
        let Self { name, length: found, .. } = self;
        Err(format!("{name} has {found} elements, not {length}: {why}").into())
    }

    /// Returns the defect of the element that was read last.
    pub fn fault(&self, defect: impl Into<Defect>) -> Fault {
        let place = format!("{}[{}]", self.name, self.taken.saturating_sub(1));
        defect.into().of(&place).into()
    }

    /// Returns the bits of the next element.
    fn bits(&mut self) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        let element = &mut bytes[..self.size];
        self.file.read_exact(element).map_err(|error| damage(error, &self.name))?;
        if self.is_big_endian {
            element.reverse();
        }
        self.taken += 1;
        Ok(u64::from_le_bytes(bytes))
    }

    fn signed(&self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.size as u32;
        (bits << unused) as i64 >> unused
    }

    /// Returns the next element as a whole number below `end`.
    pub fn index(&mut self, end: u64) -> Result<u64, Fault> {
        let bits = self.bits()?;
        let is_negative = self.letter == b'i' && self.signed(bits) < 0;
        if !is_negative && bits < end {
            return Ok(bits);
        }
        let what = if is_negative {
            format!("{} is negative", self.signed(bits))
        } else {
            format!("{bits} must be less than {end}")
        };
        Err(self.fault(what))
    }

    /// Returns the next element as a value.
    pub fn value(&mut self) -> Result<f64, Fault> {
        let bits = self.bits()?;
        let value = match (self.letter, self.size) {
            (b'f', 4) => f32::from_bits(bits as u32).into(),
            (b'f', _) => f64::from_bits(bits),
            (b'i', _) => self.signed(bits) as f64,
            (b'b', _) if bits > 1 => {
                return Err(self.fault(format!("a bool must be 0 or 1, not {bits}")));
            }
            _ => bits as f64,
        };
        if value.is_finite() { Ok(value) } else { Err(self.fault(format!("value {value} is not finite"))) }
    }

    /// Returns the elements as text, without padding.
    pub fn text(self) -> Result<String, Fault> {
        let mut text = Vec::new();
        let read = self.file.take(LONGEST_TEXT).read_to_end(&mut text);
        read.map_err(|error| damage(error, &self.name))?;
        let letters = text.into_iter().map(char::from);
        Ok(letters.filter(char::is_ascii_graphic).collect())
    }

    /// Checks that the file ends, and its checksum.
    pub fn end(mut self) -> Result<(), Fault> {
        let rest = self.file.fill_buf().map_err(|error| damage(error, &self.name))?;
        if rest.is_empty() {
            return Ok(());
        }
        Err(Defect::from("there is more after the elements").of(&self.name).into())
    }
}

fn damage(error: io::Error, name: &str) -> Fault {
    name_damage(error, &format!("zip data of {name}")).into()
}

/// What the header of an array says.
struct Form {
    letter: u8,
    size: usize,
    is_big_endian: bool,
    length: u64,
}

impl Form {
    /// Parses the header of an array whose elements have this number of `bytes`.
    fn parse(header: &str, letters: &str, bytes: u64) -> Result<Self, Defect> {
        let kind = field(header, "descr").map(|text| text.trim_matches('\''));
        let (order, kind) = kind.and_then(|kind| kind.split_at_checked(1)).unwrap_or_default();
        let size = size(kind, letters).ok_or_else(|| {
            let kind = quote(kind.as_bytes());
            Defect::unsupported(format!("elements of the type {kind} are not supported here"))
        })?;
        let length = length(header).ok_or("the array must have one dimension")?;
        if length.checked_mul(size as u64) != Some(bytes) {
            let stated = format!("{length} elements of {size} bytes");
            return Err(format!("the header states {stated}, but {bytes} bytes follow").into());
        }
        Ok(Self { letter: kind.as_bytes()[0], size, is_big_endian: order == ">", length })
    }
}

/// Returns the size of an element in bytes, if its type has one of the `letters`.
fn size(kind: &str, letters: &str) -> Option<usize> {
    let letter = kind.chars().next().filter(|letter| letters.contains(*letter))?;
    let size: usize = kind.get(1..)?.parse().ok()?;
    match letter {
        'U' => size.checked_mul(4),
        'f' => Some(size).filter(|size| [4, 8].contains(size)),
        'b' => Some(size).filter(|size| *size == 1),
        'S' => Some(size),
        _ => Some(size).filter(|size| [1, 2, 4, 8].contains(size)),
    }
}

/// Returns the header of an array and where it ends; `None` if there is none.
fn header(file: &mut impl Read) -> io::Result<Option<(String, u64)>> {
    let mut begin = [0; 8];
    file.read_exact(&mut begin)?;
    let digits = match begin[6] {
        1 if begin.starts_with(MAGIC) => 2,
        2 | 3 if begin.starts_with(MAGIC) => 4,
        _ => return Ok(None),
    };
    let mut length = [0; 4];
    file.read_exact(&mut length[..digits])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Ok(None);
    }
    let mut header = vec![0; length];
    file.read_exact(&mut header)?;
    let end = (begin.len() + digits + length) as u64;
    Ok(Some((String::from_utf8_lossy(&header).into_owned(), end)))
}

/// Returns the text of a value in a Python dictionary such as `{'descr': '<f8', 'fortran_order': False}`.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    rest.split([',', '}']).next().map(str::trim)
}

/// Returns the number of elements of a number, whose shape is `()`, or of an array of one dimension, `(3,)`.
fn length(header: &str) -> Option<u64> {
    let (_, rest) = header.split_once("'shape':")?;
    let (sizes, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    let mut sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    match (sizes.next(), sizes.next()) {
        (None, _) => Some(1),
        (Some(size), None) => size.trim_end_matches('L').parse().ok(),
        _ => None,
    }
}
