//! What a paper on a method should state, measured on one generated matrix.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::Passed;
use super::product::{Asked, Case};
use spmv_matrix::Csr;
use spmv_matrix::generate::Generator;
use spmv_matrix::scalar::Scalar;
use spmv_methods::plugin::Entry;
use spmv_methods::team::Team;

pub const MATRIX: &str = "grid3d,n=40,points=7,random=1";
/// The number of products whose median time and whose results are compared.
const PRODUCTS: usize = 21;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub extra_bytes: Option<u64>,
    pub csr_bytes: u64,
    /// The time of the preparation, in products.
    pub setup_products: f64,
    /// Whether all products, also after another preparation, are equal bit for bit.
    pub is_deterministic: bool,
    /// The largest error as a share of the error bound.
    pub error_ratio: f64,
}

impl Facts {
    pub fn of<T: Scalar>(entry: &'static Entry) -> Result<Self, String> {
        let csr: Csr<f64> = Generator::parse(MATRIX)
            .and_then(|generator| generator.generate())
            .map_err(|error| error.to_string())?;
        let csr = csr
            .to_precision::<T>()
            .map_err(|value| format!("{value} is too large for this precision"))?;
        let team =
            Team::floating(std::thread::available_parallelism().map_or(1, |n| n.get().min(4)));
        let case = Case::new(entry, &csr, Asked::plain(&team));
        let (mut ys, mut times, mut setup, mut error_ratio) = (Vec::new(), Vec::new(), 0.0, 0.0f64);
        let mut extra_bytes = None;
        for _ in 0..2 {
            let begun = Instant::now();
            let Some(running) = case.prepare(&mut Passed::default())? else {
                return Err("it does not take the matrix".into());
            };
            setup = begun.elapsed().as_secs_f64();
            extra_bytes = running.info().map_err(|failed| failed.0)?.extra_bytes;
            for _ in 0..PRODUCTS {
                let begun = Instant::now();
                ys.push(case.multiply(&running, 0.3, 0)?);
                times.push(begun.elapsed().as_secs_f64());
            }
            error_ratio = error_ratio.max(case.verify(&running, 0.7, 0)?);
            running.end()?;
        }
        times.sort_by(f64::total_cmp);
        let bytes = bytemuck::cast_slice::<T, u8>;
        Ok(Self {
            extra_bytes,
            csr_bytes: csr.bytes(),
            setup_products: setup / times[times.len() / 2],
            is_deterministic: ys.iter().all(|y| bytes(y) == bytes(&ys[0])),
            error_ratio,
        })
    }
}
