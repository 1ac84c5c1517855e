//! A load balancer on the path: the rule, the pool, who of its members answers the probe, and where a packet goes then.

use std::net::IpAddr;

use super::balancer::{Balancer, Frontend, Member, Probe, Rule, Spread, Target};
use super::document::{Document, GuestDocument, Missing};
use super::estate::Estate;
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol, Wire};
use super::hop::{Effect, Hop, Kind};
use super::judge::{Fate, Judgement};
use super::page::{PageQuestion, Scheme, Status};
use super::socket::{Listens, listens};
use super::walk::{Undo, Walk};
use crate::net::Platform;

/// A member of a pool that is an interface of the estate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Backend {
    nic: usize,
    machine: usize,
    address: IpAddr,
    is_drained: bool,
}

/// What a probe comes to at one member.
enum Health {
    Up,
    Down(Vec<Effect>),
    Open(Vec<Missing>),
}

/// What was found out about all members.
#[derive(Default)]
struct Healths {
    up: Vec<Backend>,
    open: Vec<Backend>,
    effects: Vec<Effect>,
    missing: Vec<Missing>,
    down: Vec<String>,
}

impl Estate {
    /// Returns the questions that the probe of a load balancer asks for a flow to one of its frontends: one for each member.
    pub(super) fn probes(&self, flow: &Flow) -> Vec<Flow> {
        let Some((balancer, frontend)) = self.frontend(flow.dst) else { return Vec::new() };
        let rule = flow.dst_port.and_then(|port| balancer.rule(&frontend.name, flow.protocol, port));
        let probe = rule.and_then(|rule| balancer.probe(rule.probe.as_deref()?));
        let members = self.members_of(&balancer.name);
        let nics = members.iter().filter_map(|(name, _)| self.first_address(name));
        nics.filter_map(|address| probe_flow(probe?, address)).collect()
    }
}

impl Walk<'_> {
    /// Takes a packet that goes to a frontend on to a member of the pool; any other goes on as it is.
    pub(super) fn balanced(&mut self, from: Option<usize>, wire: Wire) -> Option<Wire> {
        let estate = self.asked.estate;
        let own = from.and_then(|from| estate.network_at(from));
        let Some((balancer, frontend)) = estate.frontend_seen(own, wire.dst) else { return Some(wire) };
        let mut hop = Hop::new(Kind::Balancer, &balancer.name).on(Document::Frontends);
        let Some(port) = wire.dport.filter(|_| wire.protocol != Protocol::Icmp) else {
            let what = format!("{} at the load balancer {}", wire.protocol, balancer.name);
            let hop =
                hop.lacking(Document::Probe { what }, "a load balancer passes on only what its rules name");
            self.push(hop);
            return None;
        };
        let Some(rule) = balancer.rule(&frontend.name, wire.protocol, port) else {
            self.without_rule(balancer, frontend, (wire.protocol, port), hop);
            return None;
        };
        if frontend.is_chained {
            let why = format!("what comes to {} passes another load balancer first", frontend.name);
            hop.missing.push(Missing { what: Document::Frontends, why });
        }
        if rule.to == Target::Nowhere {
            self.leads_nowhere(balancer, rule, hop);
            return None;
        }
        let backends = self.backends(balancer, frontend, (rule, port), &mut hop);
        if backends.is_empty() {
            self.empty_pool(balancer, rule, hop);
            return None;
        }
        let backend_port = if rule.backend_port == 0 { port } else { rule.backend_port };
        let healths = self.healths(balancer, rule, &backends, backend_port);
        let all = backends.len();
        hop.reason = format!("the rule {} of {} leads to {all} members", rule.name, balancer.name);
        if !healths.down.is_empty() {
            hop.reason.push_str(&format!(
                ", of which {} {} out",
                healths.down.join(", "),
                verb(healths.down.len())
            ));
        }
        let chosen = if healths.up.is_empty() {
            // A member of which that is not known may be up: what keeps the others out stops nothing for certain.
            for effect in healths.effects.into_iter().filter(|_| healths.open.is_empty()) {
                if !hop.stops.iter().any(|known| known.cause == effect.cause) {
                    hop.stops.push(effect);
                }
            }
            hop.missing.extend(healths.missing);
            healths.open
        } else {
            healths.up
        };
        let flows: Vec<(Backend, Judgement)> = chosen
            .iter()
            .filter_map(|backend| Some((*backend, self.member(&wire, *backend, backend_port)?)))
            .collect();
        if rule.is_spread {
            return self.spread(rule, (wire, backend_port), &flows, hop);
        }
        let best = flows.iter().min_by_key(|(_, judged)| (judged.stops().len(), judged.hurts().len()));
        let Some((backend, judged)) = best else {
            self.push(hop);
            return None;
        };
        for (_, other) in flows.iter().filter(|(other, _)| other != backend) {
            for (_, effect) in other.stops().into_iter().chain(other.hurts()) {
                let is_known = judged.findings().contains(&effect.cause)
                    || hop.shares.iter().any(|known| known.cause == effect.cause);
                if !is_known {
                    let reason = format!("{}: it takes the share of one member", effect.reason);
                    hop.shares.push(Effect { reason, ..effect.clone() });
                }
            }
        }
        let backend = *backend;
        if rule.is_floating {
            self.floating(balancer, rule, (frontend, backend), &mut hop);
        }
        let is_stopped = !hop.stops.is_empty();
        self.push(hop);
        if is_stopped {
            return None;
        }
        let mut onward = wire;
        (onward.dst, onward.dport) = (backend.address, Some(backend_port));
        self.translated.push(Undo { machine: backend.machine, before: wire, after: onward });
        Some(onward)
    }

    fn without_rule(
        &mut self,
        balancer: &Balancer,
        frontend: &Frontend,
        (protocol, port): (Protocol, u16),
        mut hop: Hop,
    ) {
        let object = Object::BalancerPort {
            balancer: balancer.name.clone(),
            frontend: frontend.name.clone(),
            protocol,
            port,
        };
        let cause = Cause::new(Fault::LbRuleMissing, object);
        if self.is_gone(&cause) {
            let what = format!("{protocol} port {port} behind {}", balancer.name);
            hop = hop.lacking(Document::Probe { what }, "where a rule would lead is not known");
        } else if let Some(why) = open_port(balancer, &frontend.name, port) {
            hop.missing.push(Missing { what: Document::Frontends, why });
        } else {
            let ports: Vec<String> = balancer
                .rules
                .iter()
                .filter(|rule| rule.frontend.eq_ignore_ascii_case(&frontend.name))
                .map(ports)
                .collect();
            let ports = if ports.is_empty() { "no port".to_owned() } else { ports.join(", ") };
            let why = format!(
                "no rule of {} takes {protocol} port {port} at {}: it takes {ports}",
                balancer.name, frontend.name
            );
            hop.stops.push(Effect::new(cause, why));
        }
        self.push(hop);
    }

    /// Says of a rule that it leads to nobody: it names neither a pool nor an interface.
    fn leads_nowhere(&mut self, balancer: &Balancer, rule: &Rule, mut hop: Hop) {
        let object = Object::BalancerPart { balancer: balancer.name.clone(), part: rule.name.clone() };
        let cause = Cause::new(Fault::LbBackendEmpty, object);
        if self.is_gone(&cause) {
            let what = format!("the pool of the rule {}", rule.name);
            hop = hop.lacking(Document::Probe { what }, "where the rule would lead is not known");
        } else {
            let why = format!("the rule {} of {} leads nowhere: it has no pool", rule.name, balancer.name);
            hop.stops.push(Effect::new(cause, why));
        }
        self.push(hop);
    }

    /// Takes a packet to the one member that a port of a rule leads to. Which one that is counts only where it makes a difference.
    fn spread(
        &mut self,
        rule: &Rule,
        (wire, backend_port): (Wire, u16),
        flows: &[(Backend, Judgement)],
        mut hop: Hop,
    ) -> Option<Wire> {
        let first = flows.first();
        let is_alike = flows
            .iter()
            .all(|(_, judged)| first.is_some_and(|(_, one)| one.fate.verdict() == judged.fate.verdict()));
        if !is_alike {
            let why = format!("to which member this port of the rule {} leads", rule.name);
            hop.missing.push(Missing { what: Document::Frontends, why });
        }
        let is_stopped = !hop.stops.is_empty() || !is_alike;
        self.push(hop);
        let (backend, _) = first.filter(|_| !is_stopped)?;
        let mut onward = wire;
        (onward.dst, onward.dport) = (backend.address, Some(backend_port));
        self.translated.push(Undo { machine: backend.machine, before: wire, after: onward });
        Some(onward)
    }

    fn empty_pool(&mut self, balancer: &Balancer, rule: &Rule, mut hop: Hop) {
        let Target::Pool(pool) = &rule.to else {
            self.push(hop);
            return;
        };
        if hop.missing.is_empty() {
            let object = Object::BalancerPart { balancer: balancer.name.clone(), part: pool.clone() };
            let cause = Cause::new(Fault::LbBackendEmpty, object);
            if self.is_gone(&cause) {
                let what = format!("the members of {pool}");
                hop = hop.lacking(Document::Probe { what }, "who would be a member is not known");
            } else {
                let why = format!("the pool {pool} of {} has no member", balancer.name);
                hop.stops.push(Effect::new(cause, why));
            }
        }
        self.push(hop);
    }

    /// Returns the members that are interfaces of the estate; what is not known of others is what the hop lacks.
    fn backends(
        &self,
        balancer: &Balancer,
        frontend: &Frontend,
        (rule, port): (&Rule, u16),
        hop: &mut Hop,
    ) -> Vec<Backend> {
        let estate = self.asked.estate;
        let by_nic = |nic: &String| Member {
            nic: Some(nic.clone()),
            address: None,
            network: None,
            is_drained: false,
            mapped: Vec::new(),
        };
        let members: Vec<Member> = match &rule.to {
            Target::Nic(nic) => vec![by_nic(nic)],
            Target::Nowhere => Vec::new(),
            Target::Pool(pool) => match balancer.pool(pool) {
                Some(pool) => pool.members.clone(),
                None => {
                    let why = format!("the pool {pool} of {} is none that was read", balancer.name);
                    hop.missing.push(Missing { what: Document::Frontends, why });
                    Vec::new()
                }
            },
        };
        let is_mapped = |member: &&Member| {
            let mut own = member.mapped.iter();
            own.any(|(name, from, _)| name.eq_ignore_ascii_case(&rule.name) && *from == port)
        };
        let alone = members.iter().find(is_mapped).filter(|_| rule.is_spread);
        let members: Vec<&Member> = alone.map_or_else(|| members.iter().collect(), |one| vec![one]);
        let mut found: Vec<Backend> = Vec::new();
        for member in members {
            let network = member.network.as_deref().or(frontend.network.as_deref());
            let by_address = member.address.and_then(|address| estate.owner_seen(network, address));
            let by_name = || {
                let name = member.nic.as_deref()?;
                estate.nics.iter().position(|nic| nic.name.eq_ignore_ascii_case(name))
            };
            let place = by_address.or_else(by_name).and_then(|nic| {
                let own = estate.nic(nic)?;
                let address = member.address.or_else(|| own.addresses.first().copied())?;
                Some(Backend { nic, machine: own.machine?, address, is_drained: member.is_drained })
            });
            match place {
                Some(backend) if found.iter().any(|known| known.nic == backend.nic) => {}
                Some(backend) => found.push(backend),
                None => {
                    let why = "a member of the pool is none of the interfaces that are listed".to_owned();
                    hop.missing.push(Missing { what: Document::Interfaces, why });
                }
            }
        }
        found
    }

    fn healths(&self, balancer: &Balancer, rule: &Rule, backends: &[Backend], port: u16) -> Healths {
        let probe = rule.probe.as_deref().and_then(|probe| balancer.probe(probe));
        let mut all = Healths::default();
        for backend in backends {
            let name = self.asked.estate.machines.get(backend.machine).map(|own| own.name.clone());
            let health = match probe {
                _ if backend.is_drained => self.drained(balancer, rule, backend),
                None => Health::Up,
                Some(probe) => self.probed(balancer, probe, backend, port),
            };
            match health {
                Health::Up => all.up.push(*backend),
                Health::Down(effects) => {
                    all.down.extend(name);
                    all.effects.extend(effects);
                }
                Health::Open(missing) => {
                    all.open.push(*backend);
                    all.missing.extend(missing);
                }
            }
        }
        if all.up.is_empty() && all.open.is_empty() && probe.is_some_and(|probe| probe.takes_all) {
            all = Healths { up: backends.to_vec(), ..Healths::default() };
        }
        all
    }

    fn drained(&self, balancer: &Balancer, rule: &Rule, backend: &Backend) -> Health {
        let Target::Pool(pool) = &rule.to else { return Health::Up };
        let object = Object::BalancerMember {
            balancer: balancer.name.clone(),
            pool: pool.clone(),
            address: backend.address,
        };
        let cause = Cause::new(Fault::LbAdminDown, object);
        if self.is_gone(&cause) {
            return Health::Up;
        }
        let why = format!("{} of the pool {pool} is set to take nothing", backend.address);
        Health::Down(vec![Effect::new(cause, why)])
    }

    /// Asks a member as the platform does: its groups, its packet filter, and who listens.
    fn probed(&self, balancer: &Balancer, probe: &Probe, backend: &Backend, port: u16) -> Health {
        let Some(flow) = probe_flow(probe, backend.address) else { return Health::Up };
        let machine = self.asked.estate.machines.get(backend.machine).map(|machine| machine.name.clone());
        let flow = Flow { called: machine, ..flow };
        let judged = self.asked.estate.judge_without(&flow, self.asked.gone);
        let stops = judged.stops();
        if stops.is_empty() {
            return match judged.fate {
                Fate::Unknown => Health::Open(judged.missing()),
                Fate::Passes | Fate::Degraded | Fate::Partly | Fate::Stopped | Fate::NoPath(_) => {
                    self.page(balancer, probe, backend)
                }
            };
        }
        let effects: Vec<Effect> = stops
            .into_iter()
            .filter_map(|(_, effect)| {
                if effect.cause.fault.is_refusal() {
                    return self.unheard(balancer, probe, backend, port);
                }
                let reason =
                    format!("{}, so that the probe {} of {} fails", effect.reason, probe.name, balancer.name);
                Some(Effect { reason, ..effect.clone() })
            })
            .collect();
        if effects.is_empty() { Health::Up } else { Health::Down(effects) }
    }

    /// Holds the page that a probe asks for against what the machine answers: only 200 counts.
    fn page(&self, balancer: &Balancer, probe: &Probe, backend: &Backend) -> Health {
        let Some((is_secure, path)) = &probe.page else { return Health::Up };
        let Some(machine) = self.asked.estate.machines.get(backend.machine) else { return Health::Up };
        let object = Object::BalancerPart { balancer: balancer.name.clone(), part: probe.name.clone() };
        let cause = Cause::new(Fault::LbProbeStatus, object);
        if self.is_gone(&cause) {
            return Health::Up;
        }
        let scheme = if *is_secure { Scheme::Https } else { Scheme::Http };
        let question =
            PageQuestion { scheme, address: backend.address, port: probe.port, path: path.clone() };
        let asked = format!("the probe {} of {} asks {} for {path}", probe.name, balancer.name, machine.name);
        let own = machine.pages.read().and_then(|all| all.iter().find(|one| one.is_of(&question)));
        let why = match own.map(|page| page.status) {
            Some(Status::Code(200)) => return Health::Up,
            Some(Status::Code(code)) => {
                format!("{asked} on port {}, and gets {code}: only 200 counts as healthy", probe.port)
            }
            Some(Status::Nothing) => {
                format!("{asked} on port {}, and what answers there is no page", probe.port)
            }
            Some(Status::Unknown) | None => {
                let why = match own {
                    Some(_) => "it did not answer in time to the machine itself".to_owned(),
                    None => machine.pages.why_not(),
                };
                let what = Document::Page { machine: machine.name.clone(), question };
                return Health::Open(vec![Missing { what, why: format!("{asked}: {why}") }]);
            }
        };
        Health::Down(vec![Effect::new(cause, why)])
    }

    /// Names what is wrong where nobody listens on the port of a probe: the probe, where somebody does on that of the rule.
    fn unheard(&self, balancer: &Balancer, probe: &Probe, backend: &Backend, port: u16) -> Option<Effect> {
        let machine = self.asked.estate.machines.get(backend.machine)?;
        let is_served = |port: u16| {
            let own = machine.tcp.read().map(Vec::as_slice).unwrap_or_default();
            matches!(listens(own, backend.address, port, &[]), Listens::Here(_))
        };
        let (cause, why) = if port != probe.port && is_served(port) {
            let object = Object::BalancerPart { balancer: balancer.name.clone(), part: probe.name.clone() };
            let why = format!(
                "the probe {} of {} asks port {} of {}, where nobody listens; the rule leads to {port}, where somebody does",
                probe.name, balancer.name, probe.port, machine.name
            );
            (Cause::new(Fault::LbProbeMismatch, object), why)
        } else {
            let object =
                Object::Listener { machine: machine.name.clone(), protocol: Protocol::Tcp, port: probe.port };
            let why = format!(
                "nobody listens on port {} of {}, so that the probe {} of {} fails",
                probe.port, machine.name, probe.name, balancer.name
            );
            (Cause::new(Fault::NotListening, object), why)
        };
        (!self.is_gone(&cause)).then(|| Effect::new(cause, why))
    }

    /// Judges the same flow to one member.
    fn member(&self, wire: &Wire, backend: Backend, port: u16) -> Option<Judgement> {
        let estate = self.asked.estate;
        let mut flow = Flow::new(wire.src, backend.address, wire.protocol, Some(port)).ok()?;
        flow = flow.let_in(self.entry.clone());
        flow.caller.clone_from(&self.asked.flow.caller);
        flow.called = estate.machines.get(backend.machine).map(|machine| machine.name.clone());
        Some(estate.judge_without(&flow, self.asked.gone))
    }

    /// Asks whether a machine holds the address of the frontend, where the rule leaves that in the packet.
    fn floating(
        &self,
        balancer: &Balancer,
        rule: &Rule,
        (frontend, backend): (&Frontend, Backend),
        hop: &mut Hop,
    ) {
        let estate = self.asked.estate;
        let Some((machine, address)) = estate.machines.get(backend.machine).zip(frontend.address) else {
            return;
        };
        let object = Object::BalancerPart { balancer: balancer.name.clone(), part: rule.name.clone() };
        let cause = Cause::new(Fault::LbFloatingIp, object);
        match machine.addresses.read() {
            Some(_) if estate.owns(machine, address) || self.is_gone(&cause) => {}
            Some(_) => {
                let why = format!(
                    "the rule {} leaves {address} in the packet, and {} does not have that address",
                    rule.name, machine.name
                );
                hop.stops.push(Effect::new(cause, why));
            }
            None => {
                let what =
                    Document::Guest { machine: machine.name.clone(), document: GuestDocument::Addresses };
                let why = format!("whether it has the address {address}");
                hop.missing.push(Missing { what, why });
            }
        }
    }
}

/// Says why no rule that was read takes a port, and one may nevertheless.
fn open_port(balancer: &Balancer, frontend: &str, port: u16) -> Option<String> {
    if let Some(rule) = balancer.unread.first() {
        return Some(format!("the rule {rule} of {} says what is not known here", balancer.name));
    }
    let is_own = |own: &&Spread| {
        own.frontend.eq_ignore_ascii_case(frontend) && (own.ports.0..=own.ports.1).contains(&port)
    };
    let own = balancer.spread.iter().find(is_own)?;
    Some(format!("to which machine of a scale set port {port} leads by {}", own.name))
}

/// Writes the ports that a rule takes.
fn ports(rule: &Rule) -> String {
    match rule.port == rule.last_port {
        true => rule.port.to_string(),
        false => format!("{}-{}", rule.port, rule.last_port),
    }
}

const fn verb(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Describes the question of a probe to a member.
fn probe_flow(probe: &Probe, to: IpAddr) -> Option<Flow> {
    Flow::new(Platform::Server.address(), to, Protocol::Tcp, Some(probe.port)).ok()
}
