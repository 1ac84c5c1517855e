//! Load balancers: the rule, the pool, the probe, and what becomes of a flow behind them.

use serde_json::json;

use super::draft::{Draft, check};
use crate::path::{Bundle, Change, Estate, Fate, Kind, Protocol, Reading, remedies};

/// A caller, and two servers on 8443 behind a load balancer at 10.0.2.100.
fn shop() -> Draft {
    Draft::default()
        .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("api", "10.0.2.0/24")])
        .machine("web", "10.0.1.4", "app/web")
        .machine("api-1", "10.0.2.4", "app/api")
        .machine("api-2", "10.0.2.5", "app/api")
        .listens("api-1", "0.0.0.0:8443")
        .listens("api-2", "0.0.0.0:8443")
        .balanced("10.0.2.100", 8443, &["api-1", "api-2"])
}

const FRONT: &str = "10.0.2.100";

#[test]
fn a_flow_passes_to_a_member_whose_probe_is_answered() {
    let judged = shop().judge("web", FRONT, 8443);
    check(&judged, &["PASSES"]);
    assert!(judged.forward.iter().any(|hop| hop.kind == Kind::Balancer));
    assert!(judged.forward.iter().any(|hop| hop.kind == Kind::Listener));
}

#[test]
fn one_member_that_is_out_accuses_nobody_while_others_answer() {
    check(&shop().silent("api-1").judge("web", FRONT, 8443), &["PASSES"]);
    check(&shop().stopped("api-2").judge("web", FRONT, 8443), &["PASSES"]);
    let judged = shop().silent("api-1").judge("web", FRONT, 8443);
    let hop = judged.forward.iter().find(|hop| hop.kind == Kind::Balancer).unwrap();
    assert!(hop.reason.contains("api-1 is out"), "{}", hop.reason);
}

#[test]
fn a_rule_that_keeps_the_probe_out_is_named_and_the_direct_path_passes() {
    let draft = shop()
        .rule("app/api", ("web", 200, "Inbound", "Allow", "Tcp", "10.0.0.0/16", "*", "8443"))
        .rule("app/api", ("deny-all-in", 4096, "Inbound", "Deny", "*", "*", "*", "*"));
    check(&draft.judge("web", "api-1", 8443), &["PASSES"]);
    check(&draft.judge("web", FRONT, 8443), &["BLOCKED", "nsg_deny nsg/api-nsg/deny-all-in"]);
    let tried = remedies(&draft.bundle(), &[draft.flow("web", FRONT, Protocol::Tcp, 8443)]);
    let admits: Vec<String> = tried[0]
        .changes
        .iter()
        .filter_map(|change| {
            let Change::AllowInGroup { admitted, .. } = change else { return None };
            Some(format!("{} -> {}", admitted.src, admitted.dst))
        })
        .collect();
    assert_eq!(admits, ["168.63.129.16 -> 10.0.2.4", "168.63.129.16 -> 10.0.2.5"]);
    assert_eq!(tried[0].after[0].fate, Fate::Passes);
}

#[test]
fn a_filter_in_the_members_that_keeps_the_probe_out_is_named() {
    let drop = "-A INPUT -s 168.63.129.16/32 -j DROP";
    let draft = shop().drops("api-1", drop).drops("api-2", drop);
    check(
        &draft.judge("web", FRONT, 8443),
        &[
            "BLOCKED",
            "guest_firewall_drop netfilter/api-1/filter/INPUT/any/any",
            "guest_firewall_drop netfilter/api-2/filter/INPUT/any/any",
        ],
    );
}

#[test]
fn a_probe_of_another_port_than_is_served_does_not_fit() {
    let draft = shop().balancer("/probes/0/properties/port", json!(8080));
    check(&draft.judge("web", FRONT, 8443), &["BLOCKED", "lb_probe_mismatch lb/lb/alive"]);
}

#[test]
fn nobody_who_listens_is_named_by_machine() {
    let draft = shop().silent("api-1").silent("api-2");
    check(
        &draft.judge("web", FRONT, 8443),
        &["BLOCKED", "not_listening listener/api-1/tcp/8443", "not_listening listener/api-2/tcp/8443"],
    );
}

#[test]
fn a_port_without_a_rule_and_a_pool_without_members_are_distinguished() {
    check(&shop().judge("web", FRONT, 9000), &["BLOCKED", "lb_rule_missing lb/lb/front/tcp/9000"]);
    let empty = shop().balancer("/backendAddressPools/0/properties/backendIPConfigurations", json!([]));
    check(&empty.judge("web", FRONT, 8443), &["BLOCKED", "lb_backend_empty lb/lb/pool"]);
}

#[test]
fn a_member_of_somewhere_else_leaves_it_open() {
    let foreign = json!([{"id": "/networkInterfaces/elsewhere-nic/ipConfigurations/one"}]);
    let draft = shop().balancer("/backendAddressPools/0/properties/backendIPConfigurations", foreign);
    assert_eq!(draft.judge("web", FRONT, 8443).fate, Fate::Unknown);
}

#[test]
fn members_that_are_set_to_take_nothing_are_named() {
    let drained = json!({"backendIPConfigurations": [], "loadBalancerBackendAddresses": [
        {"name": "a", "properties": {"ipAddress": "10.0.2.4", "adminState": "Down"}}]});
    let draft = shop().balancer("/backendAddressPools/0/properties", drained);
    check(&draft.judge("web", FRONT, 8443), &["BLOCKED", "lb_admin_down lb/lb/pool/10.0.2.4"]);
}

#[test]
fn a_floating_address_has_to_be_on_the_machine() {
    let draft = shop().balancer("/loadBalancingRules/0/properties/enableFloatingIP", json!(true));
    check(&draft.judge("web", FRONT, 8443), &["BLOCKED", "lb_floating_ip lb/lb/in"]);
}

#[test]
fn a_port_that_a_rule_changes_is_listened_to_behind_it() {
    let draft = shop().balancer("/loadBalancingRules/0/properties/frontendPort", json!(443));
    check(&draft.judge("web", FRONT, 443), &["PASSES"]);
    check(&draft.judge("web", FRONT, 8443), &["BLOCKED", "lb_rule_missing lb/lb/front/tcp/8443"]);
}

#[test]
fn one_member_that_drops_the_caller_takes_a_share() {
    let draft = shop().drops("api-2", "-A INPUT -s 10.0.1.4/32 -p tcp -m tcp --dport 8443 -j DROP");
    check(
        &draft.judge("web", FRONT, 8443),
        &["DEGRADED", "guest_firewall_drop netfilter/api-2/filter/INPUT/tcp/8443"],
    );
}

#[test]
fn appliances_behind_a_load_balancer_are_no_dead_appliance() {
    let draft = Draft::default()
        .network(
            "app",
            "10.0.0.0/16",
            &[("web", "10.0.1.0/24"), ("db", "10.0.2.0/24"), ("fw", "10.0.3.0/24")],
        )
        .machine("web", "10.0.1.4", "app/web")
        .machine("db", "10.0.2.4", "app/db")
        .machine("fw", "10.0.3.4", "app/fw")
        .forwarding("fw", true)
        .listens("db", "0.0.0.0:5432")
        .route("app/web", "by-fw", "10.0.2.0/24", "VirtualAppliance", Some("10.0.3.100"));
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "route_dead_nva route/app-web-rt/by-fw"]);
    let behind = draft.balanced("10.0.3.100", 0, &["fw"]);
    check(&behind.judge("web", "db", 5432), &["PASSES"]);
}

/// The same, with a probe that asks for a page, and what the servers answer there.
fn paged(answers: &[(&str, &str)]) -> Bundle {
    let probe = json!({"protocol": "Http", "port": 8443, "requestPath": "/up"});
    let mut bundle = shop().balancer("/probes/0/properties", probe).bundle();
    for (machine, line) in answers {
        bundle.guests.get_mut(*machine).unwrap().pages = Some(Reading::Text((*line).to_owned()));
    }
    bundle
}

#[track_caller]
fn check_paged(answers: &[(&str, &str)], expected: &[&str]) {
    let flow = shop().flow("web", FRONT, Protocol::Tcp, 8443);
    check(&Estate::of(&paged(answers)).judge(&flow), expected);
}

#[test]
fn a_page_that_does_not_come_with_200_takes_the_member_out() {
    let (first, second) = ("http://10.0.2.4:8443/up", "http://10.0.2.5:8443/up");
    let all = |first_status: &str, second_status: &str| {
        [("api-1", format!("{first} {first_status}\n")), ("api-2", format!("{second} {second_status}\n"))]
    };
    for (one, other, expected) in [
        ("200 0", "404 0", &["PASSES"][..]),
        ("301 0", "503 0", &["BLOCKED", "lb_probe_status lb/lb/alive"]),
        ("000 52", "404 0", &["BLOCKED", "lb_probe_status lb/lb/alive"]),
        ("000 28", "404 0", &["INDETERMINATE"]),
        ("200 0", "000 28", &["PASSES"]),
    ] {
        let lines = all(one, other);
        let answers: Vec<(&str, &str)> = lines.iter().map(|(name, line)| (*name, line.as_str())).collect();
        check_paged(&answers, expected);
    }
}

#[test]
fn a_page_that_nobody_asked_for_leaves_it_open_and_says_what_to_ask() {
    check_paged(&[], &["INDETERMINATE"]);
    let flow = shop().flow("web", FRONT, Protocol::Tcp, 8443);
    let missing = Estate::of(&paged(&[])).judge(&flow).missing();
    let asked: Vec<String> = missing.iter().map(|one| one.what.to_string()).collect();
    assert_eq!(
        asked,
        ["what api-1 answers to http://10.0.2.4:8443/up", "what api-2 answers to http://10.0.2.5:8443/up"]
    );
    // Another page says nothing about this one.
    check_paged(&[("api-1", "http://10.0.2.4:8443/ 200 0")], &["INDETERMINATE"]);
}

#[test]
fn a_probe_that_only_connects_does_not_care_for_pages() {
    let mut bundle = shop().bundle();
    bundle.guests.get_mut("api-1").unwrap().pages =
        Some(Reading::Text("http://10.0.2.4:8443/ 500 0".to_owned()));
    let flow = shop().flow("web", FRONT, Protocol::Tcp, 8443);
    check(&Estate::of(&bundle).judge(&flow), &["PASSES"]);
}
