//! Executes enqueued operations on the machine, and advances the modelled time.

use std::slice;
use std::time::{Duration, Instant};

use ptx_machine::program::Parameter;
use ptx_machine::{Fault, Kernel, Launch, Program as Ptx};

use super::loaded::Loaded;
use super::state::{Model, TICK, Work, outside};
use super::timing::Timing;
use crate::device::Failed;
use crate::device::driver::Driver;
use crate::device::launch::{Address, ArgumentKind, KernelLaunch, RawArgument};

impl Model {
    /// Adds work to the current capture, or runs it if there is none.
    pub(super) fn submit(&self, work: Work) -> Result<(), Failed> {
        if let Some(captured) = &mut *self.capture.borrow_mut() {
            captured.push(work);
            return Ok(());
        }
        self.execute(&work, false)
    }

    pub(super) fn execute(&self, work: &Work, in_graph: bool) -> Result<(), Failed> {
        match *work {
            Work::Fill(to, byte, bytes) => {
                self.enqueue(bytes, in_graph, false)?;
                self.inform(|timing| timing.written(to, bytes, false));
                self.machine.borrow_mut().memory.fill(to, byte, bytes).map_err(outside)
            }
            Work::Copy(from, to, bytes) => {
                self.enqueue(2 * bytes, in_graph, false)?;
                self.inform(|timing| timing.written(to, bytes, false));
                self.machine.borrow_mut().memory.copy(from, to, bytes).map_err(outside)
            }
            Work::Launch(launch, ref arguments) => {
                self.enqueue(0, in_graph, launch.dependent)?;
                self.run(launch, arguments)
            }
        }
    }

    /// Returns an error if a capture has begun. As with CUDA, work that waits or allocates cannot be captured.
    pub(super) fn check_no_capture(&self, what: &str) -> Result<(), Failed> {
        match &*self.capture.borrow() {
            Some(_) => Err(Failed(format!("{what} cannot be captured"))),
            None => Ok(()),
        }
    }

    pub(super) fn check_alive(&self) -> Result<(), Failed> {
        if self.lost.get() {
            Err(Failed("the context is lost: a kernel has failed".into()))
        } else {
            Ok(())
        }
    }

    /// Advances the time for an operation that transfers `bytes` bytes. The launch of a `dependent` kernel takes no
    /// time, because it overlaps with the kernel before (programmatic dependent launch).
    fn enqueue(&self, bytes: usize, in_graph: bool, dependent: bool) -> Result<(), Failed> {
        let takes = self.timing.as_ref().map_or(TICK, |(_, timing)| {
            let timing = timing.borrow();
            let moving = bytes as f64 / (1e9 * timing.memory_gbs());
            let gap = if dependent { Duration::ZERO } else { timing.gap(in_graph) };
            gap + Duration::from_secs_f64(moving)
        });
        self.now.set(self.now.get() + takes);
        self.counts.take();
        self.check_alive()
    }

    /// Informs the performance model, if there is one.
    pub(super) fn inform(&self, inform: impl FnOnce(&mut Timing)) {
        if let Some((_, timing)) = &self.timing {
            inform(&mut timing.borrow_mut());
        }
    }

    pub(super) fn resident(&self, loaded: &Loaded, kernel: &Kernel, threads: u32, shared_bytes: u32) -> u32 {
        let blocks = self.limits.blocks(&loaded.usage(kernel), threads, shared_bytes);
        blocks.min(self.most_blocks)
    }

    fn run(&self, launch: KernelLaunch, arguments: &[u8]) -> Result<(), Failed> {
        let KernelLaunch { grid, block, shared_bytes, dependent, .. } = launch;
        let (loaded, number) = &self.kernels.borrow()[launch.kernel.0];
        let kernel = loaded.kernel(*number);
        let threads = block.x * block.y * block.z;
        let per_multiprocessor = self.resident(loaded, kernel, threads, shared_bytes);
        let shared = kernel.shared_bytes + shared_bytes as usize;
        let (name, most) = (&kernel.name, self.facts.most_shared_bytes());
        if shared > most as usize {
            return Err(Failed(format!(
                "{name}: {shared} bytes of shared memory per block, {shared_bytes} of them dynamic, but at most \
                 {most} are allowed"
            )));
        }
        if per_multiprocessor == 0 {
            return Err(Failed(format!(
                "{name}: a block of {threads} threads and {shared_bytes} bytes of dynamic shared memory does not fit \
                 on a multiprocessor"
            )));
        }
        let launch = Launch {
            kernel,
            arguments,
            variables: &loaded.variables,
            grid: [grid.x, grid.y, grid.z],
            shape: [block.x, block.y, block.z],
            dynamic_shared: shared_bytes as usize,
            resident: (per_multiprocessor * self.facts.multiprocessors) as usize,
            dependent,
        };
        self.launch_timed(&launch, loaded, per_multiprocessor as usize).map_err(|fault| {
            // A launch with invalid parameters does not damage the context.
            self.lost.set(fault.thread.is_some());
            Failed(fault.to_string())
        })
    }

    fn launch_timed(&self, launch: &Launch, loaded: &Loaded, most: usize) -> Result<(), Box<Fault>> {
        let start = Instant::now();
        let machine = &mut *self.machine.borrow_mut();
        let Some((_, timing)) = &self.timing else { return machine.launch(launch, None) };
        let (time, counts) = timing.borrow_mut().run(machine, launch, loaded, most)?;
        self.now.set(self.now.get() + time);
        self.host_time.set(self.host_time.get() + start.elapsed());
        *self.counts.borrow_mut() = Some(counts);
        Ok(())
    }

    /// Allocates and initialises the variables that the kernels of a program use.
    pub(super) fn variables(&self, ptx: &Ptx) -> Result<Vec<Address>, Failed> {
        let mut variables = vec![0; ptx.variables.len()];
        for (number, variable) in ptx.variables.iter().enumerate() {
            if ptx.kernels.iter().any(|kernel| kernel.uses(number)) && variable.bytes > 0 {
                let mut bytes = variable.initial.clone();
                bytes.resize(variable.bytes, 0);
                variables[number] = self.allocate(bytes.len())?;
                self.upload(&[(&bytes, variables[number])])?;
            }
        }
        Ok(variables)
    }
}

/// Returns the bytes of the arguments in the layout of the kernel's parameters, whose sizes and kinds they must match.
///
/// # Safety
/// The arguments must point to their values.
pub unsafe fn packed(kernel: &Kernel, arguments: &[RawArgument]) -> Result<Vec<u8>, Failed> {
    let (name, parameters) = (&kernel.name, &kernel.parameters);
    if arguments.len() != parameters.len() {
        let (given, taken) = (arguments.len(), parameters.len());
        return Err(Failed(format!("{name}: {given} arguments for {taken} parameters")));
    }
    let mut bytes = vec![0; parameters.last().map_or(0, Parameter::end)];
    for (number, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
        let given = (argument.bytes, argument.kind == ArgumentKind::Float);
        if given != (parameter.bytes, parameter.is_float) {
            return Err(Failed(format!(
                "{name}: argument {number} is {} and not {}",
                kind_in_words(given),
                kind_in_words((parameter.bytes, parameter.is_float))
            )));
        }
        // SAFETY: the caller guarantees the value, which has this size.
        let value = unsafe { slice::from_raw_parts(argument.value.cast(), argument.bytes) };
        bytes[parameter.offset..parameter.end()].copy_from_slice(value);
    }
    Ok(bytes)
}

fn kind_in_words((bytes, is_float): (usize, bool)) -> String {
    let kind = if is_float { "a floating-point number" } else { "an integer or a pointer" };
    format!("{kind} of {bytes} bytes")
}
