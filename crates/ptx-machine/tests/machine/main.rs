//! Tests with kernels in hand-written PTX.

mod bulk;
mod caches;
mod dependent;
mod instructions;

use ptx_machine::{Kernel, Launch, Machine};

/// Adds the version, the target, and for each kernel its name and parameters, to the statements of kernels.
fn text(kernels: &[(&str, &str)]) -> String {
    let mut text = String::from(".version 8.0\n.target sm_90\n.address_size 64\n");
    for (signature, body) in kernels {
        text += &format!(".visible .entry {signature}\n{{\n{body}\n}}\n");
    }
    text
}

/// Returns a kernel with a mistake, which is given as `TEXT => REPLACEMENT => MESSAGE`, and the message.
fn mistaken<'m>(kernel: &str, mistake: &'m str) -> (String, &'m str) {
    let mut parts = mistake.split(" => ");
    let [text, replacement, message] = [(); 3].map(|()| parts.next().expect(mistake));
    assert!(kernel.contains(text), "{text}");
    (kernel.replacen(text, replacement, 1), message)
}

fn launch<'a>(kernel: &'a Kernel, arguments: &'a [u8], blocks: u32, threads: u32) -> Launch<'a> {
    let (grid, shape) = ([blocks, 1, 1], [threads, 1, 1]);
    let (variables, dynamic_shared, resident, dependent) = (&[], 0, 8, false);
    Launch { kernel, arguments, variables, grid, shape, dynamic_shared, resident, dependent }
}

fn upload(machine: &mut Machine, bytes: &[u8]) -> u64 {
    let address = machine.memory.allocate(bytes.len()).unwrap();
    machine.memory.upload(bytes, address).unwrap();
    address
}

fn download<const N: usize>(machine: &Machine, address: u64, count: usize) -> Vec<[u8; N]> {
    let mut bytes = vec![0; N * count];
    machine.memory.download(address, &mut bytes).unwrap();
    bytes.as_chunks().0.to_vec()
}
