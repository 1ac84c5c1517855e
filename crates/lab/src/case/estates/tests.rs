//! What is drawn, and what both judges say of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ghost_base::Timestamp;
use ghost_inspect::cluster;
use ghost_inspect::path::{self, Bundle, Cloud, Fate, Guest, Reading};
use serde_json::{Value, json};

use super::address::Prefix;
use super::cause;
use super::draw::{Profile, drawn};
use super::estate::{Estate, Hop, Place, Route};
use super::group;
use super::guest::{self, GuestStep, Hook, Packet, Rule, State, Target};
use super::herring::strew;
use super::hub::hub;
use super::tiers::{Drawn, deny, tiers};
use super::walk::{Flow, Truth, walk};
use super::write;
use crate::azure::{Cloud as Platform, Description};
use crate::case::plan::{View, plan};
use crate::case::random::Rng;
use crate::case::{CODES, Case, Outcome};
use crate::host::Protocol;
use crate::kubernetes::{self, kubectl};

const PROFILES: [Profile; 4] = [Profile::Hardened, Profile::Hub, Profile::Unnamed, Profile::Talk];

#[test]
fn every_drawn_case_is_one_fits_its_estate_and_comes_again() {
    for profile in PROFILES {
        for number in 0..40 {
            let own = drawn(profile, 5, number);
            assert_eq!(own, drawn(profile, 5, number));
            let case = Case::read(&own.text).unwrap_or_else(|problems| panic!("{}\n{problems}", own.text));
            let description = Description::parse(own.estate.to_string().as_bytes()).unwrap();
            let view = View::new(Platform::new(description).unwrap().documents());
            plan(&case, &view).unwrap_or_else(|problems| panic!("{}\n{problems}", own.text));
            let prompt = &case.phases[0].prompt;
            assert!(CODES.iter().all(|(code, _)| !prompt.contains(code)), "{prompt}");
            assert!(!prompt.contains(['{', '}']), "{prompt}");
        }
    }
}

#[test]
fn every_security_group_that_is_named_is_there() {
    for profile in PROFILES {
        for number in 0..60 {
            let own = drawn(profile, 7_003, number);
            let resources = own.estate["resources"].as_array().unwrap();
            let known: BTreeSet<&str> = resources.iter().filter_map(|one| one["id"].as_str()).collect();
            let subnets = resources.iter().flat_map(|one| one["properties"]["subnets"].as_array()).flatten();
            for holder in resources.iter().chain(subnets) {
                let group = &holder["properties"]["networkSecurityGroup"]["id"];
                assert!(group.as_str().is_none_or(|id| known.contains(id)), "{}: {group}", own.id);
            }
        }
    }
}

#[test]
fn a_third_is_healthy_and_what_can_be_wrong_comes_up() {
    let (mut healthy, mut codes, mut most) = (0, BTreeSet::new(), 0);
    let mut gaps = 0;
    for number in 0..400 {
        let case = Case::read(&drawn(Profile::Mixed, 3, number).text).unwrap();
        let phase = &case.phases[0];
        healthy += usize::from(phase.outcome.contains(&Outcome::NoFaultFound));
        gaps += usize::from(phase.outcome.contains(&Outcome::Inconclusive) && phase.expected.is_empty());
        most = most.max(phase.expected.len());
        codes.extend(phase.expected.iter().map(|pair| pair.fault.clone()));
    }
    assert!((80..200).contains(&healthy) && gaps > healthy && most > 2, "{healthy} {gaps} {most}");
    for code in [
        "nsg_deny",
        "nsg_exposure",
        "route_blackhole",
        "route_dead_nva",
        "route_detour",
        "guest_firewall_drop",
        "guest_firewall_reject",
        "guest_firewall_policy_drop",
        "fail2ban_ban",
        "netem_delay",
        "netem_loss",
        "rate_limit",
        "tcp_refused",
        "dns_failure",
        "storage_firewall_deny",
        "service_endpoint_missing",
        "no_drift",
        "peering_disconnected",
        "lb_probe_mismatch",
        "lb_backend_empty",
        "lb_rule_missing",
        "outbound_absent",
        "nat_unconfigured",
    ] {
        assert!(codes.contains(code), "{code} of {codes:?}");
    }
}

/// Of each place something is wrong in some cases, and in others all of it is in order.
#[test]
fn clusters_bastions_subscriptions_and_flow_logs_come_up_broken_and_healthy() {
    let mut seen: BTreeSet<(&str, bool)> = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for number in 0..600 {
        let own = drawn(Profile::Mixed, 3, number);
        let whole = format!("{}{}", own.text, own.estate);
        let healthy = !own.text.contains("[[expected]]");
        for mark in
            ["managedClusters/", "bastionHosts/", "/flowLogs/", "otherSubscriptions", "[[kubernetes]]"]
        {
            if whole.contains(mark) {
                seen.insert((mark, healthy));
            }
        }
        let case = Case::read(&own.text).unwrap();
        codes.extend(case.phases[0].expected.iter().map(|pair| pair.fault.clone()));
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
    let places = ["aks_stopped", "aks_api_restricted", "bastion_unconfigured"];
    let inside = ["k8s_policy_deny", "k8s_no_endpoints", "k8s_port_not_served", "k8s_service_port_missing"];
    for code in places.iter().chain(&inside) {
        assert!(codes.contains(*code), "{code} of {codes:?}");
    }
}

/// A draw of the inside of a cluster holds before long, whatever is wrong: by the lab's own truth, which the reader of cases asks.
#[test]
fn the_inside_of_a_cluster_is_broken_by_what_is_expected() {
    let mut refused = Vec::new();
    for number in 0..200 {
        let healthy = number % 3 == 0;
        let drawn = super::inside::inside("shop", healthy, &mut Rng::new(11, number));
        match drawn {
            Some((_, own)) => {
                assert_eq!(own.expected.is_empty(), healthy, "{}", own.text);
                assert!(!own.text.contains(['{', '}']), "{}", own.text);
            }
            None => refused.push(number),
        }
    }
    assert_eq!(refused, [] as [u64; 0]);
}

/// Two judges that share nothing, over what `kubectl` prints of the same cluster.
#[test]
fn no_certain_answer_of_the_cluster_judge_is_wrong() {
    let mut certain = 0;
    let mut all = 0;
    for number in 0..150 {
        let Some((text, own)) = super::inside::inside("shop", number % 3 == 0, &mut Rng::new(29, number))
        else {
            continue;
        };
        let case = Case::read(&super::inside::file(&text, &own)).unwrap();
        let written = &case.clusters[0];
        let there = written.cluster(&BTreeSet::new());
        let print = |kinds: &str| {
            let line = format!("get {kinds} -A -o json");
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            kubectl(std::slice::from_ref(&there), &words, Timestamp::from_millis(1_748_856_660_000)).out
        };
        let mut read = cluster::Cluster::default();
        read.add(&print("pods,services,endpointslices,namespaces")).unwrap();
        read.add_policies(&print("networkpolicies")).unwrap();
        for check in written.checks() {
            let (from, to) = check.ends();
            let is_udp = check.protocol() == "UDP";
            let protocol = if is_udp { cluster::Protocol::Udp } else { cluster::Protocol::Tcp };
            let report = read.judge(&cluster::Question::parse(&from, &to, protocol).unwrap()).unwrap();
            let truth = check.follow(&there).unwrap();
            all += 1;
            let fate = match report.verdict {
                cluster::Verdict::Passes => kubernetes::Fate::Passes,
                cluster::Verdict::Blocked => kubernetes::Fate::Fails,
                cluster::Verdict::Degraded => kubernetes::Fate::Partly,
                cluster::Verdict::Indeterminate => continue,
            };
            certain += 1;
            let found: BTreeSet<String> =
                report.causes.iter().map(|own| format!("{} {}", own.fault, own.object)).collect();
            let expected: BTreeSet<String> = truth
                .culprits
                .iter()
                .map(|own| format!("{} {}", own.code(), own.object("").replacen("//", "/", 1)))
                .collect();
            assert_eq!((fate, found), (truth.fate, expected), "{number}: {from} -> {to}\n{text}");
        }
    }
    assert!(certain * 10 > all * 8, "{certain} of {all}");
}

/// The network of the other subscription takes along what stands in it alone, and nothing names what is gone.
#[test]
fn a_network_that_is_moved_leaves_no_name_behind() {
    let own = (0..150).map(|number| drawn(Profile::Hub, 3, number));
    let moved: Vec<_> = own.filter(|own| own.estate.get("otherSubscriptions").is_some()).collect();
    assert!(moved.len() > 4, "{}", moved.len());
    for own in moved {
        let resources = own.estate["resources"].as_array().unwrap();
        let known: BTreeSet<&str> = resources.iter().filter_map(|one| one["id"].as_str()).collect();
        let other = known.iter().filter(|id| id.contains("/hub-rg/"));
        assert!(other.count() > 3, "{}", own.id);
        for peering in
            resources.iter().flat_map(|one| one["properties"]["virtualNetworkPeerings"].as_array()).flatten()
        {
            let remote = peering["properties"]["remoteVirtualNetwork"]["id"].as_str().unwrap();
            assert!(known.contains(remote), "{}: {remote}", own.id);
        }
    }
}

fn packet(state: State) -> Packet {
    Packet {
        source: Ipv4Addr::new(10, 0, 0, 4),
        destination: Ipv4Addr::new(10, 0, 1, 4),
        protocol: Protocol::Tcp,
        source_port: 40_000,
        destination_port: 5432,
        state,
    }
}

fn stops(steps: &[GuestStep], hook: Hook, state: State) -> Vec<String> {
    let found = guest::stops("vm", steps.iter(), hook, &packet(state));
    found
        .iter()
        .map(|stop| format!("{}{}", stop.pair, if stop.is_behind_catch_all { " behind" } else { "" }))
        .collect()
}

#[test]
fn a_guest_is_asked_again_behind_what_stops() {
    let rule = |rule| GuestStep::Rule { chain: "INPUT", first: false, rule };
    let steps = [
        GuestStep::Policy { chain: "INPUT" },
        rule(Rule { state: Some(State::Established), ..Rule::new(Target::Accept) }),
        rule(Rule::port(Protocol::Tcp, 5432, Target::Drop)),
        rule(Rule::new(Target::Reject)),
    ];
    assert_eq!(
        stops(&steps, Hook::Input, State::New),
        [
            "guest_firewall_drop netfilter/vm/filter/INPUT/tcp/5432",
            "guest_firewall_reject netfilter/vm/filter/INPUT/any/any",
            "guest_firewall_policy_drop netfilter/vm/filter/INPUT behind",
        ]
    );
    assert_eq!(stops(&steps, Hook::Input, State::Established), [""; 0]);
    assert_eq!(stops(&steps, Hook::Output, State::New), [""; 0]);
}

#[test]
fn a_jail_speaks_of_its_ports_alone_and_is_asked_first() {
    let ban = |ports: &[u16]| GuestStep::Ban {
        jail: "sshd",
        address: Ipv4Addr::new(10, 0, 0, 4),
        ports: ports.to_vec(),
        rejects: true,
    };
    assert_eq!(stops(&[ban(&[22])], Hook::Input, State::New), [""; 0]);
    assert_eq!(stops(&[ban(&[])], Hook::Input, State::New), ["fail2ban_ban netfilter/vm/f2b-sshd/10.0.0.4"]);
}

/// A network with a caller and a server, each in a subnet of its own.
fn small() -> Estate {
    let mut rng = Rng::new(1, 1);
    let mut estate = tiers(&mut rng, Profile::Talk).estate;
    estate.machines.truncate(0);
    estate.groups.clear();
    estate.steps.clear();
    for subnet in &mut estate.subnets {
        subnet.group = None;
    }
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        let subnet = estate.subnets[at].clone();
        estate.machines.push(super::tiers::machine(
            name.to_owned(),
            super::estate::Role::App,
            subnet.prefix.at(4),
            &subnet.name,
        ));
    }
    estate.services = vec![super::estate::Service::new("b".to_owned(), 5432, "postgres")];
    estate
}

fn judged(estate: &Estate) -> Truth {
    walk(estate, &flow(estate))
}

fn flow(estate: &Estate) -> Flow {
    let end = |name: &str| estate.machine(name).unwrap().address;
    Flow { source: end("a"), destination: end("b"), protocol: Protocol::Tcp, port: 5432 }
}

fn described(truth: &Truth) -> Vec<String> {
    truth.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn the_walk_finds_what_stands_in_series_and_asks_routes_again() {
    let mut estate = small();
    assert!(judged(&estate).is_fine());
    let subnet = estate.machine("a").unwrap().subnet.clone();
    let to = flow(&estate).destination;
    let route = |name: &str, prefix, hop| Route { name: name.to_owned(), prefix, hop };
    estate.add_route(&subnet, "rt", route("none", Prefix::host(to), Hop::None));
    let dead = Hop::Appliance(Ipv4Addr::new(10, 255, 0, 1));
    estate.add_route(&subnet, "rt", route("dead", Prefix::new(to, 24), dead));
    estate.add_route(&subnet, "rt", route("other", Prefix::of("172.20.0.0/16"), Hop::None));
    estate.groups.entry("g".to_owned()).or_default();
    estate.machines[1].group = Some("g".to_owned());
    estate.add_rule("g", deny("all", 4000, true));
    assert_eq!(
        described(&judged(&estate)),
        ["nsg_deny nsg/g/all", "route_blackhole route/rt/none", "route_dead_nva route/rt/dead"]
    );
    estate.services.clear();
    assert!(judged(&estate).may.iter().any(|pair| pair.fault == "tcp_refused"));
}

#[test]
fn a_group_knows_the_network_by_peers_and_by_what_its_table_sends_away() {
    let mut estate = small();
    estate.groups.entry("g".to_owned()).or_default();
    estate.machines[1].group = Some("g".to_owned());
    let machine = estate.machines[1].clone();
    let outside = Packet { source: Ipv4Addr::new(203, 0, 113, 9), ..packet(State::New) };
    let found = |estate: &Estate| -> Vec<String> {
        let found = group::stops(estate, &machine, true, &outside);
        found.iter().map(|stop| stop.pair.to_string()).collect()
    };
    assert_eq!(found(&estate), ["nsg_deny nsg/g/DenyAllInBound"]);
    let route = Route { name: "all".to_owned(), prefix: Prefix::ALL, hop: Hop::Appliance(machine.address) };
    estate.add_route(&machine.subnet, "rt", route);
    assert_eq!(found(&estate), [""; 0]);
    let mut closed = deny("closed", 200, true);
    closed.source = Place::Internet;
    estate.add_rule("g", closed);
    assert_eq!(found(&estate), ["nsg_deny nsg/g/closed"]);
}

/// The documents of an estate, as they would be read.
fn bundle(estate: &Estate) -> Bundle {
    let whole = write::estate(estate, &json!({"resources": []}));
    let named = |kind: &str| -> Option<Reading> {
        let of_kind = |document: &&Value| {
            let id = document["id"].as_str().unwrap();
            id.rsplit('/').nth(1) == Some(kind)
        };
        let rows = whole["resources"].as_array().unwrap().iter().filter(of_kind).map(|document| {
            let mut document = document.clone();
            let name = document["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            document["name"] = json!(name);
            document
        });
        Some(Reading::Text(Value::Array(rows.collect()).to_string()))
    };
    let running: Vec<Value> = estate
        .machines
        .iter()
        .map(|machine| json!({"name": machine.name, "powerState": "VM running", "vmId": "x"}))
        .collect();
    Bundle {
        format: 1,
        cloud: Cloud {
            interfaces: named("networkInterfaces"),
            networks: named("virtualNetworks"),
            route_tables: named("routeTables"),
            groups: named("networkSecurityGroups"),
            machines: Some(Reading::Text(Value::Array(running).to_string())),
            ..Cloud::default()
        },
        nics: BTreeMap::new(),
        guests: estate
            .machines
            .iter()
            .map(|machine| (machine.name.clone(), guest(estate, &machine.name)))
            .collect(),
    }
}

fn guest(estate: &Estate, name: &str) -> Guest {
    let own = estate.machine(name).unwrap();
    let steps = estate.steps.iter().filter(|(machine, _)| machine == name).map(|(_, step)| step);
    let printed = guest::print(steps);
    let head = "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n";
    let mut sockets = format!("{head}LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n");
    for service in estate.services.iter().filter(|service| service.machine == name) {
        let address = if service.is_local { "127.0.0.1" } else { "0.0.0.0" };
        sockets.push_str(&format!("LISTEN 0 128 {address}:{} 0.0.0.0:*\n", service.port));
    }
    let text = |text: String| Some(Reading::Text(text));
    let six = "# Generated by ip6tables-save v1.8.9 (nf_tables)\n*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n";
    Guest {
        filters: BTreeMap::from([
            ("iptables-save".to_owned(), Reading::Text(printed.save)),
            ("ip6tables-save".to_owned(), Reading::Text(six.to_owned())),
            ("nft".to_owned(), Reading::Text(printed.native.to_string())),
        ]),
        shaping: text(printed.shaping),
        routes: text("default via 10.0.0.1 dev eth0 proto dhcp metric 100\n".to_owned()),
        routes6: None,
        rules: None,
        addresses: text(format!("lo UNKNOWN 127.0.0.1/8\neth0 UP {}/24\n", own.address)),
        settings: text(format!("net.ipv4.ip_forward = {}\n", u8::from(own.forwards))),
        tcp: text(sockets),
        udp: text(head.to_owned()),
        connections: None,
        answers: None,
        pages: None,
        probes: None,
    }
}

/// An estate in which much is wrong, and a flow of it.
fn troubled(number: u64) -> (Drawn, Flow) {
    let rng = &mut Rng::new(0x0e57_a7e5, number);
    let mut drawn = if rng.percent(50) { hub(rng) } else { tiers(rng, Profile::Talk) };
    strew(&mut drawn.estate, rng);
    let mut flow = drawn.flows[rng.below(drawn.flows.len())].clone();
    if rng.percent(10) {
        flow.protocol = Protocol::Icmp;
        flow.port = 0;
    } else if rng.percent(10) {
        flow.port = 4444;
    }
    for _ in 0..rng.below(4) {
        cause::put(&mut drawn.estate, &flow, rng);
    }
    if rng.percent(8)
        && let Some(network) = drawn.estate.networks.first_mut()
        && let Some((_, state)) = network.peerings.first_mut()
    {
        *state = "Disconnected";
    }
    if rng.percent(6) {
        let pairs = drawn.estate.networks.iter().flat_map(|network| {
            network.peerings.iter().map(|(remote, _)| (network.name.clone(), remote.clone()))
        });
        let pairs: Vec<(String, String)> = pairs.collect();
        if let Some(pair) = pairs.get(rng.below(pairs.len())) {
            let estate = &mut drawn.estate;
            if rng.percent(50) { &mut estate.kept_out } else { &mut estate.unforwarded }.push(pair.clone());
        }
    }
    (drawn, flow)
}

/// Says where the two judges differ over an estate; nothing where they do not, or where one of them is not certain.
fn difference(number: u64) -> (bool, Option<String>) {
    let (drawn, flow) = troubled(number);
    let truth = walk(&drawn.estate, &flow);
    let protocol = match flow.protocol {
        Protocol::Tcp => path::Protocol::Tcp,
        Protocol::Udp => path::Protocol::Udp,
        Protocol::Icmp => path::Protocol::Icmp,
    };
    let port = (flow.protocol != Protocol::Icmp).then_some(flow.port);
    let asked = path::Flow::new(flow.source.into(), flow.destination.into(), protocol, port).unwrap();
    let judgement = path::Estate::of(&bundle(&drawn.estate)).judge(&asked);
    let found: BTreeSet<String> =
        judgement.findings().iter().filter(|cause| !cause.fault.is_gap()).map(ToString::to_string).collect();
    let expected: BTreeSet<String> = truth.findings().iter().map(ToString::to_string).collect();
    let neutral: BTreeSet<String> = truth.neutral().iter().map(ToString::to_string).collect();
    let is_same = match &judgement.fate {
        Fate::Unknown => return (false, None),
        Fate::Passes => truth.is_fine(),
        Fate::NoPath(_) => truth.gap.is_some(),
        // What stops it before it comes to where no path leads is listed beside that.
        Fate::Stopped => {
            let tells_gap = judgement.findings().iter().any(|cause| cause.fault.is_gap());
            tells_gap == truth.gap.is_some() && !truth.stops.is_empty()
        }
        Fate::Degraded | Fate::Partly => {
            truth.gap.is_none() && truth.stops.is_empty() && !truth.hurts.is_empty()
        }
    };
    let wrong: Vec<&String> = found.difference(&expected).filter(|pair| !neutral.contains(*pair)).collect();
    let missed: Vec<&String> = expected.difference(&found).collect();
    let is_right = is_same && wrong.is_empty() && missed.is_empty();
    let difference = || {
        let ends = format!("{} -> {} {:?} {}", flow.source, flow.destination, flow.protocol, flow.port);
        format!(
            "estate {number}: {ends}\n  walk: {:?} {expected:?} may {neutral:?}\n  path: {} {found:?}\n  missed {missed:?}, wrong {wrong:?}",
            truth.gap, judgement.fate
        )
    };
    (true, (!is_right).then(difference))
}

#[test]
fn no_certain_answer_of_the_path_judge_is_wrong() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a long run is asked for by the environment, as in the integration tests"
    )]
    let is_long = std::env::var("GHOST_LONG").is_ok_and(|value| value == "1");
    let count = if is_long { 10_000 } else { 300 };
    let all: Vec<(bool, Option<String>)> = (0..count).map(difference).collect();
    let certain = all.iter().filter(|(certain, _)| *certain).count();
    let wrong: Vec<&String> = all.iter().filter_map(|(_, wrong)| wrong.as_ref()).collect();
    let first: Vec<&str> = wrong.iter().take(12).map(|text| text.as_str()).collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), first.join("\n"));
    assert!(certain * 10 > all.len() * 9, "{certain} of {count} are certain");
}

/// A route of the hub leads to an appliance that nobody is, in the caller's network, and the hub's side of the peering is down.
#[test]
fn an_appliance_to_which_no_path_leads_is_none() {
    let (is_certain, wrong) = difference(4521);
    assert!(is_certain && wrong.is_none(), "{wrong:?}");
}
