//! A modelled GPU: its kernels are executed exactly on the CPU by [`ptx_machine`], and their times are modelled.

mod device_file;
mod driver;
mod execute;
mod loaded;
pub mod occupancy;
mod state;
mod timing;
pub mod written;

pub use device_file::DeviceFile;
pub use state::Model;
