//! Values that let a program do real work, where that can be known.

use super::rng::Rng;
use crate::policy::Entry;
use crate::policy::kind::Kind;

/// A word for a program that takes any.
pub(super) fn anything(entry: &Entry, kind: &Kind, rng: &mut Rng) -> String {
    match entry.id.as_str() {
        "socket.netstat" => rng.word(&[
            "-s", "-tlnp", "-rn", "-i", "-an", "-x", "-g", "-u", "-e", "-l", "--tcp", "-ne", "-W", "-C", "-o",
        ]),
        "name.host" => rng.word(&[
            "127.0.0.1",
            "localhost",
            "a.example",
            "-t",
            "mx",
            "-v",
            "-W",
            "1",
            "-R",
            "-4",
            "-a",
            "-T",
        ]),
        "system.process" => {
            rng.word(&["-ef", "aux", "-o", "pid,comm", "-a", "sh", "-p", "1", "--sort=-pid", "ax"])
        }
        "system.list" => rng.word(&["-l", "-a", "-d", "/", "/proc/net", "/etc/hosts", "-i", "/tmp"]),
        "system.which" => rng.word(&["ip", "ss", "-a", "sh"]),
        "system.uname" | "system.uptime" | "system.who" | "system.id" | "system.nproc" | "system.free"
        | "system.df" | "system.lsmod" | "system.release" => {
            rng.word(&["-a", "-h", "-u", "-s", "-n", "--help", "-m", "root", "-i"])
        }
        "system.echo" => rng.word(&["hello", "-n", "a b", "%s"]),
        _ if *kind == Kind::Answer => rng.word(&[
            "127.0.0.1",
            "localhost",
            "::1",
            "-n",
            "-4",
            "-6",
            "-q1",
            "-w1",
            "-m",
            "2",
            "-T",
            "-I",
            "-U",
            "-A",
            "-f",
            "1",
            "-s",
            "-V",
            "--mtu",
            "-e",
            "-b",
            "-p",
            "80",
            "-l",
        ]),
        _ => value(entry, kind, rng),
    }
}

/// A value of a kind: one that lets the program do real work, where that can be known.
pub(super) fn value(entry: &Entry, kind: &Kind, rng: &mut Rng) -> String {
    match kind {
        Kind::OneOf(words) => rng.pick(words).cloned().unwrap_or_default(),
        Kind::Text => phrase(entry, rng),
        Kind::Name => rng.word(names(entry)),
        Kind::Host | Kind::Answer => {
            rng.word(&["127.0.0.1", "127.0.0.1", "localhost", "::1", "10.0.0.4", "a.example", "2001:db8::5"])
        }
        Kind::Question => rng.word(&[
            "@127.0.0.1",
            "+time=1",
            "+tries=1",
            "a.example",
            "MX",
            "+short",
            "+tcp",
            "ANY",
            "+noall",
            "+answer",
            "+trace",
            "localhost",
        ]),
        Kind::Address => rng.word(&[":443", "TCP", "UDP:53", "4", "@127.0.0.1", "TCP:LISTEN", "6TCP"]),
        Kind::Interface => rng.word(&["lo", "lo", "eth0", "127.0.0.1"]),
        Kind::Ports => rng.word(&["1", "53", "80", "443", "8080-8082"]),
        Kind::Endpoint => rng.word(&["127.0.0.1:443", "localhost:1", "[::1]:443"]),
        Kind::OwnCapture => rng.word(&["/tmp/captures/a.pcap"]),
        Kind::File => rng.word(&["a.pcap", "/etc/hosts", "missing"]),
        Kind::Value => rng.word(&["web-1", "rg"]),
        Kind::Form => rng.word(&["wide", "json", "yaml", "name"]),
        Kind::Port => rng.word(&["1", "53", "80", "443", "8080", "65535"]),
        Kind::Number => rng.word(&["0", "1", "2", "7", "64", "1500"]),
        Kind::Count => rng.word(&["1", "2", "3"]),
        Kind::Retries => rng.word(&["0", "1", "5"]),
        Kind::Packet => rng.word(&["0", "56", "1472", "65000"]),
        Kind::Flow => rng.word(&["0", "16", "0x10"]),
        Kind::Interval => rng.word(&["0.2", "1", ".5"]),
        Kind::Seconds => rng.word(&["1", "0.5", "2"]),
        Kind::Duration => rng.word(&["1", "2s", "0.5", "1m"]),
        Kind::Priority => rng.word(&["5", "19", "+1", "0"]),
        Kind::Buffering => rng.word(&["L", "0", "4K"]),
        Kind::Lines => rng.word(&["1", "5", "+2", "-3"]),
        Kind::Range => rng.word(&["0-9", "5-", "0-0,2-3"]),
        Kind::Capture => rng.word(&["a.pcap", "a.pcap", "./a.pcap", "missing.pcap"]),
        Kind::Statistic => rng.word(&["io,stat,1", "conv,tcp", "io,phs", "endpoints,ip"]),
        Kind::Preference => rng.word(&["tcp.relative_sequence_numbers:FALSE", "ip.defragment:TRUE"]),
        Kind::Setting => {
            rng.word(&["net.ipv4.ip_forward", "net.core.somaxconn", "kernel.hostname", "net/ipv4/tcp_rmem"])
        }
        Kind::Moment => rng.word(&["+%s", "+%F", "+%T %Z"]),
        Kind::Header => rng.word(&["Accept: */*", "Host: a.example", "X-Api-Version: 1"]),
        Kind::Writeout => rng.word(&["%{http_code}", "%{time_total}\\n", "%{json}"]),
        Kind::Readable => rng.word(&[
            "/proc/net/dev",
            "/proc/net/tcp",
            "/proc/net/snmp",
            "/proc/sys/net/ipv4/ip_forward",
            "/sys/class/net/lo/mtu",
            "/proc/meminfo",
            "/proc/cpuinfo",
            "/etc/hosts",
            "/etc/resolv.conf",
            "/etc/os-release",
            "/proc/net/missing",
        ]),
    }
}

/// Words that mean something to the program behind a rule; now and then a few that do not.
pub(super) fn phrase(entry: &Entry, rng: &mut Rng) -> String {
    if rng.one_in(8) {
        return rng.word(&["x y", "add", "set dev lo up", "-Z", "!", "dev lo | x"]);
    }
    rng.word(match entry.id.as_str() {
        "socket.ss" => &[
            "state established",
            "dst 127.0.0.1",
            "sport = :53",
            "state listening",
            "( dport = :443 or sport = :443 )",
        ],
        "capture.tcpdump" => &["tcp", "udp port 53", "host 127.0.0.1", "tcp[13] & 2 != 0", "not arp"],
        "capture.tshark" => &["ip", "udp.port == 53", "frame.number > 0", "dns"],
        "system.df" => &["/", "/tmp", "/proc"],
        "service.systemctl" => &["ssh", "-.mount", "dbus.service"],
        "service.journalctl" => &["today", "ssh", "_PID=1"],
        "file.grep" | "file.zgrep" => &["tcp", "x"],
        "cluster.kubectl.get" => &["pods", "svc", "nodes", "web"],
        "reach.curl" => &["localhost:8080:127.0.0.1", "a.example:80:127.0.0.1", "*"],
        _ => &["tcp", "dev lo", "127.0.0.1"],
    })
}

/// Names that mean something to the program behind a rule.
fn names(entry: &Entry) -> &'static [&'static str] {
    let family = entry.id.split('.').next().unwrap_or_default();
    match (family, entry.id.as_str()) {
        (_, "firewall.conntrack") => {
            &["tcp", "udp", "ipv4", "ipv6", "extended", "ASSURED", "ESTABLISHED", "1", "conntrack"]
        }
        ("firewall", _) => &["filter", "nat", "mangle", "raw", "INPUT", "FORWARD", "OUTPUT"],
        (_, "capture.tshark") => {
            &["ip.src", "frame.number", "udp.port", "r", "ad", "header=y", "separator=,", "m", "s"]
        }
        (_, "capture.tcpdump") => &["domain", "vxlan", "RAW", "EN10MB"],
        (_, "socket.ss") => &["inet", "inet6", "unix", "tcp", "udp,tcp", "all", "raw", "blue"],
        (_, "socket.lsof") => &["1", "root", "init", "sh"],
        (_, "system.df") => &["ext4", "tmpfs", "1M", "K", "source,pcent"],
        (_, "system.dmesg") => &["err", "warn,notice", "kern", "daemon", "auto", "never"],
        (_, "system.date") => &["seconds", "date", "ns"],
        (_, "system.id") => &["root", "nobody", "missing"],
        ("link", _) => &["lo", "inet", "inet6", "blue", "always", "never", "bridge"],
        ("name", _) => &["MX", "any", "A", "IN", "127.0.0.1"],
        ("wrapper", _) => &["TERM", "KILL", "9"],
        _ => &["lo", "1", "tcp", "root"],
    }
}
