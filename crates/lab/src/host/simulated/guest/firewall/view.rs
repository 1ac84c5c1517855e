//! What `iptables -L` prints.

use super::argument::Arguments;
use super::print::{chosen, fresh, policy};
use super::refusal::Refusal;
use super::spec::{Opt, Part, RuleCommand, Spec};
use super::table::{Firewall, Side};
use super::value::service;

impl Firewall {
    /// Writes what `iptables -L` prints.
    pub(super) fn list(&self, side: Side, own: &Arguments) -> Result<String, Refusal> {
        let fresh = fresh(side, &own.table);
        let Some(table) = self.table(side, &own.table).or(fresh.as_ref()) else { return Ok(String::new()) };
        let mut out = String::new();
        for (at, chain) in chosen(table, side, own)?.into_iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let about = match chain.policy {
                None => format!("{} references", table.references(&chain.name)),
                Some(_) if own.verbose => {
                    let count = |number| counter(number, own.exact).trim().to_owned();
                    format!(
                        "policy {} {} packets, {} bytes",
                        policy(chain),
                        count(chain.packets),
                        count(chain.bytes)
                    )
                }
                Some(_) => format!("policy {}", policy(chain)),
            };
            out.push_str(&format!("Chain {} ({about})\n", chain.name));
            if own.numbers {
                out.push_str("num  ");
            }
            if own.verbose {
                let wide = if own.exact { "    pkts      bytes " } else { " pkts bytes " };
                out.push_str(wide);
            }
            out.push_str("target     prot opt ");
            if own.verbose {
                out.push_str("in     out     ");
            }
            out.push_str("source               destination         \n");
            for (at, rule) in chain.rules.iter().enumerate() {
                if own.numbers {
                    out.push_str(&format!("{:<5}", at + 1));
                }
                if own.verbose {
                    out.push_str(&format!(
                        "{} {} ",
                        counter(rule.packets, own.exact),
                        counter(rule.bytes, own.exact)
                    ));
                }
                line(&rule.spec, side.six, own, &mut out);
            }
        }
        Ok(out)
    }
}

/// Writes a counter in five columns, in thousands where it has to be.
fn counter(number: u64, exact: bool) -> String {
    if exact {
        return format!("{number:8}");
    }
    if number <= 99_999 {
        return format!("{number:5}");
    }
    let mut value = number;
    for unit in ["K", "M", "G"] {
        value = (value + 500) / 1_000;
        if value <= 9_999 {
            return format!("{value:4}{unit}");
        }
    }
    format!("{:4}T", (value + 500) / 1_000)
}

fn line(spec: &Spec, six: bool, own: &Arguments, out: &mut String) {
    let target = spec.target.as_deref().unwrap_or_default();
    out.push_str(&format!("{target:<9}  "));
    let sign = |asked: &RuleCommand| if asked.negated { "!" } else { "" };
    let protocol = spec.protocol.as_ref().map_or_else(
        || "all".to_owned(),
        |asked| {
            let name =
                if asked.value == "ipv6-icmp" && !own.numeric { "ipv6-icmp" } else { asked.value.as_str() };
            format!("{}{name}", sign(asked))
        },
    );
    out.push_str(&format!("{protocol:<5}"));
    out.push_str(match spec.fragment {
        Some(true) => "-f ",
        Some(false) => "!f ",
        None if six => "   ",
        None => "-- ",
    });
    if own.verbose {
        let device = |asked: &Option<RuleCommand>| match asked {
            Some(asked) => format!("{}{}", sign(asked), asked.value),
            None if own.numeric => "*".to_owned(),
            None => "any".to_owned(),
        };
        out.push_str(&format!(" {:<6} {:<6} ", device(&spec.input), device(&spec.output)));
    }
    let address = |asked: &Option<RuleCommand>| match asked {
        Some(asked) => {
            let whole = if six { "/128" } else { "/32" };
            let sign = if asked.negated { '!' } else { ' ' };
            (sign, asked.value.strip_suffix(whole).unwrap_or(&asked.value).to_owned())
        }
        None if !own.numeric => (' ', "anywhere".to_owned()),
        None => (' ', if six { "::/0" } else { "0.0.0.0/0" }.to_owned()),
    };
    // An exclamation mark stands in the column before.
    for (sign, text) in [address(&spec.src), address(&spec.dst)] {
        out.push_str(&format!("{sign}{text:<20}"));
    }
    if spec.goto {
        out.push_str("[goto] ");
    }
    for part in &spec.matches {
        let text = matched(part, own.numeric);
        if !text.is_empty() {
            out.push(' ');
            out.push_str(&text);
        }
    }
    let text = done(spec, own.numeric);
    if !text.is_empty() {
        out.push(' ');
        out.push_str(&text);
    }
    out.push('\n');
}

fn bits(flags: &str) -> u8 {
    const ORDER: [&str; 6] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"];
    flags.split(',').filter_map(|flag| ORDER.iter().position(|own| *own == flag)).map(|at| 1 << at).sum()
}

fn ports(option: &Opt, numeric: bool) -> String {
    let name = |port: &str| if numeric { port.to_owned() } else { service(port).unwrap_or(port).to_owned() };
    option
        .value()
        .split(',')
        .map(|port| port.split(':').map(name).collect::<Vec<_>>().join(":"))
        .collect::<Vec<_>>()
        .join(",")
}

/// Says what a match asks, as `-L` does.
fn matched(part: &Part, numeric: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    let module = part.module.as_str();
    for option in &part.options {
        let sign = if option.negated { "!" } else { "" };
        let value = option.value();
        words.push(match (module, option.name) {
            ("tcp" | "udp" | "sctp" | "udplite" | "dccp", "--sport" | "--dport") => {
                let side = if option.name == "--sport" { "spt" } else { "dpt" };
                let many = if value.contains(':') { "s" } else { "" };
                format!("{side}{many}:{sign}{}", ports(option, numeric))
            }
            ("tcp", "--tcp-flags") => match option.values.as_slice() {
                [mask, set] if numeric => format!("flags:{sign}0x{:02X}/0x{:02X}", bits(mask), bits(set)),
                [mask, set] => format!("flags:{sign}{mask}/{set}"),
                _ => String::new(),
            },
            ("multiport", name) => {
                let sign = if option.negated { " !" } else { "" };
                format!("multiport {} {sign}{}", name.trim_start_matches('-'), ports(option, numeric))
            }
            ("conntrack", "--ctstate") => format!("{sign}ctstate {value}").replace("!ctstate", "! ctstate"),
            ("state", _) => format!("{sign}state {value}").replace("!state", "! state"),
            ("comment", _) => format!("/* {value} */"),
            ("limit", "--limit") => {
                let burst = part.option("--limit-burst").map_or("5", Opt::value);
                format!("limit: avg {value} burst {burst}")
            }
            ("limit", _) => continue,
            ("icmp", _) if numeric || value == "any" => {
                if value == "any" && !numeric {
                    "icmp any".to_owned()
                } else {
                    let (kind, code) = value
                        .split_once('/')
                        .map_or((value, String::new()), |(kind, code)| (kind, format!(" code {code}")));
                    format!("{sign}icmptype {}{code}", if kind == "any" { "255" } else { kind })
                }
            }
            ("icmp", _) => {
                let name = super::value::ICMP
                    .iter()
                    .find(|(_, number)| *number == value)
                    .map_or(value, |(name, _)| name);
                format!("{sign}icmp {name}")
            }
            ("icmp6", _) => format!("{sign}ipv6-icmptype {value}"),
            ("owner", name) => {
                format!(
                    "owner {}{} match {value}",
                    if option.negated { "! " } else { "" },
                    if name.starts_with("--uid") { "UID" } else { "GID" }
                )
            }
            ("mark", _) => format!("mark match {sign}{value}"),
            ("connmark", _) => format!("connmark match {sign} {value}"),
            ("addrtype", name) => format!(
                "ADDRTYPE match {}-type {sign}{value}",
                name.trim_start_matches('-').get(..3).unwrap_or_default()
            ),
            ("iprange", name) => format!(
                "{}{} IP range {value}",
                if name.starts_with("--src") { "source" } else { "destination" },
                if option.negated { " !" } else { "" }
            ),
            ("length", _) => format!("length {sign}{value}"),
            ("statistic", "--mode") => format!("statistic mode {value}"),
            ("mac", _) => {
                format!("MAC{sign}{value}").replace("MAC", if option.negated { "MAC !" } else { "MAC" })
            }
            ("set", _) => {
                format!("{}match-set {}", if option.negated { "! " } else { "" }, option.values.join(" "))
            }
            (_, name) => format!("{sign}{} {}", name.trim_start_matches('-'), option.values.join(" ")),
        });
    }
    let ported = matches!(module, "tcp" | "udp" | "sctp" | "udplite" | "dccp");
    if ported && (!words.is_empty()) { format!("{module} {}", words.join(" ")) } else { words.join(" ") }
}

/// Says what a target does, as `-L` does.
fn done(spec: &Spec, numeric: bool) -> String {
    let value = |name: &str| spec.options.iter().find(|option| option.name == name).map(Opt::value);
    let has = |name: &str| spec.options.iter().any(|option| option.name == name);
    match spec.target.as_deref().unwrap_or_default() {
        "REJECT" => format!("reject-with {}", value("--reject-with").unwrap_or_default()),
        "LOG" => {
            let level = value("--log-level").unwrap_or("4");
            let flags = [
                ("--log-tcp-sequence", 1),
                ("--log-tcp-options", 2),
                ("--log-ip-options", 4),
                ("--log-uid", 8),
            ];
            let set: u8 = flags.iter().filter(|(name, _)| has(name)).map(|(_, bit)| bit).sum();
            let mut text = if numeric {
                format!("LOG flags {set} level {level}")
            } else {
                const LEVELS: [&str; 8] =
                    ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];
                let name = level.parse().ok().and_then(|at: usize| LEVELS.get(at)).copied().unwrap_or(level);
                format!("LOG level {name}")
            };
            if let Some(prefix) = value("--log-prefix") {
                text.push_str(&format!(" prefix \"{prefix}\""));
            }
            text
        }
        "SNAT" => format!("to:{}", value("--to-source").unwrap_or_default()),
        "DNAT" => format!("to:{}", value("--to-destination").unwrap_or_default()),
        "MASQUERADE" => value("--to-ports").map_or_else(String::new, |ports| format!("masq ports: {ports}")),
        "REDIRECT" => value("--to-ports").map_or_else(String::new, |ports| format!("redir ports {ports}")),
        "MARK" => {
            let value = value("--set-xmark").unwrap_or_default();
            let (mark, mask) = value.split_once('/').unwrap_or((value, ""));
            if mask == "0xffffffff" { format!("MARK set {mark}") } else { format!("MARK xset {value}") }
        }
        "TCPMSS" => value("--set-mss")
            .map_or_else(|| "TCPMSS clamp to PMTU".to_owned(), |size| format!("TCPMSS set {size}")),
        "NFLOG" => {
            let text: Vec<String> = spec
                .options
                .iter()
                .map(|option| {
                    let value = if option.text {
                        super::value::quoted(option.value())
                    } else {
                        option.value().to_owned()
                    };
                    format!("{} {value}", option.name.trim_start_matches('-'))
                })
                .collect();
            text.join(" ")
        }
        "NFQUEUE" => format!("NFQUEUE num {}", value("--queue-num").unwrap_or("0")),
        "CT" => "NOTRACK".to_owned(),
        _ => String::new(),
    }
}
