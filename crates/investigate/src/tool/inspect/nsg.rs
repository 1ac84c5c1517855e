//! `inspect_nsg`: effective security rules, one flow through them, or what they open.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Direction, Protocol, Refused, refuse, resource_group_within};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Layer, denied, exposed, plain, taken};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
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
    /// Inspection from the machine; inbound where none is given.
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

/// The checked arguments.
pub(super) struct Request {
    resource_group: ResourceGroup,
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
    type Request = Request;
    const NAME: &'static str = "inspect_nsg";
    const DESCRIPTION: &'static str = "Asks the effective security rules of a machine: with a flow, whether it gets through both gates \
        and which rule decides; without one, every rule of somebody's own that takes traffic away; with audit, what is open to anybody. \
        Examples: {\"reasoning\":\"does any rule drop the call?\",\"vm_name\":\"web-1\",\"src_ip\":\"10.0.1.4\",\"dst_port\":8080,\
        \"proto\":\"tcp\",\"direction\":\"inbound\"}, {\"reasoning\":\"what is it exposed to?\",\"vm_name\":\"web-1\",\"audit\":true}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        let source = argument::address("src_ip", arguments.src_ip.as_deref())?;
        let destination = argument::address("dst_ip", arguments.dst_ip.as_deref())?;
        argument::session("session_id", arguments.session_id.as_deref())?;
        let asks = source.is_some() || destination.is_some() || arguments.dst_port.is_some();
        Ok(Request {
            resource_group: resource_group_within(site, group, arguments.subscription_id.as_deref())?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            nic: argument::some_name("nic_name", arguments.nic_name.as_deref())?,
            flow: if asks { Some(flow(arguments, source, destination)?) } else { None },
            audit: arguments.audit,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let itself = request.flow.as_ref().is_some_and(Flow::is_open);
        let what: &[EffectiveQuery] =
            if itself { &[EffectiveQuery::Rules, EffectiveQuery::Itself] } else { &[EffectiveQuery::Rules] };
        let mut operation = if request.flow.is_some() || request.nic.is_some() {
            Effective::of_machine(&request.resource_group, &request.machine, request.nic.as_ref(), what)
        } else {
            Effective::all(&request.resource_group, &InterfaceScope::Machine(request.machine.clone()), what)
        };
        let looked = replay.run(&mut operation)??;
        let mut inspection = Inspection::default();
        let mut whole = !looked.is_empty();
        for one in &looked {
            let rules =
                Ruleset::parse(one.text(EffectiveQuery::Rules)?, Knowledge::default()).map_err(|error| {
                    Issue::new(format!("the effective rules of {}: {error}", one.interface.name))
                })?;
            whole &= rules.warnings().is_empty();
            interface(request, one, &rules, &mut inspection)?;
        }
        if whole {
            inspection.looked(Layer::Rules, request.machine.as_str());
            if request.audit {
                inspection.looked(Layer::Exposure, request.machine.as_str());
            }
        } else {
            inspection.notes.push("not all of the rules could be read".to_owned());
        }
        Ok(inspection)
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
            return Err(refuse(format!("a flow of {} needs dst_port", protocol.as_str())));
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
        Packet::new(self.direction.as_str(), self.protocol.as_str(), source, None, destination, self.port)
            .map_err(|error| Issue::new(error.to_string()))
    }
}

fn interface(
    request: &Request,
    looked: &InterfaceResult,
    rules: &Ruleset,
    inspection: &mut Inspection,
) -> Result<(), Issue> {
    let nic = looked.interface.name.as_str();
    inspection.fact("nic", nic);
    if let Some(remark) = rules.remark() {
        inspection.notes.push(format!("{nic}: {remark}"));
    }
    match &request.flow {
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
            inspection.fact("verdict", ruling.verdict.as_str());
            inspection.fact("direction", flow.direction.as_str());
            inspection.fact(
                "flow",
                json!({"proto": flow.protocol.as_str(), "src_ip": packet.source.to_string(),
                "dst_ip": packet.destination.to_string(), "dst_port": packet.destination_port}),
            );
            inspection.fact("gates", gates);
            if ruling.verdict == Verdict::Indeterminate {
                inspection
                    .notes
                    .push(format!("{} items are not resolved, and decide", ruling.unresolved.len()));
            }
            inspection.suspect(denied(rules, &packet));
        }
        None if request.audit => inspection.suspect(exposed(rules)),
        None => inspection.suspect(taken(rules)),
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
            inspection.line(&format!("{direction} {gate} {group} {priority} {access} {}", rule.rule));
        }
    }
    Ok(())
}
