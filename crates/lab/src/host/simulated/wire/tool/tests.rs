//! What the programs print.

use std::time::Duration;

use proptest::prelude::*;

use crate::host::simulated::wire::call;
use crate::host::simulated::wire::tests::{run, service, world};
use crate::host::stage::Behavior;

fn between(text: &str, before: &str, after: &str) -> f64 {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no `{before}` in {text}"));
    rest.split(after).next().unwrap().trim().parse().unwrap()
}

#[test]
fn ping_hears_every_echo() {
    let mut world = world();
    let ping = run(&mut world, "ping -c 3 10.0.1.5");
    assert!(
        ping.out.starts_with(
            "PING 10.0.1.5 (10.0.1.5) 56(84) bytes of data.\n64 bytes from 10.0.1.5: icmp_seq=1 ttl=64 time="
        ),
        "{}",
        ping.out
    );
    assert!(ping.out.contains(
        "\n--- 10.0.1.5 ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time "
    ));
    assert!((2.0..2.1).contains(&ping.took.as_secs_f64()));
    assert_eq!(ping.code, 0);
}

#[test]
fn ping_says_what_is_too_long() {
    let ping = run(&mut world(), "ping -c 1 -M do -s 1600 10.0.1.5");
    assert_eq!(ping.err, "ping: local error: message too long, mtu=1500\n");
    assert!(ping.out.contains("1 packets transmitted, 0 received, +1 errors, 100% packet loss"));
    assert_eq!(ping.code, 1);
}

#[test]
fn ping_knows_names_or_does_not() {
    let mut world = world();
    assert!(run(&mut world, "ping -c 1 tf-dest-vm").out.starts_with("PING tf-dest-vm (10.0.1.5) "));
    let unknown = run(&mut world, "ping -c 1 nosuch.invalid");
    assert_eq!(
        (unknown.err.as_str(), unknown.code),
        ("ping: nosuch.invalid: Name or service not known\n", 2)
    );
}

#[test]
fn nc_tells_open_from_refused_from_silent() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 7010, Behavior::Answers));
    world.stage.services.push(service("tf-dest-vm", 7011, Behavior::Silent));
    let open = run(&mut world, "nc -zv -w 2 10.0.1.5 7010");
    assert_eq!((open.err.as_str(), open.code), ("Connection to 10.0.1.5 7010 port [tcp/*] succeeded!\n", 0));
    let closed = run(&mut world, "nc -zv -w 2 10.0.1.5 7000");
    assert_eq!(closed.err, "nc: connect to 10.0.1.5 port 7000 (tcp) failed: Connection refused\n");
    let silent = run(&mut world, "nc -zv -w 2 10.0.1.5 7011");
    assert_eq!(silent.err, "nc: connect to 10.0.1.5 port 7011 (tcp) timed out: Operation now in progress\n");
    assert_eq!((silent.took, silent.code), (Duration::from_secs(2), 1));
}

#[test]
fn qperf_measures_a_healthy_network() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 19_765, Behavior::Answers));
    for _ in 0..8 {
        let called = run(&mut world, "qperf -t 2 10.0.1.5 tcp_lat");
        let latency = between(&called.out, "tcp_lat:\n    latency  =", " us\n");
        assert!((110.0..150.0).contains(&latency), "{}", called.out);
        assert!(called.took >= Duration::from_secs(2));
    }
}

#[test]
fn qperf_without_a_server_fails_after_its_patience() {
    let called = run(&mut world(), "qperf 10.0.1.5 tcp_lat");
    assert_eq!((called.out.as_str(), called.code), ("tcp_lat:\n10.0.1.5: failed to connect\n", 1));
    assert!((5.0..5.1).contains(&called.took.as_secs_f64()));
}

#[test]
fn iperf_measures_near_a_gigabit() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 5_001, Behavior::Answers));
    let called = run(&mut world, "iperf -c 10.0.1.5 -P 8 -t 10");
    let sum = called.out.lines().find(|line| line.starts_with("[SUM]")).unwrap();
    let rate: f64 = sum.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
    assert!(sum.ends_with("Mbits/sec") && (900.0..990.0).contains(&rate), "{sum}");
    assert_eq!(called.out.matches("connected with 10.0.1.5 port 5001 (icwnd/mss/irtt=14/1448/").count(), 8);
}

#[test]
fn iperf_ends_well_where_it_is_refused() {
    let called = run(&mut world(), "iperf -c 10.0.1.5 -P 2 -t 1");
    assert_eq!(called.err, "tcp connect failed: Connection refused\n".repeat(2));
    assert!(called.out.ends_with("[  1] local 0.0.0.0 port 0 connected with 10.0.1.5 port 5001\n"));
    assert_eq!(called.code, 0);
}

#[test]
fn a_server_in_the_background_reports_into_its_file() {
    let mut world = world();
    let argv = vec!["iperf".to_owned(), "-s".to_owned()];
    let listens = vec![(crate::host::stage::Protocol::Tcp, 5_001)];
    let pid = world.guests.get_mut("tf-dest-vm").unwrap().start(argv, listens);
    super::prints_to(&mut world, "tf-dest-vm", pid, "/tmp/server");
    run(&mut world, "iperf -c 10.0.1.5 -P 2 -t 5");
    let file = world.guests["tf-dest-vm"].files.get("/tmp/server").unwrap().content.clone();
    let text = String::from_utf8(file).unwrap();
    assert!(text.contains("Server listening on TCP port 5001\n"), "{text}");
    assert!(text.contains("[  2] local 10.0.1.5 port 5001 connected with 10.0.1.4 port "), "{text}");
    assert!(text.contains("\n[SUM] 0.0000-"), "{text}");
}

#[test]
fn curl_tells_codes_and_times() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    world.stage.services.push(service("tf-dest-vm", 8081, Behavior::Silent));
    let fine = run(&mut world, "curl -s -o /dev/null -w %{http_code} http://10.0.1.5:8080/");
    assert_eq!((fine.out.as_str(), fine.code), ("200", 0));
    let refused = run(&mut world, "curl -sS -m 2 http://10.0.1.5:7000/");
    assert_eq!(
        refused.err,
        "curl: (7) Failed to connect to 10.0.1.5 port 7000 after 0 ms: Couldn't connect to server\n"
    );
    let silent = run(&mut world, "curl -s -m 2 -w %{http_code} http://10.0.1.5:8081/");
    assert_eq!((silent.out.as_str(), silent.code, silent.took), ("000", 28, Duration::from_secs(2)));
    assert_eq!(run(&mut world, "curl -s http://nosuch.invalid/").code, 6);
}

#[test]
fn a_storage_account_keeps_out_whom_its_rules_keep_out() {
    let mut world = world();
    let line = "curl -s -o /dev/null -w %{http_code} https://nwlogs080613.blob.core.windows.net/c/b?sig=x -X PUT -d x";
    assert_eq!(run(&mut world, line).out, "201");
    world.fabric.accounts[0].lets_in.clear();
    assert_eq!(run(&mut world, line).out, "403");
}

#[test]
fn names_are_looked_up() {
    let mut world = world();
    assert_eq!(run(&mut world, "dig +short www.example.com").out, "93.184.215.14\n");
    assert!(run(&mut world, "dig nosuch.invalid").out.contains("status: NXDOMAIN"));
    assert_eq!(run(&mut world, "getent hosts tf-dest-vm").out, "10.0.1.5        tf-dest-vm\n");
}

#[test]
fn the_same_seed_prints_the_same() {
    let all = || {
        let mut world = world();
        world.stage.services.push(service("tf-dest-vm", 5_001, Behavior::Answers));
        ["ping -c 5 10.0.1.5", "iperf -c 10.0.1.5 -t 2", "traceroute 10.0.1.5"]
            .map(|line| run(&mut world, line).out)
    };
    assert_eq!(all(), all());
}

const PROGRAMS: [&str; 13] = [
    "ping",
    "qperf",
    "iperf",
    "curl",
    "nc",
    "dig",
    "nslookup",
    "host",
    "getent",
    "traceroute",
    "tracepath",
    "arping",
    "timeout",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn no_words_make_a_program_panic(
        at in 0..PROGRAMS.len(),
        words in prop::collection::vec("(-[a-zA-Z]{1,2}|[0-9]{1,9}|10\\.0\\.1\\.5|[é%{}:/@.-]{0,6}|localhost)", 0..6),
    ) {
        let mut argv = vec![PROGRAMS[at].to_owned()];
        argv.extend(words);
        call(&mut world(), "tf-source-vm", &argv, "");
        call(&mut world(), "nobody", &argv, "");
    }
}
