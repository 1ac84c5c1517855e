//! The limits of one process, which its children inherit.
//!
//! They are set from outside right after the start, since nothing of ours runs between fork and exec. Until then, some
//! tens of microseconds and longer on a busy machine, the program works with this process's own limits. It cannot raise
//! them afterwards: the hard limits are the same, and root has given up the capability to raise those.

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::{Limits, Profile};

/// Limits a process; returns in words what is in force, and what the system refused.
pub(super) fn limit(child: Pid, limits: &Limits, profile: &Profile) -> Vec<String> {
    let memory = if profile.cloud { limits.cloud_memory } else { limits.memory };
    let file = if profile.captures { limits.capture_size } else { limits.file_size };
    // Whoever reaches the end of the time by computing is stopped even where the watch is late.
    let seconds = limits.timeout.as_secs().saturating_add(1);
    [
        (Resource::As, "memory", memory, " bytes"),
        (Resource::Fsize, "file size", file, " bytes"),
        (Resource::Cpu, "processor time", seconds, " s"),
        (Resource::Core, "core dump", 0, " bytes"),
        (Resource::Nofile, "open files", limits.open_files, ""),
    ]
    .into_iter()
    .map(|(resource, name, value, unit)| {
        let bound = Rlimit { current: Some(value), maximum: Some(value) };
        match prlimit(Some(child), resource, bound) {
            Ok(_) => format!("{name} {value}{unit}"),
            Err(error) => format!("{name} not limited: {error}"),
        }
    })
    .collect()
}
