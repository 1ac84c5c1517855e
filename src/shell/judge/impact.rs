//! What an approved command does to the world.

use crate::shell::policy::Policy;
use crate::shell::{Impact, Verdict};

/// What is less than a change: the words that it begins with, and the options that it may have.
const LESSER: [(Impact, &[&str], &[&str]); 4] = [
    (
        Impact::Measurement,
        &["az", "network", "watcher", "packet-capture"],
        &[
            "-g",
            "--resource-group",
            "-n",
            "--name",
            "-l",
            "--location",
            "--vm",
            "--target",
            "--target-type",
            "--storage-account",
            "--storage-path",
            "--time-limit",
            "--capture-limit",
            "--capture-size",
            "--filters",
            "--no-wait",
            "-o",
            "--output",
            "--only-show-errors",
            "--subscription",
            "--query",
            "--verbose",
        ],
    ),
    (
        Impact::Outage,
        &["az", "vm"],
        &[
            "-g",
            "--resource-group",
            "-n",
            "--name",
            "--ids",
            "--no-wait",
            "-o",
            "--output",
            "--only-show-errors",
            "--subscription",
            "--query",
            "--verbose",
        ],
    ),
    (
        Impact::Measurement,
        &["iperf3"],
        &["-c", "-s", "-p", "-t", "-i", "-u", "-b", "-n", "-P", "-R", "-J", "-1"],
    ),
    (Impact::Outage, &["systemctl"], &["--now", "--no-block"]),
];

/// The verbs that each of them has.
const VERBS: [&[&str]; 4] = [
    &["create", "stop", "delete"],
    &["start", "stop", "deallocate", "restart", "redeploy", "reimage"],
    &[],
    &["stop", "restart", "disable"],
];

/// Returns what a RISKY command does; unknown is a change.
pub(super) fn impact(argv: Option<&[String]>) -> Impact {
    let words: Vec<&str> = argv.unwrap_or_default().iter().map(String::as_str).collect();
    let fits = |((_, path, options), verbs): &(&(Impact, &[&str], &[&str]), &&[&str])| {
        let Some(rest) = words.strip_prefix(*path) else { return false };
        let rest = match (verbs.is_empty(), rest.split_first()) {
            (true, _) => rest,
            (false, Some((verb, rest))) if verbs.contains(verb) => rest,
            (false, _) => return false,
        };
        let name = |word: &&&str| word.starts_with('-');
        rest.iter().filter(name).all(|word| options.contains(&word.split('=').next().unwrap_or_default()))
    };
    LESSER.iter().zip(&VERBS).find(fits).map_or(Impact::Change, |((impact, ..), _)| *impact)
}

impl Policy {
    /// Returns what the commands of a plan do together: the greatest of them counts. The file that a capture wrote goes with the
    /// capture that the plan deletes.
    #[must_use]
    pub fn impact_of_plan(&self, commands: &[&str]) -> Impact {
        let rulings = commands.iter().map(|command| self.classify(command));
        let asking: Vec<_> = rulings.filter(|ruling| ruling.verdict != Verdict::Safe).collect();
        let is = |argv: &Option<Vec<String>>, path: &[&str]| {
            argv.as_ref().is_some_and(|argv| argv.iter().take(path.len()).eq(path.iter()))
        };
        let deletes = asking
            .iter()
            .any(|ruling| is(&ruling.argv, &["az", "network", "watcher", "packet-capture", "delete"]));
        let each = asking.iter().map(|ruling| {
            let goes_with = deletes && is(&ruling.argv, &["az", "storage", "blob", "delete"]);
            if goes_with { Impact::Measurement } else { ruling.impact.unwrap_or(Impact::Change) }
        });
        each.max().unwrap_or(Impact::Measurement)
    }
}
