//! How long a selection among many routes and a verdict among many rules take, beside looking at every one of them.
//!
//! Reading the JSON is measured apart from building the index, and both apart from asking.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use criterion::Criterion;
use ghost_inspect::nsg::{Access, Group, Packet, Protocols, Rule, Ruleset};
use ghost_inspect::route::{Route, Table};

/// So many routes are in the table.
const ROUTES: u32 = 100_000;

/// So many rules are at each gate.
const RULES: u32 = 5_000;

/// A sequence without pattern that is the same in every run.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap()
    }
}

/// A table as a gateway with a full BGP feed has it: the network, a default route, and prefixes of 16 to 28 bits.
fn table() -> String {
    let mut sequence = Sequence(7);
    let mut rows = vec![
        row("0.0.0.0/0", "Default", "Internet"),
        row("10.0.0.0/8", "Default", "VnetLocal"),
        row("10.0.0.0/9", "User", "VirtualAppliance"),
    ];
    while rows.len() < usize::try_from(ROUTES).unwrap() {
        let (length, source) = (16 + sequence.next() % 13, sequence.next() % 10);
        let prefix = format!("{}/{length}", Ipv4Addr::from_bits(sequence.next() << 1));
        rows.push(match source {
            0 => row(&prefix, "User", "VirtualAppliance"),
            1 => row(&prefix, "Default", "None"),
            _ => row(&prefix, "VirtualNetworkGateway", "VirtualNetworkGateway"),
        });
    }
    format!("{{\"value\":[{}]}}", rows.join(","))
}

fn row(prefix: &str, source: &str, hop: &str) -> String {
    let ip = if hop == "VirtualAppliance" { "\"10.0.9.4\"" } else { "" };
    format!(
        "{{\"addressPrefix\":[\"{prefix}\"],\"disableBgpRoutePropagation\":false,\"hasBgpOverride\":false,\"name\":null,\
         \"nextHopIpAddress\":[{ip}],\"nextHopType\":\"{hop}\",\"source\":\"{source}\",\"state\":\"Active\",\"tagMap\":{{}}}}"
    )
}

/// Both gates with rules of which only the last ones take what is asked about.
fn rules() -> String {
    let gate = |association: &str, seed: u64| {
        let mut sequence = Sequence(seed);
        let mut rules: Vec<String> = (0..RULES - 1)
            .map(|at| {
                let source =
                    format!("{}/{}", Ipv4Addr::from_bits(sequence.next() << 1), 8 + sequence.next() % 25);
                let first = 1_024 + sequence.next() % 60_000;
                let ports = format!("{first}-{}", first + sequence.next() % 2_000);
                rule(at, if at % 3 == 0 { "Deny" } else { "Allow" }, &source, "10.0.0.0/8", &ports)
            })
            .collect();
        rules.push(rule(RULES - 1, "Allow", "*", "*", "443"));
        format!(
            "{{\"association\":{{\"{association}\":{{\"id\":\"/x\"}}}},\"networkSecurityGroup\":{{\"id\":\"/{association}\"}},\
             \"effectiveSecurityRules\":[{}]}}",
            rules.join(",")
        )
    };
    format!("{{\"value\":[{},{}]}}", gate("subnet", 1), gate("networkInterface", 2))
}

fn rule(at: u32, access: &str, source: &str, destination: &str, ports: &str) -> String {
    format!(
        "{{\"name\":\"r{at}\",\"priority\":{},\"direction\":\"Inbound\",\"access\":\"{access}\",\"protocol\":\"Tcp\",\
         \"sourceAddressPrefix\":\"{source}\",\"destinationAddressPrefix\":\"{destination}\",\"sourcePortRange\":\"*\",\
         \"destinationPortRange\":\"{ports}\"}}",
        100 + at
    )
}

/// The naive scan: every route is looked at, the longest prefix of the best source wins.
fn scan_routes(routes: &[Route], to: IpAddr) -> Option<&Route> {
    let holds = |route: &&Route| route.is_active() && route.prefix.contains(&to);
    let preferred = routes.iter().filter(holds).any(Route::beats_bgp);
    let competes = |route: &&Route| holds(route) && !(preferred && route.row.source.rank() == 1);
    routes.iter().filter(competes).min_by_key(|route| (u8::MAX - route.prefix.prefix_len(), route.rank()))
}

/// The naive scan: every rule of every gate is compared field by field until one matches.
fn scan_rules(groups: &[Group], packet: &Packet) -> bool {
    let matches = |rule: &&Rule| {
        rule.direction == Some(packet.direction)
            && rule.protocols.is_some_and(|protocols| !protocols.and(Protocols::TCP).is_empty())
            && rule.source.known.contains(packet.source)
            && rule.destination.known.contains(packet.destination)
            && rule.destination_ports.known.contains(u128::from(packet.destination_port))
    };
    groups
        .iter()
        .all(|group| group.rules.iter().find(matches).is_some_and(|rule| rule.access == Some(Access::Allow)))
}

/// Measures one call: the median of some rounds.
fn time<T>(rounds: usize, calls: u32, mut call: impl FnMut(u32) -> T) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|at| drop(black_box(call(at))));
            start.elapsed() / calls
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

fn told(what: &str, ours: Duration, scan: Option<Duration>) {
    match scan {
        Some(scan) => println!(
            "{what:<58} {ours:>10.2?}   scan {scan:>10.2?}   ratio {:.0}",
            scan.as_secs_f64() / ours.as_secs_f64()
        ),
        None => println!("{what:<58} {ours:>10.2?}"),
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let text = table();
    let table = Table::parse(&text, None).unwrap();
    let mut sequence = Sequence(99);
    let targets: Vec<IpAddr> = (0..4_096).map(|_| Ipv4Addr::from_bits(sequence.next() << 1).into()).collect();
    let target = |at: u32| targets.get(usize::try_from(at).unwrap() % targets.len()).copied().unwrap();
    println!("{ROUTES} routes, {} kB of JSON, {} addresses in turn", text.len() / 1_000, targets.len());
    told("reading the JSON, index included", time(5, 1, |_| Table::parse(&text, None)), None);
    let build = time(9, 1, |_| Table::new(table.routes().to_vec()));
    told("building the index from rows, and a copy of the rows", build, None);
    let scan = time(5, 20, |at| scan_routes(table.routes(), target(at)).map(|route| route.prefix));
    let choose = time(9, 100_000, |at| table.choose(target(at)).best().next().map(|route| route.prefix));
    told("choosing: the routes that carry the packet", choose, Some(scan));
    let select = time(9, 100_000, |at| table.select(target(at)).shadowed.len());
    told("selecting: with all that was beaten, anomalies and trace", select, Some(scan));

    let text = rules();
    let rules = Ruleset::parse(&text, Default::default()).unwrap();
    let packet =
        |port| Packet::new("inbound", "tcp", target(5), Some(40_000), [10, 0, 0, 4].into(), port).unwrap();
    let (last, none) = (packet(443), packet(442));
    println!("{RULES} rules at each of two gates, {} kB of JSON", text.len() / 1_000);
    told("reading the JSON, compiled", time(5, 1, |_| Ruleset::parse(&text, Default::default())), None);
    for (what, packet) in [("the last rule decides", &last), ("no rule matches", &none)] {
        let scan = time(9, 200, |_| scan_rules(rules.groups(), packet));
        let verdict = time(9, 2_000, |_| rules.verdict(packet).verdict);
        told(&format!("verdict with its rules, {what}"), verdict, Some(scan));
        let whole = time(9, 50, |_| serde_json::to_string(&rules.verdict(packet)).unwrap().len());
        told(&format!("verdict with its whole trace as JSON, {what}"), whole, None);
    }

    let mut group = criterion.benchmark_group("inspect");
    let mut at = 0;
    let mut turn = || {
        at += 1;
        target(at)
    };
    group.bench_function("route/choose", |bench| bench.iter(|| black_box(table.choose(turn()).outcome())));
    group.bench_function("route/select", |bench| bench.iter(|| black_box(table.select(turn()).result)));
    group.bench_function("route/scan", |bench| {
        bench.iter(|| black_box(scan_routes(table.routes(), turn()).is_some()))
    });
    group.bench_function("nsg/verdict", |bench| bench.iter(|| black_box(rules.verdict(&last).verdict)));
    group.bench_function("nsg/scan", |bench| bench.iter(|| black_box(scan_rules(rules.groups(), &last))));
    group.finish();
    criterion.final_summary();
}
