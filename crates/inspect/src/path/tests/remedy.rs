//! What takes a cause away, and what it leaves alone.

use std::net::IpAddr;

use serde_json::json;

use super::draft::Draft;
use crate::path::{Change, Estate, Fate, Flow, Protocol, Remedy, remedies};

const INBOUND: &str = "Inbound";

/// One network with a caller, a server and somebody else.
fn three() -> Draft {
    Draft::two().machine("other", "10.0.1.5", "app/web")
}

fn pg(draft: &Draft) -> Flow {
    draft.flow("web", "db", Protocol::Tcp, 5432)
}

fn found(draft: &Draft) -> Vec<Remedy> {
    remedies(&draft.bundle(), &[pg(draft)])
}

#[track_caller]
fn only(draft: &Draft) -> Remedy {
    let mut all = found(draft);
    assert_eq!(all.len(), 1, "{all:#?}");
    let one = all.remove(0);
    assert_eq!(one.after[0].fate, Fate::Passes, "{one:#?}");
    one
}

fn words(remedy: &Remedy) -> Vec<String> {
    remedy.changes.iter().map(|change| format!("{change:?}")).collect()
}

fn deny(name: &'static str, port: &'static str) -> super::draft::Rule {
    (name, 110, INBOUND, "Deny", "Tcp", "10.0.1.4", "*", port)
}

const ALL: super::draft::Rule = ("zt-deny-all", 4096, INBOUND, "Deny", "*", "*", "*", "*");

#[test]
fn a_rule_that_stops_nobody_else_is_deleted() {
    let remedy = only(&three().rule("app/db", deny("no", "5432")));
    let rule = Change::DeleteSecurityRule { group: "db-nsg".to_owned(), rule: "no".to_owned() };
    assert_eq!(remedy.changes, [rule]);
    assert!(remedy.opened.is_empty() && remedy.closed.is_empty() && remedy.others > 0, "{remedy:#?}");
}

#[test]
fn a_rule_that_stops_others_too_stays_and_the_flow_is_let_in_before_it() {
    let broad = ("no", 110, INBOUND, "Deny", "Tcp", "*", "*", "5432");
    let remedy = only(&three().rule("app/db", broad));
    let [Change::AllowInGroup { group, before, priority, admitted, .. }] = remedy.changes.as_slice() else {
        panic!("{remedy:#?}");
    };
    assert_eq!((group.as_str(), before.as_str(), *priority), ("db-nsg", "no", 109));
    assert_eq!((admitted.src.to_string(), admitted.port), ("10.0.1.4".to_owned(), Some(5432)));
    assert!(remedy.opened.is_empty(), "{remedy:#?}");
    assert!(remedy.spared.iter().any(|flow| flow.src == IpAddr::from([10, 0, 1, 5])), "{remedy:#?}");
}

#[test]
fn what_catches_all_is_never_opened() {
    let remedy = only(&three().rule("app/db", ALL));
    assert!(
        matches!(remedy.changes.as_slice(), [Change::AllowInGroup { priority: 4095, .. }]),
        "{remedy:#?}"
    );
    let remedy = only(&three().policy("db", "INPUT", "DROP"));
    assert!(matches!(remedy.changes.as_slice(), [Change::AcceptInGuest { before: None, .. }]), "{remedy:#?}");
    let remedy = only(&three().drops("db", "-A INPUT -j DROP"));
    let [Change::AcceptInGuest { before: Some(before), .. }] = remedy.changes.as_slice() else {
        panic!("{remedy:#?}");
    };
    assert_eq!(before.raw, "-A INPUT -j DROP");
}

#[test]
fn a_number_that_is_taken_is_not_chosen() {
    let draft = three()
        .rule("app/db", ("a", 4095, INBOUND, "Allow", "Tcp", "10.9.0.0/16", "*", "80"))
        .rule("app/db", ("b", 4094, "Outbound", "Allow", "Tcp", "10.9.0.0/16", "*", "80"))
        .rule("app/db", ALL);
    assert!(matches!(only(&draft).changes.as_slice(), [Change::AllowInGroup { priority: 4094, .. }]));
}

#[test]
fn what_stands_in_series_is_taken_away_one_after_the_other() {
    let draft = three()
        .rule("app/db", deny("no", "5432"))
        .rule("app/db", ALL)
        .drops("db", "-A INPUT -s 10.0.1.4/32 -p tcp -m tcp --dport 5432 -j DROP");
    let all = found(&draft);
    let causes: Vec<String> = all.iter().map(|one| one.cause.to_string()).collect();
    assert_eq!(
        causes,
        [
            "nsg_deny nsg/db-nsg/no",
            "nsg_deny nsg/db-nsg/zt-deny-all",
            "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"
        ]
    );
    let next: Vec<String> = all[0].after[0].next.iter().map(ToString::to_string).collect();
    assert_eq!(next[0], "nsg_deny nsg/db-nsg/zt-deny-all");
    assert_eq!(all[2].after[0].fate, Fate::Passes);
}

#[test]
fn every_rule_of_one_name_is_deleted() {
    let draft = three()
        .drops("db", "-A INPUT -s 10.0.1.4/32 -p tcp -m tcp --dport 5432 -j DROP")
        .drops("db", "-A INPUT -s 10.0.1.4/31 -p tcp -m tcp --dport 5432 -m comment --comment x -j DROP");
    let remedy = only(&draft);
    // The second one stops 10.0.1.5 as well.
    assert!(remedy.opened.is_empty(), "{remedy:#?}");
    let alone = Draft::two()
        .drops("db", "-A INPUT -s 10.0.1.4/32 -p tcp -m tcp --dport 5432 -j DROP")
        .drops("db", "-A INPUT -s 10.0.1.4/31 -p tcp -m tcp --dport 5432 -j DROP");
    assert_eq!(only(&alone).changes.len(), 2);
}

#[test]
fn a_native_rule_is_deleted_and_a_native_policy_let_through() {
    let table = json!({"table": {"family": "inet", "name": "guard", "handle": 1}});
    let chain = |policy: &str| {
        json!({"chain": {"family": "inet", "table": "guard", "name": "input", "handle": 1, "type": "filter",
            "hook": "input", "prio": 0, "policy": policy}})
    };
    let port = |port: u16| json!({"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": port}});
    let rule = json!({"rule": {"family": "inet", "table": "guard", "chain": "input", "handle": 7,
        "expr": [port(5432), {"drop": null}]}});
    let remedy = only(&Draft::two().native("db", &[table.clone(), chain("accept"), rule]));
    let [Change::DeleteGuestRule(gone)] = remedy.changes.as_slice() else { panic!("{remedy:#?}") };
    assert_eq!((gone.table.as_str(), gone.handle), ("inet:guard", Some(7)));
    let remedy = only(&Draft::two().native("db", &[table, chain("drop")]));
    let [Change::AcceptInGuest { admitted, .. }] = remedy.changes.as_slice() else { panic!("{remedy:#?}") };
    assert_eq!(admitted.nft_words(), "ip saddr 10.0.1.4 ip daddr 10.0.2.4 tcp dport 5432 accept");
}

#[test]
fn ufw_lets_in_by_its_own_chain() {
    let draft = three()
        .policy("db", "INPUT", "DROP")
        .chain("db", "ufw-user-input")
        .drops("db", "-A INPUT -j ufw-user-input")
        .drops("db", "-A ufw-user-input -p tcp -m tcp --dport 22 -j ACCEPT");
    let remedy = only(&draft);
    let [Change::AcceptInGuest { chain, before: None, .. }] = remedy.changes.as_slice() else {
        panic!("{remedy:#?}");
    };
    assert_eq!(chain, "ufw-user-input");
}

#[test]
fn answers_are_let_in_as_answers() {
    let remedy = only(&three().policy("web", "INPUT", "DROP"));
    let [Change::AcceptInGuest { machine, admitted, .. }] = remedy.changes.as_slice() else {
        panic!("{remedy:#?}");
    };
    assert_eq!(machine, "web");
    let words = admitted.iptables_words();
    assert!(words.contains("-s 10.0.2.4/32 -d 10.0.1.4/32") && words.contains("--sport 5432"), "{words}");
    assert!(words.contains("ESTABLISHED"), "{words}");
}

#[test]
fn one_ban_is_lifted_and_the_others_stay() {
    let draft = three()
        .chain("db", "f2b-pg")
        .drops("db", "-A INPUT -p tcp -m multiport --dports 5432 -j f2b-pg")
        .drops("db", "-A f2b-pg -s 10.0.1.4/32 -j REJECT --reject-with icmp-port-unreachable")
        .drops("db", "-A f2b-pg -s 10.0.1.5/32 -j REJECT --reject-with icmp-port-unreachable")
        .drops("db", "-A f2b-pg -j RETURN");
    let remedy = only(&draft);
    assert_eq!(words(&remedy), [r#"Unban { machine: "db", chain: "f2b-pg", ip: 10.0.1.4 }"#]);
    assert!(remedy.opened.is_empty(), "{remedy:#?}");
}

#[test]
fn a_range_that_is_banned_is_not_lifted_for_all() {
    let draft = three()
        .chain("db", "f2b-pg")
        .drops("db", "-A INPUT -j f2b-pg")
        .drops("db", "-A f2b-pg -s 10.0.1.0/24 -j DROP");
    assert!(found(&draft).is_empty());
}

#[test]
fn a_route_to_nowhere_is_deleted_and_what_it_replaced_is_back() {
    let draft = Draft::two().route("app/web", "hole", "10.0.2.0/24", "None", None);
    let remedy = only(&draft);
    assert_eq!(words(&remedy), [r#"DeleteRoute { table: "app-web-rt", route: "hole" }"#]);
}

#[test]
fn a_route_that_keeps_others_out_stays_and_a_narrower_one_leads_around_it() {
    let draft = three().machine("db2", "10.0.2.5", "app/db").listens("db2", "0.0.0.0:5432").route(
        "app/web",
        "hole",
        "10.0.2.0/24",
        "None",
        None,
    );
    let remedy = only(&draft);
    let [Change::AddRoute { to, hop, .. }] = remedy.changes.as_slice() else { panic!("{remedy:#?}") };
    assert_eq!((to.to_string().as_str(), *hop), ("10.0.2.4", "VnetLocal"));
}

#[test]
fn shaping_is_taken_off_one_device() {
    let remedy =
        only(&Draft::two().shapes(
            "db",
            "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 delay 20ms\n Sent 1 bytes 1 pkt\n",
        ));
    assert_eq!(words(&remedy), [r#"RemoveShaping { machine: "db", device: "eth0" }"#]);
}

#[test]
fn shaping_in_json_is_taken_off_one_device() {
    let text = r#"[{"kind":"netem","handle":"8001:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":1000,"delay":{"delay":0.03,"jitter":0,"correlation":0}}}]
[{"kind":"fq_codel","handle":"0:","dev":"eth1","root":true,"options":{}}]
"#;
    let remedy = only(&Draft::two().shapes("db", text));
    assert_eq!(words(&remedy), [r#"RemoveShaping { machine: "db", device: "eth0" }"#]);
    assert!(remedy.eased > 0, "{remedy:#?}");
}

#[test]
fn an_appliance_that_does_not_forward_is_made_to() {
    let draft = Draft::hub().change("nva", |machine| machine.forwards(false));
    let all = remedies(&draft.bundle(), &[draft.flow("a", "b", Protocol::Tcp, 8443)]);
    let changes: Vec<String> = all.iter().flat_map(words).collect();
    assert_eq!(changes, [r#"ForwardAtInterface { nic: "nva-nic" }"#]);
    assert_eq!(all[0].after[0].fate, Fate::Passes);
}

#[test]
fn a_document_that_is_not_there_is_not_changed() {
    let mut bundle = three().rule("app/db", deny("no", "5432")).bundle();
    let estate = Estate::of(&bundle);
    let gone = Change::DeleteSecurityRule { group: "db-nsg".to_owned(), rule: "nobody".to_owned() };
    assert!(gone.apply(&bundle, &estate).is_none());
    bundle.cloud.groups = None;
    let there = Change::DeleteSecurityRule { group: "db-nsg".to_owned(), rule: "no".to_owned() };
    assert!(there.apply(&bundle, &estate).is_none());
}
