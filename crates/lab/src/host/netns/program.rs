//! The fixed table of programs that the lab starts.

use std::path::{Path, PathBuf};

/// A program that may be started, and the package that brings it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::host) struct Program {
    /// Its name.
    pub(in crate::host) name: &'static str,
    /// The package.
    pub(in crate::host) package: &'static str,
}

/// Every program that the lab starts.
pub(in crate::host) const PROGRAMS: [Program; 26] = [
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
];

/// Where programs lie.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

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
