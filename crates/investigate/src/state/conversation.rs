//! What was said, in order.

use crate::event::{ObservationId, Returned, StepId, Wish};
use crate::model::{Brain, Call, Carry, Stop};
use ghost_base::Timestamp;

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A human said something.
    Said {
        /// When.
        at: Timestamp,
        /// Who.
        who: String,
        /// What.
        text: String,
        /// What it asks for.
        wish: Wish,
    },
    /// The code told the model something.
    Noted {
        /// What.
        text: String,
    },
    /// The model took a turn.
    Turn(Turn),
}

/// A turn of the model and what came of its calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its number, from zero.
    pub number: u32,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who took it.
    pub brain: Brain,
    /// Its words.
    pub text: String,
    /// Its calls.
    pub calls: Vec<CallState>,
    /// What its provider wants to see again.
    pub carry: Option<Carry>,
    /// Why it ended.
    pub stop: Stop,
}

/// A call and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallState {
    /// The call.
    pub call: Call,
    /// Its commands, in order.
    pub steps: Vec<StepId>,
    /// What it observed.
    pub observations: Vec<ObservationId>,
    /// Its result; `None` while it is open.
    pub returned: Option<Returned>,
}
