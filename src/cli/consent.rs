//! Where consent comes from when a human sits at the terminal, or nobody does.

use std::sync::Arc;

use clap::ValueEnum;

use crate::cli::setup::Setup;
use ghost_shell::{Approver, DenyAll, TerminalApprover};

/// Where consent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Consent {
    /// Whoever sits at the terminal decides, about measurements, outages and changes alike, with their own rights.
    Ask,
    /// Nobody is asked: what needs consent is denied, be it a measurement, an outage or a change.
    Deny,
}

impl Consent {
    /// Returns the approver.
    pub(in crate::cli) fn approver(self, setup: &Setup) -> Arc<dyn Approver> {
        match self {
            Self::Ask => Arc::new(TerminalApprover::new(&human(setup)).plain(is_plain(setup))),
            Self::Deny => Arc::new(DenyAll),
        }
    }
}

/// Names whoever sits at the terminal.
pub(in crate::cli) fn human(setup: &Setup) -> String {
    setup.environment.text("USER").filter(|name| !name.is_empty()).unwrap_or("terminal").to_owned()
}

/// Tells whether the terminal knows no more than lines.
pub(in crate::cli) fn is_plain(setup: &Setup) -> bool {
    setup.environment.text("TERM").is_none_or(|kind| matches!(kind, "" | "dumb" | "cons25" | "emacs"))
}
