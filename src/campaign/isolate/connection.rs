//! The child's end of the connection, as the system shows it to the parent.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// An end of a connection, by its name in `/proc`.
pub struct End(PathBuf);

impl End {
    /// Returns the name of an end that this process has; `None` if the system does not tell.
    pub fn of(socket: &UnixStream) -> Option<Self> {
        fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).ok().map(Self)
    }

    /// Returns the descriptor by which a child holds it, other than its standard input, which the child replaces.
    pub fn in_child(&self, process: u32) -> Option<PathBuf> {
        let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
        let mut own = files.flatten().map(|file| file.path()).filter(|file| !file.ends_with("0"));
        own.find(|file| fs::read_link(file).is_ok_and(|name| name == self.0))
    }

    /// Returns whether a descriptor belongs to something else by now.
    pub fn is_replaced(&self, descriptor: &Path) -> bool {
        fs::read_link(descriptor).is_ok_and(|name| name != self.0)
    }
}
