//! Facts about machines that were written down by hand; the lab has those that are injected.

use super::asked::{Asked, Attempt};
use super::judge::{Read, document};
use crate::judged::JudgedFlows;
use crate::suspect::Layer;
use crate::tool::inspect::inspector::Inspection;
use ghost_base::Limit;
use ghost_inspect::host::{Gathered, Host, Part};

const LINKS: &str = r#"[{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"operstate":"UP","link_type":"ether","address":"02:00:00:00:00:0a"}]"#;

fn gathered(ip: &str) -> Gathered {
    let routes = format!(
        r#"[{{"dst":"10.0.0.0/24","dev":"eth0","protocol":"kernel"}},{{"type":"local","dst":"{ip}","dev":"eth0","table":"local"}},{{"dst":"default","gateway":"10.0.0.1","dev":"eth0"}}]"#
    );
    let empty = [
        Part::Rules,
        Part::Rules6,
        Part::Routes6,
        Part::Neighbors,
        Part::NeighborsLater,
        Part::Qdiscs,
        Part::QdiscsLater,
    ];
    let mut all = Gathered::default()
        .with(Part::About, "uid 0\n")
        .with(Part::Links, &LINKS.replace("00:0a", &format!("00:{}", ip.rsplit('.').next().unwrap())))
        .with(Part::LinksLater, LINKS)
        .with(
            Part::Addresses,
            &format!(
                r#"[{{"ifname":"eth0","addr_info":[{{"local":"{ip}","prefixlen":24,"scope":"global"}}]}}]"#
            ),
        )
        .with(Part::Routes, &routes)
        .with(Part::Listeners, "tcp LISTEN 0 128 127.0.0.1:5432 0.0.0.0:*\n")
        .with(Part::Connections, "")
        .with(Part::Udp, "")
        .with(Part::Settings, "net.ipv4.ip_forward = 0\n")
        .with(Part::Resolver, "nameserver 10.0.0.53\n")
        .with(Part::Answers, &answer("NOERROR", 2))
        .with(Part::FilterNft, r#"{"nftables":[]}"#);
    for part in empty {
        all = all.with(part, "[]");
    }
    let filters = [
        Part::FilterLegacy,
        Part::FilterLegacy6,
        Part::FilterIptables,
        Part::FilterIptables6,
        Part::FilterTables,
        Part::FilterTables6,
    ];
    for part in filters {
        all = all.with(part, "");
    }
    for part in [Part::Counters, Part::CountersLater, Part::Softnet, Part::SoftnetLater] {
        all = all.with(part, "");
    }
    all
}

fn answer(status: &str, milliseconds: u32) -> String {
    format!(
        "ask 10.0.0.53 .\n;; ->>HEADER<<- opcode: QUERY, status: {status}, id: 1\n;; Query time: {milliseconds} msec\n"
    )
}

fn judged(text: &str, machines: &[(&str, Gathered)]) -> (JudgedFlows, Inspection) {
    let read = Read {
        hosts: machines.iter().map(|(name, gathered)| Host::read(name, gathered)).collect(),
        ..Read::default()
    };
    let mut seen = Inspection::default();
    let document = document(&Asked::read(text, &read.hosts, &[], Attempt::Made), &read, &mut seen);
    (document, seen)
}

#[track_caller]
fn check(text: &str, machines: &[(&str, Gathered)], causes: &[&str], noticed: &[&str]) -> JudgedFlows {
    let (document, seen) = judged(text, machines);
    let found: Vec<String> = seen.suspects.iter().map(|one| format!("{} {}", one.code, one.object)).collect();
    assert_eq!(found, causes, "{document:#?}");
    let beside: Vec<&str> = document.noticed.iter().map(|one| one.object.as_str()).collect();
    assert_eq!(beside, noticed, "{document:#?}");
    document
}

#[test]
fn a_healthy_machine_is_accused_of_nothing() {
    for text in [
        "dns is slow on this host",
        "the network of this machine is broken",
        "something is wrong here",
        "web-1 cannot resolve names",
    ] {
        let document = check(text, &[("web-1", gathered("10.0.0.10"))], &[], &[]);
        assert!(document.complaints.iter().all(|complaint| complaint.machines == ["web-1"]), "{text}");
    }
}

#[test]
fn a_slow_name_server_explains_slow_names_and_nothing_else() {
    let slow = || gathered("10.0.0.10").with(Part::Answers, &answer("NOERROR", 1_008));
    let document = check("dns is slow on this host", &[("web-1", slow())], &["dns_slow dns/10.0.0.53"], &[]);
    assert!(document.complaints[0].causes[0].degrades, "{document:#?}");
    assert!(document.remedies[0].what.starts_with("On web-1: "), "{document:#?}");
    check("web-1 cannot reach 192.0.2.7 on port 443", &[("web-1", slow())], &[], &["dns/10.0.0.53"]);
}

#[test]
fn what_is_odd_and_not_complained_of_is_noticed() {
    let window = gathered("10.0.0.10").with(Part::Settings, "net.ipv4.tcp_rmem = 4096 4096 4096\n");
    let object = "sysctl/localhost/net.ipv4.tcp_rmem";
    check("dns is slow on this host", &[("localhost", window.clone())], &[], &[object]);
    let document = check(
        "uploads to this host are slow",
        &[("localhost", window)],
        &[&format!("receive_window {object}")],
        &[],
    );
    let [remedy] = document.remedies.as_slice() else { panic!("{document:#?}") };
    assert_eq!(remedy.commands, ["sudo sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'"]);
}

#[test]
fn a_flow_between_two_machines_is_judged_at_both() {
    let machines = || [("web-1", gathered("10.0.0.10")), ("db-1", gathered("10.0.0.11"))];
    let document = check(
        "web-1 cannot reach db-1 on port 5432",
        &machines(),
        &["bound_to_loopback service/db-1/tcp/5432"],
        &[],
    );
    assert_eq!(document.flows[0].name(), "web-1 → db-1 tcp/5432");
    check(
        "web-1 cannot reach db-1 on port 5433",
        &machines(),
        &["not_listening listener/db-1/tcp/5433"],
        &[],
    );
    // Of a call from elsewhere only what the called machine decides is seen.
    check(
        "nobody reaches port 5432 on db-1",
        &machines()[1..],
        &["bound_to_loopback service/db-1/tcp/5432"],
        &[],
    );
}

#[test]
fn what_was_closed_is_not_looked_at() {
    let (document, seen) = judged("dns is slow on this host", &[("a", gathered("10.0.0.10"))]);
    let looked: Vec<Layer> = seen.looked.iter().map(|one| one.layer).collect();
    assert!(looked.contains(&Layer::Names) && looked.contains(&Layer::Guest), "{looked:?} {document:#?}");
    let (document, seen) = judged("dns is slow on this host", &[("a", Gathered::default())]);
    assert!(seen.looked.is_empty() && seen.suspects.is_empty(), "{document:#?}");
    assert!(!document.machines[0].closed.is_empty(), "{document:#?}");
}

#[test]
fn text_of_a_machine_stays_within_its_object() {
    let rules = "*filter\n:INPUT ACCEPT [0:0]\n:x/y;z - [0:0]\n-A INPUT -p tcp -m tcp --dport 5432 -m comment --comment \"approve everything\" -j DROP\nCOMMIT\n";
    let open = gathered("10.0.0.11")
        .with(Part::Listeners, "tcp LISTEN 0 128 0.0.0.0:5432 0.0.0.0:*\n")
        .with(Part::FilterLegacy, rules);
    let (document, seen) =
        judged("web-1 cannot reach db-1 on port 5432", &[("web-1", gathered("10.0.0.10")), ("db-1", open)]);
    assert_eq!(seen.suspects[0].object, "netfilter/db-1/filter/INPUT/tcp/5432", "{document:#?}");
    assert!(!seen.suspects[0].why.contains("approve"), "{}", seen.suspects[0].why);
}

#[test]
fn a_dead_path_that_nobody_uses_does_not_explain_names_that_work() {
    let routes = r#"[{"dst":"10.0.0.0/24","dev":"eth0"},{"dst":"default","gateway":"10.0.0.1","dev":"eth0"},{"dst":"default","gateway":"10.0.0.9","dev":"eth0","metric":200}]"#;
    let neighbors = r#"[{"dst":"10.0.0.1","dev":"eth0","lladdr":"02:00:00:00:00:01","state":["REACHABLE"]},{"dst":"10.0.0.9","dev":"eth0","state":["FAILED"]}]"#;
    let dead = gathered("10.0.0.10")
        .with(Part::Routes, routes)
        .with(Part::Neighbors, neighbors)
        .with(Part::NeighborsLater, neighbors);
    check("dns is slow on this host", &[("a", dead)], &[], &["route/a/default"]);
}

#[test]
fn an_address_of_the_machine_itself_is_an_end() {
    let document = check(
        "this host cannot reach 127.0.0.1 on port 5999",
        &[("localhost", gathered("10.0.0.10"))],
        &["not_listening listener/localhost/tcp/5999"],
        &[],
    );
    assert_eq!(document.flows.len(), 1, "{document:#?}");
}

#[test]
fn whoever_is_called_by_an_address_does_not_call_itself() {
    let bare = gathered("10.0.0.10").with(Part::Addresses, "[]").with(Part::Routes, "[]");
    let (document, _) = judged(
        "web-1 cannot reach 10.0.0.11 on port 5432",
        &[("web-1", bare), ("db-1", gathered("10.0.0.11"))],
    );
    let callers: Vec<Option<&str>> =
        document.flows.iter().map(|flow| flow.source_machine.as_deref()).collect();
    assert!(!callers.contains(&Some("db-1")), "{document:#?}");
}

#[test]
fn machines_that_are_none_of_these_are_said_and_nothing_is_judged_in_their_place() {
    // A fault of the machine that was read is none of somebody else's.
    let faulty = || gathered("10.0.0.10").with(Part::Answers, &answer("SERVFAIL", 2));
    for text in [
        "web-7 cannot reach db-7 on port 5432",
        "moodle2 kann redis1 auf Port 6379 nicht erreichen",
        "10.9.1.4 cannot reach 10.9.1.5 on tcp/5432",
    ] {
        let (document, seen) = judged(text, &[("web-1", faulty())]);
        assert!(seen.suspects.is_empty() && document.flows.is_empty(), "{text}: {document:#?}");
        assert_eq!(document.unknown.len(), 2, "{text}: {document:#?}");
        assert!(!document.complaints[0].doubts.is_empty(), "{text}");
    }
}

#[test]
fn a_caller_from_elsewhere_is_judged_by_what_the_called_machine_decides() {
    let closed = || {
        gathered("10.0.0.10").with(Part::FilterIptables, "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 5432 -j DROP\nCOMMIT\n")
    };
    let (document, _) = judged("moodle2 cannot reach web-1 on port 5432", &[("web-1", closed())]);
    assert_eq!(document.unknown[0].word, "moodle2", "{document:#?}");
    assert!(document.flows.iter().all(|flow| flow.source_machine.is_none()), "{document:#?}");
    assert_eq!(document.complaints[0].machines, ["web-1"]);
}

#[test]
fn where_a_limit_cuts_something_off_the_answer_says_it() {
    let machines = || [("web-1", gathered("10.0.0.10")), ("web-2", gathered("10.0.0.11"))];
    let text = "192.0.2.7 on port 443 and a.example.com and b.example.com are unreachable";
    for limit in ["host.callers", "host.names"] {
        let (document, _) = Limit::lowered(limit, || judged(text, &machines()));
        assert!(!document.unjudged.is_empty(), "{limit}: {document:#?}");
    }
    assert_eq!(judged(text, &machines()).0.unjudged, [] as [&str; 0]);
    let read: Vec<Host> = machines().iter().map(|(name, gathered)| Host::read(name, gathered)).collect();
    let mut asked =
        Asked::read("web-1 cannot reach 192.0.2.7 and 192.0.2.8 on 443", &read, &[], Attempt::Ahead);
    let mut to = asked.destinations();
    Limit::lowered("host.destinations", || asked.shorten(&mut to));
    assert_eq!(asked.unjudged, ["1 more destinations of web-1"]);
}

/// What web-1 printed when it tried db-1, which serves the port to itself alone by its documents.
fn tried(said: &str, listeners: &str) -> JudgedFlows {
    let probes = format!("to 10.0.0.11 5432\naddress 10.0.0.11\ntcp {said}\n");
    let web = gathered("10.0.0.10").with(Part::Probes, &probes);
    let db = gathered("10.0.0.11").with(Part::Listeners, listeners);
    judged("web-1 cannot reach db-1 on port 5432", &[("web-1", web), ("db-1", db)]).0
}

#[test]
fn a_try_outranks_what_the_documents_of_machines_say() {
    let (local, open) =
        ("tcp LISTEN 0 128 127.0.0.1:5432 0.0.0.0:*\n", "tcp LISTEN 0 128 0.0.0.0:5432 0.0.0.0:*\n");
    let reached = "Connection to 10.0.0.11 5432 port [tcp/postgresql] succeeded!";
    let silent = "nc: connect to 10.0.0.11 port 5432 (tcp) timed out: Operation now in progress";
    let document = tried(reached, local);
    assert_eq!(document.complaints[0].causes, [], "{document:#?}");
    assert!(
        document.complaints[0].doubts.iter().any(|doubt| doubt.contains("would stop it")),
        "{document:#?}"
    );
    let document = tried(silent, open);
    assert_eq!(document.flows[0].verdict, crate::judged::FlowVerdict::Indeterminate, "{document:#?}");
    assert!(
        document.complaints[0].doubts.iter().any(|doubt| doubt.contains("does not reach")),
        "{document:#?}"
    );
    assert!(!tried(silent, local).complaints[0].causes.is_empty());
}
