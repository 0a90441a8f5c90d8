//! What kernels use of a multiprocessor, from the compiler's log.

/// What one kernel uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The kernel's name.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack: arrays that did not fit into registers.
    pub stack: u32,
    /// Bytes of registers stored to memory for want of room.
    pub spill_stores: u32,
    /// Bytes of such registers loaded again.
    pub spill_loads: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
}

impl Usage {
    /// Every kernel of a [`Compiled::log`](super::nvrtc::Compiled::log).
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

    /// Lines such as `0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads` and
    /// `Used 32 registers, used 1 barriers, 1024 bytes smem`.
    fn read(&mut self, line: &str) {
        let before = |what: &str| {
            let number = line.split(what).next()?.rsplit([' ', '\t']).next()?;
            line.contains(what).then(|| number.parse().ok())?
        };
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
