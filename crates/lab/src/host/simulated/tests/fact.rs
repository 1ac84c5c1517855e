//! Facts about machines of the model, through the port.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::LabClock;
use crate::host::fabric::{Fabric, Machine, Nic};
use crate::host::port::{Host as _, HostError, Script, ScriptOutput, ScriptTransport};
use crate::host::simulated::Simulated;
use ghost_base::{Clock as _, ManualClock, Timestamp};

fn machine(name: &str, last: u8) -> Machine {
    let nic = Nic {
        name: format!("{name}-nic"),
        mac: format!("00:0d:3a:1b:01:{last:02x}"),
        addresses: vec![(IpAddr::from([10, 0, 1, last]), 24)],
        public: None,
        rules: Value::Null,
        routes: Value::Null,
        ..Nic::default()
    };
    Machine { name: name.to_owned(), running: true, nics: vec![nic] }
}

fn host() -> Simulated {
    let clock = LabClock::new(Arc::new(ManualClock::new(Timestamp::from_millis(1_780_000_000_000))));
    let fabric = Fabric { machines: vec![machine("source", 4), machine("dest", 5)], ..Fabric::default() };
    Simulated::new(fabric, 7, clock)
}

fn script(text: &str, transport: ScriptTransport) -> Script {
    Script { text: text.to_owned(), arguments: Vec::new(), variables: Vec::new(), transport }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}

fn run(host: &Simulated, text: &str) -> ScriptOutput {
    now(host.run("dest", &script(text, ScriptTransport::Ssh))).expect("it runs")
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    let ran = run(&host(), text);
    assert_eq!(format!("{}{}", ran.out, ran.err), wanted, "{text}");
}

#[test]
fn rules_are_printed_as_they_were_stored() {
    check(
        "iptables -A INPUT -p tcp --dport 5001 -j DROP; iptables -A INPUT -s 203.0.113.47 -j REJECT; iptables -P FORWARD DROP; iptables -S",
        "-P INPUT ACCEPT\n-P FORWARD DROP\n-P OUTPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 5001 -j DROP\n\
         -A INPUT -s 203.0.113.47/32 -j REJECT --reject-with icmp-port-unreachable\n",
    );
    check(
        "iptables -I INPUT 1 -p icmp -j DROP; iptables -L INPUT -n -v --line-numbers",
        "Chain INPUT (policy ACCEPT 0 packets, 0 bytes)\nnum   pkts bytes target     prot opt in     out     source               destination         \n\
         1        0     0 DROP       icmp --  *      *       0.0.0.0/0            0.0.0.0/0           \n",
    );
}

#[test]
fn refusals_have_the_real_words() {
    for (text, wanted) in [
        (
            "iptables -D INPUT -p tcp --dport 1 -j DROP",
            "iptables: Bad rule (does a matching rule exist in that chain?).\n",
        ),
        ("iptables -A NO -j DROP", "iptables: No chain/target/match by that name.\n"),
        ("iptables -N x; iptables -N x", "iptables: Chain already exists.\n"),
        ("iptables -P x DROP", "iptables: Bad built-in chain name.\n"),
        ("iptables -I INPUT 9 -j ACCEPT", "iptables: Index of insertion too big.\n"),
        (
            "iptables -A INPUT --dport 80 -j DROP",
            "iptables v1.8.7 (nf_tables): unknown option \"--dport\"\nTry `iptables -h' or 'iptables --help' for more information.\n",
        ),
        (
            "iptables -A INPUT -j NO",
            "iptables v1.8.7 (nf_tables): Chain 'NO' does not exist\nTry `iptables -h' or 'iptables --help' for more information.\n",
        ),
        ("tc qdisc del dev eth0 root", "Error: Cannot delete qdisc with handle of zero.\n"),
        ("tc qdisc add dev eth7 root prio", "Cannot find device \"eth7\"\n"),
        ("ip route del 1.2.3.4", "RTNETLINK answers: No such process\n"),
        ("nft add rule inet no x drop", "Error: Could not process rule; No such file or directory\n"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn what_is_saved_is_read_as_it_was_added() {
    let host = host();
    let rules = [
        "-A INPUT -s 10.0.0.0/8 ! -i lo -p tcp -m tcp --sport 1024:65535 --dport 443 -j ACCEPT",
        "-A INPUT -p tcp -m multiport --dports 80,443,8000:8100 -j ACCEPT",
        "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        "-A INPUT -p icmp -m icmp --icmp-type 8 -m limit --limit 5/min -j ACCEPT",
        "-A INPUT -m comment --comment \"a b\" -j LOG --log-prefix \"x \"",
        "-A FORWARD ! -d 172.17.0.0/16 -o docker0 -j RETURN",
        "-A OUTPUT -m mark --mark 0x5 -j DROP",
    ];
    for rule in rules {
        assert_eq!(run(&host, &format!("iptables {rule}")).err, "", "{rule}");
    }
    let saved = run(&host, "iptables-save").out;
    let expected: Vec<&str> = saved.lines().filter(|line| line.starts_with("-A")).collect();
    assert_eq!(expected, rules);
    let read = ghost_inspect::netfilter::read(&saved).expect("it is a ruleset");
    assert_eq!((read.rules, read.opaque_rules, read.warnings.len()), (7, 0, 0));
    // The text gives the same rules to a machine that had others.
    let again = run(&host, &format!("iptables-restore <<'E'\n{saved}E\niptables-save | grep -c '^-A'"));
    assert_eq!((again.out.as_str(), again.err.as_str()), ("7\n", ""));
    // What cannot be taken whole is not taken at all.
    let broken = run(
        &host,
        "printf '*filter\\n-A INPUT -j DROP\\n-A INPUT -j NO\\nCOMMIT\\n' | iptables-restore; echo $?; iptables -S | wc -l",
    );
    assert_eq!(broken.out, "2\n10\n");
    assert!(broken.err.contains("Error occurred at line: 4"), "{}", broken.err);
}

#[test]
fn both_backends_hold_rules_and_tell_of_each_other() {
    let host = host();
    let ran = run(
        &host,
        "iptables-legacy -A INPUT -p tcp --dport 7 -j DROP; iptables-save; iptables-legacy-save | grep -c dport; cat /proc/net/ip_tables_names",
    );
    assert_eq!(
        ran.out,
        "# Warning: iptables-legacy tables present, use iptables-legacy-save to see them\n1\nfilter\n"
    );
    let ran = run(
        &host,
        "update-alternatives --query iptables | grep ^Value; update-alternatives --set iptables /usr/sbin/iptables-legacy >/dev/null; iptables --version; iptables -S | grep -c 'dport 7'",
    );
    assert_eq!(ran.out, "Value: /usr/sbin/iptables-nft\niptables v1.8.7 (legacy)\n1\n");
}

#[test]
fn native_tables_are_kept_with_their_handles() {
    let host = host();
    let ran = run(
        &host,
        "nft add table inet fw; nft add chain inet fw in '{ type filter hook input priority 0; policy accept; }'\n\
         nft add rule inet fw in tcp dport 9090 counter drop; nft add rule inet fw in ip saddr 10.0.0.0/8 accept; nft -a list ruleset",
    );
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str()),
        (
            "table inet fw { # handle 1\n\tchain in { # handle 1\n\t\ttype filter hook input priority filter; policy accept;\n\
             \t\ttcp dport 9090 counter packets 0 bytes 0 drop # handle 2\n\t\tip saddr 10.0.0.0/8 accept # handle 3\n\t}\n}\n",
            ""
        )
    );
    let ran = run(
        &host,
        "nft delete rule inet fw in handle 2; iptables -A INPUT -p tcp --dport 22 -j ACCEPT; nft -j list ruleset",
    );
    let read = ghost_inspect::netfilter::read(&ran.out).expect("it is a ruleset");
    let names: Vec<&str> = read.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!((names, read.rules), (vec!["ip filter", "inet fw"], 2));
}

#[test]
fn an_agent_that_is_cut_off_is_silent_and_ssh_goes_on() {
    let host = host();
    let cut = "iptables -A OUTPUT -p tcp --dport 80 -j DROP";
    let silent = now(host.run("dest", &script(cut, ScriptTransport::Agent)));
    assert_eq!(silent, Err(HostError::Silent("dest".to_owned())));
    // The script itself ran.
    assert_eq!(
        run(&host, "iptables -S OUTPUT").out,
        "-P OUTPUT ACCEPT\n-A OUTPUT -p tcp -m tcp --dport 80 -j DROP\n"
    );
    assert!(now(host.run("dest", &script("true", ScriptTransport::Agent))).is_err());
    run(&host, "iptables -D OUTPUT -p tcp --dport 80 -j DROP");
    assert!(now(host.run("dest", &script("true", ScriptTransport::Agent))).is_ok());
    // Whoever drops everything that comes in, answers of established connections too, hears nothing either.
    assert!(now(host.run("dest", &script("iptables -P INPUT DROP", ScriptTransport::Agent))).is_err());
    run(&host, "iptables -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT");
    assert!(now(host.run("dest", &script("true", ScriptTransport::Agent))).is_ok());
    assert_eq!(
        now(host.run("nobody", &script("true", ScriptTransport::Ssh))),
        Err(HostError::Unknown("nobody".to_owned()))
    );
}

#[test]
fn restored_machines_are_exactly_as_they_were() {
    let host = host();
    let look = "iptables-save -c; nft -j list ruleset; tc qdisc show; ip route; ip link; which iperf; cat /tmp/x 2>/dev/null; ss -tln; sysctl net.ipv4.ip_forward";
    run(&host, "iptables -A INPUT -j ACCEPT; echo kept > /tmp/x");
    let before = run(&host, look);
    now(host.keep()).expect("kept");
    run(
        &host,
        "iptables -F; iptables -P INPUT DROP; tc qdisc add dev eth0 root netem loss 5%; ip link set eth0 mtu 9000; ip route add 10.9.0.0/16 via 10.0.1.1; apt-get remove -y iperf; rm /tmp/x; nohup python3 -m http.server 8080 & sysctl -w net.ipv4.ip_forward=1",
    );
    assert_ne!(run(&host, look).out, before.out);
    now(host.restore()).expect("restored");
    let after = run(&host, look);
    let bare = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(bare(&after.out), bare(&before.out));
}

#[test]
fn shaping_is_printed_and_spares_ssh() {
    let host = host();
    let ran = run(
        &host,
        "DEV=$(ip route show default | cut -d' ' -f5 | head -1)\n\
         tc qdisc add dev $DEV root handle 1: prio bands 3\ntc qdisc add dev $DEV parent 1:3 handle 30: netem delay 100ms loss 10%\n\
         tc filter add dev $DEV protocol ip parent 1:0 prio 10 u32 match ip sport 22 0xffff flowid 1:1\n\
         tc filter add dev $DEV protocol ip parent 1:0 prio 10 u32 match ip dport 22 0xffff flowid 1:1\n\
         tc filter add dev $DEV protocol ip parent 1:0 prio 100 u32 match u32 0 0 flowid 1:3\n\
         tc qdisc show dev $DEV; tc filter show dev $DEV",
    );
    assert_eq!(ran.err, "");
    assert!(ran.out.contains("qdisc netem 30: parent 1:3 limit 1000 delay 100ms loss 10%\n"), "{}", ran.out);
    let read = ghost_inspect::qdisc::read(&ran.out).expect("it is tc's");
    let netem = read.devices.iter().find(|qdisc| qdisc.discipline == "netem").expect("netem");
    assert_eq!(
        (netem.loss_pct, netem.delay_ms, netem.exempt.contains(&"tcp/22".to_owned())),
        (Some(10.0), Some(100.0), true)
    );
    let flow = |dport| ghost_inspect::qdisc::Flow {
        protocol: 6,
        src: IpAddr::from([10, 0, 1, 5]),
        dst: IpAddr::from([10, 0, 1, 4]),
        sport: Some(40_000),
        dport: Some(dport),
        priority: Some(0),
    };
    let shaping = host.shaping_of("dest", &flow(8080));
    assert!((shaping.0 - 0.1).abs() < 1e-9 && (shaping.1 - 0.1).abs() < 1e-9, "{shaping:?}");
    assert_eq!(host.shaping_of("dest", &flow(22)), (0.0, 0.0));
    assert_eq!(
        run(&host, "tc qdisc del dev eth0 root; tc qdisc show dev eth0 | head -1").out,
        "qdisc mq 0: root \n"
    );
}

#[test]
fn packages_come_and_go() {
    let host = host();
    let ran = run(
        &host,
        "which qperf; apt-get remove -y qperf >/dev/null; which qperf; echo $?; qperf --version; apt-get install -y qperf | tail -1; command -v qperf; iperf -v 2>&1 | cut -c1-15",
    );
    assert_eq!(
        ran.out,
        "/usr/bin/qperf\n1\n0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.\n/usr/bin/qperf\niperf version 2\n"
    );
    assert!(ran.err.contains("qperf: command not found"));
    let ran = run(
        &host,
        "iptables -A OUTPUT -p tcp --dport 80 -j DROP; apt-get install -y fail2ban >/dev/null; echo $?",
    );
    assert_eq!((ran.out.as_str(), ran.took.as_secs()), ("100\n", 120));
}

#[test]
fn a_ban_is_reported_and_lifted_by_its_owner() {
    let host = host();
    run(
        &host,
        "iptables -N f2b-sshd; iptables -A f2b-sshd -s 203.0.113.47/32 -j REJECT --reject-with icmp-port-unreachable; iptables -A f2b-sshd -j RETURN; iptables -I INPUT 1 -j f2b-sshd; apt-get install -y fail2ban >/dev/null",
    );
    assert!(run(&host, "fail2ban-client status sshd").out.ends_with("Banned IP list:\t203.0.113.47\n"));
    assert_eq!(
        run(&host, "fail2ban-client set sshd unbanip 203.0.113.47; iptables -S f2b-sshd").out,
        "1\n-N f2b-sshd\n-A f2b-sshd -j RETURN\n"
    );
}

#[test]
fn the_declared_script_is_answered_in_full() {
    let policy = ghost_shell::Policy::builtin().expect("the policy");
    let script =
        policy.script("guest-network").expect("it is declared").fill(&[("device", "eth0")]).expect("filled");
    let ran = run(&host(), script.text());
    for heading in ["addresses", "routes", "rules", "queues", "filters"] {
        assert!(ran.out.contains(&format!("== {heading}\n")), "{}", ran.out);
    }
    assert_eq!((ran.err.as_str(), ran.code), ("", 0));
    assert!(!ran.out.contains("Error") && !ran.out.contains("unknown"), "{}", ran.out);
}

#[test]
fn two_runs_of_one_seed_print_the_same() {
    let text =
        "date; iptables -A INPUT -j DROP; iptables-save -c; ps aux; ss -tunap; ip -j addr; hostname -I";
    assert_eq!(run(&host(), text), run(&host(), text));
}

#[test]
fn the_clock_goes_on_by_what_a_script_takes() {
    let clock = LabClock::new(Arc::new(ManualClock::new(Timestamp::from_millis(0))));
    let host =
        Simulated::new(Fabric { machines: vec![machine("dest", 5)], ..Fabric::default() }, 1, clock.clone());
    assert_eq!(run(&host, "sleep 90").took.as_secs(), 90);
    assert_eq!(clock.now(), Timestamp::from_millis(90_000));
}
