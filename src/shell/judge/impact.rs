//! What an approved command does to the world.

use crate::shell::policy::Policy;
use crate::shell::{Impact, Verdict};

/// What is less than a change.
struct Lesser {
    impact: Impact,
    /// The words that it begins with.
    path: &'static [&'static str],
    /// The word behind them; any where none is named.
    verbs: &'static [&'static str],
    /// The options that it may have.
    options: &'static [&'static str],
}

/// What `az` itself takes everywhere.
const GLOBAL: [&str; 6] = ["-o", "--output", "--only-show-errors", "--subscription", "--query", "--verbose"];

const LESSER: [Lesser; 4] = [
    Lesser {
        impact: Impact::Measurement,
        path: &["az", "network", "watcher", "packet-capture"],
        verbs: &["create", "stop", "delete"],
        options: &[
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
        ],
    },
    Lesser {
        impact: Impact::Outage,
        path: &["az", "vm"],
        verbs: &["start", "stop", "deallocate", "restart", "redeploy", "reimage"],
        options: &["-g", "--resource-group", "-n", "--name", "--ids", "--no-wait"],
    },
    Lesser {
        impact: Impact::Measurement,
        path: &["iperf3"],
        verbs: &[],
        options: &["-c", "-s", "-p", "-t", "-i", "-u", "-b", "-n", "-P", "-R", "-J", "-1"],
    },
    Lesser {
        impact: Impact::Outage,
        path: &["systemctl"],
        verbs: &["stop", "restart", "disable"],
        options: &["--now", "--no-block"],
    },
];

impl Lesser {
    fn fits(&self, words: &[&str]) -> bool {
        let Some(rest) = words.strip_prefix(self.path) else { return false };
        let verb = self.verbs.is_empty() || rest.first().is_some_and(|verb| self.verbs.contains(verb));
        let is_az = self.path.first() == Some(&"az");
        let known = |word: &&str| {
            let name = word.split('=').next().unwrap_or_default();
            !name.starts_with('-') || self.options.contains(&name) || (is_az && GLOBAL.contains(&name))
        };
        verb && rest.iter().all(known)
    }
}

/// Returns what a RISKY command does; unknown is a change.
pub(super) fn impact(argv: Option<&[String]>) -> Impact {
    let words: Vec<&str> = argv.unwrap_or_default().iter().map(String::as_str).collect();
    LESSER.iter().find(|lesser| lesser.fits(&words)).map_or(Impact::Change, |lesser| lesser.impact)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_not_known_makes_a_change() {
        let policy = Policy::builtin().unwrap();
        for (command, impact) in [
            (
                "az network watcher packet-capture create -g rg -n c --vm web-1 --time-limit 60",
                Impact::Measurement,
            ),
            ("az network watcher packet-capture create -g rg -n c --vm web-1 --file-path /x", Impact::Change),
            ("az vm restart -g rg -n web-1", Impact::Outage),
            ("az vm restart -g rg -n web-1 --force", Impact::Change),
            ("systemctl restart nginx", Impact::Outage),
            ("tcpdump -i eth0 -w /etc/cron.d/x -G 1 -z /tmp/x.sh", Impact::Change),
            ("touch x", Impact::Change),
            ("systemctl restart nginx; touch x", Impact::Change),
        ] {
            assert_eq!(policy.classify(command).impact, Some(impact), "{command}");
        }
        assert_eq!(policy.classify("uname").impact, None);
    }

    #[test]
    fn the_greatest_of_a_plan_counts_and_a_blob_goes_with_its_capture() {
        let policy = Policy::builtin().unwrap();
        let capture = "az network watcher packet-capture delete -l eastus -n ghost-s1-1";
        let blob = "az storage blob delete --account-name sa -c captures -n ghost-s1-1.cap --auth-mode login";
        let outage = "az vm restart -g rg -n web-1";
        assert_eq!(policy.impact_of_plan(&[capture, blob]), Impact::Measurement);
        assert_eq!(policy.impact_of_plan(&[blob]), Impact::Change);
        assert_eq!(policy.impact_of_plan(&[capture, outage]), Impact::Outage);
        assert_eq!(policy.impact_of_plan(&[capture, outage, "touch x"]), Impact::Change);
        assert_eq!(policy.impact_of_plan(&["uname"]), Impact::Measurement);
    }
}
