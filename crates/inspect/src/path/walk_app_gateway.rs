//! An application gateway on the path: it ends the connection, and asks a server behind it by another one.

use std::net::IpAddr;

use super::app_gateway::{
    AppGateway, End, Health, Listener, ProbeFailure, Rule, ServerHealth, ServerState, Settings, Target,
};
use super::balancer::Frontend;
use super::document::{Document, Missing};
use super::estate::{Estate, Machine};
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol, Wire};
use super::hop::{Effect, Hop, Kind};
use super::judge::{Fate, Judgement};
use super::kept_out::{KeptOut, PlatformService, Unanswered};
use super::socket::{Listens, listens};
use super::walk::Walk;
use crate::nsg::Direction;
use crate::route::{Hop as NextHop, Source};

/// Stands for any address outside.
const INTERNET: [u8; 4] = [8, 8, 8, 8];

/// What the server of a gateway turns out to be.
enum Answer {
    /// It answers, by this path where that is known.
    Up(Option<Box<Judgement>>),
    /// It does not, and why.
    Down(Vec<Effect>, Vec<Missing>),
    /// It takes nothing new, and nothing is wrong with it.
    Draining,
    Open(Vec<Missing>),
}

/// What the requests of a listener come to.
#[derive(Default)]
struct Found {
    stops: Vec<Effect>,
    missing: Vec<Missing>,
    /// The path to a server that answers.
    path: Option<Box<Judgement>>,
    out: Vec<String>,
    all: usize,
}

/// A gateway with what it is asked about.
struct Asking<'a> {
    gateway: &'a AppGateway,
    /// What stands for it among the interfaces.
    at: usize,
    health: Option<&'a Health>,
    /// Why what it says of its servers is not known.
    unread: String,
}

impl Estate {
    /// True if an address is one at which an application gateway takes connections, whether its subnet was read or not.
    pub(super) fn has_app_gateway(&self, address: IpAddr) -> bool {
        let mut frontends = self.app_gateways.read().into_iter().flatten().flat_map(|own| &own.frontends);
        frontends.any(|frontend| frontend.address == Some(address))
    }

    /// Returns the application gateway that takes connections at an address, and what stands for it among the interfaces.
    pub(super) fn app_frontend(&self, address: IpAddr) -> Option<(&AppGateway, &Frontend, usize)> {
        let all = self.app_gateways.read()?;
        let (place, gateway, frontend) = all.iter().enumerate().find_map(|(place, own)| {
            let frontend = own.frontends.iter().find(|frontend| frontend.address == Some(address))?;
            Some((place, own, frontend))
        })?;
        let at = self.nics.iter().position(|nic| nic.app_gateway == Some(place))?;
        Some((gateway, frontend, at))
    }

    /// Returns the machines behind an application gateway, with their interfaces.
    pub(super) fn behind_app_gateway(&self, name: &str) -> Vec<(&str, &str)> {
        let all = self.app_gateways.read().into_iter().flatten();
        let own = all.filter(|own| own.name.eq_ignore_ascii_case(name));
        let servers = own.flat_map(|own| &own.pools).flat_map(|pool| &pool.servers);
        let mut found: Vec<(&str, &str)> = Vec::new();
        for server in servers {
            let nic = match (server.address, &server.nic) {
                (Some(address), _) => self.owner_seen(None, address),
                (None, Some(name)) => self.nics.iter().position(|nic| nic.name.eq_ignore_ascii_case(name)),
                (None, None) => None,
            };
            let place = nic.and_then(|at| self.nic(at).zip(self.machine_of(at)));
            let place = place.map(|(nic, (_, machine))| (nic.name.as_str(), machine.name.as_str()));
            found.extend(place.filter(|place| !found.contains(place)));
        }
        found
    }
}

impl Walk<'_> {
    /// Ends a packet at the application gateway that has its destination; false where none has it.
    pub(super) fn terminated(&mut self, from: Option<usize>, wire: &Wire) -> bool {
        let estate = self.asked.estate;
        let Some((gateway, frontend, at)) = estate.app_frontend(wire.dst) else { return false };
        if let Some(from) = from {
            self.peering(from, at, wire);
        }
        let own = estate.nic(at).and_then(|nic| nic.addresses.first().copied());
        // The platform translates a public address before the group of the subnet sees the packet.
        let inside = if frontend.is_public { own.unwrap_or(wire.dst) } else { wire.dst };
        self.groups(at, Direction::Inbound, &Wire { dst: inside, ..*wire });
        let (hop, path) = self.app_gateway(gateway, frontend, at, wire);
        self.push(hop);
        if let Some(path) = path {
            let (mut forward, mut back) = (path.forward, path.back);
            self.forward.append(&mut forward);
            self.back.append(&mut back);
        }
        self.left = Some((at, *wire));
        true
    }

    /// Returns a packet as whoever is outside sees it.
    pub(super) fn seen_outside(&self, from: usize, wire: &Wire) -> Wire {
        let estate = self.asked.estate;
        let own = estate.nic(from).and_then(|nic| nic.public);
        let firewall = || estate.firewall_at(from).and_then(|own| own.publics.first().copied());
        let leaving = || estate.nic(from).and_then(|nic| self.leaving(nic).into_iter().next());
        let public = own.or_else(firewall).or_else(leaving);
        Wire { src: public.unwrap_or(IpAddr::from(INTERNET)), ..*wire }
    }

    fn app_gateway(
        &self,
        gateway: &AppGateway,
        frontend: &Frontend,
        at: usize,
        wire: &Wire,
    ) -> (Hop, Option<Box<Judgement>>) {
        let estate = self.asked.estate;
        let mut hop = Hop::new(Kind::ApplicationGateway, &gateway.name).on(Document::Frontends);
        let name = &gateway.name;
        let Some(port) = wire.dport.filter(|_| wire.protocol == Protocol::Tcp) else {
            let what = format!("{} at the application gateway {name}", wire.protocol);
            let why = "an application gateway answers only what its listeners are for";
            return (hop.lacking(Document::Probe { what }, why), None);
        };
        let stopped = Cause::new(Fault::AppgwStopped, Object::AppGateway { gateway: name.clone() });
        if gateway.is_running == Some(false) && !self.is_gone(&stopped) {
            hop.stops.push(Effect::new(stopped, format!("the application gateway {name} is stopped")));
            return (hop, None);
        }
        let known = estate.backend_health.read().into_iter().flatten().find(|own| own.is_of(name));
        let health = known.filter(|own| own.servers.is_ok());
        let unread = match known.map(|own| &own.servers) {
            Some(Err(error)) => format!("it could not be read: {error}"),
            Some(Ok(_)) | None => "it was not read".to_owned(),
        };
        let asking = Asking { gateway, at, health, unread };
        if !health.is_some_and(Health::has_up) {
            self.unmanaged(&asking, &mut hop);
        }
        let listeners = gateway.listeners(&frontend.name, port, self.asked.flow.name.as_deref());
        if listeners.is_empty() {
            self.without_listener(gateway, frontend, port, &mut hop);
            return (hop, None);
        }
        let read_at = known.and_then(|own| own.read_at.as_deref());
        let mut each: Vec<Found> = Vec::new();
        for listener in &listeners {
            let expired = self.expired(gateway, listener, read_at);
            let rule = gateway.rule(listener);
            let targets = rule.map(|rule| rule.targets.as_slice()).unwrap_or_default();
            let mut all: Vec<Found> = targets.iter().map(|target| self.target(&asking, target)).collect();
            if all.is_empty() {
                all.push(self.without_pool(gateway, listener, rule));
            }
            for found in &mut all {
                found.stops.splice(0..0, expired.iter().cloned());
            }
            each.append(&mut all);
        }
        let words = each.iter().filter(|found| !found.out.is_empty()).map(|found| {
            format!(
                ", of which {} {} out",
                found.out.join(", "),
                if found.out.len() == 1 { "is" } else { "are" }
            )
        });
        let listener = listeners.first().map_or("", |own| own.name.as_str());
        let servers: usize = each.iter().map(|found| found.all).sum();
        hop.reason = format!(
            "the listener {listener} of {name} ends the connection, and leads to {servers} servers{}",
            words.into_iter().next().unwrap_or_default()
        );
        let path = self.concluded(each, &mut hop);
        (hop, path)
    }

    /// Puts together what all paths of requests come to: what stops each of them stops the flow, what stops some takes a share.
    fn concluded(&self, each: Vec<Found>, hop: &mut Hop) -> Option<Box<Judgement>> {
        let is_stopped = each.iter().all(|found| !found.stops.is_empty());
        let mut path = None;
        for (place, found) in each.into_iter().enumerate() {
            let into = if is_stopped { &mut hop.stops } else { &mut hop.shares };
            for effect in found.stops {
                if !into.iter().any(|known| known.cause == effect.cause) {
                    into.push(effect);
                }
            }
            // What is not known of a path beside the usual one leaves the usual one as it is.
            if place == 0 || is_stopped {
                hop.missing.extend(found.missing);
            }
            path = path.or(found.path);
        }
        path.filter(|_| !is_stopped)
    }

    /// Names what keeps the platform from a gateway, where nothing shows that it works: a rule of its subnet's group, a default route.
    fn unmanaged(&self, asking: &Asking<'_>, hop: &mut Hop) {
        let estate = self.asked.estate;
        let Some(nic) = estate.nic(asking.at) else { return };
        let name = &asking.gateway.name;
        if let Some((group, closed)) = &nic.closed {
            for own in closed {
                let object = Object::NsgRule { group: group.clone(), rule: own.rule.clone() };
                let cause = Cause::new(Fault::NsgDeny, object);
                if !self.is_gone(&cause) && !hop.stops.iter().any(|known| known.cause == cause) {
                    let service = PlatformService::AppGateway(name.clone());
                    let why = KeptOut::new(service, &own.needed).reason(group, &own.rule);
                    hop.stops.push(Effect { catches_all: true, ..Effect::new(cause, why) });
                }
            }
        }
        let routes = nic.routes.read().into_iter().flat_map(|table| table.routes());
        let led = routes.filter(|route| {
            route.row.source == Source::User
                && route.prefix.prefix_len() == 0
                && route.prefix.addr().is_ipv4()
                && route.row.hop != NextHop::Other
        });
        for route in led {
            let table = nic.table.clone().unwrap_or_else(|| "unknown".to_owned());
            let own = route.row.name.clone().unwrap_or_else(|| route.prefix.to_string());
            let why = format!(
                "the route {own} of {table} leads what {name} sends to the internet elsewhere: its subnet needs a default route to the Internet"
            );
            let cause = Cause::new(Fault::RouteDetour, Object::Route { table, route: own });
            if !self.is_gone(&cause) {
                hop.stops.push(Effect::new(cause, why));
            }
        }
    }

    /// Says what becomes of the requests of a listener that go to no pool.
    fn without_pool(&self, gateway: &AppGateway, listener: &Listener, rule: Option<&Rule>) -> Found {
        let mut found = Found::default();
        let name = &listener.name;
        let nowhere = match rule.map(|rule| (rule, rule.end)) {
            // A redirect is answered by the gateway itself.
            Some((_, End::Redirected)) => return found,
            Some((rule, End::Open)) => Err(format!("where the rule {} of {} leads", rule.name, gateway.name)),
            Some((rule, End::Nowhere)) => {
                Ok((rule.name.clone(), format!("the rule {} has no pool", rule.name)))
            }
            None => match gateway.unread.first() {
                Some(rule) => Err(format!("what {rule} of {} says is not known here", gateway.name)),
                None => Ok((name.clone(), "no rule takes its requests".to_owned())),
            },
        };
        match nowhere {
            Err(why) => found.missing.push(Missing { what: Document::Frontends, why }),
            Ok((part, why)) => {
                let object = Object::AppGatewayPart { gateway: gateway.name.clone(), part };
                let cause = Cause::new(Fault::AppgwPoolEmpty, object);
                if !self.is_gone(&cause) {
                    let why = format!("the listener {name} of {} leads nowhere: {why}", gateway.name);
                    found.stops.push(Effect::new(cause, why));
                }
            }
        }
        found
    }

    fn without_listener(&self, gateway: &AppGateway, frontend: &Frontend, port: u16, hop: &mut Hop) {
        let cause = Cause::new(Fault::NoPath, Object::flow(self.asked.flow));
        let what = format!("port {port} of {}", gateway.name);
        if self.is_gone(&cause) {
            let why = "where a listener would lead is not known".to_owned();
            hop.missing.push(Missing { what: Document::Probe { what }, why });
            return;
        }
        if let Some(part) = gateway.unread.first() {
            let why = format!("{part} of {} says what is not known here", gateway.name);
            hop.missing.push(Missing { what: Document::Frontends, why });
            return;
        }
        let own = gateway.listeners.iter().filter(|own| own.frontend.eq_ignore_ascii_case(&frontend.name));
        let ports: Vec<String> = own.map(|own| own.port.to_string()).collect();
        let ports = if ports.is_empty() { "no port".to_owned() } else { ports.join(", ") };
        let why = format!(
            "no listener of {} takes port {port} at {}: they take {ports}",
            gateway.name, frontend.name
        );
        hop.stops.push(Effect::new(cause, why));
    }

    /// Holds the end of a listener's certificate against the moment at which the gateway was read.
    fn expired(&self, gateway: &AppGateway, listener: &Listener, read_at: Option<&str>) -> Option<Effect> {
        let end = gateway.end_of(listener).filter(|_| listener.is_secure)?;
        // Both are written alike, so that the order of letters is that of time.
        read_at.filter(|now| end < *now)?;
        let object = Object::AppGatewayPart { gateway: gateway.name.clone(), part: listener.name.clone() };
        let cause = Cause::new(Fault::AppgwCertExpired, object);
        let day = end.split('T').next().unwrap_or(end);
        let why = format!(
            "the certificate of the listener {} of {} expired on {day}: browsers and programs refuse it",
            listener.name, gateway.name
        );
        (!self.is_gone(&cause)).then(|| Effect::new(cause, why))
    }

    /// Asks who of a pool answers.
    fn target(&self, asking: &Asking<'_>, target: &Target) -> Found {
        let gateway = asking.gateway;
        let mut found = Found::default();
        let said = asking.health.map(|health| health.of_target(target)).unwrap_or_default();
        let pool = gateway.pool(&target.pool);
        let lacking = |why: String| {
            let what = Document::Health { gateway: gateway.name.clone() };
            vec![Missing { what, why }]
        };
        let Some((pool, settings)) = pool.zip(gateway.settings(target)) else {
            found.missing = lacking(format!("the pool {} is none that was read", target.pool));
            return found;
        };
        if pool.servers.is_empty() && said.is_empty() {
            let object = Object::AppGatewayPart { gateway: gateway.name.clone(), part: pool.name.clone() };
            let cause = Cause::new(Fault::AppgwPoolEmpty, object);
            if !self.is_gone(&cause) {
                let why = format!("the pool {} of {} has no server", pool.name, gateway.name);
                found.stops.push(Effect::new(cause, why));
            }
            return found;
        }
        let answers: Vec<(String, Answer)> = if said.is_empty() {
            let why = format!("whether a server of {} answers: {}", pool.name, asking.unread);
            pool.servers.iter().map(|own| (own.written.clone(), Answer::Open(lacking(why.clone())))).collect()
        } else {
            let answer =
                |own: &&ServerHealth| (own.server.clone(), self.answer_of(asking, target, settings, own));
            said.iter().map(answer).collect()
        };
        found.all = answers.len();
        let (mut down, mut open, mut is_up) = (Vec::new(), Vec::new(), false);
        for (server, answer) in answers {
            match answer {
                Answer::Up(path) => {
                    is_up = true;
                    found.path = found.path.or(path);
                }
                Answer::Draining => found.out.push(server),
                Answer::Down(effects, missing) => {
                    found.out.push(server);
                    found.missing.extend(missing);
                    down.extend(effects);
                }
                Answer::Open(missing) => open.extend(missing),
            }
        }
        if is_up {
            // One that answers is enough.
            found.missing.clear();
        } else if !open.is_empty() {
            found.missing.extend(open);
        } else if down.is_empty() {
            let what = Document::Probe { what: format!("a server of {}", pool.name) };
            found.missing.push(Missing { what, why: "all of them take nothing new".to_owned() });
        } else {
            found.stops = down;
        }
        found
    }

    /// Judges one server by what the gateway says of it, and by what is read on the path to it.
    fn answer_of(
        &self,
        asking: &Asking<'_>,
        target: &Target,
        settings: &Settings,
        own: &ServerHealth,
    ) -> Answer {
        match own.state {
            ServerState::Draining => Answer::Draining,
            ServerState::Up => {
                let mut path = self.path_to(asking, &own.server, settings.port);
                if let Some(judged) = &mut path {
                    if probe_port(asking.gateway, settings) != settings.port && !judged.stops().is_empty() {
                        let effects = judged.stops().into_iter().map(|(_, effect)| effect.clone()).collect();
                        return Answer::Down(effects, Vec::new());
                    }
                    // The gateway has just been there: what was not read on the path stops nothing.
                    for hop in judged.forward.iter_mut().chain(&mut judged.back) {
                        hop.missing.clear();
                        hop.possible.clear();
                        hop.stops.clear();
                    }
                }
                Answer::Up(path)
            }
            ServerState::Unknown => {
                let Some(judged) = self.path_to(asking, &own.server, settings.port) else {
                    return Answer::Up(None);
                };
                let stops = judged.stops();
                if stops.is_empty() {
                    return match judged.fate {
                        Fate::Unknown => Answer::Open(judged.missing()),
                        Fate::Passes | Fate::Degraded | Fate::Partly | Fate::Stopped | Fate::NoPath(_) => {
                            Answer::Up(Some(judged))
                        }
                    };
                }
                Answer::Down(stops.into_iter().map(|(_, effect)| effect.clone()).collect(), Vec::new())
            }
            ServerState::Untold => {
                let judged = self.path_to(asking, &own.server, settings.port);
                let stops = judged.as_ref().map(|judged| judged.stops()).unwrap_or_default();
                if stops.is_empty() {
                    let what = Document::Health { gateway: asking.gateway.name.clone() };
                    let why = format!(
                        "whether {} answers: whoever manages {} could not ask it",
                        own.server, asking.gateway.name
                    );
                    return Answer::Open(vec![Missing { what, why }]);
                }
                Answer::Down(stops.into_iter().map(|(_, effect)| effect.clone()).collect(), Vec::new())
            }
            ServerState::Down => self.down(asking, target, settings, own),
        }
    }

    /// Judges the path from a gateway to a server, where that is a machine that was read.
    fn path_to(&self, asking: &Asking<'_>, server: &str, port: u16) -> Option<Box<Judgement>> {
        let estate = self.asked.estate;
        let from = estate.nic(asking.at)?.addresses.first().copied()?;
        let to = self.address_of(asking.gateway, server)?;
        let flow = Flow::new(from, to, Protocol::Tcp, Some(port)).ok()?;
        Some(Box::new(estate.judge_without(&flow, self.asked.gone)))
    }

    /// Returns the address of a server that is a machine of the estate.
    fn address_of(&self, gateway: &AppGateway, server: &str) -> Option<IpAddr> {
        let estate = self.asked.estate;
        let named = || {
            let mut all = gateway.pools.iter().flat_map(|pool| &pool.servers);
            let own = all.find(|own| own.written.eq_ignore_ascii_case(server))?;
            own.address.or_else(|| estate.first_address(own.nic.as_deref()?))
        };
        let address = server.parse::<IpAddr>().ok().or_else(named)?;
        let network = gateway.subnet.as_ref().map(|(network, _)| network.as_str());
        let at = estate.owner_seen(network, address)?;
        estate.machine_of(at).map(|_| address)
    }

    /// Says why a server does not answer: by the words of the gateway, or else by what is read on the path to it.
    fn down(&self, asking: &Asking<'_>, target: &Target, settings: &Settings, own: &ServerHealth) -> Answer {
        let gateway = asking.gateway;
        let probe = settings.probe.as_deref().and_then(|probe| gateway.probe(probe));
        let part =
            |part: &str| Object::AppGatewayPart { gateway: gateway.name.clone(), part: part.to_owned() };
        let port = probe_port(gateway, settings);
        let said = words(&own.log);
        let named = |fault: Fault, object: Object, why: String| {
            let cause = Cause::new(fault, object);
            match self.is_gone(&cause) {
                true => Answer::Up(None),
                false => Answer::Down(vec![Effect::new(cause, why)], Vec::new()),
            }
        };
        let symptom = Object::AppGatewayServer {
            gateway: gateway.name.clone(),
            pool: target.pool.clone(),
            server: own.server.clone(),
        };
        let server = &own.server;
        match own.failure() {
            ProbeFailure::Page => {
                let name = probe.map_or(settings.name.as_str(), |probe| probe.name.as_str());
                let path = probe.map_or("/", |probe| probe.path.as_str());
                let why = format!("the probe {name} of {} asks {server} for {path}: {said}", gateway.name);
                return named(Fault::AppgwProbeMismatch, part(name), why);
            }
            ProbeFailure::Certificate => {
                let why = format!(
                    "{} does not take the certificate of {server} with the settings {}: {said}",
                    gateway.name, settings.name
                );
                return named(Fault::AppgwBackendTls, part(&settings.name), why);
            }
            ProbeFailure::Name => {
                let why = format!("{} finds no address of {server}: {said}", gateway.name);
                return named(Fault::AppgwBackendDown, symptom, why);
            }
            ProbeFailure::NoAnswer => {}
        }
        let judged = self.path_to(asking, server, port);
        let machine = self.address_of(gateway, server).and_then(|to| self.machine(gateway, to));
        let Some(machine) = machine else {
            return named(
                Fault::AppgwBackendDown,
                symptom,
                format!("{server} does not answer {}: {said}", gateway.name),
            );
        };
        let stops = judged.as_ref().map(|judged| judged.stops()).unwrap_or_default();
        let effects: Vec<Effect> = stops
            .iter()
            .filter_map(|(_, effect)| {
                if effect.cause.fault.is_refusal() {
                    return self.unserved(asking, settings, (machine, port));
                }
                let unanswered = Unanswered { gateway: gateway.name.clone(), server: server.to_owned() };
                let reason = unanswered.behind(&effect.reason);
                Some(Effect { reason, ..(*effect).clone() })
            })
            .collect();
        if !stops.is_empty() {
            return if effects.is_empty() { Answer::Up(None) } else { Answer::Down(effects, Vec::new()) };
        }
        let missing = judged.map(|judged| judged.missing()).unwrap_or_default();
        match named(
            Fault::AppgwBackendDown,
            symptom,
            format!("{server} does not answer {}: {said}", gateway.name),
        ) {
            Answer::Down(effects, _) => Answer::Down(effects, missing),
            other @ (Answer::Up(_) | Answer::Draining | Answer::Open(_)) => other,
        }
    }

    fn machine(&self, gateway: &AppGateway, address: IpAddr) -> Option<&Machine> {
        let estate = self.asked.estate;
        let network = gateway.subnet.as_ref().map(|(network, _)| network.as_str());
        let at = estate.owner_seen(network, address)?;
        estate.machine_of(at).map(|(_, machine)| machine)
    }

    /// Names what is wrong where nobody listens on the port of a probe: the probe, where somebody does on that of the settings.
    fn unserved(
        &self,
        asking: &Asking<'_>,
        settings: &Settings,
        (machine, port): (&Machine, u16),
    ) -> Option<Effect> {
        let gateway = asking.gateway;
        let serves = |port: u16| {
            let own = machine.tcp.read().map(Vec::as_slice).unwrap_or_default();
            let addresses = machine.nics.iter().filter_map(|at| self.asked.estate.nic(*at));
            let mut addresses = addresses.flat_map(|nic| nic.addresses.iter().copied());
            addresses.any(|address| matches!(listens(own, address, port, &[]), Listens::Here(_)))
        };
        let (cause, why) = match settings.probe.as_ref() {
            Some(probe) if port != settings.port && serves(settings.port) => {
                let object = Object::AppGatewayPart { gateway: gateway.name.clone(), part: probe.clone() };
                let why = format!(
                    "the probe {probe} of {} asks port {port} of {}, where nobody listens; requests go to {}, where somebody does",
                    gateway.name, machine.name, settings.port
                );
                (Cause::new(Fault::AppgwProbeMismatch, object), why)
            }
            Some(_) | None => {
                let object =
                    Object::Listener { machine: machine.name.clone(), protocol: Protocol::Tcp, port };
                let why = format!(
                    "nobody listens on port {port} of {}, which the settings {} of {} ask",
                    machine.name, settings.name, gateway.name
                );
                (Cause::new(Fault::NotListening, object), why)
            }
        };
        (!self.is_gone(&cause)).then(|| Effect::new(cause, why))
    }
}

/// Returns the port at which servers are asked whether they answer.
fn probe_port(gateway: &AppGateway, settings: &Settings) -> u16 {
    let probe = settings.probe.as_deref().and_then(|probe| gateway.probe(probe));
    probe.and_then(|probe| probe.port).unwrap_or(settings.port)
}

/// Returns the words of a gateway about a probe, as part of a sentence.
fn words(log: &str) -> &str {
    let log = log.trim().trim_end_matches('.');
    if log.is_empty() { "its probe fails" } else { log }
}
