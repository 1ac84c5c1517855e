//! Facts about machines that were written down by hand; the lab has those that are injected.

use crate::host::judge::sorted;
use crate::host::*;

const LINKS: &str = r#"[{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"operstate":"UP","link_type":"ether","address":"02:00:00:00:00:0a"}]"#;

fn plain(name: &str, address: &str, gateway: Option<&str>) -> Host {
    read(name, &gathered(address, gateway))
}

pub(in crate::host) fn read(name: &str, gathered: &Gathered) -> Host {
    let host = Host::read(name, gathered);
    assert_eq!(host.warnings, []);
    host
}

pub(in crate::host) fn gathered(address: &str, gateway: Option<&str>) -> Gathered {
    let (ip, length) = address.split_once('/').unwrap();
    let net: ipnet::IpNet = address.parse().unwrap();
    let addresses = format!(
        r#"[{{"ifname":"eth0","addr_info":[{{"local":"{ip}","prefixlen":{length},"scope":"global"}}]}}]"#
    );
    let mut routes = format!(
        r#"[{{"dst":"{}","dev":"eth0","protocol":"kernel"}},{{"type":"local","dst":"{ip}","dev":"eth0","table":"local"}}"#,
        net.trunc()
    );
    if let Some(gateway) = gateway {
        routes.push_str(&format!(r#",{{"dst":"default","gateway":"{gateway}","dev":"eth0"}}"#));
    }
    routes.push(']');
    Gathered::default()
        .with(Part::Links, &LINKS.replace("00:0a", if name_is_odd(ip) { "00:0b" } else { "00:0a" }))
        .with(Part::Addresses, &addresses)
        .with(Part::Routes, &routes)
        .with(Part::Routes6, "[]")
        .with(Part::Rules, "[]")
        .with(Part::Neighbors, "[]")
        .with(Part::Listeners, "tcp LISTEN 0 128 0.0.0.0:80 0.0.0.0:*\n")
        .with(Part::FilterNft, r#"{"nftables":[]}"#)
}

/// Every second machine has another hardware address.
fn name_is_odd(ip: &str) -> bool {
    ip.ends_with('1') || ip.ends_with('3')
}

pub(in crate::host) fn flow(to: &str, port: u16) -> Context {
    let to = to.parse().unwrap();
    let flow = Flow {
        from: "a".to_owned(),
        source: None,
        to,
        protocol: Protocol::Tcp,
        port: Some(port),
        is_marked: false,
    };
    Context { flows: vec![flow], ..Context::default() }
}

#[track_caller]
fn check(hosts: &[Host], context: &Context, expected: &[&str]) {
    let found: Vec<String> = judge(hosts, context).findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_flow_between_neighbors_passes_and_is_no_finding() {
    let hosts = [plain("a", "10.0.0.10/24", None), plain("b", "10.0.0.11/24", None)];
    check(&hosts, &flow("10.0.0.11", 80), &[]);
    assert_ne!(judge(&hosts, &flow("10.0.0.11", 80)).fates, [Fate::Stopped]);
}

#[test]
fn nobody_listens() {
    let hosts = [plain("a", "10.0.0.10/24", None), plain("b", "10.0.0.11/24", None)];
    check(&hosts, &flow("10.0.0.11", 81), &["not_listening service/b/tcp/81"]);
}

#[test]
fn a_rule_and_a_policy_that_drop_are_named_by_what_they_are() {
    let with = |rules: &str| {
        let own = gathered("10.0.0.11/24", None).with(Part::FilterLegacy, rules);
        [plain("a", "10.0.0.10/24", None), Host::read("b", &own)]
    };
    let rule = with("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 80 -j DROP\nCOMMIT\n");
    check(&rule, &flow("10.0.0.11", 80), &["guest_firewall_drop netfilter/b/filter/INPUT/tcp/80"]);
    check(&rule, &flow("10.0.0.11", 81), &["not_listening service/b/tcp/81"]);
    let policy = with("*filter\n:INPUT DROP [0:0]\nCOMMIT\n");
    check(&policy, &flow("10.0.0.11", 80), &["guest_firewall_policy_drop netfilter/b/filter/INPUT"]);
}

#[test]
fn what_is_off_the_link_needs_a_route() {
    let hosts = [plain("a", "10.0.0.10/24", None)];
    check(&hosts, &flow("192.0.2.1", 80), &["no_default_route route/a/default"]);
    // Somebody who asks about nothing may well need none.
    let found = judge(&hosts, &Context::default()).findings;
    assert_eq!(found.iter().map(|one| one.weight).collect::<Vec<_>>(), [Weight::Noticed]);
}

#[test]
fn an_answer_without_a_route_is_the_answering_machines_fault() {
    let router = gathered("10.0.0.1/24", None)
        .with(Part::Addresses, r#"[{"ifname":"eth0","addr_info":[{"local":"10.0.0.1","prefixlen":24,"scope":"global"}]},{"ifname":"eth1","addr_info":[{"local":"10.0.1.1","prefixlen":24,"scope":"global"}]}]"#)
        .with(Part::Routes, r#"[{"dst":"10.0.0.0/24","dev":"eth0"},{"dst":"10.0.1.0/24","dev":"eth1"}]"#)
        .with(Part::Settings, "net.ipv4.ip_forward = 1\n");
    let hosts =
        [plain("a", "10.0.0.10/24", Some("10.0.0.1")), read("r", &router), plain("b", "10.0.1.13/24", None)];
    check(&hosts, &flow("10.0.1.13", 80), &["no_return_route route/b/default"]);
    let off = read("r", &router.clone().with(Part::Settings, "net.ipv4.ip_forward = 0\n"));
    let hosts =
        [plain("a", "10.0.0.10/24", Some("10.0.0.1")), off, plain("b", "10.0.1.13/24", Some("10.0.1.1"))];
    check(&hosts, &flow("10.0.1.13", 80), &["ip_forward_off sysctl/r/net.ipv4.ip_forward"]);
}

#[test]
fn two_machines_with_one_address_are_found_without_a_question() {
    let hosts = [plain("a", "10.0.0.10/24", Some("10.0.0.1")), plain("b", "10.0.0.10/24", Some("10.0.0.1"))];
    let found = judge(&hosts, &Context::default()).findings;
    assert!(found.iter().any(|one| one.to_string() == "duplicate_address host/10.0.0.10"), "{found:?}");
}

#[test]
fn one_machine_under_two_names_is_no_twin_of_itself() {
    let named = |name: &str, about: &str| {
        read(name, &gathered("10.0.0.10/24", Some("10.0.0.1")).with(Part::About, about))
    };
    let said = |other: Host| -> Vec<String> {
        let hosts = [named("web-1", "name web\nuid 0\ntime 1764000100\nup 100.52\n"), other];
        let found = judge(&hosts, &Context::default()).findings;
        found.iter().map(ToString::to_string).filter(|one| one.starts_with("duplicate")).collect()
    };
    assert_eq!(
        said(named("10.0.0.10", "name web\nuid 0\ntime 1764000104\nup 104.11\n")),
        Vec::<String>::new()
    );
    // A clone was started at another moment, or calls itself otherwise.
    for clone in
        ["name web\nuid 0\ntime 1764000104\nup 12.00\n", "name db\nuid 0\ntime 1764000104\nup 104.11\n", ""]
    {
        assert_eq!(said(named("clone", clone)).len(), 2, "{clone}");
    }
}

/// Says what is left of some findings, each with the machine on which it was seen.
fn left(found: &[(Fault, Object, &str)]) -> Vec<String> {
    let sure = (Weight::Broken, Certainty::Confirmed);
    let finding = |(fault, object, host): &(Fault, Object, &str)| {
        Finding::new(sure, *fault, object.clone(), (host, Part::Links, "seen"))
    };
    sorted(found.iter().map(finding).collect()).iter().map(ToString::to_string).collect()
}

#[test]
fn a_link_that_comes_and_goes_takes_its_other_end_down() {
    let link = |host: &str, device: &str| Object::Link { host: host.to_owned(), device: device.to_owned() };
    let sure = (Weight::Broken, Certainty::Confirmed);
    let flap =
        Finding::new(sure, Fault::LinkFlap, link("c", "eth0"), ("c", Part::LinksLater, "eth0: changed"));
    let down = |line: &str| {
        Finding::new(sure, Fault::LinkDown, link("sw", "pc"), ("sw", Part::Links, "pc: <>")).and(
            "c",
            Part::Links,
            line,
        )
    };
    let count = |line: &str| sorted(vec![flap.clone(), down(line)]).len();
    assert_eq!(count("eth0: <NO-CARRIER,UP> state DOWN"), 1);
    assert_eq!(count("eth0.7: <NO-CARRIER,UP> state DOWN"), 2);
}

#[test]
fn a_link_that_comes_and_goes_is_not_down_as_well() {
    let link = |device: &str| Object::Link { host: "c".to_owned(), device: device.to_owned() };
    let down = |device: &str| (Fault::LinkDown, link(device), "c");
    let flapping = (Fault::LinkFlap, link("eth0"), "c");
    assert_eq!(left(&[down("eth0"), flapping.clone()]), ["link_flap link/c/eth0"]);
    assert_eq!(left(&[down("eth1"), flapping]).len(), 2);
}

#[test]
fn a_server_is_not_slow_for_whoever_cannot_ask_for_its_neighbors() {
    let slow = |host| (Fault::DnsSlow, Object::Dns { server: "10.0.0.9".parse().unwrap(), name: None }, host);
    let chain = Object::Chain { host: "a".to_owned(), table: "arp:t".to_owned(), chain: "o".to_owned() };
    let mute = (Fault::ArpDrop, chain, "a");
    assert_eq!(left(&[mute.clone(), slow("a")]), ["arp_drop netfilter/a/arp:t/o"]);
    assert_eq!(left(&[mute, slow("b")]).len(), 2);
}

#[test]
fn a_server_that_answers_late_is_not_dead_for_whoever_did_not_wait() {
    let server = || Object::Dns { server: "10.0.0.9".parse().unwrap(), name: None };
    let silent = (Fault::DnsFailure, server(), "a");
    assert_eq!(left(&[silent.clone(), (Fault::DnsSlow, server(), "b")]), ["dns_slow dns/10.0.0.9"]);
    assert_eq!(left(&[silent]), ["dns_failure dns/10.0.0.9"]);
}

#[test]
fn which_of_two_machines_with_one_address_is_asked_for_names_is_no_fault_of_its_own() {
    let asks = |text: &str| {
        let text = format!("ask 10.0.0.9 web.lab\n{text}\n");
        let asking = gathered("10.0.0.10/24", Some("10.0.0.1")).with(Part::Resolver, "nameserver 10.0.0.9\n");
        read("a", &asking.with(Part::Answers, &text))
    };
    let silent = ";; communications error to 10.0.0.9#53: timed out\n;; no servers could be reached";
    let server = |name: &str, mac: &str, listeners: &str| {
        let gathered =
            gathered("10.0.0.9/24", Some("10.0.0.1")).with(Part::Links, &LINKS.replace("00:0a", mac));
        read(name, &gathered.with(Part::Listeners, listeners))
    };
    let serves = server("c", "00:0c", "udp UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n");
    let twin = server("b", "00:0d", "tcp LISTEN 0 128 0.0.0.0:80 0.0.0.0:*\n");
    let said = |hosts: &[Host]| -> Vec<String> {
        judge(hosts, &Context::default()).findings.iter().map(ToString::to_string).collect()
    };
    let found = said(&[asks(silent), twin.clone(), serves]);
    assert!(found.contains(&"duplicate_address host/10.0.0.9".to_owned()), "{found:?}");
    assert!(!found.iter().any(|one| one.contains("53") || one.contains("dns")), "{found:?}");
    // The twin that asks for names asks itself.
    let refused = "ask 10.0.0.9 web.lab\n;; communications error to 10.0.0.9#53: connection refused\n";
    let asking = gathered("10.0.0.9/24", Some("10.0.0.1"))
        .with(Part::Links, &LINKS.replace("00:0a", "00:0d"))
        .with(Part::Resolver, "nameserver 10.0.0.9\n")
        .with(Part::Answers, refused);
    let found = said(&[read("b", &asking), server("c", "00:0c", "udp UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n")]);
    assert!(!found.iter().any(|one| one.contains("53")), "{found:?}");
    // With one of them the silence is its own.
    let found = said(&[asks(silent), twin]);
    assert!(found.iter().any(|one| one.starts_with("dns_failure")), "{found:?}");
}

#[test]
fn what_was_not_read_is_closed_and_never_a_no() {
    let host = Host::read("a", &Gathered::default());
    assert!(matches!(host.owns("10.0.0.1".parse().unwrap()), Answer::NotKnown(_)));
    let found = judge(&[host], &flow("10.0.0.11", 80));
    assert!(found.findings.is_empty());
    assert!(matches!(found.fates.as_slice(), [Fate::NotKnown(_)]));
    assert!(!found.closed.is_empty());
}

#[test]
fn half_open_connections_of_many_are_a_flood_where_the_kernel_drops_for_them() {
    let half = |addresses: usize| -> String {
        let one =
            |at: usize| format!("SYN-RECV 0 0 10.0.0.10:80 10.0.0.{}:50{at:03}\n", 100 + at % addresses);
        (0..13).map(one).collect()
    };
    let found = |addresses: usize, dropped: u64, cookies: u64| -> Vec<String> {
        let counters = format!("TcpExt: ListenDrops TCPReqQFullDrop\nTcpExt: {dropped} 0\n");
        let settings = format!("net.ipv4.tcp_max_syn_backlog = 16\nnet.ipv4.tcp_syncookies = {cookies}\n");
        let host = gathered("10.0.0.10/24", Some("10.0.0.1"))
            .with(Part::Connections, &half(addresses))
            .with(Part::Counters, &counters)
            .with(Part::Settings, &settings);
        let all = judge(&[read("b", &host)], &Context::default()).findings;
        all.iter().map(ToString::to_string).filter(|one| one.starts_with("syn_flood")).collect()
    };
    assert_eq!(found(8, 400, 0), ["syn_flood service/b/tcp/80"]);
    // One peer whose answers are lost, nothing dropped yet, cookies in their place.
    assert_eq!([found(1, 400, 0), found(8, 0, 0), found(8, 400, 1)], [const { Vec::<String>::new() }; 3]);
}

#[test]
fn a_change_is_shown_and_counters_are_not() {
    let old = plain("a", "10.0.0.10/24", Some("10.0.0.1"));
    let new = plain("a", "10.0.0.10/24", Some("10.0.0.254"));
    let lines: Vec<String> = compare(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["route: gone: default via 10.0.0.1 dev eth0", "route: new: default via 10.0.0.254 dev eth0"]
    );
    assert_eq!(compare(&old, &old), []);
}

#[test]
fn policy_rules_are_asked_by_priority_and_throw_goes_on() {
    let table = gathered("10.0.0.10/24", Some("10.0.0.1"))
        .with(Part::Rules, r#"[{"priority":0,"src":"all","table":"local"},{"priority":40,"src":"all","dst":"10.9.0.0","dstlen":16,"table":"200"},{"priority":32766,"src":"all","table":"main"}]"#)
        .with(Part::Routes, r#"[{"dst":"default","gateway":"10.0.0.1","dev":"eth0"},{"type":"unreachable","dst":"default","table":"200"}]"#);
    check(&[read("a", &table)], &flow("10.9.1.1", 80), &["policy_rule rule/a/40"]);
    check(&[read("a", &table)], &flow("10.8.1.1", 80), &[]);
}

proptest::proptest! {
    #[test]
    fn no_text_of_a_machine_makes_it_panic(at in 0..Part::ALL.len(), text in "\\PC{0,200}|(\\[\\{\"(dst|ifname|priority)\":[\"0-9a-z./]{0,12}\\}\\])") {
        let gathered = gathered("10.0.0.10/24", Some("10.0.0.1")).with(Part::ALL[at], &text);
        let host = Host::read("a", &gathered);
        drop(judge(&[host], &flow("10.0.0.11", 80)));
    }
}

#[test]
fn a_link_with_a_carrier_is_up_while_the_kernel_still_names_its_old_state() {
    let with = |flags: &str, state: &str| {
        let links = LINKS.replace(r#""UP","LOWER_UP""#, flags).replace(r#"state":"UP""#, state);
        let own = gathered("10.0.0.10/24", None).with(Part::Links, &links);
        [read("a", &own), plain("b", "10.0.0.11/24", None)]
    };
    let state = r#"state":"DOWN""#;
    check(&with(r#""NO-CARRIER","UP""#, state), &flow("10.0.0.11", 80), &["link_down link/a/eth0"]);
    check(&with(r#""NO-CARRIER","UP","LOWER_UP""#, state), &flow("10.0.0.11", 80), &[]);
}

#[test]
fn an_address_of_ipv4_is_missing_beside_one_of_ipv6() {
    let six = r#"[{"ifname":"eth0","addr_info":[{"local":"fd00::10","prefixlen":64,"scope":"global"}]}]"#;
    let own = gathered("10.0.0.10/24", None).with(Part::Addresses, six).with(Part::Routes, "[]");
    let hosts = [read("a", &own), plain("b", "10.0.0.11/24", None)];
    check(&hosts, &flow("10.0.0.11", 80), &["address_missing address/a/eth0"]);
}

#[test]
fn a_gateway_behind_a_limit_that_drops_just_now_is_slowed_down_and_not_dead() {
    let limit = |dropped: u32| {
        format!(
            "qdisc htb 1: dev eth0 root refcnt 3 r2q 10 default 0x10\n Sent 900 bytes 9 pkt (dropped {dropped}, overlimits 9 requeues 0)\n\
             class htb 1:10 root prio 0 rate 200Kbit ceil 200Kbit burst 1600b cburst 1600b\n"
        )
    };
    let silent = r#"[{"dst":"10.0.0.1","dev":"eth0","state":["FAILED"]}]"#;
    let own = gathered("10.0.0.10/24", Some("10.0.0.1")).with(Part::Neighbors, silent);
    let router = |later: u32| {
        let own = gathered("10.0.0.1/24", None).with(Part::Settings, "net.ipv4.ip_forward = 1\n");
        read("r", &own.with(Part::Qdiscs, &limit(5)).with(Part::QdiscsLater, &limit(later)))
    };
    let to = flow("192.0.2.1", 80);
    check(&[read("a", &own), router(5)], &to, &["gateway_dead route/a/default"]);
    check(&[read("a", &own), router(90)], &to, &["rate_limit qdisc/r/eth0"]);
}

#[test]
fn a_netem_on_the_path_hurts_by_each_of_its_figures_and_one_elsewhere_does_not() {
    let with = |netem: &str, device: &str| {
        let line = format!("qdisc netem 1: dev {device} root refcnt 3 limit 1000{netem}\n");
        let own = gathered("10.0.0.10/24", None).with(Part::QdiscsLater, &line);
        [read("a", &own), plain("b", "10.0.0.11/24", None)]
    };
    let to = flow("10.0.0.11", 80);
    let both = " delay 50ms  5ms loss 20%";
    check(&with(both, "eth0"), &to, &["netem_loss qdisc/a/eth0", "netem_delay qdisc/a/eth0"]);
    let rest = " corrupt 2% duplicate 3% reorder 25% 50% delay 1ms";
    check(
        &with(rest, "eth0"),
        &to,
        &[
            "netem_delay qdisc/a/eth0",
            "netem_corrupt qdisc/a/eth0",
            "netem_duplicate qdisc/a/eth0",
            "netem_reorder qdisc/a/eth0",
        ],
    );
    check(&with("", "eth0"), &to, &[]);
    for device in ["lo", "eth7"] {
        let found = judge(&with(both, device), &to).findings;
        assert!(found.len() == 2 && found.iter().all(|one| one.weight == Weight::Noticed), "{found:?}");
    }
}

#[test]
fn a_gateway_behind_a_netem_that_loses_everything_is_not_dead() {
    let silent = r#"[{"dst":"10.0.0.1","dev":"eth0","state":["FAILED"]}]"#;
    let own = gathered("10.0.0.10/24", Some("10.0.0.1")).with(Part::Neighbors, silent);
    let router = gathered("10.0.0.1/24", None).with(Part::Settings, "net.ipv4.ip_forward = 1\n");
    let router =
        router.with(Part::QdiscsLater, "qdisc netem 1: dev eth0 root refcnt 3 limit 1000 loss 100%\n");
    check(&[read("a", &own), read("r", &router)], &flow("192.0.2.1", 80), &["netem_loss qdisc/r/eth0"]);
}

#[test]
fn a_line_of_the_own_file_that_leads_to_nobody_hides_what_the_name_server_says() {
    let answer = "ask 10.0.0.53 web.example\n;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1\n\
        web.example.\t60\tIN\tA\t10.0.0.11\n;; Query time: 2 msec\n";
    let with = |tried: &str| {
        let own = gathered("10.0.0.10/24", None)
            .with(Part::Resolver, "nameserver 10.0.0.53\n")
            .with(Part::Hosts, "10.0.0.99 web.example\n")
            .with(Part::Answers, answer)
            .with(Part::Probes, &format!("to web.example 80\naddress 10.0.0.99\ntcp {tried}\n"));
        let found = judge(&[read("a", &own)], &Context { by_name: true, ..flow("10.0.0.99", 80) }).findings;
        let hurts = found.into_iter().filter(|one| one.weight == Weight::Broken);
        hurts.map(|one| one.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        with("nc: connect to 10.0.0.99 port 80 (tcp) timed out"),
        ["hosts_override resolver/a/web.example"]
    );
    assert_eq!(with("Connection to 10.0.0.99 80 port [tcp/http] succeeded!"), [""; 0]);
}

#[test]
fn who_calls_an_address_needs_no_name_server() {
    let own = gathered("10.0.0.11/24", None)
        .with(Part::Resolver, "nameserver 192.0.2.53\n")
        .with(Part::Answers, "ask 192.0.2.53 .\nfailed unreachable\n");
    let hosts = [plain("a", "10.0.0.10/24", None), Host::read("b", &own)];
    check(&hosts, &flow("10.0.0.11", 80), &[]);
    let by_name = Context { by_name: true, ..flow("10.0.0.11", 80) };
    assert_ne!(judge(&hosts, &by_name).findings, []);
}

#[test]
fn a_machine_without_an_address_is_probably_who_had_the_one_that_nobody_has() {
    let silent = r#"[{"dst":"10.0.0.11","dev":"eth0","state":["FAILED"]}]"#;
    let caller = || read("a", &gathered("10.0.0.10/24", None).with(Part::Neighbors, silent));
    let bare = |name: &str| {
        let own = gathered("10.0.0.11/24", None).with(Part::Addresses, "[]").with(Part::Routes, "[]");
        read(name, &own)
    };
    let to = flow("10.0.0.11", 80);
    check(&[caller(), bare("b")], &to, &["address_missing address/b/eth0"]);
    assert_eq!(judge(&[caller(), bare("b")], &to).findings[0].certainty, Certainty::Likely);
    // Of two nobody knows which.
    check(&[caller(), bare("b"), bare("c")], &to, &[]);
}

/// A machine with a network of containers that covers 10.9.0.0/24, and what Docker says of it.
fn with_containers(silent: &str, docker: Option<&str>) -> Host {
    let bridge = r#",{"ifindex":3,"ifname":"br-458d82405d8e","flags":["BROADCAST","NO-CARRIER","UP"],"mtu":1500,"operstate":"DOWN","link_type":"ether","linkinfo":{"info_kind":"bridge"}}]"#;
    let own = gathered("10.0.0.10/24", Some("10.0.0.1"));
    let routes = own
        .text(Part::Routes)
        .unwrap()
        .replace("[{", r#"[{"dst":"10.9.0.0/24","dev":"br-458d82405d8e","protocol":"kernel"},{"#);
    let own = own
        .with(Part::Links, &LINKS.replace("}]", &format!("}}{bridge}")))
        .with(Part::Routes, &routes)
        .with(Part::Neighbors, silent);
    read("a", &docker.into_iter().fold(own, |own, docker| own.with(Part::DockerNetworks, docker)))
}

const SHOP: &str = "Name=shop\nId=458d82405d8e95d2e3b2de4d02c6f33b\nDriver=bridge\nDriver=default\nSubnet=10.9.0.0/24\nName=web\nEndpointID=e4\nIPv4Address=10.9.0.7/24\n";

#[test]
fn containers_that_cover_the_address_of_another_machine_are_named_with_their_network() {
    let there = plain("b", "10.9.0.11/24", Some("10.9.0.1"));
    let found = judge(&[with_containers("[]", Some(SHOP)), there], &flow("10.9.0.11", 80)).findings;
    let said: Vec<String> = found.iter().map(|one| format!("{one} {:?}", one.certainty)).collect();
    assert_eq!(said, ["container_overlap route/a/10.9.0.0/24 Confirmed"]);
    let shown: Vec<&str> = found[0].evidence.iter().map(|one| one.shows.as_str()).collect();
    assert_eq!(shown[1..], ["eth0 has 10.9.0.11/24", "br-458d82405d8e is docker network shop 10.9.0.0/24"]);
}

#[test]
fn an_address_that_no_container_has_is_likely_elsewhere_and_without_their_list_nothing_is_said_of_it() {
    let elsewhere = flow("10.9.0.11", 80);
    let certain = |host: Host| {
        let found = judge(&[host], &elsewhere).findings;
        let own = found.iter().find(|one| one.fault == Fault::ContainerOverlap);
        own.map(|one| one.certainty)
    };
    assert_eq!(certain(with_containers("[]", Some(SHOP))), Some(Certainty::Likely));
    assert_eq!(certain(with_containers("[]", None)), None);
    // A container that is called, and one that answers.
    let container = judge(&[with_containers("[]", Some(SHOP))], &flow("10.9.0.7", 80)).findings;
    assert!(!container.iter().any(|one| one.fault == Fault::ContainerOverlap));
    let answers =
        r#"[{"dst":"10.9.0.11","dev":"br-458d82405d8e","lladdr":"02:42:0a:09:00:0b","state":["REACHABLE"]}]"#;
    assert_eq!(certain(with_containers(answers, Some(SHOP))), None);
}
