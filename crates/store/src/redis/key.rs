//! The names of the keys.

use crate::{ApprovalId, StoreError};
use ghost_base::{Digest, SessionId};

/// The tag of what spans sessions. No session can have it: names have no dot.
const INDEX: &str = "{ghost.index}";

/// Makes the names of keys under one prefix.
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// Takes letters, digits and `_ - . :`, so that the tags of the keys stay the only braces.
    pub(super) fn new(prefix: &str) -> Result<Self, StoreError> {
        let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | ':');
        if prefix.is_empty() || !prefix.chars().all(fits) {
            return Err(StoreError::address(format!(
                "the prefix {prefix:?} is not made of letters, digits and any of _ - . :"
            )));
        }
        Ok(Self { prefix: prefix.to_owned() })
    }

    fn of(&self, session: &SessionId, what: &str) -> String {
        format!("{}:{{{session}}}:{what}", self.prefix)
    }

    fn index(&self, what: &str) -> String {
        format!("{}:{INDEX}:{what}", self.prefix)
    }

    pub(super) fn lease(&self, session: &SessionId) -> String {
        self.of(session, "lease")
    }

    pub(super) fn events(&self, session: &SessionId) -> String {
        self.of(session, "events")
    }

    pub(super) fn inbox(&self, session: &SessionId) -> String {
        self.of(session, "inbox")
    }

    pub(super) fn seen(&self, session: &SessionId) -> String {
        self.of(session, "seen")
    }

    pub(super) fn approvals(&self, session: &SessionId) -> String {
        self.of(session, "approvals")
    }

    /// Where the session of an approval stands.
    pub(super) fn approval(&self, id: &ApprovalId) -> String {
        format!("{}:approval:{id}", self.prefix)
    }

    pub(super) fn work(&self) -> String {
        self.index("work")
    }

    pub(super) fn sessions(&self) -> String {
        self.index("sessions")
    }

    pub(super) fn pending(&self) -> String {
        self.index("pending")
    }

    pub(super) fn expiry(&self) -> String {
        self.index("expiry")
    }

    pub(super) fn flag(&self, name: &str) -> String {
        self.index(&format!("flag:{name}"))
    }

    /// The names of sessions, by the time of their lines.
    pub(super) fn wall(&self) -> String {
        self.index("wall")
    }

    /// The lines about sessions.
    pub(super) fn lines(&self) -> String {
        self.index("lines")
    }

    pub(super) fn journal(&self) -> String {
        self.index("journal")
    }

    /// What a claimed name stands for. A name has any letters, so its digest stands in the key.
    pub(super) fn claim(&self, name: &str) -> String {
        format!("{}:claim:{}", self.prefix, Digest::of(name))
    }

    pub(super) fn format(&self) -> String {
        self.index("format")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_of_a_session_have_its_name_as_their_only_tag() {
        let (keys, session) = (Keys::new("ghost:prod").unwrap(), "s-1".parse().unwrap());
        for key in [
            keys.lease(&session),
            keys.events(&session),
            keys.inbox(&session),
            keys.seen(&session),
            keys.approvals(&session),
        ] {
            assert!(key.starts_with("ghost:prod:{s-1}:"), "{key}");
            assert_eq!(key.matches('{').count(), 1, "{key}");
        }
    }

    #[test]
    fn a_prefix_cannot_carry_a_tag_of_its_own() {
        for prefix in ["", "a{b}", "a b", "a\n"] {
            assert!(Keys::new(prefix).is_err(), "{prefix:?}");
        }
    }
}
