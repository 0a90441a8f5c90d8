//! Which rows are of the same matrix, and what the matrix is called. Names of files are not enough: the collection has
//! matrices of the same name in different groups.
//!
//! A *set* of rows is a result file, or the files of all shards of a corpus. Within a set, different files are
//! different matrices. The matrices of two sets are the same
//! - if they have the same name, and in both sets no other matrix has it;
//! - or else if their paths relative to the common folder of their set are equal, or one is the end of the other, as
//!   with a set of a single file. If there are several such matrices, the most similar path decides.

use std::collections::{BTreeSet, HashMap};

use super::groups::grouped;
use crate::files::read::RecordedRow;
use crate::row::matrix_parts;

/// Gives every row the name of its matrix: the file without extension, with as many folders as make it unique.
pub fn name_matrices(mut sets: Vec<Vec<&mut RecordedRow>>) {
    // The rows of a matrix follow each other.
    let files = |set: &Vec<&mut RecordedRow>| -> BTreeSet<String> {
        set.chunk_by(|a, b| a.row.file == b.row.file).map(|rows| rows[0].row.file.clone()).collect()
    };
    let files: Vec<_> = sets.iter().map(files).collect();
    for (set, names) in sets.iter_mut().zip(names(&files)) {
        for line in set {
            line.name = names.get(&line.row.file[..]).cloned();
        }
    }
}

struct Place<'a> {
    file: &'a str,
    /// The folders and the name: see [`matrix_parts`].
    parts: Vec<&'a str>,
    /// The number of folders that all files of the set have in common.
    root: usize,
}

/// Whether two matrices have the same file or the same relative path, and how many folders and letters at the end.
type Similarity = (bool, bool, usize, usize);

fn names(sets: &[BTreeSet<String>]) -> Vec<HashMap<&str, String>> {
    let (mut known, mut matrices) = (Vec::new(), Vec::new());
    for set in sets {
        let places = Place::all(set);
        let partners = partners(&places, &known);
        let mut of_set = Vec::new();
        for (place, partner) in places.into_iter().zip(partners) {
            of_set.push((place.file, partner.unwrap_or(known.len())));
            known.extend(partner.is_none().then_some(place));
        }
        matrices.push(of_set);
    }
    let names = shortest(&known);
    let named = |(file, matrix): (_, usize)| (file, names[matrix].clone());
    matrices.into_iter().map(|of_set| of_set.into_iter().map(named).collect()).collect()
}

impl<'a> Place<'a> {
    fn all(set: &'a BTreeSet<String>) -> Vec<Self> {
        let is_file = |file: &str| !file.starts_with("gen:") && !file.starts_with("surrogate:");
        let parts: Vec<_> = set.iter().map(|file| (&file[..], matrix_parts(file))).collect();
        let files = parts.iter().filter(|(file, _)| is_file(file));
        let folders = files.map(|(_, parts)| &parts[..parts.len() - 1]);
        let common = folders.reduce(|a, b| &a[..equal(a, b)]).map_or(0, <[_]>::len);
        let root = |file| if is_file(file) { common } else { 0 };
        parts.into_iter().map(|(file, parts)| Self { file, parts, root: root(file) }).collect()
    }

    fn name(&self) -> &'a str {
        self.parts[self.parts.len() - 1]
    }

    fn same_end(&self, other: &Self) -> usize {
        equal(self.parts.iter().rev(), other.parts.iter().rev())
    }

    /// Returns the similarity of two matrices, or `None` if their paths show that they are not the same.
    fn similarity(&self, other: &Self) -> Option<Similarity> {
        let (one, two) = (&self.parts[self.root..], &other.parts[other.root..]);
        let (end, same) = (self.same_end(other), self.file == other.file);
        let letters = equal(self.file.bytes().rev(), other.file.bytes().rev());
        let may_be_same = same || end >= one.len().min(two.len());
        may_be_same.then_some((same, one == two, end, letters))
    }
}

/// Returns the number of items that are the same at the beginning of both sequences.
fn equal<T: PartialEq>(one: impl IntoIterator<Item = T>, two: impl IntoIterator<Item = T>) -> usize {
    one.into_iter().zip(two).take_while(|(one, two)| one == two).count()
}

fn by_name<'a>(places: &[Place<'a>]) -> HashMap<&'a str, Vec<usize>> {
    grouped(0..places.len(), |&index| places[index].name()).into_iter().collect()
}

/// Returns for each of `own` the index in `known` of the same matrix.
fn partners(own: &[Place], known: &[Place]) -> Vec<Option<usize>> {
    let (named_own, named_known) = (by_name(own), by_name(known));
    let partner = |(index, place): (usize, &Place)| {
        let (mine, theirs) = (&named_own[place.name()], named_known.get(place.name())?);
        if let ([_], [only]) = (&mine[..], &theirs[..]) {
            return Some(*only);
        }
        let found = most_similar(theirs, |other| place.similarity(&known[other]))?;
        let back = most_similar(mine, |other| own[other].similarity(&known[found]))?;
        (back == index).then_some(found)
    };
    own.iter().enumerate().map(partner).collect()
}

/// Returns the candidate with the greatest similarity, or `None` if several have it.
fn most_similar(candidates: &[usize], similarity: impl Fn(usize) -> Option<Similarity>) -> Option<usize> {
    let similar = candidates.iter().filter_map(|&index| Some((similarity(index)?, index)));
    let mut similar: Vec<_> = similar.collect();
    similar.sort_unstable();
    match similar[..] {
        [.., (next, _), (greatest, _)] if next == greatest => None,
        _ => similar.last().map(|(_, found)| *found),
    }
}

fn shortest(places: &[Place]) -> Vec<String> {
    let named = by_name(places);
    let name = |(index, place): (usize, &Place)| {
        let others = named[place.name()].iter().filter(|&&other| other != index);
        let mut others = others.map(|&other| &places[other]);
        let same = others.clone().map(|other| place.same_end(other)).max().unwrap_or(0);
        match place.parts.len().checked_sub(same + 1) {
            Some(from) => place.parts[from..].join("/"),
            None if others.all(|other| other.parts != place.parts) => place.parts.join("/"),
            None => place.file.to_owned(),
        }
    };
    places.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sets: &[&[&str]]) -> Vec<Vec<String>> {
        let files: Vec<BTreeSet<String>> =
            sets.iter().map(|set| set.iter().map(|&file| file.into()).collect()).collect();
        let of_set =
            |(set, names): (&&[&str], HashMap<&str, String>)| set.iter().map(|file| names[file].clone()).collect();
        sets.iter().zip(names(&files)).map(of_set).collect()
    }

    #[test]
    fn a_name_has_the_folders_that_it_needs() {
        for (files, names) in [
            (&["MM/G1/a/a.mtx", "MM/G2/a/a.mtx"][..], &["G1/a", "G2/a"][..]),
            (&["M/G1/a/a.mtx", "M/G2/b/b.mtx"], &["a", "b"]),
            (&["G1/a.mtx", "G2/a.tar.gz", "./G3/a/a.MTX"], &["G1/a", "G2/a", "G3/a"]),
            (&["1/p/a.mtx", "2/p/a.mtx", "2/q/a.mtx"], &["1/p/a", "2/p/a", "q/a"]),
            (&["a.mtx", "G/a.mtx", "A.mtx"], &["a", "G/a", "A"]),
            (&["a.mtx", "a.mtx.gz", "a/a.mtx"], &["a.mtx", "a.mtx.gz", "a/a.mtx"]),
            (&["surrogate:G1/a", "surrogate:G2/a", "gen:ring"], &["G1/a", "G2/a", "gen:ring"]),
            (&["m/a.mtx", "surrogate:G/a"], &["m/a", "G/a"]),
        ] {
            assert_eq!(named(&[files]), [names]);
        }
    }

    #[test]
    fn the_matrices_of_several_sets_are_matched() {
        let corpus = &["MM/G1/a/a.mtx", "MM/G2/a/a.mtx", "MM/G2/b/b.mtx"][..];
        for (other, names) in [
            // A copy in another folder, also if some matrices are absent.
            (&["/c/MM/G1/a/a.mtx", "/c/MM/G2/a/a.mtx"][..], &["G1/a", "G2/a"][..]),
            (&["/c/G2/a.mtx", "/c/G1/b.mtx"], &["G2/a", "b"]),
            // A single file.
            (&["/x/b.mtx.gz"], &["b"]),
            (&["MM/G2/a/a.mtx"], &["G2/a"]),
            (&["/c/MM/G2/a/a.mtx"], &["G2/a"]),
            // Files of which the path does not show which of the two matrices they are.
            (&["/x/a.mtx"], &["x/a"]),
            (&["/x/G3/a.mtx", "/x/G2/a.mtx"], &["G3/a", "G2/a"]),
        ] {
            assert_eq!(named(&[corpus, other])[1], names, "{other:?}");
            assert_eq!(named(&[other, corpus])[0], names, "{other:?}");
        }
        let third = named(&[&["1/a.mtx", "2/a.mtx"], &["x/1/a.mtx", "x/3/a.mtx"], &["y/3/a.mtx"]]);
        assert_eq!(third, [&["1/a", "2/a"][..], &["1/a", "3/a"], &["3/a"]]);
    }
}
