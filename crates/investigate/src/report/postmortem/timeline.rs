//! What happened, moment by moment.

use super::build::{Source, shortened};
use super::document::TimelineLine;
use crate::event::{Alert, AlertStatus, Content, Done, Event, Instruction, Recorded, Reply};
use crate::finding::title;
use crate::report::looked::Looked;
use crate::report::rca::asked;
use crate::report::step_outcome::command;
use crate::state::Step;
use ghost_base::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// So many things that were looked at are named in a line; the others are counted.
const MAX_NAMED: usize = 4;

/// Builds the timeline.
pub(super) struct Timeline<'a> {
    source: &'a Source<'a>,
    lines: Vec<TimelineLine>,
    unsaid: Vec<Look>,
    named: Vec<String>,
}

/// An observation that no line tells of yet.
struct Look {
    at: Timestamp,
    id: String,
    what: String,
}

/// Returns the lines, oldest first.
pub(super) fn timeline(source: &Source<'_>, events: &[Recorded]) -> Vec<TimelineLine> {
    let mut timeline = Timeline { source, lines: Vec::new(), unsaid: Vec::new(), named: Vec::new() };
    for recorded in events {
        if let Content::Known(event) = &recorded.content {
            timeline.take(recorded, event);
        }
    }
    timeline.flush();
    timeline.lines
}

impl Timeline<'_> {
    fn say(&mut self, recorded: &Recorded, text: String, shown: &[String]) {
        self.flush();
        let evidence = shown.iter().cloned().chain([format!("e{}", recorded.seq)]).collect();
        self.lines.push(TimelineLine { at: recorded.at.to_string(), text, evidence });
    }

    /// Tells what was looked at since the last line.
    fn flush(&mut self) {
        let unsaid = std::mem::take(&mut self.unsaid);
        let (Some(first), Some(last)) = (unsaid.first(), unsaid.last()) else { return };
        let mut names: Vec<&str> = Vec::new();
        for look in &unsaid {
            if !names.contains(&look.what.as_str()) {
                names.push(&look.what);
            }
        }
        let more = match names.len().checked_sub(MAX_NAMED) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        names.truncate(MAX_NAMED);
        let text = format!("Looked at {}{more}", names.join("; "));
        let ids = if first.id == last.id { first.id.clone() } else { format!("{}–{}", first.id, last.id) };
        self.lines.push(TimelineLine { at: first.at.to_string(), text, evidence: vec![ids] });
    }

    fn take(&mut self, recorded: &Recorded, event: &Event) {
        let state = self.source.state;
        let person = |id: &str| self.source.person(id);
        match event {
            Event::Opened(opened) => {
                if let Some((since, alert)) = began(opened.alert.as_deref()) {
                    let text = format!(
                        "The symptom began, says the alert of {}: {}",
                        alert.source,
                        shortened(&alert.title)
                    );
                    let evidence = vec![format!("e{}", recorded.seq)];
                    self.lines.push(TimelineLine { at: since, text, evidence });
                }
                let text = match opened.alert.as_deref() {
                    Some(alert) => {
                        format!("The alert of {} opened the session ({} alerts)", alert.source, alert.alerts)
                    }
                    None => {
                        format!("{} reported it in {}", self.source.asked_by(), place(&opened.origin.place))
                    }
                };
                self.say(recorded, text, &[]);
            }
            Event::Observed(seen) => self.unsaid.push(Look {
                at: recorded.at,
                id: seen.id.to_string(),
                what: shortened(&Looked::at(state, seen).plain()),
            }),
            Event::FindingAccepted(found) => {
                let name = title(&found.finding.code, &found.finding.object);
                if self.named.contains(&name) {
                    return;
                }
                let text = format!("Cause found, checked by code: {name}");
                self.named.push(name);
                let shown: Vec<String> =
                    found.finding.evidence.iter().map(|cited| cited.observation.to_string()).collect();
                self.say(recorded, text, &shown);
            }
            Event::ApprovalRequested(requested) => {
                let Some(question) = state.approvals.get(&requested.approval) else { return };
                let text = format!("Asked for consent: {}", asked(state, question));
                self.say(recorded, text, &[requested.step.to_string()]);
            }
            Event::ApprovalDecided(decided) => {
                let who = person(&decided.who);
                let text = match &decided.answer {
                    Reply::Approve => format!("{who} approved"),
                    Reply::Deny { reason } if reason.trim().is_empty() => format!("{who} denied"),
                    Reply::Deny { reason } => format!("{who} denied: {}", shortened(reason)),
                    Reply::Modify { command } => {
                        format!("{who} changed the command to {}", shortened(command))
                    }
                };
                self.say(recorded, text, &[decided.step.to_string()]);
            }
            Event::ApprovalExpired(expired) => {
                self.say(
                    recorded,
                    "Nobody answered in time; it did not run".to_owned(),
                    &[expired.step.to_string()],
                );
            }
            Event::Done(done) => self.done(recorded, done),
            Event::Unknown(unknown) => {
                let text = "A command was cut off: nobody knows whether it took effect".to_owned();
                self.say(recorded, text, &[unknown.step.to_string()]);
            }
            Event::Taken(taken) => {
                self.say(
                    recorded,
                    "The consent was handed over to the agent, once".to_owned(),
                    &[taken.step.to_string()],
                );
            }
            Event::HumanMessage(said) => {
                let who = person(&said.who);
                let text = match said.instruction {
                    Instruction::Steer => format!("{who} wrote: {}", shortened(&said.text)),
                    Instruction::Stop => format!("{who} stopped it"),
                    Instruction::Report => format!("{who} wanted the report at once"),
                };
                self.say(recorded, text, &[]);
            }
            Event::Alerted(alerted) => {
                let more = if alerted.text.is_empty() {
                    String::new()
                } else {
                    format!(": {}", shortened(&alerted.text))
                };
                let text = match alerted.status {
                    AlertStatus::Firing => format!("The alert fired again{more}"),
                    AlertStatus::Resolved => format!("The sender says that the alert is resolved{more}"),
                };
                self.say(recorded, text, &[]);
            }
            Event::Reworded(again) => {
                let who = person(&again.who);
                let text = format!("{who} reworded the complaint: {}", shortened(&again.symptom));
                self.say(recorded, text, &[]);
            }
            Event::Reopened(again) => {
                let who = person(&again.who);
                let text = if again.recheck {
                    format!("{who} had the faults of the report checked again")
                } else {
                    format!("{who} went on after the report: {}", shortened(&again.text))
                };
                self.say(recorded, text, &[]);
            }
            Event::ForecastChecked(checked) => {
                let text = format!(
                    "Looked again after the change; its forecast: {}: {}",
                    checked.verdict.word(),
                    shortened(&checked.words)
                );
                self.say(recorded, text, &[checked.step.to_string()]);
            }
            Event::BudgetSpent(spent) => {
                let text = format!("A limit was reached: {} ({} of {})", spent.what, spent.used, spent.limit);
                self.say(recorded, text, &[]);
            }
            Event::Concluded(end) => {
                let text = if end.recheck.is_empty() {
                    format!("It ended as {} with confidence {}", end.outcome, end.confidence)
                } else {
                    crate::recheck::headline(&end.recheck).to_owned()
                };
                let seen: Vec<String> =
                    end.recheck.iter().flat_map(|row| &row.seen).map(ToString::to_string).collect();
                self.say(recorded, text, &seen);
            }
            Event::Delivered(sent) if sent.is_report() => {
                self.say(recorded, "The report was delivered".to_owned(), &[]);
            }
            Event::Delivered(_)
            | Event::HypothesisSet(_)
            | Event::ModelAsked(_)
            | Event::ModelAnswered(_)
            | Event::AnswerFailed(_)
            | Event::Proposed(_)
            | Event::Classified(_)
            | Event::ApprovalVoted(_)
            | Event::Intent(_)
            | Event::Executing(_)
            | Event::Returned(_)
            | Event::FindingRejected(_)
            | Event::Noted(_)
            | Event::Discarded(_)
            | Event::Resumed(_)
            | Event::TakeRequested(_)
            | Event::Attended(_) => {}
        }
    }

    /// Tells the end of a command that somebody consented to, and of one that the gate refused.
    fn done(&mut self, recorded: &Recorded, done: &Done) {
        let Some(step) = self.source.state.step(done.step) else { return };
        let what = purpose(step);
        let text = match (done.status.as_str(), done.action.as_str()) {
            (_, "blocked") => format!("The safety gate refused: {what}"),
            ("completed", "user_approved" | "user_modified") => {
                let code = done.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
                format!("Ran with consent{code}: {what}")
            }
            ("error", "user_approved" | "user_modified" | "user_abandoned") => {
                let why = if done.reason.is_empty() { "it failed" } else { done.reason.as_str() };
                format!("Gave no result ({}): {what}", shortened(why))
            }
            (_, _) => return,
        };
        self.say(recorded, text, &[done.step.to_string()]);
    }
}

/// Returns the name of a place as people write it.
pub(super) fn place(origin: &str) -> &str {
    match origin {
        "terminal" => "a terminal",
        "slack" => "Slack",
        other => other,
    }
}

/// Says what a command is for, or which one it is.
pub(super) fn purpose(step: &Step) -> String {
    shortened(&Looked::by(step, command(step)).plain())
}

/// Returns since when an alert says that the symptom is there.
pub(super) fn began(alert: Option<&Alert>) -> Option<(String, &Alert)> {
    let alert = alert?;
    // Senders write their own offsets and fractions.
    let since = OffsetDateTime::parse(alert.started_at.as_deref()?, &Rfc3339).ok()?;
    let millis = i64::try_from(since.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?;
    Some((Timestamp::from_millis(millis).to_string(), alert))
}
