//! What a traced command did that a SAFE one must not.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ghost_shell::{Profile, Programs, Socket};

use super::trace::Call;

/// What a command may do, from its profile.
pub(super) struct Allowed {
    programs: Vec<PathBuf>,
    sockets: Vec<Socket>,
    namespace: bool,
    log: bool,
    /// The folder below which its own folder is.
    scratch: PathBuf,
}

/// Returns the calls that no command of a list may have made.
pub(super) fn violations(profiles: &[Profile], scratch: &Path, calls: &[&Call]) -> Vec<String> {
    let of = |profile| Allowed::new(profile, scratch).violations(calls);
    let mut all = profiles.iter().map(of);
    let first = all.next().unwrap_or_default();
    all.fold(first, |wrong, other| wrong.into_iter().filter(|line| other.contains(line)).collect())
}

impl Allowed {
    pub(super) fn new(profile: &Profile, scratch: &Path) -> Self {
        let names = profile.programs.iter().chain(profile.helpers.iter());
        Self {
            programs: names.flat_map(|name| Programs::default().find_helper(name)).collect(),
            sockets: profile.sockets.to_vec(),
            namespace: profile.namespace,
            log: profile.log,
            scratch: scratch.to_owned(),
        }
    }

    /// Returns the calls of a command that it may not have made.
    pub(super) fn violations(&self, calls: &[&Call]) -> Vec<String> {
        let family: HashSet<u32> = calls.iter().map(|call| call.process).collect();
        let wrong = calls.iter().filter(|call| call.worked() && !self.permits(call, &family));
        wrong.map(|call| call.line()).collect()
    }

    fn permits(&self, call: &Call, family: &HashSet<u32>) -> bool {
        match call.name.as_str() {
            "clone" | "clone3" | "fork" | "vfork" => !call.arguments.contains("CLONE_NEW"),
            "execve" => quoted(&call.arguments)
                .first()
                .is_some_and(|path| self.programs.iter().any(|own| own == Path::new(path))),
            "open" | "openat" | "openat2" => !writes(&call.arguments) || self.may_write(opened(&call.result)),
            "creat" => self.may_write(opened(&call.result)),
            "socket" => self.may_open(&call.arguments),
            // The setters of the old interface: addresses, routes, neighbours.
            "ioctl" => !["SIOCS", "SIOCADD", "SIOCDEL", "SIOCDARP", "TIOCSTI"]
                .iter()
                .any(|set| call.arguments.contains(set)),
            "kill" | "tkill" | "tgkill" => {
                let target = call.arguments.split(',').next().unwrap_or_default().trim();
                target == "0" || target.parse::<u32>().is_ok_and(|process| family.contains(&process))
            }
            "mount" | "umount2" | "setns" | "unshare" => self.namespace,
            "syslog" => {
                self.log
                    && !["CLEAR", "CONSOLE", "SYSLOG_ACTION_READ,"]
                        .iter()
                        .any(|word| call.arguments.contains(word))
            }
            // Everything else on the list changes something.
            _ => {
                let paths = places(&call.arguments);
                !paths.is_empty() && paths.iter().all(|path| self.may_write(path))
            }
        }
    }

    fn may_write(&self, path: &str) -> bool {
        let path = Path::new(path);
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        path == Path::new("/dev/null") || (path.starts_with(&self.scratch) && path != self.scratch && !climbs)
    }

    fn may_open(&self, arguments: &str) -> bool {
        let mut words = arguments.split(',').map(str::trim);
        let (family, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let kind = kind.split('|').next().unwrap_or_default();
        let needed = match (family, kind) {
            ("AF_UNIX", _) => Socket::Local,
            ("AF_INET" | "AF_INET6", "SOCK_STREAM") => Socket::Stream,
            ("AF_INET" | "AF_INET6", "SOCK_DGRAM") => Socket::Datagram,
            ("AF_INET" | "AF_INET6", "SOCK_RAW") => Socket::Raw,
            ("AF_NETLINK", _) => Socket::Netlink,
            ("AF_PACKET", _) => Socket::Packet,
            _ => return false,
        };
        self.sockets.contains(&needed)
    }
}

fn writes(arguments: &str) -> bool {
    ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE", "O_ACCMODE"]
        .iter()
        .any(|flag| arguments.contains(flag))
}

/// Returns the path that strace names behind a descriptor: `3</dev/null>`.
fn opened(result: &str) -> &str {
    result.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>')).map_or("", |(path, _)| path)
}

/// Returns the quoted words of a call.
fn quoted(arguments: &str) -> Vec<&str> {
    arguments.split('"').skip(1).step_by(2).collect()
}

/// Returns the files that a call speaks of, by name or by descriptor.
fn places(arguments: &str) -> Vec<&str> {
    let named = quoted(arguments);
    if !named.is_empty() {
        named
    } else {
        arguments.split_once('<').map(|_| opened(arguments)).into_iter().collect()
    }
}
