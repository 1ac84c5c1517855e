//! What the kernel did, read from counters: those of a table that only watches, before and behind all others, and those of
//! every rule.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ghost_inspect::netfilter::{Hook, Ruleset, State, Verdict, read};

use super::place::ask;

/// The longest that a packet may take from one namespace to the other.
const DEADLINE: Duration = Duration::from_secs(10);

/// The name of the table that watches.
pub(super) const WATCH: &str = "inet ghost_watch";

/// Makes the table that watches. What the guest would say of its own is stopped before any other rule sees it.
pub(super) fn watch() {
    let mut text = String::from("table inet ghost_watch {\n");
    text.push_str(
        "chain own { type filter hook output priority -2000000000; icmpv6 type { 130-137, 143 } drop; }\n",
    );
    for hook in Hook::ALL.map(Hook::name) {
        let chain = |name: &str, priority: &str| {
            format!("chain {name}_{hook} {{ type filter hook {hook} priority {priority}; ")
        };
        text.push_str(&format!("{} counter comment \"enter {hook}\"; }}\n", chain("enter", "-1900000000")));
        let leave = format!("{} counter comment \"leave {hook}\"; ", chain("leave", "2000000000"));
        let words = "meta l4proto tcp tcp flags & rst == rst counter comment \"word\"; \
            icmp type destination-unreachable counter comment \"word\"; icmpv6 type destination-unreachable counter comment \"word\"; ";
        text.push_str(&format!("{leave}{}}}\n", if hook == "postrouting" { words } else { "" }));
    }
    for hook in ["prerouting", "output"] {
        text.push_str(&format!("chain state_{hook} {{ type filter hook {hook} priority -199; "));
        for state in ["new", "established", "related", "invalid", "untracked"] {
            text.push_str(&format!("ct state {state} counter comment \"{state} {hook}\"; "));
        }
        text.push_str("}\n");
    }
    ask("nft", &["-f", "-"], &(text + "}\n"));
}

/// The counters of the table that watches, by comment.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(HashMap<String, u64>);

impl Seen {
    pub(super) fn now() -> Self {
        let reported = read(&ask("nft", &["-j", "list", "table", "inet", "ghost_watch"], "")).unwrap();
        let mut seen = Self::default();
        for rule in reported.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules) {
            if let (Some(comment), Some(packets)) = (&rule.comment, rule.packets) {
                *seen.0.entry(comment.clone()).or_default() += packets;
            }
        }
        seen
    }

    /// Waits until one packet more has entered a hook; returns what is new since, and becomes what is now.
    pub(super) fn wait(&mut self, hook: Hook, what: &impl std::fmt::Debug) -> Self {
        let begin = Instant::now();
        loop {
            let now = Self::now();
            let more = |name: &String, count: u64| count - self.0.get(name).copied().unwrap_or_default();
            let new = Self(now.0.iter().map(|(name, count)| (name.clone(), more(name, *count))).collect());
            if new.entered(hook) {
                *self = now;
                return new;
            }
            assert!(begin.elapsed() < DEADLINE, "nothing came to {}: {what:#?}", hook.name());
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|count| *count > 0)
    }

    pub(super) fn entered(&self, hook: Hook) -> bool {
        self.has(&format!("enter {}", hook.name()))
    }

    /// Says what became of the packet at a hook.
    pub(super) fn verdict(&self, hook: Hook) -> Verdict {
        let entered = self.0.get(&format!("enter {}", hook.name())).copied().unwrap_or_default();
        // What leaves beside the packet is the guest's word about it, sent to the guest itself.
        if hook == Hook::Output && entered > 1 {
            return Verdict::Reject;
        }
        match (self.has(&format!("leave {}", hook.name())), self.has("word")) {
            (true, _) => Verdict::Accept,
            (false, true) => Verdict::Reject,
            (false, false) => Verdict::Drop,
        }
    }

    /// Returns a state that the kernel saw, where it did not see this one.
    pub(super) fn other_state(&self, hook: Hook, state: State) -> Option<&str> {
        let at = |state: &str| self.has(&format!("{state} {}", hook.name()));
        let own = format!("{state:?}").to_lowercase();
        let states = ["new", "established", "related", "invalid", "untracked"];
        states.into_iter().find(|other| at(other)).filter(|_| !at(&own))
    }
}

/// The place of a rule: table, chain, position.
pub(super) type At = (String, String, usize);

/// Returns the counters of all rules.
pub(super) fn counters(ruleset: &Ruleset) -> HashMap<At, u64> {
    let mut counters = HashMap::new();
    for table in ruleset.tables.iter().filter(|table| table.name != WATCH) {
        for chain in &table.chains {
            for rule in &chain.rules {
                if let Some(packets) = rule.packets {
                    counters.insert((table.name.clone(), chain.name.clone(), rule.position), packets);
                }
            }
        }
    }
    counters
}
