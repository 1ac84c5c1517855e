//! Cases in a lab that listens, asked about with the unmodified `az`: the case is there, and after a reset the estate is the one before.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::azure::preloaded::Line;
use crate::azure::process::{Up, data, err, run};
use crate::azure::real_az::program;
use crate::random::{Random, is_long, seed};

/// The cases of the short run; the long one has all.
const SOME: [&str; 6] = ["a", "e", "f", "j", "s", "u"];
/// What the estate comes to.
const ESTATE: [&[&str]; 5] = [
    &["network", "nsg", "list"],
    &["network", "route-table", "list", "-g", "nw-forensics-rg"],
    &["network", "vnet", "list"],
    &["network", "nic", "list"],
    &["storage", "account", "list"],
];

struct Az {
    program: PathBuf,
    exports: Vec<(String, String)>,
    home: tempfile::TempDir,
}

impl Az {
    /// Asks; the answer as compact as the lab's own checks have it.
    fn asks(&self, words: &[&str]) -> String {
        self.tries(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Asks; returns what it said instead where it failed.
    fn tries(&self, words: &[&str]) -> Result<String, String> {
        let words = words.iter().chain(&["-o", "json"]).map(|word| (*word).to_owned());
        let done = Line::new(self.exports.iter().cloned(), self.home.path(), words).run(&self.program);
        if done.exit != Some(0) {
            return Err(done.err);
        }
        let reported: Value = serde_json::from_str(&done.out).unwrap();
        Ok(reported.to_string())
    }

    /// Asks what a check asks: the platform, or a guest through its agent; nothing where the agent does not report.
    fn observe(&self, command: &str) -> Option<String> {
        if let Some(words) = command.strip_prefix("az ") {
            return Some(self.asks(&words.split(' ').collect::<Vec<_>>()));
        }
        let (vm, script) = command.split_once("$ ").unwrap();
        let words = ["vm", "run-command", "invoke", "-g", "nw-forensics-rg", "-n", vm];
        let words = [&words[..], &["--command-id", "RunShellScript", "--scripts", script]].concat();
        let reported = match self.tries(&words) {
            Err(error) if error.contains("VMAgentStatusCommunicationError") => return None,
            reported => reported.unwrap_or_else(|error| panic!("{words:?}: {error}")),
        };
        let reported: Value = serde_json::from_str(&reported).unwrap();
        Some(reported["value"][0]["message"].as_str().unwrap().to_owned())
    }

    fn estate(&self) -> Vec<String> {
        ESTATE.iter().map(|words| self.asks(words)).collect()
    }
}

/// What a case says how to see: the command, what it shows, and whether it does in this phase.
fn sights(data: &Path) -> Vec<(String, String, bool)> {
    let done = run(data, &["lab", "check", "--json"]);
    let reported: Value = serde_json::from_slice(&done.stdout).unwrap();
    let word = |seen: &Value, field: &str| seen[field].as_str().unwrap().to_owned();
    let seen = reported["seen"].as_array().unwrap().iter();
    seen.map(|seen| (word(seen, "command"), word(seen, "shows"), seen["expected"] == true)).collect()
}

#[test]
fn the_real_az_sees_a_case_and_after_a_reset_the_estate_before() {
    let Some(program) = program() else { return };
    let (_folder, data) = data();
    let up = Up::new(&data, &[]);
    let exports = up.lines.iter().filter_map(|line| line.strip_prefix("export ")?.split_once('='));
    let plain = |(name, value): (&str, &str)| (name.to_owned(), value.trim_matches('\'').to_owned());
    let az = Az { program, exports: exports.map(plain).collect(), home: tempfile::tempdir().unwrap() };
    let estate = az.estate();
    let mut random = Random::new(seed("the real az and cases"));
    let all: Vec<&str> = ghost_lab::case::CASES.iter().map(|(name, _)| *name).collect();
    let cases = if is_long() { all } else { SOME.to_vec() };
    let mut asked = 0;
    for case in cases {
        let injected = run(&data, &["lab", "inject", case]);
        assert!(injected.status.success(), "{case}: {}", err(&injected));
        for (command, shows, expected) in sights(&data) {
            // Captures and whole resources are more than one command.
            if command.contains('…')
                || !is_long() && command.contains("$ ") && random.below(2) == 0 && case != "j"
            {
                continue;
            }
            let Some(found) = az.observe(&command) else {
                assert_eq!(case, "t", "only there the guest cuts its own agent off: {command}");
                continue;
            };
            let shown = regex::Regex::new(&shows).unwrap().is_match(&found);
            assert_eq!(shown, expected, "{case}: {command}\n{shows}\n{found}");
            asked += 1;
        }
        let reset = run(&data, &["lab", "reset"]);
        assert!(reset.status.success(), "{case}: {}", err(&reset));
        assert_eq!(az.estate(), estate, "{case}");
    }
    assert!(asked >= 10, "{asked}");
}
