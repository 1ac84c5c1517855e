//! From the events of a session to the document.

use std::collections::BTreeMap;

use super::decisions::{changed, decisions};
use super::document::{
    ActionItem, ActivityLog, EvidenceLine, Postmortem, PostmortemAlert, PostmortemCause, Proof, ShownLine,
    Times, VerifiedFault,
};
use super::timeline::{began, purpose, timeline};
use crate::changed::{ChangedObjects, LogReading, log_reading, origins};
use crate::event::{Alert, Content, Event, FindingAccepted, ObservationId, Recorded, Reply};
use crate::finding::{Fault, title};
use crate::report::answer::{answer, left_behind};
use crate::report::looked::Looked;
use crate::report::rca::{capital, reasons, source as how};
use crate::report::step_outcome::{StepOutcome, decider, sentence, step_outcome};
use crate::state::{FoldError, State, Step};
use crate::{Fence, HypothesisState};
use ghost_base::SessionId;

/// A longer text within a line is cut.
const MAX_WORDS_CHARS: usize = 240;

/// So many proofs of one cause are shown; `evidence` names all.
const MAX_PROOFS: usize = 6;

/// What a document is made from.
pub(super) struct Source<'a> {
    /// Everything that happened.
    pub(super) state: &'a State,
    /// What was known when the investigation itself ended, before anything was checked again.
    pub(super) found: &'a State,
    /// Names of people by their ids.
    names: &'a BTreeMap<String, String>,
}

impl Source<'_> {
    /// Returns the name by which people know somebody.
    pub(super) fn person(&self, id: &str) -> String {
        match self.names.get(id).or_else(|| self.state.names.get(id)) {
            Some(name) => format!("@{name}"),
            None => id.to_owned(),
        }
    }

    /// Says who asked.
    pub(super) fn asked_by(&self) -> String {
        match &self.state.opened.alert {
            Some(alert) => format!("the alert of {}", alert.source),
            None => self.person(&self.state.opened.requester),
        }
    }

    /// Returns what a command let see.
    pub(super) fn observed_by(&self, step: &Step) -> Vec<String> {
        let seen = self.state.observations.iter().map(|found| &found.observed);
        seen.filter(|seen| seen.step == Some(step.id)).map(|seen| seen.id.to_string()).collect()
    }
}

/// Returns a text on one line, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    let line = Fence::without_markers(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_WORDS_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Begins a sentence with a capital, unless it begins with a name.
fn begun(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.bytes().all(|byte| byte.is_ascii_lowercase()) { capital(text) } else { text.to_owned() }
}

/// Writes the post-mortem of a session. `names` tells by which names people know each other; who is not in it keeps the id.
///
/// # Errors
/// Fails where the events are no session.
pub fn postmortem(
    session: &SessionId,
    events: &[Recorded],
    names: &BTreeMap<String, String>,
) -> Result<Postmortem, FoldError> {
    let state = State::fold(session, events)?;
    let (last, end) = investigated(events);
    let found = State::fold(session, events.get(..end).unwrap_or(events))?;
    let source = Source { state: &state, found: &found, names };
    let opened = &state.opened;
    let verified = verified(&source);
    let causes = causes(&found);
    let document = Postmortem {
        format: Postmortem::FORMAT,
        session: session.to_string(),
        version: opened.version.clone(),
        head: state.head.to_string(),
        audit_head: state.audit_head().map(str::to_owned),
        title: answer(&found).title(),
        summary: begun(&answer(&found).sentence()),
        outcome: found.concluded.as_ref().map(|(_, end)| end.outcome),
        confidence: found.concluded.as_ref().map(|(_, end)| end.confidence),
        symptom: Fence::without_markers(&opened.symptom),
        asked_by: source.asked_by(),
        place: opened.origin.place.clone(),
        alert: opened.alert.as_deref().map(alert),
        times: times(&source),
        timeline: timeline(&source, events),
        activity_log: activity_log(&found),
        decisions: decisions(&source),
        changed: changed(&source),
        ruled_out: ruled_out(&found),
        not_checked: not_checked(&source),
        actions: actions(&source, &causes, last.map(|last| format!("e{}", last.seq)), &verified),
        evidence: evidence(&state),
        causes,
        verified,
    };
    Ok(document.without_secrets())
}

/// Returns the end of the investigation itself, and how many events there are up to it: what comes later checks again.
fn investigated(events: &[Recorded]) -> (Option<&Recorded>, usize) {
    let is_end = |recorded: &Recorded| {
        let Content::Known(event) = &recorded.content else { return false };
        matches!(event.as_ref(), Event::Concluded(end) if end.recheck.is_empty())
    };
    match events.iter().rposition(is_end) {
        Some(at) => (events.get(at), at + 1),
        None => (None, events.len()),
    }
}

fn alert(alert: &Alert) -> PostmortemAlert {
    PostmortemAlert {
        source: alert.source.clone(),
        title: shortened(&alert.title),
        severity: alert.severity.clone(),
        links: alert.links.clone(),
    }
}

fn times(source: &Source<'_>) -> Times {
    let state = source.state;
    let service = state.service;
    let reported = state.opened_at.to_string();
    let (first_symptom, first_symptom_from) = match began(state.opened.alert.as_deref()) {
        Some((since, alert)) => (since, format!("the alert of {}", alert.source)),
        None => (reported.clone(), "the first report of it; since when it was so is not recorded".to_owned()),
    };
    let ends = state.earlier.iter().chain(&state.concluded);
    let mut fixed = ends.filter(|(_, end)| {
        !end.recheck.is_empty() && crate::recheck::verdict(&end.recheck) == crate::recheck::Verdict::Fixed
    });
    Times {
        first_symptom,
        first_symptom_from,
        reported,
        acknowledged_after_seconds: service.acknowledged.map(|length| length.as_secs()),
        cause_after_seconds: service.cause.map(|length| length.as_secs()),
        answered_after_seconds: service.answered.map(|length| length.as_secs()),
        waited_for_people_seconds: state.spent.waited.as_secs(),
        verified: fixed.next_back().map(|(at, _)| at.to_string()),
    }
}

fn ids<'a>(observations: impl IntoIterator<Item = &'a ObservationId>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for id in observations {
        let id = id.to_string();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Returns what is broken; what is said of several flows in the same words is one cause.
fn causes(found: &State) -> Vec<PostmortemCause> {
    let mut causes: Vec<PostmortemCause> = Vec::new();
    let since = origins(found);
    for accepted in found.accepted.iter().filter(|accepted| accepted.finding.code != Fault::NoDrift) {
        let (finding, name) = (&accepted.finding, name_of(accepted));
        let shown = reasons(&accepted.why).into_iter().map(shortened);
        let cited = finding.evidence.iter().map(|cited| Proof {
            observation: cited.observation.to_string(),
            quote: cited.quote.as_deref().map(shortened),
        });
        let evidence = ids(finding.evidence.iter().map(|cited| &cited.observation));
        if let Some(known) = causes.iter_mut().find(|known| known.title == name) {
            add(&mut known.shown, shown);
            add(&mut known.proof, cited);
            add(&mut known.evidence, evidence);
            continue;
        }
        let origin = since
            .iter()
            .find(|(origin, _)| origin.fault == finding.code.as_str() && origin.object == finding.object);
        let baseline = || "it was not so when the baseline was taken".to_owned();
        causes.push(PostmortemCause {
            code: finding.code.as_str().to_owned(),
            object: finding.object.clone(),
            title: name,
            shown: shown.collect(),
            effect: finding.code.fault().map(|fault| fault.mechanism().to_owned()),
            since: origin
                .map(|(origin, seen)| format!("{} ({})", origin.sentence, ids(seen).join(", ")))
                .or_else(|| accepted.why.contains("since the baseline").then(baseline)),
            proof: cited.collect(),
            evidence,
        });
    }
    for cause in &mut causes {
        cause.proof.truncate(MAX_PROOFS);
    }
    causes
}

fn add<T: PartialEq>(to: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

fn name_of(accepted: &FindingAccepted) -> String {
    title(&accepted.finding.code, &accepted.finding.object)
}

fn activity_log(found: &State) -> ActivityLog {
    let (log, seen) = match log_reading(found) {
        None => {
            return ActivityLog { read: "The activity log was not read.".to_owned(), changes: Vec::new() };
        }
        Some(LogReading::Unread(why)) => {
            return ActivityLog {
                read: format!("The activity log was not read: {why}."),
                changes: Vec::new(),
            };
        }
        Some(LogReading::Read(log, seen)) => (log, ids(&seen)),
    };
    let origins = origins(found).into_iter().map(|(origin, _)| capital(&origin.sentence));
    let mut sentences: Vec<String> = Vec::new();
    add(&mut sentences, origins.chain(log.changes.iter().cloned()));
    let changes: Vec<ShownLine> = sentences
        .into_iter()
        .map(|text| ShownLine { text: shortened(&text), evidence: seen.clone() })
        .collect();
    ActivityLog { read: read_words(&log, changes.is_empty()), changes }
}

fn read_words(log: &ChangedObjects, is_empty: bool) -> String {
    let span = match (log.since.as_str(), log.until.as_str()) {
        ("", _) | (_, "") => "The activity log was read".to_owned(),
        (since, until) => format!("The activity log was read from {since} to {until}"),
    };
    let part = match (log.complete, log.unread.as_slice()) {
        (true, _) => String::new(),
        (false, []) => ", and that is not all that it has".to_owned(),
        (false, unread) => format!(", and that of {} could not be read", unread.join(", nor that of ")),
    };
    let none = if is_empty { "; nothing in it has to do with the causes" } else { "" };
    let more = match log.unlisted {
        0 => String::new(),
        more => format!("; {more} more changes are not listed"),
    };
    format!("{span}{part}{none}{more}.")
}

/// Returns what was checked again, the latest look at each fault.
fn verified(source: &Source<'_>) -> Vec<VerifiedFault> {
    let mut rows: Vec<VerifiedFault> = Vec::new();
    for (at, end) in source.state.earlier.iter().chain(&source.state.concluded) {
        for row in &end.recheck {
            let fault = VerifiedFault {
                at: at.to_string(),
                title: title(&row.code, &row.object),
                before: shortened(&row.before),
                after: shortened(&row.after),
                now: row.now,
                evidence: ids(&row.seen),
            };
            match rows.iter_mut().find(|known| known.title == fault.title) {
                Some(known) => *known = fault,
                None => rows.push(fault),
            }
        }
    }
    rows
}

fn hypothesis_name(hypothesis: &crate::Hypothesis) -> String {
    let name = if hypothesis.description.is_empty() { &hypothesis.id } else { &hypothesis.description };
    shortened(name.trim().trim_end_matches('.'))
}

/// Returns the observations of the calls whose commands test a hypothesis.
fn tests(state: &State, id: &str) -> Vec<String> {
    let steps = state.steps.iter().filter(|step| step.hypothesis.as_deref() == Some(id));
    let own: Vec<_> = steps.map(|step| step.id).collect();
    let seen = state.observations.iter().map(|found| &found.observed);
    ids(seen.filter(|seen| seen.step.is_some_and(|step| own.contains(&step))).map(|seen| &seen.id))
}

fn ruled_out(found: &State) -> Vec<ShownLine> {
    let refuted = found.hypotheses.iter().filter(|one| one.state == HypothesisState::Refuted);
    let line = |one: &crate::Hypothesis| {
        let why = one.why.as_deref().map(shortened).filter(|why| !why.is_empty());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        ShownLine { text: format!("{}{why}", hypothesis_name(one)), evidence: tests(found, &one.id) }
    };
    refuted.map(line).collect()
}

fn not_checked(source: &Source<'_>) -> Vec<ShownLine> {
    let (found, state) = (source.found, source.state);
    let mut lines: Vec<ShownLine> = Vec::new();
    for waived in found.concluded.iter().flat_map(|(_, end)| &end.waived) {
        let of = match waived.what.subject.as_str() {
            "" => String::new(),
            subject => format!(" of {subject}"),
        };
        let text = format!("{}{of}: {}", capital(waived.what.layer.describe()), shortened(&waived.why));
        lines.push(ShownLine { text, evidence: Vec::new() });
    }
    let closed = crate::judged::judged(state).map(|(_, judged)| judged.closed).unwrap_or_default();
    lines.extend(closed.iter().map(|one| {
        let text = format!("{}: {}", capital(&one.what), shortened(&one.why));
        ShownLine { text, evidence: Vec::new() }
    }));
    for one in &found.hypotheses {
        let word = match one.state {
            HypothesisState::Active => "was still being tested",
            HypothesisState::Unverifiable => "is not known",
            HypothesisState::Contradicted => "is contradicted by the evidence",
            HypothesisState::Confirmed | HypothesisState::Refuted | HypothesisState::Withdrawn => continue,
        };
        let why = one.why.as_deref().map(shortened).filter(|why| !why.is_empty());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        lines.push(ShownLine {
            text: format!("{} {word}{why}", hypothesis_name(one)),
            evidence: tests(found, &one.id),
        });
    }
    for step in state.steps.iter().filter(|step| step_outcome(state, step) == StepOutcome::Refused) {
        let why = match decider(state, step) {
            Some((who, Reply::Deny { reason }, _)) if !reason.trim().is_empty() => {
                format!("denied by {}: {}", source.person(who), shortened(reason))
            }
            Some((who, Reply::Deny { .. }, _)) => format!("denied by {}", source.person(who)),
            Some((_, Reply::Approve | Reply::Modify { .. }, _)) | None => shortened(&sentence(state, step)),
        };
        let text = format!("What {} would have shown: {why}", purpose(step));
        lines.push(ShownLine { text, evidence: vec![step.id.to_string()] });
    }
    if let Some(LogReading::Unread(why)) = log_reading(found) {
        lines.push(ShownLine { text: format!("The activity log: {why}"), evidence: Vec::new() });
    }
    lines
}

fn actions(
    source: &Source<'_>,
    causes: &[PostmortemCause],
    end: Option<String>,
    verified: &[VerifiedFault],
) -> Vec<ActionItem> {
    let (found, state) = (source.found, source.state);
    let plain = |text: String, evidence: Vec<String>| ActionItem { text, details: Vec::new(), evidence };
    let mut items: Vec<ActionItem> = Vec::new();
    for action in found.concluded.iter().flat_map(|(_, end)| &end.actions) {
        let mut lines = action.lines().map(str::trim).filter(|line| !line.is_empty());
        let text = lines.next().unwrap_or_default().to_owned();
        let details: Vec<String> = lines.map(str::to_owned).collect();
        let mut evidence = shown_for(action, causes);
        evidence.extend(end.clone());
        items.push(ActionItem { text, details, evidence });
    }
    for step in state.steps.iter().filter(|step| step_outcome(state, step) == StepOutcome::Unknown) {
        let text = format!("Find out whether this took effect: {}", purpose(step));
        items.push(plain(text, vec![step.id.to_string()]));
    }
    for question in found.concluded.iter().flat_map(|(_, end)| &end.open_questions) {
        items.push(plain(
            format!("Open question: {}", shortened(question)),
            end.clone().into_iter().collect(),
        ));
    }
    if let Some(left) = left_behind(state) {
        items.push(plain(format!("Clean up what is left behind: {left}"), end.clone().into_iter().collect()));
    }
    let all_gone = !verified.is_empty() && verified.iter().all(|row| row.now == crate::event::Now::Fixed);
    if !causes.is_empty() && !all_gone {
        let text = format!(
            "Check again once it is fixed: \"Fixed, check again\" below the report, or ghost investigate --recheck {}",
            state.session
        );
        items.push(plain(
            text,
            causes.iter().flat_map(|cause| cause.evidence.clone()).take(MAX_PROOFS).collect(),
        ));
    }
    items
}

/// Returns what shows the causes that an action is about; of all of them, where none is named in it.
fn shown_for(action: &str, causes: &[PostmortemCause]) -> Vec<String> {
    let is_named = |cause: &&PostmortemCause| {
        let parts = cause.object.split('/').filter(|part| part.chars().count() > 3);
        let mut parts = parts.peekable();
        parts.peek().is_some() && parts.any(|part| action.contains(part))
    };
    let named: Vec<&PostmortemCause> = causes.iter().filter(is_named).collect();
    let of = if named.is_empty() { causes.iter().collect() } else { named };
    let mut evidence = Vec::new();
    add(&mut evidence, of.into_iter().flat_map(|cause| cause.evidence.iter().cloned()));
    evidence.truncate(MAX_PROOFS);
    evidence
}

fn evidence(state: &State) -> Vec<EvidenceLine> {
    let line = |found: &crate::state::Observation| EvidenceLine {
        id: found.observed.id.to_string(),
        what: shortened(&Looked::at(state, &found.observed).plain()),
        how: how(found.observed.source).to_owned(),
        at: found.at.to_string(),
        digest: found.observed.digest.to_string(),
    };
    state.observations.iter().map(line).collect()
}
