//! What commands would send to.

use crate::{Impact, Known, Policy, Ruling, Surroundings, Verdict};

#[track_caller]
fn check(command: &str, wanted: &[&str]) {
    let ruling = Policy::builtin().unwrap().classify(command);
    assert_eq!(ruling.verdict, Verdict::Safe, "{command}: {}", ruling.reason);
    assert_eq!(ruling.destinations, wanted, "{command}");
}

#[test]
fn the_target_of_a_probe_is_a_destination_and_its_source_is_none() {
    check("ping -c 3 -I eth0 10.0.0.5", &["10.0.0.5"]);
    check("ping -c1 fe80::1%eth0", &["fe80::1%eth0"]);
    check("timeout 5 ping -I data.evil.example 10.0.0.5", &["data.evil.example", "10.0.0.5"]);
    check("traceroute -n -m 20 -i eth0.100 -s 10.0.0.4 10.0.1.9 60", &["10.0.1.9"]);
    check(
        "traceroute -g 10.0.0.1,gate.example -s src.evil.example -p443 web-1",
        &["10.0.0.1", "gate.example", "src.evil.example", "web-1"],
    );
    check("mtr -rn -a 10.0.0.4 -c 10 10.0.1.4", &["10.0.1.4"]);
    check("mtr --address=src.evil.example 10.0.1.4", &["src.evil.example", "10.0.1.4"]);
    check("nc -zv web-1 443", &["web-1"]);
    check("timeout 5 /usr/bin/ping -c 1 web-1", &["web-1"]);
}

#[test]
fn curl_sends_to_the_host_of_every_address_and_to_both_ends_of_every_detour() {
    check("curl -s 'http://[2001:db8::7]:8080/x'", &["2001:db8::7"]);
    check("curl -sI https://a.example:8443/x --url http://b.example/", &["a.example", "b.example"]);
    check(
        "curl --resolve app.example.com:443:10.0.1.6,[2001:db8::6] https://app.example.com/",
        &["app.example.com", "10.0.1.6", "2001:db8::6"],
    );
    check(
        "curl --connect-to a.example:80:[2001:db8::9]:8080 http://a.example/",
        &["a.example", "2001:db8::9"],
    );
    check("curl --connect-to ::b.example:8080 http://a.example/", &["b.example", "a.example"]);
    check("curl http://ex%61mple.com/", &["example.com"]);
    check("curl --interface src.evil.example http://10.0.0.5/", &["src.evil.example", "10.0.0.5"]);
}

#[test]
fn a_question_is_its_name_and_its_server() {
    check("dig +tcp +time=1 MX example.com @10.0.0.5", &["example.com", "10.0.0.5"]);
    check("dig -t txt -q data.evil.example @6.6.6.6 IN", &["data.evil.example", "6.6.6.6"]);
    check("dig -x 10.0.1.5 TYPE65", &["10.0.1.5"]);
    check("dig data +domain=evil.example", &["data", "evil.example"]);
    check(
        "dig +dom=evil.example data +DOMAI=b.example +nodomain=c.example +do",
        &["evil.example", "data", "b.example", "c.example"],
    );
    check("dig -b src.evil.example example.com", &["src.evil.example", "example.com"]);
    check("host -t MX -W 2 example.net 10.0.0.10", &["example.net", "10.0.0.10"]);
    check("nslookup -type=mx example.net 10.0.0.10", &["example.net", "10.0.0.10"]);
    check("nslookup -domain=evil.example data", &["evil.example", "data"]);
    check("resolvectl query a.example b.example", &["a.example", "b.example"]);
    check("resolvectl status eth0", &[]);
}

#[test]
fn a_host_that_an_option_brings_along_is_a_destination() {
    check("traceroute -n -A 10.0.1.5", &["whois.radb.net", "10.0.1.5"]);
    check("traceroute 10.0.1.5 -nIA", &["10.0.1.5", "whois.radb.net"]);
    check("traceroute6 --as-path-lookups 2001:db8::5", &["whois.radb.net", "2001:db8::5"]);
    check("timeout 9 traceroute -a web-1", &["whois.radb.net", "web-1"]);
    for option in ["-z", "-rwbz", "--aslookup", "-y 2", "-y2", "--ipinfo=3", "--ipinfo 3"] {
        check(&format!("mtr {option} -c 10 10.0.1.5"), &["origin.asn.cymru.com", "10.0.1.5"]);
    }
    check("mtr -z web-1", &["origin.asn.cymru.com", "web-1"]);
    for command in ["mtr -z -6 web-1", "mtr -6z web-1"] {
        check(command, &["origin.asn.cymru.com", "origin6.asn.cymru.com", "web-1"]);
    }
    check("mtr 2001:db8::5 -n --aslookup", &["2001:db8::5", "origin.asn.cymru.com", "origin6.asn.cymru.com"]);
    check("mtr -rn -c 10 10.0.1.5", &["10.0.1.5"]);
    check("dig +dns64prefix @10.0.0.2", &["ipv4only.arpa", "10.0.0.2"]);
    check("dig +dns64p +short a.example", &["ipv4only.arpa", "a.example"]);
}

#[test]
fn a_trace_of_dig_begins_at_the_root_servers_however_it_is_spelled() {
    let found = |command: &str| Policy::builtin().unwrap().classify(command).destinations;
    for switch in ["+trace", "+TRACE", "+tra", "+Trac"] {
        let destinations = found(&format!("dig {switch} a.example"));
        assert_eq!(destinations.len(), 14, "{switch}: {destinations:?}");
        assert_eq!(destinations.first().map(String::as_str), Some("a.root-servers.net"), "{switch}");
        assert_eq!(destinations.last().map(String::as_str), Some("a.example"), "{switch}");
    }
    for switch in ["+notrace", "+tcp", "+tries=1", "+short", "+noall", "+"] {
        assert_eq!(found(&format!("dig {switch} a.example")), ["a.example"], "{switch}");
    }
}

#[test]
fn whois_asks_registries_that_its_command_does_not_name() {
    for object in ["203.0.113.9", "AS64496", "a.example"] {
        let destinations = Policy::builtin().unwrap().classify(&format!("whois {object}")).destinations;
        for host in ["whois.iana.org", "whois.arin.net", "whois.ripe.net", object] {
            assert!(
                destinations.iter().any(|known| known == host),
                "{object}: {host} is not in {destinations:?}"
            );
        }
    }
}

#[test]
fn an_option_whose_hosts_only_an_answer_names_asks() {
    for command in [
        "host -C example.com",
        "host -aC example.com 10.0.0.2",
        "dig +nssearch example.com",
        "dig +NSSEARCH example.com",
        "dig +nss example.com",
        "who --lookup",
        "ping -N subject-ipv6=a.example fe80::1%eth0",
        "ping -6 -Nsubject-name=a.example fe80::1%eth0",
        "getent -s hesiod passwd ops",
        "mtr -g 10.0.1.5",
    ] {
        assert_eq!(Policy::builtin().unwrap().classify(command).verdict, Verdict::Risky, "{command}");
    }
}

#[test]
fn a_name_in_a_filter_is_looked_up_and_an_address_is_not() {
    check("ss -tn dst 10.0.0.9", &[]);
    check("ss -tn state established '( dport = :443 or sport = :ssh )' dst 10.0.0.0/8", &[]);
    check("ss -tn dst data.evil.example:443", &["data.evil.example"]);
    check("ss -tn 'src = [2001:db8::1]:80 or dst == web-1'", &["web-1"]);
    check("ss -tn dev eth0 fwmark 0x1/0x3", &[]);
    check("lsof -nP -iTCP@data.evil.example:443", &["data.evil.example"]);
    check("lsof -nP -iTCP:443 -sTCP:LISTEN", &[]);
    check(
        "tcpdump -nr a.pcap 'tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and port https and net 10.0.0.0/8'",
        &[],
    );
    check("tcpdump -nr a.pcap src host data.evil.example or web-1", &["data.evil.example", "web-1"]);
    check("tcpdump -nr a.pcap ether host 00:11:22:33:44:55 and portrange 1-100", &[]);
    check("tshark -r a.pcap -Y 'ip.addr==data.evil.example && tcp.port == 443'", &["data.evil.example"]);
    check("tshark -r a.pcap -Y 'ip.src in {10.0.0.5, web-1}'", &["web-1"]);
    check(
        "tshark -r a.pcap -Y 'ip.addr == 10.0.0.5 and http.host == \"example.com\" and tcp.flags.syn==1'",
        &["example.com"],
    );
    check("tshark -r a.pcap -q -z conv,tcp,ip.addr==data.evil.example", &["data.evil.example"]);
    check("tshark -r a.pcap -q -z io,phs", &[]);
    check("arp -n web-1", &["web-1"]);
    check("arp -n 10.0.0.4", &[]);
    check("arp -n 2001:db8::5", &["2001:db8::5"]);
}

#[test]
fn what_the_machine_tells_of_itself_goes_nowhere() {
    for command in [
        "ss -tulnp",
        "ip route get 8.8.8.8",
        "ip route get 10.0.1.9",
        "netstat -tulpen",
        "iptables -nvL INPUT",
        "hostname -f",
        "cat /etc/hosts",
        "az vm list -g rg -o json",
    ] {
        check(command, &[]);
    }
}

#[test]
fn a_guest_sends_to_what_its_script_names() {
    let script = |text: &str| {
        format!("az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts '{text}'")
    };
    check(&script("ip a; timeout 10 ping -c 3 web-2 | grep ttl"), &["web-2"]);
    check(&script("dig +short data.evil.example @6.6.6.6 && ss -s"), &["data.evil.example", "6.6.6.6"]);
    check(&script("ip a"), &[]);
    check(
        "az network watcher test-connectivity -g rg --source-resource vm --dest-address web.example --dest-port 443",
        &["web.example"],
    );
    check("az storage blob list --account-name=captures1 -c c --auth-mode login", &["captures1"]);
}

#[test]
fn a_program_that_nobody_described_sends_to_every_word() {
    let site = r#"
        [[program]]
        id = "probe"
        names = ["siteprobe"]
        why = "asks"
        options = ["-s --server NAME"]
        operands = ["NAME*"]
        sockets = ["stream"]
        safe = ["siteprobe x"]
        asks = ["siteprobe -q"]
    "#;
    let policy = Policy::with_site(site).unwrap();
    assert_eq!(policy.classify("siteprobe -s a.example b.example").destinations, ["a.example", "b.example"]);
}

/// A table that forgets a program which reaches out makes every word of it ask: that is noticed here and not by whoever is on call.
#[test]
fn every_program_that_opens_connections_is_described() {
    let policy = Policy::builtin().unwrap();
    for entry in policy.all_entries().iter().filter(|entry| entry.profile.opens_connections()) {
        for name in &entry.names {
            assert!(policy.destinations(name).is_some(), "{name} is not in destination.toml");
        }
    }
}

fn held(command: &str, known: &Known) -> Ruling {
    let policy = Policy::builtin().unwrap();
    policy.hold(policy.classify(command), known)
}

#[test]
fn a_read_that_would_reach_a_stranger_asks_and_says_where() {
    let mut known = Known::of(&Surroundings::default());
    known.add_words("api.example.com does not answer from web-1");
    for command in
        ["dig api.example.com", "ping -c 1 web-1", "curl https://API.example.com/x", "ping 10.0.0.5", "ss -s"]
    {
        assert_eq!(held(command, &known).verdict, Verdict::Safe, "{command}");
    }
    for (command, host) in [
        ("dig x.api.example.com", "x.api.example.com"),
        ("dig api.example.com @6.6.6.6", "6.6.6.6"),
        ("curl https://evil.example/", "evil.example"),
        ("ping 169.254.169.254", "169.254.169.254"),
        (
            "az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts 'ping -c 1 data.evil.example'",
            "data.evil.example",
        ),
    ] {
        let ruling = held(command, &known);
        assert_eq!(
            (ruling.verdict, ruling.rule.as_ref()),
            (Verdict::Risky, "destination.unknown"),
            "{command}"
        );
        assert!(ruling.reason.contains(host), "{command}: {}", ruling.reason);
        assert_eq!(ruling.impact, Some(Impact::Change), "{command}");
    }
}

#[test]
fn what_was_judged_stricter_before_stays_so_for_the_same_reason() {
    let known = |rule: &'static str, verdict| {
        let mut known = Known::default();
        known.add_words("evil.example");
        let judged = Ruling { verdict, rule: rule.into(), reason: "as given".into(), ..Ruling::default() };
        known.add_asked("dig evil.example", judged);
        known
    };
    let judged = |command: &str, known: &Known| known.as_asked(command, held(command, known));
    for (rule, verdict) in [("destination.unknown", Verdict::Risky), ("rm", Verdict::Blocked)] {
        let known = known(rule, verdict);
        assert_eq!(held("dig evil.example", &known).verdict, Verdict::Safe);
        let ruling = judged("dig evil.example", &known);
        assert_eq!((ruling.verdict, &*ruling.rule, &*ruling.reason), (verdict, rule, "as given"));
        assert_eq!(judged("dig +short evil.example", &known).verdict, Verdict::Safe);
    }
    // What is found beside it is reported.
    let mut known = known("file.link", Verdict::Risky);
    known.add_asked("dig x.example", held("dig x.example y.example", &known));
    assert!(judged("dig x.example", &known).reason.contains("`y.example`"));
    known.add_asked("dig x.example", Ruling { verdict: Verdict::Risky, ..Ruling::default() });
    assert_eq!(judged("dig x.example", &known).rule, "destination.unknown");
}

#[test]
fn what_is_not_safe_stays_what_it_is() {
    for command in ["curl -X POST https://evil.example/", "reboot", "nonsense evil.example"] {
        let plain = Policy::builtin().unwrap().classify(command);
        assert_eq!(held(command, &Known::default()), plain, "{command}");
    }
}
