//! Tests the model as a driver: properties, times, memory, and the reproducibility of seeds.

use std::time::Duration;

use crate::common::{gpu, output};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::cusparse::{
    CuSparse, DenseVector, SpMvOp, SparseLayout, SparseMatrix, SparseProduct,
};
use spmv_methods::device::driver::{Address, Driver};
use spmv_methods::device::model::Model;
use spmv_methods::device::{Buffer, Gpu};
use spmv_methods::method::{Failed, Unavailable, Unprepared};

/// A fake cuSPARSE that only returns its version.
struct Fake;

impl CuSparse for Fake {
    fn version(&self) -> String {
        "fake 1".into()
    }

    fn create_matrix(&self, _: &SparseLayout) -> Result<SparseMatrix, Unprepared> {
        unreachable!()
    }

    fn destroy_matrix(&self, _: SparseMatrix) {}

    fn create_vector(&self, _: u64, _: Address, _: Precision) -> Result<DenseVector, Failed> {
        unreachable!()
    }

    fn set_vector(&self, _: DenseVector, _: Address) -> Result<(), Failed> {
        unreachable!()
    }

    fn destroy_vector(&self, _: DenseVector) {}

    fn buffer_size(&self, _: &SparseProduct) -> Result<usize, Unprepared> {
        unreachable!()
    }

    fn preprocess(&self, _: &SparseProduct, _: Address) -> Result<(), Unprepared> {
        unreachable!()
    }

    fn multiply(&self, _: &SparseProduct, _: Address) -> Result<(), Failed> {
        unreachable!()
    }

    fn op(&self) -> Result<&dyn SpMvOp, Unavailable> {
        unreachable!()
    }
}

#[test]
fn cusparse_is_the_one_given_to_the_model() {
    let none = gpu(0).cusparse().err().map(|unavailable| unavailable.0);
    assert_eq!(
        none.as_deref(),
        Some("cuSPARSE's kernels are machine code, which the model cannot execute")
    );
    let gpu = Gpu::new(Model::tiny(0).with_cusparse(Box::new(Fake)));
    assert_eq!(gpu.cusparse().unwrap().version(), "fake 1");
}

#[test]
fn the_device_has_properties() {
    let gpu = gpu(0);
    assert_eq!(gpu.facts().name, "model of a tiny GPU");
    assert_eq!((gpu.facts().warp_size, gpu.facts().compute_capability), (32, (9, 0)));
    assert!(gpu.clocks().is_none());
}

#[test]
fn each_enqueued_operation_takes_a_millisecond() {
    let model = Model::tiny(1);
    let address = model.allocate(64).unwrap();
    let first = model.record().unwrap();
    model.fill(address, 0, 64).unwrap();
    model.copy(address, address, 64).unwrap();
    let second = model.record().unwrap();
    let third = model.record().unwrap();
    let times = model.times(&[first, second, third]).unwrap();
    assert_eq!(times, [2, 0].map(Duration::from_millis));
    assert_eq!(model.times(&[third]), Ok(vec![]));
    model.release(address);
}

#[test]
#[should_panic(expected = "1 buffers and 0 graphs were not released")]
fn memory_must_be_released() {
    Model::tiny(1).allocate(64).unwrap();
}

#[test]
fn copies_fills_and_poison() {
    let gpu = gpu(0);
    let from = gpu.upload(&[1u32, 2, 3]).unwrap();
    let mut to: Buffer<u32> = gpu.allocate(3).unwrap();
    assert_eq!(to.to_vec().unwrap(), [u32::MAX; 3]);
    assert_eq!(to.address() % 256, 0);
    to.copy_from(&from).unwrap();
    assert_eq!(to.to_vec().unwrap(), [1, 2, 3]);
    to.fill(7).unwrap();
    assert_eq!(to.to_vec().unwrap(), [0x0707_0707; 3]);
}

#[test]
fn the_driver_checks_bounds() {
    let model = Model::tiny(0);
    let address = model.allocate(16).unwrap();
    assert!(model.fill(address, 0, 17).is_err());
    assert!(model.upload(&[(&[0; 17], address)]).is_err());
    assert!(model.download(address + 8, &mut [0; 9]).is_err());
    assert!(model.copy(address, address + 1, 16).is_err());
    model.release(address);
    assert!(model.fill(address, 0, 1).is_err());
}

#[test]
fn a_seed_repeats_its_schedule_and_another_does_not() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            unsigned place = atomicAdd(out, 1);
            out[1 + place] = blockIdx.x * 64 + threadIdx.x;
        }
    "#;
    let order = |seed| output(seed, source, (8, 64), 0, 513).unwrap();
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn the_lanes_of_an_atomic_execute_in_any_order() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            out[threadIdx.x] = atomicAdd(&out[32], 1);
        }
    "#;
    let places: Vec<_> =
        (0..20).map(|seed| output(seed, source, (1, 32), 0, 33).unwrap()).collect();
    for (a, b) in [(0, 1), (0, 31), (7, 9), (30, 31)] {
        assert!(places.iter().any(|place| place[a] < place[b]), "{a} is never before {b}");
        assert!(places.iter().any(|place| place[a] > place[b]), "{b} is never before {a}");
    }
}

#[test]
fn many_devices_are_cheap() {
    for seed in 0..200 {
        let gpu = gpu(seed);
        let buffer = gpu.upload(&[seed; 100]).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [seed; 100]);
    }
}
