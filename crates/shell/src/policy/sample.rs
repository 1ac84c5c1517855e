//! Commands made up from the policy's own grammar, for reviewers and for the proof of the sandbox.
//!
//! Goes in: a seed. Comes out: command lines, the same for the same seed, most of which the policy calls SAFE. Never: a
//! verdict; what a grammar alone cannot say (`check`) is met halfway.

use crate::policy::grammar::{Arity, Style, Times};
use crate::policy::kind::Kind;
use crate::policy::script::quote;
use crate::policy::{Check, Entry, Policy};

/// Enough options for every interplay of two or three.
const MAX_OPTIONS: usize = 4;

impl Policy {
    /// Makes up command lines from the allow list's grammars; `az` has none, so that it stands among the examples alone.
    #[must_use]
    pub fn sample(&self, seed: u64, count: usize) -> Vec<String> {
        let mut rng = Rng(seed);
        let (programs, transparent) = self.local_entries();
        let one = |rng: &mut Rng| {
            let mut words = Vec::new();
            if rng.one_in(6)
                && let Some(entry) = rng.pick(&transparent)
            {
                words.extend(entry_words(entry, rng));
            }
            if let Some(entry) = rng.pick(&programs) {
                words.extend(entry_words(entry, rng));
            }
            words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
        };
        (0..count).map(|_| one(&mut rng)).collect()
    }
}

fn entry_words(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    let mut words: Vec<String> = rng.pick(&entry.names).cloned().into_iter().collect();
    let grammar = &entry.grammar;
    let mut names: Vec<&String> = grammar.options.keys().collect();
    names.sort();
    let extra = if entry.single { 0 } else { rng.below(MAX_OPTIONS + 1) };
    let needed: &[String] = if entry.single { &[] } else { &entry.needs };
    let mut chosen: Vec<&String> = rng.pick(needed).into_iter().chain(&entry.all).collect();
    let count = if entry.single { 1 } else { extra };
    chosen.extend((0..count).filter_map(|_| rng.pick(&names).copied()));
    let options: Vec<String> = chosen.into_iter().flat_map(|name| option(entry, name, rng)).collect();
    let operands = operands(entry, rng);
    let (first, then) = if entry.verb_first { (operands, options) } else { (options, operands) };
    words.extend(first.into_iter().chain(then));
    words
}

fn option(entry: &Entry, name: &str, rng: &mut Rng) -> Vec<String> {
    let grammar = &entry.grammar;
    if let Some(front) = name.strip_suffix('*') {
        return vec![format!("{front}all")];
    }
    if matches!(name, "-L" | "--location") && entry.check == Some(Check::Curl) {
        return vec![name.to_owned(), "--max-redirs".to_owned(), rng.word(&["0", "3", "5"])];
    }
    let long = name.starts_with("--") || grammar.style == Style::Words;
    let joined = |value: String| match (name.ends_with('='), long) {
        (false, true) => vec![format!("{name}={value}")],
        (true, _) | (false, false) => vec![format!("{name}{value}")],
    };
    match grammar.options.get(name) {
        Some(Arity::Value(kind)) if name.ends_with('=') || rng.one_in(3) => joined(value(entry, kind, rng)),
        Some(Arity::Value(kind) | Arity::Many(kind)) => vec![name.to_owned(), value(entry, kind, rng)],
        Some(Arity::Two(kind)) => vec![name.to_owned(), value(entry, kind, rng), value(entry, kind, rng)],
        Some(Arity::Maybe(kind)) if rng.one_in(2) => vec![name.to_owned(), value(entry, kind, rng)],
        Some(Arity::Attached(kind)) if rng.one_in(2) => joined(value(entry, kind, rng)),
        Some(Arity::Attached(_) | Arity::Maybe(_) | Arity::Flag) | None => vec![name.to_owned()],
    }
}

fn operands(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    match entry.check {
        Some(Check::Objects) => objects(entry, rng),
        Some(Check::Curl) => vec![rng.word(&[
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/x%3Fy",
            "https://localhost/",
            "localhost",
            "http://[::1]:8080/",
            "http://127.0.0.1:8080/",
        ])],
        Some(Check::Nft) => {
            let rest = rng.word(&[
                "ruleset",
                "tables",
                "chains",
                "sets",
                "table inet fw",
                "flowtables",
                "counters",
                "ruleset ip",
            ]);
            std::iter::once("list".to_owned()).chain(rest.split(' ').map(str::to_owned)).collect()
        }
        Some(Check::PatternAndFiles) => {
            vec![rng.word(&["tcp", "lo", "x.y"]), value(entry, &Kind::Readable, rng)]
        }
        Some(Check::Awk) => {
            let program = rng.word(&[
                "{print $1}",
                "NR > 1 {n++} END {print n}",
                "/lo/",
                "{c[$1]++} END {for (k in c) print k, c[k]}",
            ]);
            vec![program, value(entry, &Kind::Readable, rng)]
        }
        Some(Check::Sed) if entry.grammar.operands.len() > 1 => {
            vec![rng.word(&["1,5p", "/lo/d", "s/a/b/g", "$p", "3q"]), value(entry, &Kind::Readable, rng)]
        }
        Some(Check::IntervalAndCount) if rng.one_in(2) => Vec::new(),
        Some(Check::IntervalAndCount) => vec!["1".to_owned(), rng.word(&["1", "2"])],
        Some(Check::OnePattern | Check::NoSecrets | Check::Sed | Check::Jq) | None => {
            let mut words = Vec::new();
            for (kind, times) in &entry.grammar.operands {
                let count = match times {
                    Times::Once => 1,
                    Times::AtMostOnce => rng.below(2),
                    Times::Any => rng.below(3),
                    Times::AtLeastOnce => 1 + rng.below(2),
                };
                if *kind == Kind::Text && count > 0 {
                    words.extend(phrase(entry, rng).split(' ').map(str::to_owned));
                } else {
                    words.extend((0..count).map(|_| value(entry, kind, rng)));
                }
            }
            words
        }
    }
}

/// An object, perhaps shortened, and what to do with it.
fn objects(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    let shown: Vec<&String> = entry.objects.iter().filter(|name| !name.starts_with('!')).collect();
    let object = rng.pick(&shown).map_or("", |name| name.as_str());
    let shortest = object.len().min(3);
    let length = if rng.one_in(3) { shortest + rng.below(object.len() + 1 - shortest) } else { object.len() };
    let mut words = vec![object.get(..length).unwrap_or(object).to_owned()];
    if entry.gets.iter().any(|name| name == object) && rng.one_in(4) {
        words.extend(["get".to_owned(), rng.word(&["127.0.0.1", "::1", "10.0.0.4"])]);
    } else if rng.one_in(2) {
        words.push(rng.word(&["show", "list", "ls"]));
        let behind =
            rng.word(&["", "", "dev lo", "table all", "type veth", "scope link", "up", "dev lo parent 1:"]);
        words.extend(behind.split_whitespace().map(str::to_owned));
    }
    words
}

/// A small generator of random numbers (splitmix64): the same numbers everywhere, for ever.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        let at = self.below(from.len());
        from.get(at)
    }

    fn word(&mut self, from: &[&str]) -> String {
        self.pick(from).map_or_else(String::new, |word| (*word).to_owned())
    }
}

/// A value of a kind: one that lets the program do real work, where that can be known.
fn value(entry: &Entry, kind: &Kind, rng: &mut Rng) -> String {
    match kind {
        Kind::OneOf(words) => rng.pick(words).cloned().unwrap_or_default(),
        Kind::Text => phrase(entry, rng),
        Kind::Name => rng.word(names(entry)),
        Kind::Host => {
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
        Kind::List => rng.word(&["a.example", "a.example/localhost", "127.0.0.1:443/10.0.0.4:0"]),
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
        Kind::Minute => rng.word(&["1s", "30s", "1m"]),
        Kind::Priority => rng.word(&["5", "19", "+1", "0"]),
        Kind::Buffering => rng.word(&["L", "0", "4K"]),
        Kind::Lines => rng.word(&["1", "5", "+2", "-3"]),
        Kind::Range => rng.word(&["0-9", "5-", "0-0,2-3"]),
        Kind::Capture => rng.word(&["a.pcap", "a.pcap", "./a.pcap", "missing.pcap"]),
        Kind::Statistic => rng.word(&["io,stat,1", "conv,tcp", "io,phs", "endpoints,ip"]),
        Kind::Preference => rng.word(&["tcp.relative_sequence_numbers:FALSE", "ip.defragment:TRUE"]),
        Kind::Page => rng.word(&["/", "/health", "/api/v1/ready"]),
        Kind::Columns => rng.word(&["aux", "pid,comm", "-pid", "1", "ax", "user,pid,etime"]),
        Kind::Fields => rng.word(&["ActiveState", "MESSAGE,PRIORITY"]),
        Kind::Setting => {
            rng.word(&["net.ipv4.ip_forward", "net.core.somaxconn", "kernel.hostname", "net/ipv4/tcp_rmem"])
        }
        Kind::Show => {
            rng.word(&["show daemons", "show bgp summary json", "show ip ospf neighbor", "show ip route"])
        }
        Kind::Moment => rng.word(&["+%s", "+%F", "+%T %Z"]),
        Kind::Header(names) => {
            let name = rng.word(&names.iter().map(String::as_str).collect::<Vec<_>>()).replace('*', "spanid");
            format!("{name}: {}", rng.word(&["*/*", "a.example", "no-cache", "\"1\"", "bytes=0-9"]))
        }
        Kind::HeaderValue => rng.word(&["probe/1", "Mozilla/5.0 (X11; Linux x86_64)"]),
        Kind::Writeout => rng.word(&["%{http_code}", "%{time_total}\\n", "%{json}"]),
        Kind::Packed => rng.word(&["/var/log/syslog.2.gz", "/var/log/dmesg.1.gz"]),
        Kind::Logs => rng.word(&["/var/log", "/var/log/nginx", "/var/log/app/"]),
        Kind::Folder => rng.word(&["/var/log", "/etc/netplan", "/sys/class/net", "/proc/net"]),
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
fn phrase(entry: &Entry, rng: &mut Rng) -> String {
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
        "file.awk" => &[":", "a=1"],
        "file.find" => &["*.log", "+1k", "-2M"],
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

#[cfg(test)]
mod tests {
    use crate::{Policy, Verdict};

    #[test]
    fn a_seed_makes_the_same_commands_every_time() {
        let policy = Policy::builtin().unwrap();
        assert_eq!(policy.sample(7, 50), policy.sample(7, 50));
        assert_ne!(policy.sample(7, 50), policy.sample(8, 50));
    }

    #[test]
    fn most_of_what_a_grammar_makes_up_is_safe_and_every_rule_is_reached() {
        let policy = Policy::builtin().unwrap();
        let commands = policy.sample(1, 6000);
        let rulings: Vec<_> = commands.iter().map(|command| policy.classify(command)).collect();
        let safe: Vec<_> = rulings.iter().filter(|ruling| ruling.verdict == Verdict::Safe).collect();
        assert!(safe.len() > 4500, "{} of {} are SAFE", safe.len(), commands.len());
        let missed: Vec<_> = policy
            .local_entries()
            .0
            .into_iter()
            .filter(|entry| !safe.iter().any(|ruling| ruling.rule == entry.id.as_str()))
            .map(|entry| entry.id.as_str())
            .collect();
        assert!(missed.is_empty(), "no command fits {missed:?}");
    }
}
