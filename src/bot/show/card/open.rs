//! The card that asks.

use serde_json::Value;

use crate::bot::show::amount::{clock, count, minutes};
use crate::bot::show::block::{
    Line, Tone, button, confirm, labeled, lines, named_actions, pre, quote, rich, say, section,
};
use crate::bot::show::board::notice;
use crate::bot::show::card::diff::{DiffSegment, diff};
use crate::bot::show::card::subject::Subject;
use crate::bot::show::card::target::target;
use crate::bot::show::text::{
    command, escape, head, length, paragraph, prose, short, short_command, spelled,
};
use crate::bot::show::{Message, Person, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::event::{Impact, PlanJudgement};
use ghost_investigate::report::{AskedAction, forecast};
use ghost_shell::lookalikes;

/// How much of a command stands on the card.
const COMMAND: usize = 2_900;

/// How much of the reasoning does.
const REASONING: usize = 2_000;

/// How much of a change does.
const CHANGE: usize = 1_200;

/// How many rules of a plan are shown.
const RULES: usize = 5;

/// So many targets of a plan are named; more do not fit.
const TARGETS: usize = 20;

/// How much of the command that takes a change back stands there.
const UNDO: usize = 400;

/// So many people and groups who may decide are named.
const DECIDERS: usize = 5;

/// Draws the card: what is asked, the exact commands, who decides until when, what it changes.
pub(super) fn draw(subject: &Subject<'_>, context: &RenderContext, now: Timestamp) -> Message {
    let requested = &subject.approval.requested;
    let asked = subject.action();
    let mut blocks = vec![say(title(subject, &asked))];
    let (shown, left) = command(&subject.shown(), COMMAND);
    let is_overview = left > 0 && requested.is_plan();
    let shown = if is_overview { subject.overview(COMMAND) } else { shown };
    blocks.push(rich(vec![pre(&shown)]));
    if is_overview {
        blocks.push(say(Line::new().bold("Shortened").text(&format!(
            ": each command is cut to a line here. The file {} in this thread holds all of them word for word.",
            file_name(subject)
        ))));
    } else if left > 0 {
        blocks.push(say(Line::new()
            .bold(&format!("continues: {}", count(left, "more character")))
            .text(&format!(". The file {} in this thread holds the whole command.", file_name(subject)))));
    }
    blocks.extend(change(subject, context));
    blocks.push(say(who_and_until(subject, context, now)));
    blocks.push(why(subject));
    blocks.push(say(facts(subject, context, &asked)));
    if let Some(frozen) = &context.frozen {
        blocks.push(say(notice(frozen, context)));
    }
    blocks.push(named_actions("card", buttons(subject, context, left, &asked)));
    let unknown = if requested.outcome_unknown { ", outcome unknown" } else { "" };
    let text = format!(
        "Approval needed{unknown} · {} · {} · until {}: {}",
        escape(&asked.what),
        requested.impact.as_str(),
        clock(requested.expires_at),
        escape(&short_command(&subject.shown(), 300)),
    );
    Message { text, blocks }
}

fn title(subject: &Subject<'_>, asked: &AskedAction) -> Line {
    let requested = &subject.approval.requested;
    let line = Line::new().bold(&format!("Approval needed: {}", asked.what));
    let line = if requested.outcome_unknown { line.text(" · ").bold("outcome unknown") } else { line };
    if requested.is_plan() {
        let commands = count(requested.plan.len(), "command");
        return line.below(
            Line::new()
                .text(&format!("One answer for {commands}, which run in this order, each once at most.")),
        );
    }
    if !requested.outcome_unknown {
        return line;
    }
    line.below(Line::new().text(
        "An earlier run of this command was cut off: nobody knows whether it took effect. Look at the target first. \
         Approve runs it once more, Deny leaves things as they are.",
    ))
}

/// Says who may decide, and until when.
fn who_and_until(subject: &Subject<'_>, context: &RenderContext, now: Timestamp) -> Line {
    let requested = &subject.approval.requested;
    let line = fact("Who decides").then(deciders(subject, context));
    let line = line.text(" · until ").time(requested.expires_at, "{time}");
    let line =
        line.text(&format!(" (in {})", minutes(requested.expires_at.since(now)))).text(" · asked for by ");
    line.person(&context.people.find(&subject.state.opened.requester))
}

fn deciders(subject: &Subject<'_>, context: &RenderContext) -> Line {
    let Some(deciders) = &context.deciders else {
        return Line::new().text("whoever the configuration names");
    };
    let of = deciders.of(subject.approval.requested.impact);
    let mut line = Line::new();
    for group in of.groups.iter().take(DECIDERS) {
        line = if line.is_empty() { line } else { line.text(", ") }.group(group);
    }
    for user in of.users.iter().take(DECIDERS) {
        line = if line.is_empty() { line } else { line.text(", ") };
        line = line.person(&Person::Member(user.clone()));
    }
    let more = of.groups.len().saturating_sub(DECIDERS) + of.users.len().saturating_sub(DECIDERS);
    if line.is_empty() {
        return line.text("nobody: no approver is named for this");
    }
    if more > 0 { line.text(&format!(" and {more} more")) } else { line }
}

/// Returns what a human changed, in words that are marked.
fn change(subject: &Subject<'_>, context: &RenderContext) -> Option<Value> {
    let (who, before) = subject.changed()?;
    let line = Line::new().person(&context.people.find(who)).text(" changed this command");
    let line = match (context.modifier, subject.approval.requested.votes_needed) {
        (true, _) => line,
        (false, 0 | 1) => line.bold("; somebody else has to approve it"),
        (false, _) => line.bold("; their approval alone is not enough"),
    };
    let line = line.text(&format!(". Round {}, from what was asked before:", subject.judged.round));
    let mut marked = Line::new();
    let mut room = CHANGE;
    for segment in diff(before, &subject.judged.command) {
        let (words, mark) = match &segment {
            DiffSegment::Same(words) => (prose_ends(words), ""),
            DiffSegment::Gone(words) => (short(words, 400), "−"),
            DiffSegment::New(words) => (short(words, 400), "+"),
        };
        room = room.saturating_sub(length(&words) + 3);
        if room == 0 {
            marked = marked.text(" …");
            break;
        }
        let blank = if marked.is_empty() { "" } else { " " };
        marked = marked.text(&format!("{blank}{mark}"));
        marked = match segment {
            DiffSegment::Same(_) => marked.text(&words),
            DiffSegment::Gone(_) => marked.strike(&words),
            DiffSegment::New(_) => marked.bold(&words),
        };
    }
    Some(rich(vec![section(line), quote(marked)]))
}

/// Returns the two ends of words that did not change.
fn prose_ends(words: &str) -> String {
    let all = words.split(' ').collect::<Vec<_>>();
    match all.as_slice() {
        [first, .., before, last] if all.len() > 4 => {
            format!("{} … {} {}", short(first, 60), short(before, 60), short(last, 60))
        }
        _ => short(words, 240),
    }
}

fn why(subject: &Subject<'_>) -> Value {
    let (reasoning, left) = paragraph(subject.reasoning(), REASONING);
    let reasoning = match (reasoning.is_empty(), subject.judged.round) {
        (false, _) => reasoning,
        (true, 0 | 1) => "No reason was given.".to_owned(),
        (true, _) => "No reason was given for the command as it is now.".to_owned(),
    };
    let line = Line::new().text(&sentence(&reasoning));
    let line = match left {
        0 => line,
        left => line.bold(&format!(" continues: {}", count(left, "more character"))),
    };
    rich(vec![section(Line::new().bold("Why")), quote(line)])
}

/// Makes a sentence of words that are none.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let end = if rest.ends_with(['.', '?', '!', '…', ':']) { "" } else { "." };
    // A name in small letters stays as it is.
    let word: String = words.chars().take_while(|char| !char.is_whitespace()).collect();
    if word.chars().all(|char| char.is_ascii_lowercase()) {
        return format!("{}{rest}{end}", first.to_uppercase());
    }
    format!("{words}{end}")
}

fn facts(subject: &Subject<'_>, context: &RenderContext, asked: &AskedAction) -> Line {
    let impact = subject.approval.requested.impact;
    let agent = subject.state.opened.outside.as_ref().map(|asked| &asked.request);
    let agent = agent.map(|asked| {
        let (agent, machine) = (prose(&asked.agent, 80), prose(&asked.machine, 120));
        fact("Agent").text(&format!("{agent} on {machine} in {}", prose(&asked.folder, 300)))
    });
    let mut all: Vec<Line> = agent.into_iter().collect();
    all.extend([
        fact("Risk").bold(impact.as_str()).text(&format!(" ({})", impact.meaning())),
        fact("What changes").text(&asked.changes),
    ]);
    all.extend(foreseen(subject));
    let judged = subject.approval.requested.forecast.as_ref();
    all.push(match judged.and_then(|foreseen| foreseen.undo.as_deref()) {
        Some(back) => fact("To undo it").code(&spelled(&short(back, UNDO))),
        None if judged.is_some_and(|foreseen| foreseen.is_undone_later) => fact("To undo it")
            .text("The command is named here after the run: the kernel numbers the rule then."),
        None => fact("To undo it").text(&asked.undone),
    });
    all.extend(rules(subject));
    let dressed = lookalikes(&subject.shown());
    all.extend((!dressed.is_empty()).then(|| fact("Look-alike").text(&dressed.join("; "))));
    all.extend(targets(subject));
    // What runs elsewhere runs as whoever the agent is.
    let acts_as = context.acts_as.as_deref().filter(|_| subject.state.opened.outside.is_none());
    all.extend(acts_as.map(|identity| fact("Runs as").text(&prose(identity, 200))));
    all.extend(subject.hypothesis(200).map(|hypothesis| fact("Tests whether").text(&hypothesis)));
    let commands: Vec<&str> = subject.commands().collect();
    let tried = || forecast(subject.state, &commands).map(|words| fact("Forecast").text(&prose(&words, 400)));
    all.extend(subject.approval.requested.forecast.is_none().then(tried).flatten());
    all.extend(votes(subject, context).map(|votes| fact("Approvals").then(votes)));
    lines(all)
}

/// Says what the change does to flows, judged on what was read.
fn foreseen(subject: &Subject<'_>) -> Vec<Line> {
    let Some(foreseen) = &subject.approval.requested.forecast else { return Vec::new() };
    let words = prose(&foreseen.words, 300);
    let mut all = vec![match foreseen.verdict.as_str() {
        "harmful" => fact("Forecast: harmful").text(&sentence(&words)),
        "harmless" => fact("Forecast")
            .text(&sentence(&format!("cuts nothing and opens nothing to the internet; {words}"))),
        _ => fact("Forecast: unknown").text(&sentence(&words)),
    }];
    all.extend(foreseen.flows.iter().map(|flow| Line::new().text(&format!("• {}", prose(flow, 240)))));
    if foreseen.more > 0 {
        all.push(Line::new().italic(&format!("… and {}", count(foreseen.more as usize, "more flow"))));
    }
    all
}

fn fact(label: &str) -> Line {
    Line::new().bold(&format!("{label}:")).text(" ")
}

/// Returns why it asks; of a plan for the commands that need consent, each reason once.
fn rules(subject: &Subject<'_>) -> Vec<Line> {
    let (requested, judged) = (&subject.approval.requested, subject.judged);
    let one =
        |numbers: &str, reason: &str| fact(&format!("Why it asks{numbers}")).sentence(&prose(reason, 300));
    if requested.judgements.is_empty() {
        return vec![one("", &judged.reason)];
    }
    let mut shown_lines: Vec<(&PlanJudgement, Vec<usize>)> = Vec::new();
    for (judged, at) in requested.judgements.iter().zip(1..).filter(|(judged, _)| judged.impact.is_some()) {
        let same = |(other, _): &&mut (&PlanJudgement, _)| other.reason == judged.reason;
        match shown_lines.iter_mut().find(same) {
            Some((_, numbers)) => numbers.push(at),
            None => shown_lines.push((judged, vec![at])),
        }
    }
    let more = shown_lines.len().saturating_sub(RULES);
    let mut rules: Vec<Line> = shown_lines
        .iter()
        .take(RULES)
        .map(|(judged, numbers)| one(&format!(" ({})", short(&ranges(numbers), 60)), &judged.reason))
        .collect();
    if more > 0 {
        rules.push(Line::new().italic(&format!("… and {}", count(more, "more reason"))));
    }
    rules
}

/// Writes numbers as people do: `1, 3–14`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let run = |(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Returns every machine, rule or device that is aimed at, each once.
fn targets(subject: &Subject<'_>) -> Option<Line> {
    let mut all: Vec<String> = Vec::new();
    for found in subject.commands().filter_map(target) {
        if !all.contains(&found) {
            all.push(found);
        }
    }
    let more = all.len().saturating_sub(TARGETS);
    all.truncate(TARGETS);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    (!all.is_empty()).then(|| fact("Target").text(&all.join(", ")))
}

/// Returns who voted and how many are missing; nothing where one vote decides.
fn votes(subject: &Subject<'_>, context: &RenderContext) -> Option<Line> {
    let (needed, votes) = (subject.approval.requested.votes_needed, &subject.approval.votes);
    if needed <= 1 && votes.is_empty() {
        return None;
    }
    let yes = votes.iter().filter(|vote| vote.approves).count();
    let needed = usize::try_from(needed).unwrap_or(usize::MAX);
    let mut line = Line::new().text(&format!("{yes} of {needed}"));
    for vote in votes.iter().take(10) {
        let said = if vote.approves { "yes at" } else { "no at" };
        line = line.text(" · ").person(&context.people.find(&vote.who)).text(&format!(" {said} "));
        line = line.time(vote.at, "{time}");
    }
    let missing = needed.saturating_sub(yes);
    Some(if missing > 0 { line.text(&format!(" · {missing} more, each somebody else")) } else { line })
}

/// Returns the word for a tier.
pub(in crate::bot::show) fn tier(number: u8) -> &'static str {
    match number {
        0 => "never runs",
        1 => "program",
        2 => "az",
        3 => "pattern in the text",
        _ => "not recognized",
    }
}

fn buttons(subject: &Subject<'_>, context: &RenderContext, left: usize, asked: &AskedAction) -> Vec<Value> {
    let id = subject.name;
    let label = |verb: &str| format!("{verb}: {}", asked.what);
    let deny = labeled("deny", "Deny…", &label("Deny"), id, Tone::Danger, None);
    let mut row = match context.frozen {
        // What nobody may start nobody needs to be asked about; a no is always taken.
        Some(_) => vec![deny],
        None => {
            let sure = sure(subject, left);
            vec![labeled("approve", "Approve", &label("Approve"), id, Tone::Primary, sure), deny]
        }
    };
    if context.frozen.is_none() && subject.is_changeable() {
        row.push(labeled("modify", "Modify…", &label("Modify"), id, Tone::Normal, None));
    }
    if is_cut(subject) {
        row.push(button("whole", "Whole command", id, Tone::Normal, None));
    }
    row
}

/// Returns the question before an approval, where a slip of the finger could do harm.
fn sure(subject: &Subject<'_>, left: usize) -> Option<Value> {
    let requested = &subject.approval.requested;
    let mut reasons = Vec::new();
    match requested.impact {
        Impact::Measurement => {}
        Impact::Outage => {
            reasons.push(
                "It stops or restarts something that others use, and Ghost does not undo it.".to_owned(),
            );
        }
        Impact::Change => {
            reasons.push("It may change something, and Ghost does not roll it back.".to_owned());
        }
    }
    if requested.outcome_unknown {
        reasons.push("It may have taken effect already; this runs it once more.".to_owned());
    }
    if left > 0 {
        reasons.push(format!("{} of it do not stand on the card.", count(left, "character")));
    }
    if reasons.is_empty() {
        return None;
    }
    let text = format!("{}\n{}", reasons.join(" "), short_command(&subject.shown(), 120));
    let asked = if requested.is_plan() { "Run exactly these commands?" } else { "Run exactly this command?" };
    Some(confirm(asked, &text, "Approve", "Back", Tone::Danger))
}

/// Tells whether the card shows less than there is.
pub(super) fn is_cut(subject: &Subject<'_>) -> bool {
    let cut = |data: &str, most| head(data, most).1 > 0 || length(&spelled(data)) > most;
    command(&subject.shown(), COMMAND).1 > 0 || cut(subject.reasoning(), REASONING)
}

/// Returns the name of the file that holds what the card cannot show.
pub(super) fn file_name(subject: &Subject<'_>) -> String {
    // One of a plan asks again where something was found; then there is more than one question in a round.
    let before =
        subject.state.approvals.values().filter(|other| other.asked_at < subject.approval.asked_at).count();
    format!("commands-{}.txt", before + 1)
}
