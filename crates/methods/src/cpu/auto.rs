//! Chooses one of this project's methods by measuring what packing costs and gains.
//!
//! On a matrix of a few hundred nonzeros, one thread finishes before a team could start, so `seq` is chosen. For all
//! others, `merge` needs no setup and does not depend on the row lengths. `packed` is nearly always faster, but packing
//! costs as much as 8 to 100 products. So the choice depends on the number of planned products:
//! - If only a few are planned, or the matrix is too small for a sample that costs little, `merge` is chosen.
//! - If more are planned, a sample of the rows is packed and multiplied in both forms. `packed` is chosen if the
//!   predicted time of the setup and all products is less than that of `merge`. The size of the sample grows with the
//!   number of planned products.
//! - If many are planned and the prediction is not clear, the whole matrix is packed, and a few products of both
//!   methods are compared.
//!
//! The choice is part of the setup, as is the setup of the chosen method.
//!
//! Memory: that of `packed`, and one vector to compare products.

use std::time::Instant;

use super::packed::trial::predict;
use super::prelude::*;
use super::{merge, packed, seq};
use crate::method::{ANY_NUMBER, Choice};

pub const NAME: &str = METHOD.name;

pub const METHOD: Method = Method {
    name: "auto",
    source: "this project",
    summary: "seq, merge or packed, by measured costs and the number of planned products",
    parameters: &[
        packed::METHOD.parameters[0],
        Parameter {
            name: "products",
            values: ANY_NUMBER,
            meaning: "the number of planned products, in place of that of the measurement",
        },
    ],
    setup: Setup::Inspection,
    memory,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

/// The largest number of nonzeros for which one thread is chosen: these take as long as entering a parallel region.
const FOR_ONE_THREAD: usize = 1000;
/// A sample has this fraction of the nonzeros for each planned product. Packing takes about as long as 20 to 50
/// products and measuring takes 10 more, so the sample costs 1 to 2 % of the planned products, and not much more than
/// one product.
const SAMPLE_PER_PRODUCT: f64 = 2.5e-4;
const LARGEST_FRACTION: f64 = 1.0 / 16.0;
/// The smallest and the largest number of nonzeros in the sample of a thread: enough to measure, and no more than
/// needed.
const SAMPLE: [usize; 2] = [2048, 65_536];
/// With fewer planned products packing does not pay: it takes at least as long as 8 of them, and a product of `packed`
/// takes about half as long at best. Even the smallest sample takes as long as two to four products.
const TO_SAMPLE: usize = 20;
/// The number of planned products from which both methods may be prepared and compared. If `merge` is then faster,
/// packing was of no use, which costs about 3 % of so many products.
const TO_COMPARE: usize = 1000;
/// The predicted ratios below which `packed` is chosen, and from which `merge` is chosen. They are equal if the methods
/// cannot be compared. With a comparison they leave room for an error of the prediction.
const WITHOUT_COMPARISON: [f64; 2] = [1.0, 1.0];
const TO_BE_COMPARED: [f64; 2] = [0.95, 1.2];
/// The number of times that both methods are measured in turn. The first products after packing can take several times
/// as long as later ones, until the caches hold what they can of the packed matrix.
const TURNS: usize = 2;
/// The number of products of a method in each turn. All but the first count.
const PRODUCTS: usize = 3;
/// `merge` is only chosen by a comparison if products of `packed` take more than this factor longer: `packed` is nearly
/// always faster, the time of a few products is uncertain, and those of `packed` are not yet as fast as later ones.
const CLEARLY_SLOWER: f64 = 1.2;

fn memory(extent: &Extent) -> u64 {
    (packed::METHOD.memory)(extent) + extent.rows * extent.value
}

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let products = request.number("products").unwrap_or(request.expected_products);
    if csr.nnz() <= FOR_ONE_THREAD {
        return prepare_by(&seq::METHOD, csr, request);
    }
    let mut merge = prepare_by(&merge::METHOD, csr, request)?;
    let ratio = predicted_ratio(csr, request, products);
    let [surely, hardly] = if products < TO_COMPARE { WITHOUT_COMPARISON } else { TO_BE_COMPARED };
    if ratio >= hardly {
        return Ok(merge);
    }
    let mut packed = prepare_by(&packed::METHOD, csr, request)?;
    // The values of the matrix are used as x: they are in memory, but a new vector would have to be paged in.
    let pays = ratio < surely
        || csr.values().get(..csr.cols()).is_none_or(|x| {
            let methods = [&mut packed, &mut merge];
            is_not_clearly_slower(fastest_products(methods, x, csr.rows(), request.now))
        });
    Ok(if pays { packed } else { merge })
}

/// Returns the predicted time of packing and of the planned products of `packed`, divided by that of the products of
/// `merge`. Without a sample, because it would cost too much, the methods are compared if possible.
fn predicted_ratio<T: Scalar + Lanes>(csr: &Csr<T>, request: &Request, products: usize) -> f64 {
    let unknown = if products < TO_COMPARE { f64::INFINITY } else { 1.0 };
    let sample = sample_size(csr.nnz(), products, request.team.len());
    let predicted = sample.and_then(|sample| predict(csr, request, sample));
    predicted.map_or(unknown, |of| (of.setup / products as f64 + of.packed) / of.rows)
}

/// Returns the number of nonzeros of each thread in the sample; `None` if a sample would cost too much or be of no use.
fn sample_size(nonzeros: usize, products: usize, threads: usize) -> Option<usize> {
    let fraction = (SAMPLE_PER_PRODUCT * products as f64).min(LARGEST_FRACTION);
    let sample = (fraction * nonzeros as f64) as usize / threads;
    let pays = products >= TO_SAMPLE && sample >= SAMPLE[0];
    pays.then_some(sample.min(SAMPLE[1]))
}

fn prepare_by<'a, T: Scalar + Lanes>(method: &Method, csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let prepared = method.prepare_on_host(csr, request);
    let prepared = prepared.map_err(|why| Unavailable(why.to_string()))?;
    let csr_bytes = method.csr_bytes(csr.bytes(), &prepared);
    let takes = |(name, _): &&(&str, _)| method.parameters.iter().any(|known| known.name == *name);
    let given = request.given.iter().filter(takes).copied().collect();
    Ok(prepared.picked(Choice { method, given }.name()).with_csr_bytes(csr_bytes))
}

fn is_not_clearly_slower([packed, merge]: [f64; 2]) -> bool {
    packed <= CLEARLY_SLOWER * merge
}

/// Returns the time of the fastest product of each method, in seconds; infinity for a method that fails.
pub fn fastest_products<T: Scalar, const N: usize>(
    mut methods: [&mut Prepared<'_, T>; N],
    x: &[T],
    rows: usize,
    now: fn() -> Instant,
) -> [f64; N] {
    let mut y = vec![T::zero(); rows];
    let mut fastest = [f64::INFINITY; N];
    // Several products of one method follow each other, because both methods together may not fit in a cache in which
    // each of them fits. The first one of a turn loads what it needs into the caches, and pages in y, so it does not
    // count.
    for _ in 0..TURNS {
        for (method, fastest) in methods.iter_mut().zip(&mut fastest) {
            for product in 0..PRODUCTS {
                let start = now();
                if method.multiply(T::one(), x, T::zero(), &mut y).is_ok() && product > 0 {
                    *fastest = fastest.min((now() - start).as_secs_f64());
                }
            }
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Failed;
    use crate::team::Team;
    use spmv_matrix::generate::Generator;

    type Given<'a> = &'a [(&'static str, &'static str)];

    /// Returns the choice for an n × n grid.
    fn picked(n: usize, expected_products: usize, given: Given) -> String {
        let grid = Generator::parse(&format!("grid2d,n={n}")).unwrap().generate().unwrap();
        let team = Team::floating(1);
        let request = Request { expected_products, given, ..Request::new(&team) };
        prepare::<f64>(&grid, &request).unwrap().picked.unwrap()
    }

    #[test]
    fn few_nonzeros_and_few_products_need_no_setup() {
        assert_eq!(picked(16, 9999, &[]), "seq");
        assert_eq!(picked(17, 10, &[]), "merge");
        assert_eq!(picked(100, 40, &[]), "merge");
        assert_eq!(picked(100, 9999, &[("products", "1")]), "merge");
    }

    #[test]
    fn a_sample_grows_with_the_nonzeros_and_the_products_within_its_limits() {
        let million = |products| sample_size(1_000_000, products, 2);
        assert_eq!([19, 20, 40, 100].map(million), [None, Some(2500), Some(5000), Some(12_500)]);
        assert_eq!([250, 9999].map(million), [Some(31_250); 2]);
        assert_eq!(sample_size(1 << 30, 9999, 2), Some(65_536));
        assert_eq!(sample_size(1 << 16, 9999, 2), Some(2048));
        assert_eq!(sample_size((1 << 16) - 32, 9999, 2), None);
    }

    #[test]
    fn values_are_compressed_only_on_request() {
        let coded = [("values", "coded")];
        assert_eq!(picked(16, 100, &coded), "seq");
        let of_two = ["packed:values=coded", "merge"];
        assert!(of_two.contains(&&picked(100, 1000, &coded)[..]));
    }

    /// Returns a method of which each product does what is given.
    fn products<'a>(csr: &'a Csr<f64>, product: impl Fn() -> Result<(), Failed> + Send + 'a) -> Prepared<'a, f64> {
        Prepared::new(csr, 0, move |_, _: &[f64], _, _: &mut [f64]| product())
    }

    #[test]
    fn a_method_that_fails_is_never_chosen() {
        let csr = Csr::from_triplets(1, 1, &[(0, 0, 1.0)]);
        let mut fails = products(&csr, || Err(Failed("deliberate failure".into())));
        let mut works = products(&csr, || Ok(()));
        let times = fastest_products([&mut fails, &mut works], &[1.0], 1, Instant::now);
        assert!(times[0].is_infinite() && times[1].is_finite(), "{times:?}");
        assert!(!is_not_clearly_slower(times));
    }

    #[test]
    fn the_methods_take_turns() {
        let csr = Csr::from_triplets(1, 1, &[(0, 0, 1.0)]);
        let order = &std::sync::Mutex::new(String::new());
        let named = |name: char| {
            products(&csr, move || {
                order.lock().unwrap().push(name);
                Ok(())
            })
        };
        let methods = [&mut named('p'), &mut named('m')];
        let times = fastest_products(methods, &[1.0], 1, Instant::now);
        assert!(times.iter().all(|time| time.is_finite()));
        assert_eq!(*order.lock().unwrap(), "pppmmmpppmmm");
    }
}
