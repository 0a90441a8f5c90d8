//! What kernels end with that use memory they must not, or are not launched as they should be.

mod common;

use common::{check, dim, fault, gpu, launch, output};
use spmv_bench::device::{Argument, Buffer};

const TOUCH: &str = r#"
    extern "C" __global__ void test(unsigned *global, int space, int index, int writes) {
        extern __shared__ unsigned dynamic[];
        __shared__ unsigned before[4];
        __shared__ unsigned fixed[32];
        __shared__ unsigned after[4];
        before[0] = after[0] = dynamic[0] = fixed[0] = 0;
        unsigned *array = space == 0 ? global : space == 1 ? fixed : dynamic;
        if (threadIdx.x != 5) return;
        if (writes) array[index] = 1;
        else global[1] = array[index];
    }
"#;

#[test]
fn accesses_one_element_outside_an_array() {
    for (space, name) in [
        (0, "a buffer of 120 bytes"),
        (1, "the shared array `fixed` of 128 bytes"),
        (2, "100 bytes of dynamic shared memory"),
    ] {
        let len = [30, 32, 25][space as usize];
        for (index, writes) in [(-1, 0), (len, 0), (-1, 1), (len, 1), (0, 0), (len - 1, 1)] {
            let gpu = gpu(4);
            let _before: Buffer<u32> = gpu.allocate(30).unwrap();
            let global: Buffer<u32> = gpu.allocate(30).unwrap();
            let arguments: [&dyn Argument; 4] = [&global, &space, &index, &writes];
            let done = launch(&gpu, TOUCH, (dim(1, 1, 1), dim(8, 1, 1)), 100, &arguments);
            if (0..len).contains(&index) {
                assert_eq!(done, Ok(()));
                continue;
            }
            let verb = if writes == 1 { "writes" } else { "reads" };
            let place = format!("{verb} 4 bytes at offset {} of {name}", 4 * index);
            let message = done.unwrap_err().0;
            check(&message, &["test: block (0,0,0) thread (5,0,0): ", &place, "at test.cu:"]);
        }
    }
}

#[test]
fn an_index_outside_an_array_of_known_length() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ float table[4][8];
            table[0][out[0] + 8] = 1;
        }
    "#;
    check(
        &fault(source, (1, 1), 0, 1),
        &["index out of the bounds of type 'float [8]' at test.cu:4"],
    );
}

#[test]
fn memory_after_its_release_and_no_memory() {
    let source = r#"
        struct Box { unsigned *at; };
        extern "C" __global__ void test(unsigned *out, unsigned long long address) {
            out[0] = *(unsigned *)address;
        }
    "#;
    let gpu = gpu(1);
    let out: Buffer<u32> = gpu.allocate(1).unwrap();
    let read = |address: u64| launch(&gpu, source, (1, 1), 0, &[&out, &address]).unwrap_err().0;
    let gone = gpu.allocate::<u32>(10).unwrap().address();
    check(&read(gone + 8), &["reads 4 bytes at offset 8 of a released buffer of 40 bytes"]);
    check(&read(0), &["reads 4 bytes at address 0x0, which is in no buffer"]);
    check(&read(1 << 50), &["at address 0x4000000000000, which is in no buffer"]);
    check(&read(out.address() + 1), &["misaligned access to type 'unsigned int' at test.cu:4"]);
    // None of this spoils what follows.
    launch(&gpu, source, (1, 1), 0, &[&out, &out.address()]).unwrap();
}

#[test]
fn a_misaligned_vector() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            int4 four = *(int4 *)(out + 1);
            out[0] = four.x + four.w;
        }
    "#;
    check(
        &fault(source, (1, 1), 0, 8),
        &["misaligned access to type 'const struct int4' at test.cu:3"],
    );
}

#[test]
fn what_nobody_wrote_is_poison() {
    let source = r#"
        extern "C" __global__ void test(float *out, double *wide) {
            __shared__ float line[8];
            unsigned t = threadIdx.x;
            if (t < 4) out[t] = line[t];
            wide[t] = wide[t] + 1;
        }
    "#;
    let mut shared_is_nan = [false; 2];
    for seed in 0..20 {
        let gpu = gpu(seed);
        let (out, wide): (Buffer<f32>, Buffer<f64>) =
            (gpu.allocate(8).unwrap(), gpu.allocate(8).unwrap());
        launch(&gpu, source, (1, 8), 0, &[&out, &wide]).unwrap();
        let (shared, unwritten) = (&out.to_vec().unwrap()[..4], &out.to_vec().unwrap()[4..]);
        assert!(unwritten.iter().all(|value| value.is_nan()));
        assert!(wide.to_vec().unwrap().iter().all(|value| value.is_nan()));
        let nan = shared[0].is_nan();
        assert!(shared.iter().all(|&value| value.is_nan() == nan && (nan || value == 0.0)));
        shared_is_nan[usize::from(nan)] = true;
    }
    assert_eq!(shared_is_nan, [true; 2], "both kinds of poison under some seed");
}

#[test]
fn arguments_that_are_not_the_signature() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out, int n, float f) { out[0] = n * f; }
    "#;
    let gpu = gpu(1);
    let out: Buffer<u32> = gpu.allocate(1).unwrap();
    let give = |arguments: &[&dyn Argument]| launch(&gpu, source, (1, 1), 0, arguments);
    let message = |arguments: &[&dyn Argument]| give(arguments).unwrap_err().0;
    assert_eq!(give(&[&out, &1u32, &1f32]), Ok(()));
    assert_eq!(message(&[&out, &1u32]), "test: 2 arguments for 3 parameters");
    assert_eq!(
        message(&[&out, &1f32, &1f32]),
        "test: argument 1 is a floating-point number of 4 bytes, not an integer of 4 bytes"
    );
    check(&message(&[&out, &1u32, &1f64]), &["argument 2", "of 8 bytes, not a floating-point"]);
    check(&message(&[&1u64, &1u32, &1f32]), &["argument 0 is an integer", "not a pointer"]);
}

#[test]
fn too_much_of_something() {
    let nothing = r#"extern "C" __global__ void test(unsigned *out) {}"#;
    check(&fault(nothing, (1, 1025), 0, 1), &["test: 1025 threads per block"]);
    check(&fault(nothing, (1, 1), 50_000, 1), &["test: 50000 bytes of dynamic shared memory"]);
    for source in [
        r#"extern "C" __global__ void __launch_bounds__(2 * (3 + 1), 1) test(unsigned *out) {}"#,
        r#"extern "C" __global__ __launch_bounds__(8) void test(unsigned *out) {}"#,
    ] {
        assert!(output(1, source, (1, 8), 0, 1).is_ok());
        assert_eq!(fault(source, (1, 9), 0, 1), "test: 9 threads per block, of 1 to 8");
    }
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ double wide[4096];
            wide[0] = 1;
            out[0] = wide[0];
        }
    "#;
    assert!(output(1, source, (1, 1), 1 << 14, 1).is_ok());
    check(
        &fault(source, (1, 1), (1 << 14) + 4, 1),
        &["the block uses 49156 bytes of shared memory"],
    );
}

#[test]
fn division_by_zero_and_wild_jumps() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out) { out[0] = 7 / out[0]; }
    "#;
    check(&fault(source, (1, 1), 0, 1), &["division by zero in type 'unsigned int' at test.cu:2"]);
    let source = r#"
        extern "C" __global__ void test(unsigned long *out) { ((void (*)())out[0])(); }
    "#;
    check(&fault(source, (1, 1), 0, 2), &["block (0,0,0) thread (0,0,0): an access to memory"]);
}

#[test]
fn stacks_are_clean_after_a_fault() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out, int fails) {
            unsigned own[8], t = threadIdx.x;
            for (unsigned k = 0; k < 8; ++k) own[k] = t + k;
            if (fails && t == 99) out[1000] = 1;
            __syncthreads();
            unsigned sum = 0;
            for (unsigned k = 0; k < 8; ++k) sum += own[(k + out[0]) % 8];
            __syncthreads();
            out[t] = sum;
        }
    "#;
    let gpu = gpu(5);
    let mut out: Buffer<u32> = gpu.allocate(100).unwrap();
    for _ in 0..10 {
        out.fill(0).unwrap();
        let message = launch(&gpu, source, (1, 100), 0, &[&out, &1i32]).unwrap_err().0;
        check(&message, &["thread (99,0,0): writes 4 bytes at offset 4000 of a buffer of 400"]);
        launch(&gpu, source, (1, 100), 0, &[&out, &0i32]).unwrap();
        assert!(out.to_vec().unwrap().iter().zip(0..).all(|(&sum, t)| sum == 8 * t + 28));
    }
}

#[test]
fn what_does_not_compile() {
    let gpu = gpu(0);
    for (source, message) in [
        ("extern \"C\" __global__ void test() { __shared__ int a[2], b; }", "__shared__"),
        ("extern \"C\" __global__ void test() { __shared__ int a = 1; }", "__shared__"),
        ("extern \"C\" __global__ void test(long *p) { atomicAdd(p, 1); }", "atomicAdd does not"),
        (
            "extern \"C\" __global__ void test(int *p) { int big[9000]; for (int k = 0; k < 9000; ++k) \
          big[k] = p[k]; __syncthreads(); p[0] = big[p[1]]; }",
            "stack",
        ),
    ] {
        let error = gpu.compile::<f32>(common::program(source), &[]).err().expect(source);
        check(&error.to_string(), &["test.cu", message]);
    }
}
