//! Tests the errors of kernels with missing or wrong synchronisation, and of other kernels that have no result.

use super::{SEEDS, check, gpu, launch, output};

/// Returns a kernel `test`, whose statements begin in line 3.
fn kernel(body: &str) -> String {
    format!("\nextern \"C\" __global__ void test(unsigned *out) {{{body}\n}}")
}

#[test]
fn data_races_are_found_under_every_schedule() {
    for (body, blocks, expected) in [
        // A missing barrier.
        (
            r"
            __shared__ unsigned line[64];
            line[threadIdx.x] = 1;
            __syncthreads();
            line[threadIdx.x] = threadIdx.x;
            out[threadIdx.x] = line[63 - threadIdx.x];",
            1,
            "the shared array `line` of 256 bytes, which thread … nothing orders the two accesses at test.cu:",
        ),
        // A sum without an atomic operation.
        (
            r"
            out[threadIdx.x % 2] += 1;",
            4,
            "of a buffer of 256 bytes, which … nothing orders the two accesses at test.cu:3",
        ),
    ] {
        for seed in SEEDS {
            check(&output(seed, &kernel(body), (blocks, 64), 0, 64).unwrap_err().0, expected);
        }
    }
}

/// Kernels with a fault, blocks and threads, and the message.
const FAULTS: &[(&str, (usize, usize), &str)] = &[
    // A missing barrier of a warp.
    (
        r"
        __shared__ unsigned line[32];
        unsigned t = threadIdx.x, sum = 0;
        for (unsigned round = 0; round < 4; ++round) {
            line[t] = t + round;
            __syncwarp();
            sum += line[(t + 1) % 32];
        }
        out[t] = sum;",
        (1, 32),
        "writes 4 bytes at offset … `line` … which thread … read: data race, nothing orders the two accesses",
    ),
    // Data that the kernel writes is read as constant.
    (
        r"
        if (threadIdx.x == 0) out[0] = 7;
        __syncthreads();
        if (threadIdx.x == 1) out[1] = __ldg(out);",
        (1, 2),
        "as read-only data … thread 0 of block 0 wrote",
    ),
    // A block writes what another one reads.
    (
        r"
        if (blockIdx.x == 3) out[0] = 5;
        else out[1 + blockIdx.x] = out[0];",
        (6, 1),
        "of a buffer of 128 bytes … nothing orders the two",
    ),
    // A barrier in a branch.
    (
        r"
        if (threadIdx.x < 32)
            __syncthreads();
        else
            __syncthreads();",
        (1, 64),
        "test: block (0,0,0) thread ( … a barrier in a branch … test.cu:6 … test.cu:4",
    ),
    // A barrier after a thread has returned.
    (
        r"
        if (threadIdx.x == 40 && blockIdx.x == 3) return;
        __syncthreads();",
        (6, 64),
        "block (3,0,0) thread (32,0,0): __syncthreads waits for … lane 8 has exited; at test.cu:4",
    ),
    // A barrier that other threads wait for elsewhere.
    (
        r"
        if (threadIdx.x < 32) __syncthreads();
        else if (threadIdx.x == 33) __syncwarp();",
        (1, 64),
        "thread (33,0,0): __syncwarp waits for … lane 0 has exited; at test.cu:4",
    ),
    // A shuffle without a lane of its mask.
    (
        r"
        if (threadIdx.x != 7) out[0] = __shfl_down_sync(0xffffffff, threadIdx.x, 1);",
        (1, 32),
        "__shfl_down_sync waits for the lanes 0x00000080: lane 7 has exited; at test.cu:3",
    ),
    // A shuffle in two branches.
    (
        r"
        if (threadIdx.x < 16) out[0] = __shfl_xor_sync(0xffffffff, 1, 1);
        else out[0] = __shfl_xor_sync(0xffffffff, 1, 1);",
        (1, 32),
        "waits for the lanes 0x … waits in __shfl_xor_sync at test.cu:",
    ),
    // Lanes with different masks.
    (
        r"
        unsigned mask = threadIdx.x < 16 ? 0xffff : 0xffffffff;
        out[0] = __ballot_sync(mask, 1);",
        (1, 32),
        "__ballot_sync with different masks 0xffffffff and 0x0000ffff at test.cu:4",
    ),
    // A lane outside its mask.
    (
        r"
        if (threadIdx.x == 31) out[0] = __any_sync(0x7fffffff, 1);",
        (1, 32),
        "thread (31,0,0): __any_sync with the mask 0x7fffffff, which does not contain the calling lane, at \
         test.cu:3",
    ),
    // Waiting for a value that is never written.
    (
        r"
        volatile unsigned *flag = out;
        if (threadIdx.x == 3) while (*flag == 0) {}
        __syncthreads();",
        (2, 40),
        "test: block ( … __syncthreads waits for thread (3,0,0), which is at test.cu:4",
    ),
    (
        r"
        while (atomicAdd(out, 0) == 0) __nanosleep(100);",
        (1, 40),
        "thread (0,0,0): waits forever … at test.cu:3",
    ),
    // Loops without an end.
    (
        r"
        for (unsigned k = 0; k < 8; k = out[k % 8]) out[0] += k;",
        (1, 1),
        "thread (0,0,0): is in an endless loop … at test.cu:3",
    ),
    (
        r"
        unsigned sum = 1;
        for (unsigned k = 4; k >= 0; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
        out[0] = sum;",
        (1, 32),
        "is in an endless loop",
    ),
    (
        r"
        out[0] = 7 / out[0];",
        (1, 1),
        "divides an integer by zero at test.cu:3",
    ),
    // A misaligned vector.
    (
        r"
        int4 four = *(int4 *)(out + 1);
        out[0] = four.x + four.w;",
        (1, 1),
        "reads 16 bytes at offset 4 of a buffer of 128 bytes: the address is not a multiple of 16, at test.cu:3",
    ),
];

#[test]
fn faults_are_described() {
    for &(body, shape, expected) in FAULTS {
        check(&output(1, &kernel(body), shape, 0, 32).expect_err(body).0, expected);
    }
}

#[test]
fn a_missing_fence() {
    let run = |fence: &str| {
        let body = format!(
            r"
            volatile unsigned *flag = out;
            if (blockIdx.x == 0) {{
                out[1] = 7;
                {fence}
                *flag = 1;
            }} else {{
                while (*flag == 0) {{}}
                __threadfence();
                out[2] = out[1];
            }}"
        );
        output(1, &kernel(&body), (2, 1), 0, 3)
    };
    assert_eq!(run("__threadfence();").unwrap(), [1, 7, 7]);
    let expected = "block (1,0,0) thread (0,0,0): reads 4 bytes at offset 4 … which thread 0 of block 0 wrote";
    check(&run("").unwrap_err().0, expected);
}

#[test]
fn a_product_of_matrices_without_a_lane() {
    // The threads below `below` multiply matrices.
    let message = |threads: usize, below: u32| {
        let source = r#"
            extern "C" __global__ void test(double *out, unsigned below) {
                if (threadIdx.x < below)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%0}, {%0}, {%0, %1};"
                                 : "+d"(out[0]), "+d"(out[1]));
            }
        "#;
        let gpu = gpu(1);
        let out = gpu.upload(&[0.0, 0.0]).unwrap();
        launch(&gpu, source, (1, threads), 0, &[&out, &below]).unwrap_err().0
    };
    let waits = "mma.sync waits for the lanes 0x80000000: lane 31 has exited; at test.cu:5";
    check(&message(32, 31), waits);
    check(&message(24, 24), "mma.sync needs 32 lanes, but the warp has 24;");
}

#[test]
fn a_shuffle_from_outside_the_mask_is_undefined() {
    let source = kernel(
        r"
        if (threadIdx.x < 4) out[threadIdx.x] = __shfl_sync(0xf, threadIdx.x, threadIdx.x + 2);",
    );
    assert_eq!(output(1, &source, (1, 32), 0, 4).unwrap(), [2, 3, u32::MAX, u32::MAX]);
}
