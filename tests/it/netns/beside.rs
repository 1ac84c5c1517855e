//! The model of a machine beside the kernel: the same commands make the same rules on both, the same packets have the same outcome, and
//! `netfilter::walk` says of either's rules what happens.
//!
//! A handful of rulesets in the short run, 30 with `GHOST_LONG=1`, 50 packets each; `GHOST_TEST_SEED` repeats a run.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use ghost_base::SystemClock;
use ghost_inspect::netfilter::{self, Compiled, Hook, State, Verdict};
use ghost_lab::LabClock;
use ghost_lab::host::{
    Behavior, ConnectOutcome, Fabric, Host as _, Netns, Protocol, ScriptTransport, Service, Simulated, Stage,
};

use super::draw::{Keeper, PORTS, lines};
use super::place::{DEST, Place, SOURCE, fabric, gates, machine, script, skipped};
use crate::random::{Random, is_long, seed};

/// The machines, and their addresses.
const MACHINES: [(&str, u8); 4] = [(SOURCE, 4), (DEST, 5), ("third", 6), ("fourth", 77)];
/// So many packets are sent through a ruleset.
const PACKETS: usize = 50;
/// A port on which nobody listens.
const SHUT: u16 = 9;

/// A packet: who sends it where.
#[derive(Debug, Clone, Copy)]
struct Probe {
    from: (&'static str, IpAddr),
    to: IpAddr,
    protocol: Protocol,
    port: u16,
}

impl Probe {
    /// Draws packets to the machine that has the rules and, fewer of them, from it; none twice.
    fn draw(random: &mut Random) -> Vec<Self> {
        let address = |last: u8| IpAddr::from([10, 0, 1, last]);
        let mut all = Vec::new();
        for (name, last) in MACHINES.into_iter().filter(|(name, _)| *name != DEST) {
            let ports = PORTS.into_iter().chain([SHUT]);
            let mut kinds: Vec<(Protocol, u16)> =
                ports.flat_map(|port| [(Protocol::Tcp, port), (Protocol::Udp, port)]).collect();
            kinds.push((Protocol::Icmp, 0));
            for (protocol, port) in kinds {
                let into = Self { from: (name, address(last)), to: address(5), protocol, port };
                let out = Self { from: (DEST, address(5)), to: address(last), protocol, port };
                all.extend([into, into, out]);
            }
        }
        let mut drawn: Vec<Self> = Vec::new();
        while drawn.len() < PACKETS {
            let next = *random.pick(&all);
            let same = |own: &Self| {
                (own.from, own.to, own.protocol, own.port) == (next.from, next.to, next.protocol, next.port)
            };
            if !drawn.iter().any(same) {
                drawn.push(next);
            }
        }
        drawn
    }

    /// What the rules say of its first packet, where it meets them.
    fn walked(&self, rules: &Compiled<'_>) -> Verdict {
        self.walk(rules, State::New, 2)
    }

    /// Whether the rules refuse what follows the handshake: its sender may learn of that before it checks whether the connection is up.
    fn is_refused_later(&self, rules: &Compiled<'_>) -> bool {
        self.protocol == Protocol::Tcp && self.walk(rules, State::Established, 16) == Verdict::Reject
    }

    fn walk(&self, rules: &Compiled<'_>, state: State, flags: u8) -> Verdict {
        let (protocol, icmp_type) = match self.protocol {
            Protocol::Tcp => (6, None),
            Protocol::Udp => (17, None),
            Protocol::Icmp => (1, Some(8)),
        };
        let ported = protocol != 1;
        let leaves = self.from.0 == DEST;
        let hooks = if leaves { [Hook::Output, Hook::Postrouting] } else { [Hook::Prerouting, Hook::Input] };
        let device = |is: bool| is.then(|| "eth0".to_owned());
        let mut marked = false;
        for hook in hooks {
            let packet = netfilter::Packet {
                hook,
                protocol,
                src: self.from.1,
                dst: self.to,
                // Nobody asks for the ports from which something begins but in ranges that all of them are in.
                sport: ported.then_some(50_000),
                dport: ported.then_some(self.port),
                input: device(!leaves),
                output: device(leaves),
                state: Some(state),
                icmp_type,
                tcp_flags: (protocol == 6).then_some(flags),
                mark: (!marked).then_some(0),
            };
            let answer = rules.trace(&packet).unwrap();
            if answer.verdict != Verdict::Accept {
                return answer.verdict;
            }
            let marks = |raw: &str| raw.contains("-j MARK") || raw.contains("meta mark set");
            marked |= answer.trace.iter().any(|tried| tried.matched && marks(&tried.rule.raw));
        }
        Verdict::Accept
    }
}

fn estate() -> Fabric {
    let mut estate = fabric();
    estate.machines = MACHINES.map(|(name, last)| machine(name, last)).to_vec();
    for machine in &mut estate.machines {
        machine.nics[0].rules = gates(None, None);
    }
    estate
}

fn stage() -> Stage {
    let mut services = Vec::new();
    for (name, _) in MACHINES {
        for (port, protocol) in
            PORTS.into_iter().flat_map(|port| [(port, Protocol::Tcp), (port, Protocol::Udp)])
        {
            let (machine, program) = (name.to_owned(), "listener".to_owned());
            services.push(Service {
                machine,
                protocol,
                port,
                program,
                behavior: Behavior::Answers,
                address: None,
                pages: BTreeMap::new(),
            });
        }
    }
    Stage { services, ..Stage::default() }
}

fn word(dialed: ConnectOutcome) -> &'static str {
    match dialed {
        ConnectOutcome::Open(_) => "open",
        ConnectOutcome::Refused => "refused",
        ConnectOutcome::Silent => "silent",
    }
}

/// What became of each packet, all of them sent at once.
async fn on_the_kernel(host: &Netns, probes: &[Probe]) -> Vec<&'static str> {
    let dials = probes.iter().map(|probe| host.dial(probe.from.0, probe.to, probe.protocol, probe.port));
    futures_util::future::join_all(dials).await.into_iter().map(|dialed| word(dialed.unwrap())).collect()
}

async fn on_the_model(host: &Simulated, probes: &[Probe]) -> Vec<&'static str> {
    let mut reported = Vec::new();
    for probe in probes {
        reported.push(word(host.dial(probe.from.0, probe.to, probe.protocol, probe.port).await.unwrap()));
    }
    reported
}

/// What `iptables-save` says, without the moment and the numbers of packets; newer releases over nft tell all ports but the first or the
/// last ones as the others.
fn plain(text: &str) -> Vec<String> {
    let ports = |line: String| {
        let Some((before, behind)) = line.split_once("! --dport ") else { return line };
        let (range, rest) = behind.split_once(' ').unwrap_or((behind, ""));
        let others = match range.split_once(':') {
            Some(("0", last)) => format!("{}:65535", last.parse::<u32>().unwrap() + 1),
            Some((first, "65535")) => format!("0:{}", first.parse::<u32>().unwrap() - 1),
            Some(_) | None => return line,
        };
        format!("{before}--dport {others} {rest}").trim_end().to_owned()
    };
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| match line.split_once(" [") {
        Some((chain, _)) if line.starts_with(':') => chain.to_owned(),
        _ => line.to_owned(),
    });
    lines.map(ports).collect()
}

/// Tells what this kernel cannot do, so that nobody takes what was left out for what was compared.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
async fn lacks(place: &Place, keeper: Keeper) -> bool {
    let look = match keeper {
        Keeper::Iptables => "iptables -S",
        Keeper::Legacy => "iptables-legacy -S",
        Keeper::Nft => "nft list ruleset",
    };
    let ran = place.run(DEST, look).await;
    if ran.code != 0 {
        println!("skipped: {look}: this kernel or this machine has it not: {}", ran.err.trim());
    }
    ran.code != 0
}

#[tokio::test]
async fn the_model_of_a_machine_does_what_the_kernel_does() {
    if skipped() {
        return;
    }
    let mut random = Random::new(seed("the_model_of_a_machine_does_what_the_kernel_does"));
    let place = Place::new(estate()).await;
    let model = Simulated::new(estate(), 1, LabClock::new(Arc::new(SystemClock)));
    let (mut judged, mut shut, mut refused, mut rulesets) = (0, 0, 0, 0);
    let mut found: Vec<String> = Vec::new();
    for number in 0..if is_long() { 30 } else { 6 } {
        let keeper = Keeper::ALL[number % Keeper::ALL.len()];
        place.host.restore().await.unwrap();
        model.restore().await.unwrap();
        if lacks(&place, keeper).await {
            continue;
        }
        place.host.stage(stage()).await.unwrap();
        model.stage(stage()).await.unwrap();
        for (name, _) in MACHINES {
            place.outspoken(name).await;
        }
        let text = lines(&mut random, keeper);
        let probes = Probe::draw(&mut random);
        for (line, whole) in commands(&text) {
            let kernel = place.run(DEST, &whole).await;
            let modelled = model.run(DEST, &script(&whole, ScriptTransport::Ssh)).await.unwrap();
            assert_eq!((kernel.code, kernel.err.as_str()), (0, ""), "ruleset {number}: {line}\n{whole}");
            if (modelled.code, modelled.err.as_str()) != (0, "") {
                found.push(format!("ruleset {number}: {line}: the model refuses: {}\n{whole}", modelled.err));
            }
        }
        let reported = [
            place.ask(DEST, keeper.print()).await,
            model.run(DEST, &script(keeper.print(), ScriptTransport::Ssh)).await.unwrap().out,
        ];
        let rules = reported.each_ref().map(|out| {
            let ruleset = netfilter::read(out).unwrap();
            assert_eq!((ruleset.warnings.as_slice(), ruleset.opaque_rules), (&[][..], 0), "{out}");
            Compiled::owning(ruleset)
        });
        let [real, own] = reported.each_ref().map(|out| plain(out));
        if keeper != Keeper::Nft && real != own {
            let differ = real.iter().zip(&own).filter(|(real, own)| real != own);
            let differ: Vec<String> = differ.map(|(real, own)| format!("{real}\n  model: {own}")).collect();
            found.push(format!("ruleset {number}: printed otherwise: {}", differ.join("\n")));
        }
        let kernel = on_the_kernel(&place.host, &probes).await;
        let modelled = on_the_model(&model, &probes).await;
        for ((probe, kernel), modelled) in probes.iter().zip(kernel).zip(modelled) {
            let walked = rules.each_ref().map(|rules| probe.walked(rules));
            // What is let in may still not be answered; what is not let in never is.
            let fits = match walked[0] {
                Verdict::Drop => kernel == "silent",
                Verdict::Reject => kernel != "open",
                Verdict::Accept | Verdict::Indeterminate => true,
            };
            let late = (kernel, modelled) == ("refused", "open") && probe.is_refused_later(&rules[0]);
            if (modelled != kernel && !late) || walked[0] != walked[1] || !fits {
                found.push(format!(
                    "ruleset {number}: {probe:?}: kernel {kernel}, model {modelled}, walk {walked:?}\n{text}"
                ));
            }
            judged += 1;
            shut += usize::from(kernel != "open");
            refused += usize::from(kernel == "refused");
        }
        rulesets += 1;
    }
    println!("{rulesets} rulesets, {judged} packets, {shut} not answered, {refused} of them refused");
    place.host.close().await;
    assert!(found.is_empty(), "{} times:\n{}", found.len(), found.join("\n\n"));
    assert!(shut * 10 > judged && (judged - shut) * 10 > judged, "{shut} of {judged} did not pass");
}

/// The commands of a script, each for itself so that the one that fails is named; what a command reads belongs to it.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let mut whole = line.to_owned();
        if line.ends_with("<<'END'") {
            for more in rest.by_ref() {
                whole.push('\n');
                whole.push_str(more);
                if more == "END" {
                    break;
                }
            }
        }
        all.push((line.to_owned(), whole));
    }
    all
}
