//! Random rules for `iptables-restore`, of either backend.

use ghost_inspect::netfilter::Hook;

use super::compare::Theme;
use super::probe::PORTS;
use crate::random::Random;

/// Takes every rule away.
pub(super) const NOTHING: &str = "*raw\nCOMMIT\n*mangle\nCOMMIT\n*nat\nCOMMIT\n*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n*security\nCOMMIT\n";

const TABLES: [(&str, &[Hook]); 5] = [
    ("raw", &[Hook::Prerouting, Hook::Output]),
    ("mangle", &[Hook::Prerouting, Hook::Input, Hook::Forward, Hook::Output, Hook::Postrouting]),
    ("nat", &[Hook::Prerouting, Hook::Input, Hook::Output, Hook::Postrouting]),
    ("filter", &[Hook::Input, Hook::Forward, Hook::Output]),
    ("security", &[Hook::Input, Hook::Forward, Hook::Output]),
];
const OWN_CHAINS: usize = 4;

/// Writes a ruleset.
pub(super) fn text(random: &mut Random, theme: &Theme) -> String {
    let mut text = String::new();
    for (table, hooks) in TABLES {
        text.push_str(&format!("*{table}\n"));
        let used: Vec<&Hook> = hooks.iter().filter(|hook| theme.hooks.contains(hook)).collect();
        for hook in hooks {
            let drops = table == "filter" && used.contains(&hook) && random.below(3) == 0;
            text.push_str(&format!(
                ":{} {} [0:0]\n",
                hook.name().to_uppercase(),
                if drops { "DROP" } else { "ACCEPT" }
            ));
        }
        // Most of the rules are where most of the rules are.
        let most = if table == "filter" { 9 } else { 4 };
        if !used.is_empty() && (table == "filter" || random.below(2) == 0) {
            (0..OWN_CHAINS).for_each(|chain| text.push_str(&format!(":U{chain} - [0:0]\n")));
            for hook in &used {
                for _ in 0..random.below(most + 1) {
                    text.push_str(&rule(random, theme, table, Some(hook), 0));
                }
            }
            for chain in 0..OWN_CHAINS {
                for _ in 0..random.below(5) {
                    text.push_str(&rule(random, theme, table, None, chain));
                }
            }
        }
        text.push_str("COMMIT\n");
    }
    text
}

fn rule(random: &mut Random, theme: &Theme, table: &str, hook: Option<&Hook>, chain: usize) -> String {
    let own = hook.map_or_else(|| format!("U{chain}"), |hook| hook.name().to_uppercase());
    let mut words = vec![format!("-A {own}")];
    let protocol = *random.pick(&["tcp", "tcp", "udp", "icmp", "", "", "", ""]);
    let protocol = if protocol == "icmp" && theme.six { "ipv6-icmp" } else { protocol };
    let no = |random: &mut Random| if random.below(4) == 0 { "! " } else { "" };
    if protocol.is_empty() {
        if random.below(6) == 0 {
            words.push(format!("! -p {}", random.pick(&["tcp", "udp"])));
        }
    } else {
        words.push(format!("-p {protocol}"));
    }
    let place = usize::from(theme.six);
    if random.below(5) == 0 {
        words.push(format!("{}-s {}", no(random), random.pick(&PREFIXES[place])));
    }
    if random.below(6) == 0 {
        words.push(format!("{}-d {}", no(random), random.pick(&PREFIXES[place])));
    }
    let inward = !matches!(hook, Some(Hook::Output | Hook::Postrouting));
    let outward = !matches!(hook, Some(Hook::Prerouting | Hook::Input));
    let devices = ["in0", "in1", "in+", "lo", "eth9"];
    if inward && random.below(5) == 0 {
        words.push(format!("{}-i {}", no(random), random.pick(&devices)));
    }
    if outward && random.below(5) == 0 {
        words.push(format!("{}-o {}", no(random), random.pick(&devices)));
    }
    for _ in 0..*random.pick(&[0, 0, 1, 1, 2]) {
        let word = matching(random, theme, protocol);
        // A match of one kind once a rule.
        let kind: String = word.split_whitespace().take(3).filter(|word| *word != "!").take(2).collect();
        if !words.iter().any(|other| other.replace("! ", "").replace(' ', "").starts_with(&kind)) {
            words.push(word);
        }
    }
    words.push(target(random, theme, table, protocol, if hook.is_some() { 0 } else { chain + 1 }));
    words.join(" ") + "\n"
}

const PREFIXES: [[&str; 10]; 2] = [
    [
        "10.0.0.0/8",
        "10.77.0.0/24",
        "10.77.0.2",
        "10.80.4.0/22",
        "10.80.0.0/16",
        "192.168.0.0/16",
        "203.0.113.0/28",
        "10.77.0.1",
        "10.78.0.0/255.255.0.0",
        "10.0.0.1/255.0.0.1",
    ],
    [
        "fd00::/8",
        "fd77::/64",
        "fd77::2",
        "fd80::/64",
        "fd80::/16",
        "2001:db8::/32",
        "2001:db8:7::7",
        "fd77::1",
        "fd78::/16",
        "fd80::4:0/120",
    ],
];
const RANGES: [[&str; 3]; 2] = [
    ["10.77.0.1-10.77.0.50", "10.0.0.0-10.79.255.255", "192.168.7.7-203.0.113.9"],
    ["fd77::1-fd77::50", "fd00::-fd79::", "2001:db8::-2001:db8:ffff::"],
];

fn matching(random: &mut Random, theme: &Theme, protocol: &str) -> String {
    let no = if random.below(4) == 0 { "! " } else { "" };
    let port = |random: &mut Random| random.pick(&PORTS).to_string();
    let range = |random: &mut Random| {
        (*random.pick(&[
            "0:1023",
            "1024:65535",
            "80:443",
            "22:53",
            "5000:9000",
            "20000:20400",
            ":3306",
            "8080:",
        ]))
        .to_owned()
    };
    let has_ports = matches!(protocol, "tcp" | "udp");
    match random.below(9) {
        0 | 1 if has_ports => {
            let value = if random.below(2) == 0 { port(random) } else { range(random) };
            format!("-m {protocol} {no}--dport {value}")
        }
        2 if has_ports => format!("-m {protocol} {no}--sport {}", range(random)),
        3 if has_ports => {
            let list = [port(random), range(random), port(random)].join(",");
            let list = list.replace(",:3306", ",0:3306").replace("8080:,", "8080:65535,");
            format!("-m multiport {no}--{} {list}", random.pick(&["dports", "dports", "sports", "ports"]))
        }
        4 if protocol == "tcp" => (*random.pick(&[
            "-m tcp --syn",
            "-m tcp ! --syn",
            "-m tcp --tcp-flags SYN,ACK SYN",
            "-m tcp ! --tcp-flags SYN SYN",
        ]))
        .to_owned(),
        4 if protocol == "icmp" => format!(
            "-m icmp {no}--icmp-type {}",
            random.pick(&["8", "echo-reply", "destination-unreachable", "any"])
        )
        .replace("! --icmp-type any", "--icmp-type any"),
        4 if protocol == "ipv6-icmp" => {
            format!("-m icmp6 {no}--icmpv6-type {}", random.pick(&["echo-request", "1", "129"]))
        }
        5 => format!(
            "-m iprange {no}--{} {}",
            random.pick(&["src-range", "dst-range"]),
            random.pick(&RANGES[usize::from(theme.six)])
        ),
        6 => format!("-m mark {no}--mark {}", random.pick(&["0x1", "0x2/0x2", "0x0/0x3", "5"])),
        7 => (*random.pick(&["-m comment --comment \"a \\\"b\\\" -j DROP\"", "-m comment --comment plain"]))
            .to_owned(),
        _ => {
            let states = random.pick(&[
                "NEW",
                "ESTABLISHED,RELATED",
                "RELATED",
                "INVALID",
                "NEW,INVALID",
                "ESTABLISHED",
            ]);
            if random.below(4) == 0 {
                format!("-m state {no}--state {states}")
            } else {
                format!("-m conntrack {no}--ctstate {states}")
            }
        }
    }
}

fn target(random: &mut Random, theme: &Theme, table: &str, protocol: &str, first: usize) -> String {
    let ends =
        if table == "nat" { ["-j ACCEPT"; 4] } else { ["-j ACCEPT", "-j ACCEPT", "-j DROP", "-j DROP"] };
    match random.below(16) {
        0..3 => (*random.pick(&ends)).to_owned(),
        3 if table == "filter" && theme.refuses => {
            let mut kinds = if theme.six {
                vec!["", " --reject-with icmp6-adm-prohibited", " --reject-with icmp6-no-route"]
            } else {
                vec!["", " --reject-with icmp-admin-prohibited", " --reject-with icmp-host-unreachable"]
            };
            if protocol == "tcp" {
                kinds.push(" --reject-with tcp-reset");
            }
            format!("-j REJECT{}", random.pick(&kinds))
        }
        4..11 if first < OWN_CHAINS => {
            let chain = first + random.below(OWN_CHAINS - first);
            format!("{} U{chain}", random.pick(&["-j", "-g"]))
        }
        11 => "-j RETURN".to_owned(),
        12 => format!(
            "-j MARK --{}",
            random.pick(&[
                "set-mark 1",
                "set-xmark 0x2/0x2",
                "or-mark 1",
                "and-mark 0xfe",
                "xor-mark 3",
                "set-mark 5"
            ])
        ),
        13 | 14 => String::new(),
        _ => (*random.pick(&ends)).to_owned(),
    }
}
