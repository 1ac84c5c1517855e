//! `walk_packet`: one packet through the packet filter of a guest.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{self, Guest, Protocol, Provider, Refused, refuse, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Stop, deciding, plain, stops};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::firewall::WANTED;
use ghost_inspect::netfilter::{Host, HostAnswer, Packet, State, walk_host};

/// Where a packet is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Chain {
    /// For the machine.
    Input,
    /// From the machine.
    Output,
    /// Through the machine.
    Forward,
}

impl Chain {
    /// Returns the hook's name.
    pub(super) const fn hook(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Forward => "forward",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine whose filter is asked.
    vm_name: String,
    /// How it is reached; by the platform, where none is given.
    #[serde(default)]
    #[schemars(with = "Provider")]
    provider: Option<Provider>,
    /// INPUT for what arrives, OUTPUT for what leaves, FORWARD for what goes through; INPUT where none is given.
    #[serde(default)]
    #[schemars(with = "Chain")]
    chain: Option<Chain>,
    /// Where the packet comes from.
    src_ip: String,
    /// Where it goes.
    dst_ip: String,
    /// The protocol.
    proto: Protocol,
    /// To which port; tcp and udp have one.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 1, max = 65535))]
    dst_port: Option<u16>,
}

/// A packet that begins a connection.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) chain: Chain,
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) protocol: Protocol,
    pub(super) port: Option<u16>,
}

impl Flow {
    /// Checks a packet.
    pub(super) fn new(
        chain: Chain,
        (source, destination): (IpAddr, IpAddr),
        protocol: Protocol,
        port: Option<u16>,
    ) -> Result<Self, Refused> {
        match (protocol, port) {
            (Protocol::Tcp | Protocol::Udp, None | Some(0)) => {
                return Err(refuse(format!("a packet of {} needs dst_port, 1 to 65535", protocol.as_str())));
            }
            (Protocol::Icmp, Some(_)) => return Err(refuse("icmp has no ports; leave dst_port out")),
            (Protocol::Tcp | Protocol::Udp, Some(_)) | (Protocol::Icmp, None) => {}
        }
        if source.is_ipv4() != destination.is_ipv4() {
            return Err(refuse("src_ip and dst_ip are of two families"));
        }
        Ok(Self { chain, source, destination, protocol, port })
    }

    /// Walks it through a host and adds the verdict to the inspection. Returns the faults of the place that stopped it.
    pub(super) fn walk(
        &self,
        host: &Host,
        stops: &[Stop],
        inspection: &mut Inspection,
    ) -> Result<Vec<crate::suspect::Suspect>, Issue> {
        let (source, destination) = (self.source.to_string(), self.destination.to_string());
        let odd = |error: ghost_inspect::netfilter::PacketError| Issue::new(error.to_string());
        let packet =
            Packet::parse(self.chain.hook(), self.protocol.as_str(), &source, &destination).map_err(odd)?;
        // It comes by a wire, and begins a connection.
        let mut packet = packet.state(State::New);
        packet.dport = self.port;
        if self.protocol == Protocol::Tcp {
            packet = packet.tcp_flags("syn").map_err(odd)?;
        }
        if self.protocol == Protocol::Icmp {
            packet.icmp_type = Some(if self.source.is_ipv4() { 8 } else { 128 });
        }
        let answer = walk_host(host, &packet).map_err(odd)?;
        add_walk(self, &answer, inspection);
        Ok(deciding(&answer, stops))
    }
}

fn add_walk(flow: &Flow, answer: &HostAnswer, inspection: &mut Inspection) {
    let decided = answer.answers.iter().find(|own| own.answer.verdict == answer.verdict);
    let rule = decided.and_then(|own| own.answer.rule.as_ref());
    let policy = decided.and_then(|own| own.answer.policy.as_deref());
    inspection.fact("walk", json!({
        "verdict": answer.verdict.to_string(), "chain": flow.chain.hook(), "proto": flow.protocol.as_str(),
        "src_ip": flow.source.to_string(), "dst_ip": flow.destination.to_string(), "dst_port": flow.port, "source": answer.source,
        "rule": rule.map(|rule| json!({"table": plain(&rule.table), "chain": plain(&rule.chain), "position": rule.position})),
        "policy": policy.map(|text| text.split(' ').map(plain).collect::<Vec<_>>().join(" ")),
    }));
    if let Some(rule) = rule {
        inspection
            .line(&format!("decides: {}/{} rule {}: {}", rule.table, rule.chain, rule.position, rule.raw));
    }
    for what in &answer.undecided {
        inspection.line(&format!("not decided: {what}"));
    }
    if !answer.undecided.is_empty() {
        inspection
            .notes
            .push("something that the description does not tell would change the answer".to_owned());
    }
}

/// The checked arguments.
pub(super) struct Request {
    guest: Guest,
    flow: Flow,
}

/// See the module.
pub(super) struct WalkPacket;

impl Inspector for WalkPacket {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = "walk_packet";
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Takes one packet that begins a connection through the packet filter of a machine, without sending \
        any, and names the rule or the policy that ends it. Example: {\"reasoning\":\"would the guest take iperf?\",\"vm_name\":\"web-1\",\
        \"chain\":\"INPUT\",\"src_ip\":\"10.0.1.4\",\"dst_ip\":\"10.0.1.5\",\"proto\":\"tcp\",\"dst_port\":5001}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        let missing = |what: &str| refuse(format!("{what} is missing"));
        let source =
            argument::address("src_ip", Some(&arguments.src_ip))?.ok_or_else(|| missing("src_ip"))?;
        let destination =
            argument::address("dst_ip", Some(&arguments.dst_ip))?.ok_or_else(|| missing("dst_ip"))?;
        let chain = arguments.chain.unwrap_or(Chain::Input);
        let machine = argument::name("vm_name", &arguments.vm_name)?;
        let found = resource_group(site, group);
        let resource_group =
            if arguments.provider == Some(Provider::Ssh) { found.ok() } else { Some(found?) };
        Ok(Request {
            guest: Guest { machine, resource_group, provider: arguments.provider },
            flow: Flow::new(chain, (source, destination), arguments.proto, arguments.dst_port)?,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let bundle = request.guest.gather(&WANTED, site, replay)?;
        let host = Host::read(&bundle);
        let stops = stops(request.guest.machine.as_str(), &host);
        let mut inspection = Inspection::default();
        let found = request.flow.walk(&host, &stops, &mut inspection)?;
        inspection.suspect(found);
        if !host.unread.is_empty() {
            inspection.notes.push("not all of the machine's rules could be read".to_owned());
        }
        Ok(inspection)
    }
}
