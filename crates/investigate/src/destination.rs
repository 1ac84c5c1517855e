//! The destinations that a session knows: those that people wrote in it and those that the cloud listed in it.
//!
//! Goes in: the state, the whole outputs behind it. Comes out: to which destinations its commands may send something without approval.
//! Never: a word that a model wrote, a word of a program that opened the session or of a bot in the thread, a text that a command
//! printed whose output the model could form. It follows from the record alone, so that a replay and the next owner get the same.

use crate::event::{Classified, Reply};
use crate::state::{Ending, Entry, State, Step};
use crate::tool::Evidence;
use ghost_shell::{Impact, Known, Policy, Ruling, Surroundings, Verdict, is_inventory};

/// The verdict on what runs without approval.
const SAFE: &str = "SAFE";

/// The author of a quote where it is a program, or nobody that Slack names.
const PROGRAM: &str = "bot ";
const NOBODY: &str = "somebody";

/// Makes a SAFE command need approval where it would send something to a destination that the session does not know.
#[must_use]
pub fn check_destinations(state: &State, policy: &Policy, evidence: &dyn Evidence, ruling: Ruling) -> Ruling {
    if ruling.verdict != Verdict::Safe || ruling.destinations.is_empty() {
        return check_sandbox(state, ruling);
    }
    let mut known = known_from_people(state);
    // Listings can be long: they are read only where they can make a difference.
    if !policy.unknown(&ruling, &known).is_empty() {
        add_listings(state, evidence, &mut known);
    }
    check_sandbox(state, policy.hold(ruling, &known))
}

/// Makes a SAFE command need approval in a session that was opened without a sandbox.
#[must_use]
pub fn check_sandbox(state: &State, ruling: Ruling) -> Ruling {
    let missing = state.opened.surroundings.as_ref().is_some_and(Surroundings::is_without_sandbox);
    if missing { ruling.without_sandbox() } else { ruling }
}

/// Returns the destinations by which the gate judges a command that nobody proposed yet.
#[must_use]
pub fn known_for_command(state: &State, policy: &Policy, evidence: &dyn Evidence, command: &str) -> Known {
    known_for_commands(state, policy, evidence, std::iter::once(command))
}

fn known_for_commands<'a>(
    state: &State,
    policy: &Policy,
    evidence: &dyn Evidence,
    mut commands: impl Iterator<Item = &'a str>,
) -> Known {
    let mut known = known_from_people(state);
    if commands.any(|command| !policy.unknown(&policy.classify(command), &known).is_empty()) {
        add_listings(state, evidence, &mut known);
    }
    known
}

/// Returns the destinations by which the gate judges a step. What was judged stricter than SAFE stays so: the answer is on record, and
/// a denial must not become a run because somebody named the destination, or repaired a file, in the meantime.
#[must_use]
pub fn known_for_step(state: &State, step: &Step, policy: &Policy, evidence: &dyn Evidence) -> Known {
    let commands = step.rounds.iter().map(|round| round.classified.command.as_str());
    let mut known = known_for_commands(state, policy, evidence, commands);
    for judged in step.rounds.iter().map(|round| &round.classified).filter(|judged| judged.verdict != SAFE) {
        known.add_asked(&judged.command, ruling_of(judged));
    }
    known
}

/// Returns the judgement that replaces the recorded one because the gate found something on its machine that the command line does not
/// show, or that differs from when somebody was asked; `None` where it found nothing new.
///
/// A human is then asked with what was found, and a replay needs no machine.
#[must_use]
pub fn reclassified(step: &Step, at_gate: &Ruling) -> Option<Classified> {
    let judged = &step.round()?.classified;
    let recorded = (judged.rule.as_str(), judged.reason.as_str());
    let new = at_gate.asks_for_surroundings() && recorded != (&*at_gate.rule, &*at_gate.reason);
    (new && may_be_reclassified(step)).then(|| Classified {
        verdict: at_gate.verdict.as_str().to_owned(),
        rule: at_gate.rule.clone().into_owned(),
        reason: at_gate.reason.clone().into_owned(),
        impact: at_gate.impact,
        ..judged.clone()
    })
}

/// Tells whether the gate may still reclassify a step: its command line only reads, and no run of it was interrupted.
#[must_use]
pub fn may_be_reclassified(step: &Step) -> bool {
    let reads = |judged: &Classified| judged.verdict == SAFE || ruling_of(judged).only_reads();
    !step.outcome_unknown && step.round().is_some_and(|round| reads(&round.classified))
}

/// Tells whether a judgement states what the gate found on its machine.
#[must_use]
pub fn is_reclassified(judged: &Classified) -> bool {
    ruling_of(judged).asks_for_surroundings()
}

/// Returns the ruling of a recorded judgement; what is not known of it is the strictest.
#[must_use]
pub fn ruling_of(judged: &Classified) -> Ruling {
    let all = [Verdict::Safe, Verdict::Risky, Verdict::Blocked];
    let verdict = all.into_iter().find(|verdict| verdict.as_str() == judged.verdict);
    let verdict = verdict.unwrap_or(Verdict::Blocked);
    let asks = verdict == Verdict::Risky;
    Ruling {
        verdict,
        rule: judged.rule.clone().into(),
        reason: judged.reason.clone().into(),
        impact: judged.impact.or(asks.then_some(Impact::Change)),
        ..Ruling::default()
    }
}

/// Returns what was known before the session began, and what people wrote since.
fn known_from_people(state: &State) -> Known {
    let opened = &state.opened;
    let mut known = opened.surroundings.as_ref().map(Known::of).unwrap_or_default();
    if opened.gathered.passages.is_empty() && !opened.by_program {
        known.add_words(&opened.symptom);
    }
    for passage in opened.gathered.passages.iter().filter(|passage| !passage.by_program) {
        known.add_words(&passage.text);
    }
    let by_people = |who: &str| !who.starts_with(PROGRAM) && who != NOBODY;
    for quote in opened.quotes.iter().filter(|quote| by_people(&quote.who)) {
        known.add_words(&quote.text);
    }
    for entry in &state.entries {
        match entry {
            Entry::Message { who, text, .. } if by_people(who) => known.add_words(text),
            Entry::Message { .. } | Entry::Note { .. } | Entry::Turn(_) => {}
        }
    }
    // A command that somebody modified was written by the model before.
    for approval in state.approvals.values() {
        if let Some(Ending::Decided { answer: Reply::Deny { reason }, .. }) = &approval.ending {
            known.add_words(reason);
        }
    }
    known
}

/// Adds what the cloud listed: whole listings that ran without approval.
fn add_listings(state: &State, evidence: &dyn Evidence, known: &mut Known) {
    let is_listing = |step: &&Step| {
        let safe = step.round().is_some_and(|round| round.classified.verdict == Verdict::Safe.as_str());
        safe && step.script.is_none() && is_inventory(step.current())
    };
    for step in state.steps.iter().filter(is_listing) {
        let Some(done) = step.done.as_ref().filter(|done| done.exit_code == Some(0)) else { continue };
        let whole = done.evidence.as_deref().and_then(|digest| evidence.text(digest));
        known.add_listing(whole.as_deref().unwrap_or(&done.output));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, HumanMessage, Instruction, Quote};
    use crate::report::tests::Ledger;
    use crate::tool::NoEvidence;

    #[track_caller]
    fn verdict(state: &State, command: &str) -> Verdict {
        let policy = Policy::builtin().unwrap();
        check_destinations(state, policy, &NoEvidence, policy.classify(command)).verdict
    }

    const LISTING: &str = r#"[{"name": "api-ip", "ipAddress": "203.0.113.77", "dnsSettings": {"fqdn": "api.eastus.example"},
        "tags": {"fqdn": "tag.evil.example"}}]"#;

    #[test]
    fn what_people_wrote_is_known_and_what_the_model_wrote_is_not() {
        let mut ledger = Ledger::open("api.example.com does not answer");
        ledger.turn(0, &["c1"], None);
        ledger.propose(1, "c1", "dig evil.example", "H1", "SAFE");
        let state = ledger.state();
        assert_eq!(verdict(&state, "dig api.example.com"), Verdict::Safe);
        assert_eq!(verdict(&state, "dig evil.example"), Verdict::Risky);
        assert_eq!(verdict(&state, "dig x.api.example.com"), Verdict::Risky);
        let (who, text) = ("ben".to_owned(), "try status.example.net, too".to_owned());
        ledger.add(Event::HumanMessage(HumanMessage { who, text, instruction: Instruction::Steer }));
        assert_eq!(verdict(&ledger.state(), "dig status.example.net"), Verdict::Safe);
    }

    #[test]
    fn a_program_in_the_thread_is_nobody() {
        let mut state = Ledger::open("alert.example is down").state();
        let quote = |who: &str, text: &str| Quote { who: who.to_owned(), text: text.to_owned() };
        state.opened.quotes = vec![
            quote("ben", "it is person.example"),
            quote("bot alerts", "it is bot.example"),
            quote("somebody", "it is somebody.example"),
        ];
        assert_eq!(verdict(&state, "dig person.example"), Verdict::Safe);
        for stranger in ["dig bot.example", "dig somebody.example"] {
            assert_eq!(verdict(&state, stranger), Verdict::Risky, "{stranger}");
        }
        assert_eq!(verdict(&state, "dig alert.example"), Verdict::Safe);
        state.opened.by_program = true;
        assert_eq!(verdict(&state, "dig alert.example"), Verdict::Risky);
    }

    #[test]
    fn what_the_cloud_listed_is_known_unless_the_model_formed_the_output() {
        let after = |command: &str| {
            let mut ledger = Ledger::open("8080 hangs");
            ledger.turn(0, &["c1"], None);
            ledger.propose(1, "c1", command, "H1", "SAFE");
            ledger.run(1, None);
            ledger.done(1, "completed", "executed", "");
            let mut state = ledger.state();
            state.steps[0].done.as_mut().unwrap().output = LISTING.to_owned();
            state
        };
        let listed = after("az network public-ip list -g rg -o json");
        for command in ["ping -c 1 203.0.113.77", "dig api.eastus.example"] {
            assert_eq!(verdict(&listed, command), Verdict::Safe, "{command}");
        }
        assert_eq!(verdict(&listed, "dig tag.evil.example"), Verdict::Risky);
        for command in ["az network public-ip list --query \"[].{fqdn:'x'}\"", "cat /etc/hosts"] {
            assert_eq!(verdict(&after(command), "ping -c 1 203.0.113.77"), Verdict::Risky, "{command}");
        }
    }

    #[test]
    fn the_gate_goes_on_asking_what_was_asked_before() {
        let mut ledger = Ledger::open("8080 hangs");
        ledger.turn(0, &["c1"], None);
        ledger.propose(1, "c1", "dig evil.example", "H1", "RISKY");
        let (who, text) = ("ben".to_owned(), "evil.example is ours".to_owned());
        ledger.add(Event::HumanMessage(HumanMessage { who, text, instruction: Instruction::Steer }));
        let mut state = ledger.state();
        assert_eq!(verdict(&state, "dig evil.example"), Verdict::Safe);
        let policy = Policy::builtin().unwrap();
        let at_gate = |state: &State, command: &str| {
            let known = known_for_step(state, &state.steps[0], policy, &NoEvidence);
            known.as_asked(command, policy.hold(policy.classify(command), &known)).verdict
        };
        for rule in [Ruling::UNKNOWN_DESTINATION, Ruling::FOREIGN_LINK, "program.unknown"] {
            state.steps[0].rounds[0].classified.rule = rule.to_owned();
            assert_eq!(at_gate(&state, "dig evil.example"), Verdict::Risky, "{rule}");
            assert_eq!(at_gate(&state, "dig +short evil.example"), Verdict::Safe);
        }
        state.steps[0].rounds[0].classified.verdict = "BLOCKED".to_owned();
        assert_eq!(at_gate(&state, "dig evil.example"), Verdict::Blocked);
    }

    #[test]
    fn a_session_that_was_opened_without_a_sandbox_asks_about_what_only_reads() {
        let mut state = Ledger::open("8080 hangs").state();
        assert_eq!(verdict(&state, "ip a"), Verdict::Safe);
        state.opened.surroundings = Some(Surroundings::default().without_sandbox(true));
        for command in ["ip a", "dig a.example", "ip a | grep eth0"] {
            assert_eq!(verdict(&state, command), Verdict::Risky, "{command}");
        }
    }
}
