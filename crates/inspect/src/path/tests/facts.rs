//! The decision table: what is a finding for a flow, and what is only noticed.

use serde_json::json;

use super::draft::{Draft, check};
use crate::path::{Estate, Fate, Flow, Protocol};

fn pg(draft: &Draft) -> crate::path::Judgement {
    draft.judge("web", "db", 5432)
}

#[track_caller]
fn finds(draft: &Draft, expected: &[&str]) {
    check(&pg(draft), expected);
}

#[track_caller]
fn notices(draft: &Draft, object: &str) {
    let estate = draft.estate();
    let judgement = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
    check(&judgement, &["PASSES"]);
    let report = judgement.report(&estate);
    let objects: Vec<String> = report.noticed.iter().map(|one| one.object.to_string()).collect();
    assert!(objects.iter().any(|own| own == object), "{objects:?}");
}

const INBOUND: &str = "Inbound";

#[test]
fn a_flow_that_nothing_stops_passes() {
    finds(&Draft::two(), &["PASSES"]);
}

#[test]
fn row_1_a_deny_that_decides_is_a_finding() {
    let deny = |port| ("no", 110, INBOUND, "Deny", "Tcp", "*", "*", port);
    for port in ["5432", "5000-6000", "*"] {
        finds(&Draft::two().rule("app/db", deny(port)), &["BLOCKED", "nsg_deny nsg/db-nsg/no"]);
    }
    let outbound = ("no-out", 110, "Outbound", "Deny", "*", "*", "10.0.2.0/24", "*");
    finds(&Draft::two().rule("web", outbound), &["BLOCKED", "nsg_deny nsg/web-own-nsg/no-out"]);
    let all = ("zt-deny-all", 4096, INBOUND, "Deny", "*", "*", "*", "*");
    finds(&Draft::two().rule("app/db", all), &["BLOCKED", "nsg_deny nsg/db-nsg/zt-deny-all"]);
}

#[test]
fn row_2_a_default_rule_that_decides_is_a_finding_where_a_path_exists() {
    // Somebody from outside, who gets in by a public address.
    let draft = Draft::two()
        .public("db", "203.0.113.9")
        .rule("app/db", ("web-only", 200, INBOUND, "Allow", "Tcp", "10.0.1.0/24", "*", "5432"));
    let flow = draft.flow("198.51.100.7", "203.0.113.9", Protocol::Tcp, 5432);
    check(&draft.estate().judge(&flow), &["BLOCKED", "nsg_deny nsg/db-nsg/DenyAllInBound"]);
}

#[test]
fn row_3_a_deny_for_something_else_is_noticed() {
    for rule in [
        ("no", 110, INBOUND, "Deny", "Tcp", "*", "*", "3389"),
        ("no", 110, INBOUND, "Deny", "Tcp", "10.9.0.0/16", "*", "*"),
        ("no", 110, INBOUND, "Deny", "Udp", "*", "*", "5432"),
        ("no", 110, "Outbound", "Deny", "Tcp", "*", "*", "5432"),
    ] {
        notices(&Draft::two().rule("app/db", rule), "nsg/db-nsg/no");
    }
}

#[test]
fn row_4_a_deny_behind_an_allow_is_noticed_and_an_allow_behind_a_deny_helps_nobody() {
    let allow = |priority| ("yes", priority, INBOUND, "Allow", "Tcp", "*", "*", "5432");
    let deny = ("no", 300, INBOUND, "Deny", "Tcp", "*", "*", "5432");
    notices(&Draft::two().rule("app/db", allow(200)).rule("app/db", deny), "nsg/db-nsg/no");
    let behind = Draft::two().rule("app/db", allow(400)).rule("app/db", deny);
    finds(&behind, &["BLOCKED", "nsg_deny nsg/db-nsg/no"]);
}

#[test]
fn row_5_a_deny_all_behind_an_allow_is_noticed() {
    let draft = Draft::two()
        .rule("app/db", ("pg", 200, INBOUND, "Allow", "Tcp", "10.0.1.0/24", "*", "5432"))
        .rule("app/db", ("deny-all", 4096, INBOUND, "Deny", "*", "*", "*", "*"));
    notices(&draft, "nsg/db-nsg/deny-all");
}

#[test]
fn row_6_both_gates_are_findings_where_each_denies() {
    let deny = |name| (name, 110, INBOUND, "Deny", "Tcp", "*", "*", "5432");
    let draft = Draft::two().rule("app/db", deny("at-subnet")).rule("db", deny("at-nic"));
    finds(&draft, &["BLOCKED", "nsg_deny nsg/db-nsg/at-subnet", "nsg_deny nsg/db-own-nsg/at-nic"]);
}

#[test]
fn row_7_a_guest_rule_that_decides_is_a_finding_on_either_machine() {
    let input = Draft::two().drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    finds(&input, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    let output =
        Draft::two().drops("web", "-A OUTPUT -d 10.0.2.0/24 -p tcp -j REJECT --reject-with tcp-reset");
    finds(&output, &["BLOCKED", "guest_firewall_reject netfilter/web/filter/OUTPUT/tcp/any"]);
    let answer = Draft::two().drops("db", "-A OUTPUT -p tcp -m tcp --sport 5432 -j DROP");
    finds(&answer, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/OUTPUT/tcp/5432"]);
    let native = Draft::two().native("db", &native("drop"));
    finds(&native, &["BLOCKED", "guest_firewall_drop netfilter/db/inet:own/in/tcp/5432"]);
}

fn native(verdict: &str) -> Vec<serde_json::Value> {
    vec![
        json!({"table": {"family": "inet", "name": "own", "handle": 1}}),
        json!({"chain": {"family": "inet", "table": "own", "name": "in", "handle": 1, "type": "filter", "hook": "input",
            "prio": -10, "policy": "accept"}}),
        json!({"rule": {"family": "inet", "table": "own", "chain": "in", "handle": 2, "expr": [
            {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 5432}},
            {"counter": {"packets": 0, "bytes": 0}}, {verdict: null}]}}),
    ]
}

#[test]
fn row_8_a_policy_that_nothing_precedes_is_a_finding() {
    let draft = Draft::two()
        .drops("db", "-A INPUT -i lo -j ACCEPT")
        .drops("db", "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT")
        .drops("db", "-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT")
        .policy("db", "INPUT", "DROP");
    finds(&draft, &["BLOCKED", "guest_firewall_policy_drop netfilter/db/filter/INPUT"]);
}

#[test]
fn row_9_a_policy_behind_a_rule_that_accepts_is_noticed() {
    let draft = Draft::two()
        .drops("db", "-A INPUT -i lo -j ACCEPT")
        .drops("db", "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT")
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j ACCEPT")
        .policy("db", "INPUT", "DROP");
    notices(&draft, "netfilter/db/filter/INPUT");
}

#[test]
fn row_10_a_rule_that_takes_a_share_is_a_finding_in_part() {
    for rule in [
        "-A INPUT -p tcp -m tcp --dport 5432 -m statistic --mode random --probability 0.30000000000 -j DROP",
        "-A INPUT -p tcp -m tcp --dport 5432 -m connlimit --connlimit-above 3 --connlimit-mask 32 -j DROP",
    ] {
        let judgement = pg(&Draft::two().drops("db", rule));
        check(&judgement, &["DEGRADED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
        assert_eq!(judgement.fate, Fate::Partly);
    }
    let limited = Draft::two()
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -m limit --limit 10/sec -j ACCEPT")
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    finds(&limited, &["DEGRADED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    let logged =
        Draft::two().drops("db", "-A INPUT -m limit --limit 3/min -j LOG --log-prefix \"[UFW BLOCK] \"");
    finds(&logged, &["PASSES"]);
}

#[test]
fn row_11_rules_of_the_other_family_are_no_finding() {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    let guest = bundle.guests.get_mut("db").unwrap();
    let six = "# Generated by ip6tables-save v1.8.9 (nf_tables)\n*filter\n:INPUT DROP [0:0]\nCOMMIT\n";
    guest.filters.insert("ip6tables-save".into(), crate::path::Reading::Text(six.into()));
    let judgement = Estate::of(&bundle).judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
    check(&judgement, &["PASSES"]);
}

#[test]
fn row_12_what_hardening_drops_is_no_finding() {
    let draft = Draft::two()
        .chain("db", "ufw-not-local")
        .chain("db", "DOCKER-USER")
        .chain("db", "DOCKER")
        .drops("db", "-A INPUT -m conntrack --ctstate INVALID -j DROP")
        .drops("db", "-A INPUT -s 127.0.0.0/8 ! -i lo -j DROP")
        .drops("db", "-A INPUT -j ufw-not-local")
        .drops("db", "-A FORWARD -j DOCKER-USER")
        .drops("db", "-A FORWARD -o docker0 -j DOCKER")
        .drops("db", "-A DOCKER ! -i docker0 -o docker0 -j DROP")
        .drops("db", "-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN")
        .drops("db", "-A ufw-not-local -m addrtype --dst-type MULTICAST -j RETURN")
        .drops("db", "-A ufw-not-local -m addrtype --dst-type BROADCAST -j RETURN")
        .drops("db", "-A ufw-not-local -j DROP")
        .policy("db", "FORWARD", "DROP");
    finds(&draft, &["PASSES"]);
}

#[test]
fn rows_13_and_14_a_ban_of_an_end_is_a_finding_and_one_of_anybody_else_is_noticed() {
    let jail = |address: &str| {
        Draft::two()
            .chain("db", "f2b-sshd")
            .drops("db", "-A INPUT -p tcp -j f2b-sshd")
            .drops(
                "db",
                &format!("-A f2b-sshd -s {address}/32 -j REJECT --reject-with icmp-port-unreachable"),
            )
            .drops("db", "-A f2b-sshd -j RETURN")
    };
    finds(&jail("10.0.1.4"), &["BLOCKED", "fail2ban_ban netfilter/db/f2b-sshd/10.0.1.4"]);
    notices(&jail("198.51.100.9"), "netfilter/db/f2b-sshd/198.51.100.9");
    let other = Draft::two()
        .chain("db", "f2b-sshd")
        .drops("db", "-A INPUT -p tcp -m multiport --dports 22 -j f2b-sshd")
        .drops("db", "-A f2b-sshd -s 10.0.1.4/32 -j REJECT --reject-with icmp-port-unreachable");
    notices(&other, "netfilter/db/f2b-sshd/10.0.1.4");
}

#[test]
fn row_15_a_route_to_none_or_to_nobody_is_a_finding() {
    let none = Draft::two().route("app/web", "gone", "10.0.2.0/24", "None", None);
    finds(&none, &["BLOCKED", "route_blackhole route/app-web-rt/gone"]);
    let dead = Draft::two().route("app/web", "via", "10.0.2.0/24", "VirtualAppliance", Some("10.0.9.9"));
    finds(&dead, &["BLOCKED", "route_dead_nva route/app-web-rt/via"]);
    let back = Draft::two().route("app/db", "gone", "10.0.1.4/32", "None", None);
    finds(&back, &["BLOCKED", "route_blackhole route/app-db-rt/gone"]);
}

#[test]
fn row_16_an_appliance_that_delivers_is_by_design() {
    let draft = Draft::hub();
    let judgement = draft.judge("a", "b", 8443);
    check(&judgement, &["PASSES"]);
    let noticed = judgement.report(&draft.estate()).noticed;
    assert!(noticed.iter().any(|one| one.object.to_string() == "route/left-work-rt/to-right"), "{noticed:?}");
}

#[test]
fn row_17_a_machine_that_does_not_pass_on_is_a_detour() {
    let through = |hop| {
        Draft::two().machine("other", "10.0.1.9", "app/web").route(
            "app/web",
            "via",
            "10.0.2.0/24",
            "VirtualAppliance",
            Some(hop),
        )
    };
    finds(&through("10.0.1.9"), &["BLOCKED", "route_detour route/app-web-rt/via"]);
    finds(&through("10.0.1.9").forwarding("other", false), &["BLOCKED", "route_detour route/app-web-rt/via"]);
    finds(&through("10.0.1.4"), &["BLOCKED", "route_detour route/app-web-rt/via"]);
    let internet = Draft::two().route("app/web", "out", "10.0.2.0/24", "Internet", None);
    finds(&internet, &["BLOCKED", "route_detour route/app-web-rt/out"]);
}

#[test]
fn row_18_what_an_appliance_does_is_found_there() {
    let rule = Draft::hub().drops("nva", "-A FORWARD -p tcp -m tcp --dport 8443 -j DROP");
    check(
        &rule.judge("a", "b", 8443),
        &["BLOCKED", "guest_firewall_drop netfilter/nva/filter/FORWARD/tcp/8443"],
    );
    let policy = Draft::hub().policy("nva", "FORWARD", "DROP");
    check(
        &policy.judge("a", "b", 8443),
        &["BLOCKED", "guest_firewall_policy_drop netfilter/nva/filter/FORWARD"],
    );
    let slow = Draft::hub().shapes("nva", "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 delay 80ms\n");
    check(&slow.judge("a", "b", 8443), &["DEGRADED", "netem_delay qdisc/nva/eth0"]);
    let group = Draft::hub().rule("hub/nva", ("no", 110, INBOUND, "Deny", "*", "10.11.0.0/16", "*", "*"));
    check(&group.judge("a", "b", 8443), &["BLOCKED", "nsg_deny nsg/nva-nsg/no"]);
}

#[test]
fn row_19_routes_for_others_are_noticed() {
    let none = Draft::two().route("app/web", "sink", "10.99.0.0/16", "None", None);
    notices(&none, "route/app-web-rt/sink");
    let dead = Draft::two().route("app/web", "old", "172.20.0.0/16", "VirtualAppliance", Some("10.0.9.9"));
    notices(&dead, "route/app-web-rt/old");
}

#[test]
fn row_20_another_return_path_that_works_is_no_finding() {
    let draft = Draft::hub().machine("shared", "10.10.0.9", "hub/nva").listens("shared", "0.0.0.0:53").route(
        "left/work",
        "to-hub",
        "10.10.0.0/24",
        "VirtualAppliance",
        Some("10.10.0.4"),
    );
    check(&draft.judge("a", "shared", 53), &["PASSES"]);
}

#[test]
fn row_21_another_return_path_that_does_not_work_is_found_where_it_stops() {
    let stateful = Draft::hub()
        .machine("shared", "10.10.0.9", "hub/nva")
        .listens("shared", "0.0.0.0:53")
        .route("left/work", "to-hub", "10.10.0.0/24", "VirtualAppliance", Some("10.10.0.4"))
        .drops("nva", "-A FORWARD -m conntrack --ctstate INVALID -j DROP");
    let expected = ["BLOCKED", "guest_firewall_drop netfilter/nva/filter/FORWARD/any/any"];
    check(&stateful.judge("a", "shared", 53), &expected);
    let one_direction = Draft::hub()
        .peered("left", "right", "Connected")
        .route("left/work", "direct", "10.12.0.4/32", "VnetLocal", None)
        .drops("nva", "-A FORWARD -m conntrack --ctstate INVALID -j DROP");
    check(&one_direction.judge("a", "b", 8443), &expected);
}

#[test]
fn row_22_no_path_is_reported_by_name_and_no_rule_is_at_fault() {
    let apart = Draft::two()
        .network("far", "10.7.0.0/16", &[("work", "10.7.0.0/24")])
        .machine("store", "10.7.0.4", "far/work")
        .listens("store", "0.0.0.0:5432")
        .rule("far/work", ("deny-all", 4096, INBOUND, "Deny", "*", "*", "*", "*"))
        .rule("app/web", ("note", 4000, INBOUND, "Deny", "Tcp", "*", "*", "23"));
    let no_path = |draft: &Draft| match draft.judge("web", "store", 5432).fate {
        Fate::NoPath(why) => why,
        other @ (Fate::Passes | Fate::Degraded | Fate::Partly | Fate::Stopped | Fate::Unknown) => {
            panic!("{other:?}")
        }
    };
    assert_eq!(no_path(&apart), "app and far are not peered");
    for state in ["Disconnected", "Initiated"] {
        let why = no_path(&apart.clone().peered("app", "far", state));
        assert_eq!(why, format!("the peering app-to-far of app is {state}"));
    }
    let joined = apart.clone().peered("app", "far", "Connected");
    check(&joined.judge("web", "store", 5432), &["BLOCKED", "nsg_deny nsg/work-nsg/deny-all"]);
    let findings = apart.judge("web", "store", 5432).findings();
    assert!(findings.iter().all(|cause| cause.fault.is_gap()), "{findings:?}");
    let gateway = Draft::two().route("app/web", "onprem", "10.0.2.0/24", "VirtualNetworkGateway", None);
    assert!(matches!(pg(&gateway).fate, Fate::NoPath(why) if why.contains("has none")));
}

#[test]
fn row_23_shaping_of_a_device_that_sends_is_a_finding() {
    let netem = |what: &str| format!("qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 {what}\n");
    for (name, what, fault) in [
        ("web", "delay 80ms", "netem_delay"),
        ("db", "loss 5%", "netem_loss"),
        ("db", "corrupt 1%", "netem_corrupt"),
        ("web", "duplicate 2%", "netem_duplicate"),
    ] {
        let draft = Draft::two().shapes(name, &netem(what));
        finds(&draft, &["DEGRADED", &format!("{fault} qdisc/{name}/eth0")]);
    }
    let both = Draft::two().shapes("db", &netem("delay 10ms loss 5%"));
    finds(&both, &["DEGRADED", "netem_delay qdisc/db/eth0", "netem_loss qdisc/db/eth0"]);
    let rate =
        Draft::two().shapes("db", "qdisc tbf 1: dev eth0 root refcnt 2 rate 2Mbit burst 16Kb lat 344ms\n");
    finds(&rate, &["DEGRADED", "rate_limit qdisc/db/eth0"]);
}

#[test]
fn row_24_shaping_that_the_flow_does_not_meet_is_noticed() {
    let other = format!(
        "{}{}",
        "qdisc netem 1: dev eth1 root refcnt 2 limit 1000 delay 80ms\n", "qdisc fq 0: dev eth0 root\n"
    );
    notices(&Draft::two().shapes("db", &other), "qdisc/db/eth1");
    let exempt = "qdisc prio 1: dev eth0 root refcnt 2 bands 4 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
        qdisc netem 30: dev eth0 parent 1:3 limit 1000 delay 80ms\n\
        filter parent 1: protocol ip pref 1 u32 chain 0\n\
        filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1\n\
        filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:4\n\
        \x20 match 00000016/0000ffff at 20\n\
        filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::801 order 2049 key ht 800 bkt 0 flowid 1:4\n\
        \x20 match 00160000/ffff0000 at 20\n";
    let draft = Draft::two().shapes("db", exempt);
    check(&draft.judge("web", "db", 22), &["PASSES"]);
    check(&pg(&draft), &["DEGRADED", "netem_delay qdisc/db/eth0"]);
}

#[test]
fn row_25_ordinary_queues_are_nothing() {
    for text in [
        "qdisc noqueue 0: dev lo root refcnt 2\nqdisc mq 0: dev eth0 root\nqdisc pfifo_fast 0: dev eth0 parent :1 bands 3\n",
        "qdisc fq 8001: dev eth0 root refcnt 2 limit 10000p\n Sent 9 bytes 1 pkt (dropped 3, overlimits 0 requeues 0)\n",
    ] {
        finds(&Draft::two().shapes("db", text), &["PASSES"]);
    }
}

#[test]
fn rows_26_and_27_nobody_who_listens_is_a_finding_with_who_listens_where() {
    let refused = "tcp_refused flow/10.0.1.4/10.0.2.4/tcp/5432";
    finds(&Draft::two().silent("db"), &["BLOCKED", refused]);
    for end in ["127.0.0.1:5432", "[::]:5432", "10.0.2.99:5432"] {
        let judgement = pg(&Draft::two().silent("db").listens("db", end));
        check(&judgement, &["BLOCKED", refused]);
        let reason = &judgement.causes()[0].1.reason;
        assert!(reason.contains(end.trim_end_matches(":5432")), "{reason}");
    }
    finds(&Draft::two().silent("db").listens("db", "0.0.0.0:5433"), &["BLOCKED", refused]);
}

#[test]
fn row_28_nobody_who_listens_behind_something_that_stops_does_not_count() {
    let rule = "-A INPUT -p tcp -m tcp --dport 5432 -j DROP";
    let judgement = pg(&Draft::two().silent("db").drops("db", rule));
    check(&judgement, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    assert_eq!(judgement.masked.len(), 1);
    let share = "-A INPUT -p tcp -m tcp --dport 5432 -m statistic --mode random --probability 0.3 -j DROP";
    let judgement = pg(&Draft::two().silent("db").drops("db", share));
    check(&judgement, &["DEGRADED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
}

#[test]
fn row_29_an_application_that_listens_is_no_matter_of_the_network() {
    let judgement = pg(&Draft::two());
    let listener = judgement.forward.last().unwrap();
    assert!(listener.reason.contains("listens at 0.0.0.0:5432"), "{listener:?}");
}

#[test]
fn row_30_addresses_of_the_platform_follow_neither_routes_nor_ordinary_rules() {
    let draft = Draft::two()
        .rule("app/web", ("deny-53", 150, "Outbound", "Deny", "*", "*", "*", "53"))
        .route("app/web", "all", "0.0.0.0/0", "None", None);
    let names = |draft: &Draft| draft.estate().judge(&draft.flow("web", "168.63.129.16", Protocol::Udp, 53));
    check(&names(&draft), &["PASSES"]);
    let named = ("deny-dns", 140, "Outbound", "Deny", "*", "*", "AzurePlatformDNS", "*");
    check(&names(&draft.clone().rule("app/web", named)), &["BLOCKED", "nsg_deny nsg/web-nsg/deny-dns"]);
    let guest = draft.clone().drops("web", "-A OUTPUT -d 168.63.129.16/32 -p udp -m udp --dport 53 -j DROP");
    check(&names(&guest), &["BLOCKED", "guest_firewall_drop netfilter/web/filter/OUTPUT/udp/53"]);
    // Probes come from there, and inbound rules hold for them.
    let probe =
        Flow::new("168.63.129.16".parse().unwrap(), "10.0.2.4".parse().unwrap(), Protocol::Tcp, Some(5432));
    let closed = Draft::two().rule("app/db", ("all", 4000, INBOUND, "Deny", "*", "*", "*", "*"));
    let closed = closed.rule("app/db", ("web", 200, INBOUND, "Allow", "Tcp", "10.0.1.0/24", "*", "5432"));
    check(&closed.estate().judge(&probe.clone().unwrap()), &["BLOCKED", "nsg_deny nsg/db-nsg/all"]);
    let open = closed.rule("app/db", ("probe", 3900, INBOUND, "Allow", "*", "AzureLoadBalancer", "*", "*"));
    check(&open.estate().judge(&probe.unwrap()), &["PASSES"]);
}

#[test]
fn rows_31_to_33_who_asks_for_exposure_asks_every_gate_before_the_machine() {
    let open = Draft::two()
        .public("db", "203.0.113.9")
        .listens("db", "0.0.0.0:3389")
        .rule("db", ("rdp-any", 300, INBOUND, "Allow", "Tcp", "*", "*", "3389"));
    let rdp =
        |draft: &Draft| draft.estate().judge(&draft.flow("198.51.100.7", "203.0.113.9", Protocol::Tcp, 3389));
    check(&rdp(&open), &["PASSES"]);
    let causes = |draft: &Draft| {
        let found = draft.estate().exposure("db", &[22, 3389]);
        let all = |causes: &std::collections::BTreeSet<crate::path::Cause>| -> Vec<String> {
            causes.iter().map(ToString::to_string).collect()
        };
        (all(&found.causes), all(&found.moot))
    };
    let rule = "nsg_exposure nsg/db-own-nsg/rdp-any".to_owned();
    assert_eq!(causes(&open), (vec![rule.clone()], vec![]));
    // Its own packet filter does not count.
    assert_eq!(causes(&open.clone().policy("db", "INPUT", "DROP")), (vec![rule.clone()], vec![]));
    let shut = open.rule("app/db", ("deny-inet", 100, INBOUND, "Deny", "Tcp", "Internet", "*", "3389"));
    assert_eq!(causes(&shut), (vec![], vec![rule]));
    check(&rdp(&shut), &["BLOCKED", "nsg_deny nsg/db-nsg/deny-inet", "nsg_deny nsg/db-nsg/DenyAllInBound"]);
}

#[test]
fn icmp_is_judged_as_icmp() {
    let ping = |draft: &Draft| draft.estate().judge(&draft.flow("web", "db", Protocol::Icmp, 0));
    let ports = Draft::two()
        .rule("app/db", ("no", 110, INBOUND, "Deny", "Tcp", "*", "*", "*"))
        .drops("db", "-A INPUT -p tcp -j DROP")
        .silent("db");
    check(&ping(&ports), &["PASSES"]);
    let all = Draft::two().rule("app/db", ("all", 110, INBOUND, "Deny", "*", "*", "*", "*"));
    check(&ping(&all), &["BLOCKED", "nsg_deny nsg/db-nsg/all"]);
    let echo = Draft::two().drops("db", "-A INPUT -p icmp -j DROP");
    check(&ping(&echo), &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/icmp/any"]);
}
