//! Putting away what labs left: their own at the end, those of dead owners before anything else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::journal::{Journal, spaces};
use super::name::{Namespace, Prefix};
use super::program::failed;
use crate::host::exec::ProcessRequest;
use crate::host::port::HostError;

/// How long the kernel may take to end a process that was killed.
const KILL_TIMEOUT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Removes what labs of this folder left whose owners are gone; returns the names of the namespaces.
///
/// It leaves alone what lives, what another folder's labs hold, and every namespace that carries no such name. Where nothing was
/// left it needs no rights.
///
/// # Errors
/// Fails where a namespace cannot be removed; the journal stays then, so that the next time tries again.
pub fn sweep(folder: &Path) -> Result<Vec<String>, HostError> {
    let mut removed = Vec::new();
    for (journal, prefix) in Journal::all(folder) {
        if !journal.is_alive() {
            removed.extend(clear(&prefix)?);
            journal.end(folder);
        }
    }
    Ok(removed)
}

/// Ends everything in the namespaces of a lab and removes them.
pub(in crate::host) fn clear(prefix: &Prefix) -> Result<Vec<String>, HostError> {
    let found = spaces(prefix);
    found.iter().try_for_each(remove)?;
    Ok(found.iter().map(|space| space.as_str().to_owned()).collect())
}

/// Ends everything in a namespace and removes it; its devices, rules and qdiscs go with it.
pub(super) fn remove(space: &Namespace) -> Result<(), HostError> {
    for process in inside(space) {
        // It may end by itself meanwhile; a handle can mean no other.
        let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { continue };
        if pidfd_send_signal(&handle, Signal::KILL).is_ok() {
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&KILL_TIMEOUT));
        }
    }
    let order = ProcessRequest::own("ip", &["netns", "del", space.as_str()])
        .map_err(|error| failed("ip netns del", error))?;
    let output =
        order.at_most(Duration::from_secs(10)).run().map_err(|error| failed("ip netns del", error))?;
    if output.code != 0 && space.path().exists() {
        return Err(failed("ip netns del", output.err.trim()));
    }
    Ok(())
}

/// Returns the processes in a namespace. This one is never among them, whatever its threads do.
fn inside(space: &Namespace) -> Vec<Pid> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(own) = fs::metadata(space.path()) else { return Vec::new() };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let within = numbers.filter(|number| {
        let there = fs::metadata(format!("/proc/{number}/ns/net"));
        there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()))
    });
    let this = std::process::id();
    within.filter(|number| u32::try_from(*number) != Ok(this)).filter_map(Pid::from_raw).collect()
}
