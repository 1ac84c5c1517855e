//! The kernel and the models judge the same packets: random rules of a machine against `netfilter::walk`, random rules of security
//! groups against `nsg`, as many packets for each as there are kinds of sender.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ghost_inspect::netfilter::{self, Compiled, Hook, State};
use ghost_inspect::nsg;
use ghost_lab::host::{Behavior, ConnectOutcome, Fabric, Host as _, Protocol, Service, Stage};

use super::place::{DEST, DEST_ADDRESS, Place, SOURCE, fabric, gates, machine, rule, skipped};
use crate::random::{Random, is_long, seed};

/// The ports on which somebody listens, in both protocols.
const PORTS: [u16; 8] = [22, 53, 80, 443, 3306, 5001, 8080, 33_000];
/// Who sends.
const SENDERS: [(&str, [u8; 4]); 3] =
    [(SOURCE, [10, 0, 1, 4]), ("third", [10, 0, 1, 6]), ("fourth", [10, 0, 1, 77])];

/// A packet, and how it is called.
#[derive(Debug, Clone, Copy)]
struct Probe {
    from: (&'static str, IpAddr),
    protocol: Protocol,
    port: u16,
}

/// All packets: 51.
fn probes() -> Vec<Probe> {
    let mut all = Vec::new();
    for (name, address) in SENDERS {
        let from = (name, IpAddr::from(address));
        all.push(Probe { from, protocol: Protocol::Icmp, port: 0 });
        for port in PORTS {
            all.extend([Protocol::Tcp, Protocol::Udp].map(|protocol| Probe { from, protocol, port }));
        }
    }
    all
}

fn estate() -> Fabric {
    let mut estate = fabric();
    estate.machines.extend([machine("third", 6), machine("fourth", 77)]);
    for machine in &mut estate.machines {
        machine.nics[0].rules = gates(None, None);
    }
    estate
}

fn stage() -> Stage {
    let service = |protocol, port| Service {
        machine: DEST.to_owned(),
        protocol,
        port,
        program: "listener".to_owned(),
        behavior: Behavior::Answers,
        address: None,
        pages: BTreeMap::new(),
    };
    let both = |port: &u16| [Protocol::Tcp, Protocol::Udp].map(|protocol| service(protocol, *port));
    Stage { services: PORTS.iter().flat_map(both).collect(), ..Stage::default() }
}

/// What became of each packet, all of them sent at once.
async fn kernel(place: &Place, probes: &[Probe]) -> Vec<&'static str> {
    let to: IpAddr = DEST_ADDRESS.parse().unwrap();
    let dials = probes.iter().map(|probe| place.host.dial(probe.from.0, to, probe.protocol, probe.port));
    let dialed = futures_util::future::join_all(dials).await;
    let word = |dialed: ConnectOutcome| match dialed {
        ConnectOutcome::Open(_) => "open",
        ConnectOutcome::Refused => "refused",
        ConnectOutcome::Silent => "silent",
    };
    dialed.into_iter().map(|dialed| word(dialed.unwrap())).collect()
}

/// Draws rules for a machine's own filter.
fn filter(random: &mut Random) -> String {
    let mut lines = vec!["iptables -F".to_owned(), "iptables -N U".to_owned()];
    for _ in 0..3 + random.below(8) {
        let chain = random.pick(&["INPUT", "INPUT", "INPUT", "U"]);
        let mut words = format!("iptables -A {chain}");
        let protocol = *random.pick(&["tcp", "udp", "icmp", "tcp", "udp", ""]);
        let no = |random: &mut Random| if random.below(5) == 0 { "! " } else { "" };
        if !protocol.is_empty() {
            words.push_str(&format!(" -p {protocol}"));
        }
        if random.below(2) == 0 {
            let sender =
                random.pick(&["10.0.1.4", "10.0.1.0/26", "10.0.1.64/26", "10.0.1.6/31", "172.16.0.0/12"]);
            words.push_str(&format!(" {}-s {sender}", no(random)));
        }
        if matches!(protocol, "tcp" | "udp") && random.below(4) > 0 {
            let ports = random.pick(&["22", "0:1023", "1024:65535", "5001", "443:8080", "53:80"]);
            words.push_str(&format!(" {}--dport {ports}", no(random)));
        }
        if random.below(4) == 0 {
            words.push_str(&format!(
                " -m conntrack {}--ctstate {}",
                no(random),
                random.pick(&["NEW", "ESTABLISHED,RELATED"])
            ));
        }
        let mut ends =
            vec!["-j ACCEPT", "-j DROP", "-j DROP", "-j REJECT --reject-with icmp-admin-prohibited", ""];
        if *chain != "U" {
            ends.extend(["-j U", "-g U"]);
        }
        words.push_str(&format!(" {}", random.pick(&ends)));
        lines.push(words.trim_end().to_owned());
    }
    lines.push(format!("iptables -P INPUT {}", random.pick(&["ACCEPT", "ACCEPT", "DROP"])));
    lines.join("\n")
}

#[tokio::test]
async fn a_machines_own_filter_does_what_walk_says() {
    if skipped() {
        return;
    }
    let mut random = Random::new(seed("netns filter"));
    let place = Place::new(estate()).await;
    place.host.stage(stage()).await.unwrap();
    let probes = probes();
    assert!(kernel(&place, &probes).await.iter().all(|word| *word == "open"));
    let (mut judged, mut shut) = (0, 0);
    for number in 0..if is_long() { 30 } else { 3 } {
        place.host.restore().await.unwrap();
        place.host.stage(stage()).await.unwrap();
        place.outspoken(DEST).await;
        let text = filter(&mut random);
        place.ask(DEST, &text).await;
        let ruleset = netfilter::read(&place.ask(DEST, "iptables-save").await).unwrap();
        assert_eq!(ruleset.warnings, []);
        let compiled = Compiled::owning(ruleset);
        for (probe, reported) in probes.iter().zip(kernel(&place, &probes).await) {
            let (protocol, icmp_type) = match probe.protocol {
                Protocol::Tcp => (6, None),
                Protocol::Udp => (17, None),
                Protocol::Icmp => (1, Some(8)),
            };
            let ported = protocol != 1;
            let packet = netfilter::Packet {
                hook: Hook::Input,
                protocol,
                src: probe.from.1,
                dst: DEST_ADDRESS.parse().unwrap(),
                sport: ported.then_some(50_000),
                dport: ported.then_some(probe.port),
                input: Some("eth0".to_owned()),
                output: None,
                state: Some(State::New),
                icmp_type,
                tcp_flags: (protocol == 6).then_some(2),
                mark: Some(0),
            };
            let said = compiled.walk(&packet).unwrap().verdict;
            let expected = match said {
                netfilter::Verdict::Accept => "open",
                netfilter::Verdict::Drop => "silent",
                netfilter::Verdict::Reject => "refused",
                netfilter::Verdict::Indeterminate => panic!("{packet:?}\n{text}"),
            };
            // Whoever is refused behind the handshake may learn of that before it checks whether the connection is up.
            let (state, tcp_flags) = (Some(State::Established), (protocol == 6).then_some(16));
            let behind = compiled.walk(&netfilter::Packet { state, tcp_flags, ..packet }).unwrap().verdict;
            let late = protocol == 6 && behind == netfilter::Verdict::Reject;
            let fits = reported == expected || (late && (reported, expected) == ("refused", "open"));
            assert!(fits, "ruleset {number}: {probe:?}: {reported} and not {expected}\n{text}");
            judged += 1;
            shut += usize::from(reported != "open");
        }
    }
    place.host.close().await;
    assert!(judged >= 150 && shut * 10 > judged, "{shut} of {judged} did not pass");
}

#[tokio::test]
async fn gates_of_the_fabric_do_what_nsg_says() {
    if skipped() {
        return;
    }
    let mut random = Random::new(seed("netns gates"));
    let place = Place::new(estate()).await;
    place.host.stage(stage()).await.unwrap();
    let probes = probes();
    let (mut judged, mut shut) = (0, 0);
    for number in 0..if is_long() { 30 } else { 3 } {
        let mut draw = || {
            let rules = (0..1 + random.below(6)).map(|at| {
                let priority = 100 + 10 * u32::try_from(at).unwrap();
                let access = random.pick(&["Allow", "Deny", "Deny"]);
                let protocol = random.pick(&["Tcp", "Udp", "Icmp", "All"]);
                let from = random.pick(&[
                    "0.0.0.0/0",
                    "10.0.1.4/32",
                    "10.0.1.0/26",
                    "10.0.1.64/26",
                    "192.168.0.0/16",
                ]);
                let to = random.pick(&["0.0.0.0/0", "10.0.1.5/32", "10.0.1.0/24", "10.0.2.0/24"]);
                let port = random.pick(&["0-65535", "22-22", "0-1023", "5001-5001", "443-8080"]);
                rule(&format!("securityRules/r{at}"), priority, "Inbound", access, protocol, from, to, port)
            });
            rules.collect::<Vec<_>>()
        };
        let (subnet, nic) = (draw(), draw());
        let rules = gates((number % 3 != 1).then_some(subnet), (number % 3 != 2).then_some(nic));
        let mut estate = estate();
        estate.machines[1].nics[0].rules = rules.clone();
        place.host.fabric(estate).await.unwrap();
        let ruleset = nsg::Ruleset::parse(&rules.to_string(), nsg::Knowledge::default()).unwrap();
        for (probe, reported) in probes.iter().zip(kernel(&place, &probes).await) {
            let name = match probe.protocol {
                Protocol::Tcp => "tcp",
                Protocol::Udp => "udp",
                Protocol::Icmp => "icmp",
            };
            let to = DEST_ADDRESS.parse().unwrap();
            let packet =
                nsg::Packet::new("inbound", name, probe.from.1, Some(50_000), to, probe.port).unwrap();
            let expected = match ruleset.judge(&packet) {
                nsg::Verdict::Allow => "open",
                nsg::Verdict::Deny => "silent",
                other @ (nsg::Verdict::Indeterminate | nsg::Verdict::Skipped | nsg::Verdict::Absent) => {
                    panic!("{other:?}: {packet:?}")
                }
            };
            assert_eq!(reported, expected, "ruleset {number}: {probe:?}\n{rules:#}");
            judged += 1;
            shut += usize::from(reported != "open");
        }
    }
    place.host.close().await;
    assert!(judged >= 150 && shut * 10 > judged, "{shut} of {judged} did not pass");
}
