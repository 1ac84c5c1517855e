//! What root gives up before a SAFE command starts.
//!
//! Root keeps its capabilities through `exec` as far as the bounding set goes, which belongs to a thread. Landlock alone
//! does not do: with CAP_PERFMON, for one, `/proc/PID/environ` of any process can be read from inside it.

use std::{fs, io};

use rustix::io::Errno;
use rustix::process::{Gid, Uid, getegid, geteuid, getgroups};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use crate::{Profile, Socket};

/// What reading the network's state takes as root: any file, raw packets, becoming less than root.
const KEPT: CapabilitySet = CapabilitySet::DAC_READ_SEARCH
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP);
/// What looking into other processes takes: reading `/proc/PID/fd` of a process that holds more capabilities than one's
/// own. The filter of system calls forbids every other use of CAP_SYS_PTRACE.
const PROCESSES: CapabilitySet = CapabilitySet::DAC_READ_SEARCH.union(CapabilitySet::SYS_PTRACE);
/// What keeping one's own files takes where the folder belongs to the user behind `sudo`.
const FILES: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::FOWNER).union(CapabilitySet::CHOWN);

/// Takes from the calling thread what the programs that it starts have no use for; returns what is left, in words.
pub(super) fn drop_needless(profile: &Profile) -> io::Result<String> {
    if !geteuid().is_root() {
        return Ok("those of this user".to_owned());
    }
    if profile.namespace {
        inherit_for_ip()?;
    }
    let mut kept = if profile.processes { PROCESSES } else { KEPT };
    if profile.cloud {
        kept |= FILES;
    }
    if profile.net_admin {
        kept |= CapabilitySet::NET_ADMIN;
    }
    if profile.log {
        kept |= CapabilitySet::SYSLOG;
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
    Ok(in_words(kept))
}

/// Turns the calling thread into a user who owns nothing, with what looking into other processes or entering a namespace
/// takes; returns that in words, or nothing where this root may not.
///
/// With CAP_SYS_ADMIN the environment of any process can be read, if only its file can be opened: which takes its owner, or
/// CAP_DAC_READ_SEARCH, and entering a namespace takes neither.
///
/// `lsof` opens `/dev/null` for reading and writing and gives up where it cannot. No filter of system calls knows a path;
/// but to a user who owns nothing, `/dev/null` is about the only file that is writable.
pub(super) fn become_nobody(profile: &Profile) -> Option<String> {
    const NOBODY: u32 = 65_534;
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    let mut kept = CapabilitySet::empty();
    // `ip netns exec NS ping`: outside of the first namespace no group has echo sockets.
    let sends_raw = profile.namespace && profile.sockets.contains(&Socket::Raw);
    for (wanted, powers) in [
        (sends_raw, CapabilitySet::NET_RAW),
        (profile.processes, PROCESSES),
        (profile.namespace, CapabilitySet::SYS_ADMIN),
        (profile.net_admin, CapabilitySet::NET_ADMIN),
    ] {
        if wanted {
            kept |= powers;
        }
    }
    let left = if profile.namespace { CapabilitySet::NET_ADMIN } else { CapabilitySet::empty() };
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept | left };
    let change = || {
        set_keep_capabilities(true)?;
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)?;
        set_capabilities(None, sets)?;
        kept.iter().try_for_each(|one| configure_capability_in_ambient_set(one, true))
    };
    change().ok().map(|()| format!("{}, as nobody", in_words(kept)))
}

/// Makes the power over the network inheritable, which by itself gives it to nobody: `ip` of a user gives up all that it has
/// unless it finds that.
fn inherit_for_ip() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::NET_ADMIN;
    // Where this root has not got it, `ip` cannot enter a namespace anyway.
    let _ = set_capabilities(None, sets);
    Ok(())
}

fn in_words(kept: CapabilitySet) -> String {
    let names: Vec<String> = kept.iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.join(" ")
}

/// Tells whether `ping` would need the capabilities of its file, which a sandboxed process cannot gain: this user is not
/// root, and the kernel gives its groups no echo sockets.
pub(super) fn ping_needs_privileges() -> bool {
    if geteuid().is_root() {
        return false;
    }
    let range = fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap_or_default();
    let groups = getgroups().unwrap_or_default();
    !covers(&range, groups.into_iter().chain([getegid()]).map(Gid::as_raw))
}

fn covers(range: &str, mut groups: impl Iterator<Item = u32>) -> bool {
    let mut bounds = range.split_ascii_whitespace().map(str::parse::<u32>);
    match (bounds.next(), bounds.next()) {
        (Some(Ok(first)), Some(Ok(last))) => groups.any(|group| (first..=last).contains(&group)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, groups: &[u32], expected: bool) {
        assert_eq!(covers(range, groups.iter().copied()), expected, "{range:?} {groups:?}");
    }

    #[test]
    fn one_group_inside_the_range_is_enough() {
        check("0\t2147483647\n", &[1000], true);
        check("100\t200\n", &[1000, 200], true);
    }

    #[test]
    fn the_default_range_is_empty() {
        check("1\t0\n", &[0, 1, 1000], false);
    }

    #[test]
    fn an_unreadable_range_covers_nobody() {
        check("", &[0], false);
        check("0", &[0], false);
        check("a b", &[0], false);
    }
}
