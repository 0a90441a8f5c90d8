//! `spmv-bench methods`: what the one list says.

use std::io::{self, Write};

use crate::method::{Code, Parameter};
use crate::methods::METHODS;

/// Prints a paragraph per method.
pub fn methods(out: &mut dyn Write) -> io::Result<()> {
    for method in METHODS {
        let place = match method.code {
            Code::Cpu { parallel: true, .. } => "cpu, all threads",
            Code::Cpu { parallel: false, .. } => "cpu, one thread",
            Code::Gpu { .. } => "gpu",
        };
        writeln!(out, "{:<18} {place}", method.name)?;
        writeln!(out, "{:18} {}", "", method.summary)?;
        writeln!(out, "{:18} source: {}", "", method.source)?;
        for Parameter { name, values, meaning } in method.parameters {
            writeln!(out, "{:18} :{name}={} {meaning}", "", values.join("|"))?;
        }
    }
    Ok(())
}
