//! Handing a consent over to an agent that runs elsewhere, and letting the gate note that it does not get one. Nothing is started.

use crate::EngineError;
use crate::execute::{Gate, consume, done, snapshot};
use crate::owned::OwnedSession;
use ghost_investigate::event::{
    ApprovalExpired, Done, Event, Intent, Opened, Origin, Outside, StepId, Taken,
};
use ghost_investigate::model::Investigator;
use ghost_investigate::outside::PROVIDER;
use ghost_investigate::state::{State, Step};
use ghost_investigate::{Limits, ruling_of};
use ghost_shell::{Admission, Admitted, CancelSignal};

/// How much of what is asked stands in lists of sessions.
const MAX_SYMPTOM_CHARS: usize = 200;

/// Opens the session of a request. Where it takes place, what holds there and who decides is the caller's to add.
#[must_use]
pub fn opened_outside(outside: Outside, channel: Option<Origin>, nonce: String) -> Opened {
    let asked = &outside.request;
    let text: String = asked.text.chars().take(MAX_SYMPTOM_CHARS).collect();
    Opened {
        symptom: format!("{} on {}: {text}", asked.agent, asked.machine),
        requester: outside.requester(),
        origin: channel.unwrap_or_else(|| Origin {
            place: PROVIDER.to_owned(),
            team: None,
            channel: None,
            thread: None,
        }),
        quotes: Vec::new(),
        nonce,
        investigator: Investigator {
            provider: PROVIDER.to_owned(),
            model: String::new(),
            host: None,
            window: 0,
        },
        limits: Limits::default(),
        scope: None,
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: None,
        gathered: Box::default(),
        by_program: true,
        outside: Some(Box::new(outside)),
        alert: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

impl Gate {
    /// Lets the gate note what becomes of something that somebody else does, or does not.
    async fn admit(
        &mut self,
        owned: &OwnedSession<'_>,
        state: &State,
        step: &Step,
    ) -> Result<Option<Admission>, EngineError> {
        let Some(round) = step.round() else { return Ok(None) };
        self.approver.arm_last(state, step);
        let shell = self.open(owned.engine, state)?;
        let ruling = ruling_of(&round.classified);
        let reasoning = match &state.opened.outside {
            Some(asked) => {
                let request = &asked.request;
                format!("{} on {} in {}: {}", request.agent, request.machine, request.folder, step.reasoning)
            }
            None => step.reasoning.clone(),
        };
        let command = round.classified.command.as_str();
        let admission = shell.admit_as(command, &reasoning, ruling, CancelSignal::never()).await;
        self.approver.disarm();
        Ok(Some(admission))
    }
}

/// Uses the consent up, puts it on record, and records who has it. Cut off before the last, nobody has it, and it is done again.
pub(super) async fn hand_over(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    id: StepId,
    consumes: Option<String>,
    key: String,
) -> Result<(), EngineError> {
    let Some((state, step)) = snapshot(owned, id) else { return Ok(()) };
    if let Some(approval) = consumes.as_deref()
        && !consume(owned, &state, &step, approval).await?
    {
        let expired = ApprovalExpired { approval: approval.to_owned(), step: id };
        return owned.record(&[Event::ApprovalExpired(expired)], 0).await;
    }
    let (Some(admission), Some(round)) = (gate.admit(owned, &state, &step).await?, step.round()) else {
        return Ok(());
    };
    match admission {
        Admission::Refused(response) => owned.record(&[Event::Done(done(id, &response))], 0).await,
        Admission::Admitted(admitted) => {
            let intent = Intent { step: id, digest: round.classified.digest, approval: consumes };
            let events = [
                Event::Intent(intent),
                Event::Taken(Taken { step: id, key }),
                Event::Done(admitted_end(&step, *admitted)),
            ];
            owned.record(&events, 0).await
        }
    }
}

/// Lets the gate write down that nothing is handed over, and records that.
pub(super) async fn refuse_outside(
    owned: &mut OwnedSession<'_>,
    gate: &mut Gate,
    id: StepId,
) -> Result<(), EngineError> {
    let Some((state, step)) = snapshot(owned, id) else { return Ok(()) };
    match gate.admit(owned, &state, &step).await? {
        Some(Admission::Refused(response)) => owned.record(&[Event::Done(done(id, &response))], 0).await,
        // What is refused has an answer that says so, and is not admitted because that could not be read.
        Some(Admission::Admitted(admitted)) => {
            let end = Done {
                status: "denied".to_owned(),
                action: "user_abandoned".to_owned(),
                reason: "the answer could not be read".to_owned(),
                modified_command: None,
                ..admitted_end(&step, *admitted)
            };
            owned.record(&[Event::Done(end)], 0).await
        }
        None => Ok(()),
    }
}

fn admitted_end(step: &Step, admitted: Admitted) -> Done {
    let changed = step.rounds.len() > 1;
    Done {
        step: step.id,
        status: "completed".to_owned(),
        classification: admitted.verdict.as_str().to_owned(),
        action: if changed { "user_modified" } else { "user_approved" }.to_owned(),
        exit_code: None,
        output: String::new(),
        stderr: String::new(),
        error: None,
        reason: admitted.reason,
        hint: None,
        modified_command: changed.then_some(admitted.command),
        audit_id: admitted.audit_id,
        audit_head: None,
        duration_ms: None,
        evidence: None,
        output_metadata: serde_json::Value::Null,
        restored: false,
    }
}
