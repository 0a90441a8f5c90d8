//! `spmv-bench man`: prints the manual pages of the program and of its commands.

use std::io::{self, Write};

use anyhow::{Result, anyhow};
use clap::{Args, Command};
use clap_mangen::Man;

use spmv_matrix::near::hint;

/// Prints the manual pages: spmv-bench man | man -l -
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Print only the manual page of this command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl ManArgs {
    pub fn print(&self, program: Command, out: &mut dyn Write) -> Result<()> {
        // Otherwise the page would list the command `help`, which only repeats the other pages.
        let mut program = program.disable_help_subcommand(true);
        program.build();
        let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
        let commands: Vec<_> = commands.collect();
        let Some(name) = &self.command else {
            page(&program, out)?;
            return Ok(commands.iter().try_for_each(|command| page(command, out))?);
        };
        let found = commands.iter().find(|command| command.get_name() == name).ok_or_else(|| {
            let names = commands.iter().map(|command| command.get_name());
            let hint = hint(name, names, "`spmv-bench --help` lists the commands");
            anyhow!("man {name}: there is no such command{hint}")
        })?;
        Ok(page(found, out)?)
    }
}

fn page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let source = concat!("spmv-bench ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).render(&mut &mut *out)
}
