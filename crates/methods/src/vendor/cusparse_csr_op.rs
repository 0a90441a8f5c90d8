//! cuSPARSE's planned CSR product, cusparseSpMVOp, which NVIDIA calls experimental: its default algorithm and both
//! named ones. Setup creates the descriptor, which analyses the matrix, and the plan.
//!
//! Available since cuSPARSE 12.7.3; f32 and named algorithms since 12.8.1. It does not support the transpose.

use super::cusparse;
use crate::device::cusparse::{OpAlgorithm, OpDescriptor, OpPlan, SparseProduct};
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-csr-op",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG_DEFAULT",
    summary: "NVIDIA's planned CSR product; descriptor and plan count as setup",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Inspection,
    // NVIDIA does not document the size of the workspace. This bound allows for a copy of the matrix.
    memory: |extent| extent.vectors() + extent.csr(),
    code: code::<{ OpAlgorithm::Default as u32 }>(),
};

pub const METHOD_ALG1: Method = Method {
    name: "cusparse-csr-op-alg1",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG1",
    summary: "NVIDIA's planned CSR product, algorithm 1",
    code: code::<{ OpAlgorithm::Alg1 as u32 }>(),
    ..METHOD
};

pub const METHOD_ALG2: Method = Method {
    name: "cusparse-csr-op-alg2",
    source: "NVIDIA cuSPARSE, cusparseSpMVOp, CUSPARSE_SPMVOP_ALG2",
    summary: "NVIDIA's planned CSR product, algorithm 2",
    code: code::<{ OpAlgorithm::Alg2 as u32 }>(),
    ..METHOD
};

const fn code<const ALGORITHM: u32>() -> Code {
    Code::Gpu { f64: prepare::<f64, ALGORITHM>, f32: prepare::<f32, ALGORITHM> }
}

fn prepare<'a, T: Value, const ALGORITHM: u32>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Preparation<'a, T> {
    let algorithm = [OpAlgorithm::Alg1, OpAlgorithm::Alg2]
        .into_iter()
        .find(|algorithm| *algorithm as u32 == ALGORITHM)
        .unwrap_or(OpAlgorithm::Default);
    let format = cusparse::csr_format(csr);
    cusparse::prepare_by(csr, request, algorithm, format, (), |product| {
        let plan = Plan::create(&csr.gpu, product)?;
        Ok(move |product: &_| plan.multiply(product))
    })
}

struct Plan {
    gpu: Gpu,
    descriptor: OpDescriptor,
    plan: Option<OpPlan>,
    _workspace: Buffer<u8>,
}

impl Plan {
    fn create(gpu: &Gpu, product: &SparseProduct<OpAlgorithm>) -> Result<Self, Unprepared> {
        let op = gpu.cusparse()?.op()?;
        let workspace = gpu.allocate(op.buffer_size(product)?)?;
        let descriptor = op.create_descriptor(product, workspace.address())?;
        let mut made = Self { gpu: gpu.clone(), descriptor, plan: None, _workspace: workspace };
        made.plan = Some(op.create_plan(descriptor)?);
        Ok(made)
    }

    fn multiply(&self, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed> {
        let op = self.gpu.cusparse().and_then(|sparse| sparse.op());
        let op = op.map_err(|Unavailable(reason)| Failed(reason))?;
        let plan = self.plan.expect("made before the first product");
        self.gpu.library_call("cusparseSpMVOp", || op.multiply(plan, product))
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let Ok(op) = self.gpu.cusparse().and_then(|sparse| sparse.op()) else { return };
        if let Some(plan) = self.plan {
            op.destroy_plan(plan);
        }
        op.destroy_descriptor(self.descriptor);
    }
}
