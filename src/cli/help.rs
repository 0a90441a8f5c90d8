//! How help texts are grouped: the short help of a command leaves out the options that have a heading.

use clap::Arg;

/// The headings of the groups of options that the short help leaves out.
pub const WHAT: &str = "What to measure";
pub const LONG: &str = "How long to measure";
pub const OUTPUT: &str = "Output";
pub const GPU: &str = "GPU";
pub const RARE: &str = "Rarely needed";

/// What the help of a command says about the options that [`shared`] leaves out.
pub const MORE: &str = "`spmv-bench --help` has more options of measurements, which can be given here, too.";

/// Leaves the options of groups out of the short help.
pub fn grouped(arg: Arg) -> Arg {
    let is_in_group = arg.get_help_heading().is_some();
    arg.hide_short_help(is_in_group)
}

/// Leaves the options of groups out of the help of a command that has further ones: `spmv-bench --help` lists them.
pub fn shared(arg: Arg) -> Arg {
    let is_in_group = arg.get_help_heading().is_some();
    arg.hide_short_help(is_in_group).hide_long_help(is_in_group)
}

/// Leaves values out of the help of options whose texts name them.
pub fn described(arg: Arg) -> Arg {
    let has_value = arg.get_action().takes_values();
    arg.hide_default_value(has_value).hide_possible_values(has_value)
}
