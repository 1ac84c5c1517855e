//! Facts about what a machine has and no figure describes: it is named, and nothing is said to be well.

use std::collections::BTreeMap;

use crate::host::*;

const HEALTHY: &str = include_str!("../../../../../tests/fixtures/host/healthy.json");

fn healthy() -> BTreeMap<String, Gathered> {
    let document: serde_json::Value = serde_json::from_str(HEALTHY).unwrap();
    serde_json::from_value(document["hosts"].clone()).unwrap()
}

fn alone(gathered: &Gathered) -> Judgement {
    judge(&[Host::read("web-1", gathered)], &Context { whole: true, ..Context::default() })
}

#[test]
fn a_default_route_of_ipv6_is_none_of_ipv4() {
    let own = healthy().remove("web-1").unwrap();
    let routes = r#"[{"dst":"10.0.0.0/24","dev":"eth0","protocol":"kernel","scope":"link","flags":[]}]"#;
    let default6 = r#"[{"dst":"default","dev":"tun0","metric":1024,"flags":[]},{"dst":"fd00::/64","dev":"eth0","flags":[]}]"#;
    let judged = alone(&own.with(Part::Routes, routes).with(Part::Routes6, default6));
    let faults: Vec<String> = judged.findings.iter().map(ToString::to_string).collect();
    assert!(faults.iter().any(|one| one.starts_with("no_default_route")), "{faults:?}");
}

#[test]
fn filters_with_actions_and_disciplines_that_are_not_known_are_named() {
    let own = healthy().remove("web-1").unwrap();
    let clsact = "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p\nqdisc clsact ffff: dev eth0 parent ffff:fff1\n";
    let is_open = |text: &str| {
        let gathered = own.clone().with(Part::Qdiscs, text).with(Part::QdiscsLater, text);
        alone(&gathered).missing.iter().any(|one| one.part == Part::QdiscsLater)
    };
    assert!(is_open(clsact));
    assert!(!is_open(&format!("{clsact}filters dev eth0\n")));
    let drop = "filter dev eth0 parent ffff:fff2 protocol all pref 1 matchall chain 0 handle 0x1\n\taction order 1: gact action drop\n";
    assert!(is_open(&format!("{clsact}{drop}filters dev eth0\n")));
    let mirror = "filter dev eth0 parent ffff:fff2 protocol all pref 1 matchall chain 0 handle 0x1\n\taction order 1: mirred (Egress Mirror to device ifb0) pipe\n";
    assert!(!is_open(&format!("{clsact}{mirror}filters dev eth0\n")));
    assert!(is_open("qdisc made_up 1: dev eth0 root refcnt 2\n"));
}
