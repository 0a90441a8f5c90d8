//! A choice among this project's methods by the rows' statistics and the number of products planned.
//!
//! A matrix of a few hundred nonzeros is multiplied by one thread before others have heard of it.
//! Packing costs some tens of products, so it needs more products than that to pay. In between there is
//! the merge path, which needs no setup and no luck with the rows. Reading the statistics is O(rows),
//! and setup, like that of the method chosen. Memory: the chosen method's.

use super::{merge, packed, seq};
use crate::matrix::Csr;
use crate::method::{Choice, Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::scalar::Scalar;
use crate::simd::Lanes;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "auto",
    source: "this project",
    summary: "seq, merge or packed, by the number of nonzeros, the longest row and the products planned",
    parameters: packed::METHOD.parameters,
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory: packed::METHOD.memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

/// One thread is faster up to here: entering a parallel region takes as long as this many nonzeros.
const FOR_ONE_THREAD: usize = 1000;
/// Products from which packing pays.
const FOR_PACKING: usize = 100;

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let method = choose(csr, request.expected_products);
    let prepare = method.prepare::<T>().expect("a method of the CPU");
    let prepared = prepare(csr, request)?;
    let csr_bytes = method.csr_bytes(csr.bytes(), &prepared);
    let takes = |(name, _): &&(&str, _)| method.parameters.iter().any(|known| known.name == *name);
    let given = request.given.iter().filter(takes).copied().collect();
    let picked = Choice { method: &method, given }.name();
    Ok(prepared.noting(format!("picked {picked}")).reading_csr(csr_bytes))
}

fn choose<T>(csr: &Csr<T>, expected_products: usize) -> Method {
    if csr.nnz() <= FOR_ONE_THREAD {
        return seq::METHOD;
    }
    if expected_products < FOR_PACKING { merge::METHOD } else { packed::METHOD }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::generate::Generator;
    use crate::simd::Isa;
    use crate::team::Team;

    /// What is picked for an n × n grid.
    fn picked(
        n: usize,
        expected_products: usize,
        given: &[(&'static str, &'static str)],
    ) -> String {
        let grid = Generator::parse(&format!("grid2d,n={n}")).unwrap().generate().unwrap();
        let request = Request {
            team: &Team::floating(1),
            isa: Isa::detect(),
            transpose: false,
            alpha: 1.0,
            beta: 0.0,
            expected_products,
            profile: None,
            given,
        };
        prepare::<f64>(&grid, &request).unwrap().note.unwrap()
    }

    #[test]
    fn few_nonzeros_and_few_products_need_no_setup() {
        assert_eq!(picked(16, 9999, &[]), "picked seq");
        assert_eq!(picked(17, 99, &[]), "picked merge");
        assert_eq!(picked(17, 100, &[]), "picked packed");
    }

    #[test]
    fn values_are_compressed_only_where_it_is_asked_for() {
        let coded = [("values", "coded")];
        assert_eq!(picked(16, 100, &coded), "picked seq");
        assert_eq!(picked(17, 100, &coded), "picked packed:values=coded");
    }
}
