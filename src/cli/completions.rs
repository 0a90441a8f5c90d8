//! `spmv-bench completions`: prints a completion script for a shell.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

/// Prints a completion script for a shell
///
/// For bash: spmv-bench completions bash > ~/.local/share/bash-completion/completions/spmv-bench
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that reads the script
    shell: Shell,
}

impl CompletionsArgs {
    pub fn print(&self, mut program: Command, out: &mut dyn Write) -> io::Result<()> {
        // Generated into a buffer first: `generate` panics if it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "spmv-bench", &mut script);
        out.write_all(&script)
    }
}
