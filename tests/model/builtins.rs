//! Compares every builtin with the same computation on the host.

use super::{SEEDS, gpu, launch};
use spmv_methods::device::Buffer;

/// Runs a kernel that reads `values` and writes `width` results per thread.
fn run(seed: u64, source: &str, threads: usize, values: &[u32], width: usize) -> Vec<u32> {
    let gpu = gpu(seed);
    let values = gpu.upload(values).unwrap();
    let out: Buffer<u32> = gpu.allocate(threads * width).unwrap();
    launch(&gpu, source, (1, threads), 0, &[&values, &out]).unwrap();
    out.to_vec().unwrap()
}

fn values(len: usize) -> Vec<u32> {
    (0..len as u32).map(|k| k.wrapping_mul(2_654_435_769) >> (k * 5 % 32)).collect()
}

#[test]
fn shuffles_in_all_widths() {
    let source = r#"
        extern "C" __global__ void test(const unsigned *in, unsigned *out) {
            unsigned t = threadIdx.x, mine = in[t], *to = out + t * 24;
            for (int width = 32; width >= 4; width /= 2) {
                *to++ = __shfl_sync(0xffffffff, mine, t * 7 + 3, width);
                *to++ = __shfl_up_sync(0xffffffff, mine, 3, width);
                *to++ = __shfl_down_sync(0xffffffff, mine, 3, width);
                *to++ = __shfl_xor_sync(0xffffffff, mine, 5, width);
                *to++ = (unsigned)__shfl_xor_sync(0xffffffff, (double)mine, 1, width);
                *to++ = __shfl_xor_sync(0xffffffff, 5ull << 32 | mine, 2, width) >> 3;
            }
        }
    "#;
    let values = values(64);
    for seed in SEEDS {
        let out = run(seed, source, 64, &values, 24);
        for (t, got) in out.chunks(24).enumerate() {
            for (round, got) in got.chunks(6).enumerate() {
                let width = 32 >> round;
                let (first, lane) = (t / width * width, t % width);
                let down = if lane + 3 < width { t + 3 } else { t };
                let up = if lane < 3 { t } else { t - 3 };
                // A lane may read from segments before its own, but not from those behind it.
                let other = ((t % 32) ^ 5) + t / 32 * 32;
                let other = if other < first + width { other } else { t };
                assert_eq!(got[0], values[first + (t * 7 + 3) % width]);
                assert_eq!(got[1..4], [values[up], values[down], values[other]]);
                assert_eq!(got[4], values[t ^ 1]);
                assert_eq!(got[5], ((5 << 32 | u64::from(values[t ^ 2])) >> 3) as u32);
            }
        }
    }
}

const VOTES: &str = r#"
    extern "C" __global__ void test(const unsigned *in, unsigned *out) {
        unsigned t = threadIdx.x, mine = in[t], *to = out + t * 13;
        // Two disjoint masks in each warp, whose lanes execute at different times.
        unsigned mask = t % 32 % 3 == 0 ? 0x49249249 : ~0x49249249u;
        for (unsigned k = 0; k < t % 32 % 3; ++k) __nanosleep(1);
        *to++ = __ballot_sync(mask, mine & 1);
        *to++ = __any_sync(mask, mine == in[32]);
        *to++ = __all_sync(mask, mine < 0x80000000);
        *to++ = __match_any_sync(mask, mine % 4);
        int all;
        *to++ = __match_all_sync(mask, mine / 4 * 0, &all) + all;
        *to++ = __reduce_add_sync(mask, mine);
        *to++ = __reduce_min_sync(mask, mine);
        *to++ = __reduce_max_sync(mask, mine);
        *to++ = __reduce_min_sync(mask, (int)mine);
        *to++ = __reduce_max_sync(mask, (int)mine);
        *to++ = __reduce_and_sync(mask, mine | 0x10);
        *to++ = __reduce_or_sync(mask, mine & 0xff0);
        *to++ = __reduce_xor_sync(mask, mine);
    }
"#;

#[test]
fn votes_matches_and_reductions_under_masks() {
    let threads = 64 + 9;
    let values = values(threads);
    for seed in SEEDS {
        let out = run(seed, VOTES, threads, &values, 13);
        for (t, got) in out.chunks(13).enumerate() {
            let warp = t / 32 * 32;
            let lanes: Vec<usize> =
                (warp..threads.min(warp + 32)).filter(|lane| (lane % 32 % 3 == 0) == (t % 32 % 3 == 0)).collect();
            let mask_of = |holds: &dyn Fn(u32) -> bool| {
                let chosen = lanes.iter().filter(|&&lane| holds(values[lane]));
                chosen.fold(0u32, |mask, lane| mask | 1 << (lane % 32))
            };
            let all = || lanes.iter().map(|&lane| values[lane]);
            let expected = [
                mask_of(&|v| v & 1 == 1),
                u32::from(all().any(|v| v == values[32])),
                u32::from(all().all(|v| v < 1 << 31)),
                mask_of(&|v| v % 4 == values[t] % 4),
                mask_of(&|_| true) + 1,
                all().fold(0, u32::wrapping_add),
                all().min().unwrap(),
                all().max().unwrap(),
                all().map(|v| v as i32).min().unwrap() as u32,
                all().map(|v| v as i32).max().unwrap() as u32,
                all().fold(u32::MAX, |a, b| a & (b | 0x10)),
                all().fold(0, |a, b| a | b & 0xff0),
                all().fold(0, |a, b| a ^ b),
            ];
            assert_eq!(got, expected, "thread {t}");
        }
    }
}

#[test]
fn match_all_of_different_values_and_the_active_mask() {
    let source = r#"
        extern "C" __global__ void test(const unsigned *in, unsigned *out) {
            int all;
            unsigned same = __match_all_sync(0xffffffff, threadIdx.x == 9, &all);
            out[threadIdx.x] = same * 2 + all + (__activemask() == 0xffffffff) * 10;
        }
    "#;
    assert_eq!(run(2, source, 32, &[0], 1), [10; 32]);
}

#[test]
fn atomics_return_the_old_value() {
    let source = r#"
        extern "C" __global__ void test(const unsigned *in, unsigned *out) {
            unsigned *cell = out + 24;
            for (int k = 0; k < 6; ++k) cell[k] = 0;
            long long *wide = (long long *)(out + 26);
            float *real = (float *)(out + 28);
            for (int k = 0; k < 6; ++k) out[k] = cell[k] = in[k];
            unsigned *to = out + 6;
            *to++ = atomicSub(cell, 3);
            *to++ = atomicMin(cell, 4);
            *to++ = atomicMax(cell, 9);
            *to++ = atomicAnd(cell, 12);
            *to++ = atomicExch(cell, 6);
            *to++ = atomicDec(cell, 100);
            *cell = 0;
            *to++ = atomicDec(cell, 100);
            *to++ = atomicInc(cell, 99);
            *to++ = atomicCAS(cell, 1, 2);
            *to++ = atomicCAS(cell, 0, 2);
            *to++ = *cell;
            *wide = -7;
            *to++ = atomicMin(wide, -9ll) + atomicMax(wide, 1ll) + *wide;
            *real = 1.5f;
            *to++ = atomicExch(real, 2.5f) * 100 + atomicAdd(real, 1) * 10 + *real * 2;
            __stcs(cell, 77u);
            *to++ = __ldcg(cell) + __ldcs(cell);
            long long before = clock64();
            *to++ = clock64() > before;
        }
    "#;
    let out = run(1, source, 1, &[20, 0, 0, 0, 0, 0], 30);
    assert_eq!(out[6..21], [20, 17, 4, 9, 8, 6, 0, 100, 0, 0, 2, (-15i32) as u32, 182, 154, 1]);
}
