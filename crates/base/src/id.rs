//! Identifiers that are safe in a path, a key and a URL.

use std::fmt;
use std::str::FromStr;

use crate::Digest;

const MAX_NAME_BYTES: usize = 64;

/// How many letters are drawn from a digest.
const DRAWN: usize = 12;

/// Letters and digits that are not mistaken for each other when a name is read aloud.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz234567890";

/// Names one investigation: 1 to 64 letters, digits, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an id is 1 to 64 letters, digits, `_` or `-`")]
pub struct IdError;

impl SessionId {
    /// Returns the identifier that follows from a digest: 60 of its bits.
    #[must_use]
    pub fn drawn(digest: &Digest) -> Self {
        let letters = digest.as_bytes().iter().take(DRAWN);
        let letters =
            letters.filter_map(|byte| ALPHABET.get(usize::from(byte % 32)).copied().map(char::from));
        Self(format!("ghost-{}", letters.collect::<String>()))
    }

    /// Returns what was drawn, without what it begins with; `None` for an identifier that somebody chose.
    #[must_use]
    pub fn drawn_letters(&self) -> Option<&str> {
        self.0.strip_prefix("ghost-").filter(|letters| is_drawn(letters))
    }

    /// Returns the identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Tells whether a text is as long as what is drawn, and of its letters.
#[must_use]
pub fn is_drawn(text: &str) -> bool {
    text.len() == DRAWN && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

impl FromStr for SessionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=MAX_NAME_BYTES).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if fits { Ok(Self(text.to_owned())) } else { Err(IdError) }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_name_another_folder() {
        for text in ["", "../x", "a/b", "a.b", "a b", &"x".repeat(65), "é"] {
            assert_eq!(text.parse::<SessionId>(), Err(IdError), "{text:?}");
        }
    }

    #[test]
    fn a_drawn_name_is_one_that_can_be_read_back() {
        let name = SessionId::drawn(&Digest::of("x"));
        assert_eq!(name.as_str().parse::<SessionId>().unwrap(), name);
        assert_eq!(name.as_str().len(), "ghost-".len() + DRAWN);
        assert_ne!(name, SessionId::drawn(&Digest::of("y")));
    }

    #[test]
    fn letters_digits_dash_and_underscore_make_an_id() {
        assert_eq!("ghost-7k2f_A".parse::<SessionId>().unwrap().as_str(), "ghost-7k2f_A");
    }
}
