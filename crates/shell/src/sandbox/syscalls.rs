//! The seccomp layer: system calls that fail with EPERM, and the kinds of sockets that may be opened.
//!
//! Landlock knows TCP ports and nothing else of the network; datagrams, raw packets and netlink are decided here.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::Socket;
use crate::sandbox::table;
use crate::sandbox::writes::{self, Writable};

/// What a command may ask of the kernel beside the ordinary.
#[derive(Debug, Clone, Default)]
pub(super) struct CallRules {
    /// Kinds of sockets.
    pub(super) sockets: Vec<Socket>,
    /// Whether it may enter a namespace.
    pub(super) namespace: bool,
    /// Whether it may change modes, owners and times of files.
    pub(super) metadata: bool,
    /// Whether it may read the kernel's log.
    pub(super) log: bool,
    /// What it may write where Landlock does not watch it.
    pub(super) no_write: Option<Writable>,
}

/// Why the filter could not be put in force on a kernel that has filters.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallsError {
    #[error("this processor's system calls are not known")]
    Architecture(#[source] seccompiler::BackendError),
    #[error("the filter cannot be built")]
    Build(#[from] seccompiler::BackendError),
    #[error("the kernel refused the filter")]
    Refused(#[source] seccompiler::Error),
}

/// Programs to load, in this order.
pub(super) type Filters = Vec<BpfProgram>;

/// Builds the filters.
pub(super) fn filters(rules: &CallRules) -> Result<Filters, CallsError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(CallsError::Architecture)?;
    let failing = |chains, error: i32| {
        let denied = SeccompAction::Errno(error.unsigned_abs());
        SeccompFilter::new(chains, SeccompAction::Allow, denied, arch)?.try_into()
    };
    let mut filters = vec![numbers()];
    if let Some(writable) = rules.no_write {
        // The error with which Landlock answers.
        filters.push(failing(writes::chains(writable)?, libc::EACCES)?);
    }
    // Of two errors the one loaded last is seen.
    filters.push(failing(chains(rules)?, libc::EPERM)?);
    Ok(filters)
}

/// Puts the filters in force for the calling thread and what it starts; `absent` where the kernel has none.
pub(super) fn restrict(filters: &Filters) -> Result<&'static str, CallsError> {
    for filter in filters {
        match apply_filter(filter) {
            Ok(()) => {}
            Err(seccompiler::Error::Seccomp(error))
                if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) =>
            {
                return Ok("absent");
            }
            Err(error) => return Err(CallsError::Refused(error)),
        }
    }
    Ok("on")
}

fn chains(rules: &CallRules) -> Result<BTreeMap<i64, Vec<SeccompRule>>, CallsError> {
    let mut denied: Vec<&[i64]> = vec![table::ALWAYS, table::ALWAYS_HERE];
    if !rules.namespace {
        denied.push(table::NAMESPACE);
    }
    if !rules.metadata {
        denied.extend([table::METADATA, table::METADATA_HERE]);
    }
    // An empty chain denies whatever the arguments are.
    let mut chains: BTreeMap<i64, Vec<SeccompRule>> =
        denied.into_iter().flatten().map(|number| (*number, Vec::new())).collect();
    chains.insert(libc::SYS_socket, sockets(&rules.sockets)?);
    if !rules.sockets.contains(&Socket::Local) {
        // Types 2 and 3: one of a pair for datagrams still sends to any path.
        chains.insert(libc::SYS_socketpair, vec![rule(&[(1, has(0b0010), 0b0010)])?]);
    }
    for number in table::OTHERS {
        chains.insert(*number, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    }
    // `nice` changes itself, which is process 0 to itself.
    let foreign = [rule(&[(0, SeccompCmpOp::Ne, 0)])?, rule(&[(1, SeccompCmpOp::Ne, 0)])?];
    chains.insert(libc::SYS_setpriority, foreign.into());
    chains.insert(libc::SYS_ioctl, writes::ioctls()?);
    if rules.namespace {
        // Into a network namespace that is there, with mounts of its own.
        let network = libc::CLONE_NEWNET.unsigned_abs().into();
        chains.insert(libc::SYS_setns, vec![rule(&[(1, SeccompCmpOp::Ne, network)])?]);
        let mounts = libc::CLONE_NEWNS.unsigned_abs().into();
        chains.insert(libc::SYS_unshare, vec![wide(&[(0, SeccompCmpOp::Ne, mounts)])?]);
    }
    let flags = NEW_NAMESPACES.iter().map(|flag| rule(&[(0, has(*flag), *flag)]));
    chains.insert(libc::SYS_clone, flags.collect::<Result<_, _>>()?);
    // Reading all and asking for the size; never reading on, clearing or changing the console's level.
    let log = [(0, SeccompCmpOp::Ne, 3), (0, SeccompCmpOp::Ne, 10)];
    let log = rules.log.then(|| rule(&log)).transpose()?;
    chains.insert(libc::SYS_syslog, log.into_iter().collect());
    // The start of the child itself joins a group of its own: (0, 0). Nobody is moved elsewhere.
    let elsewhere = [rule(&[(0, SeccompCmpOp::Ne, 0)])?, rule(&[(1, SeccompCmpOp::Ne, 0)])?];
    chains.insert(libc::SYS_setpgid, elsewhere.into());
    let unnamed = u64::from(libc::AT_EMPTY_PATH.unsigned_abs());
    chains.insert(libc::SYS_execveat, vec![rule(&[(4, has(unnamed), unnamed)])?]);
    Ok(chains)
}

const NEW_NAMESPACES: [u64; 7] = [
    libc::CLONE_NEWNS.unsigned_abs() as u64,
    libc::CLONE_NEWCGROUP.unsigned_abs() as u64,
    libc::CLONE_NEWUTS.unsigned_abs() as u64,
    libc::CLONE_NEWIPC.unsigned_abs() as u64,
    libc::CLONE_NEWUSER.unsigned_abs() as u64,
    libc::CLONE_NEWPID.unsigned_abs() as u64,
    libc::CLONE_NEWNET.unsigned_abs() as u64,
];

/// The low bits of a socket's type; the others are flags.
const KIND: u64 = 0xf;

/// Denies every kind of socket that is not asked for.
fn sockets(allowed: &[Socket]) -> Result<Vec<SeccompRule>, CallsError> {
    let family = |number: i32| u64::from(number.unsigned_abs());
    let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];
    let mut denied = vec![rule(&known.map(|number| (0, SeccompCmpOp::Ne, family(number))))?];
    let families = [
        (Socket::Local, libc::AF_UNIX),
        (Socket::Netlink, libc::AF_NETLINK),
        (Socket::Packet, libc::AF_PACKET),
    ];
    for (socket, number) in families {
        if !allowed.contains(&socket) {
            denied.push(rule(&[(0, SeccompCmpOp::Eq, family(number))])?);
        }
    }
    let kinds = [
        (Socket::Stream, libc::SOCK_STREAM),
        (Socket::Datagram, libc::SOCK_DGRAM),
        (Socket::Raw, libc::SOCK_RAW),
    ];
    for number in [libc::AF_INET, libc::AF_INET6].map(family) {
        for (_, kind) in kinds.iter().filter(|(socket, _)| !allowed.contains(socket)) {
            denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(KIND), family(*kind))])?);
        }
        // Types 0 and 4 to 15, among them the old interface to whole frames.
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(KIND), 0)])?);
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(0b0100), 0b0100)])?);
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(0b1000), 0b1000)])?);
    }
    Ok(denied)
}

pub(super) fn has(bits: u64) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(bits)
}

/// Matches where every argument does; the kernel takes these arguments as 32 bits.
pub(super) fn rule(arguments: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, CallsError> {
    matching(SeccompCmpArgLen::Dword, arguments)
}

/// Matches where every argument does, of those that the kernel takes as 64 bits.
pub(super) fn wide(arguments: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, CallsError> {
    matching(SeccompCmpArgLen::Qword, arguments)
}

fn matching(
    length: SeccompCmpArgLen,
    arguments: &[(u8, SeccompCmpOp, u64)],
) -> Result<SeccompRule, CallsError> {
    let conditions = arguments
        .iter()
        .map(|(index, compare, value)| SeccompCondition::new(*index, length.clone(), compare.clone(), *value))
        .collect::<Result<_, _>>()?;
    Ok(SeccompRule::new(conditions)?)
}

/// A filter by number alone, for what a chain of rules cannot say.
///
/// `clone3` and `openat2` hide their flags in memory, so they are answered as unknown (ENOSYS) and the C library falls back
/// to `clone` and `openat`.
/// The second numbering of `x86_64` (x32) would pass by every rule, so it kills. A foreign architecture never gets here:
/// the other filter kills it.
fn numbers() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let [clone3, openat2] =
        [libc::SYS_clone3, libc::SYS_openat2].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 3, 0, X32),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 3, 0, clone3),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 2, 0, openat2),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, unknown),
    ]
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}
