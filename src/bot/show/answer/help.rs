//! What can be said to the bot, and what it may run by itself.

use crate::bot::show::Message;
use crate::bot::show::amount::count;
use crate::bot::show::block::{Line, lines, say, small};
use crate::bot::show::text::{length, short};
use ghost_base::Digest;
use ghost_shell::{RuleSummary, Verdict};

/// The length at which a list of programs is cut.
const PROGRAMS: usize = 1_500;

/// In a thread of a session.
const THREAD: [(&str, &str); 8] = [
    ("status", "how far I am"),
    ("report", "stop here and report what I have"),
    ("stop", "stop here"),
    ("audit", "what was recorded, and how to verify it"),
    ("fixed, check again", "repeat the checks that showed the faults"),
    ("how do I fix it?", "any question about the answer; I read nothing again for it"),
    ("help", "this list"),
    ("anything else", "is taken as a hint for the investigation"),
];

const COMMANDS: [(&str, &str); 10] = [
    ("/ghost investigate SYMPTOM", "begin in this channel"),
    ("/ghost status", "what runs here, and whether I work as configured"),
    ("/ghost sessions", "what runs and what ran here"),
    ("/ghost similar NAME", "what was found here before about a machine, a rule or a fault"),
    ("/ghost approvals", "what waits for a decision"),
    ("/ghost usage", "what this channel used, and how long people waited"),
    ("/ghost policy", "what may run without asking"),
    ("/ghost freeze REASON", "hold every new command back, everywhere"),
    ("/ghost thaw", "let commands run again"),
    ("/ghost help", "this list"),
];

/// Returns what can be said.
#[must_use]
pub fn help() -> Message {
    let entry = |(word, means): (&str, &str)| Line::new().code(word).text(&format!("  {means}"));
    let open = Line::new()
        .text("Mention me with what is wrong: who cannot reach whom, on which port, since when. ")
        .text("I look around with commands that only read, and answer in the thread. ")
        .text("Anything that could change something waits for a person to approve it.");
    let thread = Line::new().bold("In the thread of a session").below(lines(THREAD.map(entry)));
    let anywhere = Line::new().bold("Anywhere").below(lines(COMMANDS.map(entry)));
    let blocks = [open, thread, anywhere].map(say).to_vec();
    Message {
        text: "Mention me with what is wrong; in the thread say status, report, stop or audit.".to_owned(),
        blocks,
    }
}

/// Returns what the policy says, in short.
#[must_use]
pub fn policy(rules: &[RuleSummary], digest: Digest) -> Message {
    let of = |wanted: Verdict| rules.iter().filter(move |rule| rule.verdict == wanted);
    let verdicts = [
        (Verdict::Safe, "can run without asking, as far as their options only read"),
        (Verdict::Risky, "ask first"),
        (Verdict::Blocked, "never run"),
    ];
    let blocks =
        verdicts.into_iter().filter(|(verdict, _)| of(*verdict).next().is_some()).map(|(verdict, means)| {
            let mut programs = of(verdict)
                .flat_map(|rule| rule.programs.iter().map(|program| short(program, 40)))
                .collect::<Vec<_>>();
            programs.sort();
            programs.dedup();
            let rules = count(of(verdict).count(), "rule");
            let title = Line::new().bold(verdict.as_str()).text(&format!(" · {rules}: {means}"));
            say(title.below(Line::new().text(&listed(&programs))))
        });
    let mut blocks = blocks.collect::<Vec<_>>();
    blocks.push(say(Line::new().text("What is not recognized asks first.")));
    blocks.push(small(&format!("policy {digest}")));
    Message { text: format!("The policy has {}.", count(rules.len(), "rule")), blocks }
}

fn listed(words: &[String]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if length(&text) + length(word) + 2 > PROGRAMS {
            return format!("{text} … and {} more", words.len() - at);
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(word);
    }
    text
}
