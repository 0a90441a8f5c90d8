//! Tables of the functions of NVIDIA's libraries.
//!
//! cudarc's bindings open libraries themselves, but only by file name, so that an installed toolkit would have priority
//! over a folder that the user named. They also panic when a function is missing. Therefore the functions are looked up
//! here, and the bindings, which are generated from NVIDIA's headers, only check the argument types. A status remains a
//! number, because a newer library may return one that the bindings' enums do not contain.

use std::ffi::{CStr, c_char};

/// Declares a struct of functions that all return a status. Functions under `optional` are `None` if an older version
/// of the library lacks them.
macro_rules! table {
    (
        $(#[$meta:meta])* $table:ident { $($function:ident($($argument:ty),* $(,)?);)* }
        $(optional { $($newer:ident($($newer_argument:ty),* $(,)?);)* })?
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case)] // the names are the library's
        pub struct $table {
            $(pub $function: unsafe extern "C" fn($($argument),*) -> u32,)*
            $($(pub $newer: Option<unsafe extern "C" fn($($newer_argument),*) -> u32>,)*)?
        }

        impl $table {
            pub fn find(library: &crate::library::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the argument types are those of the library's header, and a status has 32 bits.
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
        #[allow(dead_code)] // not every table is compared with the versions of its library
        impl $table {
            pub const REQUIRED: &[&str] = &[$(stringify!($function)),*];
            pub const OPTIONAL: &[&str] = &[$($(stringify!($newer)),*)?];
        }
    };
}
pub(super) use table;

/// Declares a [`table`] and compares the types of all arguments with the bindings, which must be imported as `sys`.
macro_rules! functions {
    (
        $(#[$meta:meta])* $table:ident { $($function:ident($($argument:ty),* $(,)?);)* }
        $(optional { $($newer:ident($($newer_argument:ty),* $(,)?);)* })?
    ) => {
        $crate::device::cuda::libraries::table! {
            $(#[$meta])* $table { $($function($($argument),*);)* }
            $(optional { $($newer($($newer_argument),*);)* })?
        }
        const _: () = {
            $(let _: unsafe fn($($argument),*) -> _ = sys::$function;)*
            $($(let _: unsafe fn($($newer_argument),*) -> _ = sys::$newer;)*)?
        };
    };
}
pub(super) use functions;

pub type StatusText = unsafe extern "C" fn(u32) -> *const c_char;

/// Converts a text of a library.
///
/// # Safety
/// `text` must be null or a C string that is never freed.
pub unsafe fn text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "unknown status";
    }
    // SAFETY: the caller guarantees the text.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("unknown status")
}
