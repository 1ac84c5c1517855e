//! Scripts for a guest: read-only commands in a row, and pipes into filters.

use super::allow::{self, Allowed};
use crate::shell::policy::{Policy, Refusal, brief};
use crate::shell::text::{self, Command, Link, Need, Redirect, RedirectKind};

/// Judges a script line by line; every command in it has to be one that only reads.
pub(super) fn judge(policy: &Policy, script: &str) -> Result<(), Refusal> {
    if let Some((_, what)) = text::oddity(script) {
        return Err(Refusal::new("script", format!("the script holds {what}")));
    }
    if script.contains('\r') {
        return Err(Refusal::new("script", "the script holds a control character"));
    }
    let script = text::read(script);
    if let Some(opened) = script.broken {
        return Err(Refusal::new("script", format!("{opened} is not closed in the script")));
    }
    if !script.needs.only(&[Need::Chain, Need::Pipe, Need::Redirect]) || script.quoted_line_end {
        return Err(Refusal::new("script", "the script holds more than commands, chains and pipes"));
    }
    if script.commands.is_empty() {
        return Err(Refusal::missing("a script"));
    }
    script.commands.iter().try_for_each(|command| judge_command(policy, command))
}

fn judge_command(policy: &Policy, command: &Command) -> Result<(), Refusal> {
    if let Some(redirect) = command.redirects.iter().find(|redirect| !is_harmless(redirect)) {
        return Err(Refusal::new("script", format!("the script redirects to `{}`", brief(&redirect.target))));
    }
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    let words = without_sudo(&words);
    let Some((program, arguments)) = words.split_first() else { return Err(Refusal::missing("a command")) };
    let allowed = |entry: &crate::shell::policy::Entry| allow::fits(policy, entry, program, arguments);
    if let Some(entry) = policy.filter(program).filter(|_| command.before == Link::Pipe) {
        return allowed(entry).map(drop);
    }
    if let Some(entry) = policy.remote(program) {
        return allowed(entry).map(drop);
    }
    let Allowed { cloud, .. } = allow::judge(policy, words)?;
    if cloud { Err(Refusal::new("script", "`az` has no place in a script for a guest")) } else { Ok(()) }
}

/// Accepts `2>&1`, `2>/dev/null` and `>/dev/null`.
fn is_harmless(redirect: &Redirect) -> bool {
    match redirect.kind {
        RedirectKind::Duplicate => redirect.descriptor == "2" && redirect.target == "1",
        RedirectKind::Write => {
            matches!(redirect.descriptor.as_str(), "" | "1" | "2") && redirect.target == "/dev/null"
        }
        RedirectKind::Read | RedirectKind::Document | RedirectKind::Text => false,
    }
}

fn without_sudo<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    match words {
        ["sudo", "-n", rest @ ..] | ["sudo", rest @ ..] => rest,
        _ => words,
    }
}
