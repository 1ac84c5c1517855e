//! Writing down what was decided and done.

use std::sync::{Arc, PoisonError};

use super::run::Shell;
use crate::audit::{Approval, Consent, Entry, Kind, Receipt};
use crate::{Action, Identity, Problem, Reviewer, Ruling, Verdict, redact};
use ghost_base::Timestamp;

/// One proposed command that the gate handles.
#[derive(Debug)]
pub(super) struct Case {
    /// The command that is being judged, as it would run.
    pub(super) command: String,
    /// Why it was proposed.
    pub(super) reasoning: String,
    /// The judgement on the command.
    pub(super) ruling: Ruling,
    /// Which round of modification this is.
    pub(super) round: u32,
    /// The records of this command, once there is one.
    pub(super) audit_id: Option<String>,
    /// The head of the chain after the last record.
    pub(super) head: Option<String>,
    /// Who settled it.
    pub(super) action: Action,
    /// The human who settled it, and when.
    pub(super) approval: Option<(Reviewer, Timestamp)>,
    /// The consent that it uses up, if the approver names its questions.
    pub(super) consent: Option<Consent>,
    /// The digest of the plan that it is a step of.
    pub(super) plan: Option<ghost_base::Digest>,
    /// As whom it runs, where its verdict does not say.
    pub(super) own: Option<Arc<Identity>>,
}

impl Case {
    /// Begins with a command as it was proposed.
    pub(super) fn new(command: &str, reasoning: &str, ruling: Ruling) -> Self {
        Self {
            command: command.to_owned(),
            reasoning: reasoning.to_owned(),
            ruling,
            round: 1,
            audit_id: None,
            head: None,
            action: Action::AutoApproved,
            approval: None,
            consent: None,
            plan: None,
            own: None,
        }
    }

    /// Returns the record that says all that is known so far, redacted.
    pub(super) fn entry(&self, shell: &Shell, kind: Kind) -> Entry {
        let (command, reasoning) = (redact(&self.command), redact(&self.reasoning));
        let taken_out = command.count() + reasoning.count();
        Entry {
            audit_id: self.audit_id.clone(),
            reasoning: Some(reasoning.into_string()),
            round: (self.round > 1).then_some(self.round),
            verdict: Some(self.ruling.verdict),
            tier: Some(self.ruling.tier),
            rule: Some(self.ruling.rule.clone()),
            reason: Some(redact(&self.ruling.reason).into_string().into()),
            policy_digest: Some(shell.policy.digest()),
            plan_digest: self.plan,
            action: Some(self.action.as_str().into()),
            approver: self.approval.as_ref().map(|(who, at)| Approval::new(who, *at)),
            consent: self.consent.clone(),
            identity: shell.identity(self).map(|identity| identity.name().to_owned()),
            redactions: u64::try_from(taken_out).ok().filter(|count| *count > 0),
            ..Entry::new(kind, command.into_string())
        }
    }
}

impl Shell {
    /// Writes a record and notes the new head elsewhere. The log blocks, so it is asked on a thread of its own.
    pub(super) async fn write(&self, case: &mut Case, entry: Entry) -> Result<Receipt, String> {
        let (log, anchor, at) = (Arc::clone(&self.log), Arc::clone(&self.anchor), self.clock.now());
        let session = self.session.clone();
        // What changes something begins only where somebody else knows that it does.
        let begins = matches!(entry.kind, Kind::Intent | Kind::Admitted);
        let needed = begins && case.ruling.verdict != Verdict::Safe;
        let written = tokio::task::spawn_blocking(move || {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let receipt = log.append(at, &entry).map_err(|error| {
                let cause =
                    std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("{error}{cause}")
            })?;
            if let Err(error) = anchor.record(&session, receipt.seq, &receipt.head) {
                if needed {
                    let message = format!("its head could not be noted elsewhere: {error}");
                    let ended = Entry {
                        audit_id: Some(receipt.audit_id),
                        error: Some(Problem::AuditFailed.as_str().into()),
                        ..Entry::new(Kind::Done, entry.command)
                    };
                    return Err(log
                        .append(at, &ended)
                        .err()
                        .map_or(message.clone(), |more| format!("{message}; {more}")));
                }
                tracing::error!(session.id = %session, "the head of the audit chain could not be noted elsewhere: {error}");
            }
            Ok(receipt)
        });
        let receipt = written.await.unwrap_or_else(|_| Err("the audit log failed".to_owned()))?;
        case.audit_id = Some(receipt.audit_id.clone());
        case.head = Some(receipt.head.to_string());
        Ok(receipt)
    }
}
