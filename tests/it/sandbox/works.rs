//! Every program does its work inside the sandbox: a wrong EPERM is a defect too.

use super::place::{Place, lacking};

/// A command, the exit codes with which it may end, and what its output has to hold.
type Row = (&'static str, &'static [i64], &'static str);

const ROWS: &[Row] = &[
    ("ping -c 1 127.0.0.1", &[0], "1 received"),
    ("ping -c 1 ::1", &[0], "1 received"),
    ("timeout 5 ping -c 1 127.0.0.1", &[0], "1 received"),
    ("traceroute -n 127.0.0.1", &[0], " 1  127.0.0.1"),
    ("traceroute -I -n 127.0.0.1", &[0], " 1  127.0.0.1"),
    ("traceroute -T -n -p 1 127.0.0.1", &[0], " 1  127.0.0.1"),
    ("tracepath -n 127.0.0.1", &[0], "127.0.0.1"),
    ("mtr -rn -c 1 -G 1 127.0.0.1", &[0], "127.0.0.1"),
    ("mtr -rnT -c 1 -G 1 127.0.0.1", &[0], "127.0.0.1"),
    ("nc -zvw1 127.0.0.1 {port}", &[0], "succeeded"),
    ("nc -zw1 127.0.0.1 1", &[1], ""),
    ("curl -sS http://127.0.0.1:{port}/", &[0], "hello"),
    ("curl -s -o /dev/null -D - -w '%{http_code}' http://127.0.0.1:{port}/", &[0], "200"),
    ("dig @127.0.0.1 +time=1 +tries=1 a.example", &[9], "no servers could be reached"),
    ("host -W 1 a.example 127.0.0.1", &[1], "no servers could be reached"),
    ("nslookup -timeout=1 -retry=1 a.example 127.0.0.1", &[1], "no servers could be reached"),
    ("whois a.example", &[1, 2], ""),
    ("ss -tlnp", &[0], "(\"it-"),
    ("ss -s", &[0], "Total:"),
    ("ss -xa", &[0], "Netid"),
    ("ss -tine", &[0], "State"),
    ("ss -N blue -tln", &[0], "State"),
    ("ss -N blue -tlnp", &[0], "State"),
    ("timeout 5 ss -tlnp", &[0], "(\"it-"),
    ("lsof -nP -iTCP:{port}", &[0], "(LISTEN)"),
    ("netstat -tlnp", &[0], "/it-"),
    ("netstat -s", &[0], "Tcp:"),
    ("netstat -rn", &[0], "Kernel IP routing table"),
    ("netstat -i", &[0], "lo"),
    ("nstat -as", &[0], "#"),
    ("nstat -az TcpExtListenDrops", &[0], "TcpExtListenDrops"),
    ("ip -br addr", &[0], "127.0.0.1/8"),
    ("ip -d -s link", &[0], "lo:"),
    ("ip route get 127.0.0.1", &[0], "dev lo"),
    ("ip rule", &[0], "lookup main"),
    ("ip neigh", &[0], ""),
    ("ip netns", &[0], "blue"),
    ("ip -n blue -br addr", &[0], "DOWN"),
    ("ip xfrm policy", &[0], ""),
    ("bridge fdb", &[0], ""),
    ("tc qdisc show", &[0], "dev lo"),
    ("tc -s filter show dev lo", &[0], ""),
    ("tc -n blue qdisc", &[0], ""),
    ("ifconfig -a", &[0], "lo:"),
    ("route -n", &[0], "Kernel IP routing table"),
    ("arp -an", &[0], ""),
    ("ip stats show", &[0], "lo: group"),
    ("ip ntable show dev lo", &[0], "arp_cache"),
    ("ip netns list-id", &[0], ""),
    ("ip xfrm state count", &[0], "SAD count"),
    ("brctl show", &[0], ""),
    // A machine without such hardware has no such family of the kernel.
    ("iw dev", &[0, 1], ""),
    ("devlink dev show", &[0, 1], ""),
    ("wg show", &[0], ""),
    // The sandbox refuses bpf(2).
    ("bpftool net show", &[0, 255], ""),
    ("ethtool lo", &[0], "Link detected"),
    ("ethtool -k lo", &[0], "Features for lo"),
    // `lo` has no driver to speak of.
    ("ethtool -i lo", &[0, 71], ""),
    ("nft list ruleset", &[0], ""),
    ("nft -j list ruleset", &[0], "nftables"),
    ("iptables -S", &[0], "-P INPUT ACCEPT"),
    ("iptables -w 1 -t nat -nvL", &[0], "POSTROUTING"),
    ("iptables-save", &[0], ""),
    ("ip6tables -S", &[0], "-P INPUT ACCEPT"),
    ("iptables-legacy -S", &[0], "-P INPUT ACCEPT"),
    ("iptables-legacy-save -t filter", &[0], "*filter"),
    ("iptables-nft -S", &[0], "-P INPUT ACCEPT"),
    ("ipset list", &[0], ""),
    ("conntrack -L", &[0], ""),
    ("conntrack -S", &[0], ""),
    ("conntrack -C", &[0], "0"),
    // A kernel without the load balancer has nothing to list, and no module is loaded from here.
    ("ipvsadm -Ln", &[0, 2], ""),
    ("redis-cli -h 127.0.0.1 -p 1 ping", &[1], "Connection refused"),
    ("pg_isready -h 127.0.0.1 -p 1", &[2], "no response"),
    ("openssl ciphers -v", &[0], "TLSv1.3"),
    // No daemon of these runs here.
    ("lldpctl", &[1], "/run/lldpd"),
    ("birdc show status", &[1], "bird.ctl"),
    ("tcpdump -nr a.pcap", &[0], "127.0.0.1"),
    ("tshark -r a.pcap", &[0], "127.0.0.1"),
    ("tshark -r a.pcap -q -z io,stat,1", &[0], "IO Statistics"),
    ("capinfos a.pcap", &[0], "Number of packets"),
    ("cat /proc/net/dev", &[0], "lo:"),
    ("head -n 1 /proc/meminfo", &[0], "MemTotal"),
    ("tail -n 1 /etc/hosts", &[0], ""),
    ("wc -l /proc/net/tcp", &[0], "/proc/net/tcp"),
    ("sysctl net.ipv4.ip_forward", &[0], "net.ipv4.ip_forward = "),
    ("hostname", &[0], ""),
    ("hostname -I", &[0], ""),
    ("uname -a", &[0], "Linux"),
    ("uptime", &[0], "load average"),
    ("date +%s", &[0], ""),
    ("whoami", &[0], ""),
    ("id -u", &[0], ""),
    ("nproc", &[0], ""),
    ("free -m", &[0], "Mem:"),
    ("findmnt", &[0], "TARGET"),
    ("lsns -t net", &[0], "NPROCS"),
    ("vmstat -s", &[0], "total memory"),
    ("iostat -c", &[0], "avg-cpu"),
    ("mpstat", &[0], "CPU"),
    ("df -h", &[0], "Filesystem"),
    // A kernel without modules has no list of them.
    ("lsmod", &[0, 1], ""),
    ("dmesg", &[0], ""),
    ("stdbuf -oL ss -s", &[0], "Total:"),
    ("nice -n 5 uname", &[0], "Linux"),
];

#[test]
fn every_installed_program_works_in_the_sandbox() {
    if let Some(reason) = lacking(&["unshare", "nsenter", "ip"]) {
        println!("skipped: {reason}");
        return;
    }
    let place = Place::new();
    let port = place.serve(0).to_string();
    let mut wrong = Vec::new();
    for (command, codes, holds) in ROWS {
        let program = command
            .split(' ')
            .find(|word| !matches!(*word, "timeout" | "nice" | "stdbuf" | "5" | "-n" | "-oL"))
            .unwrap();
        if let Some(reason) = lacking(&[program]) {
            println!("{command}: skipped: {reason}");
            continue;
        }
        let command = command.replace("{port}", &port);
        let output = place.inside(&place.ghost(&command, 10, &place.path("data"))).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let shown = format!(
            "{}{}",
            answer["output"].as_str().unwrap_or_default(),
            answer["stderr"].as_str().unwrap_or_default()
        );
        let good =
            answer["exit_code"].as_i64().is_some_and(|code| codes.contains(&code)) && shown.contains(holds);
        if answer["classification"] != "SAFE" || !good {
            wrong.push(format!("{command}: {answer} {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} fail:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what others do in the namespace is done by real programs")]
fn a_table_of_the_old_kind_is_read_where_it_is_there_and_asks_where_a_read_would_register_it() {
    if let Some(reason) = lacking(&["unshare", "nsenter", "ip", "iptables"]) {
        println!("skipped: {reason}");
        return;
    }
    let place = Place::with(tempfile::tempdir().unwrap(), "true");
    let ghost = || -> serde_json::Value {
        let command = place.ghost("iptables-legacy -t nat -nL", 10, &place.path("data"));
        serde_json::from_slice(&place.inside(&command).output().unwrap().stdout).unwrap_or_default()
    };
    let run = |program: &str, arguments: &[&str]| {
        place.inside(std::process::Command::new(program).args(arguments)).output().unwrap()
    };
    let registered = || run("cat", &["/proc/net/ip_tables_names"]).stdout;
    let before = registered();
    let answer = ghost();
    assert_eq!(answer["rule"], "firewall.table", "{answer}");
    assert_eq!(registered(), before, "what asks registers nothing");
    assert!(run("iptables-legacy", &["-t", "nat", "-nL"]).status.success());
    assert_ne!(registered(), before, "a read by somebody else does");
    let answer = ghost();
    assert_eq!((&answer["classification"], &answer["exit_code"]), (&"SAFE".into(), &0.into()), "{answer}");
}
