//! Where consent comes from when a human sits at the terminal, or nobody does.

use std::io::IsTerminal as _;
use std::sync::Arc;

use clap::ValueEnum;

use crate::print::harmless;
use crate::setup::Setup;
use crate::tone::colors_wanted;
use ghost_shell::{Approver, DenyAll, TerminalApprover};

/// Where consent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Consent {
    /// Whoever sits at the terminal decides, about measurements, outages and changes alike, with their own rights.
    #[default]
    Ask,
    /// Nobody is asked: what needs consent is denied, be it a measurement, an outage or a change.
    Deny,
}

impl Consent {
    /// Returns the approver.
    pub fn approver(self, setup: &Setup) -> Arc<dyn Approver> {
        match self {
            Self::Ask => {
                Arc::new(TerminalApprover::new(&human(setup)).plain(is_plain(setup)).colored(colors_wanted()))
            }
            Self::Deny => Arc::new(DenyAll),
        }
    }
}

impl Consent {
    /// Says who decides where something has to be approved, before anything is.
    pub fn describe(self, setup: &Setup) -> String {
        self.decider(&human(setup), std::io::stdin().is_terminal())
    }

    fn decider(self, who: &str, is_terminal: bool) -> String {
        let who = harmless(who);
        match (self, is_terminal) {
            (Self::Ask, true) => format!("approval: {who} decides at this terminal"),
            (Self::Ask, false) => {
                format!(
                    "approval: what comes by standard input decides, as {who}; where it ends, the answer is no"
                )
            }
            (Self::Deny, _) => {
                "approval: nobody is asked, and what needs consent does not run; --approve ask lets \
                you decide at the terminal"
                    .to_owned()
            }
        }
    }
}

/// Names whoever sits at the terminal.
pub fn human(setup: &Setup) -> String {
    setup.environment.text("USER").filter(|name| !name.is_empty()).unwrap_or("terminal").to_owned()
}

/// Tells whether the terminal knows no more than lines.
pub fn is_plain(setup: &Setup) -> bool {
    setup.environment.text("TERM").is_none_or(|kind| matches!(kind, "" | "dumb" | "cons25" | "emacs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_is_described() {
        let at_terminal = Consent::Ask.decider("ana", true);
        assert_eq!(at_terminal, "approval: ana decides at this terminal");
        assert!(Consent::Ask.decider("ana", false).contains("by standard input decides, as ana"));
        for is_terminal in [true, false] {
            assert!(Consent::Deny.decider("ana", is_terminal).contains("nobody is asked"));
        }
    }
}
