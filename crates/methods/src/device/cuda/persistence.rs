//! The part of the L2 cache that is set aside for data that persist there.

use cudarc::driver::sys::CUaccessProperty::{
    CU_ACCESS_PROPERTY_NORMAL, CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING,
};
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
    CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE,
};
use cudarc::driver::sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
use cudarc::driver::sys::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
use cudarc::driver::sys::{CUaccessPolicyWindow, CUstreamAttrValue};

use super::context::Context;
use super::facts;
use crate::device::Failed;
use crate::device::driver::Address;

/// Implements [`Driver::persist`](crate::device::driver::Driver::persist). If the bytes are more than the part that is set
/// aside, only a share of them persists, which the hardware chooses; the others are the first to be evicted.
pub fn persist(context: &Context, address: Address, bytes: usize) -> Result<u64, Failed> {
    let most = facts::attribute(context, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)?;
    let widest = facts::attribute(context, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)?;
    // Zero before compute capability 8.0, and on parts of a GPU (MIG).
    if most == 0 || widest == 0 {
        return Ok(0);
    }
    let (set_aside, window) = (bytes.min(most as usize), bytes.min(widest as usize));
    set_limit(context, set_aside)?;
    set_window(context, address, window, (set_aside as f32 / window.max(1) as f32).min(1.0))?;
    if bytes == 0 {
        // SAFETY: the call has no arguments.
        let status = unsafe { (context.enter().cuCtxResetPersistingL2Cache)() };
        context.check(status, || "cuCtxResetPersistingL2Cache".into())?;
    }
    Ok(set_aside as u64)
}

fn set_limit(context: &Context, bytes: usize) -> Result<(), Failed> {
    let set = context.enter().cuCtxSetLimit;
    // SAFETY: the context is alive.
    let status = unsafe { set(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes) };
    context.check(status, || format!("cuCtxSetLimit of {bytes} bytes of persisting L2 cache"))
}

/// Lets a share of `bytes` bytes persist in the work of the stream. 0 bytes remove the window.
fn set_window(context: &Context, address: Address, bytes: usize, share: f32) -> Result<(), Failed> {
    let exists = bytes > 0;
    let [hit, miss] = match exists {
        true => [CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING],
        false => [CU_ACCESS_PROPERTY_NORMAL; 2],
    };
    let window = CUaccessPolicyWindow {
        base_ptr: address as *mut _,
        num_bytes: bytes,
        hitRatio: share,
        hitProp: hit,
        missProp: miss,
    };
    let value = CUstreamAttrValue { accessPolicyWindow: window };
    let set = context.enter().cuStreamSetAttribute;
    // SAFETY: the stream is alive, and the value is that of this attribute.
    let status = unsafe { set(context.stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value) };
    context.check(status, || format!("cuStreamSetAttribute of a window of {bytes} bytes"))
}
