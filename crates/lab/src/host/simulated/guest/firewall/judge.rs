//! Packets, judged by the rules that are there.
//!
//! `ghost_inspect::netfilter` walks them, which is also what the inspectors do. What it cannot know of a machine of the model is put in its
//! place before: all programs are root's, rates are not reached, and of the packets that a rule takes by chance its share is taken in
//! turn.

use std::sync::OnceLock;

use serde_json::json;

use super::spec::{Opt, Spec};
use super::table::{Firewall, Side};
use crate::host::simulated::guest::machine::PacketVerdict;
use ghost_inspect::netfilter::{Compiled, Packet, Verdict, read};

/// Rules that are ready for packets.
#[derive(Debug)]
pub(super) struct Judge {
    /// Twice: with the rules that take packets by chance, and without them.
    rulesets: [Vec<(Option<Side>, Compiled<'static>)>; 2],
    /// The share that is taken by chance.
    chance: f64,
    taken: std::sync::atomic::AtomicU64,
}

impl Firewall {
    /// Says what becomes of a packet; the rules that it meets count it, and may mark it.
    pub(in crate::host::simulated) fn judge(&mut self, packet: &mut Packet) -> PacketVerdict {
        let mut met = Vec::new();
        let mut verdict = PacketVerdict::Passes;
        let judge = self.ready.get_or_init(|| self.tables_made_ready());
        for (side, compiled) in judge.backends() {
            if side.is_some_and(|side| side.six != packet.src.is_ipv6()) {
                continue;
            }
            let Ok(answer) = compiled.trace(packet) else { continue };
            let reset = answer.rule.as_ref().is_some_and(|rule| rule.raw.contains("reset"));
            verdict = match answer.verdict {
                Verdict::Drop => PacketVerdict::Dropped,
                Verdict::Reject => PacketVerdict::Refused {
                    reset,
                    code: answer.rule.as_ref().map_or(3, |rule| code(&rule.raw)),
                },
                Verdict::Accept | Verdict::Indeterminate => PacketVerdict::Passes,
            };
            for tried in answer.trace.iter().filter(|tried| tried.matched) {
                packet.mark = marked(&tried.rule.raw, packet.mark);
            }
            met.push((*side, answer));
            if verdict != PacketVerdict::Passes {
                break;
            }
        }
        let bytes = if packet.protocol == 6 { 60 } else { 84 };
        for (side, answer) in met {
            for tried in answer.trace.iter().filter(|tried| tried.matched) {
                match (side, tried.rule.handle) {
                    (Some(side), _) => {
                        self.count(side, &tried.rule.table, &tried.rule.chain, tried.rule.position, bytes)
                    }
                    (None, Some(handle)) => self.native.count(&tried.rule.table, handle, bytes),
                    (None, None) => {}
                }
            }
            if let (Some(side), Some(policy)) = (side, &answer.policy) {
                self.count_policy(side, policy, bytes);
            }
        }
        verdict
    }

    /// Forgets what was made ready.
    pub(super) fn changed(&mut self) {
        self.ready = OnceLock::new();
    }

    fn tables_made_ready(&self) -> Judge {
        let rulesets = [true, false].map(|taken| {
            let mut backends = Vec::new();
            for side in Side::ALL {
                let text = self.describe(side, taken);
                if text.is_empty() {
                    continue;
                }
                if let Ok(ruleset) = read(&text) {
                    backends.push((Some(side), Compiled::owning(ruleset)));
                }
            }
            if !self.native.is_empty() {
                let mut objects = vec![json!({"metainfo": {"json_schema_version": 1}})];
                objects.extend(self.native.objects());
                if let Ok(ruleset) = read(&json!({"nftables": objects}).to_string()) {
                    backends.push((None, Compiled::owning(ruleset)));
                }
            }
            backends
        });
        let rules = self.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
        let chance = rules.filter_map(|rule| chance(&rule.spec)).fold(0.0, f64::max);
        Judge { rulesets, chance, taken: std::sync::atomic::AtomicU64::new(0) }
    }

    /// Writes the tables of a side, with what is known of this machine in its place.
    fn describe(&self, side: Side, taken: bool) -> String {
        let mut out = String::new();
        for table in self.tables.iter().filter(|table| table.side == side) {
            out.push_str(&format!("*{}\n", table.name));
            for chain in &table.chains {
                out.push_str(&format!(":{} {} [0:0]\n", chain.name, super::print::policy(chain)));
            }
            for chain in &table.chains {
                for rule in &chain.rules {
                    let text = known(&rule.spec, side.six, taken);
                    out.push_str(&format!("-A {}{text}\n", chain.name));
                }
            }
            out.push_str("COMMIT\n");
        }
        out
    }
}

impl Judge {
    /// Picks the path of the next packet.
    fn backends(&self) -> &[(Option<Side>, Compiled<'static>)] {
        let [with, without] = &self.rulesets;
        if self.chance <= 0.0 {
            return with;
        }
        let number = self.taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // The golden ratio spreads those that are taken evenly.
        let place = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        if f64::from(place) / f64::from(u32::MAX) < self.chance { with } else { without }
    }
}

/// Returns the mark that a packet has behind a rule.
fn marked(raw: &str, before: Option<u32>) -> Option<u32> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let word = |name: &str| raw.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next());
    if let Some(pair) = word("-j MARK --set-xmark ") {
        let (value, mask) = pair.split_once('/').unwrap_or((pair, "0xffffffff"));
        return Some((before? & !number(mask)?) ^ number(value)?);
    }
    match word("meta mark set ") {
        Some(value) => number(value),
        None => before,
    }
}

/// Returns the code of the error with which a rule refuses.
fn code(raw: &str) -> u8 {
    const CODES: [(&str, u8); 7] = [
        ("net-unreachable", 0),
        ("host-unreachable", 1),
        ("proto-unreachable", 2),
        ("prot-unreachable", 2),
        ("net-prohibited", 9),
        ("host-prohibited", 10),
        ("admin-prohibited", 13),
    ];
    let behind =
        raw.split_once("REJECT").or_else(|| raw.split_once("reject")).map_or("", |(_, behind)| behind);
    CODES.iter().find(|(name, _)| behind.contains(name)).map_or(3, |(_, code)| *code)
}

fn chance(spec: &Spec) -> Option<f64> {
    spec.part("statistic")?.option("--probability")?.value().parse().ok()
}

/// Writes a rule; one that no packet of this machine meets matches nothing.
fn known(spec: &Spec, six: bool, taken: bool) -> String {
    let mut spec = spec.clone();
    let mut never = !taken && spec.part("statistic").is_some();
    if let Some(owner) = spec.part("owner") {
        let root = |option: &Opt| {
            let (from, to) = option.value().split_once('-').unwrap_or((option.value(), option.value()));
            (from == "0" && to.parse::<u32>().is_ok()) != option.negated
        };
        never |= !owner.options.iter().all(root);
    }
    if never {
        let nobody = if six { "ff00::ffff/128" } else { "255.255.255.255/32" };
        return format!(" -s {nobody} -d {nobody}");
    }
    spec.matches.retain(|part| !matches!(part.module.as_str(), "limit" | "statistic" | "owner" | "comment"));
    spec.text()
}
