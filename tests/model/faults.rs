//! Tests the errors of kernels with missing or wrong synchronisation.

use crate::common::{check, fault, gpu, launch, output};

#[test]
fn a_missing_barrier() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ unsigned line[64];
            line[threadIdx.x] = 1;
            __syncthreads();
            line[threadIdx.x] = threadIdx.x;
            out[threadIdx.x] = line[63 - threadIdx.x];
        }
    "#;
    for seed in 0..20 {
        check(
            &output(seed, source, (1, 64), 0, 64).unwrap_err().0,
            &[
                "the shared array `line` of 256 bytes, which thread ",
                "nothing orders the two accesses at test.cu:",
            ],
        );
    }
}

#[test]
fn a_missing_warp_barrier() {
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
    check(
        &fault(source, (1, 32), 0, 32),
        &[
            "writes 4 bytes at offset ",
            "`line`",
            "which thread ",
            "read: data race, nothing orders the two accesses",
        ],
    );
}

#[test]
fn a_sum_without_an_atomic() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) { out[threadIdx.x % 2] += 1; }
    "#;
    for seed in 0..20 {
        check(
            &output(seed, source, (4, 64), 0, 2).unwrap_err().0,
            &["of a buffer of 8 bytes, which ", "nothing orders the two accesses at test.cu:2"],
        );
    }
}

#[test]
fn a_missing_fence() {
    let source = |fences: bool| {
        let fence = if fences { "__threadfence();" } else { "" };
        let source = format!(
            r#"
            extern "C" __global__ void test(unsigned *out) {{
                volatile unsigned *flag = out;
                if (blockIdx.x == 0) {{
                    out[1] = 7;
                    {fence}
                    *flag = 1;
                }} else {{
                    while (*flag == 0) {{}}
                    __threadfence();
                    out[2] = out[1];
                }}
            }}
            "#
        );
        &*source.leak()
    };
    assert_eq!(output(1, source(true), (2, 1), 0, 3).unwrap(), [1, 7, 7]);
    check(
        &fault(source(false), (2, 1), 0, 3),
        &[
            "block (1,0,0) thread (0,0,0): reads 4 bytes at offset 4",
            "which thread 0 of block 0 wrote",
        ],
    );
}

#[test]
fn data_that_a_kernel_writes_is_not_read_as_constant() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x == 0) out[0] = 7;
            __syncthreads();
            if (threadIdx.x == 1) out[1] = __ldg(out);
        }
    "#;
    check(&fault(source, (1, 2), 0, 2), &["as read-only data", "thread 0 of block 0 wrote"]);
}

#[test]
fn one_block_writes_what_another_reads_without_order() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (blockIdx.x == 3) out[0] = 5;
            else out[1 + blockIdx.x] = out[0];
        }
    "#;
    check(&fault(source, (6, 1), 0, 8), &["of a buffer of 32 bytes", "nothing orders the two"]);
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
        &["test: block (0,0,0) thread (", "a barrier in a branch", "test.cu:4", "test.cu:6"],
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
        &[
            "block (3,0,0) thread (32,0,0): ",
            "__syncthreads waits for",
            "lane 8 has exited; at test.cu:4",
        ],
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
        &["thread (33,0,0): __syncwarp waits for", "lane 0 has exited; at test.cu:4"],
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
        &["__shfl_down_sync waits for the lanes 0x00000080: lane 7 has exited; at test.cu:3"],
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
        &["waits for the lanes 0x", " waits in __shfl_xor_sync at test.cu:"],
    );
}

/// Threads of a block of `threads` that are below `below` multiply matrices.
fn product_of_matrices(threads: u32, below: u32) -> String {
    let source = r#"
        extern "C" __global__ void test(double *out, unsigned below) {
            if (threadIdx.x < below)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%0}, {%0}, {%0, %1};"
                             : "+d"(out[0]), "+d"(out[1]));
        }
    "#;
    let gpu = gpu(1);
    let out = gpu.upload(&[0.0, 0.0]).unwrap();
    launch(&gpu, source, (1, threads as usize), 0, &[&out, &below]).unwrap_err().0
}

#[test]
fn a_product_of_matrices_without_a_lane() {
    let waits = "mma.sync waits for the lanes 0x80000000: lane 31 has exited; at test.cu:5";
    check(&product_of_matrices(32, 31), &[waits]);
    check(&product_of_matrices(24, 24), &["mma.sync needs 32 lanes, but the warp has 24;"]);
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
        &["__ballot_sync with different masks 0xffffffff and 0x0000ffff at test.cu:4"],
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
        &[
            "thread (31,0,0): __any_sync with the mask 0x7fffffff,",
            "which does not contain the calling lane, at test.cu:3",
        ],
    );
}

#[test]
fn a_shuffle_from_outside_the_mask() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            if (threadIdx.x < 4) out[threadIdx.x] = __shfl_sync(0xf, threadIdx.x, threadIdx.x + 2);
        }
    "#;
    assert_eq!(output(1, source, (1, 32), 0, 4).unwrap(), [2, 3, u32::MAX, u32::MAX]);
}

#[test]
fn waiting_for_a_value_that_is_never_written() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            volatile unsigned *flag = out;
            if (threadIdx.x == 3) while (*flag == 0) {}
            __syncthreads();
        }
    "#;
    check(
        &fault(source, (2, 40), 0, 1),
        &["test: block (", "__syncthreads waits for thread (3,0,0), which is at test.cu:4"],
    );
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            while (atomicAdd(out, 0) == 0) __nanosleep(100);
        }
    "#;
    check(&fault(source, (1, 40), 0, 1), &["thread (0,0,0): waits forever", " at test.cu:3"]);
}

#[test]
fn a_loop_without_end() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            for (unsigned k = 0; k < 8; k = out[k % 8]) out[0] += k;
        }
    "#;
    check(&fault(source, (1, 1), 0, 8), &["thread (0,0,0): is in an endless loop", "at test.cu:3"]);
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
    check(&fault(source, (1, 32), 0, 8), &["is in an endless loop"]);
}
