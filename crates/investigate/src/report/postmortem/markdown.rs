//! The document as Markdown.

use std::time::Duration;

use super::document::{
    ActionItem, Decided, EvidenceLine, Postmortem, PostmortemCause, ShownLine, Times, VerifiedFault,
};
use super::timeline::place;
use crate::event::Now;
use crate::report::amount::time;
use crate::report::markdown::{code, inline, quote, table, text};
use crate::report::rca::{LABELS, capital};

/// It does not fit where it should stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the post-mortem has {length} characters, and {most} fit there")]
pub struct TooLong {
    pub length: usize,
    pub most: usize,
}

impl Postmortem {
    /// Writes the whole document as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.written(self.evidence.len())
    }

    /// Writes the document as Markdown of at most so many characters. The list of what was read is left out first, and says so.
    ///
    /// # Errors
    /// Fails where the rest is too long by itself: nothing else may be missing.
    pub fn markdown_within(&self, most: usize) -> Result<String, TooLong> {
        let whole = self.markdown();
        if whole.chars().count() <= most {
            return Ok(whole);
        }
        let short = self.written(0);
        let length = short.chars().count();
        if length <= most { Ok(short) } else { Err(TooLong { length, most }) }
    }

    fn written(&self, shown: usize) -> String {
        let sections = [
            format!("# Post-mortem: {}", text(&self.title)),
            text(&self.summary),
            self.facts(),
            format!("## Symptom\n\n{}", quote(&self.symptom)),
            self.moments(),
            section(
                "Causes",
                self.causes.iter().zip(1..).map(|(one, number)| cause(number, one)),
                "No fault is borne out by the evidence.",
            ),
            self.changes(),
            section("Decisions", self.decisions.iter().map(decision), "Nobody had to be asked."),
            section(
                "What was changed",
                self.changed.iter().map(line),
                "Nothing: no command that changes something was carried out here.",
            ),
            section(
                "What was verified",
                self.verified.iter().map(verified),
                "Nobody checked again after the report.",
            ),
            section("What was ruled out", self.ruled_out.iter().map(line), "Nothing was."),
            section(
                "What was not checked",
                self.not_checked.iter().map(line),
                "Nothing was named as left out. What the programs themselves do was not looked at.",
            ),
            self.todo(),
            self.read(shown),
            self.check(),
        ];
        sections.join("\n\n") + "\n"
    }

    fn facts(&self) -> String {
        let times = &self.times;
        let mut rows = vec![
            ("Session", code(&self.session)),
            (
                "Outcome",
                match (self.outcome, self.confidence) {
                    (Some(outcome), Some(confidence)) => format!("{outcome}, confidence {confidence}"),
                    (_, _) => "none yet: the investigation is still running".to_owned(),
                },
            ),
            (
                "First symptom",
                format!("{} ({})", moment(&times.first_symptom), text(&times.first_symptom_from)),
            ),
            (
                "Reported",
                format!(
                    "{} by {} in {}",
                    moment(&times.reported),
                    text(&self.asked_by),
                    text(place(&self.place))
                ),
            ),
        ];
        rows.extend(self.alert.as_ref().map(|alert| {
            let severity =
                alert.severity.as_deref().map(|word| format!(", {}", text(word))).unwrap_or_default();
            ("Alert", format!("{}{severity}", text(&alert.title)))
        }));
        let after = |seconds: Option<u64>| seconds.map(|seconds| format!("after {}", length(seconds)));
        rows.extend(after(times.acknowledged_after_seconds).map(|after| ("Acknowledged", after)));
        rows.extend(after(times.cause_after_seconds).map(|after| ("Cause found", after)));
        rows.extend(after(times.answered_after_seconds).map(|after| ("Answered", after)));
        rows.extend(waited(times).map(|waited| ("Waited for people", waited)));
        rows.push((
            "Verified fixed",
            match &times.verified {
                Some(at) => moment(at),
                None if self.causes.is_empty() => "there was nothing to fix".to_owned(),
                None => "not yet".to_owned(),
            },
        ));
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(name, value)| vec![name.to_owned(), cell(value)]).collect();
        table(&["What", "When, who"], &rows)
    }

    fn moments(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .timeline
            .iter()
            .map(|one| vec![moment(&one.at), cell(text(&one.text)), one.evidence.join(", ")])
            .collect();
        format!("## Timeline\n\nTimes are UTC.\n\n{}", table(&["When", "What", "Shown by"], &rows))
    }

    fn changes(&self) -> String {
        let log = &self.activity_log;
        let intro = text(&log.read);
        let lines: Vec<String> = log.changes.iter().map(line).collect();
        let below = if lines.is_empty() { String::new() } else { format!("\n\n{}", lines.join("\n")) };
        format!("## Changes before it\n\n{intro}{below}")
    }

    fn todo(&self) -> String {
        let intro = match &self.times.verified {
            Some(at) => format!(
                "The faults were gone at {} UTC. Which of these were carried out, and by whom, is not recorded here.\n\n",
                moment(at)
            ),
            None => String::new(),
        };
        let items = self.actions.iter().map(action).collect::<Vec<_>>();
        let items = if items.is_empty() { "None.".to_owned() } else { items.join("\n") };
        format!("## Action items\n\n{intro}{items}")
    }

    fn read(&self, shown: usize) -> String {
        let title = "## What was looked at";
        if self.evidence.is_empty() {
            return format!("{title}\n\nNothing was observed.");
        }
        if shown == 0 {
            let count = self.evidence.len();
            return format!(
                "{title}\n\n{count} observations; the list does not fit here, `ghost export postmortem {}` has it.",
                self.session
            );
        }
        let row =
            |one: &EvidenceLine| vec![one.id.clone(), cell(text(&one.what)), text(&one.how), moment(&one.at)];
        let rows: Vec<Vec<String>> = self.evidence.iter().map(row).collect();
        format!("{title}\n\n{}", table(&["Observed", "What", "How", "When"], &rows))
    }

    fn check(&self) -> String {
        let session = &self.session;
        let head = self.audit_head.as_deref().map(|head| format!(" --head {head}")).unwrap_or_default();
        format!(
            "## How to check this\n\n`o3` is an observation of the list above, `s2` a command of the audit, `e14` an event of the session. Where a model \
             investigated, the action items and open questions are in its words; everything else follows from what was recorded.\n\n```text\nghost sessions show {session}\nghost audit verify DATA/audit/{session}.jsonl{head}\n```\n\nIts last event is {}.",
            code(&self.head)
        )
    }
}

/// Writes a section as a list, or what stands there where there is nothing to list.
fn section(title: &str, lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines = lines.collect::<Vec<_>>();
    let below = if lines.is_empty() { none.to_owned() } else { lines.join("\n") };
    format!("## {title}\n\n{below}")
}

/// Returns a moment to the second.
fn moment(at: &str) -> String {
    let seconds = at.split_once('.').map_or(at, |(seconds, _)| seconds);
    text(&seconds.trim_end_matches('Z').replace('T', " "))
}

fn length(seconds: u64) -> String {
    time(Duration::from_secs(seconds))
}

fn waited(times: &Times) -> Option<String> {
    (times.waited_for_people_seconds > 0).then(|| length(times.waited_for_people_seconds))
}

/// Prose may stand in a cell; a code span's bars may not.
fn cell(markdown: String) -> String {
    markdown.replace('|', "&#124;")
}

fn shown_by(evidence: &[String]) -> String {
    if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(", ")) }
}

fn line(one: &ShownLine) -> String {
    format!("- {}{}", text(&one.text), shown_by(&one.evidence))
}

fn cause(number: usize, cause: &PostmortemCause) -> String {
    let marker = format!("{number}. ");
    let indent = " ".repeat(marker.len());
    let mut lines = vec![format!("{marker}**{}**{}", text(&cause.title), shown_by(&cause.evidence))];
    lines.extend(cause.shown.iter().map(|why| format!("{indent}- Shown: {}", inline(why))));
    lines.extend(cause.proof.iter().filter_map(|proof| {
        let quote = proof.quote.as_deref()?;
        Some(format!("{indent}- {} says {}", proof.observation, code(quote)))
    }));
    lines.extend(cause.effect.iter().map(|effect| format!("{indent}- Effect: {}", text(effect))));
    let since = cause.since.as_deref().map_or_else(|| "not known".to_owned(), text);
    lines.push(format!("{indent}- Since when: {since}"));
    lines.join("\n")
}

fn decision(one: &Decided) -> String {
    let by = one.by.as_deref().map(|by| format!(" by {}", text(by))).unwrap_or_default();
    let at = one.at.as_deref().map(|at| format!(" at {}", moment(at))).unwrap_or_default();
    let mut lines =
        vec![format!("- **{}**: {}{by}{at}{}", text(&one.what), one.answer, shown_by(&one.evidence))];
    lines.extend(one.commands.iter().map(|command| format!("  - {}", code(command))));
    let impact = one.impact.as_str();
    let foreseen = one.forecast.as_deref().map_or_else(|| "not judged".to_owned(), text);
    lines.push(format!("  - Asked {}; impact: {impact}; forecast: {foreseen}", moment(&one.asked_at)));
    lines.extend(one.reason.iter().map(|reason| match one.answer.as_str() {
        "modified" => format!("  - Changed to {}", code(reason)),
        _ => format!("  - Reason: {}", text(reason)),
    }));
    let votes: Vec<String> = one
        .votes
        .iter()
        .map(|vote| {
            format!("{} {} at {}", text(&vote.by), if vote.approves { "yes" } else { "no" }, moment(&vote.at))
        })
        .collect();
    lines.extend((votes.len() > 1).then(|| format!("  - Votes: {}", votes.join("; "))));
    lines.extend(one.checked.iter().map(|checked| format!("  - Looked again: {}", text(checked))));
    lines.extend((!one.then.is_empty()).then(|| format!("  - Then: {}", text(&one.then))));
    lines.join("\n")
}

fn verified(one: &VerifiedFault) -> String {
    let word = match one.now {
        Now::Fixed => "fixed",
        Now::Unknown => "not known",
        Now::Broken => "still broken",
        Now::New => "new",
    };
    let before = if one.before.is_empty() { "not there".to_owned() } else { inline(&one.before) };
    format!(
        "- {}: **{word}** at {}{}\n  - Before: {before}\n  - Now: {}",
        text(&one.title),
        moment(&one.at),
        shown_by(&one.evidence),
        inline(&one.after)
    )
}

fn action(item: &ActionItem) -> String {
    let mut lines = vec![format!("- [ ] {}{}", inline(&item.text), shown_by(&item.evidence))];
    lines.extend(item.details.iter().map(|detail| match detail.split_once(": ") {
        Some((label, rest)) if LABELS.contains(&label) => {
            format!("  - **{}:** {}", capital(label), inline(rest))
        }
        Some(_) | None => format!("  - {}", inline(detail)),
    }));
    lines.join("\n")
}
