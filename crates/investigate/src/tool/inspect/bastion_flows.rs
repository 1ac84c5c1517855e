//! Flows through a bastion host, where somebody speaks of one: from it to the machines that are named.

use std::net::IpAddr;

use super::estate_reader::EstateReader;
use crate::complaint::{self, Complaint, End, UnknownEnd};
use ghost_base::Limit;
use ghost_inspect::path::{Estate, Flow, Protocol};

/// The port of SSH.
const SSH: u16 = 22;
/// The port of remote desktops.
const DESKTOP: u16 = 3389;
/// How many machines of one complaint are judged.
const TARGETS: Limit = Limit::new("path.targets", 64);

/// How somebody speaks of a bastion host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BastionWords {
    text: String,
    /// Whether a client of somebody's own is spoken of, and not the page of the portal.
    by_client: bool,
}

impl BastionWords {
    /// Reads the words; nothing where nobody speaks of one, or where a machine is called so.
    pub(super) fn of(text: &str, estate: &Estate) -> Option<Self> {
        let text = text.to_lowercase();
        let is_machine = estate.machines().any(|name| name.to_lowercase().contains("bastion"));
        let clients = [
            "native client",
            "network bastion ssh",
            "network bastion rdp",
            "network bastion tunnel",
            "bastion tunnel",
        ];
        let by_client = clients.iter().any(|words| text.contains(words));
        (text.contains("bastion") && !is_machine).then_some(Self { text, by_client })
    }

    fn port(&self) -> Option<u16> {
        let is_word =
            |wanted: &str| self.text.split(|char: char| !char.is_alphanumeric()).any(|word| word == wanted);
        if is_word("rdp") || self.text.contains("remote desktop") {
            return Some(DESKTOP);
        }
        is_word("ssh").then_some(SSH)
    }
}

impl EstateReader<'_> {
    /// Returns the flows of a complaint about a bastion host; nothing where it is about something else.
    pub(super) fn through_bastion(&self, complaint: &Complaint) -> Option<Vec<Flow>> {
        let words = self.through.as_ref().filter(|_| complaint.kind == complaint::Kind::Trouble)?;
        let estate = self.estate();
        let all: Vec<(&str, IpAddr)> = estate.bastions().collect();
        let is_bastion = |name: &str| all.iter().any(|(own, _)| *own == name);
        // Who says which machine calls which speaks of that, and of the bastion host beside it. `app-1: bastion lost the connection` says
        // only whose connection it was.
        let is_other = |end: &End| end.is_named() && !end.machine().is_some_and(is_bastion);
        let calls = |source: &End, destination: &End| {
            is_other(source) && *source != End::Internet && destination.is_named()
        };
        if all.is_empty() || complaint.flows.iter().any(|flow| calls(&flow.source, &flow.destination)) {
            return None;
        }
        let called = complaint.flows.iter().map(|flow| &flow.destination);
        let mut targets: Vec<IpAddr> = called
            .filter(|end| end.is_named() && !end.machine().is_some_and(is_bastion))
            .filter_map(End::address)
            .collect();
        if targets.is_empty() {
            let owners = complaint.flows.iter().map(|flow| &flow.source).filter(|end| is_other(end));
            targets.extend(owners.filter_map(End::address));
        }
        if targets.is_empty() {
            let own = complaint.machines.iter().filter(|name| !is_bastion(name));
            targets.extend(own.filter_map(|name| estate.addresses_of(name).first().copied()));
            targets.extend(complaint.unknown.iter().filter_map(|end| match end {
                UnknownEnd::Address(address) => Some(*address),
                UnknownEnd::Name { .. } => None,
            }));
        }
        targets.sort_unstable();
        targets.dedup();
        self.leave(TARGETS.cut(&mut targets), "machines behind the bastion host");
        let named: Vec<(&str, IpAddr)> =
            all.iter().copied().filter(|(name, _)| words.text.contains(&name.to_lowercase())).collect();
        let meant = if named.is_empty() { &all } else { &named };
        let mut flows: Vec<Flow> = Vec::new();
        for target in targets {
            let serving = meant.iter().find(|(name, _)| estate.serves(name, target));
            let Some((_, from)) = serving.or_else(|| meant.first()) else { continue };
            let asked: Vec<u16> = complaint.ports.iter().filter_map(|service| service.port).collect();
            let ports = if asked.is_empty() { vec![self.session_port(words, target)] } else { asked };
            for port in ports {
                let flow = Flow::new(*from, target, Protocol::Tcp, Some(port)).ok();
                let flow = flow.map(|flow| if words.by_client { flow.by_client() } else { flow });
                flows.extend(flow.filter(|flow| !flows.contains(flow)));
            }
        }
        Some(flows).filter(|flows| !flows.is_empty())
    }

    /// Returns the port of a session: the one that is spoken of, else that of remote desktops where the machine serves that alone.
    fn session_port(&self, words: &BastionWords, target: IpAddr) -> u16 {
        let machine = self.estate().machine_at(target);
        let served = machine.and_then(|name| self.estate().listeners(name)).unwrap_or_default();
        let serves = |port: u16| served.iter().any(|one| one.protocol == Protocol::Tcp && one.port == port);
        let usual = if serves(DESKTOP) && !serves(SSH) { DESKTOP } else { SSH };
        words.port().unwrap_or(usual)
    }
}
