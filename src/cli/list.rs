//! `spmv-bench methods`: what the one list says.

use std::io::{self, Write};

use crate::methods::METHODS;

/// Prints a paragraph per method.
pub fn methods(out: &mut dyn Write) -> io::Result<()> {
    for method in METHODS {
        let threads = if method.parallel { "all threads" } else { "one thread" };
        writeln!(out, "{:<12} {}, {threads}", method.name, method.device.name())?;
        writeln!(out, "{:12} {}", "", method.summary)?;
        writeln!(out, "{:12} source: {}", "", method.source)?;
    }
    Ok(())
}
