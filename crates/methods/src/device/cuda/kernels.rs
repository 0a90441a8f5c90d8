use std::cell::Cell;
use std::ffi::{CString, c_int};
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
use cudarc::driver::sys::{CUfunction, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUresult};

use super::context::Context;
use crate::device::Failed;
use crate::device::launch::{KernelLaunch, RawArgument};

pub struct Kernel {
    context: Rc<Context>,
    name: String,
    function: CUfunction,
    /// Whether the arguments of a launch have been compared with the signature.
    checked: Cell<bool>,
    /// The bytes of dynamic shared memory that launches may use.
    shared_bytes: Cell<u32>,
}

impl Kernel {
    pub fn find(context: Rc<Context>, module: CUmodule, name: &str) -> Result<Self, Failed> {
        let symbol = CString::new(name).map_err(|_| Failed("a zero byte in a name".into()))?;
        let mut function = null_mut();
        // SAFETY: the module is loaded.
        context.call(format_args!("cuModuleGetFunction of {name}"), |cuda| unsafe {
            (cuda.cuModuleGetFunction)(&mut function, module, symbol.as_ptr())
        })?;
        let (checked, shared_bytes) = (Cell::default(), Cell::default());
        Ok(Self { context, name: name.into(), function, checked, shared_bytes })
    }

    /// Implements [`Driver::resident_blocks`](crate::device::driver::Driver::resident_blocks).
    pub fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32, Failed> {
        const CALL: &str = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
        self.allow_shared(shared_bytes)?;
        let (name, block, shared) = (&self.name, threads as c_int, shared_bytes as usize);
        let mut blocks = 0;
        // SAFETY: the function is loaded.
        self.context.call(format_args!("{CALL} of {name}, block {threads}"), |cuda| unsafe {
            let ask = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor;
            ask(&mut blocks, self.function, block, shared)
        })?;
        Ok(blocks.try_into().unwrap_or(0))
    }

    /// Enqueues a launch, which may start before the kernel before it has ended if `dependent`.
    ///
    /// # Safety
    /// The conditions of [`Driver::launch`](crate::device::driver::Driver::launch) apply.
    pub unsafe fn launch(
        &self,
        KernelLaunch { grid, block, shared_bytes, .. }: KernelLaunch,
        arguments: &[RawArgument],
        dependent: bool,
    ) -> Result<(), Failed> {
        self.check_signature(arguments)?;
        self.allow_shared(shared_bytes)?;
        let mut values: Vec<_> = arguments.iter().map(|a| a.value.cast_mut()).collect();
        let mut attribute = CUlaunchAttribute {
            id: CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = CUlaunchConfig {
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: shared_bytes,
            hStream: self.context.stream,
            attrs: &mut attribute,
            numAttrs: dependent.into(),
        };
        let name = &self.name;
        let call = format_args!("cuLaunchKernelEx of {name}, grid {grid}, block {block}");
        // SAFETY: the function is loaded; number and sizes of the values match its parameters, and the caller
        // guarantees their meaning. The attribute lives until the call returns.
        self.context.call(call, |cuda| unsafe {
            (cuda.cuLaunchKernelEx)(&config, self.function, values.as_mut_ptr(), null_mut())
        })?;
        self.context.enqueued(name);
        Ok(())
    }

    /// Checks at the first launch that number and sizes of the arguments match the parameters, because the driver
    /// would read past them. Drivers before CUDA 12.4 do not report the parameters, so nothing is checked.
    fn check_signature(&self, arguments: &[RawArgument]) -> Result<(), Failed> {
        let Some(ask) = self.context.enter().cuFuncGetParamInfo else { return Ok(()) };
        if self.checked.get() {
            return Ok(());
        }
        let name = &self.name;
        let (mut offset, mut bytes, mut taken) = (0, 0, Vec::new());
        loop {
            // SAFETY: the function is loaded; the driver rejects an index after the last parameter.
            let status = unsafe { ask(self.function, taken.len(), &mut offset, &mut bytes) };
            if status == CUresult::CUDA_ERROR_INVALID_VALUE as u32 {
                break;
            }
            self.context.check(status, format_args!("cuFuncGetParamInfo of {name}"))?;
            taken.push(bytes);
        }
        let given: Vec<_> = arguments.iter().map(|argument| argument.bytes).collect();
        if given != taken {
            return Err(Failed(format!("{name} expects parameters of {taken:?} bytes but got {given:?}")));
        }
        self.checked.set(true);
        Ok(())
    }

    /// Raises the kernel's limit of dynamic shared memory, which is 48 KiB by default, static shared memory included.
    fn allow_shared(&self, bytes: u32) -> Result<(), Failed> {
        if bytes <= self.shared_bytes.get() {
            return Ok(());
        }
        let name = &self.name;
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded.
        self.context
            .call(format_args!("cuFuncSetAttribute of {name}, {bytes} bytes shared"), |cuda| unsafe {
                (cuda.cuFuncSetAttribute)(self.function, attribute, bytes as c_int)
            })?;
        self.shared_bytes.set(bytes);
        Ok(())
    }
}
