//! A site's own file: it may tighten, or extend the allow list with examples. It never touches tier 0.

use serde::Deserialize;

use super::entry::RawEntry;
use super::{Example, Policy, PolicyError};
use crate::Verdict;

/// Makes every command that starts with some words stricter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tighten {
    /// The first words: a program and what follows it.
    pub(crate) words: Vec<String>,
    /// RISKY or BLOCKED.
    pub(crate) verdict: Strict,
    /// Why, for the one who proposed the command.
    pub(crate) reason: String,
}

/// The verdicts that a site can impose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Strict {
    /// Asks a human.
    Risky,
    /// Never runs.
    Blocked,
}

impl Tighten {
    /// Tells whether nobody is asked.
    pub(crate) fn is_blocked(&self) -> bool {
        self.verdict == Strict::Blocked
    }

    /// Tells whether a command starts with the words of this rule.
    pub(crate) fn matches(&self, program: &str, words: &[&str]) -> bool {
        let Some((first, rest)) = self.words.split_first() else { return false };
        let arguments = words.get(1..).unwrap_or_default();
        first == program
            && rest.len() <= arguments.len()
            && rest.iter().zip(arguments).all(|(rule, word)| rule == word)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Site {
    #[serde(default, rename = "program")]
    programs: Vec<RawEntry>,
    #[serde(default)]
    tighten: Vec<Tighten>,
}

/// Reads a site's file into the policy.
pub(super) fn extend(policy: &mut Policy, text: &str) -> Result<(), PolicyError> {
    let site: Site = toml::from_str(text)
        .map_err(|source| PolicyError::Syntax { file: "site policy", what: source.to_string() })?;
    for raw in &site.programs {
        if let Some(name) = raw.names.iter().find(|name| !policy.may_extend(name)) {
            return Err(PolicyError::Forbidden { entry: raw.id.clone(), name: name.clone() });
        }
        if raw.safe.is_empty() || raw.asks.is_empty() {
            return Err(PolicyError::NoExamples { entry: raw.id.clone() });
        }
        let entry =
            raw.compile("site", false).map_err(|what| PolicyError::Entry { file: "site policy", what })?;
        policy.examples.extend(Example::all(&entry.id, Verdict::Safe, &raw.safe));
        policy.examples.extend(Example::all(&entry.id, Verdict::Risky, &raw.asks));
        // What the site allows or tightens may contradict what a built-in entry promised about the same program.
        policy
            .examples
            .retain(|example| example.entry.starts_with("site.") || !example.speaks_of(&raw.names));
        policy.add_program(entry);
    }
    if let Some(rule) = site.tighten.iter().find(|rule| rule.words.is_empty()) {
        return Err(PolicyError::Entry {
            file: "site policy",
            what: format!("`tighten` without words ({})", rule.reason),
        });
    }
    let tightened: Vec<String> = site.tighten.iter().filter_map(|rule| rule.words.first().cloned()).collect();
    policy.examples.retain(|example| example.verdict == Verdict::Blocked || !example.speaks_of(&tightened));
    policy.tighten = site.tighten;
    Ok(())
}

impl Example {
    fn speaks_of(&self, names: &[String]) -> bool {
        self.verdict != Verdict::Blocked && names.iter().any(|name| self.command.contains(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NMCLI: &str = r#"
        [[program]]
        id = "wpa_cli"
        names = ["wpa_cli"]
        why = "shows the network manager's state"
        options = ["-t", "-f NAME"]
        operands = ["=device", "=show|status?"]
        sockets = []
        safe = ["wpa_cli device", "wpa_cli -t device show"]
        asks = ["wpa_cli connection down eth0"]
    "#;

    #[track_caller]
    fn verdict(policy: &Policy, command: &str) -> Verdict {
        policy.classify(command).verdict
    }

    #[test]
    fn a_site_can_extend_the_allow_list_with_examples() {
        let policy = Policy::with_site(NMCLI).unwrap();
        assert_eq!(verdict(&policy, "wpa_cli device show"), Verdict::Safe);
        assert_eq!(verdict(&policy, "wpa_cli device show eth0"), Verdict::Risky);
        assert_ne!(policy.digest(), Policy::builtin().unwrap().digest());
    }

    #[test]
    fn a_site_can_tighten() {
        let rules = r#"
            tighten = [
                { words = ["az", "network"], verdict = "RISKY", reason = "the network team wants to know" },
                { words = ["curl"], verdict = "BLOCKED", reason = "use the proxy" },
            ]
        "#;
        let policy = Policy::with_site(rules).unwrap();
        assert_eq!(verdict(&policy, "az network vnet list"), Verdict::Risky);
        assert_eq!(verdict(&policy, "az vm list"), Verdict::Safe);
        assert_eq!(verdict(&policy, "curl http://10.0.0.5/"), Verdict::Blocked);
        assert_eq!(verdict(&policy, "sudo /usr/bin/curl http://10.0.0.5/"), Verdict::Blocked);
    }

    #[test]
    fn a_site_can_allow_no_program_that_runs_others_or_that_tier_0_speaks_of() {
        for name in [
            "rm",
            "bash",
            "sudo",
            "python3.11",
            "az",
            "ssh",
            "dd",
            "mkfs.ext4",
            "xargs",
            "/bin/x",
            "env",
            "kubectl;",
        ] {
            let text = NMCLI.replace("names = [\"wpa_cli\"]", &format!("names = [{name:?}]"));
            assert!(matches!(Policy::with_site(&text), Err(PolicyError::Forbidden { .. })), "{name}");
        }
    }

    #[test]
    fn an_entry_without_examples_or_with_a_broken_one_is_refused() {
        let none = NMCLI.replace("safe = [\"wpa_cli device\", \"wpa_cli -t device show\"]", "safe = []");
        assert!(matches!(Policy::with_site(&none), Err(PolicyError::NoExamples { .. })));
        let broken = NMCLI.replace("wpa_cli connection down eth0", "wpa_cli device");
        assert!(matches!(Policy::with_site(&broken), Err(PolicyError::Example { .. })));
        let blocked = NMCLI.replace("\"wpa_cli device\"", "\"wpa_cli device; reboot\"");
        assert!(matches!(Policy::with_site(&blocked), Err(PolicyError::Example { .. })));
    }

    #[test]
    fn a_site_need_not_name_the_manual_page_and_may() {
        let manual = |text: &str| {
            let policy = Policy::with_site(text).unwrap();
            policy.rules().find(|rule| rule.id == "site.wpa_cli").unwrap().manual
        };
        assert_eq!(manual(NMCLI), None);
        let named = NMCLI.replace("sockets = []", "manual = \"wpa_cli(8), wpa_supplicant 2.10\"");
        assert_eq!(manual(&named).as_deref(), Some("wpa_cli(8), wpa_supplicant 2.10"));
    }

    #[test]
    fn a_misspelled_key_is_an_error() {
        assert!(matches!(Policy::with_site("tigthen = []"), Err(PolicyError::Syntax { .. })));
    }
}
