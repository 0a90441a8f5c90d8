//! Tables of the functions of NVIDIA's libraries.
//!
//! cudarc's bindings open libraries themselves, but by plain names only, so that a toolkit of the
//! system would win over a folder that was named, and they panic when a function is missing. So the
//! functions are found here, and the bindings, which are made from NVIDIA's headers, hold their
//! argument types against ours. A status stays a number: a newer library may return one that the
//! bindings' enums do not know.

use std::ffi::{CStr, c_char};

/// Declares a struct of functions that all return a status. Those under `optional`, which older
/// versions of the library lack, are `None` where they are absent. The bindings are what `sys` means
/// where the macro is used.
macro_rules! functions {
    (
        $(#[$meta:meta])* $table:ident { $($function:ident($($argument:ty),* $(,)?);)* }
        $(optional { $($newer:ident($($newer_argument:ty),* $(,)?);)* })?
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case)] // the names are the library's
        #[allow(missing_docs)] // NVIDIA's reference explains them
        pub struct $table {
            $(pub $function: unsafe extern "C" fn($($argument),*) -> u32,)*
            $($(pub $newer: Option<unsafe extern "C" fn($($newer_argument),*) -> u32>,)*)?
        }

        impl $table {
            /// Finds them all.
            pub fn find(
                library: &libloading::os::unix::Library,
            ) -> Result<Self, libloading::Error> {
                $(let _: unsafe fn($($argument),*) -> _ = sys::$function;)*
                $($(let _: unsafe fn($($newer_argument),*) -> _ = sys::$newer;)*)?
                // SAFETY: the bindings agree about the arguments, and a status is 32 bits.
                unsafe {
                    Ok(Self {
                        $($function: *library.get(stringify!($function).as_bytes())?,)*
                        $($($newer: library
                            .get(stringify!($newer).as_bytes())
                            .ok()
                            .map(|function| *function),)*)?
                    })
                }
            }
        }

        #[cfg(test)]
        #[allow(dead_code)] // not every table is held against the versions of its library
        impl $table {
            /// What every version of the library must have.
            pub const REQUIRED: &[&str] = &[$(stringify!($function)),*];
            /// What older versions may lack.
            pub const OPTIONAL: &[&str] = &[$($(stringify!($newer)),*)?];
        }
    };
}
pub(super) use functions;

/// A function that names or explains a status.
pub type StatusText = unsafe extern "C" fn(u32) -> *const c_char;

/// The text that a library keeps at `text`.
///
/// # Safety
/// It is null or a C string that is never freed.
pub unsafe fn text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "unknown status";
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("unknown status")
}
