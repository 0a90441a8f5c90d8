//! CUDA events: moments in the stream, and the times between them.

use std::cell::RefCell;
use std::ptr::null_mut;
use std::rc::Rc;
use std::time::Duration;

use cudarc::driver::sys::CUevent;

use super::context::Context;
use crate::device::Failed;
use crate::device::driver::Event;

/// A pool of events. They are reused, because creating an event takes longer than recording it.
pub struct Events {
    context: Rc<Context>,
    created: RefCell<Vec<CUevent>>,
    /// The events that are not in use.
    free: RefCell<Vec<Event>>,
}

impl Events {
    /// Creates an empty pool.
    pub fn new(context: Rc<Context>) -> Self {
        Self { context, created: RefCell::default(), free: RefCell::default() }
    }

    /// Implements [`Driver::record`](crate::device::driver::Driver::record).
    pub fn record(&self) -> Result<Event, Failed> {
        let free = self.free.borrow_mut().pop();
        let event = free.map_or_else(|| self.create(), Ok)?;
        let record = self.context.enter().cuEventRecord;
        // SAFETY: event and stream are alive and belong to the same context.
        let status = unsafe { record(self.raw(event), self.context.stream) };
        self.context.check(status, || "cuEventRecord".into())?;
        Ok(event)
    }

    /// Implements [`Driver::times`](crate::device::driver::Driver::times).
    pub fn times(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        let times = self.wait_and_read(events);
        self.free.borrow_mut().extend(events);
        times
    }

    fn wait_and_read(&self, events: &[Event]) -> Result<Vec<Duration>, Failed> {
        if let Some(&last) = events.last() {
            // SAFETY: the event is alive.
            let status = unsafe { (self.context.enter().cuEventSynchronize)(self.raw(last)) };
            self.context.check(status, || "cuEventSynchronize".into())?;
        }
        events.windows(2).map(|pair| self.elapsed(pair[0], pair[1])).collect()
    }

    fn elapsed(&self, from: Event, to: Event) -> Result<Duration, Failed> {
        let mut ms = 0f32;
        let elapsed = self.context.elapsed_time();
        // SAFETY: both events are alive.
        let status = unsafe { elapsed(&mut ms, self.raw(from), self.raw(to)) };
        self.context.check(status, || "cuEventElapsedTime".into())?;
        Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
    }

    fn create(&self) -> Result<Event, Failed> {
        let mut event = null_mut();
        // SAFETY: the context is alive; flag 0 requests an event with timing.
        let status = unsafe { (self.context.enter().cuEventCreate)(&mut event, 0) };
        self.context.check(status, || "cuEventCreate".into())?;
        let mut created = self.created.borrow_mut();
        created.push(event);
        Ok(Event(created.len() - 1))
    }

    fn raw(&self, event: Event) -> CUevent {
        self.created.borrow()[event.0]
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let destroy = self.context.enter().cuEventDestroy_v2;
        for &event in self.created.get_mut().iter() {
            // SAFETY: the event was created here and is destroyed once. The status is ignored: nothing can be done.
            unsafe { destroy(event) };
        }
    }
}
