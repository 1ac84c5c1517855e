//! Questions about a report, answered from what is recorded: nothing is read again.
//!
//! Goes in: the record of a session, and words. Comes out: an answer of a few lines, or nothing where the words are no question about what
//! was looked at. Never: a claim that no observation of the session shows; work.

use crate::changed::{self, LogReading, log_reading};
use crate::event::{FindingAccepted, ObservationId};
use crate::finding::{Fault, title};
use crate::judged::{FlowVerdict, JudgedCause, JudgedFlow, JudgedFlows, judged};
use crate::listed::{ListedMachine, ListedResources};
use crate::report::answer::{
    answer, carried, causes, confidence, ends, fate, hypothesis_subject, left_behind,
};
use crate::report::looked::Looked;
use crate::report::packets::capture_files;
use crate::report::plain;
use crate::report::step_outcome::{StepOutcome, step_outcome};
use crate::state::{State, Step};
use crate::tool::{Evidence, Registry};
use crate::{HypothesisState, Outcome};

use super::advice::{effect, fix, safe, steps, undo, verify};
use super::question::{Question, question};
use super::wanted::{Wanted, strange_ends, wanted};
use super::what_if::judge;

/// So many lines has an answer.
const MAX_LINES: usize = 6;

/// So many commands are named.
const MAX_COMMANDS: usize = 5;

/// What an answer follows from.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    pub state: &'a State,
    pub tools: &'a Registry,
    /// The texts behind observations.
    pub evidence: &'a dyn Evidence,
    /// Who may consent, in a few words, where that is known.
    pub approvers: Option<&'a str>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUp {
    pub text: String,
    /// What somebody would have to order so that more is known.
    pub look: Option<String>,
}

impl FollowUp {
    const fn new(text: String) -> Self {
        Self { text, look: None }
    }

    fn offering(text: String, look: &str) -> Self {
        Self { text, look: Some(look.to_owned()) }
    }
}

/// Answers a question; `None` where the words are none, or nothing recorded says anything about it.
#[must_use]
pub fn follow_up(recorded: &Recorded<'_>, text: &str) -> Option<FollowUp> {
    let state = recorded.state.shown();
    let recorded = &Recorded { state, ..*recorded };
    let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
    let asked = question(text);
    // Another connection than the one that was asked about is judged on what was read.
    let may_be_flow = matches!(
        asked,
        None | Some(
            Question::Effect | Question::FixedNow | Question::Cause | Question::Layer(_) | Question::Safe
        )
    );
    if may_be_flow && let Some(found) = wanted(recorded, &judged, text, asked.is_none()) {
        // What holds for one end says nothing of another.
        if let Some(unknown) = strange_ends(recorded, &judged, text) {
            return Some(written(FollowUp::offering(format!("{unknown}."), text.trim())));
        }
        if let Some(found) = other_flows(recorded, &found, text) {
            return Some(written(found));
        }
    }
    let found = match asked? {
        Question::ReturnPath => FollowUp::new(return_path(&judged)?),
        Question::SecurityGroup => FollowUp::new(security_groups(state, &judged)?),
        Question::Who => since(state, text),
        Question::Compare => compared(state),
        Question::Unchecked => {
            FollowUp::new(format!("Not checked: {}.", crate::report::answer::unchecked(state)))
        }
        Question::Fix => FollowUp::new(fix(state)?),
        Question::Undo => FollowUp::new(undo(state)?),
        Question::Verify => FollowUp::offering(verify(state)?, CHECK_AGAIN),
        Question::Effect => FollowUp::new(effect(state)?),
        Question::Safe => FollowUp::new(safe(state, recorded.approvers)?),
        Question::WouldHelp => FollowUp::new(would_help(state, &judged)?),
        Question::Approvers => FollowUp::new(approvers(recorded)),
        Question::Summary => FollowUp::new(summary(state, text)),
        Question::Confidence => FollowUp::new(confidence(state).map(|sure| format!("Confidence: {sure}"))?),
        Question::Commands => FollowUp::new(commands(state)),
        Question::Evidence => FollowUp::new(evidence(state)?),
        Question::Recordings => FollowUp::new(recordings(state)),
        Question::DidYouChange => FollowUp::new(did_change(state)),
        Question::FixedNow => fixed_now(state, &judged)?,
        Question::Show => FollowUp::new(shown(state, &judged)?),
        Question::Layer(id) => layer(state, &judged, id)?,
        Question::Cause => FollowUp::new(cause(state, &judged)?),
    };
    Some(written(found))
}

/// The order behind a button that has the findings checked once more.
const CHECK_AGAIN: &str = "check again";

/// Writes an answer as people read it: without names of observations, in a few lines.
fn written(found: FollowUp) -> FollowUp {
    let text = without_ids(&found.text);
    let mut lines: Vec<String> = text.lines().map(plain).collect();
    if lines.len() > MAX_LINES {
        let more = lines.len() - (MAX_LINES - 1);
        lines.truncate(MAX_LINES - 1);
        lines.push(format!("{more} more lines stand in the report."));
    }
    FollowUp { text: lines.join("\n"), look: found.look }
}

/// Says what becomes of connections that nobody asked about before.
fn other_flows(recorded: &Recorded<'_>, wanted: &[Wanted], text: &str) -> Option<FollowUp> {
    let judged: Vec<JudgedFlow> = wanted.iter().filter_map(|one| judge(recorded, one)).collect();
    if judged.is_empty() {
        return None;
    }
    let line = |flow: &JudgedFlow| {
        let name = format!("{} {}", ends(flow), carried(flow));
        let unread: Vec<&str> = flow.missing.iter().take(2).map(|one| one.what.as_str()).collect();
        match (flow.verdict, unread.as_slice()) {
            (FlowVerdict::Indeterminate, []) => format!("{name}: that is not known from what was read."),
            (FlowVerdict::Indeterminate, unread) => {
                format!("{name}: that is not known; not read: {}.", unread.join(", "))
            }
            (_, _) => format!("{name} {}.", fate(flow)),
        }
    };
    let mut lines: Vec<String> = judged.iter().map(line).collect();
    let at = crate::changed::moment(recorded.state.last_at);
    lines.push(format!("Judged on what was read by {at}; nothing was read again."));
    let is_open = judged.iter().any(|flow| flow.verdict == FlowVerdict::Indeterminate);
    let text = text.trim();
    Some(FollowUp { text: lines.join("\n"), look: is_open.then(|| text.to_owned()) })
}

/// Says that nothing recorded answers a question. A new look is offered beside it.
pub const UNANSWERED: &str =
    "I have nothing recorded that answers this, so I looked at nothing, and the report stands.";

/// Says that words behind a report were no order to look.
pub const REMARK: &str = "I take this as a remark: I looked at nothing, and the report stands.";

/// Says which commands ran, by what they looked at.
fn commands(state: &State) -> String {
    let ran: Vec<&Step> =
        state.steps.iter().filter(|step| step_outcome(state, step) == StepOutcome::Ran).collect();
    let mut what: Vec<String> = Vec::new();
    for step in &ran {
        let looked = Looked::by(step, step.current()).plain();
        if !what.contains(&looked) {
            what.push(looked);
        }
    }
    let more = what.len().saturating_sub(MAX_COMMANDS);
    what.truncate(MAX_COMMANDS);
    what.extend((more > 0).then(|| format!("and {more} more, in the report and the audit")));
    format!("{} commands ran. They looked at: {}.", ran.len(), what.join("; "))
}

/// Names the files of recorded packets, as far as there are any.
fn recordings(state: &State) -> String {
    let files: Vec<String> = capture_files(state)
        .into_iter()
        .filter(|file| file.is_recording)
        .map(|file| format!("{}: {}", file.title, file.file))
        .collect();
    match files.as_slice() {
        [] => "No packets were recorded for this report.".to_owned(),
        some => format!("Recorded packets, in the folder of captures:\n{}", some.join("\n")),
    }
}

/// Says what shows each fault.
fn evidence(state: &State) -> Option<String> {
    let line = |found: &FindingAccepted| {
        format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why))
    };
    let lines = unique(state.accepted.iter().map(line));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns lines, each once, as many as are shown.
fn unique(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in all {
        if lines.len() < MAX_LINES && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Takes the names of observations out of a text: "(o1–o11)", "(o3, o4)".
#[must_use]
pub fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('(') {
        let inside = behind.split_once(')').filter(|(inside, _)| {
            let mut ids = inside.split([',', '–']).map(str::trim);
            ids.all(|id| id == "…" || id.parse::<ObservationId>().is_ok())
        });
        match inside {
            Some((_, after)) => {
                out.push_str(before.trim_end());
                rest = after;
            }
            None => {
                out.push_str(before);
                out.push('(');
                rest = behind;
            }
        }
    }
    out + rest
}

fn return_path(judged: &JudgedFlows) -> Option<String> {
    if judged.flows.is_empty() {
        return None;
    }
    let line = |flow: &JudgedFlow| {
        let name = format!("{} {}", ends(flow), carried(flow));
        let back: Vec<&JudgedCause> =
            flow.causes.iter().chain(&flow.behind).filter(|cause| cause.side == "return").collect();
        match (back.as_slice(), flow.verdict) {
            ([], FlowVerdict::Indeterminate) => {
                format!("{name}: not to its end; not everything could be read.")
            }
            ([], _) => format!("{name}: yes, both directions were judged, and nothing stops the answers."),
            (causes, _) => {
                let what = causes.iter().map(|cause| title(&cause.fault, &cause.object)).collect::<Vec<_>>();
                format!("{name}: yes, and the fault is on the return path: {}.", what.join("; "))
            }
        }
    };
    Some(judged.flows.iter().take(MAX_LINES).map(line).collect::<Vec<_>>().join("\n"))
}

/// Takes the names of observations out of what shows a finding; the first reason is enough.
fn bare(why: &str) -> &str {
    let first = why.split("; o").next().unwrap_or(why);
    match first.split_once(": ") {
        Some((id, rest))
            if id.starts_with('o') && id.get(1..).is_some_and(|id| id.parse::<u32>().is_ok()) =>
        {
            rest
        }
        _ => first,
    }
}

fn security_groups(state: &State, judged: &JudgedFlows) -> Option<String> {
    let named: Vec<String> = state
        .accepted
        .iter()
        .filter_map(|found| found.finding.object.strip_prefix("nsg/")?.split_once('/'))
        .map(|(group, rule)| format!("{group}, rule {rule}"))
        .collect();
    if !named.is_empty() {
        return Some(format!("{}.", named.join("; ")));
    }
    let concerned = judged.machines();
    let line = |machine: &ListedMachine| {
        let name = &machine.name;
        let is_concerned = concerned.is_empty() || concerned.contains(name);
        if name.is_empty() || !is_concerned {
            return None;
        }
        let groups: Vec<&str> = machine.security_groups().collect();
        let groups = if groups.is_empty() { "none".to_owned() } else { groups.join(" and ") };
        Some(format!("{name}: {groups}"))
    };
    let lines = unique(machines(state).iter().filter_map(line));
    (!lines.is_empty()).then(|| format!("None of them is at fault. Those on the path:\n{}", lines.join("\n")))
}

/// Returns the machines that were listed last.
pub(in crate::report) fn machines(state: &State) -> Vec<ListedMachine> {
    ListedResources::last(state).map(|listed| listed.machines).unwrap_or_default()
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Returns what is wrong, each fault with what shows it.
fn cause(state: &State, judged: &JudgedFlows) -> Option<String> {
    if let Some(lines) = evidence(state) {
        return Some(lines);
    }
    if state.concluded.is_some() {
        return Some(outcome(state));
    }
    let line = |flow: &JudgedFlow| format!("So far: {} {} {}.", ends(flow), carried(flow), fate(flow));
    let lines = unique(judged.flows.iter().filter(|flow| flow.is_explained()).map(line));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Says in few lines what came of it. A post-mortem is a document of its own.
fn summary(state: &State, text: &str) -> String {
    let said = crate::complaint::folded(text);
    let mut lines = vec![outcome(state)];
    if said.contains("ticket") {
        let (session, at) = (&state.session, crate::changed::moment(state.opened_at));
        lines.insert(0, format!("Problem: {}", first_line(&state.opened.symptom)));
        lines.extend(
            steps(state).first().and_then(|step| step.line("Verify")).map(|line| format!("Verify: {line}")),
        );
        lines.push(format!("Session {session}, opened {at}."));
    }
    if said.contains("mortem") {
        lines.push(format!(
            "The button Post-mortem below the report writes the whole document, and so does `ghost export postmortem {}`.",
            state.session
        ));
    }
    lines.join("\n")
}

/// Returns the answer of the session in a sentence or two, with its verdict where no cause was found.
fn outcome(state: &State) -> String {
    let answer = answer(state);
    let is_found = |outcome| matches!(outcome, Outcome::Confirmed | Outcome::Likely);
    match state.concluded.as_ref().is_some_and(|(_, concluded)| is_found(concluded.outcome)) {
        true => answer.sentence(),
        false => format!("{}. {}", answer.title().trim_end_matches('.'), answer.action).trim().to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Says what Ghost changed: what ran with a person's consent, or nothing.
fn did_change(state: &State) -> String {
    let is_change = |step: &&Step| {
        let of = step_outcome(state, step);
        let risky = step.round().is_some_and(|round| round.classified.verdict == "RISKY");
        risky && matches!(of, StepOutcome::Ran | StepOutcome::Unknown)
    };
    let ran = state.steps.iter().filter(|step| step_outcome(state, step) == StepOutcome::Ran).count();
    let changes: Vec<&Step> = state.steps.iter().filter(is_change).collect();
    if changes.is_empty() {
        return format!("No. {ran} commands ran, and each only read. Nothing was changed.");
    }
    let line = |step: &&Step| {
        let what = Looked::by(step, step.current()).plain();
        let unknown = step_outcome(state, step) == StepOutcome::Unknown;
        format!("{what}{}", if unknown { " (whether it ran to its end is not known)" } else { "" })
    };
    let mut lines = unique(changes.iter().map(line));
    lines.insert(
        0,
        format!("{} of {ran} commands did more than read, each with a person's consent:", changes.len()),
    );
    lines.extend(left_behind(state).map(|left| format!("Left behind: {left}.")));
    lines.join("\n")
}

/// Says who may consent.
fn approvers(recorded: &Recorded<'_>) -> String {
    let who = recorded.approvers.unwrap_or("whoever `[approval]` of the configuration names");
    format!("Consent comes from {who}. Who owns the machines was not read.")
}

/// Says how it was when it was read last; whether it still is takes a look.
fn fixed_now(state: &State, judged: &JudgedFlows) -> Option<FollowUp> {
    state.concluded.as_ref()?;
    let at = crate::changed::moment(state.last_at);
    let flow = judged.flows.iter().find(|flow| flow.is_explained()).or_else(|| judged.flows.first());
    let last = match flow {
        Some(flow) => format!("{} {} {}", ends(flow), carried(flow), fate(flow)),
        None => answer(state).title(),
    };
    Some(FollowUp::offering(
        format!("When it was read last, at {at}: {last}. I did not look since."),
        CHECK_AGAIN,
    ))
}

/// Says what differs from what was kept before.
fn compared(state: &State) -> FollowUp {
    let found = since(state, "");
    if found.look.is_none() {
        return found;
    }
    FollowUp::new(
        "Nothing earlier was compared: this session names no baseline and no session of before. Say \"compare with baseline NAME\", and I do."
            .to_owned(),
    )
}

/// Says whether a restart, a cache or time takes it away.
fn would_help(state: &State, judged: &JudgedFlows) -> Option<String> {
    let (_, concluded) = state.concluded.as_ref()?;
    let all = causes(&state.accepted, judged);
    let Some(first) = all.first().filter(|_| concluded.outcome != Outcome::NoFaultFound) else {
        return Some("Nothing that was read says so: no fault was found that it would take away.".to_owned());
    };
    let starts = |found: &FindingAccepted| {
        matches!(found.finding.code.fault(), Some(Fault::TcpRefused | Fault::NotListening | Fault::VmStopped))
    };
    if state.accepted.iter().any(starts) {
        return Some(format!("It may: {}. {}", first.what, first.action));
    }
    Some(format!("No: {}. That stays as it is until somebody takes it away. {}", first.what, first.action))
}

/// Lists the machines, or the connections with what decides over each.
fn shown(state: &State, judged: &JudgedFlows) -> Option<String> {
    let concerned = judged.machines();
    let place = |machine: &ListedMachine| {
        let parts = [
            Some(machine.addresses.join(", ")).filter(|text| !text.is_empty()),
            machine.subnet.as_ref().map(|subnet| format!("subnet {subnet}")),
            machine.nsg.as_ref().map(|group| format!("security group {group}")),
            machine.route_table.as_ref().map(|table| format!("route table {table}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}: {}", machine.name, parts.join(", "))
    };
    let mut lines: Vec<String> =
        unique(judged.flows.iter().map(|flow| format!("{} {} {}.", ends(flow), carried(flow), fate(flow))));
    lines.truncate(2);
    let of = machines(state)
        .into_iter()
        .filter(|machine| concerned.is_empty() || concerned.contains(&machine.name));
    lines.extend(unique(of.map(|machine| place(&machine))));
    (!lines.is_empty()).then(|| {
        lines.push("The lines as they were read: the button Evidence, or the report.".to_owned());
        lines.join("\n")
    })
}

fn since(state: &State, text: &str) -> FollowUp {
    let mut lines: Vec<String> = Vec::new();
    for (origin, _) in changed::origins(state) {
        lines.push(format!("{}.", capital(&origin.sentence)));
    }
    if let Some(LogReading::Unread(why)) = log_reading(state) {
        lines.push(format!("The activity log was not read: {why}."));
    }
    let dated: Vec<String> = state
        .accepted
        .iter()
        .filter(|found| found.why.contains("baseline"))
        .map(|found| format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why)))
        .collect();
    lines.extend(dated);
    if lines.is_empty() {
        let none = "That is not known: nothing that was read carries a date, and no baseline was compared.";
        return FollowUp::offering(none.to_owned(), text);
    }
    FollowUp::new(lines.join("\n"))
}

/// The kinds of objects of a layer.
fn objects_of(id: &str) -> &'static [&'static str] {
    match id {
        "H-rules" => &["nsg/"],
        "H-guest" => &["netfilter/"],
        "H-routes" => &["route/"],
        "H-shaping" => &["qdisc/"],
        "H-storage" => &["storage/", "subnet/"],
        "H-wire" => &["flow/", "host/"],
        "H-sockets" => &["flow/", "host/", "lb/", "appgw/"],
        "H-names" => &["dns/"],
        "H-cluster" => &["cluster/"],
        _ => &[],
    }
}

/// Says whether it is a layer: found there, checked and clear, or not looked at.
fn layer(state: &State, judged: &JudgedFlows, id: &str) -> Option<FollowUp> {
    let name = hypothesis_subject(id)?;
    let is_there = |object: &str| objects_of(id).iter().any(|prefix| object.starts_with(prefix));
    let found = state.accepted.iter().filter(|found| is_there(&found.finding.object));
    let mut lines: Vec<String> = unique(found.map(|found| {
        format!("Yes: {} ({}).", title(&found.finding.code, &found.finding.object), bare(&found.why))
    }));
    let all = causes(&state.accepted, judged);
    let other = all.first().filter(|_| lines.is_empty());
    let mut look = None;
    if let Some(hypothesis) = state.hypothesis(id).filter(|_| lines.is_empty()) {
        let why = hypothesis.why.as_deref().map(str::trim).filter(|why| !why.is_empty());
        match hypothesis.state {
            HypothesisState::Refuted => {
                lines.push(
                    format!("No: {name} checked and clear. {}", why.unwrap_or_default()).trim().to_owned(),
                );
            }
            HypothesisState::Unverifiable => {
                lines.push(
                    format!("{} could not be checked. {}", capital(name), why.unwrap_or_default())
                        .trim()
                        .to_owned(),
                );
                look = Some(format!("check {name}"));
            }
            HypothesisState::Active
            | HypothesisState::Confirmed
            | HypothesisState::Contradicted
            | HypothesisState::Withdrawn => {}
        }
    }
    let noticed = judged.noticed.iter().filter(|one| is_there(&one.object));
    lines.extend(
        noticed.take(2).map(|one| format!("Noticed, and not the cause: {}; {}.", one.what, one.why_not)),
    );
    if lines.is_empty() {
        match other {
            Some(_) => lines.push(format!("Not looked at: {name}. What was found explains it without.")),
            None => lines.push(format!("Not looked at: {name}.")),
        }
        look = Some(format!("check {name}"));
    }
    lines.extend(other.map(|cause| format!("What it is: {}.", cause.what)));
    Some(FollowUp { text: lines.join("\n"), look })
}
