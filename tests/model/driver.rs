//! Tests the model as a driver: properties, times, memory, and the reproducibility of seeds.

use std::time::Duration;

use super::{SEEDS, gpu, output};
use spmv_methods::device::Buffer;
use spmv_methods::device::driver::Driver;
use spmv_methods::device::model::Model;

#[test]
fn the_device_has_properties() {
    let gpu = gpu(0);
    assert_eq!(gpu.facts().name, "model of a tiny GPU");
    assert_eq!((gpu.facts().warp_size, gpu.facts().compute_capability), (32, (9, 0)));
    assert!(gpu.clocks().is_none());
    let reason = "cuSPARSE's kernels are machine code, which the model cannot execute";
    assert_eq!(gpu.cusparse().err().map(|unavailable| unavailable.0).as_deref(), Some(reason));
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
    let mut to: Buffer<u32> = gpu.allocate(4).unwrap();
    assert_eq!(to.to_vec().unwrap(), [u32::MAX; 4]);
    assert_eq!(to.address() % 256, 0);
    to.upload_some(&[(0, 1), (1, 2)]).unwrap();
    to.copy_half().unwrap();
    assert_eq!(to.to_vec().unwrap(), [1, 2, 1, 2]);
    to.fill(7).unwrap();
    assert_eq!(to.to_vec().unwrap(), [0x0707_0707; 4]);
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
    let places: Vec<_> = SEEDS.map(|seed| output(seed, source, (1, 32), 0, 33).unwrap()).collect();
    for (a, b) in [(0, 1), (0, 31), (7, 9), (30, 31)] {
        assert!(places.iter().any(|place| place[a] < place[b]), "{a} is never before {b}");
        assert!(places.iter().any(|place| place[a] > place[b]), "{b} is never before {a}");
    }
}
