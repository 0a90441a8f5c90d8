//! Tests the errors of kernels that access invalid memory or are launched incorrectly.

use super::{check, dim, gpu, launch, output, program};
use spmv_methods::device::{Argument, Buffer};

const TOUCH: &str = r#"
    extern "C" __global__ void test(unsigned *global, int space, int index, int writes) {
        extern __shared__ unsigned dynamic[];
        __shared__ unsigned before[4];
        __shared__ unsigned fixed[32];
        __shared__ unsigned after[4];
        before[0] = after[0] = dynamic[0] = fixed[0] = global[0] = 0;
        __syncthreads();
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
            let (thread, offset) = ("test: block (0,0,0) thread (5,0,0)", 4 * index);
            let verb = if writes == 1 { "writes" } else { "reads" };
            let expected = format!("{thread}: {verb} 4 bytes at offset {offset} of {name} at test.cu:");
            check(&done.unwrap_err().0, &expected);
        }
    }
}

#[test]
fn memory_after_its_release_and_no_memory() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out, unsigned long long address) {
            out[0] = *(unsigned *)address;
        }
    "#;
    // A GPU is unusable after a fault, so each access has a new one.
    let read = |address: &dyn Fn(&Buffer<u32>, u64) -> u64| {
        let gpu = gpu(1);
        let out: Buffer<u32> = gpu.allocate(1).unwrap();
        let gone = gpu.allocate::<u32>(10).unwrap().address();
        let address = address(&out, gone);
        launch(&gpu, source, (1, 1), 0, &[&out, &address]).unwrap_err().0
    };
    check(&read(&|_, gone| gone + 8), "reads 4 bytes at offset 8 of a released buffer of 40 bytes");
    check(&read(&|_, _| 0), "reads 4 bytes at address 0x0, which is not in any buffer");
    check(&read(&|_, _| 1 << 50), "at address 0x4000000000000, which is not in any buffer");
    let misaligned = "at offset 1 of a buffer of 4 bytes: the address is not a multiple of 4, at test.cu:3";
    check(&read(&|out, _| out.address() + 1), misaligned);
}

#[test]
fn nothing_works_after_a_fault() {
    let source = r#"extern "C" __global__ void test(unsigned *out) { out[0] = 1; }"#;
    let gpu = gpu(1);
    let out: Buffer<u32> = gpu.allocate(1).unwrap();
    launch(&gpu, source, (1, 1), 0, &[&out]).unwrap();
    let module = gpu.compile::<f32>(program(source), &[]).unwrap();
    let kernel = module.kernel("test").unwrap();
    check(&kernel.launch(1, 1, 0, &[&0u64]).unwrap_err().0, "not in any buffer");
    check(&kernel.launch(1, 1, 0, &[&out]).unwrap_err().0, "the context is lost");
    assert!(out.to_vec().is_err() && gpu.synchronize().is_err());
}

#[test]
fn reading_unwritten_memory_is_a_fault() {
    let source = r#"
        extern "C" __global__ void test(float *out, double *wide, int which) {
            __shared__ float line[8];
            unsigned t = threadIdx.x;
            if (which == 0) out[t] = line[t];
            if (which == 1) wide[t] = wide[t] + 1;
            if (which == 2) out[t] = wide[t];
        }
    "#;
    let run = |which: i32| {
        let gpu = gpu(3);
        let (out, wide): (Buffer<f32>, Buffer<f64>) = (gpu.allocate(8).unwrap(), gpu.allocate(8).unwrap());
        let arguments: [&dyn Argument; 3] = [&out, &wide, &which];
        launch(&gpu, source, (1, 8), 0, &arguments).map(|()| out.to_vec().unwrap())
    };
    for (which, expected) in [
        (0, "reads 4 bytes that were never written, at offset 0 of the shared array `line`"),
        (1, "reads 8 bytes that were never written, at offset 0 of a buffer of 64 bytes"),
        (2, "reads 8 bytes that were never written"),
    ] {
        check(&run(which).unwrap_err().0, expected);
    }
    assert!(run(3).unwrap().iter().all(|value| value.is_nan()));
}

#[test]
fn arguments_that_do_not_match_the_signature() {
    let source = r#"
        extern "C" __global__ void test(unsigned *out, int n, float f) { out[0] = n * f; }
    "#;
    let gpu = gpu(1);
    let out: Buffer<u32> = gpu.allocate(1).unwrap();
    let module = gpu.compile::<f32>(program(source), &[]).unwrap();
    let kernel = module.kernel("test").unwrap();
    let message = |arguments: &[&dyn Argument]| kernel.launch(1, 1, 0, arguments).unwrap_err().0;
    assert_eq!(kernel.launch(1, 1, 0, &[&out, &1u32, &1f32]), Ok(()));
    assert_eq!(message(&[&out, &1u32]), "test: 2 arguments for 3 parameters");
    let float = "argument 1 is a floating-point number of 4 bytes and not an integer or a pointer of 4 bytes";
    check(&message(&[&out, &1f32, &1f32]), float);
    check(&message(&[&out, &1u32, &1f64]), "argument 2 … of 8 bytes and not a floating-point");
    check(&message(&[&1u32, &1u32, &1f32]), "argument 0 is an integer or a pointer of 4 bytes");
}

#[test]
fn launches_that_exceed_limits() {
    let run = |source: &str, threads: usize, shared_bytes: usize| {
        output(1, source, (1, threads), shared_bytes, 1).map_err(|failed| failed.0)
    };
    let nothing = r#"extern "C" __global__ void test(unsigned *out) {}"#;
    assert_eq!(run(nothing, 1024, 0), Ok(vec![0]));
    check(&run(nothing, 1025, 0).unwrap_err(), "test: 1025 threads per block");
    let dynamic = "test: 240000 bytes of shared memory per block, 240000 of them dynamic, but at most 232448";
    check(&run(nothing, 1, 240_000).unwrap_err(), dynamic);
    let bounded = r#"extern "C" __global__ void __launch_bounds__(8) test(unsigned *out) {}"#;
    assert!(run(bounded, 8, 0).is_ok());
    let message = "test: 9 threads per block, but at most 8 are allowed";
    assert_eq!(run(bounded, 9, 0), Err(message.into()));
    let source = r#"
        extern "C" __global__ void test(unsigned *out) {
            __shared__ double wide[4096];
            wide[threadIdx.x * 3] = 1;
            __syncthreads();
            out[0] = wide[out[0] * 3];
        }
    "#;
    let left = (227 << 10) - (1 << 15);
    assert!(run(source, 1, left).is_ok());
    let both = "test: 232452 bytes of shared memory per block, 199684 of them dynamic, but at most 232448";
    check(&run(source, 1, left + 4).unwrap_err(), both);
}

#[test]
fn sources_that_do_not_compile() {
    for (body, message) in [
        ("undeclared = 1;", "undeclared"),
        ("__shared__ int a = 1; out[0] = a;", "test.cu"),
        // An instruction that the model does not support is named in the error.
        ("asm volatile(\"brkpt;\");", "brkpt"),
        ("((void (*)())(unsigned long long)out[0])();", "call"),
    ] {
        let source = format!("extern \"C\" __global__ void test(unsigned *out) {{ {body} }}");
        let error = gpu(0).compile::<f32>(program(source), &[]).err().expect(body);
        check(&error.to_string(), &format!("test.cu … {message}"));
    }
}
