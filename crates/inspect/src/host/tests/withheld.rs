//! Facts about machines of which a read is withheld: each read in turn, in every manner in which a read fails.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::*;
use crate::measured::Weighed;

const HEALTHY: &str = include_str!("../../../../../tests/fixtures/host/healthy.json");

/// How a read fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Gone,
    NotInstalled,
    Refused,
    Garbage,
    CutOff,
}

const MANNERS: [Manner; 5] =
    [Manner::Gone, Manner::NotInstalled, Manner::Refused, Manner::Garbage, Manner::CutOff];

/// Two machines on one segment, read whole: web-1 calls, db-1 serves port 5432.
fn healthy() -> BTreeMap<String, Gathered> {
    let document: serde_json::Value = serde_json::from_str(HEALTHY).unwrap();
    serde_json::from_value(document["hosts"].clone()).unwrap()
}

fn read(all: &BTreeMap<String, Gathered>) -> Vec<Host> {
    all.iter().map(|(name, gathered)| Host::read(name, gathered)).collect()
}

/// Withholds a part; nothing where there is no text that could be cut off.
fn withhold(gathered: &Gathered, part: Part, manner: Manner) -> Option<Gathered> {
    let gathered = gathered.clone();
    Some(match manner {
        Manner::Gone => gathered.without(part),
        Manner::NotInstalled => gathered.with_failure(part, 127, "the program is not installed"),
        Manner::Refused => gathered.with_failure(part, 1, "Operation not permitted"),
        Manner::Garbage => gathered.with(part, "Segmentation fault\n"),
        Manner::CutOff => {
            let mut document = serde_json::to_value(&gathered).unwrap();
            let text = document[part.as_str()]["text"].as_str().unwrap().to_owned();
            if text.len() < 2 {
                return None;
            }
            document[part.as_str()]["text"] = text[..text.len() / 2].into();
            serde_json::from_value(document).unwrap()
        }
    })
}

fn call(to: &str, port: u16) -> Flow {
    let to = to.parse().unwrap();
    let from = "web-1".to_owned();
    Flow { from, source: None, to, protocol: Protocol::Tcp, port: Some(port), is_marked: false }
}

fn names(findings: &[Finding]) -> BTreeSet<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// Says whether a question about a machine may still be answered without a read that failed in a manner.
fn is_needed(question: Question, part: Part, manner: Manner) -> bool {
    match question.needs(part) {
        Need::Always => true,
        Need::WhereInstalled => manner != Manner::NotInstalled,
        // The old backend has no tables, says the kernel; whatever the new one holds `nft` lists.
        Need::OfFilters => matches!(part, Part::FilterNft | Part::FilterIptables | Part::FilterIptables6),
        Need::Never => false,
    }
}

#[test]
fn two_machines_that_were_read_whole_are_well() {
    let hosts = read(&healthy());
    let context = Context {
        flows: vec![call("10.0.0.11", 5432), call("fd00::11", 5432)],
        whole: true,
        ..Context::default()
    };
    let judged = judge(&hosts, &context);
    assert_eq!(names(&judged.findings), BTreeSet::new());
    assert_eq!(judged.fates, [Fate::Passes, Fate::Passes]);
    assert_eq!(judged.missing, []);
    assert!(hosts.iter().all(|host| host.closed.is_empty()), "{:?}", hosts[0].closed);
}

#[test]
fn without_a_read_that_it_needs_a_machine_is_not_well() {
    let all = healthy();
    for part in Part::ALL.iter().copied() {
        for manner in MANNERS {
            let Some(less) = withhold(&all["web-1"], part, manner) else { continue };
            let host = Host::read("web-1", &less);
            let judged = judge(&[host], &Context { whole: true, ..Context::default() });
            assert_eq!(names(&judged.findings), BTreeSet::new(), "{part} {manner:?}");
            let is_open = judged.missing.iter().any(|one| one.host == "web-1" && !one.remedy.is_empty());
            assert_eq!(
                is_open,
                is_needed(Question::Machine, part, manner),
                "{part} {manner:?}: {:?}",
                judged.missing
            );
        }
    }
}

#[test]
fn a_flow_is_open_without_a_read_that_it_needs_and_passes_without_any_other() {
    let all = healthy();
    for (to, question) in [("10.0.0.11", Question::Flow), ("fd00::11", Question::FlowOfIpv6)] {
        for name in ["web-1", "db-1"] {
            for part in Part::ALL.iter().copied() {
                for manner in MANNERS {
                    let Some(less) = withhold(&all[name], part, manner) else { continue };
                    let mut all = all.clone();
                    all.insert(name.to_owned(), less);
                    let flows = vec![call(to, 5432)];
                    let judged = judge(&read(&all), &Context { flows, ..Context::default() });
                    let is_open = is_needed(question, part, manner)
                        || (name == "db-1" && is_needed(Question::Service, part, manner));
                    let said = format!("{to} without {part} of {name}, {manner:?}: {:?}", judged.fates);
                    assert_eq!(names(&judged.findings), BTreeSet::new(), "{said}");
                    assert_eq!(matches!(judged.fates[0], Fate::NotKnown(_)), is_open, "{said}");
                    assert_eq!(judged.fates[0] == Fate::Passes, !is_open, "{said}");
                }
            }
        }
    }
}

#[test]
fn to_know_less_accuses_nobody_of_what_was_not_seen_before() {
    let faults: [(&str, Part, &str, &str); 9] = [
        ("db-1", Part::Listeners, "0.0.0.0:5432", "127.0.0.1:5432"),
        ("db-1", Part::FilterNft, "]}", "]}"),
        ("web-1", Part::Resolver, "10.0.0.53", "10.0.0.54"),
        ("web-1", Part::Addresses, "\"prefixlen\":24", "\"prefixlen\":25"),
        ("web-1", Part::Links, "\"UP\",\"LOWER_UP\"],\"mtu\":1500", "\"NO-CARRIER\"],\"mtu\":1500"),
        (
            "web-1",
            Part::NeighborsLater,
            "\"lladdr\":\"02:00:00:00:00:01\",\"state\":[\"REACHABLE\"]",
            "\"state\":[\"FAILED\"]",
        ),
        ("web-1", Part::Routes, "\"gateway\":\"10.0.0.1\"", "\"gateway\":\"10.0.0.254\""),
        ("db-1", Part::Settings, "4096\t131072\t6291456", "4096\t4096\t4096"),
        ("db-1", Part::Answers, "NOERROR", "SERVFAIL"),
    ];
    for (at, changed, before, now) in faults {
        let mut all = healthy();
        let text = all[at].text(changed).unwrap();
        assert!(text.contains(before), "{changed}: {text}");
        let faulty = all[at].clone().with(changed, &text.replace(before, now));
        all.insert(at.to_owned(), faulty);
        let context = Context { flows: vec![call("10.0.0.11", 5432)], whole: true, ..Context::default() };
        let known = names(&judge(&read(&all), &context).findings);
        for name in ["web-1", "db-1"] {
            for part in Part::ALL.iter().copied() {
                // A program that is missing or refuses is a read that is gone.
                for manner in [Manner::Gone, Manner::Garbage, Manner::CutOff] {
                    let Some(less) = withhold(&all[name], part, manner) else { continue };
                    let mut all = all.clone();
                    all.insert(name.to_owned(), less);
                    let found = names(&judge(&read(&all), &context).findings);
                    let new: Vec<&String> = found.difference(&known).collect();
                    assert!(
                        new.is_empty(),
                        "{changed} of {at}, without {part} of {name}, {manner:?}: {new:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_tools_of_busybox_are_named_with_what_to_install() {
    let all = healthy();
    let said = "ip: invalid option -- 'j'\nBusyBox v1.36.1 (2023-11-07 18:53:09 UTC) multi-call binary.\n";
    let parts = [Part::Links, Part::Addresses, Part::Routes, Part::Rules, Part::NeighborsLater];
    let less = parts.iter().fold(all["web-1"].clone(), |less, part| less.with_failure(*part, 1, said));
    let host = Host::read("web-1", &less);
    let judged = judge(&[host], &Context { whole: true, ..Context::default() });
    let steps: BTreeSet<&str> = judged.missing.iter().map(|one| one.remedy.as_str()).collect();
    assert_eq!(
        steps,
        BTreeSet::from(["install iproute2 (`iproute` on Red Hat) in place of BusyBox's `ip`"]),
        "{:?}",
        judged.missing
    );
    let old = all["web-1"].clone().with(Part::Routes, "default via 10.0.0.1 dev eth0\n");
    let judged = judge(&[Host::read("web-1", &old)], &Context { whole: true, ..Context::default() });
    assert!(judged.missing[0].remedy.starts_with("install iproute2 5.0 or later"), "{:?}", judged.missing);
}

/// What web-1 tried, as its script prints it.
fn tried(all: &mut BTreeMap<String, Gathered>, said: &str) {
    let probes = format!("to 10.0.0.11 5432\naddress 10.0.0.11\n{said}\n");
    let own = all["web-1"].clone().with(Part::Probes, &probes);
    all.insert("web-1".to_owned(), own);
}

const OPEN: &str = "tcp Connection to 10.0.0.11 5432 port [tcp/postgresql] succeeded!";
const SILENT: &str = "tcp nc: connect to 10.0.0.11 port 5432 (tcp) timed out: Operation now in progress";

fn judged(all: &BTreeMap<String, Gathered>) -> Judgement {
    judge(&read(all), &Context { flows: vec![call("10.0.0.11", 5432)], whole: true, ..Context::default() })
}

#[test]
fn a_flow_that_was_tried_in_vain_does_not_pass_by_its_documents() {
    let mut all = healthy();
    tried(&mut all, SILENT);
    let judged = judged(&all);
    assert_eq!(judged.weighed, [Weighed::FailsUnexplained]);
    assert!(matches!(judged.fates.as_slice(), [Fate::NotKnown(_)]), "{:?}", judged.fates);
}

#[test]
fn what_stops_a_flow_by_its_documents_is_not_certain_where_the_flow_was_reached() {
    let nobody = |all: &mut BTreeMap<String, Gathered>| {
        let text = all["db-1"].text(Part::Listeners).unwrap().replace(":5432", ":5433");
        let own = all["db-1"].clone().with(Part::Listeners, &text);
        all.insert("db-1".to_owned(), own);
    };
    let mut all = healthy();
    nobody(&mut all);
    let before = judged(&all);
    assert_eq!(
        (before.findings[0].certainty, before.fates[0].clone()),
        (Certainty::Confirmed, Fate::Stopped)
    );
    tried(&mut all, OPEN);
    let after = judged(&all);
    let [found] = after.findings.as_slice() else { panic!("{:?}", after.findings) };
    assert_eq!(
        (found.fault, found.weight, found.certainty),
        (Fault::NotListening, Weight::Noticed, Certainty::Likely)
    );
    assert!(found.evidence.iter().any(|one| one.part == Part::Probes && one.shows.contains("is reached")));
    assert_eq!(after.fates, [Fate::Passes]);
    // A try that failed leaves it as certain as it was.
    let mut all = healthy();
    nobody(&mut all);
    tried(&mut all, "tcp nc: connect to 10.0.0.11 port 5432 (tcp) failed: Connection refused");
    assert_eq!(judged(&all).findings[0].certainty, Certainty::Confirmed);
}

/// A queue of web-1 of which one class loses everything.
fn class_that_loses(all: &mut BTreeMap<String, Gathered>, dropped: [u32; 2]) {
    let text = |dropped: u32| {
        format!(
            "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n Sent 900 bytes 9 pkt (dropped 0, overlimits 0 requeues 0)\n\
             qdisc netem 30: dev eth0 parent 1:3 limit 1000 loss 100%\n Sent 0 bytes 0 pkt (dropped {dropped}, overlimits 0 requeues 0)\n"
        )
    };
    let own =
        all["web-1"].clone().with(Part::Qdiscs, &text(dropped[0])).with(Part::QdiscsLater, &text(dropped[1]));
    all.insert("web-1".to_owned(), own);
}

#[test]
fn a_class_that_loses_everything_loses_nothing_of_a_flow_that_was_reached() {
    let loss = |dropped: [u32; 2], said: &str| {
        let mut all = healthy();
        class_that_loses(&mut all, dropped);
        if !said.is_empty() {
            tried(&mut all, said);
        }
        let judged = judged(&all);
        let found = judged.findings.iter().find(|one| one.fault == Fault::NetemLoss).unwrap();
        (found.weight, found.certainty, judged.fates[0] == Fate::Passes)
    };
    assert_eq!(loss([0, 3], OPEN), (Weight::Noticed, Certainty::Likely, true));
    // Which packets the class gets was not read: only what it lost just now shows that it gets some.
    assert_eq!(loss([0, 0], "").1, Certainty::Likely);
    assert_eq!(loss([0, 3], SILENT), (Weight::Broken, Certainty::Confirmed, false));
    let whole = {
        let mut all = healthy();
        let line = "qdisc netem 30: dev eth0 root refcnt 2 limit 1000 loss 100%\n";
        let own = all["web-1"].clone().with(Part::Qdiscs, line).with(Part::QdiscsLater, line);
        all.insert("web-1".to_owned(), own);
        judged(&all).findings[0].certainty
    };
    assert_eq!(whole, Certainty::Confirmed);
}

#[test]
fn a_connection_says_nothing_of_another_protocol_or_port() {
    let mut all = healthy();
    tried(&mut all, SILENT);
    let fate = |protocol: Protocol, port: u16| {
        let flow = Flow { protocol, ..call("10.0.0.11", port) };
        judge(&read(&all), &Context { flows: vec![flow], ..Context::default() }).fates.remove(0)
    };
    assert_eq!(fate(Protocol::Tcp, 22), Fate::Passes);
    assert_eq!(fate(Protocol::Icmp, 0), Fate::Passes);
    assert!(matches!(fate(Protocol::Tcp, 5432), Fate::NotKnown(_)));
}

/// A tunnel between both machines; the address that is called is that of another device of db-1.
fn tunnel(kind: &str, mtu: [u32; 2]) -> BTreeMap<String, Gathered> {
    let mut all = healthy();
    for (name, own, mtu) in [("web-1", "10.9.0.1", mtu[0]), ("db-1", "10.9.0.2", mtu[1])] {
        let add = |part: Part, row: &str| {
            let text = all[name].text(part).unwrap();
            format!("{},{row}]", text.strip_suffix(']').unwrap())
        };
        let links = all[name].text(Part::Links).unwrap().strip_suffix(']').unwrap();
        let tun = format!(
            r#"{links},{{"ifindex":7,"ifname":"wg0","flags":["POINTOPOINT","NOARP","UP","LOWER_UP"],"mtu":{mtu},"operstate":"UNKNOWN","link_type":"none","linkinfo":{{"info_kind":"{kind}"}}}},{{"ifindex":8,"ifname":"shop","flags":["BROADCAST","NOARP","UP","LOWER_UP"],"mtu":1500,"operstate":"UNKNOWN","link_type":"ether","address":"02:00:00:00:01:{:02x}","linkinfo":{{"info_kind":"dummy"}}}}]"#,
            own.len() + usize::from(name == "db-1")
        );
        let shop = if name == "db-1" {
            r#",{"ifname":"shop","addr_info":[{"local":"10.50.0.1","prefixlen":24,"scope":"global"}]}"#
        } else {
            ""
        };
        let addresses = add(
            Part::Addresses,
            &format!(
                r#"{{"ifname":"wg0","addr_info":[{{"local":"{own}","prefixlen":24,"scope":"global"}}]}}{shop}"#
            ),
        );
        let routes = add(
            Part::Routes,
            r#"{"dst":"10.9.0.0/24","dev":"wg0","flags":[]},{"dst":"10.50.0.0/24","dev":"wg0","flags":[]}"#,
        );
        let more = all[name].clone().with(Part::Links, &tun).with(Part::Addresses, &addresses);
        let more = more.with(Part::Routes, &routes);
        all.insert(name.to_owned(), more);
    }
    all
}

#[test]
fn a_tunnel_before_a_device_with_larger_packets_is_no_mismatch() {
    let sizes = |kind: &str, mtu: [u32; 2]| -> Vec<String> {
        let all = tunnel(kind, mtu);
        let context = Context { flows: vec![call("10.50.0.1", 22)], ..Context::default() };
        let judged = judge(&read(&all), &context);
        assert_eq!(judged.passed[0].len(), 2, "{:?}", judged.fates);
        names(&judged.findings).into_iter().filter(|one| one.starts_with("mtu")).collect()
    };
    assert_eq!(sizes("wireguard", [1420, 1420]), [""; 0]);
    assert_eq!(sizes("wireguard", [1420, 1412]), [""; 0]);
    assert_eq!(sizes("gre", [1476, 1476]), [""; 0]);
    // The address of a device beyond the cable is reached by the cable, whose ends fit.
    assert_eq!(sizes("veth", [1400, 1400]), [""; 0]);
    assert_eq!(sizes("veth", [1400, 1500]), ["mtu_mismatch link/web-1/wg0"]);
}

#[test]
fn packets_that_passed_whole_refute_a_mismatch() {
    let found = |said: &str| {
        let mut all = healthy();
        let text = all["db-1"].text(Part::Links).unwrap().replace("\"mtu\":1500", "\"mtu\":1400");
        let own = all["db-1"].clone().with(Part::Links, &text);
        all.insert("db-1".to_owned(), own);
        tried(&mut all, &format!("{said}\n{OPEN}"));
        let judged = judged(&all);
        let found = judged.findings.iter().find(|one| one.fault == Fault::MtuMismatch).unwrap();
        (found.weight, found.certainty)
    };
    assert_eq!(found("lost 1500\npasses 1420"), (Weight::Degraded, Certainty::Confirmed));
    assert_eq!(found("passes 1500"), (Weight::Noticed, Certainty::Likely));
}

/// Prints the table of all questions: `cargo test the_reads_of_every_question -- --nocapture`.
#[test]
fn the_reads_of_every_question_are_a_table() {
    let mut table = String::from("| read |");
    Question::ALL.iter().for_each(|question| table.push_str(&format!(" {} |", question.as_str())));
    for part in Part::ALL.iter().copied() {
        table.push_str(&format!("\n| {part} |"));
        for question in Question::ALL {
            let open = MANNERS.iter().filter(|manner| is_needed(question, part, **manner)).count();
            table.push_str(match open {
                0 => " as before |",
                4 => " INDETERMINATE unless not installed |",
                _ => " INDETERMINATE |",
            });
        }
    }
    println!("{table}");
    // Each question needs something, and a machine needs everything that some flow needs.
    for question in Question::ALL {
        assert!(Part::ALL.iter().any(|part| question.needs(*part) == Need::Always), "{question:?}");
        for part in Part::ALL.iter().filter(|part| question.needs(**part) == Need::Always) {
            assert_eq!(Question::Machine.needs(*part), Need::Always, "{question:?} {part}");
        }
    }
}
