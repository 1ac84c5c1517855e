//! The fixed table of programs that the lab starts.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::host::exec::{ExecError, Output, ProcessRequest};
use crate::host::port::HostError;

/// A program that may be started, and the package that brings it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::host) struct Program {
    pub(in crate::host) name: &'static str,
    pub(in crate::host) package: &'static str,
}

/// Every program that the lab starts.
pub(in crate::host) const PROGRAMS: [Program; 35] = [
    Program::of("ip", "iproute2"),
    Program::of("tc", "iproute2"),
    Program::of("ss", "iproute2"),
    Program::of("nft", "nftables"),
    Program::of("iptables", "iptables"),
    Program::of("iptables-nft", "iptables"),
    Program::of("iptables-legacy", "iptables"),
    Program::of("iptables-save", "iptables"),
    Program::of("iptables-nft-save", "iptables"),
    Program::of("iptables-legacy-save", "iptables"),
    Program::of("iptables-restore", "iptables"),
    Program::of("iptables-nft-restore", "iptables"),
    Program::of("iptables-legacy-restore", "iptables"),
    Program::of("ip6tables", "iptables"),
    Program::of("ip6tables-save", "iptables"),
    Program::of("ip6tables-restore", "iptables"),
    Program::of("sysctl", "procps"),
    Program::of("ping", "iputils-ping"),
    Program::of("qperf", "qperf"),
    Program::of("iperf", "iperf"),
    Program::of("tcpdump", "tcpdump"),
    Program::of("ethtool", "ethtool"),
    Program::of("conntrack", "conntrack"),
    Program::of("nc", "netcat-openbsd"),
    Program::of("curl", "curl"),
    Program::of("dig", "bind9-dnsutils"),
    Program::of("dnsmasq", "dnsmasq-base"),
    Program::of("dhclient", "isc-dhcp-client"),
    Program::of("nginx", "nginx-light"),
    Program::of("sshd", "openssh-server"),
    Program::of("ssh-keygen", "openssh-client"),
    Program::of("zebra", "frr"),
    Program::of("bgpd", "frr"),
    Program::of("ospfd", "frr"),
    Program::of("vtysh", "frr"),
];

/// Where programs lie.
const FOLDERS: [&str; 5] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/lib/frr"];

impl Program {
    const fn of(name: &'static str, package: &'static str) -> Self {
        Self { name, package }
    }

    /// Finds a program of the table by its name.
    pub(in crate::host) fn named(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| program.name == name)
    }

    /// Returns where it lies, if it is there.
    pub(in crate::host) fn path(&self) -> Option<PathBuf> {
        FOLDERS.iter().map(|folder| Path::new(folder).join(self.name)).find(|path| path.is_file())
    }
}

/// Says what failed.
pub(in crate::host) fn failed(what: &str, error: impl Display) -> HostError {
    HostError::Failed { what: what.to_owned(), error: error.to_string() }
}

impl From<ExecError> for HostError {
    fn from(error: ExecError) -> Self {
        let reason = error.to_string();
        match error {
            ExecError::Missing(..) | ExecError::Refused(_) => Self::Lacking(reason),
            ExecError::Failed { what, source } => Self::Failed { what, error: source.to_string() },
        }
    }
}

/// Runs an order of the lab's own, which has to succeed.
pub(in crate::host) fn must(what: &str, order: ProcessRequest) -> Result<Output, HostError> {
    let output = order.run()?;
    if output.code == 0 {
        return Ok(output);
    }
    let reason = if output.late { "it took too long" } else { output.err.trim() };
    Err(failed(what, reason.chars().take(600).collect::<String>()))
}
