//! What is inside a guest, and what becomes of a packet there: a filter of its own, written from the packet filter's manual.

use std::net::Ipv4Addr;

use super::address::{Prefix, Range, in_range, range};
use crate::case::model::Pair;
use crate::host::Protocol;

/// One thing that somebody did inside a guest.
#[derive(Debug, Clone)]
pub(super) enum GuestStep {
    /// A rule at the end of a chain, or at its head.
    Rule {
        chain: &'static str,
        first: bool,
        rule: Rule,
    },
    Policy {
        chain: &'static str,
    },
    /// A policy of IPv6, which nothing here is about.
    Policy6,
    /// A chain of somebody's own, before another.
    Chain {
        name: &'static str,
        from: &'static str,
        rules: Vec<Rule>,
    },
    Ban {
        jail: &'static str,
        address: Ipv4Addr,
        ports: Vec<u16>,
        rejects: bool,
    },
    Docker {
        drop_in: Option<&'static str>,
    },
    Native {
        table: String,
        family: &'static str,
        hook: &'static str,
        drops_rest: bool,
        rule: Rule,
    },
    /// Only one shaping a device.
    Netem {
        delay: Option<u32>,
        loss: Option<u32>,
        other: Option<&'static str>,
        also_ssh: bool,
    },
    Rate {
        rate: &'static str,
        also_ssh: bool,
    },
}

/// What becomes of a packet that a rule takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Accept,
    Drop,
    Reject,
    /// Refused with a reset.
    Reset,
    Return,
    Log,
}

#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) protocol: Option<Protocol>,
    /// Destination ports; more than one is a multiport match.
    pub(super) ports: Vec<Range>,
    pub(super) source_port: Option<u16>,
    pub(super) source: Option<Prefix>,
    pub(super) destination: Option<Prefix>,
    /// The device it comes in by.
    pub(super) input: Option<&'static str>,
    pub(super) state: Option<State>,
    /// It takes so many of a hundred.
    pub(super) share: Option<u32>,
    pub(super) target: Target,
}

/// What a rule knows about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Established,
    New,
    Invalid,
}

impl Rule {
    pub(super) const fn new(target: Target) -> Self {
        Self {
            protocol: None,
            ports: Vec::new(),
            source_port: None,
            source: None,
            destination: None,
            input: None,
            state: None,
            share: None,
            target,
        }
    }

    pub(super) fn port(protocol: Protocol, port: u16, target: Target) -> Self {
        Self { protocol: Some(protocol), ports: vec![(port, port)], ..Self::new(target) }
    }

    fn demands_nothing(&self) -> bool {
        self.protocol.is_none()
            && self.source.is_none()
            && self.destination.is_none()
            && self.input.is_none()
            && self.state.is_none()
            && self.share.is_none()
    }

    fn takes(&self, packet: &Packet) -> bool {
        let port = packet.destination_port;
        self.protocol.is_none_or(|protocol| protocol == packet.protocol)
            && (self.ports.is_empty()
                || (packet.protocol != Protocol::Icmp && self.ports.iter().any(|own| in_range(*own, port))))
            && self.source_port.is_none_or(|own| packet.protocol != Protocol::Icmp && own == packet.source_port)
            && self.source.is_none_or(|source| source.holds(packet.source))
            && self.destination.is_none_or(|destination| destination.holds(packet.destination))
            // What is judged here comes by the first device, and never by the loopback.
            && self.input.is_none_or(|input| input == "eth0")
            && self.state.is_none_or(|state| state == packet.state)
    }

    /// The part of an object that names what a rule takes.
    fn about(&self, packet: &Packet) -> String {
        let protocol = self.protocol.map_or("any", word);
        let own = self.ports.iter().find(|own| in_range(**own, packet.destination_port));
        let port = match (own, self.source_port) {
            (Some(own), _) => range(*own),
            (None, Some(port)) => port.to_string(),
            (None, None) => "any".to_owned(),
        };
        format!("{protocol}/{port}")
    }

    /// Writes the rule as it would be typed, without the chain.
    pub(super) fn words(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.source.map(|source| format!("-s {source}")));
        words.extend(self.destination.map(|destination| format!("-d {destination}")));
        words.extend(self.input.map(|input| format!("-i {input}")));
        words.extend(self.protocol.map(|protocol| format!("-p {}", word(protocol))));
        words.extend(self.source_port.map(|port| format!("--sport {port}")));
        words.extend(self.port_words());
        words.extend(self.state_words().map(|state| format!("-m conntrack --ctstate {state}")));
        words.extend(self.share_words());
        words.push(match self.target {
            Target::Accept => "-j ACCEPT".to_owned(),
            Target::Drop => "-j DROP".to_owned(),
            Target::Reject => "-j REJECT --reject-with icmp-port-unreachable".to_owned(),
            Target::Reset => "-j REJECT --reject-with tcp-reset".to_owned(),
            Target::Return => "-j RETURN".to_owned(),
            Target::Log => "-m limit --limit 3/min -j LOG --log-prefix denied".to_owned(),
        });
        words.join(" ")
    }

    pub(super) fn share_words(&self) -> Option<String> {
        self.share.map(|share| format!("-m statistic --mode random --probability 0.{share:02}"))
    }

    pub(super) fn state_words(&self) -> Option<&'static str> {
        self.state.map(|state| match state {
            State::Established => "RELATED,ESTABLISHED",
            State::New => "NEW",
            State::Invalid => "INVALID",
        })
    }

    fn port_words(&self) -> Option<String> {
        let text =
            |own: &Range| if own.0 == own.1 { own.0.to_string() } else { format!("{}:{}", own.0, own.1) };
        match self.ports.as_slice() {
            [] => None,
            [one] => Some(format!("--dport {}", text(one))),
            several => {
                let list: Vec<String> = several.iter().map(text).collect();
                Some(format!("-m multiport --dports {}", list.join(",")))
            }
        }
    }
}

/// A packet at a hook.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    pub(super) source: Ipv4Addr,
    pub(super) destination: Ipv4Addr,
    pub(super) protocol: Protocol,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
    pub(super) state: State,
}

pub(super) const fn word(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Icmp => "icmp",
    }
}

/// What stops or hurts a packet at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) pair: Pair,
    /// It takes only a share.
    pub(super) is_partial: bool,
    /// It closes everything, and something before it at this gate did, too.
    pub(super) is_behind_catch_all: bool,
}

/// A line of a chain.
enum Line {
    Rule(Rule),
    /// A jump, and the rule that says for whom.
    Jump(Rule, String),
}

/// A gate: the chains of one hook of one table.
struct Gate {
    table: String,
    base: String,
    drops_rest: bool,
    chains: Vec<(String, Vec<Line>)>,
}

impl Gate {
    fn lines(&mut self, chain: &str) -> &mut Vec<Line> {
        let at = self.chains.iter().position(|(name, _)| name == chain).unwrap_or_else(|| {
            self.chains.push((chain.to_owned(), Vec::new()));
            self.chains.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was found or made in the line above")]
        let (_, lines) = &mut self.chains[at];
        lines
    }

    /// Goes through a chain without what is skipped; the first that decides, or nothing where the chain ends.
    fn decides(
        &self,
        chain: &str,
        packet: &Packet,
        skipped: &[(String, usize)],
    ) -> Option<(String, usize, Target)> {
        let (name, lines) = self.chains.iter().find(|(name, _)| name == chain)?;
        for (at, line) in lines.iter().enumerate() {
            match line {
                Line::Rule(rule) if !rule.takes(packet) || skipped.contains(&(name.clone(), at)) => {}
                Line::Rule(rule) => match rule.target {
                    Target::Log => {}
                    Target::Return => return None,
                    target @ (Target::Accept | Target::Drop | Target::Reject | Target::Reset) => {
                        return Some((name.clone(), at, target));
                    }
                },
                Line::Jump(rule, to) => {
                    if rule.takes(packet)
                        && let Some(decided) = self.decides(to, packet, skipped)
                    {
                        return Some(decided);
                    }
                }
            }
        }
        None
    }

    fn rule(&self, chain: &str, at: usize) -> Option<&Rule> {
        let (_, lines) = self.chains.iter().find(|(name, _)| name == chain)?;
        match lines.get(at)? {
            Line::Rule(rule) | Line::Jump(rule, _) => Some(rule),
        }
    }

    /// Everything at this gate that stops a packet, each asked as if what stands before it were gone.
    fn stops(&self, machine: &str, packet: &Packet) -> Vec<Stop> {
        let mut found = Vec::new();
        let mut skipped = Vec::new();
        let mut closed = false;
        while let Some((chain, at, target)) = self.decides(&self.base, packet, &skipped) {
            let Some(rule) = self.rule(&chain, at) else { break };
            if target == Target::Accept {
                return found;
            }
            let is_catch_all = rule.demands_nothing();
            found.push(Stop {
                pair: self.pair(machine, &chain, rule, packet),
                is_partial: rule.share.is_some(),
                is_behind_catch_all: is_catch_all && closed,
            });
            closed |= is_catch_all;
            skipped.push((chain, at));
        }
        if self.drops_rest {
            let object = format!("netfilter/{machine}/{}/{}", self.table, self.base);
            found.push(Stop {
                pair: Pair::new("guest_firewall_policy_drop", object),
                is_partial: false,
                is_behind_catch_all: closed,
            });
        }
        found
    }

    fn pair(&self, machine: &str, chain: &str, rule: &Rule, packet: &Packet) -> Pair {
        if chain.starts_with("f2b-") {
            return Pair::new("fail2ban_ban", format!("netfilter/{machine}/{chain}/{}", packet.source));
        }
        if chain.starts_with("DOCKER") {
            return Pair::new(
                "container_firewall_change",
                format!("netfilter/{machine}/{}/{chain}", self.table),
            );
        }
        let code = if rule.target == Target::Drop { "guest_firewall_drop" } else { "guest_firewall_reject" };
        Pair::new(code, format!("netfilter/{machine}/{}/{chain}/{}", self.table, rule.about(packet)))
    }
}

/// Where in a guest a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hook {
    Input,
    Forward,
    Output,
}

impl Hook {
    const fn chain(self) -> &'static str {
        match self {
            Self::Input => "INPUT",
            Self::Forward => "FORWARD",
            Self::Output => "OUTPUT",
        }
    }

    const fn small(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Forward => "forward",
            Self::Output => "output",
        }
    }
}

/// Everything that stops a packet at a hook of a machine, given what was done there.
pub(super) fn stops<'a>(
    machine: &str,
    steps: impl Iterator<Item = &'a GuestStep>,
    hook: Hook,
    packet: &Packet,
) -> Vec<Stop> {
    let mut gates = vec![Gate {
        table: "filter".to_owned(),
        base: hook.chain().to_owned(),
        drops_rest: false,
        chains: vec![(hook.chain().to_owned(), Vec::new())],
    }];
    for step in steps {
        apply(&mut gates, step, hook);
    }
    gates.iter().flat_map(|gate| gate.stops(machine, packet)).collect()
}

fn apply(gates: &mut Vec<Gate>, step: &GuestStep, hook: Hook) {
    if let GuestStep::Native { table, family, hook: own, drops_rest, rule } = step {
        if *own == hook.small() && *family != "ip6" {
            gates.push(Gate {
                table: format!("{family}:{table}"),
                base: (*own).to_owned(),
                drops_rest: *drops_rest,
                chains: vec![((*own).to_owned(), vec![Line::Rule(rule.clone())])],
            });
        }
        return;
    }
    let Some(gate) = gates.first_mut() else { return };
    let jump = |rule: Rule, to: &str| Line::Jump(rule, to.to_owned());
    match step {
        GuestStep::Rule { chain, first, rule } if *chain == hook.chain() => {
            let lines = gate.lines(chain);
            let at = if *first { 0 } else { lines.len() };
            lines.insert(at, Line::Rule(rule.clone()));
        }
        GuestStep::Policy { chain } if *chain == hook.chain() => gate.drops_rest = true,
        GuestStep::Chain { name, from, rules } if *from == hook.chain() => {
            gate.lines(name).extend(rules.iter().cloned().map(Line::Rule));
            gate.lines(from).insert(0, jump(Rule::new(Target::Return), name));
        }
        GuestStep::Ban { jail, address, ports, rejects } if hook == Hook::Input => {
            let chain = format!("f2b-{jail}");
            if gate.chains.iter().all(|(name, _)| *name != chain) {
                let all: Vec<Range> = ports.iter().map(|port| (*port, *port)).collect();
                let protocol = (!all.is_empty()).then_some(Protocol::Tcp);
                let who = Rule { protocol, ports: all, ..Rule::new(Target::Return) };
                gate.lines(hook.chain()).insert(0, jump(who, &chain));
                gate.lines(&chain).push(Line::Rule(Rule::new(Target::Return)));
            }
            let target = if *rejects { Target::Reject } else { Target::Drop };
            let ban = Rule { source: Some(Prefix::host(*address)), ..Rule::new(target) };
            gate.lines(&chain).insert(0, Line::Rule(ban));
        }
        GuestStep::Docker { drop_in } if hook == Hook::Forward => {
            for chain in ["DOCKER-USER", "DOCKER-ISOLATION-STAGE-1"] {
                if *drop_in == Some(chain) {
                    gate.lines(chain).push(Line::Rule(Rule::new(Target::Drop)));
                }
                gate.lines(chain).push(Line::Rule(Rule::new(Target::Return)));
                gate.lines("FORWARD").push(jump(Rule::new(Target::Return), chain));
            }
        }
        GuestStep::Rule { .. }
        | GuestStep::Policy { .. }
        | GuestStep::Policy6
        | GuestStep::Chain { .. }
        | GuestStep::Ban { .. }
        | GuestStep::Docker { .. }
        | GuestStep::Native { .. }
        | GuestStep::Netem { .. }
        | GuestStep::Rate { .. } => {}
    }
}

/// What the device of a machine does to the packets that it sends from or to a port.
pub(super) fn shapes<'a>(
    machine: &str,
    steps: impl Iterator<Item = &'a GuestStep>,
    is_ssh: bool,
) -> Vec<Pair> {
    let mut found = Vec::new();
    let object = format!("qdisc/{machine}/eth0");
    for step in steps {
        if let GuestStep::Netem { delay, loss, other, also_ssh } = step
            && (*also_ssh || !is_ssh)
        {
            found.extend(delay.map(|_| "netem_delay"));
            found.extend(loss.map(|_| "netem_loss"));
            found.extend(*other);
        }
        if let GuestStep::Rate { also_ssh, .. } = step
            && (*also_ssh || !is_ssh)
        {
            found.push("rate_limit");
        }
    }
    found.into_iter().map(|code| Pair::new(code, object.clone())).collect()
}

/// The filter table and the tables of nftables of a machine, as they would be printed.
#[cfg(test)]
pub(super) struct Printed {
    pub(super) save: String,
    pub(super) native: serde_json::Value,
    pub(super) shaping: String,
}

/// Prints a guest as its own programs do.
#[cfg(test)]
pub(super) fn print<'a>(steps: impl Iterator<Item = &'a GuestStep> + Clone) -> Printed {
    use serde_json::json;
    let (mut heads, mut body) = (Vec::new(), String::new());
    let mut native = Vec::new();
    for hook in [Hook::Input, Hook::Forward, Hook::Output] {
        let mut gates = vec![Gate {
            table: "filter".to_owned(),
            base: hook.chain().to_owned(),
            drops_rest: false,
            chains: vec![(hook.chain().to_owned(), Vec::new())],
        }];
        steps.clone().for_each(|step| apply(&mut gates, step, hook));
        for gate in gates {
            if let Some((family, table)) = gate.table.split_once(':') {
                let chain = gate.base.clone();
                let Some((_, lines)) = gate.chains.first() else { continue };
                let Some(Line::Rule(rule)) = lines.first() else { continue };
                let port = rule.ports.first().map_or(0, |ports| ports.0);
                let policy = if gate.drops_rest { "drop" } else { "accept" };
                let verdict = if rule.target == Target::Drop { "drop" } else { "reject" };
                let protocol = rule.protocol.map_or("tcp", word);
                native.push(json!({"table": {"family": family, "name": table, "handle": 1}}));
                native.push(json!({"chain": {"family": family, "table": table, "name": chain, "handle": 1,
                    "type": "filter", "hook": hook.small(), "prio": -10, "policy": policy}}));
                native.push(json!({"rule": {"family": family, "table": table, "chain": chain, "handle": 2, "expr": [
                    {"match": {"op": "==", "left": {"payload": {"protocol": protocol, "field": "dport"}}, "right": port}},
                    {verdict: null}]}}));
                continue;
            }
            for (name, lines) in &gate.chains {
                let policy = match (name == hook.chain(), gate.drops_rest) {
                    (true, true) => "DROP",
                    (true, false) => "ACCEPT",
                    (false, _) => "-",
                };
                heads.push(format!(":{name} {policy} [0:0]\n"));
                for line in lines {
                    let text = match line {
                        Line::Rule(rule) => rule.words(),
                        Line::Jump(rule, to) => rule.words().replace("-j RETURN", &format!("-j {to}")),
                    };
                    body.push_str(&format!("-A {name} {text}\n"));
                }
            }
        }
    }
    // A port is asked of the protocol's own module.
    let body = body.replace("-p tcp --", "-p tcp -m tcp --").replace("-p udp --", "-p udp -m udp --");
    let mut shaping = "qdisc fq_codel 0: dev eth0 root refcnt 2\n".to_owned();
    for step in steps {
        if let GuestStep::Netem { delay, loss, other, .. } = step {
            shaping = "qdisc netem 1: dev eth0 root refcnt 2 limit 1000".to_owned();
            shaping.extend(delay.map(|delay| format!(" delay {delay}ms")));
            shaping.extend(loss.map(|loss| format!(" loss {loss}%")));
            shaping.extend(other.map(|other| format!(" {} 4%", other.trim_start_matches("netem_"))));
            shaping.push('\n');
        }
        if matches!(step, GuestStep::Rate { .. }) {
            shaping = "qdisc tbf 1: dev eth0 root refcnt 2 rate 5Mbit burst 16Kb lat 50ms\n".to_owned();
        }
    }
    let save =
        format!("# Generated by iptables-save v1.8.9 (nf_tables)\n*filter\n{}{body}COMMIT\n", heads.concat());
    Printed { save, native: json!({"nftables": native}), shaping }
}
