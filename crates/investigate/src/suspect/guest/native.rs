//! A rule as `nft -j` prints it.

use super::rule::{Does, RuleEffect};
use super::save::bare;
use crate::suspect::supported::plain;
use ghost_inspect::netfilter::Json;

/// Reads the expressions of a rule.
pub(super) fn effect(expressions: &[Json]) -> RuleEffect {
    let mut effect = RuleEffect::default();
    for expression in expressions {
        let Some((name, body)) = expression.as_object().and_then(|object| object.iter().next()) else {
            continue;
        };
        match name.as_str() {
            "drop" => effect.does = Does::Drop,
            "reject" => effect.does = Does::Reject,
            "xt" => match body.get("name").and_then(Json::as_str) {
                Some("DROP") => effect.does = Does::Drop,
                Some("REJECT") => effect.does = Does::Reject,
                // What it demands is hidden.
                Some(_) | None => effect.demands = true,
            },
            "jump" | "goto" => effect.leads = body.get("target").and_then(Json::as_str).map(str::to_owned),
            "counter" | "comment" | "log" | "accept" | "return" | "continue" => {}
            "match" => matched(body, &mut effect),
            // A rate that is not exceeded, a quota, a set that is written: for floods.
            "limit" | "quota" | "meter" | "ct count" | "set" => {
                effect.demands = true;
                effect.sane = true;
            }
            _ => effect.demands = true,
        }
    }
    effect
}

fn matched(body: &Json, effect: &mut RuleEffect) {
    effect.demands = true;
    let op = body.get("op").and_then(Json::as_str).unwrap_or("==");
    let (Some(left), Some(right)) = (body.get("left"), body.get("right")) else { return };
    let plainly = matches!(op, "==" | "in");
    if let Some(payload) = left.get("payload") {
        let word = |name| payload.get(name).and_then(Json::as_str).unwrap_or_default();
        match (word("protocol"), word("field")) {
            (protocol, "dport" | "sport") if plainly => {
                if protocol != "th" {
                    effect.protocol.get_or_insert_with(|| plain(protocol));
                }
                if effect.ports.is_empty() || word("field") == "dport" {
                    effect.ports = values(right);
                }
            }
            ("ip", "protocol") | ("ip6", "nexthdr") if plainly => protocol(right, effect),
            ("ip" | "ip6", "saddr") if plainly => {
                if let Some(set) = right.as_str().and_then(|text| text.strip_prefix('@')) {
                    effect.set = Some(set.to_owned());
                } else {
                    effect.sources = values(right).iter().map(|one| bare(one)).collect();
                }
            }
            ("icmp" | "icmpv6", _) => {
                effect.protocol.get_or_insert_with(|| plain(word("protocol")));
            }
            ("tcp", "flags") => effect.sane = true,
            _ => {}
        }
        let local = |text: &String| text.starts_with("127.") || text == "::1";
        effect.sane |=
            plainly && matches!(word("field"), "saddr" | "daddr") && values(right).iter().any(local);
    } else if let Some(meta) = left.get("meta") {
        match meta.get("key").and_then(Json::as_str) {
            Some("l4proto") if plainly => protocol(right, effect),
            Some("iifname" | "iif" | "oifname" | "oif") => {
                effect.device = true;
                effect.sane |= plainly && right.as_str() == Some("lo");
            }
            Some("pkttype") => effect.sane = true,
            Some(_) | None => {}
        }
    } else if left.get("ct").and_then(|ct| ct.get("key")).and_then(Json::as_str) == Some("state") {
        effect.sane |= values(right) == ["invalid"] && plainly;
    } else if left.get("fib").is_some() {
        effect.sane = true;
    }
}

fn protocol(right: &Json, effect: &mut RuleEffect) {
    let all = values(right);
    if let [one] = all.as_slice() {
        effect.protocol.get_or_insert_with(|| number(one));
    }
}

/// Returns the name of a protocol that stands there as a number.
fn number(text: &str) -> String {
    match text {
        "1" => "icmp",
        "6" => "tcp",
        "17" => "udp",
        "58" => "icmpv6",
        other => other,
    }
    .to_owned()
}

/// Returns what a side of a comparison holds: a value, a range, or all of a list.
pub(super) fn values(right: &Json) -> Vec<String> {
    if let Some(number) = right.as_u64() {
        return vec![number.to_string()];
    }
    if let Some(text) = right.as_str() {
        return vec![if text.contains('/') { bare(text) } else { plain(text) }];
    }
    if let Some(list) = right.as_array() {
        return list.iter().flat_map(values).collect();
    }
    if let Some(list) = right.get("set") {
        return values(list);
    }
    if let Some([first, last]) = right.get("range").and_then(Json::as_array) {
        return vec![format!("{}-{}", values(first).concat(), values(last).concat())];
    }
    if let Some(prefix) = right.get("prefix") {
        let address = prefix.get("addr").and_then(Json::as_str).map(plain).unwrap_or_default();
        let length = prefix.get("len").and_then(Json::as_u64).unwrap_or_default();
        return vec![format!("{address}/{length}")];
    }
    right.get("elem").and_then(|elem| elem.get("val")).map(values).unwrap_or_default()
}
