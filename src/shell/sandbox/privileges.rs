//! What root gives up before a SAFE command starts.
//!
//! Root keeps its capabilities through `exec` as far as the bounding set goes, which belongs to a thread. Landlock alone
//! does not do: with CAP_PERFMON, for one, `/proc/PID/environ` of any process can be read from inside it.

use std::io;

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

use crate::shell::Profile;

/// What reading the network's state takes as root: any file, the network's tables, raw packets, becoming less than root.
const KEPT: CapabilitySet = CapabilitySet::DAC_READ_SEARCH
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP);
/// What keeping one's own files takes where the folder belongs to the user behind `sudo`.
const FILES: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::FOWNER).union(CapabilitySet::CHOWN);

/// Takes from the calling thread what the programs that it starts have no use for; returns what is left, in words.
pub(super) fn drop_needless(profile: &Profile) -> io::Result<String> {
    if !geteuid().is_root() {
        return Ok("those of this user".to_owned());
    }
    let mut kept = KEPT;
    if profile.cloud {
        kept |= FILES;
    }
    if profile.namespace {
        kept |= CapabilitySet::SYS_ADMIN;
    }
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            // Root in a container may lack the right to give up rights; then the container is what confines.
            Err(Errno::PERM) => return Ok("all of this container's root".to_owned()),
            // Past the last that this kernel knows.
            Err(Errno::INVAL) => break,
            other => other?,
        }
    }
    let names: Vec<String> = kept.iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect();
    Ok(names.join(" "))
}
