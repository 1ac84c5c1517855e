//! People, as they are recorded and as they are shown.

use std::collections::BTreeMap;

use crate::bot::show::text::{escape, short};

/// Whoever is longer than this is cut.
const MAX_NAME_LEN: usize = 60;

/// How somebody is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Person {
    /// A member of the workspace, by the identifier that Slack gave them.
    Member(String),
    /// Somebody at a terminal.
    Terminal(String),
    /// Anybody else, by name.
    Named(String),
}

impl Person {
    /// Returns the identifier of a member, where it is one.
    pub(super) fn member(&self) -> Option<&str> {
        let Self::Member(id) = self else { return None };
        let form = id.starts_with(['U', 'W'])
            && id.len() <= 40
            && id.len() > 1
            && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        form.then_some(id)
    }

    /// Returns the name where nobody is mentioned.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Member(name) | Self::Named(name) => short(name, MAX_NAME_LEN),
            Self::Terminal(name) => format!("{} in the terminal", short(name, MAX_NAME_LEN)),
        }
    }

    /// Returns the words for the fallback of a message.
    pub(super) fn fallback(&self) -> String {
        self.member().map_or_else(|| escape(&self.name()), |id| format!("<@{id}>"))
    }
}

/// Who the recorded names are. A name that is not among them is shown as it is, and mentions nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People(BTreeMap<String, Person>);

impl People {
    /// Knows nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gets to know somebody.
    #[must_use]
    pub fn with(mut self, recorded: impl Into<String>, person: Person) -> Self {
        self.0.insert(recorded.into(), person);
        self
    }

    /// Returns how somebody is shown.
    #[must_use]
    pub fn find(&self, recorded: &str) -> Person {
        self.0.get(recorded).cloned().unwrap_or_else(|| Person::Named(recorded.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_identifier_mentions() {
        for (id, mentions) in
            [("U1", true), ("W0A9", true), ("U", false), ("U1> <!channel", false), ("u1", false), ("", false)]
        {
            assert_eq!(Person::Member(id.to_owned()).member().is_some(), mentions, "{id}");
        }
        assert_eq!(People::new().find("U1").member(), None);
        assert_eq!(Person::Member("U1> <!here".to_owned()).fallback(), "U1&gt; &lt;!here");
    }
}
