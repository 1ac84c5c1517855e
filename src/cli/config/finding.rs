//! What one part of a check came to.

use std::time::Duration;

use serde::Serialize;

/// How long one question may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(8);

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It works, and somebody should know something about it.
    Warning,
    /// It does not work.
    Problem,
    /// It was not tried.
    Skipped,
}

impl State {
    fn sign(self) -> &'static str {
        match self {
            Self::Ok => "\u{2714}",
            Self::Warning => "!",
            Self::Problem => "\u{2718}",
            Self::Skipped => "\u{2013}",
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) what: &'static str,
    pub(super) detail: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl Finding {
    pub(super) fn new(state: State, what: &'static str, detail: impl Into<String>) -> Self {
        Self { state, what, detail: detail.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells it in a line with its hint.
    pub(super) fn to_line(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(". {hint}")).unwrap_or_default();
        format!("{} {}: {}{hint}", self.state.sign(), self.what, self.detail)
    }

    /// Tells it in a line, and the hint in another.
    pub(super) fn to_text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\n{:17}{hint}", "")).unwrap_or_default();
        format!("{} {:<14} {}{hint}", self.state.sign(), self.what, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_and_its_hint_another() {
        let finding = Finding::new(State::Problem, "store", "it is away").hint("start it");
        assert_eq!(finding.to_text(), "\u{2718} store          it is away\n                 start it");
        assert_eq!(Finding::new(State::Warning, "az", "x").to_text(), "! az             x");
    }
}
