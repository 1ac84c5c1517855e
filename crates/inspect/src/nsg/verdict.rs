//! Both gates, in the platform's order.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::cases::GateAnswer;
use super::gate::{certainly, decide};
use super::packet::Packet;
use super::report::{Decisive, GateReport, LaterMatch, Ruling, Verdict};
use super::rule::{Access, Gate, Group, Protocols, Rule};
use super::ruleset::Ruleset;
use super::trace::Trace;

/// Says why rules do not decide over what is for the platform's own addresses.
const PLATFORM: &str = "it is an address of the platform itself: outbound rules apply only where they name AzurePlatformDNS or AzurePlatformIMDS";

/// What a gate says to each protocol that is asked about.
struct GateAnswers<'a> {
    gate: Gate,
    group: Option<&'a Group>,
    answers: Vec<GateAnswer>,
}

impl Ruleset {
    /// Answers whether a packet gets through, with a trace of every rule that was tried.
    #[must_use]
    pub fn verdict<'a>(&'a self, packet: &'a Packet) -> Ruling<'a> {
        let answers_of_gates = self.gate_answers(packet);
        let verdict = whole(&answers_of_gates, packet.protocols.len());
        let mut gates: Vec<GateReport<'a>> =
            answers_of_gates.iter().map(|answers| answers.report(packet)).collect();
        let always = |at| before(&answers_of_gates, at).iter().all(|access| *access == Access::AlwaysAllow);
        if (0..packet.protocols.len()).all(always) {
            gates.iter_mut().for_each(GateReport::skip);
        }
        let denies = |gate: &&GateReport<'_>| verdict == Verdict::Deny && gate.verdict == Verdict::Deny;
        let decisive = gates.iter().find(denies).map(|gate| Decisive {
            gate: gate.gate,
            nsg: gate.nsg,
            rule: gate.rule,
            priority: gate.priority,
        });
        let undecided = gates.iter().filter(|_| verdict == Verdict::Indeterminate);
        let unresolved: BTreeSet<&String> = undecided.flat_map(|gate| &gate.unresolved).collect();
        Ruling {
            format: 1,
            direction: packet.direction,
            verdict,
            decisive,
            unresolved: unresolved.into_iter().cloned().collect(),
            shadowed: answers_of_gates.iter().flat_map(|answers| answers.behind(packet)).collect(),
            gates,
            remark: self.remark().or(packet.platform().map(|_| PLATFORM)),
            warnings: Cow::Borrowed(&self.warnings),
        }
    }

    /// Answers whether a packet gets through, without a trace.
    #[must_use]
    pub fn judge(&self, packet: &Packet) -> Verdict {
        whole(&self.gate_answers(packet), packet.protocols.len())
    }

    fn gate_answers(&self, packet: &Packet) -> Vec<GateAnswers<'_>> {
        let mut answers_of_gates = Vec::new();
        for gate in packet.direction.gates() {
            let before = answers_of_gates.len();
            for group in self.at(gate) {
                let answer = |protocol: &Protocols| {
                    let mut answer = decide(group, packet, *protocol);
                    if gate == Gate::Unknown && answer.certain() != Some(Access::Deny) {
                        // It may not apply at all, or be half of what applies: never an allow.
                        answer.by.entry(Access::Deny).or_default().insert(None);
                        answer.by.entry(Access::Allow).or_default().insert(None);
                        let name = group.name.as_deref().unwrap_or("a group without a name");
                        answer.open.insert(format!("the gate of {name}"));
                    }
                    answer
                };
                answers_of_gates.push(GateAnswers {
                    gate,
                    group: Some(group),
                    answers: packet.protocols.iter().map(answer).collect(),
                });
            }
            if answers_of_gates.len() == before && matches!(gate, Gate::Subnet | Gate::Nic) {
                answers_of_gates.push(GateAnswers { gate, group: None, answers: Vec::new() });
            }
            if let (Some(which), Some(here)) = (self.which(gate), answers_of_gates.get_mut(before..)) {
                disagree(here, &which, packet.protocols.len());
            }
        }
        answers_of_gates
    }
}

/// Where nothing says which of some groups stands at a gate, only what all of them answer is certain.
fn disagree(answers_of_gates: &mut [GateAnswers<'_>], which: &str, protocols: usize) {
    for protocol in 0..protocols {
        let mut verdicts = answers_of_gates
            .iter()
            .map(|answers| answers.answers.get(protocol).and_then(GateAnswer::certain));
        let first = verdicts.next().flatten();
        if first.is_some() && verdicts.all(|other| other == first) {
            continue;
        }
        for answer in answers_of_gates.iter_mut().filter_map(|answers| answers.answers.get_mut(protocol)) {
            answer.add(None, None);
            answer.open.insert(which.to_owned());
        }
    }
}

fn whole(answers_of_gates: &[GateAnswers<'_>], protocols: usize) -> Verdict {
    let mut verdicts = (0..protocols).map(|at| through(answers_of_gates, at));
    let first = verdicts.next().unwrap_or(Verdict::Indeterminate);
    if verdicts.all(|other| other == first) { first } else { Verdict::Indeterminate }
}

/// Returns what the groups of the Virtual Network Manager, or the others, answer for one protocol.
fn answers<'h>(
    answers_of_gates: &'h [GateAnswers<'_>],
    manager: bool,
    protocol: usize,
) -> impl Iterator<Item = &'h GateAnswer> {
    let mine = answers_of_gates.iter().filter(move |answers| (answers.gate == Gate::Manager) == manager);
    mine.filter_map(move |answers| answers.answers.get(protocol))
}

/// Returns what may have become of a packet before the gates of the security groups.
fn before(answers_of_gates: &[GateAnswers<'_>], protocol: usize) -> BTreeSet<Access> {
    // A deny of one manager is final; "always allow" is, where none denies.
    answers(answers_of_gates, true, protocol).fold(BTreeSet::from([Access::Allow]), |before, answer| {
        before.iter().flat_map(|a| answer.by.keys().map(|b| stricter(*a, *b))).collect()
    })
}

/// Puts the gates together for one protocol.
fn through(answers_of_gates: &[GateAnswers<'_>], protocol: usize) -> Verdict {
    let answers = || answers(answers_of_gates, false, protocol);
    let certain = |access| move |answer: &GateAnswer| answer.certain() == Some(access);
    let gates = if answers().any(certain(Access::Deny)) {
        Verdict::Deny
    } else if answers().all(|answer| matches!(answer.certain(), Some(Access::Allow | Access::AlwaysAllow))) {
        Verdict::Allow
    } else {
        Verdict::Indeterminate
    };
    let mut verdicts = before(answers_of_gates, protocol).into_iter().map(|access| match access {
        Access::Deny => Verdict::Deny,
        Access::AlwaysAllow => Verdict::Allow,
        Access::Allow => gates,
    });
    let first = verdicts.next().unwrap_or(Verdict::Indeterminate);
    if verdicts.all(|other| other == first) { first } else { Verdict::Indeterminate }
}

const fn stricter(a: Access, b: Access) -> Access {
    match (a, b) {
        (Access::Deny, _) | (_, Access::Deny) => Access::Deny,
        (Access::AlwaysAllow, _) | (_, Access::AlwaysAllow) => Access::AlwaysAllow,
        (Access::Allow, Access::Allow) => Access::Allow,
    }
}

impl<'a> GateAnswers<'a> {
    fn verdict(&self) -> Verdict {
        let mut verdicts = self.answers.iter().map(|answer| match answer.certain() {
            Some(Access::Allow | Access::AlwaysAllow) => Verdict::Allow,
            Some(Access::Deny) => Verdict::Deny,
            None => Verdict::Indeterminate,
        });
        let first = verdicts.next().unwrap_or(Verdict::Absent);
        if verdicts.all(|other| other == first) { first } else { Verdict::Indeterminate }
    }

    fn rules(&self) -> &'a [Rule] {
        self.group.map_or(&[], |group| &group.rules)
    }

    fn report(&self, packet: &'a Packet) -> GateReport<'a> {
        let mut decides: BTreeSet<Option<usize>> = self.answers.iter().map(GateAnswer::rule).collect();
        let decides = decides.pop_first().filter(|_| decides.is_empty()).flatten();
        let rule = decides.and_then(|at| self.rules().get(at));
        let candidates: BTreeSet<usize> =
            self.answers.iter().flat_map(|answer| answer.by.values().flatten().copied().flatten()).collect();
        let verdict = self.verdict();
        let mut open: BTreeSet<String> = self.answers.iter().flat_map(|answer| answer.open.clone()).collect();
        if verdict == Verdict::Indeterminate && open.is_empty() {
            open.insert("the protocol".to_owned());
        }
        GateReport {
            gate: self.gate,
            verdict,
            nsg: self.group.and_then(|group| group.name.as_deref()),
            rule: rule.map(|rule| rule.name.as_str()),
            priority: rule.and_then(|rule| rule.priority),
            candidates: candidates
                .iter()
                .filter_map(|at| self.rules().get(*at))
                .map(|rule| rule.name.as_str())
                .collect(),
            unresolved: open.into_iter().collect(),
            trace: Trace::new(self.rules(), packet),
        }
    }

    /// Returns the rules that match too, behind the first that certainly does.
    fn behind(&self, packet: &'a Packet) -> impl Iterator<Item = LaterMatch<'a>> + use<'a> {
        let (gate, rules) = (self.gate, self.rules());
        // What matches all of the protocols matches each of them.
        let firsts: Option<Vec<usize>> = self.answers.iter().map(|answer| answer.last).collect();
        let first = firsts.and_then(|firsts| firsts.into_iter().max());
        let protocol = packet.protocols.first().copied().unwrap_or(Protocols::ALL);
        let from = self.group.zip(first).into_iter();
        let may = from.flat_map(move |(group, first)| {
            group.rule_index(packet.direction).candidates(packet, protocol, first)
        });
        let matching = may.filter_map(|at| rules.get(at)).filter(|rule| certainly(rule, packet)).skip(1);
        matching.map(move |rule| LaterMatch {
            gate,
            rule: &rule.name,
            priority: rule.priority,
            access: rule.access,
        })
    }
}
