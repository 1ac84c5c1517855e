//! Facts about what a packet meets inside a machine: what is not walked is not absent.

use serde_json::{Value, json};

use super::draft::Draft;
use crate::path::{Bundle, Estate, Guest, Judgement, Protocol, Reading};

fn judge(change: impl FnOnce(&mut Bundle)) -> Judgement {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    change(&mut bundle);
    Estate::of(&bundle).judge(&draft.flow("web", "db", Protocol::Tcp, 5432))
}

fn verdict(change: impl FnOnce(&mut Bundle)) -> &'static str {
    judge(change).fate.verdict()
}

fn guest<'a>(bundle: &'a mut Bundle, name: &str) -> &'a mut Guest {
    bundle.guests.get_mut(name).unwrap()
}

/// The verdict where a machine has these tables of `nft`: table and chain as rows, and the rules of the chain.
fn native(machine: &str, rows: Vec<Value>) -> &'static str {
    verdict(|bundle| {
        let text = json!({"nftables": rows}).to_string();
        guest(bundle, machine).filters.insert("nft".to_owned(), Reading::Text(text));
    })
}

fn table(family: &str) -> Value {
    json!({"table": {"family": family, "name": "t", "handle": 1}})
}

fn chain(family: &str, hook: &str, policy: &str, device: Option<Value>) -> Value {
    json!({"chain": {"family": family, "table": "t", "name": "c", "handle": 1, "type": "filter", "hook": hook, "prio": -300,
        "policy": policy, "dev": device}})
}

fn rule(family: &str, expressions: Value) -> Value {
    json!({"rule": {"family": family, "table": "t", "chain": "c", "handle": 2, "expr": expressions}})
}

fn port(port: u16) -> Value {
    json!({"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": port}})
}

#[test]
fn a_chain_of_a_device_judges_what_comes_and_leaves_by_it() {
    let drops = |family: &str, hook: &str, device: &str, at: u16| {
        vec![
            table(family),
            chain(family, hook, "accept", Some(json!(device))),
            rule(family, json!([port(at), {"drop": null}])),
        ]
    };
    for family in ["netdev", "inet"] {
        assert_eq!(native("db", drops(family, "ingress", "eth0", 5432)), "BLOCKED", "{family}");
        assert_eq!(native("db", drops(family, "ingress", "eth0", 80)), "PASSES", "{family}");
        assert_eq!(native("db", drops(family, "ingress", "eth7", 5432)), "PASSES", "{family}");
        assert_eq!(native("web", drops(family, "egress", "eth0", 5432)), "BLOCKED", "{family}");
        assert_eq!(native("web", drops(family, "egress", "eth7", 5432)), "PASSES", "{family}");
    }
    let several = vec![table("netdev"), chain("netdev", "ingress", "drop", Some(json!(["eth0", "eth1"])))];
    assert_eq!(native("db", several), "BLOCKED");
    let unbound = vec![table("netdev"), chain("netdev", "ingress", "drop", None)];
    assert_eq!(native("db", unbound), "INDETERMINATE");
}

#[test]
fn tables_of_arp_and_of_bridges_open_what_they_may_drop() {
    for (family, hook) in [("arp", "input"), ("bridge", "forward")] {
        let of = |policy: &str| vec![table(family), chain(family, hook, policy, None)];
        assert_eq!(native("db", of("drop")), "INDETERMINATE", "{family}");
        assert_eq!(native("db", of("accept")), "PASSES", "{family}");
        let mut dropping = of("accept");
        dropping.push(rule(family, json!([{"drop": null}])));
        assert_eq!(native("db", dropping), "INDETERMINATE", "{family}");
    }
}

fn save(text: &'static str) -> &'static str {
    verdict(|bundle| {
        let filters = &mut guest(bundle, "db").filters;
        let old = filters.keys().find(|name| name.starts_with("iptables")).cloned().unwrap();
        filters.insert(old, Reading::Text(text.to_owned()));
    })
}

#[test]
fn what_is_not_tracked_is_untracked_at_the_next_hook_and_its_answer_belongs_to_nothing() {
    const RAW: &str = "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A PREROUTING -p tcp --dport 5432 -j CT --notrack\n";
    let with = |rest: &str| -> &'static str {
        let text = format!("{RAW}{rest}");
        verdict(move |bundle| {
            let filters = &mut guest(bundle, "db").filters;
            let old = filters.keys().find(|name| name.starts_with("iptables")).cloned().unwrap();
            filters.insert(old, Reading::Text(text));
        })
    };
    let drops_new = "COMMIT\n*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
        -A INPUT -m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT\nCOMMIT\n";
    assert_eq!(with(drops_new), "BLOCKED");
    let takes_untracked = "COMMIT\n*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
        -A INPUT -m conntrack --ctstate UNTRACKED -j ACCEPT\nCOMMIT\n";
    assert_eq!(with(takes_untracked), "PASSES");
    let drops_untracked = "COMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
        -A INPUT -m conntrack --ctstate UNTRACKED -j DROP\nCOMMIT\n";
    assert_eq!(with(drops_untracked), "BLOCKED");
    // The answer is not established: nothing of the connection is known.
    let answers = "COMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT DROP [0:0]\n\
        -A OUTPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT\nCOMMIT\n";
    assert_eq!(with(answers), "BLOCKED");
    let both = format!(
        "-A OUTPUT -p tcp --sport 5432 -j CT --notrack\n{}",
        answers.replace("ESTABLISHED", "UNTRACKED")
    );
    assert_eq!(with(&both), "PASSES");
    // In another zone it may be known, or not.
    let zone = "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A PREROUTING -p tcp --dport 5432 -j CT --zone 7\nCOMMIT\n\
        *filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT DROP [0:0]\n-A OUTPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT\nCOMMIT\n";
    assert_eq!(save(zone), "INDETERMINATE");
}

#[test]
fn a_mark_of_one_hook_is_known_at_the_next() {
    let text = |mark: &str| -> &'static str {
        let text = format!(
            "*mangle\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n\
             -A PREROUTING -p tcp --dport 5432 -j MARK --set-xmark 0x5/0xffffffff\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n\
             :OUTPUT ACCEPT [0:0]\n-A INPUT -m mark --mark {mark} -j DROP\nCOMMIT\n"
        );
        verdict(move |bundle| {
            let filters = &mut guest(bundle, "db").filters;
            let old = filters.keys().find(|name| name.starts_with("iptables")).cloned().unwrap();
            filters.insert(old, Reading::Text(text));
        })
    };
    assert_eq!((text("0x5"), text("0x6")), ("BLOCKED", "PASSES"));
}

#[test]
fn an_address_of_a_machine_is_no_broadcast() {
    let text = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
        -A INPUT -m addrtype --src-type BROADCAST -j DROP\n-A INPUT -m addrtype --dst-type BROADCAST,MULTICAST,ANYCAST -j DROP\nCOMMIT\n";
    assert_eq!(save(text), "PASSES");
    let fib = |kinds: Value, verdict: &str| {
        let asked = json!({"match": {"op": "==", "left": {"fib": {"result": "type", "flags": ["saddr"]}}, "right": kinds}});
        native(
            "db",
            vec![
                table("inet"),
                chain("inet", "input", "accept", None),
                rule("inet", json!([asked, { verdict: null }])),
            ],
        )
    };
    assert_eq!(fib(json!("broadcast"), "drop"), "PASSES");
    assert_eq!(fib(json!({"set": ["broadcast", "anycast"]}), "drop"), "PASSES");
    assert_eq!(fib(json!("unicast"), "drop"), "INDETERMINATE");
}

fn shaped(machine: &str, text: &str) -> &'static str {
    let text = text.to_owned();
    verdict(|bundle| guest(bundle, machine).shaping = Some(Reading::Text(text)))
}

#[test]
fn filters_with_actions_are_asked_at_both_ends() {
    const CLSACT: &str = "qdisc noqueue 0: dev eth0 root refcnt 2\nqdisc clsact ffff: dev eth0 parent ffff:fff1\nfilters dev eth0\n";
    let with = |parent: &str, rest: &str| {
        format!(
            "{CLSACT}filter dev eth0 parent {parent} protocol ip pref 1 u32 chain 0\n\
             filter dev eth0 parent {parent} protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 not_in_hw\n{rest}"
        )
    };
    let port = "  match 00001538/0000ffff at 20\n";
    let other = "  match 00000050/0000ffff at 20\n";
    let drop = "\taction order 1: gact action drop\n\t random type none pass val 0\n";
    assert_eq!(shaped("db", &with("ffff:fff2", &format!("{port}{drop}"))), "BLOCKED");
    assert_eq!(shaped("db", &with("ffff:fff2", &format!("{other}{drop}"))), "PASSES");
    assert_eq!(shaped("web", &with("ffff:fff3", &format!("{port}{drop}"))), "BLOCKED");
    assert_eq!(shaped("web", &with("ffff:fff2", &format!("{port}{drop}"))), "PASSES");
    let police = "\taction order 1:  police 0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b\n";
    assert_eq!(shaped("db", &with("ffff:fff2", &format!("{port}{police}"))), "DEGRADED");
    let mirror = "\taction order 1: mirred (Egress Mirror to device ifb0) pipe\n";
    assert_eq!(shaped("db", &with("ffff:fff2", &format!("{port}{mirror}"))), "PASSES");
    let redirect = "\taction order 1: mirred (Egress Redirect to device ifb0) stolen\n";
    assert_eq!(shaped("db", &with("ffff:fff2", &format!("{port}{redirect}"))), "INDETERMINATE");
    let bpf = format!(
        "{CLSACT}filter dev eth0 parent ffff:fff2 protocol all pref 1 bpf chain 0 handle 0x1 prog.o:[tc] direct-action\n"
    );
    assert_eq!(shaped("db", &bpf), "INDETERMINATE");
    assert_eq!(shaped("db", CLSACT), "PASSES");
    // Lists of filters that nobody asked for are not empty ones.
    assert_eq!(shaped("db", &CLSACT.replace("filters dev eth0\n", "")), "INDETERMINATE");
    let json = r#"[{"kind":"noqueue","handle":"0:","dev":"eth0","root":true,"options":{}},{"kind":"clsact","handle":"ffff:","dev":"eth0","parent":"ffff:fff1","options":{}}]
[{"dev":"eth0","parent":"ffff:fff2","protocol":"ip","pref":1,"kind":"flower","chain":0,"options":{"handle":1,"keys":{"ip_proto":"tcp","dst_port":5432},"actions":[{"order":1,"kind":"gact","control_action":{"type":"drop"}}]}}]"#;
    assert_eq!(shaped("db", json), "BLOCKED");
}

#[test]
fn what_takes_every_packet_stops_and_what_has_no_figure_is_open() {
    assert_eq!(shaped("web", "qdisc blackhole 1: dev eth0 root refcnt 2\n"), "BLOCKED");
    assert_eq!(shaped("web", "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss 100%\n"), "BLOCKED");
    assert_eq!(
        shaped(
            "web",
            "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss gemodel p 10% r 20% 1-h 100% 1-k 0%\n"
        ),
        "DEGRADED"
    );
    assert_eq!(
        shaped(
            "web",
            "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss state p13 10% p31 20% p32 0% p23 100% p14 0%\n"
        ),
        "INDETERMINATE"
    );
    assert_eq!(shaped("web", "qdisc made_up 1: dev eth0 root refcnt 2\n"), "INDETERMINATE");
}

fn routed(routes: &str, rules: Option<&str>) -> &'static str {
    let (routes, rules) = (routes.to_owned(), rules.map(str::to_owned));
    verdict(move |bundle| {
        let own = guest(bundle, "web");
        own.routes = Some(Reading::Text(routes));
        own.rules = rules.map(Reading::Text).or(own.rules.take());
    })
}

#[test]
fn routes_and_rules_are_asked_as_the_kernel_does() {
    let main = "default via 10.0.1.1 dev eth0\n10.0.1.0/24 dev eth0 proto kernel scope link src 10.0.1.4\n";
    assert_eq!(routed(main, None), "PASSES");
    assert_eq!(routed(&format!("{main}throw 10.0.2.0/24\n"), None), "BLOCKED");
    assert_eq!(routed(&format!("{main}10.0.2.0/24 dev eth1 dead linkdown\n"), None), "PASSES");
    assert_eq!(routed(&format!("{main}10.0.2.0/24 dev eth1 linkdown\n"), None), "BLOCKED");
    assert_eq!(routed(&format!("{main}unreachable 10.0.2.0/24 tos 0x10\n"), None), "PASSES");
    assert_eq!(routed(&format!("{main}10.0.2.0/24 dev tun0\n"), None), "INDETERMINATE");
    let local = "0:\tfrom all lookup local\n32767:\tfrom all lookup default\n";
    assert_eq!(routed(main, Some(local)), "BLOCKED");
    let usual = "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n";
    assert_eq!(routed(main, Some(usual)), "PASSES");
    assert_eq!(routed(main, Some(&format!("100:\tfrom 10.0.1.4 lookup 100\n{usual}"))), "INDETERMINATE");
    assert_eq!(routed(main, Some(&format!("100:\tfrom 10.0.9.4 lookup 100\n{usual}"))), "PASSES");
}

#[test]
fn a_machine_without_the_address_or_with_its_device_down_takes_nothing() {
    let addressed = |text: &str| {
        let text = text.to_owned();
        verdict(|bundle| guest(bundle, "db").addresses = Some(Reading::Text(text)))
    };
    let lo = "1: lo: <LOOPBACK,UP> mtu 65536 state UNKNOWN\n    inet 127.0.0.1/8 scope host lo\n";
    let eth = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP\n    inet 10.0.2.4/24 scope global eth0\n";
    assert_eq!(addressed(&format!("{lo}{eth}")), "PASSES");
    assert_eq!(addressed(&format!("{lo}{}", eth.replace("10.0.2.4", "10.0.2.9"))), "BLOCKED");
    let down = eth.replace("state UP", "state DOWN").replace(",UP,LOWER_UP", "");
    assert_eq!(addressed(&format!("{lo}{down}")), "BLOCKED");
    let gone = verdict(|bundle| guest(bundle, "db").addresses = None);
    assert_eq!(gone, "INDETERMINATE");
}

#[test]
fn a_socket_that_is_bound_to_another_device_does_not_answer() {
    let listening = |end: &str| {
        let text = format!(
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0 128 {end} 0.0.0.0:*\n"
        );
        verdict(|bundle| guest(bundle, "db").tcp = Some(Reading::Text(text)))
    };
    assert_eq!(listening("0.0.0.0:5432"), "PASSES");
    assert_eq!(listening("0.0.0.0%tun0:5432"), "BLOCKED");
    assert_eq!(listening("0.0.0.0%eth0:5432"), "PASSES");
}
