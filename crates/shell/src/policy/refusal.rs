//! Why a command is not SAFE, in words that help whoever proposed it.

/// Which part of a command is not allowed, and what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The part, as the last segment of the rule's name.
    pub(crate) part: &'static str,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl Refusal {
    /// Names a part and says what is wrong with it.
    pub(crate) fn new(part: &'static str, what: impl Into<String>) -> Self {
        Self { part, what: what.into() }
    }

    pub(crate) fn option(word: &str) -> Self {
        Self::new("option", format!("`{}` is not one of its read-only options", shorten(word)))
    }

    pub(crate) fn value(option: &str, value: &str) -> Self {
        Self::new("value", format!("`{}` does not take `{}`", shorten(option), shorten(value)))
    }

    pub(crate) fn operand(word: &str) -> Self {
        Self::new("operand", format!("`{}` is not an operand that is known to be harmless", shorten(word)))
    }

    pub(crate) fn missing(what: &str) -> Self {
        Self::new(
            "missing",
            format!(
                "{} is missing",
                if what.starts_with('-') { format!("the value of `{what}`") } else { what.to_owned() }
            ),
        )
    }
}

/// Shortens a word for a sentence; the whole command stands beside it anyway.
pub(crate) fn shorten(word: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 60;
    let shown: String = word.chars().take(MAX_QUOTED_CHARS).flat_map(char::escape_debug).collect();
    if word.chars().count() > MAX_QUOTED_CHARS { format!("{shown}…") } else { shown }
}
