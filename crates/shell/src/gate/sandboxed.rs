//! What only reads and has no sandbox to run in: it asks.

use crate::sandbox::offered;
use crate::{Impact, Ruling, Runner, Support, Verdict};

/// What becomes of SAFE commands on a machine that cannot confine them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// They ask.
    #[default]
    Required,
    /// They run with what there is, and the audit says what was missing.
    BestEffort,
}

impl Sandbox {
    /// Tells whether a machine lacks what is required of it for what a runner carries out.
    #[must_use]
    pub fn is_missing(self, runner: Option<&dyn Runner>, support: Option<&Support>) -> bool {
        let starts = runner.is_none_or(Runner::starts_processes);
        self == Self::Required && starts && support.unwrap_or_else(|| offered()).missing().is_some()
    }
}

impl Ruling {
    /// Makes a SAFE command ask because nothing confines it.
    ///
    /// Without a sandbox a fault of the program, or a hole in its entry, can change anything.
    #[must_use]
    pub fn without_sandbox(self) -> Self {
        const WHY: &str = "this machine has no sandbox to run it in (Landlock and seccomp), so that nothing but its text \
            says that it only reads";
        match self.verdict {
            Verdict::Safe => Self {
                verdict: Verdict::Risky,
                rule: Self::SANDBOX_MISSING.into(),
                reason: WHY.into(),
                impact: Some(Impact::Change),
                ..self
            },
            Verdict::Risky if self.only_reads() && self.rule != Self::SANDBOX_MISSING => {
                let reason = format!("{}; and {WHY}", self.reason);
                Self { reason: reason.into(), ..self }
            }
            Verdict::Risky | Verdict::Blocked => self,
        }
    }
}
