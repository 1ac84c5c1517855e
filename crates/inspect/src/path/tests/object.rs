//! Which object is named.

use super::draft::{Draft, check, summary};
use crate::path::{Cause, Fault, Object, Protocol};

const INBOUND: &str = "Inbound";

#[test]
fn in_series_all_are_named_in_the_order_in_which_they_are_met() {
    let draft = Draft::two()
        .rule("app/db", ("narrow", 110, INBOUND, "Deny", "Tcp", "*", "*", "5432"))
        .rule("app/db", ("deny-all", 4096, INBOUND, "Deny", "*", "*", "*", "*"))
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP")
        .route("app/db", "gone", "10.0.1.0/24", "None", None);
    let judgement = draft.judge("web", "db", 5432);
    check(
        &judgement,
        &[
            "BLOCKED",
            "nsg_deny nsg/db-nsg/narrow",
            "nsg_deny nsg/db-nsg/deny-all",
            "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432",
            "route_blackhole route/app-db-rt/gone",
        ],
    );
    assert_eq!((judgement.causes().len(), judgement.behind().len()), (1, 3));
}

#[test]
fn of_catch_alls_at_one_gate_the_first_counts() {
    let draft = Draft::two()
        .rule("app/db", ("deny-all", 4000, INBOUND, "Deny", "*", "*", "*", "*"))
        .rule("app/db", ("deny-all-too", 4096, INBOUND, "Deny", "*", "*", "*", "*"))
        .drops("db", "-A INPUT -j DROP")
        .policy("db", "INPUT", "DROP");
    check(
        &draft.judge("web", "db", 5432),
        &["BLOCKED", "nsg_deny nsg/db-nsg/deny-all", "guest_firewall_drop netfilter/db/filter/INPUT/any/any"],
    );
}

#[test]
fn the_chain_in_which_the_rule_stands_is_named() {
    let draft = Draft::two()
        .chain("db", "AGENT-IN")
        .drops("db", "-A INPUT -j AGENT-IN")
        .drops("db", "-A AGENT-IN -p tcp -m multiport --dports 80,5400:5500 -j DROP");
    check(
        &draft.judge("web", "db", 5432),
        &["BLOCKED", "guest_firewall_drop netfilter/db/filter/AGENT-IN/tcp/5400-5500"],
    );
    let docker = Draft::two()
        .chain("db", "DOCKER-USER")
        .drops("db", "-A INPUT -j DOCKER-USER")
        .drops("db", "-A DOCKER-USER -p tcp -j DROP");
    check(
        &docker.judge("web", "db", 5432),
        &["BLOCKED", "container_firewall_change netfilter/db/filter/DOCKER-USER"],
    );
}

#[test]
fn the_route_with_the_longest_prefix_is_named_and_then_the_next() {
    let draft = Draft::two().route("app/web", "wide", "10.0.2.0/24", "None", None).route(
        "app/web",
        "host",
        "10.0.2.4/32",
        "VirtualAppliance",
        Some("10.0.9.9"),
    );
    check(
        &draft.judge("web", "db", 5432),
        &["BLOCKED", "route_dead_nva route/app-web-rt/host", "route_blackhole route/app-web-rt/wide"],
    );
}

#[test]
fn what_degrades_stands_beside_what_stops() {
    let draft = Draft::two()
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP")
        .shapes("db", "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss 10%\n");
    let judgement = draft.judge("web", "db", 5432);
    assert_eq!(judgement.findings().len(), 2);
    assert_eq!(judgement.causes().len(), 1);
}

#[test]
fn with_one_cause_taken_away_the_next_decides() {
    let draft = Draft::two()
        .rule("app/db", ("narrow", 110, INBOUND, "Deny", "Tcp", "*", "*", "5432"))
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    let estate = draft.estate();
    let judgement = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
    let object = Object::NsgRule { group: "db-nsg".into(), rule: "narrow".into() };
    let once = judgement.without(&estate, &Cause::new(Fault::NsgDeny, object));
    check(&once, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    let next = once.causes()[0].1.cause.clone();
    check(&once.without(&estate, &next), &["PASSES"]);
}

#[test]
fn two_rules_of_one_name_are_taken_away_together() {
    let rule = "-A INPUT -p tcp -m tcp --dport 5432 -j DROP";
    let draft = Draft::two().drops("db", rule).drops("db", rule);
    let estate = draft.estate();
    let judgement = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
    assert_eq!(summary(&judgement).len(), 2);
    let cause = judgement.causes()[0].1.cause.clone();
    check(&judgement.without(&estate, &cause), &["PASSES"]);
}

#[test]
fn flow_objects_name_the_caller_first_also_on_the_return_path() {
    let draft = Draft::two().silent("db");
    let judgement = draft.judge("web", "db", 5432);
    assert_eq!(judgement.causes()[0].1.cause.object.to_string(), "flow/10.0.1.4/10.0.2.4/tcp/5432");
}
