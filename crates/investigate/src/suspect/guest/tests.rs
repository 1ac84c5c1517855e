//! Facts about what a packet filter stops.

use super::{deciding, stops};
use ghost_inspect::netfilter::{Bundle, Host, Packet, Source, walk_host};

fn host(sources: &[(&str, &str)]) -> Host {
    let mut bundle = Bundle::default();
    for name in ghost_inspect::netfilter::SOURCES {
        bundle.sources.insert(name.to_owned(), Source::Text(String::new()));
    }
    for (name, text) in sources {
        bundle.sources.insert((*name).to_owned(), Source::Text((*text).to_owned()));
    }
    Host::read(&bundle)
}

fn filter(policies: [&str; 3], chains: &[&str], rules: &[&str]) -> String {
    let mut text = "*filter\n".to_owned();
    for (chain, policy) in ["INPUT", "FORWARD", "OUTPUT"].iter().zip(policies) {
        text.push_str(&format!(":{chain} {policy} [0:0]\n"));
    }
    chains.iter().for_each(|chain| text.push_str(&format!(":{chain} - [0:0]\n")));
    rules.iter().for_each(|rule| text.push_str(&format!("-A {rule}\n")));
    text.push_str("COMMIT\n");
    text
}

fn found(text: &str) -> Vec<String> {
    objects(&host(&[("iptables-nft", text)]))
}

fn objects(host: &Host) -> Vec<String> {
    let all = stops("vm", host).into_iter().flat_map(|stop| stop.suspects);
    all.map(|one| format!("{} {}", one.code, one.object)).collect()
}

const OPEN: [&str; 3] = ["ACCEPT", "ACCEPT", "ACCEPT"];

#[test]
fn a_rule_is_named_by_protocol_and_port() {
    for (rule, wanted) in [
        ("INPUT -p tcp -m tcp --dport 5001 -j DROP", "drop netfilter/vm/filter/INPUT/tcp/5001"),
        ("OUTPUT -p tcp -m tcp --dport 80 -j DROP", "drop netfilter/vm/filter/OUTPUT/tcp/80"),
        ("INPUT -p icmp -j DROP", "drop netfilter/vm/filter/INPUT/icmp/any"),
        (
            "INPUT -p udp -m udp --dport 53:60 -j REJECT --reject-with icmp-port-unreachable",
            "reject netfilter/vm/filter/INPUT/udp/53-60",
        ),
        (
            "INPUT ! -s 127.0.0.1/32 -p tcp -m tcp --dport 6379 -j DROP",
            "drop netfilter/vm/filter/INPUT/tcp/6379",
        ),
        ("INPUT -s 10.0.1.4/32 -j DROP", "drop netfilter/vm/filter/INPUT/any/any"),
        ("FORWARD -p tcp -m tcp --dport 443 -j DROP", "drop netfilter/vm/filter/FORWARD/tcp/443"),
    ] {
        assert_eq!(found(&filter(OPEN, &[], &[rule])), [format!("guest_firewall_{wanted}")], "{rule}");
    }
}

#[test]
fn several_ports_are_several_faults() {
    let text = filter(OPEN, &[], &["INPUT -p tcp -m multiport --dports 80,443 -j DROP"]);
    let drop = "guest_firewall_drop netfilter/vm/filter/INPUT/tcp";
    assert_eq!(found(&text), [format!("{drop}/80"), format!("{drop}/443")]);
}

#[test]
fn what_every_sane_filter_stops_is_no_fault() {
    let text = filter(
        OPEN,
        &["lonely"],
        &[
            "INPUT -i lo -j ACCEPT",
            "INPUT -s 127.0.0.0/8 ! -i lo -j DROP",
            "INPUT -m conntrack --ctstate INVALID -j DROP",
            "INPUT -p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE -j DROP",
            "INPUT -p tcp -m tcp --dport 22 -j ACCEPT",
            "INPUT -p tcp -m tcp --dport 22 -j DROP",
            "INPUT -j ACCEPT",
            "INPUT -p tcp -m tcp --dport 80 -j DROP",
            "lonely -j DROP",
        ],
    );
    assert!(found(&text).is_empty(), "{:?}", found(&text));
}

#[test]
fn a_policy_stands_for_what_no_rule_allows() {
    let text = filter(
        ["DROP", "ACCEPT", "ACCEPT"],
        &[],
        &[
            "INPUT -s 168.63.129.16/32 -j ACCEPT",
            "INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
            "INPUT -p tcp -m tcp --dport 22 -j ACCEPT",
        ],
    );
    assert_eq!(found(&text), ["guest_firewall_policy_drop netfilter/vm/filter/INPUT"]);
    assert!(found(&filter(["DROP", "ACCEPT", "ACCEPT"], &[], &["INPUT -j ACCEPT"])).is_empty());
}

#[test]
fn a_jail_is_named_with_whom_it_keeps_out() {
    let text = filter(
        OPEN,
        &["f2b-sshd"],
        &[
            "INPUT -p tcp -m multiport --dports 22 -j f2b-sshd",
            "f2b-sshd -s 203.0.113.47/32 -j REJECT --reject-with icmp-port-unreachable",
            "f2b-sshd -j RETURN",
        ],
    );
    assert_eq!(found(&text), ["fail2ban_ban netfilter/vm/f2b-sshd/203.0.113.47"]);
    let rule = filter(OPEN, &[], &["INPUT -p tcp -m set --match-set f2b-sshd src -j DROP"]);
    let set = "create f2b-sshd hash:ip family inet hashsize 1024 maxelem 65536 timeout 600\nadd f2b-sshd 203.0.113.9 timeout 500\n";
    let host = host(&[("iptables-nft", &rule), ("ipset", set)]);
    assert_eq!(objects(&host), ["fail2ban_ban netfilter/vm/f2b-sshd/203.0.113.9"]);
}

/// What the container engine writes, with one more rule in its last chain.
fn docker(more: &[&str], policy: &str) -> String {
    let chains = ["DOCKER", "DOCKER-ISOLATION-STAGE-1", "DOCKER-ISOLATION-STAGE-2", "DOCKER-USER"];
    let mut rules = vec![
        "FORWARD -j DOCKER-USER",
        "FORWARD -j DOCKER-ISOLATION-STAGE-1",
        "FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        "FORWARD -o docker0 -j DOCKER",
        "FORWARD -i docker0 ! -o docker0 -j ACCEPT",
        "DOCKER ! -i docker0 -o docker0 -j DROP",
        "DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2",
        "DOCKER-ISOLATION-STAGE-1 -j RETURN",
        "DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP",
    ];
    rules.extend(more);
    rules.extend(["DOCKER-ISOLATION-STAGE-2 -j RETURN", "DOCKER-USER -j RETURN"]);
    filter(["ACCEPT", policy, "ACCEPT"], &chains, &rules)
}

#[test]
fn an_engines_own_walls_are_no_fault_and_a_wall_too_much_is() {
    assert!(found(&docker(&[], "DROP")).is_empty(), "{:?}", found(&docker(&[], "DROP")));
    let stage = ["container_firewall_change netfilter/vm/filter/DOCKER-ISOLATION-STAGE-2"];
    assert_eq!(found(&docker(&["DOCKER-ISOLATION-STAGE-2 -j DROP"], "ACCEPT")), stage);
    let user = ["container_firewall_change netfilter/vm/filter/DOCKER-USER"];
    assert_eq!(found(&docker(&["DOCKER-USER -p tcp -m tcp --dport 80 -j DROP"], "ACCEPT")), user);
}

#[test]
fn a_native_table_has_its_family_in_its_name() {
    let text = serde_json::json!({"nftables": [
        {"metainfo": {"version": "1.0.9", "json_schema_version": 1}},
        {"table": {"family": "inet", "name": "guard", "handle": 1}},
        {"chain": {"family": "inet", "table": "guard", "name": "in", "handle": 1, "type": "filter", "hook": "input", "prio": 0,
            "policy": "drop"}},
        {"rule": {"family": "inet", "table": "guard", "chain": "in", "handle": 2, "expr": [
            {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"set": [80, {"range": [90, 99]}]}}},
            {"drop": null}]}},
        {"rule": {"family": "inet", "table": "guard", "chain": "in", "handle": 3, "expr": [
            {"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": "invalid"}}, {"drop": null}]}},
        {"rule": {"family": "inet", "table": "guard", "chain": "in", "handle": 4, "expr": [
            {"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "icmp"}}, {"reject": null}]}},
    ]});
    let host = host(&[("nft", &text.to_string())]);
    assert_eq!(
        objects(&host),
        [
            "guest_firewall_drop netfilter/vm/inet:guard/in/tcp/80",
            "guest_firewall_drop netfilter/vm/inet:guard/in/tcp/90-99",
            "guest_firewall_reject netfilter/vm/inet:guard/in/icmp/any",
            "guest_firewall_policy_drop netfilter/vm/inet:guard/in",
        ]
    );
}

#[test]
fn a_packet_is_stopped_by_one_place() {
    let rules = ["INPUT -p tcp -m tcp --dport 5001 -j DROP", "INPUT -p icmp -j DROP"];
    let host = host(&[("iptables-nft", &filter(OPEN, &[], &rules))]);
    let packet = Packet::parse("input", "tcp", "10.0.1.4", "10.0.1.5").unwrap().dport(5001);
    let answer = walk_host(&host, &packet).unwrap();
    let decided = deciding(&answer, &stops("vm", &host));
    assert_eq!(decided.len(), 1);
    assert_eq!(decided[0].object, "netfilter/vm/filter/INPUT/tcp/5001");
}
