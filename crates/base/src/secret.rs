//! A text that must not be seen.

use std::fmt;

/// A key, a token or a password. It has no `Display`, and its `Debug` tells nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text, without the blanks and line ends around it that files of keys have.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Returns the text, for the one place that has to send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::new("xoxb-1\n")), "[secret]");
        assert_eq!(Secret::new("xoxb-1\n").expose(), "xoxb-1");
    }
}
