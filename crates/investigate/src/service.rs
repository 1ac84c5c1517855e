//! How long people waited: the service levels of a session, from the times of its events.

use std::time::Duration;

use crate::event::{Delivered, Event};
use crate::finding::Fault;
use crate::state::Approval;
use ghost_base::Timestamp;

/// How long it took from the report of a symptom, or from a question, to what somebody waited for. `None` where it did not come to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServiceTimes {
    /// To the first message in the thread.
    pub acknowledged: Option<Duration>,
    /// To the first cause that code accepted.
    pub cause: Option<Duration>,
    /// To the first answer that reached somebody.
    pub answered: Option<Duration>,
    /// The longest time from a question to the decision of a person.
    pub approval: Option<Duration>,
}

impl ServiceTimes {
    /// Takes one more event in, which was recorded so long after the session was opened.
    pub(crate) fn take(&mut self, event: &Event, after: Duration) {
        if let Event::Delivered(sent) = event {
            if sent.is_report() {
                self.answered = self.answered.or(Some(after));
            } else if is_sign(sent) {
                self.acknowledged = self.acknowledged.or(Some(after));
            }
        } else if let Event::FindingAccepted(found) = event
            && found.finding.code != Fault::NoDrift
        {
            self.cause = self.cause.or(Some(after));
        }
    }

    /// Takes the decision of a person in.
    pub(crate) fn decided(&mut self, approval: &Approval, at: Timestamp) {
        self.approval = self.approval.max(Some(at.since(approval.asked_at)));
    }
}

/// Tells whether somebody in the thread sees from it that the bot is there.
fn is_sign(sent: &Delivered) -> bool {
    sent.what == Delivered::BOARD || sent.what == Delivered::ALERT || sent.card().is_some()
}
