//! The tables of `iptables-nft` as `nft` shows them.

use serde_json::{Value, json};

use super::spec::{Opt, Part, RuleCommand, Spec};
use super::table::{Backend, Firewall, Side, Table};

impl Firewall {
    /// Returns the objects of `nft -j list ruleset`, native tables behind those of `iptables-nft`. Where it is for people, the
    /// parameters of modules are printed, which the JSON of that program does not.
    pub(super) fn objects(&self, translated: bool) -> Vec<Value> {
        let mut objects = Vec::new();
        for table in self.tables.iter().filter(|table| table.side.backend == Backend::Nft) {
            table_objects(table, translated, &mut objects);
        }
        objects.extend(self.native.objects());
        objects
    }
}

fn table_objects(table: &Table, translated: bool, objects: &mut Vec<Value>) {
    let six = table.side == Side { backend: Backend::Nft, six: true };
    let family = if six { "ip6" } else { "ip" };
    let name = &table.name;
    objects.push(json!({"table": {"family": family, "name": name, "handle": table.handle}}));
    let mut chains: Vec<_> = table.chains.iter().filter(|chain| chain.handle.is_some()).collect();
    chains.sort_by_key(|chain| chain.handle);
    for chain in &chains {
        let mut object = json!({"family": family, "table": name, "name": chain.name, "handle": chain.handle});
        if let (Some(passes), Some(fields)) = (chain.policy, object.as_object_mut()) {
            let (kind, hook, priority) = base(name, &chain.name);
            fields.insert("type".to_owned(), json!(kind));
            fields.insert("hook".to_owned(), json!(hook));
            fields.insert("prio".to_owned(), json!(priority));
            fields.insert("policy".to_owned(), json!(if passes { "accept" } else { "drop" }));
        }
        objects.push(json!({"chain": object}));
    }
    for chain in &chains {
        for rule in &chain.rules {
            let expressions = expressions(&rule.spec, six, translated, rule.packets, rule.bytes);
            objects.push(json!({"rule": {
                "family": family, "table": name, "chain": chain.name, "handle": rule.handle, "expr": expressions,
            }}));
        }
    }
}

/// Says where a built-in chain hangs.
fn base(table: &str, chain: &str) -> (&'static str, String, i32) {
    let hook = chain.to_ascii_lowercase();
    let kind = match (table, chain) {
        ("nat", _) => "nat",
        ("mangle", "OUTPUT") => "route",
        _ => "filter",
    };
    let priority = match (table, chain) {
        ("raw", _) => -300,
        ("mangle", _) => -150,
        ("nat", "PREROUTING" | "OUTPUT") => -100,
        ("nat", _) => 100,
        ("security", _) => 50,
        _ => 0,
    };
    (kind, hook, priority)
}

fn matched(negated: bool, left: Value, right: Value) -> Value {
    json!({"match": {"op": if negated { "!=" } else { "==" }, "left": left, "right": right}})
}

fn payload(protocol: &str, field: &str) -> Value {
    json!({"payload": {"protocol": protocol, "field": field}})
}

fn meta(key: &str) -> Value {
    json!({"meta": {"key": key}})
}

fn scalar(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
}

fn address(text: &str, six: bool) -> Value {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    match length.parse::<u8>() {
        Ok(length) if length < if six { 128 } else { 32 } => {
            json!({"prefix": {"addr": address, "len": length}})
        }
        _ => json!(address),
    }
}

fn port(text: &str) -> Value {
    match text.split_once(':') {
        Some((from, to)) => json!({"range": [scalar(from), scalar(to)]}),
        None => scalar(text),
    }
}

fn expressions(spec: &Spec, six: bool, translated: bool, packets: u64, bytes: u64) -> Vec<Value> {
    let mut all = Vec::new();
    let ip = if six { "ip6" } else { "ip" };
    let device = |asked: &RuleCommand| {
        asked.value.strip_suffix('+').map_or_else(|| asked.value.clone(), |stem| format!("{stem}*"))
    };
    for (asked, key) in [(&spec.input, "iifname"), (&spec.output, "oifname")] {
        all.extend(asked.as_ref().map(|asked| matched(asked.negated, meta(key), json!(device(asked)))));
    }
    for (asked, field) in [(&spec.src, "saddr"), (&spec.dst, "daddr")] {
        all.extend(
            asked
                .as_ref()
                .map(|asked| matched(asked.negated, payload(ip, field), address(&asked.value, six))),
        );
    }
    let ported = |part: &Part| {
        matches!(part.module.as_str(), "tcp" | "udp" | "sctp" | "dccp") && !part.options.is_empty()
    };
    if let Some(asked) = spec.protocol.as_ref().filter(|_| !spec.matches.iter().any(ported)) {
        all.push(matched(asked.negated, meta("l4proto"), scalar(&asked.value)));
    }
    for part in &spec.matches {
        part_expressions(part, six, translated, &mut all);
    }
    all.push(json!({"counter": {"packets": packets, "bytes": bytes}}));
    let Some(target) = spec.target.as_deref() else { return all };
    let reject = || spec.options.first().map_or("", Opt::value);
    all.push(match target {
        _ if spec.goto => json!({"goto": {"target": target}}),
        "ACCEPT" => json!({"accept": null}),
        "DROP" => json!({"drop": null}),
        "RETURN" => json!({"return": null}),
        "REJECT" if translated && reject() == "tcp-reset" => json!({"reject": {"type": "tcp reset"}}),
        "REJECT" if translated => {
            let (kind, expr) = reject().split_once('-').unwrap_or_default();
            match expr {
                "port-unreachable" => json!({"reject": null}),
                expr => {
                    json!({"reject": {"type": if kind == "icmp6" { "icmpv6" } else { "icmp" }, "expr": expr}})
                }
            }
        }
        "MASQUERADE" if translated => json!({"masquerade": null}),
        "LOG" if translated => {
            let prefix = spec.options.iter().find(|option| option.name == "--log-prefix");
            prefix.map_or_else(|| json!({"log": null}), |prefix| json!({"log": {"prefix": prefix.value()}}))
        }
        target if super::module::doing(target).is_some() => json!({"xt": null}),
        target => json!({"jump": {"target": target}}),
    });
    all
}

fn part_expressions(part: &Part, six: bool, translated: bool, all: &mut Vec<Value>) {
    let module = part.module.as_str();
    match module {
        "tcp" | "udp" | "sctp" | "dccp" => {
            if let Some(flags) = part.option("--tcp-flags")
                && let [mask, set] = flags.values.as_slice()
            {
                let mask: Vec<String> = mask.split(',').map(str::to_ascii_lowercase).collect();
                let set: Vec<String> = set.split(',').map(str::to_ascii_lowercase).collect();
                let right = match set.as_slice() {
                    [one] => json!(one),
                    many => json!(many),
                };
                all.push(matched(flags.negated, json!({"&": [payload("tcp", "flags"), mask]}), right));
            }
            for (name, field) in [("--sport", "sport"), ("--dport", "dport")] {
                all.extend(
                    part.option(name)
                        .map(|option| matched(option.negated, payload(module, field), port(option.value()))),
                );
            }
        }
        "limit" => {
            let rate = part.option("--limit").map_or("3/hour", Opt::value);
            let (count, unit) = rate.split_once('/').unwrap_or((rate, "sec"));
            let per = match unit {
                "sec" => "second",
                "min" => "minute",
                other => other,
            };
            let burst = part.option("--limit-burst").map_or("5", Opt::value);
            all.push(json!({"limit": {"rate": scalar(count), "burst": scalar(burst), "per": per}}));
        }
        "mark" => {
            let option = part.options.first();
            let number = option
                .and_then(|option| u64::from_str_radix(option.value().trim_start_matches("0x"), 16).ok());
            match (option, number) {
                (Some(option), Some(number)) => {
                    all.push(matched(option.negated, meta("mark"), json!(number)))
                }
                _ => all.push(json!({"xt": null})),
            }
        }
        "conntrack" | "state" if translated => {
            for option in &part.options {
                let states: Vec<String> = option.value().split(',').map(str::to_ascii_lowercase).collect();
                let right = if let [one] = states.as_slice() { json!(one) } else { json!(states) };
                all.push(json!({"match": {"op": if option.negated { "!=" } else { "in" }, "left": {"ct": {"key": "state"}}, "right": right}}));
            }
        }
        "multiport" if translated => {
            for option in &part.options {
                let field = if option.name == "--sports" { "sport" } else { "dport" };
                let set: Vec<Value> = option.value().split(',').map(port).collect();
                let right = if let [one] = set.as_slice() { one.clone() } else { json!({"set": set}) };
                all.push(matched(option.negated, payload("th", field), right));
            }
        }
        "icmp" | "icmp6" if translated => {
            if let Some(option) = part.options.first().filter(|option| option.value() != "any") {
                let protocol = if six { "icmpv6" } else { "icmp" };
                let name = super::value::ICMP.iter().find(|(_, number)| !six && *number == option.value());
                let right = name.map_or_else(|| scalar(option.value()), |(name, _)| json!(name));
                all.push(matched(option.negated, payload(protocol, "type"), right));
            }
        }
        "comment" if translated => {}
        _ => all.push(json!({"xt": null})),
    }
}
