//! `inspect_nsg`: effective security rules, one flow through them, or what they open.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Direction, Protocol, Refused, place_within, refuse};
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, denied, exposed, plain, taken};
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceResult, InterfaceScope};
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::nsg::{Knowledge, Packet, Ruleset, Verdict};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine.
    vm_name: String,
    /// One of its interfaces; else the primary one for a flow, all of them without.
    #[serde(default)]
    #[schemars(with = "String")]
    nic_name: Option<String>,
    /// Where the packet comes from; the machine's own address where it is outbound and none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    src_ip: Option<String>,
    /// Where it goes; the machine's own address where it is inbound and none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    dst_ip: Option<String>,
    /// To which port; tcp and udp have one.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 1, max = 65535))]
    dst_port: Option<u16>,
    /// The protocol; tcp where a port is given, else icmp.
    #[serde(default)]
    #[schemars(with = "Protocol")]
    proto: Option<Protocol>,
    /// Seen from the machine; inbound where none is given.
    #[serde(default)]
    #[schemars(with = "Direction")]
    direction: Option<Direction>,
    /// What the rules open to anybody. Only where exposure is the question.
    #[serde(default)]
    audit: bool,
    /// The machine's subscription; the configured one, where none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    subscription_id: Option<String>,
    /// A name for the result. The session's own record keeps it in any case.
    #[serde(default)]
    #[schemars(with = "String")]
    session_id: Option<String>,
}

/// What is asked.
pub(super) struct Wish {
    place: ResourceGroup,
    machine: Name,
    nic: Option<Name>,
    flow: Option<Flow>,
    audit: bool,
}

struct Flow {
    direction: Direction,
    protocol: Protocol,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    port: u16,
}

/// See the module.
pub(super) struct InspectNsg;

impl Inspector for InspectNsg {
    type Arguments = Arguments;
    type Wish = Wish;
    const NAME: &'static str = "inspect_nsg";
    const DESCRIPTION: &'static str = "Asks the effective security rules of a machine: with a flow, whether it gets through both gates \
        and which rule decides; without one, every rule of somebody's own that takes traffic away; with audit, what is open to anybody. \
        Examples: {\"reasoning\":\"does any rule drop the call?\",\"vm_name\":\"web-1\",\"src_ip\":\"10.0.1.4\",\"dst_port\":8080,\
        \"proto\":\"tcp\",\"direction\":\"inbound\"}, {\"reasoning\":\"what is it exposed to?\",\"vm_name\":\"web-1\",\"audit\":true}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Wish, Refused> {
        let source = argument::address("src_ip", arguments.src_ip.as_deref())?;
        let destination = argument::address("dst_ip", arguments.dst_ip.as_deref())?;
        argument::session("session_id", arguments.session_id.as_deref())?;
        let asks = source.is_some() || destination.is_some() || arguments.dst_port.is_some();
        Ok(Wish {
            place: place_within(site, group, arguments.subscription_id.as_deref())?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            nic: argument::some_name("nic_name", arguments.nic_name.as_deref())?,
            flow: if asks { Some(flow(arguments, source, destination)?) } else { None },
            audit: arguments.audit,
        })
    }

    fn look(&self, wish: &Wish, _site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let itself = wish.flow.as_ref().is_some_and(Flow::is_open);
        let what: &[EffectiveQuery] =
            if itself { &[EffectiveQuery::Rules, EffectiveQuery::Itself] } else { &[EffectiveQuery::Rules] };
        let mut errand = if wish.flow.is_some() || wish.nic.is_some() {
            Effective::of_machine(&wish.place, &wish.machine, wish.nic.as_ref(), what)
        } else {
            Effective::all(&wish.place, &InterfaceScope::Machine(wish.machine.clone()), what)
        };
        let looked = trail.carry(&mut errand)??;
        let mut seen = Seen::default();
        let mut whole = !looked.is_empty();
        for one in &looked {
            let rules =
                Ruleset::parse(one.text(EffectiveQuery::Rules)?, Knowledge::default()).map_err(|error| {
                    Issue::new(format!("the effective rules of {}: {error}", one.interface.name))
                })?;
            whole &= rules.warnings().is_empty();
            interface(wish, one, &rules, &mut seen)?;
        }
        if whole {
            seen.looked(Layer::Rules, wish.machine.as_str());
            if wish.audit {
                seen.looked(Layer::Exposure, wish.machine.as_str());
            }
        } else {
            seen.notes.push("not all of the rules could be read".to_owned());
        }
        Ok(seen)
    }
}

fn flow(arguments: &Arguments, source: Option<IpAddr>, destination: Option<IpAddr>) -> Result<Flow, Refused> {
    let direction = arguments.direction.unwrap_or(Direction::Inbound);
    let remote = match direction {
        Direction::Inbound => source.is_some(),
        Direction::Outbound => destination.is_some(),
    };
    if !remote {
        return Err(refuse(
            "a flow needs the other end: src_ip where it is inbound, dst_ip where it is outbound",
        ));
    }
    let protocol =
        arguments.proto.unwrap_or(if arguments.dst_port.is_some() { Protocol::Tcp } else { Protocol::Icmp });
    let port = match (protocol, arguments.dst_port) {
        (Protocol::Tcp | Protocol::Udp, None) => {
            return Err(refuse(format!("a flow of {} needs dst_port", protocol.word())));
        }
        (Protocol::Icmp, Some(_)) => return Err(refuse("icmp has no ports; leave dst_port out")),
        (Protocol::Tcp | Protocol::Udp, Some(0)) => return Err(refuse("dst_port is 1 to 65535")),
        (_, port) => port.unwrap_or_default(),
    };
    Ok(Flow { direction, protocol, source, destination, port })
}

impl Flow {
    /// Tells whether the machine's own address is still to be found.
    fn is_open(&self) -> bool {
        self.source.is_none() || self.destination.is_none()
    }

    fn packet(&self, looked: &InterfaceResult) -> Result<Packet, Issue> {
        let own = |given: Option<IpAddr>| given.map_or_else(|| looked.address(), Ok);
        let (source, destination) = (own(self.source)?, own(self.destination)?);
        Packet::new(self.direction.word(), self.protocol.word(), source, None, destination, self.port)
            .map_err(|error| Issue::new(error.to_string()))
    }
}

fn interface(wish: &Wish, looked: &InterfaceResult, rules: &Ruleset, seen: &mut Seen) -> Result<(), Issue> {
    let nic = looked.interface.name.as_str();
    seen.fact("nic", nic);
    if let Some(remark) = rules.remark() {
        seen.notes.push(format!("{nic}: {remark}"));
    }
    match &wish.flow {
        Some(flow) => {
            let packet = flow.packet(looked)?;
            let ruling = rules.verdict(&packet);
            let gates: Vec<Value> = ruling
                .gates
                .iter()
                .filter(|gate| gate.verdict != Verdict::Absent)
                .map(|gate| {
                    json!({"gate": gate.gate.as_str(), "nsg": gate.nsg.map(|name| plain(name.rsplit('/').next().unwrap_or(name))),
                        "verdict": gate.verdict.as_str(), "rule": gate.rule.map(plain), "priority": gate.priority})
                })
                .collect();
            seen.fact("verdict", ruling.verdict.as_str());
            seen.fact("direction", flow.direction.word());
            seen.fact(
                "flow",
                json!({"proto": flow.protocol.word(), "src_ip": packet.source.to_string(),
                "dst_ip": packet.destination.to_string(), "dst_port": packet.destination_port}),
            );
            seen.fact("gates", gates);
            if ruling.verdict == Verdict::Indeterminate {
                seen.notes.push(format!("{} items are not resolved, and decide", ruling.unresolved.len()));
            }
            seen.suspect(denied(rules, &packet));
        }
        None if wish.audit => seen.suspect(exposed(rules)),
        None => seen.suspect(taken(rules)),
    }
    let audit = rules.audit();
    for list in &audit.order {
        for rule in &list.rules {
            let (gate, group) = (list.gate.as_str(), list.nsg.as_deref().unwrap_or("no group"));
            let access = rule.access.map_or("?", |access| match access {
                ghost_inspect::nsg::Access::Allow => "Allow",
                ghost_inspect::nsg::Access::Deny => "Deny",
                ghost_inspect::nsg::Access::AlwaysAllow => "AlwaysAllow",
            });
            let priority = rule.priority.map_or_else(|| "?".to_owned(), |number| number.to_string());
            let direction = match list.direction {
                ghost_inspect::nsg::Direction::Inbound => "inbound",
                ghost_inspect::nsg::Direction::Outbound => "outbound",
            };
            seen.line(&format!("{direction} {gate} {group} {priority} {access} {}", rule.rule));
        }
    }
    Ok(())
}
