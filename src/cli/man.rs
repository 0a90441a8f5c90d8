//! `spmv-bench man`: prints the manual pages of the program and of its commands.

use std::io::{self, Write};

use anyhow::{Result, anyhow};
use clap::Command;
use clap_mangen::Man;

use super::CommandStatus;
use spmv_matrix::near::hint;

pub fn run(command: Option<&str>, cli: Command, out: &mut dyn Write) -> Result<CommandStatus> {
    // Otherwise the page would list the command `help`, which only repeats the other pages.
    let mut cli = cli.disable_help_subcommand(true);
    cli.build();
    let commands = || cli.get_subcommands().filter(|command| !command.is_hide_set());
    match command {
        None => {
            page(&cli, out)?;
            commands().try_for_each(|command| page(command, out))?;
        }
        Some(name) => {
            let unknown = || {
                let names = commands().map(|command| command.get_name());
                let hint = hint(name, names, "`spmv-bench --help` lists the commands");
                anyhow!("man {name}: there is no such command{hint}")
            };
            page(commands().find(|command| command.get_name() == name).ok_or_else(unknown)?, out)?;
        }
    }
    Ok(CommandStatus::Ok)
}

fn page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let source = concat!("spmv-bench ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).render(&mut &mut *out)
}
