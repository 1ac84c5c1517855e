//! Rules of a machine's own filter, drawn by chance, as the commands that a person would type.

use crate::random::Random;

/// The ports on which somebody listens, in both protocols.
pub(super) const PORTS: [u16; 8] = [22, 53, 80, 443, 3306, 5001, 8080, 33_000];

/// Who keeps the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// `iptables`, over nft.
    Iptables,
    /// `iptables-legacy`.
    Legacy,
    /// `nft`.
    Nft,
}

impl Keeper {
    pub(super) const ALL: [Self; 3] = [Self::Iptables, Self::Nft, Self::Legacy];

    /// What prints the rules, for whoever reads them.
    pub(super) fn print(self) -> &'static str {
        match self {
            Self::Iptables => "iptables-save",
            Self::Legacy => "iptables-legacy-save",
            Self::Nft => "nft -j list ruleset",
        }
    }
}

/// Draws the lines of a script.
pub(super) fn lines(random: &mut Random, keeper: Keeper) -> String {
    match keeper {
        Keeper::Iptables => iptables(random, "iptables"),
        Keeper::Legacy => iptables(random, "iptables-legacy"),
        Keeper::Nft => nft(random),
    }
}

const SENDERS: [&str; 9] = [
    "10.0.1.4",
    "10.0.1.0/26",
    "10.0.1.64/26",
    "10.0.1.6/31",
    "10.0.1.5",
    "172.16.0.0/12",
    "10.0.0.0/8",
    "10.0.1.77/32",
    "10.0.0.0/255.255.0.0",
];

fn no(random: &mut Random) -> &'static str {
    if random.below(5) == 0 { "! " } else { "" }
}

/// A chain of a table, with how many rules it may get.
const CHAINS: [(&str, &str, usize); 9] = [
    ("filter", "INPUT", 5),
    ("filter", "OUTPUT", 3),
    ("filter", "U", 3),
    ("filter", "W", 3),
    ("mangle", "PREROUTING", 2),
    ("mangle", "INPUT", 2),
    ("mangle", "POSTROUTING", 1),
    ("raw", "PREROUTING", 1),
    ("raw", "OUTPUT", 1),
];

fn iptables(random: &mut Random, program: &str) -> String {
    let mut lines = vec![format!("{program} -N U"), format!("{program} -N W")];
    for (table, chain, most) in CHAINS {
        for _ in 0..random.below(most + 1) {
            let place = if random.below(6) == 0 { "-I" } else { "-A" };
            let table_words = if table == "filter" { String::new() } else { format!("-t {table} ") };
            lines.push(format!("{program} {table_words}{place} {chain}{}", rule(random, table, chain)));
        }
    }
    for (chain, policies) in [
        ("INPUT", ["ACCEPT", "ACCEPT", "ACCEPT", "ACCEPT", "ACCEPT", "DROP"]),
        ("OUTPUT", ["ACCEPT", "ACCEPT", "ACCEPT", "ACCEPT", "ACCEPT", "DROP"]),
    ] {
        lines.push(format!("{program} -P {chain} {}", random.pick(&policies)));
    }
    lines.join("\n")
}

fn rule(random: &mut Random, table: &str, chain: &str) -> String {
    let mut words = String::new();
    let protocol = *random.pick(&["tcp", "udp", "icmp", "tcp", "udp", ""]);
    if !protocol.is_empty() {
        words.push_str(&format!(" -p {protocol}"));
    } else if random.below(6) == 0 {
        words.push_str(&format!(" ! -p {}", random.pick(&["tcp", "icmp"])));
    }
    for (option, share) in [("-s", 3), ("-d", 6)] {
        if random.below(share) == 0 {
            words.push_str(&format!(" {}{option} {}", no(random), random.pick(&SENDERS)));
        }
    }
    let device = match chain {
        "INPUT" | "PREROUTING" => "-i",
        "OUTPUT" | "POSTROUTING" => "-o",
        _ => "",
    };
    if !device.is_empty() && random.below(6) == 0 {
        words.push_str(&format!(" {}{device} {}", no(random), random.pick(&["eth0", "eth+", "lo", "eth1"])));
    }
    let mut kinds: Vec<usize> = Vec::new();
    for _ in 0..random.below(3) {
        let kind = random.below(8);
        let ports = matches!(protocol, "tcp" | "udp");
        // A rule asks for ports in one form.
        let same = if kind < 3 { 0..3 } else { kind..kind + 1 };
        if kinds.iter().any(|own| same.contains(own)) {
            continue;
        }
        kinds.push(kind);
        let word = match kind {
            0 | 1 if ports => {
                let ports = random.pick(&[
                    "22",
                    "0:1023",
                    "1024:65535",
                    "5001",
                    "443:8080",
                    "53:80",
                    ":3306",
                    "8080:",
                ]);
                format!("{}--dport {ports}", no(random))
            }
            2 if ports => {
                let ports = random.pick(&["22,80,443", "53,1000:9000", "5001", "0:79,8080:65535"]);
                let side = random.pick(&["--dports", "--dports", "--sports", "--ports"]);
                format!("-m multiport {}{side} {ports}", no(random))
            }
            3 => {
                let states = random.pick(&[
                    "NEW",
                    "ESTABLISHED,RELATED",
                    "RELATED",
                    "ESTABLISHED",
                    "INVALID",
                    "NEW,INVALID",
                ]);
                if random.below(3) == 0 {
                    format!("-m state {}--state {states}", no(random))
                } else {
                    format!("-m conntrack {}--ctstate {states}", no(random))
                }
            }
            4 if protocol == "tcp" => (*random.pick(&[
                "--syn",
                "! --syn",
                "-m tcp --tcp-flags SYN,ACK SYN",
                "-m tcp --tcp-flags SYN,RST,ACK SYN,ACK",
                "-m tcp ! --tcp-flags ALL SYN",
            ]))
            .to_owned(),
            4 if protocol == "icmp" => {
                let kind = random.pick(&["echo-request", "echo-reply", "3", "destination-unreachable", "8"]);
                format!("{}--icmp-type {kind}", no(random))
            }
            5 => {
                let range = random.pick(&["10.0.1.1-10.0.1.5", "10.0.1.6-10.0.1.200", "10.0.1.5-10.0.1.5"]);
                format!("-m iprange {}--{} {range}", no(random), random.pick(&["src-range", "dst-range"]))
            }
            6 => format!("-m mark {}--mark {}", no(random), random.pick(&["1", "0x2/0x2", "0", "0/3"])),
            _ => {
                (*random.pick(&["-m comment --comment 'a -j DROP'", "-m comment --comment plain"])).to_owned()
            }
        };
        words.push_str(&format!(" {word}"));
    }
    // What stops everything leaves nothing to compare.
    let aims = ["-s ", "-d ", "port", "range ", "--icmp-type"].iter().any(|part| words.contains(part));
    let end = target(random, table, chain, protocol);
    let end = if aims || !(end.contains("DROP") || end.contains("REJECT")) { end } else { String::new() };
    words + format!(" {end}").trim_end()
}

fn target(random: &mut Random, table: &str, chain: &str, protocol: &str) -> String {
    let refusals = [
        "-j REJECT",
        "-j REJECT --reject-with icmp-admin-prohibited",
        "-j REJECT --reject-with icmp-host-unreachable",
        "-j REJECT --reject-with tcp-reset",
    ];
    match random.below(12) {
        0..3 => "-j ACCEPT".to_owned(),
        3 => "-j DROP".to_owned(),
        4..7 if table == "filter" => {
            let kinds = if protocol == "tcp" { 4 } else { 3 };
            refusals[random.below(kinds)].to_owned()
        }
        5..=7 if table == "mangle" => format!(
            "-j MARK {}",
            random.pick(&[
                "--set-mark 1",
                "--set-xmark 0x2/0x2",
                "--or-mark 1",
                "--and-mark 0xfe",
                "--xor-mark 3"
            ])
        ),
        7 | 8 if table == "filter" && chain != "W" => {
            let to = if chain == "U" { "W" } else { random.pick(&["U", "U", "W"]) };
            format!("{} {to}", random.pick(&["-j", "-j", "-g"]))
        }
        9 => "-j RETURN".to_owned(),
        10 => String::new(),
        11 if table == "filter" => "-j LOG --log-prefix 'seen '".to_owned(),
        _ => (*random.pick(&["-j ACCEPT", "-j ACCEPT", "-j DROP"])).to_owned(),
    }
}

fn nft(random: &mut Random) -> String {
    let hosts = random.pick(&["10.0.1.4, 10.0.1.77", "10.0.1.6", "10.0.1.5, 10.0.1.6"]);
    let ports = random.pick(&["22, 80, 443", "0-1023", "5001-8080, 53"]);
    let mut text = format!(
        "table inet fw {{\n  set hosts {{\n    type ipv4_addr\n    elements = {{ {hosts} }}\n  }}\n  \
         set ports {{\n    type inet_service\n    flags interval\n    elements = {{ {ports} }}\n  }}\n"
    );
    for (chain, begin, most) in [
        ("more", String::new(), 3),
        ("own", String::new(), 3),
        ("input", base(random, "input"), 6),
        ("late", base(random, "input"), 2),
        ("output", base(random, "output"), 3),
        ("first", base(random, "prerouting"), 2),
    ] {
        text.push_str(&format!("  chain {chain} {{\n{begin}"));
        for _ in 0..random.below(most + 1) {
            text.push_str(&format!("    {}\n", statement(random, chain)));
        }
        text.push_str("  }\n");
    }
    let mut lines = vec![format!("nft -f - <<'END'\n{text}}}\nEND")];
    // More of it, one by one, as people do.
    for _ in 0..random.below(4) {
        let (verb, chain) = (random.pick(&["add", "insert"]), random.pick(&["input", "own", "output"]));
        lines.push(format!("nft '{verb} rule inet fw {chain} {}'", statement(random, chain)));
    }
    lines.join("\n")
}

fn base(random: &mut Random, hook: &str) -> String {
    let priority = random.pick(&["filter", "0", "mangle", "10", "-1", "filter + 10"]);
    let policy = if hook == "prerouting" {
        "accept"
    } else {
        random.pick(&["accept", "accept", "accept", "accept", "accept", "drop"])
    };
    format!("    type filter hook {hook} priority {priority}; policy {policy};\n")
}

fn statement(random: &mut Random, chain: &str) -> String {
    let protocol = *random.pick(&["tcp", "tcp", "udp", "icmp", ""]);
    let mut words: Vec<String> = Vec::new();
    let not = |random: &mut Random| if random.below(5) == 0 { "!= " } else { "" };
    for _ in 0..1 + random.below(2) {
        let ports = matches!(protocol, "tcp" | "udp");
        words.push(match random.below(10) {
            0 | 1 => {
                let to = random.pick(&[
                    "10.0.1.4",
                    "10.0.1.0/26",
                    "10.0.1.5-10.0.1.9",
                    "{ 10.0.1.4, 10.0.1.64/26 }",
                    "@hosts",
                ]);
                format!("ip {} {}{to}", random.pick(&["saddr", "saddr", "daddr"]), not(random))
            }
            2..5 if ports => {
                let to =
                    random.pick(&["22", "0-1023", "1024-65535", "{ 22, 80 }", "{ 53, 1000-9000 }", "@ports"]);
                format!("{protocol} {} {}{to}", random.pick(&["dport", "dport", "sport"]), not(random))
            }
            5 if ports => {
                let than = random.pick(&["<", ">", "<=", ">="]);
                format!("{protocol} dport {than} {}", random.pick(&["1024", "443"]))
            }
            6 => {
                let states = random.pick(&[
                    "new",
                    "established,related",
                    "{ new, related }",
                    "invalid",
                    "established",
                ]);
                format!("ct state {}{states}", not(random))
            }
            7 if protocol == "icmp" => {
                let kind =
                    random.pick(&["echo-request", "{ echo-request, echo-reply }", "destination-unreachable"]);
                format!("icmp type {}{kind}", not(random))
            }
            7 if protocol == "tcp" => {
                (*random.pick(&["tcp flags syn", "tcp flags & (syn | ack) == syn"])).to_owned()
            }
            8 if matches!(chain, "input" | "first" | "late") => {
                format!("iifname {}{}", not(random), random.pick(&["\"eth0\"", "\"lo\"", "\"eth*\""]))
            }
            8 if chain == "output" => format!("oifname {}\"eth0\"", not(random)),
            9 => format!("meta mark {}{}", not(random), random.pick(&["1", "0"])),
            // A rule speaks of one protocol.
            _ if protocol.is_empty() => format!(
                "meta l4proto {}{}",
                not(random),
                random.pick(&["tcp", "udp", "icmp", "{ tcp, udp }", "{ tcp, icmp }"])
            ),
            _ => "ct state new".to_owned(),
        });
    }
    words.dedup();
    let aims = words.iter().any(|word| ["ip ", "port", "icmp type"].iter().any(|part| word.contains(part)));
    let refuses = chain != "first" && aims;
    let last = match random.below(12) {
        0..3 => "accept".to_owned(),
        3 => "drop".to_owned(),
        4 | 5 if refuses => "reject".to_owned(),
        6 if refuses => (*random
            .pick(&["reject with icmpx admin-prohibited", "reject with icmpx type port-unreachable"]))
        .to_owned(),
        7 if chain != "more" && chain != "first" => {
            let to = if chain == "own" { "more" } else { "own" };
            format!("{} {to}", random.pick(&["jump", "jump", "goto"]))
        }
        8 => "return".to_owned(),
        9 => format!("meta mark set {}", random.pick(&["1", "2"])),
        10 if protocol == "tcp" && refuses => "tcp dport 5001 reject with tcp reset".to_owned(),
        11 if matches!(protocol, "tcp" | "udp") => {
            format!("{protocol} dport vmap {{ 22 : accept, 53-80 : drop, 5001 : return }}")
        }
        _ => (*random.pick(&["accept", "accept", "drop"])).to_owned(),
    };
    // What stops everything leaves nothing to compare.
    words.push(if aims || last != "drop" { last } else { "counter".to_owned() });
    words.join(" ")
}
