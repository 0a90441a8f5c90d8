//! Tests the results of correct kernels, which must not depend on the schedule.

use super::{SEEDS, dim, gpu, output, program};
use spmv_methods::device::Buffer;

#[test]
fn thread_and_block_indices_are_right() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            unsigned size = blockDim.x * blockDim.y * blockDim.z;
            out[block * size + thread] = block * 1000 + thread + warpSize;
        }
    "#;
    let out = output(1, source, (dim(3, 2, 2), dim(5, 4, 2)), 0, 480).unwrap();
    assert!(out.iter().zip(0..).all(|(&value, k)| value == k / 40 * 1000 + k % 40 + 32));
}

#[test]
fn barriers_count_predicates() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            int t = threadIdx.x;
            unsigned count = __syncthreads_count(t % 3 == 0);
            unsigned some = __syncthreads_or(t == 69), none = __syncthreads_or(t == 70);
            unsigned all = __syncthreads_and(t < 70), most = __syncthreads_and(t < 69);
            out[t] = count * 10000 + some * 1000 + none * 100 + all * 10 + most;
        }
    "#;
    for seed in SEEDS {
        assert_eq!(output(seed, source, (1, 70), 0, 70).unwrap(), [24 * 10000 + 1010; 70]);
    }
}

#[test]
fn atomics_of_many_blocks_lose_nothing() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
            atomicAdd(&out[0], 1);
            atomicAdd((float *)&out[1], 0.5f);
            atomicAdd((int *)&out[2], -1);
            atomicMax(&out[3], k);
            atomicOr(&out[4], 1u << k % 32);
            atomicXor(&out[5], k);
            atomicAdd((double *)&out[6], 0.25);
            atomicAdd((unsigned long long *)&out[8], 1ull << 30);
            for (unsigned seen = ((volatile unsigned *)out)[10];;) {
                unsigned before = atomicCAS(&out[10], seen, seen + 2);
                if (before == seen) break;
                seen = before;
            }
            atomicInc(&out[11], 6);
        }
    "#;
    for seed in SEEDS {
        let out = output(seed, source, (9, 40), 0, 12).unwrap();
        let wide = |k: usize| u64::from(out[k]) | u64::from(out[k + 1]) << 32;
        assert_eq!(out[..4], [360, 180f32.to_bits(), -360i32 as u32, 359]);
        assert_eq!(out[4..6], [u32::MAX, (0..360).fold(0, |a, b| a ^ b)]);
        assert_eq!((f64::from_bits(wide(6)), wide(8)), (90.0, 360 << 30));
        assert_eq!(out[10..], [720, 360 % 7]);
    }
}

#[test]
fn a_grid_of_one_wave_can_synchronise() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ unsigned seen;
            if (threadIdx.x == 0) {
                __threadfence();
                atomicAdd(out, 1);
                while (atomicAdd(out, 0) != gridDim.x) __nanosleep(20);
                __threadfence();
                seen = *(volatile unsigned *)out;
            }
            __syncthreads();
            out[1 + blockIdx.x * blockDim.x + threadIdx.x] = seen;
        }
    "#;
    for seed in SEEDS {
        assert!(output(seed, source, (8, 100), 0, 801).unwrap().iter().all(|&seen| seen == 8));
    }
}

#[test]
fn a_block_may_wait_for_the_block_below_it() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            volatile unsigned *sums = out;
            unsigned block = blockIdx.x;
            __shared__ unsigned before;
            if (threadIdx.x == 0) {
                before = 0;
                if (block > 0) while ((before = sums[block - 1]) == 0) {}
            }
            __syncthreads();
            __threadfence();
            if (threadIdx.x == 33) sums[block] = before + block + 1;
        }
    "#;
    for seed in SEEDS {
        // At most 128 of these blocks are resident.
        let out = output(seed, source, (200, 64), 0, 200).unwrap();
        assert!(out.iter().zip(1..).all(|(&sum, n)| sum == n * (n + 1) / 2));
    }
}

#[test]
fn shared_memory_static_and_dynamic() {
    let source = r#"
        extern __shared__ __align__(16) unsigned char room[];
        template <class T> __device__ T *part(unsigned bytes) { return (T *)(room + bytes); }
        extern "C" __global__ void __launch_bounds__(64) test(unsigned *out) {
            __shared__ unsigned short narrow[2][32];
            __shared__ double
                total;
            volatile __shared__ unsigned flags[64 / 32];
            unsigned t = threadIdx.x, *wide = part<unsigned>(0);
            narrow[t / 32][t % 32] = t;
            wide[t] = t * 100;
            if (t == 0) total = 0.5;
            if (t % 32 == 0) flags[t / 32] = 7;
            __syncthreads();
            out[t] = wide[63 - t] + narrow[1 - t / 32][t % 32] + (unsigned)(total * 2) + flags[t / 32];
        }
    "#;
    for seed in SEEDS {
        let out = output(seed, source, (1, 64), 256, 64).unwrap();
        let right = (0..64).map(|t| (63 - t) * 100 + (t + 32) % 64 + 8);
        assert!(out.into_iter().eq(right));
    }
}

#[test]
fn the_precision_and_constants_are_defined() {
    let source = r#"
        extern "C" __global__ void test(VALUE_T *out, int sign, unsigned long long big, double f) {
            out[threadIdx.x] = sign * WIDTH + VALUE_T(big) + VALUE_T(f);
        }
    "#;
    let gpu = gpu(0);
    let module = gpu.compile::<f64>(program(source), &[("WIDTH", 6)]).unwrap();
    let out: Buffer<f64> = gpu.allocate(4).unwrap();
    let kernel = module.kernel("test").unwrap();
    kernel.launch(1, 4, 0, &[&out, &-1i32, &(1u64 << 40), &0.25f64]).unwrap();
    assert_eq!(out.to_vec().unwrap(), [(1u64 << 40) as f64 - 5.75; 4]);
    assert_eq!(kernel.resident_blocks(1024, 0).unwrap(), 8);
    assert!(module.kernel("other").is_err());
}
