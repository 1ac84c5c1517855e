//! Scripts that `az` carries into a guest.

use super::address;
use super::line::{Given, Line};
use super::read::check_values;
use crate::judge::allow::Allowed;
use crate::judge::remote;
use crate::policy::{Carrier, Cloud, Policy, Refusal, shorten};

/// Returns every script that a command would run elsewhere, for the search of tier 0.
pub(in crate::judge) fn scripts(words: &[&str], table: &Cloud) -> Vec<String> {
    let mut found = Vec::new();
    for line in Line::readings(words, table) {
        let path = line.folded();
        if path.first().is_some_and(|first| first == "ssh") {
            let behind =
                line.rest.iter().position(|word| *word == "--").and_then(|at| line.rest.get(at + 1..));
            found.extend(behind.map(|words| words.join(" ")));
        }
        for carrier in table.scripts.iter().filter(|carrier| path.starts_with(&carrier.path)) {
            let given = values(carrier, line.rest);
            // Of several `az` takes the last; what they come to together is read beside it.
            found.push(given.concat().join("\n"));
            found.extend(given.iter().filter(|_| given.len() > 1).map(|lines| lines.join("\n")));
        }
    }
    found.dedup();
    found
}

/// Returns the values of the option that carries the script, one list for each time that it is given.
fn values<'w>(carrier: &Carrier, rest: &[&'w str]) -> Vec<Vec<&'w str>> {
    let mut found: Vec<Vec<&'w str>> = Vec::new();
    let mut taking = false;
    for &word in rest {
        let name = word.split('=').next().unwrap_or(word);
        if let Some(short) =
            carrier.short.as_deref().filter(|short| word.starts_with(short) && !word.starts_with("--"))
        {
            taking = true;
            found
                .push(word.strip_prefix(short).filter(|attached| !attached.is_empty()).into_iter().collect());
        } else if name.starts_with("--") && name.len() > 2 && carrier.option.starts_with(name) {
            taking = true;
            found.push(word.split_once('=').map(|(_, attached)| attached).into_iter().collect());
        } else if taking && word.starts_with('-') && !word.contains(' ') {
            taking = false;
        } else if taking {
            found.last_mut().into_iter().for_each(|lines| lines.push(word));
        }
    }
    found
}

/// Judges a command that runs a script in a guest: by the script, where it stands in the command itself.
pub(super) fn judge(policy: &Policy, carrier: &Carrier, line: &Line<'_, '_>) -> Result<Allowed, Refusal> {
    if !carrier.remote {
        return Err(Refusal::new("script", "it runs a script elsewhere and keeps it there"));
    }
    let table = &policy.cloud;
    let options = Given::all(line.rest);
    let mut lines: Vec<&str> = Vec::new();
    let (mut given_before, mut shell) = (false, false);
    for given in &options {
        let attached = given.name.starts_with("--") || given.attached.is_none();
        if !attached || !table.remote_options.iter().any(|known| known == given.name) {
            return Err(Refusal::option(given.word));
        }
        if given.name == "--scripts" {
            let from_file = |value: &&str| value.starts_with('@') || value.contains("=@");
            if let Some(value) = given.values().find(from_file) {
                return Err(Refusal::new("file", format!("`{}` reads a local file", shorten(value))));
            }
            if given_before {
                let what = "`--scripts` is given more than once, and `az` takes the last one alone";
                return Err(Refusal::new("script", what));
            }
            given_before = true;
            lines.extend(given.values());
            continue;
        }
        check_values(given)?;
        if given.name == "--command-id" {
            let values: Vec<&str> = given.values().collect();
            if values != ["RunShellScript"] {
                return Err(Refusal::value(given.name, values.first().copied().unwrap_or_default()));
            }
            shell = true;
        }
    }
    let others: Vec<Given<'_>> = options.into_iter().filter(|given| given.name != "--scripts").collect();
    address::check(line, &others, table)?;
    if !shell {
        return Err(Refusal::missing("--command-id RunShellScript"));
    }
    if lines.is_empty() {
        return Err(Refusal::missing("--scripts"));
    }
    let script = remote::join(&lines).ok_or_else(|| {
        Refusal::new(
            "script",
            "a line of the script ends in a backslash, which hides where the next one begins",
        )
    })?;
    let cost = remote::judge(policy, &script)?;
    let machines = others.iter().filter(|given| given.name == "--ids").flat_map(Given::values).count();
    Ok(Allowed {
        cost: cost.on_machines(u64::try_from(machines).unwrap_or(u64::MAX)),
        ..Allowed::cloud("cloud.guest", "reads the state of a guest")
    })
}
