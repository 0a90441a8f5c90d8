//! Chooses one of this project's methods by the number of nonzeros and the number of planned products.
//!
//! On a matrix of a few hundred nonzeros, one thread finishes before a team could start, so `seq` is
//! chosen. Packing costs as much as the time that some tens of products gain by it, so `packed` is chosen only if more
//! products are planned; fewer suffice in single precision, where the column indices are a larger part of CSR. Otherwise `merge` is chosen, which needs no setup and does not depend on the row lengths. The choice is
//! part of the setup, as is the setup of the chosen method.
//!
//! Memory: that of the chosen method.

use super::{merge, packed, seq};
use crate::matrix::Csr;
use crate::method::{Choice, Code, Method, Operations, Prepared, Request, Setup, Unavailable};
use crate::scalar::Scalar;
use crate::simd::Lanes;

/// The method `auto`.
pub const METHOD: Method = Method {
    name: "auto",
    source: "this project",
    summary: "seq, merge or packed, by the number of nonzeros and the number of planned products",
    parameters: packed::METHOD.parameters,
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory: packed::METHOD.memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

/// The largest number of nonzeros for which one thread is chosen. Multiplying this many takes as long as
/// entering a parallel region.
const FOR_ONE_THREAD: usize = 1000;
/// The number of planned products from which packing is worthwhile, per byte of a value. With 80 products in f64 and 40
/// in f32, setup included, `merge` and `packed` take about equally longer than the faster of them in the geometric mean over
/// the 42 matrices of results/baselines: 9 % in f64, 16 % in f32.
const FOR_PACKING_PER_BYTE: usize = 10;

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let method = choose(csr, request.expected_products);
    let prepare = method.prepare::<T>().expect("the method runs on the CPU");
    let prepared = prepare(csr, request)?;
    let csr_bytes = method.csr_bytes(csr.bytes(), &prepared);
    let takes = |(name, _): &&(&str, _)| method.parameters.iter().any(|known| known.name == *name);
    let given = request.given.iter().filter(takes).copied().collect();
    let picked = Choice { method: &method, given }.name();
    Ok(prepared.with_note(format!("picked {picked}")).with_csr_bytes(csr_bytes))
}

fn choose<T>(csr: &Csr<T>, expected_products: usize) -> Method {
    if csr.nnz() <= FOR_ONE_THREAD {
        return seq::METHOD;
    }
    let for_packing = FOR_PACKING_PER_BYTE * size_of::<T>();
    if expected_products < for_packing { merge::METHOD } else { packed::METHOD }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::generate::Generator;
    use crate::team::Team;

    /// Returns the note about the choice for an n × n grid.
    fn picked(
        n: usize,
        expected_products: usize,
        given: &[(&'static str, &'static str)],
    ) -> String {
        let grid = Generator::parse(&format!("grid2d,n={n}")).unwrap().generate().unwrap();
        let team = Team::floating(1);
        let request = Request { expected_products, given, ..Request::new(&team) };
        prepare::<f64>(&grid, &request).unwrap().note.unwrap()
    }

    #[test]
    fn few_nonzeros_and_few_products_need_no_setup() {
        assert_eq!(picked(16, 9999, &[]), "picked seq");
        assert_eq!(picked(17, 79, &[]), "picked merge");
        assert_eq!(picked(17, 80, &[]), "picked packed");
    }

    #[test]
    fn values_are_compressed_only_on_request() {
        let coded = [("values", "coded")];
        assert_eq!(picked(16, 100, &coded), "picked seq");
        assert_eq!(picked(17, 100, &coded), "picked packed:values=coded");
    }
}
