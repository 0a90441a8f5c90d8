/// The resources that one kernel uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub kernel: String,
    /// Per thread.
    pub registers: u32,
    /// The bytes of stack per thread: arrays that did not fit in registers.
    pub stack: u32,
    /// The bytes of registers stored to memory because there were too few (spills).
    pub spill_stores: u32,
    /// The bytes of spilled registers loaded again.
    pub spill_loads: u32,
    /// The bytes of static shared memory per block.
    pub shared: u32,
}

impl Usage {
    /// Reads the resources of every kernel from a [`Compiled::log`](super::nvrtc::Compiled::log).
    pub fn of(log: &str) -> Vec<Self> {
        let mut kernels: Vec<Self> = Vec::new();
        for line in log.lines() {
            if let Some((_, rest)) = line.split_once("Compiling entry function '") {
                let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
                kernels.push(Self { kernel, ..Self::default() });
            } else if let Some(kernel) = kernels.last_mut() {
                kernel.read(line);
            }
        }
        kernels
    }

    /// Reads a line such as `0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads` or
    /// `Used 32 registers, used 1 barriers, 1024 bytes smem`.
    fn read(&mut self, line: &str) {
        let before = |what: &str| -> Option<u32> { line.split_once(what)?.0.rsplit([' ', '\t']).next()?.parse().ok() };
        let fields = [
            (&mut self.registers, " registers"),
            (&mut self.stack, " bytes stack frame"),
            (&mut self.spill_stores, " bytes spill stores"),
            (&mut self.spill_loads, " bytes spill loads"),
            (&mut self.shared, " bytes smem"),
        ];
        for (field, what) in fields {
            *field = before(what).unwrap_or(*field);
        }
    }
}
