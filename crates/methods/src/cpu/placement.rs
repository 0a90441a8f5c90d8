//! On which NUMA node the arrays of a converted matrix are. Other threads than those of the team convert most matrices,
//! and a page is on the node of the thread that writes it first. On a machine with several nodes each thread of the
//! team therefore moves the pages that its products read to its own node, as merge-spmv-sc16, III-D, does with the CSR
//! arrays.

use std::ops::Range;

use crossbeam_utils::CachePadded;
use nix::errno::Errno;

use crate::team::Team;
use spmv_matrix::Csr;
use spmv_matrix::system::pages::{PAGE, move_pages_to, nodes_of_pages};

/// The addresses of a part of an array.
pub type Span = Range<usize>;

pub fn span<E>(part: &[E]) -> Span {
    let Range { start, end } = part.as_ptr_range();
    start.addr()..end.addr()
}

pub fn spans_of<T>(csr: &Csr<T>, nonzeros: Range<usize>) -> Vec<Span> {
    vec![span(&csr.values()[nonzeros.clone()]), span(&csr.column_indices()[nonzeros])]
}

/// Moves the pages of the arrays that each thread owns, `owned(rank)`, to the thread's node. A page belongs to the
/// thread that owns its first byte. Returns a note on how many pages are there afterwards, or `None` if all threads are
/// on one node: then nothing is done.
pub fn place(team: &Team, owned: impl Fn(usize) -> Vec<Span>) -> Option<String> {
    let nodes = team.nodes()?;
    let slot = |rank| CachePadded::new((owned(rank), Ok([0; 2])));
    let mut slots: Vec<_> = (0..team.len()).map(slot).collect();
    team.run_with(&mut slots, |rank, (owned, pages)| *pages = move_to_node(owned, nodes[rank]));
    let pages: Result<Vec<[usize; 2]>, Errno> = slots.iter().map(|slot| slot.1).collect();
    Some(match pages {
        Ok(pages) => {
            let [local, all] = [0, 1].map(|k| pages.iter().map(|of_thread| of_thread[k]).sum::<usize>());
            format!("{local} of {all} pages on their NUMA node")
        }
        Err(errno) => format!("pages are on the node that touched them first; moving them failed: {}", errno.desc()),
    })
}

/// Moves those pages of the spans that are on other nodes to `node`. Returns how many are there, and the number of all
/// pages.
fn move_to_node(spans: &[Span], node: usize) -> Result<[usize; 2], Errno> {
    let mut pages: Vec<usize> = spans.iter().cloned().flat_map(pages_of).collect();
    if pages.is_empty() {
        return Ok([0; 2]);
    }
    let all = pages.len();
    let now = nodes_of_pages(&pages)?;
    let mut at = now.iter();
    pages.retain(|_| *at.next().expect("a node per page") != Some(node));
    let moved = if pages.is_empty() { vec![] } else { move_pages_to(node, &pages)? };
    let elsewhere = moved.iter().filter(|&&at| at != Some(node)).count();
    Ok([all - elsewhere, all])
}

/// Returns the addresses of the pages whose first byte is in a span.
fn pages_of(span: Span) -> impl Iterator<Item = usize> {
    (span.start.next_multiple_of(PAGE)..span.end).step_by(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::METHODS;
    use crate::method::{Device, Method, Request, Setup};
    use spmv_matrix::generate::Generator;

    #[test]
    fn a_page_belongs_to_the_owner_of_its_first_byte() {
        let parts = [1..PAGE, PAGE..2 * PAGE + 1, 2 * PAGE + 1..3 * PAGE, 3 * PAGE..3 * PAGE];
        let pages = parts.map(|part| pages_of(part).collect::<Vec<_>>());
        assert_eq!(pages, [vec![], vec![PAGE, 2 * PAGE], vec![], vec![]]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs system calls that Miri does not support")]
    fn pages_are_counted_if_the_system_reports_their_nodes() {
        let memory = vec![1u8; 20 * PAGE];
        let Ok(nodes) = nodes_of_pages(&pages_of(span(&memory)).collect::<Vec<_>>()) else {
            return;
        };
        assert!((19..=20).contains(&nodes.len()), "{nodes:?}");
        let pages = move_to_node(&[span(&memory)], nodes[0].unwrap()).unwrap();
        assert_eq!(pages, [nodes.len(); 2]);
        assert!(move_to_node(&[span(&memory)], 1 << 20).is_err(), "there is no such node");
    }

    /// Returns the pages in the note of a method that was prepared for four threads on one node each, or `None` if the
    /// system does not report nodes.
    fn pages_in_note(method: &Method, csr: &Csr<f64>, transpose: bool) -> Option<(usize, u64)> {
        let team = Team::floating(4).on_nodes(vec![0; 4]);
        let request = Request { transpose, ..Request::new(&team) };
        let prepared = method.prepare_on_host(csr, &request).unwrap();
        let note = prepared.notes.join("; ");
        let words: Vec<_> = note.split(' ').collect();
        match words.windows(3).find(|words| words[0] == "of" && words[2] == "pages") {
            Some(words) => Some((words[1].parse().unwrap(), prepared.extra_bytes.unwrap())),
            None if note.contains("moving them failed") => None,
            None => panic!("{}: no pages in the note: {note}", method.name),
        }
    }

    /// The arrays of the conversion are placed on the nodes of their owners: nearly all of the method's memory. The
    /// others are the first and the last page of each array, and arrays with an element per row.
    #[test]
    #[cfg_attr(miri, ignore = "needs system calls that Miri does not support")]
    fn every_method_places_what_it_has_converted() {
        let diagonals = "diagonals,rows=20000,offsets=-4:-3:-2:-1:0:1:2:3:4";
        let csr = Generator::parse(diagonals).unwrap().generate().unwrap();
        // The threads of these convert what they own.
        let others = ["packed", "csr5"];
        let methods = METHODS.iter().filter(|method| {
            method.device() == Device::Cpu
                && matches!(method.setup, Setup::Conversion | Setup::Ordering)
                && !others.contains(&method.name)
        });
        let cases: Vec<_> = methods
            .flat_map(|method| [(method, false), (method, true)])
            .filter(|(method, transpose)| method.operations.include(*transpose))
            .collect();
        assert!(cases.len() > 10);
        for (method, transpose) in cases {
            let Some((pages, bytes)) = pages_in_note(method, &csr, transpose) else { return };
            let (least, most) = (bytes * 3 / 4, bytes + 16 * PAGE as u64);
            let (name, placed) = (method.name, (pages * PAGE) as u64);
            assert!((least..=most).contains(&placed), "{name}: {placed} of {bytes} bytes");
        }
    }

    /// With more threads than rows, some threads own nothing.
    #[test]
    #[cfg_attr(miri, ignore = "needs system calls that Miri does not support")]
    fn every_method_places_fewer_rows_than_threads() {
        let csr = Generator::parse("dense,rows=9,cols=700").unwrap().generate().unwrap();
        let team = Team::floating(24).on_nodes(vec![0; 24]);
        for method in METHODS.iter().filter(|method| method.setup == Setup::Conversion) {
            if method.device() == Device::Cpu && method.operations.include(false) {
                let request = Request::new(&team);
                let _ = method.prepare_on_host(&csr, &request).map(|prepared| prepared.notes);
            }
        }
    }
}
