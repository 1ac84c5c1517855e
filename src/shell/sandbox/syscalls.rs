//! The seccomp layer: system calls that fail with EPERM, and the kinds of sockets that may be opened.
//!
//! Landlock knows TCP ports and nothing else of the network; datagrams, raw packets and netlink are decided here.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::shell::Socket;
use crate::shell::sandbox::table;

/// What a command may ask of the kernel beside the ordinary.
#[derive(Debug, Clone, Default)]
pub(super) struct CallRules {
    /// Kinds of sockets beside local ones.
    pub(super) sockets: Vec<Socket>,
    /// Whether it may enter a namespace.
    pub(super) namespace: bool,
    /// Whether it may change modes, owners and times of files.
    pub(super) metadata: bool,
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
pub(super) type Filters = [BpfProgram; 2];

/// Builds the filters; done before the thread restricts itself, so that a fault leaves it as it was.
pub(super) fn filters(rules: &CallRules) -> Result<Filters, CallsError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(CallsError::Architecture)?;
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(chains(rules)?, SeccompAction::Allow, denied, arch)?;
    Ok([numbers(), filter.try_into()?])
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
    if !rules.namespace {
        let flags = NEW_NAMESPACES.iter().map(|flag| rule(&[(0, has(*flag), *flag)]));
        chains.insert(libc::SYS_clone, flags.collect::<Result<_, _>>()?);
    }
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
    for (socket, number) in [(Socket::Netlink, libc::AF_NETLINK), (Socket::Packet, libc::AF_PACKET)] {
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
        // Types 0 and 4 to 15, among them the old way to whole frames.
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(KIND), 0)])?);
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(0b0100), 0b0100)])?);
        denied.push(rule(&[(0, SeccompCmpOp::Eq, number), (1, has(0b1000), 0b1000)])?);
    }
    Ok(denied)
}

fn has(bits: u64) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(bits)
}

/// Matches where every argument does; the kernel takes these arguments as 32 bits.
fn rule(arguments: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, CallsError> {
    let conditions = arguments
        .iter()
        .map(|(index, compare, value)| {
            SeccompCondition::new(*index, SeccompCmpArgLen::Dword, compare.clone(), *value)
        })
        .collect::<Result<_, _>>()?;
    Ok(SeccompRule::new(conditions)?)
}

/// A filter by number alone, for what a chain of rules cannot say.
///
/// `clone3` hides its flags in memory, so it is answered as unknown (ENOSYS) and the C library falls back to `clone`.
/// The second numbering of `x86_64` (x32) would pass by every rule, so it kills. A foreign architecture never gets here:
/// the other filter kills it.
fn numbers() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 2, 0, X32),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 2, 0, clone3),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, unknown),
    ]
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}
