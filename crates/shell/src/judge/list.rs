//! Lists: every command has to be one that may run, or behind `|` a filter.

use std::collections::BTreeMap;

use super::allow::{self, Allowed, CommandContext};
use super::cost::Cost;
use crate::policy::{Policy, Refusal};
use crate::text::{Command, ListCommand, OUTPUT_FILE, Row, Script, WordFill};
use crate::{Fill, List, Pipeline, Stage};

/// Returns the words of a command.
pub(super) fn words(command: &Command) -> Vec<&str> {
    command.words.iter().map(|word| word.text.as_str()).collect()
}

/// Returns the words of a command as they are judged: with a file in the place of a pattern and of `<( … )`.
pub(super) fn judged(command: &Command) -> Vec<&str> {
    command.words.iter().map(crate::text::Word::judged).collect()
}

/// A command of a list that may not run, and why.
#[derive(Debug)]
pub(super) struct Refused<'s> {
    pub(super) words: Vec<&'s str>,
    /// Why.
    pub(super) refusal: Refusal,
    /// The gate would have to put something in the place of one of its words.
    pub(super) is_filled: bool,
}

/// A list every command of which may run.
#[derive(Debug, Default)]
pub(super) struct AllowedList {
    /// What runs.
    pub(super) list: List,
    /// What the commands do, in the order of the text.
    pub(super) reasons: Vec<String>,
    /// One of them is an `az` command.
    pub(super) cloud: bool,
    /// What they take together.
    pub(super) cost: Cost,
}

/// Judges every command; the refused ones in the order of the text, where there are any.
pub(super) fn judge<'s>(
    policy: &Policy,
    script: &'s Script,
    rows: &[Row<'s>],
    guest: bool,
) -> Result<AllowedList, Vec<Refused<'s>>> {
    let mut refused = Vec::new();
    let mut found = AllowedList::default();
    for row in rows {
        let mut stages = Vec::new();
        let mut before: Option<Vec<&str>> = None;
        for step in &row.steps {
            let outputs = outputs(policy, script, step.command, guest, &mut refused);
            let words = judged(step.command);
            let place = CommandContext { behind: before.as_deref(), guest };
            match one(policy, step.command, &words, place) {
                Ok(allowed) => {
                    found.reasons.push(allowed.why.clone());
                    found.cloud |= allowed.cloud;
                    let cost = if step.command.repeated { allowed.cost.in_loop() } else { allowed.cost };
                    found.cost = Cost::sum([found.cost, cost]);
                    stages.push(stage(step, allowed, outputs, &mut found));
                }
                Err(refusal) => {
                    let is_filled =
                        step.command.words.iter().any(|word| word.fill.is_some() || word.stars > 0);
                    refused.push(Refused { words: words.clone(), refusal, is_filled });
                }
            }
            before = Some(words);
        }
        found.list.pipelines.push(Pipeline { when: row.when, stages });
    }
    if refused.is_empty() { Ok(found) } else { Err(refused) }
}

/// Judges what stands in the `<( … )` of a command, by the place of the word.
fn outputs<'s>(
    policy: &Policy,
    script: &'s Script,
    command: &'s Command,
    guest: bool,
    refused: &mut Vec<Refused<'s>>,
) -> BTreeMap<usize, AllowedList> {
    let mut found = BTreeMap::new();
    for (at, word) in command.words.iter().enumerate() {
        let Some(WordFill::Output(commands)) = &word.fill else { continue };
        match judge(policy, script, &script.rows_of(commands.clone()), guest) {
            Ok(inside) => drop(found.insert(at, inside)),
            Err(inside) => refused.extend(inside),
        }
    }
    found
}

fn one(
    policy: &Policy,
    command: &Command,
    words: &[&str],
    place: CommandContext<'_, '_>,
) -> Result<Allowed, Refusal> {
    let mut allowed = allow::judge(policy, words, place)?;
    // A carriage return inside quotes is a control character like any other; a line end may part a guest's script.
    let odd = |word: &&str| word.contains('\r') || (word.contains('\n') && !allowed.cloud);
    if words.iter().any(odd) {
        return Err(Refusal::new("control", "the text holds a line end inside quotes"));
    }
    for word in command.words.iter().filter(|word| word.fill.is_some() || word.stars > 0) {
        // A match of the pattern, or the pipe, has to be a file that the command reads, wherever it stands.
        let times =
            |list: &mut dyn Iterator<Item = &str>| list.filter(|other| *other == word.judged()).count();
        let is_read =
            times(&mut allowed.profile.read.iter().map(String::as_str)) == times(&mut words.iter().copied());
        let (part, what, fits) = match &word.fill {
            Some(WordFill::Output(_)) => {
                ("substitution", "process substitution needs a shell here", is_read && allowed.outputs)
            }
            Some(WordFill::Pattern(_)) => (
                "glob",
                "`*` needs a shell here: it is in no name of a file that the command may read",
                is_read,
            ),
            None => (
                "glob",
                "`*` needs a shell here: one is expanded, in the last part of an absolute path",
                false,
            ),
        };
        if !fits {
            return Err(Refusal::new(part, what));
        }
    }
    allowed.profile.read.retain(|file| !file.contains('\0'));
    Ok(allowed)
}

/// Returns what runs of a command that was allowed.
fn stage(
    step: &ListCommand<'_>,
    allowed: Allowed,
    mut outputs: BTreeMap<usize, AllowedList>,
    found: &mut AllowedList,
) -> Stage {
    let (mut argv, mut fills) = (Vec::new(), BTreeMap::new());
    let dropped = step.command.words.len() - run_words(step.command).len();
    for (at, word) in step.command.words.iter().enumerate().skip(dropped) {
        match &word.fill {
            None => argv.push(word.text.clone()),
            Some(WordFill::Pattern(_)) => {
                fills.insert(argv.len(), Fill::Pattern);
                argv.push(word.text.clone());
            }
            Some(WordFill::Output(_)) => {
                let inside = outputs.remove(&at).unwrap_or_default();
                found.reasons.extend(inside.reasons);
                found.cloud |= inside.cloud;
                found.cost = Cost::sum([found.cost, inside.cost]);
                let fill = Fill::Output(inside.list);
                argv.push(fill.written(OUTPUT_FILE));
                fills.insert(argv.len() - 1, fill);
            }
        }
    }
    Stage { argv, profile: allowed.into_profile(), stdout: step.stdout, stderr: step.stderr, fills }
}

/// Returns the words of each command where nothing but `|` joins them.
pub(super) fn pipeline(rows: &[Row<'_>]) -> Option<Vec<Vec<String>>> {
    match rows {
        [only] if !only.steps.iter().any(|step| step.command.repeated) => {
            Some(only.steps.iter().map(|step| run_words(step.command)).collect())
        }
        _ => None,
    }
}

/// Returns the words of a command as they run.
pub(super) fn run_words(command: &Command) -> Vec<String> {
    allow::without_sudo(&words(command)).iter().map(|&word| word.to_owned()).collect()
}
