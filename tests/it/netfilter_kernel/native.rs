//! Random rules in the language of `nft`.

use ghost_inspect::netfilter::Hook;

use super::compare::Theme;
use super::probe::PORTS;
use crate::random::Random;

const OWN_CHAINS: usize = 4;

/// Writes a ruleset: one or two tables, with sets and maps.
pub(super) fn text(random: &mut Random, theme: &Theme) -> String {
    let own = if theme.six { "ip6" } else { "ip" };
    let mut text = String::new();
    for (number, family) in ["inet", own].into_iter().enumerate().take(1 + random.below(2)) {
        text.push_str(&table(random, theme, family, number));
    }
    text
}

fn table(random: &mut Random, theme: &Theme, family: &str, number: usize) -> String {
    let mut writer = Writer { random, theme, inet: family == "inet" };
    let mut text = format!("table {family} t{number} {{\n{}", writer.sets());
    // What is jumped to has to be there first.
    for chain in (0..OWN_CHAINS).rev() {
        text.push_str(&format!("chain u{chain} {{\n"));
        for _ in 0..writer.random.below(5) {
            text.push_str(&writer.rule(chain + 1, None));
        }
        text.push_str("}\n");
    }
    text.push_str(&writer.verdict_map());
    for (at, hook) in theme.hooks.iter().enumerate() {
        for copy in 0..1 + writer.random.below(2) {
            let priority =
                writer.random.pick(&["raw", "mangle", "filter", "filter + 10", "security", "-50", "-1"]);
            let policy = if writer.random.below(4) == 0 { "drop" } else { "accept" };
            text.push_str(&format!(
                "chain b{at}{copy} {{ type filter hook {} priority {priority}; policy {policy};\n",
                hook.name()
            ));
            for _ in 0..writer.random.below(8) {
                text.push_str(&writer.rule(0, Some(*hook)));
            }
            text.push_str("}\n");
        }
    }
    text + "}\n"
}

struct Writer<'a> {
    random: &'a mut Random,
    theme: &'a Theme,
    inet: bool,
}

const ADDRESSES: [[&str; 9]; 2] = [
    [
        "10.0.0.0/8",
        "10.77.0.0/24",
        "10.77.0.2",
        "10.80.4.0/22",
        "192.168.0.0/16",
        "203.0.113.0-203.0.113.200",
        "10.77.0.1",
        "10.78.0.0/16",
        "10.80.200.1",
    ],
    [
        "fd00::/8",
        "fd77::/64",
        "fd77::2",
        "fd80::/64",
        "2001:db8::/32",
        "2001:db8:7::-2001:db8:8::",
        "fd77::1",
        "fd78::/16",
        "fd80:200::1",
    ],
];
const SINGLE: [[&str; 6]; 2] = [
    ["10.77.0.2", "10.1.2.3", "10.80.4.4", "192.168.7.7", "10.77.0.1", "10.78.0.1"],
    ["fd77::2", "2001:db8:1::3", "fd80::4:4", "2001:db8:7::7", "fd77::1", "fd78::1"],
];

impl Writer<'_> {
    fn ip(&self) -> &'static str {
        if self.theme.six { "ip6" } else { "ip" }
    }

    fn pick(&mut self, list: &[&str]) -> String {
        (*self.random.pick(list)).to_owned()
    }

    fn address(&mut self) -> String {
        self.pick(&ADDRESSES[usize::from(self.theme.six)])
    }

    fn single(&mut self) -> String {
        self.pick(&SINGLE[usize::from(self.theme.six)])
    }

    fn port(&mut self) -> String {
        self.random.pick(&PORTS).to_string()
    }

    fn ports(&mut self) -> String {
        self.pick(&["22", "53", "443", "0-1023", "1024-65535", "5000-9000", "80-443"])
    }

    /// Different things in braces.
    fn list(&mut self, one: impl Fn(&mut Self) -> String) -> String {
        let mut all: Vec<String> = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let next = one(self);
            if !all.contains(&next) {
                all.push(next);
            }
        }
        format!("{{ {} }}", all.join(", "))
    }

    fn sets(&mut self) -> String {
        let (kind, other) =
            if self.theme.six { ("ipv6_addr", "ipv4_addr") } else { ("ipv4_addr", "ipv6_addr") };
        let (hosts, nets) = (self.list(Self::single), self.list(Self::address));
        let ports = self.list(Self::ports);
        let pairs = self.list(|own| format!("{} . {}", own.single(), own.port()));
        let spans = self.list(|own| format!("{} . {}", own.address(), own.ports()));
        let marks = self.list(|own| format!("{} : {}", own.port(), own.random.below(4)));
        let marks = once_a_key(&marks);
        format!(
            "set hosts {{ type {kind}; elements = {hosts}; }}\n\
             set nets {{ type {kind}; flags interval; auto-merge; elements = {nets}; }}\n\
             set ports {{ type inet_service; flags interval; auto-merge; elements = {ports}; }}\n\
             set pairs {{ type {kind} . inet_service; elements = {pairs}; }}\n\
             set spans {{ type {kind} . inet_service; flags interval; elements = {}; }}\n\
             set wires {{ type ifname; elements = {{ \"in0\", \"lo\" }}; }}\n\
             set held {{ type {kind}; flags timeout; elements = {{ {} timeout 1h }}; }}\n\
             set others {{ type {other}; size 65535; flags dynamic; }}\n\
             set seen {{ type {kind}; size 65535; flags dynamic; }}\n\
             map marks {{ type inet_service : mark; elements = {marks}; }}\n",
            one_element(&spans),
            self.single()
        )
    }

    fn verdict_map(&mut self) -> String {
        let verdict =
            |own: &mut Self| own.pick(&["accept", "drop", "jump u0", "goto u1", "return", "continue"]);
        let entries = self.list(move |own| format!("{} : {}", own.port(), verdict(own)));
        format!("map fates {{ type inet_service : verdict; elements = {}; }}\n", once_a_key(&entries))
    }

    fn rule(&mut self, first: usize, hook: Option<Hook>) -> String {
        // A rule speaks of one protocol.
        let protocol = *self.random.pick(&["tcp", "tcp", "udp", "th", "icmp", ""]);
        let mut words = Vec::new();
        for _ in 0..self.random.below(4) {
            words.push(self.matching(hook, protocol));
        }
        if self.random.below(8) == 0 {
            let free = words.is_empty();
            words.push(self.update(free));
        }
        words.push("counter".to_owned());
        words.push(self.verdict(first, hook, protocol));
        words.join(" ") + "\n"
    }

    /// A statement that writes into a set: a packet without such an address leaves the rule, and so does one that its rate stops.
    fn update(&mut self, free: bool) -> String {
        let (op, ip) = (self.pick(&["add", "update", "delete"]), self.ip());
        let side = self.pick(&["saddr", "daddr"]);
        match self.random.below(4) {
            // No packet of this kind comes by.
            0 if self.inet && free && op != "delete" => {
                let (other, set) = if self.theme.six { ("ip", "others") } else { ("ip6", "others") };
                format!("{op} @{set} {{ {other} {side} }}")
            }
            1 if op != "delete" => {
                format!("{op} @seen {{ {ip} {side} limit rate over 1000/second burst 1000 packets }}")
            }
            2 if op != "delete" => format!("{op} @seen {{ {ip} {side} counter }}"),
            _ => format!("{op} @seen {{ {ip} {side} }}"),
        }
    }

    fn matching(&mut self, hook: Option<Hook>, protocol: &str) -> String {
        let ip = self.ip();
        let no = if self.random.below(4) == 0 { "!= " } else { "" };
        let side = self.pick(&["saddr", "saddr", "daddr"]);
        let ports = matches!(protocol, "tcp" | "udp" | "th");
        let transport = if protocol == "th" { "meta l4proto { tcp, udp } th" } else { protocol };
        match self.random.below(20) {
            0 | 1 => format!("{ip} {side} {no}{}", self.address()),
            2 => format!("{ip} {side} {no}{}", one_element(&self.list(Self::address))),
            3 => format!("{ip} {side} {no}@{}", self.pick(&["hosts", "nets", "held"])),
            4 | 5 if ports => format!("{transport} dport {no}{}", self.ports()),
            6 if ports => format!("{transport} dport {no}{}", self.list(Self::port)),
            7 if ports => format!("{transport} dport {no}@ports"),
            8 if ports => format!(
                "{transport} {} {} {}",
                self.pick(&["sport", "dport"]),
                self.pick(&["<", ">", "<=", ">="]),
                self.port()
            ),
            9 if protocol == "tcp" => {
                format!("{ip} saddr . tcp dport {no}@{}", self.pick(&["pairs", "spans"]))
            }
            10 if protocol == "udp" => format!(
                "{ip} saddr . udp dport {no}{}",
                self.list(|own| format!("{} . {}", own.single(), own.port()))
            ),
            11 if hook.is_none_or(|hook| !matches!(hook, Hook::Output | Hook::Postrouting)) => {
                format!(
                    "iifname {no}{}",
                    self.pick(&["\"in0\"", "\"in*\"", "\"lo\"", "{ \"in1\", \"eth9\" }", "@wires"])
                )
            }
            12 if hook.is_none_or(|hook| !matches!(hook, Hook::Prerouting | Hook::Input)) => {
                format!(
                    "oifname {no}{}",
                    self.pick(&["\"in0\"", "\"in*\"", "\"lo\"", "{ \"in1\", \"eth9\" }", "@wires"])
                )
            }
            13 | 14 => format!(
                "ct state {no}{}",
                self.pick(&[
                    "new",
                    "established,related",
                    "invalid",
                    "{ new, invalid }",
                    "related",
                    "established"
                ])
            ),
            15 if protocol.is_empty() => format!(
                "meta l4proto {no}{}",
                self.pick(&["tcp", "udp", "{ tcp, udp }", if self.theme.six { "ipv6-icmp" } else { "icmp" }])
            ),
            16 => format!("meta mark {no}{}", self.pick(&["0x1", "{ 1, 2 }", "0-2"])),
            17 => format!("meta mark & 0x3 {}", self.pick(&["== 0x1", "!= 0x0", "== 0x2"])),
            18 if protocol == "tcp" => self.pick(&[
                "tcp flags & (syn|ack) == syn",
                "tcp flags syn",
                "tcp flags & (fin|syn|rst|ack) != syn",
                "tcp flags != syn",
            ]),
            _ if self.inet && self.random.below(4) == 0 => {
                format!("meta nfproto {}", if self.theme.six { "ipv6" } else { "ipv4" })
            }
            _ if protocol != "icmp" => format!("ct state {no}{}", self.pick(&["new", "established,related"])),
            _ if self.theme.six => format!(
                "icmpv6 type {no}{}",
                self.pick(&["echo-request", "{ echo-reply, destination-unreachable }"])
            ),
            _ if self.random.below(2) == 0 => {
                format!("ip saddr & 255.255.0.255 {} 10.77.0.2", self.pick(&["==", "!="]))
            }
            _ => format!(
                "icmp type {no}{}",
                self.pick(&["echo-request", "{ echo-reply, destination-unreachable }"])
            ),
        }
    }

    fn verdict(&mut self, first: usize, hook: Option<Hook>, protocol: &str) -> String {
        let chain = first + self.random.below(OWN_CHAINS.saturating_sub(first).max(1));
        let has_chain = first < OWN_CHAINS;
        match self.random.below(16) {
            0..3 => "accept".to_owned(),
            3..6 => "drop".to_owned(),
            // Not every hook knows refusals, and a chain of the user's can be reached from any.
            6 | 7
                if self.theme.refuses
                    && hook.is_some_and(|hook| hook != Hook::Prerouting && hook != Hook::Postrouting) =>
            {
                if self.inet {
                    self.pick(&["reject with icmpx admin-prohibited", "reject with icmpx port-unreachable"])
                } else {
                    "reject".to_owned()
                }
            }
            8..10 if has_chain => format!("{} u{chain}", self.pick(&["jump", "goto"])),
            10 => "return".to_owned(),
            11 => self.pick(&[
                "meta mark set 1",
                "meta mark set meta mark | 2",
                "meta mark set meta mark & 0xfffffffe",
                "meta mark set meta mark ^ 3",
            ]),
            12 if first == 0 && protocol == "tcp" => "tcp dport vmap @fates".to_owned(),
            13 if has_chain => {
                format!("ct state vmap {{ established : accept, new : jump u{chain}, invalid : drop }}")
            }
            14 if matches!(protocol, "tcp" | "udp") => format!(
                "{protocol} dport vmap {{ 22 : accept, 53-443 : {}, 5001 : drop }}",
                if has_chain { format!("goto u{chain}") } else { "return".to_owned() }
            ),
            15 if protocol == "tcp" => "meta mark set tcp dport map @marks".to_owned(),
            _ => String::new(),
        }
    }
}

/// Leaves one element of a list: elements of an interval set may not overlap.
fn one_element(list: &str) -> String {
    let inside = list.trim_matches(['{', '}', ' ']);
    format!("{{ {} }}", inside.split(", ").next().unwrap())
}

/// Leaves the first element of every key.
fn once_a_key(list: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let inside = list.trim_matches(['{', '}', ' ']);
    let kept: Vec<&str> = inside
        .split(", ")
        .filter(|entry| {
            let key = entry.split(" : ").next().unwrap();
            let new = !seen.contains(&key);
            seen.push(key);
            new
        })
        .collect();
    format!("{{ {} }}", kept.join(", "))
}
