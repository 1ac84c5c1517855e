//! What a change would do to flows, from what the session has read: it stands on the card before anybody answers.
//!
//! Goes in: the record of a session, and the commands that are asked about. Comes out: a forecast, or that nobody can say. Never: a
//! command that is run for it, documents that are older than a change that was made since.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::event::{ChangeForecast, StepId};
use crate::state::{State, Step};
use crate::tool::Evidence;
use ghost_base::Timestamp;
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::operation::{CommandKind, CommandOutcome, CommandRequest, Next, Operation};
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
use ghost_cloud::probe::{EstateOperation, FirewallOperation, FrontendOperation, GuestProbe, STATE};
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::forecast::{
    CommandError, Difference, Edit, Forecast, Scope, Verdict, applied, command, forecast, is_undone_later,
    undo,
};
use ghost_inspect::path::{Bundle, Estate, Reading};
use ghost_shell::{Policy, script_line};

/// So many flows are compared for a card.
const MAX_FLOWS: usize = 600;
/// So many flows stand on a card.
const MAX_SHOWN: usize = 6;
/// An operation asks no more often.
const MAX_REQUESTS: usize = 64;

/// Says what some commands would do; nothing where none of them changes the network as far as it is known.
pub(super) fn foreseen(
    state: &State,
    policy: &Policy,
    evidence: &dyn Evidence,
    commands: &[&str],
) -> Option<ChangeForecast> {
    let words = changing(policy, commands);
    words.first()?;
    match drawn(&Record::of(state, evidence), policy, &words) {
        Err(why) => Some(ChangeForecast::unknown(&why)),
        Ok(Drawn { bundle, found, .. }) => {
            let is_alone = commands.len() == 1;
            let one = words.first().filter(|_| words.len() == 1);
            let undo = one.and_then(|one| undo(one, &bundle)).map(|words| typed(&words));
            let foreseen = worded(&found, is_alone);
            let is_undone_later =
                foreseen.is_confirmed_later && one.is_some_and(|one| is_undone_later(one, &bundle));
            Some(ChangeForecast { undo, is_undone_later, ..foreseen })
        }
    }
}

/// Returns the words of those commands that change the network as far as it is known. That does not depend on what was read.
pub(super) fn changing(policy: &Policy, commands: &[&str]) -> Vec<Vec<String>> {
    let words = commands.iter().filter_map(|text| policy.classify(text).argv);
    words.filter(|words| command(words, &Bundle::default()) != Err(CommandError::Foreign)).collect()
}

/// A forecast, and what it was made of.
pub(super) struct Drawn {
    pub(super) place: ResourceGroup,
    pub(super) bundle: Bundle,
    pub(super) edits: Vec<Edit>,
    pub(super) found: Forecast,
}

/// Judges what some changes would do on what a record holds.
pub(super) fn drawn(record: &Record<'_>, policy: &Policy, words: &[Vec<String>]) -> Result<Drawn, String> {
    let known = words.first().and_then(|first| group(first));
    let known = known.and_then(|place| record.bundle(&place, policy).map(|bundle| (place, bundle)));
    let Some((place, bundle)) = known else {
        return Err("nothing was read that says which flows it touches".to_owned());
    };
    let mut edits: Vec<Edit> = Vec::new();
    for one in words {
        match command(one, &bundle) {
            Ok(found) => edits.extend(found),
            Err(CommandError::Foreign) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let found = forecast(&bundle, &edits, &Scope { named: Vec::new(), most: Some(MAX_FLOWS) });
    Ok(Drawn { place, bundle, edits, found })
}

/// Returns the resource group that a command names.
fn group(words: &[String]) -> Option<ResourceGroup> {
    let value = |names: [&str; 2]| {
        let at = words.iter().position(|word| names.contains(&word.as_str()))?;
        words.get(at + 1).and_then(|text| Name::parse(text).ok())
    };
    Some(ResourceGroup {
        subscription: value(["--subscription", "--subscription"]),
        group: value(["-g", "--resource-group"])?,
    })
}

/// Writes words as somebody would type them.
pub(super) fn typed(words: &[String]) -> String {
    let is_plain = |word: &String| {
        !word.is_empty()
            && word.chars().all(|char| char.is_ascii_alphanumeric() || "-_./:=,@+".contains(char))
    };
    let one = |word: &String| {
        if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn worded(found: &Forecast, is_alone: bool) -> ChangeForecast {
    let verdict = match (found.is_bad(), found.is_open()) {
        (true, _) => "harmful",
        (false, true) => "unknown",
        (false, false) => "harmless",
    };
    let line = |one: &Difference| {
        let port = one.flow.dst_port.map(|port| format!("/{port}")).unwrap_or_default();
        let why = one.reason.as_ref().filter(|_| one.verdict != Verdict::Opened);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        format!("{}: {} → {} {}{port}{why}", one.verdict, one.from, one.to, one.flow.protocol)
    };
    let mut flows: Vec<String> = found.flows.iter().take(MAX_SHOWN).map(line).collect();
    flows.extend(
        found.rules.iter().take(2).map(|note| format!("{} rule: {}, {}", note.effect, note.object, note.why)),
    );
    let more = found.flows.len().saturating_sub(MAX_SHOWN);
    let mut words = if found.flows.is_empty() {
        format!("every one of {} flows ends as before", found.compared)
    } else {
        format!("{} of {} flows end otherwise", found.flows.len(), found.compared)
    };
    if let Some(one) = found.unknown.first() {
        words.push_str(&format!("; not judged: {} ({})", one.what, one.why));
    }
    ChangeForecast {
        verdict: verdict.to_owned(),
        words,
        flows,
        more: u32::try_from(more).unwrap_or(u32::MAX),
        undo: None,
        is_undone_later: false,
        is_confirmed_later: is_alone && verdict != "unknown",
    }
}

/// What the session has read, by command, the latest last.
pub(super) struct Record<'a> {
    evidence: &'a dyn Evidence,
    reads: BTreeMap<&'a str, &'a Step>,
    /// Commands that changed something, in order.
    changes: Vec<&'a Step>,
    /// What was taken from it, in the order in which it was wanted.
    used: RefCell<Vec<StepId>>,
}

impl<'a> Record<'a> {
    fn of(state: &'a State, evidence: &'a dyn Evidence) -> Self {
        Self::only(state, evidence, |_| true)
    }

    /// Takes those steps that are wanted.
    pub(super) fn only(
        state: &'a State,
        evidence: &'a dyn Evidence,
        is_wanted: impl Fn(&Step) -> bool,
    ) -> Self {
        let mut record =
            Self { evidence, reads: BTreeMap::new(), changes: Vec::new(), used: RefCell::default() };
        for step in state.steps.iter().filter(|step| step.is_completed() && is_wanted(step)) {
            if step.consents.is_empty() {
                record.reads.insert(step.current().trim(), step);
            } else {
                record.changes.push(step);
            }
        }
        record
    }

    /// Returns the steps whose output was taken, in the order in which that was wanted.
    pub(super) fn used(&self) -> Vec<StepId> {
        self.used.borrow().clone()
    }

    /// Returns the documents of a resource group, as they are after what was changed since they were read.
    pub(super) fn bundle(&self, place: &ResourceGroup, policy: &Policy) -> Option<Bundle> {
        let mut since: Option<Timestamp> = None;
        let cloud = self.read(EstateOperation::new(place), &mut since)?.ok()?;
        let mut bundle = Bundle { cloud, ..Bundle::default() };
        // Load balancers are read where a flow leads to one.
        if let Some(found) = self.read(FrontendOperation::new(place), &mut since) {
            FrontendOperation::into_cloud(found, &mut bundle.cloud);
        }
        // And firewalls where a route leads to one.
        if let Some(found) = self.read(FirewallOperation::new(place), &mut since) {
            FirewallOperation::into_cloud(found, &mut bundle.cloud);
        }
        let estate = Estate::of(&bundle);
        let mut nics = BTreeMap::new();
        for machine in estate.machines() {
            for nic in estate.nics_of(machine) {
                let Ok(name) = Name::parse(&nic) else { continue };
                let scope = InterfaceScope::Interface(name);
                let mut effective = |query: EffectiveQuery| {
                    let read = self.read(Effective::all(place, &scope, &[query]), &mut since)?.ok()?;
                    read.first()?.text(query).ok().map(|text| Reading::Text(text.to_owned()))
                };
                let (routes, rules) = (effective(EffectiveQuery::Routes), effective(EffectiveQuery::Rules));
                nics.insert(nic, ghost_inspect::path::Nic { routes, rules });
            }
            let Ok(name) = Name::parse(machine) else { continue };
            let reach = GuestAccess::Platform { place: place.clone(), machine: name };
            if let Some(Ok(guest)) = self.read(GuestProbe::new(reach, &STATE), &mut since) {
                bundle.guests.insert(machine.to_owned(), guest);
            }
        }
        bundle.nics = nics;
        // What was changed after the oldest of these reads is carried out on the documents once more.
        let late =
            self.changes.iter().filter(|step| step.done_at.zip(since).is_none_or(|(at, since)| at >= since));
        for step in late {
            let words = policy.classify(step.current()).argv?;
            match command(&words, &bundle) {
                Ok(edits) => bundle = applied(&bundle, &edits).0,
                Err(CommandError::Foreign) => {}
                Err(_) => return None,
            }
        }
        Some(bundle)
    }

    /// Drives an operation by what is on record; nothing where not one of its commands is.
    fn read<E: Operation>(&self, mut operation: E, since: &mut Option<Timestamp>) -> Option<E::Result> {
        let mut any = false;
        let mut now = Timestamp::from_millis(0);
        for _ in 0..MAX_REQUESTS {
            match operation.next(now) {
                Next::Run(request) => {
                    let answer = match self.answer(&request, since) {
                        Some((answer, at)) => {
                            any = true;
                            now = now.max(at);
                            answer
                        }
                        None => CommandOutcome::NotRun { reason: "it was not read".to_owned() },
                    };
                    operation.on_result(&answer, now);
                }
                Next::Wait { until, .. } => now = now.max(until),
                Next::Over(result) => return any.then_some(result),
            }
        }
        None
    }

    fn answer(
        &self,
        request: &CommandRequest,
        since: &mut Option<Timestamp>,
    ) -> Option<(CommandOutcome, Timestamp)> {
        let text = match &request.what {
            CommandKind::Line(line) => line.text(),
            CommandKind::Script { carrier, script, variables } => {
                let variables: Vec<(String, String)> =
                    variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                script_line(carrier.words(), script, &variables).ok()?
            }
        };
        let step = self.reads.get(text.trim())?;
        let (done, at) = step.done.as_ref().zip(step.done_at)?;
        let whole = done.evidence.as_deref().and_then(|digest| self.evidence.text(digest));
        let stdout = match whole {
            Some(text) => text,
            None if done.output_facts().stdout.applied => return None,
            None => done.output.clone(),
        };
        *since = Some(since.map_or(at, |since| since.min(at)));
        let mut used = self.used.borrow_mut();
        if !used.contains(&step.id) {
            used.push(step.id);
        }
        Some((CommandOutcome::Ran { exit: done.exit_code, stdout, stderr: done.stderr.clone() }, at))
    }
}
