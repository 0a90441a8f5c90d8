//! Programs that are loaded on the device, and their kernels.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_int};
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
use cudarc::driver::sys::{
    CUfunction, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUresult,
};

use super::context::Context;
use crate::device::Failed;
use crate::device::driver::{KernelId, ModuleId, RawArgument};
use crate::device::kernel::Dim3;

/// The first CUDA version of a driver that captures dependent launches in a graph.
const CAPTURES_DEPENDENT: (u32, u32) = (12, 3);

/// The type of a function that returns the offset and the size of a parameter.
type ParameterInfo = unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> u32;

/// The modules and kernels loaded so far; their identifiers are indices.
pub struct Kernels {
    context: Rc<Context>,
    /// Whether the driver can launch dependent kernels, and capture these launches.
    allows_dependent: bool,
    modules: RefCell<Vec<CUmodule>>,
    kernels: RefCell<Vec<Rc<Kernel>>>,
}

struct Kernel {
    context: Rc<Context>,
    name: String,
    function: CUfunction,
    /// Whether the arguments of a launch have been compared with the signature.
    checked: Cell<bool>,
    /// The bytes of dynamic shared memory that launches may use.
    shared_bytes: Cell<u32>,
}

impl Kernels {
    /// Creates an empty list of modules and kernels.
    pub fn new(context: Rc<Context>) -> Result<Self, Failed> {
        let allows_dependent = context.cuda_version()? >= CAPTURES_DEPENDENT;
        let (modules, kernels) = (RefCell::default(), RefCell::default());
        Ok(Self { context, allows_dependent, modules, kernels })
    }

    /// Loads the machine code of a program.
    pub fn load(&self, program: &str, cubin: &[u8]) -> Result<ModuleId, Failed> {
        let mut module = null_mut();
        // SAFETY: the image was made by NVRTC and contains its size.
        let status =
            unsafe { (self.context.enter().cuModuleLoadData)(&mut module, cubin.as_ptr().cast()) };
        self.context.check(status, || format!("cuModuleLoadData of {program}"))?;
        let mut modules = self.modules.borrow_mut();
        modules.push(module);
        Ok(ModuleId(modules.len() - 1))
    }

    /// Implements [`Driver::kernel`](crate::device::driver::Driver::kernel).
    pub fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let module = self.modules.borrow()[module.0];
        let symbol = CString::new(name).map_err(|_| Failed("a zero byte in a name".into()))?;
        let mut function = null_mut();
        let get = self.context.enter().cuModuleGetFunction;
        // SAFETY: the module is loaded.
        let status = unsafe { get(&mut function, module, symbol.as_ptr()) };
        self.context.check(status, || format!("cuModuleGetFunction of {name}"))?;
        let mut kernels = self.kernels.borrow_mut();
        kernels.push(Rc::new(Kernel {
            context: self.context.clone(),
            name: name.into(),
            function,
            checked: Cell::new(false),
            shared_bytes: Cell::new(0),
        }));
        Ok(KernelId(kernels.len() - 1))
    }

    /// Implements [`Driver::resident_blocks`](crate::device::driver::Driver::resident_blocks).
    pub fn resident_blocks(
        &self,
        kernel: KernelId,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failed> {
        let kernel = self.get(kernel);
        kernel.allow_shared(shared_bytes)?;
        let mut blocks = 0;
        let ask = self.context.enter().cuOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the function is loaded.
        let status =
            unsafe { ask(&mut blocks, kernel.function, threads as c_int, shared_bytes as usize) };
        self.context.check(status, || {
            let name = &kernel.name;
            format!("cuOccupancyMaxActiveBlocksPerMultiprocessor of {name}, block {threads}")
        })?;
        Ok(blocks.try_into().unwrap_or(0))
    }

    /// Implements [`Driver::launch`](crate::device::driver::Driver::launch).
    ///
    /// # Safety
    /// The conditions of the trait's function apply.
    pub unsafe fn launch(
        &self,
        kernel: KernelId,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        arguments: &[RawArgument],
        dependent: bool,
    ) -> Result<(), Failed> {
        let kernel = self.get(kernel);
        kernel.check_signature(arguments)?;
        kernel.allow_shared(shared_bytes)?;
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
            numAttrs: (dependent && self.allows_dependent).into(),
        };
        let launch = self.context.enter().cuLaunchKernelEx;
        // SAFETY: the function is loaded; number and sizes of the values match its parameters, and the caller
        // guarantees their meaning. The attribute lives until the call returns.
        let status = unsafe { launch(&config, kernel.function, values.as_mut_ptr(), null_mut()) };
        self.context.check(status, || {
            let (name, grid, block) = (&kernel.name, shape(grid), shape(block));
            format!("cuLaunchKernelEx of {name}, grid {grid}, block {block}")
        })?;
        self.context.enqueued(&kernel.name);
        Ok(())
    }

    fn get(&self, kernel: KernelId) -> Rc<Kernel> {
        self.kernels.borrow()[kernel.0].clone()
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        let unload = self.context.enter().cuModuleUnload;
        for &module in self.modules.get_mut().iter() {
            // SAFETY: the module was loaded here and is unloaded once. The status is ignored: nothing can be done.
            unsafe { unload(module) };
        }
    }
}

impl Kernel {
    /// Checks at the first launch that number and sizes of the arguments match the parameters, because the driver
    /// would read past them. Drivers before CUDA 12.4 do not report the parameters, so nothing is checked.
    fn check_signature(&self, arguments: &[RawArgument]) -> Result<(), Failed> {
        let Some(ask) = self.context.enter().cuFuncGetParamInfo else { return Ok(()) };
        if self.checked.get() {
            return Ok(());
        }
        let given: Vec<_> = arguments.iter().map(|argument| argument.bytes).collect();
        let taken = (0..)
            .map_while(|index| self.parameter(ask, index).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        if given != taken {
            let name = &self.name;
            return Err(Failed(format!(
                "{name} expects parameters of {taken:?} bytes but got {given:?}"
            )));
        }
        self.checked.set(true);
        Ok(())
    }

    /// Returns the size of a parameter in bytes, or `None` after the last one.
    fn parameter(&self, ask: ParameterInfo, index: usize) -> Result<Option<usize>, Failed> {
        let (mut offset, mut bytes) = (0, 0);
        // SAFETY: the function is loaded; the driver rejects an index after the last parameter.
        let status = unsafe { ask(self.function, index, &mut offset, &mut bytes) };
        if status == CUresult::CUDA_ERROR_INVALID_VALUE as u32 {
            return Ok(None);
        }
        self.context.check(status, || format!("cuFuncGetParamInfo of {}", self.name))?;
        Ok(Some(bytes))
    }

    /// Raises the kernel's limit of dynamic shared memory, whose default is low (48 KiB including static shared
    /// memory).
    fn allow_shared(&self, bytes: u32) -> Result<(), Failed> {
        if bytes <= self.shared_bytes.get() {
            return Ok(());
        }
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let set = self.context.enter().cuFuncSetAttribute;
        // SAFETY: the function is loaded.
        let status = unsafe { set(self.function, attribute, bytes as c_int) };
        let name = &self.name;
        self.context
            .check(status, || format!("cuFuncSetAttribute of {name}, {bytes} bytes shared"))?;
        self.shared_bytes.set(bytes);
        Ok(())
    }
}

/// Formats a dimension as `12`, or as `12x3x1` if it has more than one axis.
fn shape(Dim3 { x, y, z }: Dim3) -> String {
    if (y, z) == (1, 1) { x.to_string() } else { format!("{x}x{y}x{z}") }
}
