//! A site's own file: it may tighten, or extend the allow list with examples. It never touches tier 0.

use serde::Deserialize;

use super::entry::RawEntry;
use super::{Example, Policy, PolicyError};
use crate::shell::Verdict;

/// Makes every command that starts with some words stricter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::shell) struct Tighten {
    /// The first words: a program and what follows it.
    pub(in crate::shell) words: Vec<String>,
    /// RISKY or BLOCKED.
    pub(in crate::shell) verdict: Strict,
    /// Why, for the one who proposed the command.
    pub(in crate::shell) reason: String,
}

/// The verdicts that a site can impose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(in crate::shell) enum Strict {
    /// Asks a human.
    Risky,
    /// Never runs.
    Blocked,
}

impl Tighten {
    /// Tells whether nobody is asked.
    pub(in crate::shell) fn is_blocked(&self) -> bool {
        self.verdict == Strict::Blocked
    }

    /// Tells whether a command starts with the words of this rule.
    pub(in crate::shell) fn matches(&self, program: &str, words: &[&str]) -> bool {
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
