//! Examples: every entry says what it must and must not match, and is held to it.

use crate::{Impact, Verdict};

/// A command and the verdict that an entry promises for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The entry that makes the promise.
    pub entry: String,
    /// The command line that the entry promises a verdict for.
    pub command: String,
    /// The promised verdict.
    pub verdict: Verdict,
    /// The promised impact, where the promise is about that.
    pub impact: Option<Impact>,
}

impl Example {
    /// Lists the examples of one entry.
    pub(super) fn all(entry: &str, verdict: Verdict, commands: &[String]) -> impl Iterator<Item = Self> {
        commands.iter().map(move |command| Self {
            entry: entry.to_owned(),
            command: command.clone(),
            verdict,
            impact: None,
        })
    }

    /// Lists the examples of what an approved command does.
    pub(super) fn of_impact(entry: &str, impact: Impact, commands: &[String]) -> impl Iterator<Item = Self> {
        Self::all(entry, Verdict::Risky, commands)
            .map(move |example| Self { impact: Some(impact), ..example })
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Part;
    use crate::Policy;

    #[test]
    fn every_entry_keeps_the_promise_of_its_examples() {
        let policy = Policy::load(Part::Whole).unwrap();
        let broken: Vec<String> = policy
            .examples()
            .iter()
            .filter_map(|example| {
                let ruling = policy.classify(&example.command);
                let wrong = ruling.verdict != example.verdict
                    || (example.impact.is_some() && example.impact != ruling.impact);
                wrong.then(|| {
                    format!(
                        "{}: {} {:?} for {:?}, got {} {:?} ({}: {})",
                        example.entry,
                        example.verdict,
                        example.impact,
                        example.command,
                        ruling.verdict,
                        ruling.impact,
                        ruling.rule,
                        ruling.reason
                    )
                })
            })
            .collect();
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    }
}
