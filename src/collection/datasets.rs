//! The matrices and sets of dataset files (TOML): the parser, and the checks of their contents.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::matrix::{Matrix, is_id};
use spmv_results::filter::Filter;

/// A member of a set: the id of a matrix and the facts that the source of the set prints about it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub id: String,
    /// The name that the source prints.
    pub printed: Option<String>,
    /// The abbreviation that the source uses.
    pub label: Option<String>,
    /// The class to which the source assigns the matrix.
    pub class: Option<String>,
    /// The printed symmetry of the pattern, from 0 to 1.
    pub symmetry: Option<f64>,
    /// The printed number of entries of the longest row.
    pub longest: Option<u64>,
    pub nnz: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Where it comes from, as in `csr-k, Table 1`.
    pub source: String,
    pub note: Option<String>,
    pub matrices: Matrices,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Matrices {
    /// In this order.
    Members(Vec<Member>),
    /// All matrices that pass the filter.
    Filter(Filter<Matrix>),
}

/// An error in a dataset file or an index, as in `my.toml:17: …`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DatasetsError(pub(super) String);

/// The matrices (by id) and sets (by name) of the built-in datasets and of the user's file.
#[derive(Clone, Debug, Default)]
pub struct Datasets {
    pub matrices: BTreeMap<String, Matrix>,
    pub sets: BTreeMap<String, Set>,
}

impl Datasets {
    pub fn ours() -> Self {
        let ours = Self::default().and(include_str!("../../datasets.toml"), "datasets.toml");
        ours.expect("a test reads the built-in datasets")
    }

    /// Returns the built-in datasets, in which definitions of the user's file replace those of the same name.
    pub fn with(file: Option<&Path>) -> Result<Self, DatasetsError> {
        let Some(path) = file else { return Ok(Self::ours()) };
        let shown = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::ours().and(&text, &shown),
            Err(error) => Err(DatasetsError(format!("cannot read {shown}: {error}"))),
        }
    }

    /// Extends these datasets by those of `text`, the contents of the file named `file`. Names in `text` replace
    /// existing ones. It is an error if `text` defines an id twice, or a set has an unknown member.
    pub fn and(mut self, text: &str, file: &str) -> Result<Self, DatasetsError> {
        let grammar = |error: toml::de::Error| DatasetsError(format!("{file}: {error}"));
        let defined: File = toml::from_str(text).map_err(grammar)?;
        let positions: Positions = toml::from_str(text).map_err(grammar)?;
        let wrong = |(span, message): Wrong| {
            let before = &text.as_bytes()[..span.start];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            DatasetsError(format!("{file}:{line}: {message}"))
        };
        let mut ids = HashSet::new();
        for (mut matrix, position) in defined.matrix.into_iter().zip(positions.matrix) {
            matrix.entries = position.entries.unwrap_or(matrix.nnz);
            check(&matrix, &position, &mut ids).map_err(wrong)?;
            self.matrices.insert(matrix.id.clone(), matrix);
        }
        for (name, table) in defined.set {
            let set = set(&name, table, &self.matrices).map_err(wrong)?;
            self.sets.insert(name, set);
        }
        Ok(self)
    }

    /// Returns the matrices of a set: in the order of its members, or sorted by id if it has a filter.
    pub fn matrices_of<'d>(&'d self, set: &'d Set) -> Vec<&'d Matrix> {
        match &set.matrices {
            Matrices::Members(members) => members.iter().filter_map(|member| self.matrices.get(&member.id)).collect(),
            Matrices::Filter(filter) => self.matrices.values().filter(|m| filter.passes(m)).collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    matrix: Vec<Matrix>,
    #[serde(default)]
    set: BTreeMap<String, SetTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetTable {
    source: Spanned<String>,
    note: Option<String>,
    members: Option<Vec<Spanned<MemberText>>>,
    filter: Option<Spanned<String>>,
}

/// A member as it is written in the file: the id alone or a table.
struct MemberText(Member);

impl<'de> Deserialize<'de> for MemberText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor).map(Self)
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "\"GROUP/NAME\" or a table with an id")
    }

    fn visit_str<E>(self, id: &str) -> Result<Member, E> {
        Ok(Member { id: id.to_owned(), ..Member::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Member, A::Error> {
        Member::deserialize(MapAccessDeserializer::new(map))
    }
}

/// The same file again: where its matrices are, and which of them have `entries`.
#[derive(Deserialize)]
struct Positions {
    #[serde(default)]
    matrix: Vec<MatrixPosition>,
}

#[derive(Deserialize)]
struct MatrixPosition {
    id: Spanned<String>,
    entries: Option<u64>,
    sha256: Option<Spanned<String>>,
}

type Wrong = (Range<usize>, String);

fn check(matrix: &Matrix, at: &MatrixPosition, ids: &mut HashSet<String>) -> Result<(), Wrong> {
    let Matrix { id, nnz, entries, .. } = matrix;
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let is_sha256 = |text: &str| text.len() == 64 && text.bytes().all(is_digit);
    let mut symmetries = [matrix.pattern_symmetry, matrix.numerical_symmetry].into_iter().flatten();
    let message = if !is_id(id) {
        format!("'{id}' is not of the form GROUP/NAME")
    } else if !ids.insert(id.clone()) {
        format!("{id} is defined twice")
    } else if entries < nnz {
        format!("{id}: entries = {entries} must be at least nnz = {nnz}")
    } else if let Some(text) = at.sha256.as_ref().filter(|text| !is_sha256(text.get_ref())) {
        let shown = text.get_ref().chars().take(80).flat_map(char::escape_debug).collect::<String>();
        let what = "sha256 must have 64 digits (0 to 9, a to f)";
        return Err((text.span(), format!("{id}: {what}, not '{shown}'")));
    } else if let Some(share) = symmetries.find(|share| !(0.0..=1.0).contains(share)) {
        format!("{id}: a symmetry must be from 0 to 1, not {share}")
    } else {
        return Ok(());
    };
    Err((at.id.span(), message))
}

fn set(set: &str, table: SetTable, known: &BTreeMap<String, Matrix>) -> Result<Set, Wrong> {
    let matrices = match (table.members, table.filter) {
        (Some(members), None) => {
            let mut ids = HashSet::new();
            for member in &members {
                let id = &member.get_ref().0.id;
                let message = match known.get(id) {
                    None => format!("set {set}: there is no [[matrix]] with the id {id}"),
                    Some(_) if ids.insert(id) => continue,
                    Some(_) => format!("set {set}: {id} is listed twice"),
                };
                return Err((member.span(), message));
            }
            Matrices::Members(members.into_iter().map(|member| member.into_inner().0).collect())
        }
        (None, Some(filter)) => match filter.get_ref().parse() {
            Ok(parsed) => Matrices::Filter(parsed),
            Err(error) => return Err((filter.span(), format!("set {set}: {error}"))),
        },
        _ => {
            let message = format!("set {set} must have either members or a filter");
            return Err((table.source.span(), message));
        }
    };
    Ok(Set { source: table.source.into_inner(), note: table.note, matrices })
}
