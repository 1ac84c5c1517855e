//! Asks everybody the same, and compares.

use std::net::Ipv4Addr;

use ghost_inspect::nsg::{Knowledge, Packet as Asked, Ruleset, Verdict};
use ghost_inspect::route::{Outcome, Table};
use ghost_lab::azure::{Cloud, Verb};
use serde_json::{Value, json};

use super::draw::{draw, id};
use super::oracle::{Oracle, Packet};
use crate::azure::blobs::ask;
use crate::azure::recorded::{body, now};
use crate::random::{Random, is_long, seed};

/// Asks by POST, and fetches what comes of it.
pub(crate) fn post(cloud: &mut Cloud, path: &str, document: &Value) -> Result<Value, (u16, Value)> {
    let (answer, _) = cloud.answer(&ask(Verb::Post, path, &[], &[], document.to_string().as_bytes()), now());
    let place = answer.headers.iter().find(|(name, _)| name == "Location").map(|(_, place)| place.clone());
    let Some(place) = place else { return Err((answer.status, body(&answer))) };
    let path = place.trim_start_matches("https://localhost:1").split('?').next().unwrap().to_owned();
    let (answer, _) = cloud.answer(&ask(Verb::Get, &path, &[], &[], b""), now());
    assert_eq!(answer.status, 200, "{answer:?}");
    Ok(body(&answer))
}

fn watcher(action: &str) -> String {
    id("Microsoft.Network/networkWatchers", &format!("w/{action}"))
}

#[derive(Debug)]
struct Counts {
    hops: usize,
    flows: usize,
    off: usize,
    /// Flows to the platform's own addresses, and those of them that a rule decides.
    own: usize,
    named: usize,
}

const PLATFORM: [Ipv4Addr; 2] = [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(169, 254, 169, 254)];

fn agree(number: u64, counts: &mut Counts) {
    let mut random = Random::new(number);
    let mut drawn = draw(&mut random);
    let watcher_id = id("Microsoft.Network/networkWatchers", "w");
    drawn.description["resources"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": watcher_id, "location": "eastus"}));
    let about = serde_json::from_value(drawn.description.clone()).unwrap();
    let mut cloud = Cloud::new(about).unwrap();
    let oracle = Oracle(&drawn.description);
    let addresses: Vec<Ipv4Addr> = drawn.addresses.iter().map(|text| text.parse().unwrap()).collect();
    for at in 0.. {
        let (nic, machine) = (format!("c{at}"), id("Microsoft.Compute/virtualMachines", &format!("m{at}")));
        let Some(own) =
            drawn.addresses.get(at).filter(|_| cloud.documents().iter().any(|one| one["id"] == machine))
        else {
            break;
        };
        let place = id("Microsoft.Network/networkInterfaces", &nic);
        let off = drawn.description["instanceViews"][format!("m{at}")].is_object();
        let routes = post(&mut cloud, &format!("{place}/effectiveRouteTable"), &json!({}));
        let rules = post(&mut cloud, &format!("{place}/effectiveNetworkSecurityGroups"), &json!({}));
        if off {
            counts.off += 1;
            assert!(
                routes.is_err_and(|(status, _)| status == 400)
                    && rules.is_err_and(|(status, _)| status == 400)
            );
            continue;
        }
        let (routes, rules) = (routes.unwrap(), rules.unwrap());
        let table = Table::parse(&routes.to_string(), None).unwrap();
        assert_eq!(table.warnings(), []);
        let about = |what: &str| format!("seed {number}, {nic}, {what}");
        for to in &addresses {
            counts.hops += 1;
            let asked = json!({"targetResourceId": machine, "sourceIPAddress": own, "destinationIPAddress": to.to_string()});
            let reported = post(&mut cloud, &watcher("nextHop"), &asked).unwrap();
            let platform = (
                reported["nextHopType"].as_str().unwrap().to_owned(),
                reported["nextHopIpAddress"].as_str().map(str::to_owned),
            );
            let selected = table.select((*to).into());
            let inspected = match (&selected.result, &selected.winner) {
                (Outcome::Winner, Some(winner)) => {
                    (winner.next_hop_type.to_owned(), winner.next_hop_ip.map(str::to_owned))
                }
                (Outcome::NoRoute, None) => ("None".to_owned(), None),
                other => panic!("{}: {other:?}\n{routes:#}", about(&to.to_string())),
            };
            let config = oracle.hop(&nic, *to);
            assert_eq!(
                platform,
                config,
                "{}: the platform and the configuration\n{routes:#}",
                about(&to.to_string())
            );
            assert_eq!(
                inspected,
                config,
                "{}: the inspector and the configuration\n{routes:#}",
                about(&to.to_string())
            );
        }
        let ruleset = Ruleset::parse(&rules.to_string(), Knowledge::default()).unwrap();
        for _ in 0..60 {
            counts.flows += 1;
            let places = if random.below(4) == 0 { &PLATFORM[..] } else { &addresses[..] };
            let (own, far) = (own.parse().unwrap(), *random.pick(places));
            let port =
                |random: &mut Random| *random.pick(&[22, 80, 443, 999, 1000, 1500, 2000, 2001, 5001, 40_000]);
            let (near, there) = ((own, port(&mut random)), (far, port(&mut random)));
            let direction = *random.pick(&["Inbound", "Outbound"]);
            let protocol = *random.pick(&["Tcp", "Udp"]);
            let (from, to) = if direction == "Inbound" { (there, near) } else { (near, there) };
            let packet = Packet { direction, protocol, from, to };
            let asked = json!({"targetResourceId": machine, "direction": direction, "protocol": protocol,
                "localIPAddress": own.to_string(), "localPort": near.1.to_string(),
                "remoteIPAddress": far.to_string(), "remotePort": there.1.to_string()});
            let reported = post(&mut cloud, &watcher("ipFlowVerify"), &asked).unwrap();
            let name = reported["ruleName"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            let platform = (reported["access"] == "Allow", Some(name).filter(|name| !name.is_empty()));
            let asked =
                Asked::new(direction, protocol, from.0.into(), Some(from.1), to.0.into(), to.1).unwrap();
            if direction == "Outbound" && PLATFORM.contains(&far) {
                counts.own += 1;
                counts.named += usize::from(platform.1.is_some());
            }
            let ruling = ruleset.verdict(&asked);
            let rule = match ruling.verdict {
                Verdict::Deny => ruling.decisive.as_ref().and_then(|decisive| decisive.rule),
                Verdict::Allow | Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => {
                    ruling.gates.iter().filter_map(|gate| gate.rule).next_back()
                }
            };
            let inspected = (ruling.verdict.as_str(), rule.map(str::to_owned));
            let config = oracle.flow(&nic, &packet);
            assert_eq!(
                platform,
                config,
                "{}: the platform and the configuration\n{rules:#}",
                about(&format!("{packet:?}"))
            );
            let config = (if config.0 { "ALLOW" } else { "DENY" }, config.1);
            assert_eq!(
                inspected,
                config,
                "{}: the inspector and the configuration\n{rules:#}",
                about(&format!("{packet:?}"))
            );
        }
    }
}

#[test]
fn everybody_says_the_same_of_an_estate_drawn_by_chance() {
    let begin = seed("everybody_says_the_same_of_an_estate_drawn_by_chance");
    let many = if is_long() { 1_000 } else { 8 };
    let mut counts = Counts { hops: 0, flows: 0, off: 0, own: 0, named: 0 };
    (0..many).for_each(|at| agree(begin + at, &mut counts));
    assert!(counts.hops > 300 && counts.flows > 500 && counts.off > 0);
    assert!(counts.own > 50 && counts.named > 0 && counts.named < counts.own, "{counts:?}");
}
