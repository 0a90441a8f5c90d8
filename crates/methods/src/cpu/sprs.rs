//! The CSR product of the crate `sprs`, for comparison with the Rust ecosystem: `prod::mul_acc_mat_vec_csr`
//! on one thread, on a view of the same arrays.
//!
//! That function adds to y, so y is scaled (or cleared) first, which is part of the product's time. With α
//! ≠ 1 the result goes through a temporary vector of `rows` values.

use sprs::MulAcc;
use sprs::prod::mul_acc_mat_vec_csr;

use super::prelude::*;
use super::rows::scale;

pub const METHOD: Method = Method {
    name: "sprs",
    source: "crate sprs 0.11, prod::mul_acc_mat_vec_csr",
    summary: "the sequential product of the Rust library; its time includes scaling y first",
    memory: |extent| extent.rows * extent.value,
    ..Method::new(Code::Cpu { parallel: false, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + MulAcc>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let shape = (csr.rows(), csr.cols());
    let arrays = (csr.row_offsets(), csr.column_indices(), csr.values());
    let view = sprs::CsMatViewI::try_new(shape, arrays.0, arrays.1, arrays.2)
        .map_err(|(.., error)| Unavailable(format!("sprs does not accept the matrix: {error}")))?;
    let scratch_rows = if request.alpha == 1.0 { 0 } else { csr.rows() };
    let mut scratch = vec![T::zero(); scratch_rows];
    let extra_bytes = Some(size_of_val(&scratch[..]) as u64);
    let product = move |Operands { alpha, x, beta }: Operands<T>, y: &mut [T]| {
        scale(beta, y);
        if alpha == T::one() {
            mul_acc_mat_vec_csr(view, x, y);
        } else {
            scratch.fill(T::zero());
            mul_acc_mat_vec_csr(view, x, &mut scratch[..]);
            y.iter_mut().zip(&scratch).for_each(|(y, &sum)| *y += alpha * sum);
        }
    };
    Ok(multiplying(csr, 0, product).with_library(VERSION, extra_bytes))
}

/// The version of sprs that this program is built with: Cargo.toml allows no other.
const VERSION: &str = "sprs 0.11.6";

#[cfg(test)]
#[test]
fn the_version_is_that_of_the_manifest() {
    let version = VERSION.replace(' ', " = \"=") + "\"\n";
    assert!(include_str!("../../../../Cargo.toml").contains(&version), "{version}");
}
