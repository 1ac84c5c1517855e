//! What an approved command does to the world, from the policy's table.
//!
//! What no row describes, option for option, is a change; so is what only a shell could run. Of several parts that ask,
//! the gravest counts.

use super::path::base;
use super::{allow, curl, list, remote};
use crate::Impact;
use crate::policy::{Given, ImpactRow, Part, Policy};
use crate::text;

impl Policy {
    /// Says what the commands of a plan do together: the file that a capture wrote goes with the capture.
    ///
    /// What runs without asking adds nothing; a plan in which nothing asks is a measurement.
    #[must_use]
    pub fn impact_of_plan(&self, commands: &[&str]) -> Impact {
        let rulings: Vec<_> = commands.iter().map(|command| (*command, self.classify(command))).collect();
        let deleted: Vec<String> = commands.iter().filter_map(|command| deleted_capture(command)).collect();
        let of = |(command, ruling): &(&str, crate::Ruling)| {
            let goes_along = || file_of_capture(self, command).is_some_and(|file| deleted.contains(&file));
            match ruling.impact {
                Some(Impact::Change) if goes_along() => Some(Impact::Measurement),
                other => other,
            }
        };
        rulings.iter().filter_map(of).max().unwrap_or(Impact::Measurement)
    }
}

/// Says what one command does once somebody approved it, whatever stands before it that only runs it.
pub(super) fn of_words(policy: &Policy, words: &[&str]) -> Impact {
    let Some(peeled) = allow::peel(policy, words).ok() else { return Impact::Change };
    let Some((program, arguments)) = peeled.words.split_first() else { return Impact::Change };
    let Some(name) = allow::trusted(program) else { return Impact::Change };
    let rows = policy.impacts().iter().filter(|row| row.names.iter().any(|known| known == name));
    rows.filter_map(|row| of_row(policy, row, arguments)).min().unwrap_or(Impact::Change)
}

/// Says what a script does in a guest: the gravest of its parts that ask.
fn of_script(policy: &Policy, script: &str) -> Impact {
    let script = text::read_without_shell(script);
    let Some(rows) = script.plain_list() else { return Impact::Change };
    match list::judge(policy, &script, &rows, true) {
        Ok(_) => Impact::Change,
        Err(refused) => {
            refused.iter().map(|part| of_words(policy, &part.words)).max().unwrap_or(Impact::Change)
        }
    }
}

fn of_row(policy: &Policy, row: &ImpactRow, arguments: &[&str]) -> Option<Impact> {
    let given = row.grammar.read(arguments, &policy.files).ok()?;
    let complete = row.all.iter().all(|option| given.has(option))
        && (row.needs.is_empty() || row.needs.iter().any(|option| given.has(option)));
    if !complete {
        return None;
    }
    match row.part {
        None => Some(row.impact),
        Some(Part::Query) => curl::check(policy, &given, curl::Query::Allowed).is_ok().then_some(row.impact),
        Some(Part::Script) => {
            let lines: Vec<&str> = given.values(&["--scripts"]).collect();
            let local = lines.iter().any(|line| line.starts_with('@') || line.contains("=@"));
            // Of several `az` takes the last one alone.
            let once = arguments.iter().filter(|word| is_option(word, "--scripts")).count() == 1;
            let script = remote::join(&lines).filter(|_| once && !local)?;
            (text::oddity(&script).is_none() && !script.contains('\r')).then(|| of_script(policy, &script))
        }
        Some(Part::OfPlan) => None,
    }
}

/// Tells whether a word is an option, with a value attached or without.
fn is_option(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Returns the name of the file that the capture wrote which a command deletes.
fn deleted_capture(command: &str) -> Option<String> {
    let script = text::read(command);
    let words = script.commands.first().map(list::words).unwrap_or_default();
    let is_deletion = script.is_plain()
        && matches!(words.as_slice(), [az, "network", "watcher", "packet-capture", "delete", ..] if base(az) == "az");
    let named = |at: usize| match words.get(at)?.split_once('=') {
        Some(("-n" | "--name", name)) => Some(name.to_owned()),
        Some(_) => None,
        None => matches!(*words.get(at)?, "-n" | "--name")
            .then(|| words.get(at + 1).map(|name| (*name).to_owned()))
            .flatten(),
    };
    (0..words.len()).filter(|_| is_deletion).filter_map(named).next_back().map(|name| format!("{name}.cap"))
}

/// Returns the name of the file of a capture that a command deletes, where the table has the command.
fn file_of_capture(policy: &Policy, command: &str) -> Option<String> {
    let script = text::read(command);
    let words = script.commands.first().map(list::words).unwrap_or_default();
    let (program, arguments) = words.split_first().filter(|_| script.is_plain())?;
    let name = allow::trusted(program)?;
    let of_plan =
        |row: &&ImpactRow| row.part == Some(Part::OfPlan) && row.names.iter().any(|known| known == name);
    policy.impacts().iter().filter(of_plan).find_map(|row| {
        let given: Given<'_> = row.grammar.read(arguments, &policy.files).ok()?;
        let complete = row.all.iter().all(|option| given.has(option));
        // The last one counts for `az`: more than one is not what anybody means.
        let mut names = given.values(&["-n", "--name"]);
        let file = names.next()?.to_owned();
        (complete && names.next().is_none()).then_some(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: &str = "az network watcher packet-capture stop -l westeurope -n c1";
    const DELETE: &str = "az network watcher packet-capture delete --location westeurope --name c1";

    fn of_file(name: &str, more: &str) -> String {
        format!("az storage blob delete -c captures -n {name} --account-name sa --auth-mode login{more}")
    }

    #[track_caller]
    fn check(commands: &[&str], expected: Impact) {
        let policy = Policy::builtin().unwrap();
        assert_eq!(policy.impact_of_plan(commands), expected, "{commands:?}");
    }

    #[test]
    fn the_file_of_a_capture_goes_with_the_capture() {
        check(&[STOP, DELETE, &of_file("c1.cap", "")], Impact::Measurement);
        check(&["ip a", DELETE, &of_file("c1.cap", "")], Impact::Measurement);
    }

    #[test]
    fn any_other_file_is_a_change() {
        check(&[&of_file("c1.cap", "")], Impact::Change);
        check(&[STOP, &of_file("c1.cap", "")], Impact::Change);
        for (name, more) in [
            ("c2.cap", ""),
            ("c1.cap", " --delete-snapshots include"),
            ("c1.cap", " -n backup.tar"),
            ("c1", ""),
            ("c1.cap", " --account-key k"),
        ] {
            check(&[DELETE, &of_file(name, more)], Impact::Change);
        }
        check(&[&format!("{DELETE} -n c2"), &of_file("c1.cap", "")], Impact::Change);
        check(&[DELETE, "az storage blob delete -c captures -n c1.cap --account-name sa"], Impact::Change);
    }

    #[test]
    fn of_a_plan_the_gravest_part_counts() {
        check(&["ss -s"], Impact::Measurement);
        check(&[DELETE, "systemctl restart nginx"], Impact::Outage);
        check(&["systemctl restart nginx", "ip link set eth0 down", DELETE], Impact::Change);
    }
}
