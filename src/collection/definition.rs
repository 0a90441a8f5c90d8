//! The parser of dataset files (TOML) and the checks of their contents.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{Datasets, DatasetsError, Matrices, Matrix, Set, is_id};

/// A member of a set: the id of a matrix and the facts that the source of the set prints about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The id, `GROUP/NAME`.
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
    /// The printed number of nonzeros.
    pub nnz: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    matrix: Vec<MatrixTable>,
    #[serde(default)]
    set: BTreeMap<String, SetTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MatrixTable {
    id: Spanned<String>,
    rows: u64,
    cols: u64,
    nnz: u64,
    entries: Option<u64>,
    kind: String,
    #[serde(default = "yes")]
    real: bool,
    #[serde(default)]
    binary: bool,
    pattern_symmetry: Option<f64>,
    numerical_symmetry: Option<f64>,
    longest: Option<u64>,
    variation: Option<f64>,
    stand_in: Option<String>,
    sha256: Option<Spanned<String>>,
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

fn yes() -> bool {
    true
}

impl<'de> Deserialize<'de> for MemberText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor)
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = MemberText;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "\"GROUP/NAME\" or a table with an id")
    }

    fn visit_str<E>(self, id: &str) -> Result<MemberText, E> {
        let id = id.to_owned();
        let (printed, label, class) = (None, None, None);
        Ok(MemberText(Member {
            id,
            printed,
            label,
            class,
            symmetry: None,
            longest: None,
            nnz: None,
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemberText, A::Error> {
        Member::deserialize(MapAccessDeserializer::new(map)).map(MemberText)
    }
}

impl From<MatrixTable> for Matrix {
    fn from(table: MatrixTable) -> Self {
        let MatrixTable { rows, cols, nnz, kind, real, binary, .. } = table;
        let MatrixTable { longest, variation, stand_in, .. } = table;
        let (pattern_symmetry, numerical_symmetry) =
            (table.pattern_symmetry, table.numerical_symmetry);
        let sha256 = table.sha256.map(Spanned::into_inner);
        let (id, entries) = (table.id.into_inner(), table.entries.unwrap_or(nnz));
        Self {
            id,
            rows,
            cols,
            nnz,
            entries,
            kind,
            real,
            binary,
            pattern_symmetry,
            numerical_symmetry,
            longest,
            variation,
            stand_in,
            sha256,
        }
    }
}

/// Adds the matrices and sets that `text` defines. `name` is the name of the file in messages.
pub fn add(datasets: &mut Datasets, text: &str, name: &str) -> Result<(), DatasetsError> {
    let place = Place { text, name };
    let file: File = toml::from_str(text)
        .map_err(|error| DatasetsError::Grammar { file: name.into(), error: error.into() })?;
    let mut ids = HashSet::new();
    for table in file.matrix {
        place.check(&table, &mut ids)?;
        let matrix = Matrix::from(table);
        datasets.matrices.insert(matrix.id.clone(), matrix);
    }
    for (name, table) in file.set {
        let set = place.set(&name, table, datasets)?;
        datasets.sets.insert(name, set);
    }
    Ok(())
}

fn is_sha256(text: &str) -> bool {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == 64 && text.bytes().all(digit)
}

/// The file that is being parsed, for messages with a line number.
struct Place<'t> {
    text: &'t str,
    name: &'t str,
}

impl Place<'_> {
    fn wrong(&self, span: Range<usize>, message: impl Into<String>) -> DatasetsError {
        let before = &self.text.as_bytes()[..span.start];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        DatasetsError::Content { file: self.name.to_owned(), line, message: message.into() }
    }

    fn check(&self, table: &MatrixTable, ids: &mut HashSet<String>) -> Result<(), DatasetsError> {
        let id = table.id.get_ref();
        let wrong = |message: String| Err(self.wrong(table.id.span(), message));
        if !is_id(id) {
            return wrong(format!("'{id}' is not of the form GROUP/NAME"));
        }
        if !ids.insert(id.clone()) {
            return wrong(format!("{id} is defined twice"));
        }
        if let Some(entries) = table.entries.filter(|&entries| entries < table.nnz) {
            let nnz = table.nnz;
            return wrong(format!("{id}: entries = {entries} must be at least nnz = {nnz}"));
        }
        if let Some(sha256) = table.sha256.as_ref().filter(|text| !is_sha256(text.get_ref())) {
            let shown = sha256.get_ref().escape_debug();
            let message =
                format!("{id}: sha256 must have 64 digits (0 to 9, a to f), not '{shown:.80}'");
            return Err(self.wrong(sha256.span(), message));
        }
        let symmetries = [table.pattern_symmetry, table.numerical_symmetry];
        match symmetries.into_iter().flatten().find(|share| !(0.0..=1.0).contains(share)) {
            Some(share) => wrong(format!("{id}: a symmetry must be from 0 to 1, not {share}")),
            None => Ok(()),
        }
    }

    fn set(&self, name: &str, table: SetTable, known: &Datasets) -> Result<Set, DatasetsError> {
        let span = table.source.span();
        let matrices = match (table.members, table.filter) {
            (Some(members), None) => Matrices::Members(self.members(name, members, known)?),
            (None, Some(filter)) => {
                let parsed = filter
                    .get_ref()
                    .parse()
                    .map_err(|error| self.wrong(filter.span(), format!("set {name}: {error}")))?;
                Matrices::Filter(parsed)
            }
            _ => {
                let message = format!("set {name} must have either members or a filter");
                return Err(self.wrong(span, message));
            }
        };
        let (source, note) = (table.source.into_inner(), table.note);
        Ok(Set { source, note, matrices })
    }

    fn members(
        &self,
        set: &str,
        entries: Vec<Spanned<MemberText>>,
        known: &Datasets,
    ) -> Result<Vec<Member>, DatasetsError> {
        let mut ids = HashSet::new();
        for entry in &entries {
            let id = &entry.get_ref().0.id;
            if known.matrix(id).is_none() {
                let message = format!("set {set}: there is no [[matrix]] with the id {id}");
                return Err(self.wrong(entry.span(), message));
            }
            if !ids.insert(id.clone()) {
                return Err(self.wrong(entry.span(), format!("set {set}: {id} is listed twice")));
            }
        }
        Ok(entries.into_iter().map(|entry| entry.into_inner().0).collect())
    }
}
