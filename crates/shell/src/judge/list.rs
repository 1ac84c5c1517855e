//! Lists: every command has to be one that may run, or behind `|` a filter.

use super::allow::{self, Allowed, CommandContext};
use super::cost::Cost;
use crate::policy::{Policy, Refusal};
use crate::text::{Command, ListCommand, Row};
use crate::{List, Pipeline, Stage};

/// Returns the words of a command.
pub(super) fn words(command: &Command) -> Vec<&str> {
    command.words.iter().map(|word| word.text.as_str()).collect()
}

/// A command of a list that may not run, and why.
#[derive(Debug)]
pub(super) struct Refused<'s> {
    pub(super) words: Vec<&'s str>,
    /// Why.
    pub(super) refusal: Refusal,
}

/// Judges every command; the refused ones in the order of the text, where there are any.
pub(super) fn judge<'s>(
    policy: &Policy,
    rows: &[Row<'s>],
    guest: bool,
) -> Result<Vec<Vec<Allowed>>, Vec<Refused<'s>>> {
    let mut refused = Vec::new();
    let mut allowed = Vec::new();
    for row in rows {
        let mut stages = Vec::new();
        let mut before: Option<Vec<&str>> = None;
        for step in &row.steps {
            let words = words(step.command);
            let place = CommandContext { behind: before.as_deref(), guest };
            match one(policy, &words, place) {
                Ok(stage) => stages.push(stage),
                Err(refusal) => refused.push(Refused { words: words.clone(), refusal }),
            }
            before = Some(words);
        }
        allowed.push(stages);
    }
    if refused.is_empty() { Ok(allowed) } else { Err(refused) }
}

fn one(policy: &Policy, words: &[&str], place: CommandContext<'_, '_>) -> Result<Allowed, Refusal> {
    let allowed = allow::judge(policy, words, place)?;
    // A carriage return inside quotes is a control character like any other; a line end may part a guest's script.
    let odd = |word: &&str| word.contains('\r') || (word.contains('\n') && !allowed.cloud);
    match words.iter().any(odd) {
        true => Err(Refusal::new("control", "the text holds a line end inside quotes")),
        false => Ok(allowed),
    }
}

/// Adds up what the commands of a list take.
pub(super) fn cost(rows: &[Row<'_>], allowed: &[Vec<Allowed>]) -> Cost {
    let of_row = |(row, stages): (&Row<'_>, &Vec<Allowed>)| {
        Cost::sum(row.steps.iter().zip(stages).map(|(step, stage)| match step.command.repeated {
            true => stage.cost.in_loop(),
            false => stage.cost,
        }))
    };
    Cost::sum(rows.iter().zip(allowed).map(of_row))
}

/// Returns what runs, once every command was allowed.
pub(super) fn list(rows: &[Row<'_>], allowed: Vec<Vec<Allowed>>) -> List {
    let stage = |(step, allowed): (&ListCommand<'_>, Allowed)| Stage {
        argv: run_words(step.command),
        profile: allowed.into_profile(),
        stdout: step.stdout,
        stderr: step.stderr,
    };
    let pipeline = |(row, allowed): (&Row<'_>, Vec<Allowed>)| Pipeline {
        when: row.when,
        stages: row.steps.iter().zip(allowed).map(stage).collect(),
    };
    List { pipelines: rows.iter().zip(allowed).map(pipeline).collect() }
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
