//! Tests with larger launches; their times are printed.

use std::time::Instant;

use crate::common::{gpu, launch};
use spmv_methods::device::{Buffer, Gpu};

const ROWS: usize = 16_000;
const NONZEROS_PER_ROW: usize = 13;

const WARP_PER_ROW: &str = r#"
    extern "C" __global__ void test(unsigned rows, const unsigned *__restrict__ offsets,
                                    const unsigned *__restrict__ columns,
                                    const VALUE_T *__restrict__ values,
                                    const VALUE_T *__restrict__ x, VALUE_T *__restrict__ y) {
        unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
        if (row >= rows) return;
        VALUE_T sum = 0;
        for (unsigned k = offsets[row] + lane; k < offsets[row + 1]; k += 32)
            sum += values[k] * x[columns[k]];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        if (lane == 0) y[row] = sum;
    }
"#;

/// Prints the time of the second of two runs: the first one compiles and allocates memory.
fn second(name: &str, mut run: impl FnMut()) {
    run();
    let start = Instant::now();
    run();
    eprintln!("{name}: {:.3} ms", 1e3 * start.elapsed().as_secs_f64());
}

#[test]
fn a_warp_per_row() {
    let gpu = gpu(1);
    let nnz = ROWS * NONZEROS_PER_ROW;
    let upload = |gpu: &Gpu, values: Vec<u32>| gpu.upload(&values).unwrap();
    let offsets = upload(&gpu, (0..=ROWS).map(|row| (row * NONZEROS_PER_ROW) as u32).collect());
    let columns = upload(&gpu, (0..nnz).map(|k| (k * 7919 % ROWS) as u32).collect());
    let values = gpu.upload(&vec![2f32; nnz]).unwrap();
    let x = gpu.upload(&vec![1f32; ROWS]).unwrap();
    let y: Buffer<f32> = gpu.allocate(ROWS).unwrap();
    second("a warp for each of 16000 rows", || {
        let rows = ROWS as u32;
        launch(
            &gpu,
            WARP_PER_ROW,
            (ROWS / 4, 128),
            0,
            &[&rows, &offsets, &columns, &values, &x, &y],
        )
        .unwrap();
    });
    assert_eq!(y.to_vec().unwrap(), vec![26f32; ROWS]);
}

#[test]
fn a_block_with_nothing_to_do() {
    let gpu = gpu(1);
    let source = r#"extern "C" __global__ void test() {}"#;
    let module = gpu.compile::<f32>(crate::common::program(source), &[]).unwrap();
    let kernel = module.kernel("test").unwrap();
    second("1024 threads that do nothing", || {
        kernel.launch(1, 1024, 0, &[]).unwrap();
    });
    second("100 blocks of 256 threads that do nothing", || {
        kernel.launch(100, 256, 0, &[]).unwrap();
    });
}

#[test]
fn blocks_with_many_barriers() {
    let source = r#"
        extern "C" __global__ void test(const float *in, volatile unsigned *flags, float *out) {
            __shared__ float sums[256];
            unsigned t = threadIdx.x;
            sums[t] = in[blockIdx.x * 256 + t];
            for (unsigned distance = 1; distance < 256; distance *= 2) {
                __syncthreads();
                float other = t >= distance ? sums[t - distance] : 0;
                __syncthreads();
                sums[t] += other;
            }
            if (t == 255) {
                if (blockIdx.x > 0) while (flags[blockIdx.x - 1] == 0) {}
                __threadfence();
                out[blockIdx.x] = sums[t] + (blockIdx.x > 0 ? out[blockIdx.x - 1] : 0);
                __threadfence();
                flags[blockIdx.x] = 1;
            }
        }
    "#;
    let gpu = gpu(1);
    let input = gpu.upload(&vec![1f32; 800 * 256]).unwrap();
    let mut flags: Buffer<u32> = gpu.allocate(800).unwrap();
    let out: Buffer<f32> = gpu.allocate(800).unwrap();
    second("800 blocks that scan and wait for their neighbours", || {
        flags.fill(0).unwrap();
        launch(&gpu, source, (800, 256), 0, &[&input, &flags, &out]).unwrap();
    });
    assert!(out.to_vec().unwrap().iter().zip(1..).all(|(&sum, n)| sum == (n * 256) as f32));
}

#[test]
fn atomics_of_every_thread() {
    let source = r#"
        extern "C" __global__ void test(float *out) {
            unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
            atomicAdd(&out[k % 100], 1.0f);
        }
    "#;
    let gpu = gpu(1);
    let mut out: Buffer<f32> = gpu.allocate(100).unwrap();
    second("200000 atomic additions", || {
        out.fill(0).unwrap();
        launch(&gpu, source, (800, 250), 0, &[&out]).unwrap();
    });
    assert_eq!(out.to_vec().unwrap(), vec![2000f32; 100]);
}
