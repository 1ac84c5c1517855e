//! What faults of a machine do to what is measured: scripts put them there, programs see them.

use std::time::Duration;

use crate::host::port::{CaptureOrder, ConnectOutcome};
use crate::host::script::Interpreter;
use crate::host::simulated::command::Shell;
use crate::host::simulated::wire::tests::{DEST, run, service, traffic, world};
use crate::host::simulated::wire::{dial, pcap};
use crate::host::simulated::world::{Capture, World};
use crate::host::stage::{Behavior, Protocol};

/// Runs a script on a machine, and sees that it ends well.
fn script(world: &mut World, machine: &str, text: &str) -> String {
    let mut shell = Shell::new(world, machine);
    let ran = Interpreter.run(text, &[], &[], &mut shell);
    assert_eq!((ran.err.as_str(), ran.code), ("", 0), "{text}");
    ran.out
}

/// What the use cases do to a device: SSH is spared.
fn shaped(how: &str) -> String {
    format!(
        "set -e
        tc qdisc add dev eth0 root handle 1: prio bands 3
        tc qdisc add dev eth0 parent 1:3 handle 30: {how}
        tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip sport 22 0xffff flowid 1:1
        tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 22 0xffff flowid 1:1
        tc filter add dev eth0 protocol ip parent 1:0 prio 2 u32 match u32 0 0 flowid 1:3"
    )
}

fn servers(world: &mut World) {
    world.stage.services.push(service("tf-dest-vm", 5_001, Behavior::Answers));
    world.stage.services.push(service("tf-dest-vm", 19_765, Behavior::Answers));
}

/// Latency in one direction, in microseconds.
fn latency(world: &mut World) -> f64 {
    let text = run(world, "qperf -t 2 10.0.1.5 tcp_lat").out;
    let words: Vec<&str> = text.split_whitespace().collect();
    let value: f64 = words.get(3).unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    match words[4] {
        "us" => value,
        "ms" => value * 1e3,
        "sec" => value * 1e6,
        other => panic!("{other}"),
    }
}

/// What arrives, in megabits a second, as the server has it.
fn throughput(world: &mut World) -> f64 {
    script(world, "tf-dest-vm", "pkill iperf; rm -f /tmp/server; nohup iperf -s -y C > /tmp/server 2>&1 &");
    run(world, "iperf -c 10.0.1.5 -P 8 -t 10");
    let text = script(world, "tf-dest-vm", "cat /tmp/server");
    let sum =
        text.lines().rfind(|line| line.split(',').nth(5) == Some("-1")).unwrap_or_else(|| panic!("{text}"));
    sum.rsplit(',').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// The lowest and the highest of eight.
fn eight(mut measure: impl FnMut() -> f64) -> (f64, f64) {
    let all: Vec<f64> = (0..8).map(|_| measure()).collect();
    (all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max))
}

#[test]
fn what_is_healthy_is_steady() {
    let mut world = world();
    servers(&mut world);
    let (low, high) = eight(|| latency(&mut world));
    assert!(low > 100.0 && high < low * 1.5, "{low} {high}");
    let (low, high) = eight(|| throughput(&mut world));
    assert!(low > 900.0 && high < low * 1.1, "{low} {high}");
}

#[test]
fn lost_packets_make_throughput_small_and_unsteady() {
    let mut world = world();
    servers(&mut world);
    script(&mut world, "tf-source-vm", &shaped("netem loss 20%"));
    let (low, high) = eight(|| throughput(&mut world));
    assert!(high < 100.0 && low > 0.0 && high > low * 1.5, "{low} {high}");
}

#[test]
fn delay_and_loss_make_latency_long_and_unsteady() {
    let mut world = world();
    servers(&mut world);
    script(&mut world, "tf-source-vm", &shaped("netem delay 100ms loss 10%"));
    let (low, high) = eight(|| latency(&mut world));
    assert!(low > 50_000.0 && high > low * 1.3, "{low} {high}");
    // SSH is spared.
    assert!(matches!(
        dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22),
        ConnectOutcome::Open(took) if took < Duration::from_millis(5)
    ));
}

#[test]
fn delay_alone_is_long_and_steady() {
    let mut world = world();
    servers(&mut world);
    script(&mut world, "tf-source-vm", &shaped("netem delay 30ms"));
    let (low, high) = eight(|| latency(&mut world));
    assert!((15_000.0..15_600.0).contains(&low) && high < low * 1.1, "{low} {high}");
    let ping = run(&mut world, "ping -c 3 10.0.1.5").out;
    assert!(ping.contains("time=30.") || ping.contains("time=31."), "{ping}");
}

#[test]
fn a_limited_rate_is_low_and_steady() {
    let mut world = world();
    servers(&mut world);
    script(&mut world, "tf-source-vm", &shaped("tbf rate 5mbit burst 20kb latency 400ms"));
    let (low, high) = eight(|| throughput(&mut world));
    assert!((4.4..5.1).contains(&low) && high < low * 1.05, "{low} {high}");
}

#[test]
fn a_dropped_port_keeps_iperf_waiting_and_qperf_from_connecting() {
    let mut world = world();
    servers(&mut world);
    script(&mut world, "tf-dest-vm", "iptables -I INPUT 1 -p tcp --dport 5001 -j DROP");
    let iperf = run(&mut world, "iperf -c 10.0.1.5 -P 8 -t 10");
    assert!(iperf.err.contains("tcp connect failed: Connection timed out"), "{}", iperf.err);
    assert_eq!((iperf.code, iperf.took.as_secs()), (0, 134));
    assert!(latency(&mut world) < 200.0);
    script(&mut world, "tf-dest-vm", "iptables -D INPUT 1; iptables -A INPUT -p tcp --dport 19765 -j DROP");
    let qperf = run(&mut world, "qperf 10.0.1.5 tcp_lat");
    assert_eq!((qperf.out.as_str(), qperf.code), ("tcp_lat:\n10.0.1.5: failed to connect\n", 1));
}

#[test]
fn what_a_firewall_refuses_is_reported_and_what_it_drops_is_not() {
    let mut world = world();
    script(&mut world, "tf-dest-vm", "iptables -A INPUT -p icmp -j DROP");
    assert!(
        run(&mut world, "ping -c 2 -W 1 10.0.1.5")
            .out
            .contains("2 packets transmitted, 0 received, 100% packet loss")
    );
    script(&mut world, "tf-dest-vm", "iptables -R INPUT 1 -p icmp -j REJECT");
    let ping = run(&mut world, "ping -c 1 10.0.1.5");
    assert!(ping.out.contains("From 10.0.1.5 icmp_seq=1 Destination Port Unreachable\n"), "{}", ping.out);
    script(&mut world, "tf-source-vm", "iptables -A OUTPUT -p tcp --dport 80 -j DROP");
    let curl = run(&mut world, "curl -s -m 3 http://www.example.com/");
    assert_eq!((curl.code, curl.took.as_secs()), (28, 3));
    assert_eq!(run(&mut world, "curl -s -o /dev/null https://www.example.com/").code, 0);
}

#[test]
fn a_policy_that_drops_spares_what_is_established() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8_080, Behavior::Answers));
    script(
        &mut world,
        "tf-dest-vm",
        "iptables -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
        iptables -A INPUT -p tcp --dport 22 -j ACCEPT
        iptables -P INPUT DROP",
    );
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 8_080), ConnectOutcome::Silent);
    assert!(matches!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 22), ConnectOutcome::Open(_)));
    let out = "8.8.8.8".parse().unwrap();
    assert!(matches!(dial(&mut world, "tf-dest-vm", out, Protocol::Tcp, 443), ConnectOutcome::Open(_)));
}

#[test]
fn what_a_script_causes_is_in_a_capture() {
    let mut world = world();
    let since = world.now;
    script(&mut world, "tf-source-vm", "ping -c 2 10.0.1.5 > /dev/null; nc -z -w 1 10.0.1.5 22");
    world.now = world.now.plus(Duration::from_secs(1));
    for machine in ["tf-source-vm", "tf-dest-vm"] {
        let order = CaptureOrder { machine: machine.to_owned(), snaplen: 0, most: 0, filters: Vec::new() };
        let file = pcap(&mut world, &Capture { order, since });
        let echoes = file.windows(6).filter(|bytes| bytes[0] == 0x40 && bytes[1] == 1).count();
        assert!(echoes >= 4, "{machine}: {echoes}");
    }
}

/// What `tc -s` counts at the root of the source's device, and at a discipline: packets, drops, overlimits.
fn counted(world: &mut World, name: &str) -> [u64; 3] {
    let output = script(world, "tf-source-vm", "tc -s qdisc show dev eth0");
    let line = output.lines().skip_while(|line| !line.starts_with(&format!("qdisc {name} "))).nth(1).unwrap();
    let words: Vec<&str> = line.trim().split([' ', ',']).collect();
    let after = |word: &str, at: usize| {
        let location = words.iter().position(|other| *other == word).unwrap();
        words[location + at].parse().unwrap()
    };
    [after("bytes", 1), after("(dropped", 1), after("overlimits", 1)]
}

#[test]
fn counters_of_tc_move_with_what_passes_and_with_what_is_lost() {
    let mut world = world();
    servers(&mut world);
    let before = counted(&mut world, "mq")[0];
    run(&mut world, "ping -c 5 10.0.1.5");
    assert_eq!(counted(&mut world, "mq")[0], before + 5);
    script(&mut world, "tf-source-vm", &shaped("netem loss 20%"));
    assert_eq!(counted(&mut world, "netem"), [0, 0, 0]);
    run(&mut world, "iperf -c 10.0.1.5 -P 8 -t 10");
    let [packets, drops, _] = counted(&mut world, "netem");
    assert!(packets > 50 && (packets / 8..packets / 2).contains(&drops), "{packets} {drops}");
    assert_eq!(counted(&mut world, "prio"), [packets, drops, 0]);
    // What is spared passes the root alone.
    run(&mut world, "nc -z -w 1 10.0.1.5 22");
    assert_eq!(counted(&mut world, "netem")[0], packets);
    assert!(counted(&mut world, "prio")[0] > packets);
    script(&mut world, "tf-source-vm", "tc qdisc del dev eth0 root");
    script(&mut world, "tf-source-vm", &shaped("tbf rate 5mbit burst 20kb latency 400ms"));
    run(&mut world, "iperf -c 10.0.1.5 -t 2");
    let [packets, _, waits] = counted(&mut world, "tbf");
    assert!(packets > 500 && waits * 2 > packets, "{packets} {waits}");
}

#[test]
fn counters_of_tc_move_with_the_traffic_of_the_stage() {
    let mut world = world();
    world.stage.flows.push(traffic(Protocol::Udp, 53, 200));
    script(&mut world, "tf-source-vm", &shaped("netem loss 50%"));
    world.now = world.now.plus(Duration::from_secs(100));
    let [packets, drops, _] = counted(&mut world, "netem");
    assert!((350..=520).contains(&(packets + drops)) && packets > 100 && drops > 100, "{packets} {drops}");
    assert_eq!(counted(&mut world, "netem"), [packets, drops, 0], "no time has passed");
}

#[test]
fn the_word_of_a_machines_own_refusal_meets_its_own_filter() {
    let mut world = world();
    script(
        &mut world,
        "tf-source-vm",
        "iptables -A OUTPUT -p tcp --dport 80 -j REJECT --reject-with tcp-reset",
    );
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 80), ConnectOutcome::Refused);
    // The word belongs to the machine itself, and is about a connection.
    script(&mut world, "tf-source-vm", "iptables -A INPUT -i lo -m conntrack --ctstate RELATED -j DROP");
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 80), ConnectOutcome::Silent);
}

#[test]
fn a_mark_goes_along_from_hook_to_hook() {
    let mut world = world();
    servers(&mut world);
    let marked = "iptables -t mangle -A PREROUTING -p tcp --dport 5001 -j MARK --set-mark 7
        iptables -A INPUT -m mark --mark 7 -j DROP";
    script(&mut world, "tf-dest-vm", marked);
    assert_eq!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 5001), ConnectOutcome::Silent);
    assert!(matches!(dial(&mut world, "tf-source-vm", DEST, Protocol::Tcp, 19_765), ConnectOutcome::Open(_)));
}
