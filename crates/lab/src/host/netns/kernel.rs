//! What this kernel and this machine have, tried once.

use std::time::Duration;

use super::name::Namespace;
use super::program::Program;
use super::program::must;
use crate::host::exec::ProcessRequest;
use crate::host::port::HostError;

/// Programs without which there is no network at all.
const REQUIRED_PROGRAMS: [&str; 10] = [
    "ip",
    "tc",
    "nft",
    "iptables",
    "iptables-save",
    "iptables-restore",
    "ip6tables-save",
    "sysctl",
    "ss",
    "ping",
];
/// Programs that something needs, and what.
const OPTIONAL_PROGRAMS: [(&str, &str); 7] = [
    ("tcpdump", "captures"),
    ("qperf", "latency is not measured"),
    ("iperf", "throughput is not measured"),
    ("conntrack", "tables of connections are not shown"),
    ("ethtool", "devices are not asked"),
    ("nc", "no `nc` in guests"),
    ("curl", "no `curl` in guests"),
];
/// Queueing disciplines that cases and people use.
const QDISCS: [(&str, &[&str]); 4] = [
    ("netem", &["root", "netem"]),
    ("prio", &["root", "prio"]),
    ("tbf", &["root", "tbf", "rate", "5mbit", "burst", "20kb", "latency", "400ms"]),
    ("htb", &["root", "htb"]),
];

/// What is there.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernel {
    /// Queueing disciplines that are not.
    missing: Vec<&'static str>,
}

impl Kernel {
    /// Says why nothing can be done here at all.
    pub(super) fn ready() -> Result<(), HostError> {
        if !rustix::process::geteuid().is_root() {
            let problems = "network namespaces need root: run `ghost lab up --hosts netns` as root, or use `--hosts simulated`";
            return Err(HostError::Lacking(problems.to_owned()));
        }
        for name in REQUIRED_PROGRAMS {
            ProcessRequest::own(name, &[])?;
            let missing = |program: &&Program| program.path().is_none();
            if let Some(program) = Program::named(name).filter(missing) {
                let problems = format!("`{name}` is not installed: install the package {}", program.package);
                return Err(HostError::Lacking(problems));
            }
        }
        Ok(())
    }

    /// Tries what the kernel has, in a namespace that is used for nothing else yet.
    pub(super) fn tried(space: &Namespace) -> Result<Self, HostError> {
        let tc = |words: &[&str]| {
            let order = ProcessRequest::own("tc", words)?.within(space).at_most(Duration::from_secs(10));
            Ok::<_, HostError>(order.run()?.code == 0)
        };
        must("ip link", ProcessRequest::own("ip", &["link", "set", "lo", "up"])?.within(space))?;
        let mut missing = Vec::new();
        for (name, words) in QDISCS {
            if !tc(&[&["qdisc", "add", "dev", "lo"], words].concat())? {
                missing.push(name);
            } else if !tc(&["qdisc", "del", "dev", "lo", "root"])? {
                return Err(HostError::Lacking(format!("a {name} qdisc cannot be removed here")));
            }
        }
        Ok(Self { missing })
    }

    /// Tells whether there is a queueing discipline.
    pub(super) fn has(&self, qdisc: &str) -> bool {
        !self.missing.contains(&qdisc)
    }

    /// Says what is missing and what that means, in sentences.
    pub(super) fn lacks(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for name in &self.missing {
            problems.push(match *name {
                "netem" => "this kernel has no netem: nothing can be delayed, lost, damaged, doubled or put out of turn; `tc` says so \
                    to whoever tries"
                    .to_owned(),
                "prio" if self.has("htb") => "this kernel has no prio: htb with classes that limit nothing stands in for it, and `tc` \
                    shows htb"
                    .to_owned(),
                other => format!("this kernel has no {other}: `tc` says so to whoever tries"),
            });
        }
        for (name, what) in OPTIONAL_PROGRAMS {
            if let Some(program) = Program::named(name).filter(|program| program.path().is_none()) {
                problems.push(format!(
                    "`{name}` is not installed ({what}): install the package {}",
                    program.package
                ));
            }
        }
        problems
    }
}
