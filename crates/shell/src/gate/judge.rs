//! The verdict of the gate: by the policy, the scope, the places that are known, what lies on this machine, the sandbox that there is,
//! and what was judged before. Nothing runs and nothing is recorded for it.

use super::machine;
use crate::{FilledScript, Known, Policy, Ruling, Scope, Setting};

/// What a verdict takes.
pub(super) struct Judge<'a> {
    pub(super) policy: &'a Policy,
    pub(super) scope: Option<&'a Scope>,
    pub(super) known: &'a Known,
    pub(super) setting: &'a Setting,
    /// What only reads asks: this machine has no sandbox for it.
    pub(super) unconfined: bool,
}

impl Judge<'_> {
    /// Judges a command.
    pub(super) fn command(&self, command: &str) -> Ruling {
        let ruling = self.policy.classify_within(command, self.scope);
        let ruling = self.policy.hold(ruling, self.known);
        let ruling = self.sandboxed(machine::examine(ruling, self.policy, self.setting));
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
