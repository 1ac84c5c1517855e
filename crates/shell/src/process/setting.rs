//! Where and within which bounds commands run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Programs;

const MIB: u64 = 1024 * 1024;

/// The bounds of one command. Those from `memory` on hold for SAFE commands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub timeout: Duration,
    /// How many bytes of each stream are kept; the rest is read and counted.
    pub output: usize,
    /// Address space of each process, in bytes.
    pub memory: u64,
    /// The same for `az`, whose interpreter needs more.
    pub cloud_memory: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Size of a file it writes, in bytes.
    pub file_size: u64,
    /// The same for a command that fetches a capture.
    pub capture_size: u64,
    /// Processes and threads at once.
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            output: 8 * 1024 * 1024,
            memory: 2048 * MIB,
            cloud_memory: 4096 * MIB,
            open_files: 256,
            file_size: 64 * MIB,
            capture_size: 4096 * MIB,
            processes: 64,
        }
    }
}

/// Whether the number of processes is bounded by a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessBound {
    /// Where the machine lets us make one.
    #[default]
    Cgroup,
    /// Never: the audit then says `unbounded`.
    Off,
}

/// Everything about the place where commands run; the caller reads the configuration and the environment for it.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The bounds.
    pub limits: Limits,
    /// Under this folder every SAFE command gets one of its own, for as long as it runs.
    pub scratch: PathBuf,
    /// Where a download may put a capture.
    pub captures: PathBuf,
    /// The working folder of commands.
    pub cwd: PathBuf,
    /// Variables that a command may see, where the list in `environment.rs` knows them too.
    pub environment: BTreeMap<String, OsString>,
    /// Programs with a configured path.
    pub programs: Programs,
    /// Whether the number of processes is bounded.
    pub bound: ProcessBound,
}
