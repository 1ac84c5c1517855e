//! One ruleset: loaded, sent through, and compared.

use std::collections::{HashMap, HashSet};

use ghost_inspect::netfilter::{Answer, Compiled, Hook, Verdict, print, read};

use super::observe::{At, Seen, WATCH, counters, watch};
use super::place::{Place, ask};
use super::probe::{Direction, Probe};
use super::{legacy, native};
use crate::random::Random;

/// Whose rules they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backend {
    Legacy,
    Compatible,
    Native,
}

impl Backend {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "iptables-legacy",
            Self::Compatible => "iptables-nft",
            Self::Native => "nft",
        }
    }

    fn program(self, six: bool, what: &str) -> String {
        let backend = if self == Self::Legacy { "legacy" } else { "nft" };
        format!("{}-{backend}-{what}", if six { "ip6tables" } else { "iptables" })
    }

    /// Replaces all rules.
    fn load(self, six: bool, text: &str) {
        if self == Self::Legacy {
            ask(&self.program(six, "restore"), &[], text);
            ask("nft", &["-f", "-"], "flush ruleset\n");
        } else {
            ask("nft", &["-f", "-"], "flush ruleset\n");
            if self == Self::Compatible {
                ask(&self.program(six, "restore"), &[], text);
            } else {
                ask("nft", &["-f", "-"], text);
            }
        }
        watch();
        ask("conntrack", &["-F"], "");
    }

    /// Reads the rules back, with their counters.
    fn dump(self, six: bool) -> String {
        match self {
            Self::Native => ask("nft", &["-j", "list", "ruleset"], ""),
            Self::Legacy | Self::Compatible => ask(&self.program(six, "save"), &["-c"], ""),
        }
    }
}

/// What a random ruleset is made for.
pub(super) struct Theme {
    pub(super) six: bool,
    /// The hooks that have chains.
    pub(super) hooks: Vec<Hook>,
    /// Whether packets may be refused with a word: only where no chain would judge the word.
    pub(super) refuses: bool,
}

/// Loads one ruleset and judges packets; returns how many judgments there were, and how many of them were open.
pub(super) fn judge(backend: Backend, number: usize, place: &Place, random: &mut Random) -> (usize, usize) {
    let direction = [Direction::In, Direction::Through, Direction::Out][number % 3];
    let mut hooks = direction.hooks().to_vec();
    let refuses = direction != Direction::Through || random.below(2) == 0;
    if refuses {
        hooks.retain(|hook| *hook != Hook::Postrouting);
    }
    let theme = Theme { six: random.below(3) == 0, hooks, refuses };
    let text =
        if backend == Backend::Native { native::text(random, &theme) } else { legacy::text(random, &theme) };
    backend.load(theme.six, &text);
    let reported = backend.dump(theme.six);
    let ruleset = read(&reported).unwrap();
    assert_eq!(ruleset.warnings, [], "{reported}");
    assert_eq!(ruleset.opaque_rules, 0, "{reported}");
    if backend != Backend::Native {
        let lines = |text: &str| {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(&print(&ruleset)), lines(&reported));
    }
    let seen = Seen::now();
    let counted = counters(&ruleset);
    let mut trial = Trial {
        backend,
        six: theme.six,
        compiled: Compiled::owning(ruleset),
        text: reported,
        seen,
        counted,
        counts: (0, 0),
    };
    for packet in 0..u16::try_from(if backend == Backend::Native { 16 } else { 14 }).unwrap() {
        let number = u16::try_from(number % 400).unwrap() * 20 + packet;
        let probe = Probe::draw(random, direction, theme.six, number);
        trial.probe(place, &probe, number);
    }
    if backend == Backend::Legacy {
        // Rules of the other family would stay.
        ask(&backend.program(theme.six, "restore"), &[], legacy::NOTHING);
    }
    trial.counts
}

struct Trial {
    backend: Backend,
    six: bool,
    compiled: Compiled<'static>,
    text: String,
    /// What the counters said before the packet.
    seen: Seen,
    counted: HashMap<At, u64>,
    counts: (usize, usize),
}

impl Trial {
    /// Sends a packet and compares what became of it, hook by hook.
    fn probe(&mut self, place: &Place, probe: &Probe, number: u16) {
        probe.send(place, number);
        let hooks = probe.direction.hooks();
        let seen = self.seen.wait(hooks[0], probe);
        let counted = counters(&read(&self.backend.dump(self.six)).unwrap());
        let before = std::mem::replace(&mut self.counted, counted.clone());
        let hit: HashMap<At, u64> = counted
            .into_iter()
            .map(|(at, count)| {
                let before = before.get(&at).copied().unwrap_or_default();
                (at, count - before)
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        // What is refused before its connection is looked up is not seen there, and the word about it is of another state.
        let refused = seen.verdict(hooks[0]) == Verdict::Reject;
        if let Some(other) = seen.other_state(hooks[0], probe.state).filter(|_| !refused) {
            panic!("the kernel takes the packet for {other}: {probe:#?}\n{}", self.text);
        }
        let mut matched: HashSet<At> = HashSet::new();
        // Whether a rule of an earlier hook marked the packet.
        let mut marked = false;
        let mut exact = true;
        for hook in hooks.iter().filter(|hook| seen.entered(**hook)) {
            let described = probe.at(*hook, (!marked).then_some(0));
            let answer = self.compiled.trace(&described).unwrap();
            let quick = self.compiled.walk(&described).unwrap();
            assert_eq!(quick, Answer { trace: Vec::new(), ..answer.clone() }, "{}", self.text);
            let kernel = seen.verdict(*hook);
            let case = || {
                format!("{:#?}\nkernel {kernel}, hits {hit:#?}\nwalk {answer:#?}\n{}", described, self.text)
            };
            self.counts.0 += 1;
            if answer.verdict == Verdict::Indeterminate {
                self.counts.1 += 1;
                exact = false;
                let reported = |what: &String| marked && what == "the mark" || is_rate(what);
                assert!(!answer.undecided.is_empty() && answer.undecided.iter().all(reported), "{}", case());
                continue;
            }
            let silent = probe.is_refused_in_silence();
            let same = answer.verdict == kernel
                || (answer.verdict, kernel, silent) == (Verdict::Reject, Verdict::Drop, true);
            assert!(same, "{}", case());
            let tried = answer.trace.iter().filter(|tried| tried.matched).map(|tried| &tried.rule);
            matched.extend(
                tried
                    .filter(|rule| rule.table != WATCH)
                    .map(|rule| (rule.table.clone(), rule.chain.clone(), rule.position)),
            );
            // Where the mark is open, several rules may decide, all alike.
            let rated = answer.trace.iter().any(|tried| is_rate(&tried.rule.raw));
            exact &= !marked && !rated;
            if !marked && !rated {
                deciding(&answer, &hit, &case);
            }
            marked |= answer.trace.iter().any(|tried| tried.matched && marks(&tried.rule.raw));
            // A word of refusal that the host sends to itself meets the same rules.
            exact &= !(answer.verdict == Verdict::Reject && probe.direction == Direction::Out);
            if kernel != Verdict::Accept {
                break;
            }
        }
        if exact {
            self.every_counter(&matched, &hit, probe);
        }
    }

    /// The rules whose counters rose are those that held.
    fn every_counter(&self, matched: &HashSet<At>, hit: &HashMap<At, u64>, probe: &Probe) {
        let counted: HashSet<At> = hit.keys().cloned().collect();
        let held: HashSet<At> = matched.iter().filter(|at| self.counts_when_it_holds(at)).cloned().collect();
        let counted: HashSet<At> = counted.into_iter().filter(|at| self.counts_when_it_holds(at)).collect();
        assert_eq!(held, counted, "walk left, kernel right: {probe:#?}\n{}", self.text);
    }

    /// The counter of a rule with a verdict map stands before the look into the map.
    fn counts_when_it_holds(&self, (table, chain, position): &At) -> bool {
        let rule = self
            .compiled
            .ruleset()
            .tables
            .iter()
            .find(|own| own.name == *table)
            .and_then(|table| table.chains.iter().find(|own| own.name == *chain))
            .and_then(|chain| chain.rules.get(position - 1));
        rule.is_some_and(|rule| {
            rule.packets.is_some() && !rule.raw.contains(" vmap ") && !rule.raw.contains(" map ")
        })
    }
}

/// Whether a rate may decide, which no description of a packet tells: its own, or one beside an element that another rule wrote.
fn is_rate(text: &str) -> bool {
    text.contains("limit") || text.contains("@seen")
}

/// Whether a rule marks packets.
fn marks(raw: &str) -> bool {
    raw.contains("-j MARK") || raw.contains("meta mark set")
}

/// The rule that is said to decide has counted the packet.
fn deciding(answer: &Answer, hit: &HashMap<At, u64>, case: &dyn Fn() -> String) {
    if let Some(rule) = answer.rule.as_ref().filter(|rule| rule.table != WATCH) {
        let at = (rule.table.clone(), rule.chain.clone(), rule.position);
        assert!(hit.contains_key(&at), "{}", case());
    }
}
