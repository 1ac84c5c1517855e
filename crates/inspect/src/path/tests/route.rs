//! The path: direction, translation, peerings, and what lies outside.

use super::draft::{Draft, check};
use crate::path::{Fate, Kind, Protocol, Verdict};

fn kinds(hops: &[crate::path::Hop]) -> Vec<Kind> {
    hops.iter().map(|hop| hop.kind).collect()
}

#[test]
fn the_hops_stand_in_the_order_in_which_a_packet_meets_them() {
    let judgement = Draft::hub().judge("a", "b", 8443);
    assert_eq!(
        kinds(&judgement.forward),
        [
            Kind::GuestRoute,
            Kind::GuestOutput,
            Kind::Shaping,
            Kind::GroupOutbound,
            Kind::Route,
            Kind::Peering,
            Kind::GroupInbound,
            Kind::Forwarding,
            Kind::GuestRoute,
            Kind::GuestForward,
            Kind::Shaping,
            Kind::GroupOutbound,
            Kind::Route,
            Kind::Peering,
            Kind::GroupInbound,
            Kind::GuestInput,
            Kind::Listener,
        ]
    );
    assert!(!kinds(&judgement.back).contains(&Kind::GroupInbound));
    assert!(kinds(&judgement.back).contains(&Kind::GuestInput));
    assert!(judgement.hops().all(|(_, hop)| hop.verdict() == Verdict::Passes));
}

#[test]
fn a_rule_of_an_answering_machine_decides_over_the_answer() {
    let strict = Draft::two()
        .policy("web", "INPUT", "DROP")
        .drops("web", "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT");
    check(&strict.judge("web", "db", 5432), &["PASSES"]);
    let deaf = Draft::two().policy("web", "INPUT", "DROP");
    check(
        &deaf.judge("web", "db", 5432),
        &["BLOCKED", "guest_firewall_policy_drop netfilter/web/filter/INPUT"],
    );
}

#[test]
fn a_port_that_is_translated_is_listened_to_behind_the_translation() {
    let redirected = Draft::two()
        .silent("db")
        .listens("db", "0.0.0.0:15432")
        .nat("db", "-A PREROUTING -p tcp -m tcp --dport 5432 -j REDIRECT --to-ports 15432");
    check(&redirected.judge("web", "db", 5432), &["PASSES"]);
    let dropped = redirected.clone().drops("db", "-A INPUT -p tcp -m tcp --dport 15432 -j DROP");
    check(
        &dropped.judge("web", "db", 5432),
        &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/15432"],
    );
    let untouched = redirected.drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    check(&untouched.judge("web", "db", 5432), &["PASSES"]);
}

#[test]
fn a_destination_that_is_translated_to_another_machine_is_followed_there() {
    let draft = Draft::two()
        .machine("proxy", "10.0.1.9", "app/web")
        .forwarding("proxy", true)
        .nat(
            "proxy",
            "-A PREROUTING -d 10.0.1.9/32 -p tcp -m tcp --dport 6000 -j DNAT --to-destination 10.0.2.4:5432",
        )
        .nat("proxy", "-A POSTROUTING -d 10.0.2.4/32 -j MASQUERADE");
    check(&draft.judge("web", "proxy", 6000), &["PASSES"]);
    let closed = draft.clone().drops("db", "-A INPUT -s 10.0.1.9/32 -p tcp -m tcp --dport 5432 -j DROP");
    check(
        &closed.judge("web", "proxy", 6000),
        &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"],
    );
}

#[test]
fn an_answer_that_comes_from_somebody_else_is_not_taken() {
    // Without the masquerade the answer goes straight to the caller, who never called the one that answers.
    let draft = Draft::two().machine("proxy", "10.0.1.9", "app/web").forwarding("proxy", true).nat(
        "proxy",
        "-A PREROUTING -d 10.0.1.9/32 -p tcp -m tcp --dport 6000 -j DNAT --to-destination 10.0.2.4:5432",
    );
    check(
        &draft.judge("web", "proxy", 6000),
        &["BLOCKED", "asymmetric_path flow/10.0.1.4/10.0.1.9/tcp/6000"],
    );
}

#[test]
fn a_container_behind_a_published_port_is_not_known() {
    let draft = Draft::two()
        .forwarding("db", true)
        .routes("db", "default via 10.0.2.1 dev eth0\n172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1\n")
        .nat("db", "-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER")
        .nat("db", ":DOCKER - [0:0]")
        .nat("db", "-A DOCKER ! -i docker0 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.17.0.2:80")
        .chain("db", "DOCKER-USER")
        .drops("db", "-A FORWARD -j DOCKER-USER")
        .policy("db", "FORWARD", "DROP")
        .drops("db", "-A FORWARD -d 172.17.0.2/32 ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT");
    let judgement = draft.judge("web", "db", 8080);
    assert_eq!(judgement.fate, Fate::Unknown, "{judgement:#?}");
    let shut = draft.drops("db", "-A DOCKER-USER -j DROP");
    check(
        &shut.judge("web", "db", 8080),
        &["BLOCKED", "container_firewall_change netfilter/db/filter/DOCKER-USER"],
    );
    check(&shut.judge("web", "db", 5432), &["PASSES"]);
}

#[test]
fn a_peering_that_refuses_what_others_forward_is_a_gap() {
    let draft = Draft::hub().refuses_forwarded("right", "hub");
    let fate = draft.judge("a", "b", 8443).fate;
    assert!(
        matches!(&fate, Fate::NoPath(why) if why.contains("does not let in what others forward")),
        "{fate}"
    );
}

#[test]
fn a_route_of_the_machine_itself_can_throw_away() {
    let text = "default via 10.0.1.1 dev eth0\nblackhole 10.0.2.0/24\n";
    let draft = Draft::two().routes("web", text);
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "static_blackhole route/web/10.0.2.0/24"]);
    let none = Draft::two().routes("web", "10.0.1.0/24 dev eth0 proto kernel scope link src 10.0.1.4\n");
    check(&none.judge("web", "db", 5432), &["BLOCKED", "no_default_route route/web/default"]);
}

#[test]
fn a_machine_that_does_not_run_answers_nobody() {
    check(&Draft::two().stopped("db").judge("web", "db", 5432), &["BLOCKED", "vm_stopped vm/db"]);
    let appliance = Draft::hub().stopped("nva").judge("a", "b", 8443);
    assert!(
        appliance
            .findings()
            .iter()
            .any(|cause| cause.to_string() == "route_dead_nva route/left-work-rt/to-right")
    );
}

#[test]
fn what_lies_outside_is_not_known_and_what_comes_from_there_is_judged_from_the_gate_on() {
    let draft = Draft::two();
    let out = draft.judge("web", "93.184.215.14", 443);
    assert_eq!(out.fate, Fate::Unknown);
    assert!(out.missing()[0].what.to_string().contains("93.184.215.14:443"));
    let shut = draft.clone().rule("app/web", ("no-out", 100, "Outbound", "Deny", "*", "*", "Internet", "*"));
    check(&shut.judge("web", "93.184.215.14", 443), &["BLOCKED", "nsg_deny nsg/web-nsg/no-out"]);
    let open = draft.public("db", "203.0.113.9");
    check(&open.judge("198.51.100.7", "203.0.113.9", 5432), &["PASSES"]);
    let strangers = open.judge("198.51.100.7", "10.0.2.4", 5432);
    assert_eq!(strangers.flow.dst.to_string(), "10.0.2.4");
}

#[test]
fn a_machine_talks_to_itself_by_its_loopback() {
    let draft = Draft::two().drops("db", "-A INPUT -i lo -p tcp -m tcp --dport 5432 -j DROP");
    let local = draft.estate().judge(&draft.flow("db", "db", Protocol::Tcp, 5432));
    check(&local, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    check(&draft.judge("web", "db", 5432), &["PASSES"]);
}

#[test]
fn an_address_that_nobody_has_is_not_judged_in_somebodys_place() {
    let judgement = Draft::two().judge("web", "10.0.2.77", 5432);
    assert_eq!(judgement.fate, Fate::Unknown);
    assert!(judgement.missing()[0].why.contains("10.0.2.77"));
}
