//! What kernels end with whose threads fail to meet, or to wait.

mod common;

use common::{check, fault, output};

#[test]
fn a_missing_barrier_shows_under_some_seed() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ unsigned line[64];
            line[threadIdx.x] = threadIdx.x;
            out[threadIdx.x] = line[63 - threadIdx.x];
        }
    "#;
    let wrong = |seed| {
        let out = output(seed, source, (1, 64), 0, 64).unwrap();
        out.contains(&u32::MAX)
    };
    assert!((0..20).any(wrong));
}

#[test]
fn a_missing_warp_barrier_shows_under_some_seed() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ unsigned line[32];
            unsigned t = threadIdx.x, sum = 0;
            for (unsigned round = 0; round < 4; ++round) {
                line[t] = t + round;
                __syncwarp();
                sum += line[(t + 1) % 32];
            }
            out[t] = sum;
        }
    "#;
    let right = |seed| {
        let out = output(seed, source, (1, 32), 0, 32).unwrap();
        out.iter().zip(0..).all(|(&sum, t)| sum == 4 * ((t + 1) % 32) + 6)
    };
    assert!(!(0..20).all(right));
}

#[test]
fn a_sum_without_an_atomic_shows_under_some_seed() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) { out[threadIdx.x % 2] += 1; }
    "#;
    let right = |seed| output(seed, source, (4, 64), 0, 2).unwrap() == [128, 128];
    assert!(!(0..20).all(right));
}

#[test]
fn a_barrier_in_a_branch() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x < 32)
                __syncthreads();
            else
                __syncthreads();
        }
    "#;
    check(
        &fault(source, (1, 64), 0, 1),
        &["test: block (0,0,0) thread (", "__syncthreads at test.cu:4", "test.cu:6", "branch"],
    );
}

#[test]
fn a_barrier_after_some_returned() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x == 40 && blockIdx.x == 3) return;
            __syncthreads();
        }
    "#;
    check(
        &fault(source, (6, 64), 0, 1),
        &["block (3,0,0) thread (0,0,0): ", "at test.cu:4 lacks thread (40,0,0), which has exited"],
    );
}

#[test]
fn a_barrier_that_others_wait_for_elsewhere() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x < 32) __syncthreads();
            else if (threadIdx.x == 33) __syncwarp();
        }
    "#;
    check(
        &fault(source, (1, 64), 0, 1),
        &["thread (33,0,0): __syncwarp at test.cu:4", "lane 0 has exited"],
    );
}

#[test]
fn a_shuffle_without_a_lane_of_its_mask() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x != 7) out[0] = __shfl_down_sync(0xffffffff, threadIdx.x, 1);
        }
    "#;
    check(
        &fault(source, (1, 32), 0, 1),
        &["__shfl_down_sync at test.cu:3", "lacks the lanes 0x00000080: lane 7 has exited"],
    );
}

#[test]
fn a_shuffle_in_two_branches() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x < 16) out[0] = __shfl_xor_sync(0xffffffff, 1, 1);
            else out[0] = __shfl_xor_sync(0xffffffff, 1, 1);
        }
    "#;
    check(
        &fault(source, (1, 32), 0, 1),
        &["lacks the lanes 0x", "waits in __shfl_xor_sync at test.cu:"],
    );
}

#[test]
fn lanes_with_different_masks() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            unsigned mask = threadIdx.x < 16 ? 0xffff : 0xffffffff;
            out[0] = __ballot_sync(mask, 1);
        }
    "#;
    check(
        &fault(source, (1, 32), 0, 1),
        &["__ballot_sync at test.cu:4 with the mask 0xffffffff lacks the lanes 0x0000ffff"],
    );
}

#[test]
fn a_caller_outside_its_mask() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x == 31) out[0] = __any_sync(0x7fffffff, 1);
        }
    "#;
    check(
        &fault(source, (1, 32), 0, 1),
        &["thread (31,0,0): __any_sync at test.cu:3", "0x7fffffff, in which the caller is not"],
    );
}

#[test]
fn a_lane_outside_the_mask_gives_poison() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x < 4) out[threadIdx.x] = __shfl_sync(0xf, threadIdx.x, threadIdx.x + 2);
        }
    "#;
    assert_eq!(output(1, source, (1, 32), 0, 4).unwrap(), [2, 3, u32::MAX, u32::MAX]);
}

#[test]
fn waiting_for_what_never_comes() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            volatile unsigned *flag = out;
            if (threadIdx.x == 3) while (*flag == 0) {}
            __syncthreads();
        }
    "#;
    check(
        &fault(source, (2, 40), 0, 1),
        &["test: block (", "lacks thread (3,0,0), which still runs"],
    );
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            while (atomicAdd(out, 0) == 0) __nanosleep(100);
        }
    "#;
    check(&fault(source, (1, 40), 0, 1), &["thread (0,0,0): waits for ever", " at test.cu:3"]);
}

#[test]
fn a_loop_without_end() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            for (unsigned k = 0; k < 8; k = out[k % 8]) out[0] += k;
        }
    "#;
    check(&fault(source, (1, 1), 0, 8), &["thread (0,0,0): runs without end", "at test.cu:3"]);
}

#[test]
fn a_loop_of_shuffles_without_end() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            unsigned sum = 1;
            for (unsigned k = 4; k >= 0; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
            out[0] = sum;
        }
    "#;
    check(&fault(source, (1, 32), 0, 8), &["runs without end"]);
}
