//! The verdict of the gate: by the policy, the scope, the places that are known, what lies on this machine, the sandbox that there is,
//! and what was judged before. Nothing runs and nothing is recorded for it.

use super::machine;
use crate::sandbox::offered;
use crate::{FilledScript, Impact, Known, Policy, Ruling, Runner, Scope, Setting, Support, Verdict};

/// What a verdict takes.
pub(super) struct Judge<'a> {
    pub(super) policy: &'a Policy,
    pub(super) scope: Option<&'a Scope>,
    pub(super) known: &'a Known,
    pub(super) setting: &'a Setting,
    /// What only reads asks: this machine has no sandbox for it.
    pub(super) unconfined: bool,
    /// Commands run on this machine.
    pub(super) is_here: bool,
}

impl Judge<'_> {
    /// Judges a command.
    pub(super) fn command(&self, command: &str) -> Ruling {
        let ruling = self.policy.classify_within(command, self.scope);
        let ruling = self.policy.hold(ruling, self.known);
        let ruling = self.sandboxed(machine::examine(ruling, self.policy, self.setting, self.is_here));
        self.known.as_asked(command, ruling)
    }

    /// Judges a declared script behind the words that carry it to a guest.
    pub(super) fn script(&self, carrier: &[String], script: &FilledScript) -> Ruling {
        let ruling = self.policy.classify_script_within(carrier, script, self.scope);
        self.known.as_asked(&script.line(carrier), self.sandboxed(ruling))
    }

    /// Makes what would run unasked ask where nothing can confine it.
    fn sandboxed(&self, ruling: Ruling) -> Ruling {
        if self.unconfined || self.known.is_without_sandbox() { ruling.without_sandbox() } else { ruling }
    }
}

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
