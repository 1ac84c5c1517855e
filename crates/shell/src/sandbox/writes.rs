//! The no-write filter: what stands in for Landlock where a command cannot have it.
//!
//! A command in a Landlock domain may not mount, which entering a namespace takes, and does not see other processes. This
//! filter does not know one file from another, so that it forbids every change of any file, local sockets because binding
//! one makes a file, and signals to anybody but the command's own group.
//! Unlike Landlock it cannot say which files are executed.

use std::collections::BTreeMap;

use seccompiler::{SeccompCmpOp, SeccompRule};

use crate::sandbox::syscalls::{CallsError, has, rule, wide};
use crate::sandbox::table;

/// What a command may open for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writable {
    /// No file.
    Nothing,
    /// What its user may, for reading and writing at once: it is a user who owns nothing.
    Opened,
}

/// Flags with which a file is made, changed, or opened to be: `O_WRONLY`, `O_CREAT`, `O_TRUNC`, `__O_TMPFILE`.
const WRITING: [u64; 4] = [0o1, 0o100, 0o1000, 0o20_000_000];
/// `O_RDWR`.
const BOTH: u64 = 0o2;

/// The whole numbers of `ioctl`s for terminals, and for sockets.
const TERMINAL: (u64, u64) = (0x5400, 0x54ff);
const SOCKET: (u64, u64) = (0x8900, 0x89ff);
/// `TIOCSTI`, `TIOCLINUX` and `TIOCSCTTY`, which type for the user or take the terminal away.
const TYPING: [u64; 3] = [0x5412, 0x541c, 0x540e];

/// Flags with which `ip` and `ss` mount when they enter a namespace: a private tree, `/sys` again, a file of the
/// namespace's over one in `/etc`. Never a remount, which could make writable.
const MOUNTING: [u64; 4] = [libc::MS_SLAVE | libc::MS_REC, 0, libc::MS_RDONLY, libc::MS_BIND];

/// Returns the calls that fail as if the file's mode forbade them.
pub(super) fn chains(writable: Writable) -> Result<BTreeMap<i64, Vec<SeccompRule>>, CallsError> {
    let mut chains: BTreeMap<i64, Vec<SeccompRule>> =
        [table::WRITES, table::WRITES_HERE, table::METADATA, table::METADATA_HERE, table::SIGNALS]
            .into_iter()
            .flatten()
            .map(|number| (*number, Vec::new()))
            .collect();
    let both = (writable == Writable::Nothing).then_some(BOTH);
    let flags = |argument| {
        let bits = WRITING.into_iter().chain(both);
        bits.map(|bit| rule(&[(argument, has(bit), bit)])).collect::<Result<_, _>>()
    };
    chains.insert(libc::SYS_openat, flags(2)?);
    #[cfg(target_arch = "x86_64")]
    chains.insert(libc::SYS_open, flags(1)?);
    let local = u64::from(libc::AF_UNIX.unsigned_abs());
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        chains.insert(call, vec![rule(&[(0, SeccompCmpOp::Eq, local)])?]);
    }
    // `timeout` stops its group, which is process 0 to itself.
    chains.insert(libc::SYS_kill, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    chains.insert(libc::SYS_mount, vec![wide(&MOUNTING.map(|flags| (3, SeccompCmpOp::Ne, flags)))?]);
    Ok(chains)
}

/// Denies every `ioctl` but those of terminals and sockets: among the others are file flags and attributes, which Landlock
/// does not see.
pub(super) fn ioctls() -> Result<Vec<SeccompRule>, CallsError> {
    let mut denied = vec![
        rule(&[(1, SeccompCmpOp::Lt, TERMINAL.0)])?,
        rule(&[(1, SeccompCmpOp::Gt, TERMINAL.1), (1, SeccompCmpOp::Lt, SOCKET.0)])?,
        rule(&[(1, SeccompCmpOp::Gt, SOCKET.1)])?,
    ];
    for number in TYPING {
        denied.push(rule(&[(1, SeccompCmpOp::Eq, number)])?);
    }
    Ok(denied)
}
