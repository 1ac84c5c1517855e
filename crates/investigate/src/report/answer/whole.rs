//! The answer of a session.

use crate::Outcome;
use crate::changed::{self, LogReading, log_reading};
use crate::event::{Concluded, Instruction, Now, Rechecked};
use crate::finding::title;
use crate::gate::replacement;
use crate::judged::{FlowVerdict, JudgedFlow, JudgedFlows, judged};
use crate::model::Investigator;
use crate::recheck;
use crate::report::answer::cause::{Cause, Weight, carried, causes, ends};
use crate::report::answer::lines;
use crate::report::markdown::text;
use crate::report::packets::packets;
use crate::report::plain;
use crate::state::State;
use crate::unlooked::{MAKE_KNOWN, cut_off, unknown_ends};

/// So many further causes stand below the first; the report tells all.
const MAX_FURTHER: usize = 3;

/// So many faults of a second look stand in the answer.
const MAX_ROWS: usize = 6;

/// A text that somebody else wrote is cut behind so many characters.
const MAX_QUOTED_CHARS: usize = 400;

/// The answer of a session. Its texts are data: whoever draws them escapes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `Root cause`, `No fault found` or `Inconclusive`, or what else the report begins with.
    pub verdict: &'static str,
    /// What is wrong, and where: a clause without a full stop. Empty where the verdict says it all.
    pub what: String,
    /// What to do: a sentence. Empty where there is nothing to do.
    pub action: String,
    /// What else is to be known, at most eight lines.
    pub lines: Vec<AnswerLine>,
}

/// A line below the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLine {
    pub label: &'static str,
    pub text: String,
}

impl Answer {
    /// Limits the lines below the sentence.
    pub const MAX_LINES: usize = 8;

    /// Returns the first line: the verdict, and what is wrong.
    #[must_use]
    pub fn title(&self) -> String {
        match self.what.as_str() {
            "" => self.verdict.to_owned(),
            what => format!("{}: {what}", self.verdict),
        }
    }

    /// Returns what is wrong and what to do, as it is said.
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = match (self.what.as_str(), self.what.ends_with(['.', '?', '!'])) {
            ("", _) => format!("{}.", self.verdict),
            (what, true) => what.to_owned(),
            (what, false) => format!("{what}."),
        };
        if self.action.is_empty() { what } else { format!("{what} {}", self.action) }
    }

    /// Returns the answer as the first lines of the report.
    pub(in crate::report) fn markdown(&self) -> String {
        let mut parts = vec![format!("# {}", text(&self.title()))];
        parts.extend((!self.action.is_empty()).then(|| format!("**{}**", text(&self.action))));
        let lines: Vec<String> =
            self.lines.iter().map(|line| format!("- {}: {}", line.label, text(&line.text))).collect();
        parts.extend((!lines.is_empty()).then(|| lines.join("\n")));
        parts.join("\n\n")
    }

    fn say(&mut self, label: &'static str, text: String) {
        self.lines.push(AnswerLine { label, text: plain(&cut(&text)) });
    }
}

/// Returns the answer of a session. It follows from the state alone. A later look that changed nothing stands below the answer that it
/// left as it was.
#[must_use]
pub fn answer(state: &State) -> Answer {
    let mut answer = own_answer(state.shown());
    let replaced = state.concluded.as_ref().and_then(|(_, concluded)| replacement(concluded));
    let news = [("New look", state.stands().map(str::to_owned)), ("Replaces the answer before", replaced)];
    for (label, text) in news.into_iter().rev() {
        if let Some(text) = text {
            answer.lines.insert(0, AnswerLine { label, text: plain(&cut(&text)) });
        }
    }
    answer.lines.truncate(Answer::MAX_LINES);
    answer
}

fn own_answer(state: &State) -> Answer {
    let Some((_, concluded)) = &state.concluded else {
        let mut interim = new("Interim report", "the investigation is still running", "");
        interim.lines.extend(lines::attention(state).map(|(label, text)| AnswerLine { label, text }));
        return interim;
    };
    let mut answer = if concluded.recheck.is_empty() {
        investigated(state, concluded)
    } else {
        checked_again(&concluded.recheck)
    };
    if let Some((label, text)) = lines::attention(state) {
        answer.say(label, text);
    }
    if let Some(wrong) = lines::contradicted(state) {
        answer.say("Forecast contradicted", wrong);
    }
    if let Some(asked) = lines::clean_up(state) {
        answer.say("Clean-up", asked);
    }
    if let Some(left) = lines::left_behind(state) {
        answer.say("Left behind", left);
    }
    if concluded.recheck.is_empty() && !is_conversation(state, concluded) {
        let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
        if let Some(clear) = lines::clear(state, &judged) {
            answer.say("Checked and clear", clear);
        }
        if concluded.outcome != Outcome::Inconclusive {
            unknown_ends(&judged.unknown).into_iter().for_each(|unknown| answer.say("Not known", unknown));
        }
        cut_off(&judged).into_iter().for_each(|cut| answer.say("Not judged", cut));
        answer.say("Not checked", lines::unchecked(state));
        if let Some(otherwise) = lines::platform_disagrees(state) {
            answer.say("Azure disagrees", otherwise);
        }
        if let Some(confidence) = lines::confidence(state) {
            answer.say("Confidence", confidence);
        }
    }
    answer.lines.truncate(Answer::MAX_LINES);
    answer
}

/// Returns what came of the session, in the words of the report's first line.
#[must_use]
pub fn headline(state: &State) -> String {
    answer(state).title()
}

fn new(verdict: &'static str, what: &str, action: &str) -> Answer {
    let what = plain(cut(what).trim_end_matches('.'));
    Answer { verdict, what, action: plain(&cut(action)), lines: Vec::new() }
}

fn investigated(state: &State, concluded: &Concluded) -> Answer {
    if let Some(reply) = changed_reply(state) {
        return reply;
    }
    let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
    let causes = causes(&state.accepted, &judged);
    let mut answer = match concluded.outcome {
        Outcome::Confirmed => found("Root cause", &causes),
        Outcome::Likely => found("Root cause, likely", &causes),
        Outcome::NoFaultFound => none_found(&judged),
        Outcome::Inconclusive => open(state, concluded, &judged),
    };
    let is_whole = judged.unknown.is_empty() && judged.unjudged.is_empty();
    if let Some(reply) = judged.asked().filter(|_| is_whole).and_then(|flow| reply(flow, causes.first())) {
        answer = reply;
    }
    // A session that ended early may have found something all the same.
    let first = if matches!(concluded.outcome, Outcome::Confirmed | Outcome::Likely) { 1 } else { 0 };
    for cause in causes.iter().skip(first).take(MAX_FURTHER) {
        let label = match cause.weight {
            Weight::Blocks | Weight::Exposes | Weight::Degrades if first == 0 => "Found",
            Weight::Blocks => "Also broken",
            Weight::Exposes => "Also open",
            Weight::Degrades => "Also degraded",
            Weight::Unchanged => "Compared",
        };
        answer.say(label, format!("{}. {}", cause.what, cause.action));
    }
    let more = causes.len().saturating_sub(first + MAX_FURTHER);
    if more > 0 {
        answer.say("More", format!("{more} in the report"));
    }
    if let Some(origins) = lines::origins(state) {
        answer.say("Since when", origins);
    }
    if let Some(flows) = lines::flows(&judged) {
        answer.say("Connections", flows);
    }
    if let Some(packets) = packets(state) {
        answer.say("Packets", packets);
    }
    answer
}

/// Answers what was changed, where that was the question and the log was read.
fn changed_reply(state: &State) -> Option<Answer> {
    let Some(LogReading::Read(found, _)) = log_reading(state).filter(|_| changed::is_question(state)) else {
        return None;
    };
    let span = format!("between {} and {}", found.since, found.until);
    let (number, more) = (found.changes.len(), if found.complete { "" } else { ", and the log goes on" });
    let mut answer = match found.changes.as_slice() {
        [] => new("Changes", &format!("none in the activity log {span}{more}"), ""),
        [only] => new("Changes", only, ""),
        some => {
            let mut answer = new("Changes", &format!("{} {span}{more}", number + found.unlisted), "");
            some.iter().take(MAX_ROWS).for_each(|one| answer.say("Changed", one.clone()));
            answer
        }
    };
    let unlisted = number.saturating_sub(if number > 1 { MAX_ROWS } else { 1 }) + found.unlisted;
    if unlisted > 0 {
        answer.say("More", format!("{unlisted} in the report"));
    }
    answer.say("Not recorded there", "what happens inside machines".to_owned());
    Some(answer)
}

/// Answers whether a flow passes; nothing where that is not known, or where what stops it is not among the findings.
pub(super) fn reply(flow: &JudgedFlow, cause: Option<&Cause>) -> Option<Answer> {
    let (ends, carried) = (ends(flow), carried(flow));
    match (flow.verdict, cause, flow.gap()) {
        (FlowVerdict::Passes, None, _) => {
            let what = format!("{ends} {carried} {}, by everything that was read", flow.passing());
            Some(new("Yes", &what, ""))
        }
        (FlowVerdict::Blocked, _, Some(why)) => {
            let what = format!("nothing leads from {ends} {carried}: {}", why.trim_end_matches('.'));
            Some(new("No", &what, "Create that path if it is meant to exist."))
        }
        (FlowVerdict::Blocked, Some(cause), None) => {
            Some(new("No", &format!("{ends} {carried} is blocked: {}", cause.what), &cause.action))
        }
        (FlowVerdict::Degraded, Some(cause), _) => {
            let what = format!("{ends} {carried} passes, but badly: {}", cause.what);
            Some(new("Yes, with a fault", &what, &cause.action))
        }
        (
            FlowVerdict::Passes | FlowVerdict::Blocked | FlowVerdict::Degraded | FlowVerdict::Indeterminate,
            _,
            _,
        ) => None,
    }
}

fn found(verdict: &'static str, causes: &[Cause]) -> Answer {
    match causes.first() {
        Some(first) => new(verdict, &first.what, &first.action),
        None => new(verdict, "", ""),
    }
}

fn none_found(judged: &JudgedFlows) -> Answer {
    let passing: Vec<String> = judged
        .flows
        .iter()
        .filter(|flow| flow.verdict == FlowVerdict::Passes)
        .take(MAX_FURTHER)
        .map(|flow| format!("{} {}", ends(flow), carried(flow)))
        .collect();
    let first = judged.flows.iter().find(|flow| flow.verdict == FlowVerdict::Passes);
    let passes = first.map(JudgedFlow::passing).unwrap_or_default();
    let what = match passing.as_slice() {
        [] => "everything that could explain the symptom was read, and it is clean".to_owned(),
        [only] => format!("{only} {passes}"),
        several => format!("{}: each {passes}", several.join(", ")),
    };
    new("No fault found", &what, "Look at the applications, or ask again while it fails.")
}

fn open(state: &State, concluded: &Concluded, judged: &JudgedFlows) -> Answer {
    let verdict = "Inconclusive";
    if let Some((_, Instruction::Stop | Instruction::Report)) = &state.end_request {
        return new(verdict, "it was stopped before anything was settled", "Mention me here to go on.");
    }
    if let Some(spent) = &state.budget_spent {
        let what =
            format!("the limit of {} {} was reached before anything was settled", spent.limit, spent.what);
        return new(verdict, &what, "Mention me here to go on.");
    }
    if is_conversation(state, concluded) {
        return new(verdict, &cut(&concluded.summary), "");
    }
    if let Some(unknown) = unknown_ends(&judged.unknown) {
        return new(verdict, &unknown, MAKE_KNOWN);
    }
    if let Some(cut) = cut_off(judged) {
        return new(verdict, &cut, "Ask about fewer of them at a time: name the ends and the port.");
    }
    let gap = judged.flows.iter().find_map(|flow| Some((flow, flow.gap()?)));
    if let Some((flow, why)) = gap {
        let what =
            format!("nothing leads from {} {}: {}", ends(flow), carried(flow), why.trim_end_matches('.'));
        return new(verdict, &what, "Create that path if it is meant to exist.");
    }
    let next = concluded.open_questions.first().map(|question| cut(question)).unwrap_or_default();
    let what = if concluded.waived.is_empty() {
        "nothing that was read shows a fault"
    } else {
        "nothing that was read shows a fault, and not everything could be read"
    };
    new(verdict, what, &next)
}

/// Tells whether the playbook answered words that are no incident, or asked which machines are meant: its words are the answer.
fn is_conversation(state: &State, concluded: &Concluded) -> bool {
    let is_question = concluded.open_questions.first() == Some(&concluded.summary);
    let nothing_read = state.steps.is_empty() && concluded.by == "model";
    let by_playbook = is_playbook(&state.opened.investigator);
    if changed::is_question(state) && by_playbook {
        return true;
    }
    concluded.outcome == Outcome::Inconclusive
        && by_playbook
        && !concluded.summary.trim().is_empty()
        && (is_question || nothing_read)
}

/// Tells whether no model thinks here.
pub(in crate::report) fn is_playbook(investigator: &Investigator) -> bool {
    investigator.provider == "playbook"
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_QUOTED_CHARS {
        return line;
    }
    line.chars().take(MAX_QUOTED_CHARS).collect::<String>() + "…"
}

fn checked_again(rows: &[Rechecked]) -> Answer {
    let mut answer = new(recheck::headline(rows), "", "");
    for row in rows.iter().take(MAX_ROWS) {
        let label = match row.now {
            Now::Fixed => "Fixed",
            Now::Broken => "Still broken",
            Now::New => "New",
            Now::Unknown => "Not known",
        };
        answer.say(label, title(&row.code, &row.object));
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        answer.say("More", format!("{more} in the report"));
    }
    answer
}
