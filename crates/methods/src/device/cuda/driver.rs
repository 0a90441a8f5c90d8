use std::cell::{OnceCell, RefCell};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUaccessProperty::{
    CU_ACCESS_PROPERTY_NORMAL, CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING,
};
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE,
};
use cudarc::driver::sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
use cudarc::driver::sys::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
use cudarc::driver::sys::{CUaccessPolicyWindow, CUevent, CUgraphExec, CUmodule, CUstreamAttrValue};
use nvml_wrapper::Device;

use super::context::Context;
use super::cusparse::{self, InStream};
use super::editions::Target;
use super::facts;
use super::kernels::Kernel;
use super::precompiled::MachineCode;
use crate::device::cusparse::CuSparse;
use crate::device::driver::Driver;
use crate::device::launch::{Address, Event, GraphId, KernelId, KernelLaunch, ModuleId, RawArgument};
use crate::device::{Failed, Gpu, Program, Unavailable, Unprepared};
use spmv_matrix::device::facts::{Activity, Clocks, Energy, Facts};
use spmv_matrix::scalar::Precision;

/// The first CUDA version of a driver that captures dependent launches in a graph.
const CAPTURES_DEPENDENT: (u32, u32) = (12, 3);

pub fn open(number: Option<usize>) -> Result<Gpu, Unavailable> {
    Cuda::open(Rc::new(Context::open(number)?))
        .map(Gpu::new)
        .map_err(|Failed(reason)| Unavailable(reason))
}

/// A GPU. The identifiers of modules, kernels, events and graphs are indices. The context is dropped last.
struct Cuda {
    opened: Instant,
    facts: Facts,
    monitor: Option<Device<'static>>,
    target: Target,
    code: MachineCode,
    /// Whether the driver can launch dependent kernels, and capture these launches.
    allows_dependent: bool,
    modules: RefCell<Vec<CUmodule>>,
    kernels: RefCell<Vec<Rc<Kernel>>>,
    events: RefCell<Vec<CUevent>>,
    /// The events that are not in use. They are reused, because creating an event takes longer than recording it.
    free_events: RefCell<Vec<Event>>,
    /// The graphs, with null for those that were released.
    graphs: RefCell<Vec<CUgraphExec>>,
    cusparse: OnceCell<Result<InStream, Unavailable>>,
    context: Rc<Context>,
}

impl Cuda {
    fn open(context: Rc<Context>) -> Result<Self, Failed> {
        let target = facts::target(&context)?;
        let code = MachineCode::new(target);
        Ok(Self {
            opened: Instant::now(),
            facts: facts::facts(&context, &target, &code)?,
            monitor: facts::monitor(&context)?,
            target,
            code,
            allows_dependent: context.cuda_version()? >= CAPTURES_DEPENDENT,
            modules: RefCell::default(),
            kernels: RefCell::default(),
            events: RefCell::default(),
            free_events: RefCell::default(),
            graphs: RefCell::default(),
            cusparse: OnceCell::new(),
            context,
        })
    }

    fn get(&self, kernel: KernelId) -> Rc<Kernel> {
        self.kernels.borrow()[kernel.0].clone()
    }

    fn event(&self, event: Event) -> CUevent {
        self.events.borrow()[event.0]
    }

    fn create_event(&self) -> Result<Event, Failed> {
        let mut event = null_mut();
        // SAFETY: the context is alive; flag 0 requests an event with timing.
        self.context.call("cuEventCreate", |cuda| unsafe { (cuda.cuEventCreate)(&mut event, 0) })?;
        Ok(Event(push(&self.events, event)))
    }

    fn wait_and_read(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        if let Some(last) = events.last().map(|&last| self.event(last)) {
            // SAFETY: the event is alive.
            self.context.call("cuEventSynchronize", |cuda| unsafe { (cuda.cuEventSynchronize)(last) })?;
        }
        let elapsed = self.context.api.elapsed_time;
        let time = |pair: &[Event]| {
            let (mut ms, from, to) = (0f32, self.event(pair[0]), self.event(pair[1]));
            // SAFETY: both events are alive.
            self.context.call("cuEventElapsedTime", |_| unsafe { elapsed(&mut ms, from, to) })?;
            Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
        };
        events.windows(2).map(time).collect()
    }

    /// Lets a share of `bytes` bytes persist in the L2 cache in the work of the stream. 0 bytes remove the window.
    fn set_window(&self, address: Address, bytes: usize, share: f32) -> Result<(), Failed> {
        let [hit, miss] = if bytes > 0 {
            [CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING]
        } else {
            [CU_ACCESS_PROPERTY_NORMAL; 2]
        };
        let window = CUaccessPolicyWindow {
            base_ptr: address as *mut _,
            num_bytes: bytes,
            hitRatio: share,
            hitProp: hit,
            missProp: miss,
        };
        let value = CUstreamAttrValue { accessPolicyWindow: window };
        let (stream, attribute) = (self.context.stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
        // SAFETY: the stream is alive, and the value is that of this attribute.
        self.context.call(format_args!("cuStreamSetAttribute of a window of {bytes} bytes"), |cuda| unsafe {
            (cuda.cuStreamSetAttribute)(stream, attribute, &value)
        })
    }
}

fn push<V>(list: &RefCell<Vec<V>>, value: V) -> usize {
    let mut list = list.borrow_mut();
    list.push(value);
    list.len() - 1
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let cuda = self.context.enter();
        for &module in self.modules.get_mut().iter() {
            // SAFETY: the module was loaded here and is unloaded once. The status is ignored: nothing can be done.
            unsafe { (cuda.cuModuleUnload)(module) };
        }
        for &event in self.events.get_mut().iter() {
            // SAFETY: the event was created here and is destroyed once. The status is ignored: nothing can be done.
            unsafe { (cuda.cuEventDestroy_v2)(event) };
        }
    }
}

impl Driver for Cuda {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn clocks(&self) -> Option<Clocks> {
        facts::clocks(self.monitor.as_ref()?)
    }

    fn activity(&self) -> Option<Activity> {
        facts::activity(self.monitor.as_ref()?)
    }

    fn energy(&self) -> Option<Energy> {
        facts::energy(self.monitor.as_ref()?)
    }

    fn memory(&self) -> Result<(u64, u64), Failed> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for writes.
        self.context.call("cuMemGetInfo", |cuda| unsafe { (cuda.cuMemGetInfo_v2)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, Failed> {
        let mut address = 0;
        // SAFETY: the pointer is valid for writes.
        self.context.call(format_args!("cuMemAlloc of {bytes} bytes"), |cuda| unsafe {
            (cuda.cuMemAlloc_v2)(&mut address, bytes)
        })?;
        Ok(address)
    }

    fn release(&self, address: Address) {
        // SAFETY: the memory was allocated here and is released once; the call waits for the enqueued work. Its status
        // is ignored: nothing can be done.
        unsafe { (self.context.enter().cuMemFree_v2)(address) };
    }

    fn upload(&self, parts: &[(&[u8], Address)]) -> Result<(), Failed> {
        let copied = parts.iter().try_for_each(|&(from, to)| {
            let (bytes, stream) = (from.len(), self.context.stream);
            // SAFETY: both buffers have this length, and the source lives until the stream was synchronised.
            self.context.call(format_args!("cuMemcpyHtoD of {bytes} bytes"), |cuda| unsafe {
                (cuda.cuMemcpyHtoDAsync_v2)(to, from.as_ptr().cast(), bytes, stream)
            })
        });
        // Copies that were enqueued before an error still read their sources.
        let waited = self.context.synchronize(" of an upload");
        copied.and(waited)
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), Failed> {
        let (stream, bytes) = (self.context.stream, to.len());
        // SAFETY: both buffers have this length, and the target lives until the copy is done.
        self.context.call(format_args!("cuMemcpyDtoH of {bytes} bytes"), |cuda| unsafe {
            (cuda.cuMemcpyDtoHAsync_v2)(to.as_mut_ptr().cast(), from, bytes, stream)
        })?;
        self.context.synchronize(" of a download")
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize) -> Result<(), Failed> {
        // SAFETY: the buffer has this length.
        self.context.call(format_args!("cuMemsetD8 of {bytes} bytes"), |cuda| unsafe {
            (cuda.cuMemsetD8Async)(to, byte, bytes, self.context.stream)
        })
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Failed> {
        // SAFETY: both buffers have this length.
        self.context.call(format_args!("cuMemcpyDtoD of {bytes} bytes"), |cuda| unsafe {
            (cuda.cuMemcpyDtoDAsync_v2)(to, from, bytes, self.context.stream)
        })
    }

    fn compile(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<ModuleId, Unprepared> {
        let cubin = self.code.of(program, precision, constants)?;
        let mut module = null_mut();
        // SAFETY: the image was made by NVRTC and contains its size.
        let loaded = self.context.call(format_args!("cuModuleLoadData of {}", program.name), |cuda| unsafe {
            (cuda.cuModuleLoadData)(&mut module, cubin.as_ptr().cast())
        });
        loaded.map_err(|Failed(reason)| {
            let Facts { driver, nvrtc, .. } = &self.facts;
            Failed(format!("{reason}; {driver}; {nvrtc}"))
        })?;
        Ok(ModuleId(push(&self.modules, module)))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Failed> {
        let kernel = Kernel::find(self.context.clone(), self.modules.borrow()[module.0], name)?;
        Ok(KernelId(push(&self.kernels, Rc::new(kernel))))
    }

    fn resident_blocks(&self, kernel: KernelId, threads: u32, shared: u32) -> Result<u32, Failed> {
        self.get(kernel).resident_blocks(threads, shared)
    }

    unsafe fn launch(&self, launch: KernelLaunch, arguments: &[RawArgument]) -> Result<(), Failed> {
        let (kernel, dependent) = (self.get(launch.kernel), launch.dependent && self.allows_dependent);
        // SAFETY: the caller guarantees the arguments.
        unsafe { kernel.launch(launch, arguments, dependent) }
    }

    /// If the bytes are more than the part that is set aside, only a share of them persists, which the hardware
    /// chooses; the others are the first to be evicted.
    fn persist(&self, address: Address, bytes: usize) -> Result<u64, Failed> {
        let attribute = |which| facts::attribute(&self.context, which);
        let most = attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)?;
        let widest = attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)?;
        // Zero before compute capability 8.0, and on parts of a GPU (MIG).
        if most == 0 || widest == 0 {
            return Ok(0);
        }
        let (set_aside, window) = (bytes.min(most as usize), bytes.min(widest as usize));
        let call = format_args!("cuCtxSetLimit of {set_aside} bytes of persisting L2 cache");
        // SAFETY: the context is alive.
        self.context
            .call(call, |cuda| unsafe { (cuda.cuCtxSetLimit)(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, set_aside) })?;
        self.set_window(address, window, (set_aside as f32 / window.max(1) as f32).min(1.0))?;
        if bytes == 0 {
            // SAFETY: the call has no arguments.
            self.context
                .call("cuCtxResetPersistingL2Cache", |cuda| unsafe { (cuda.cuCtxResetPersistingL2Cache)() })?;
        }
        Ok(set_aside as u64)
    }

    fn begin_capture(&self) -> Result<(), Failed> {
        let stream = self.context.stream;
        // SAFETY: the stream is alive.
        self.context.call("cuStreamBeginCapture", |cuda| unsafe {
            (cuda.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        })
    }

    fn end_capture(&self) -> Result<GraphId, Failed> {
        let (mut graph, mut executable) = (null_mut(), null_mut());
        // SAFETY: the stream is alive, and the pointer is valid for writes.
        self.context
            .call("cuStreamEndCapture", |cuda| unsafe { (cuda.cuStreamEndCapture)(self.context.stream, &mut graph) })?;
        // SAFETY: the capture returned a graph, which is destroyed once; the executable graph is a copy. The status of
        // the destruction is ignored: nothing can be done.
        self.context.call("cuGraphInstantiate", |cuda| unsafe {
            let status = (cuda.cuGraphInstantiateWithFlags)(&mut executable, graph, 0);
            (cuda.cuGraphDestroy)(graph);
            status
        })?;
        Ok(GraphId(push(&self.graphs, executable)))
    }

    fn launch_graph(&self, graph: GraphId) -> Result<(), Failed> {
        let (graph, stream) = (self.graphs.borrow()[graph.0], self.context.stream);
        // SAFETY: graph and stream are alive and belong to the same context.
        self.context.call("cuGraphLaunch", |cuda| unsafe { (cuda.cuGraphLaunch)(graph, stream) })?;
        self.context.enqueued("a graph");
        Ok(())
    }

    fn release_graph(&self, graph: GraphId) {
        let released = std::mem::replace(&mut self.graphs.borrow_mut()[graph.0], null_mut());
        if !released.is_null() {
            // SAFETY: the graph was created here and is destroyed once; the driver waits until it has run. The status
            // is ignored: nothing can be done.
            unsafe { (self.context.enter().cuGraphExecDestroy)(released) };
        }
    }

    fn synchronize(&self) -> Result<(), Failed> {
        // SAFETY: the context is alive.
        self.context.call("cuCtxSynchronize", |cuda| unsafe { (cuda.cuCtxSynchronize)() })
    }

    fn record(&self) -> Result<Event, Failed> {
        let free = self.free_events.borrow_mut().pop();
        let event = free.map_or_else(|| self.create_event(), Ok)?;
        let (raw, stream) = (self.event(event), self.context.stream);
        // SAFETY: event and stream are alive and belong to the same context.
        self.context.call("cuEventRecord", |cuda| unsafe { (cuda.cuEventRecord)(raw, stream) })?;
        Ok(event)
    }

    fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        let times = self.wait_and_read(events);
        self.free_events.borrow_mut().extend(events);
        times
    }

    fn host_clock(&self) -> Duration {
        self.opened.elapsed()
    }

    fn profile(&self, start: bool) -> Result<(), Failed> {
        // SAFETY: the functions have no arguments.
        let call = if start { "cuProfilerStart" } else { "cuProfilerStop" };
        self.context
            .call(call, |cuda| unsafe { if start { (cuda.cuProfilerStart)() } else { (cuda.cuProfilerStop)() } })
    }

    fn stream(&self) -> Result<*mut c_void, Unavailable> {
        self.context.enter();
        Ok(self.context.stream.cast())
    }

    fn cusparse(&self) -> Result<&dyn CuSparse, Unavailable> {
        let open = || InStream::open(cusparse::library(&self.target)?, self.context.clone());
        let opened = self.cusparse.get_or_init(open);
        opened.as_ref().map(|cusparse| cusparse as &dyn CuSparse).map_err(Clone::clone)
    }
}
