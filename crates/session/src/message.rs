//! What is put into a session's inbox.

use serde::{Deserialize, Serialize};

use ghost_base::Timestamp;
use ghost_investigate::event::{Alerted, Attended, HumanMessage, Opened, Outside, Reworded, TakeRequested};

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum InboxMessage {
    /// An incident. It begins the session; a second one is kept as words.
    Open(Box<Opened>),
    /// Words of a human.
    Said(HumanMessage),
    /// Words of a human who means this session whatever its state: behind its report it goes on.
    Again(HumanMessage),
    /// What an agent wants to do that no session drives. It begins a session of its own.
    Ask(Box<Outside>),
    /// That agent's side wants to use the consent up.
    Take(TakeRequested),
    /// Somebody there began or ceased to wait.
    Attend(Attended),
    /// Somebody says that it is fixed: the findings of the report are checked again, and nothing else.
    Recheck(HumanMessage),
    /// Somebody edited the complaint, or said what was meant: it replaces the question.
    Reword(Reworded),
    /// The sender of the alert that opened it says more.
    Alert(Alerted),
}

/// What stands beside a message's own fields. Earlier versions pass over what they do not know.
#[derive(Serialize, Deserialize)]
struct Stamp {
    /// When the message reached Ghost.
    arrived: String,
    /// What the message opens if the ledger has no session yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opens: Option<Box<Opened>>,
}

#[derive(Serialize)]
struct Stamped<'a> {
    #[serde(flatten)]
    message: &'a InboxMessage,
    #[serde(flatten)]
    stamp: Stamp,
}

impl InboxMessage {
    /// Writes the message, with the moment at which it reached Ghost.
    ///
    /// # Errors
    /// Fails where it cannot be written.
    pub fn stamped(&self, at: Timestamp) -> Result<String, serde_json::Error> {
        self.opening(at, None)
    }

    /// Writes the message with the incident that it opens if there is no session. The sender may have read a store that forgets
    /// what it said; the owner of the session reads the ledger that it then writes.
    ///
    /// # Errors
    /// Fails if the message cannot be written.
    pub fn opening(&self, at: Timestamp, opens: Option<Box<Opened>>) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Stamped { message: self, stamp: Stamp { arrived: at.to_string(), opens } })
    }

    /// Reads from a written message which incident it opens if there is no session.
    #[must_use]
    pub fn opens(text: &str) -> Option<Box<Opened>> {
        serde_json::from_str::<Stamp>(text).ok()?.opens
    }

    /// Reads from a written message when it reached Ghost.
    #[must_use]
    pub fn arrived(text: &str) -> Option<Timestamp> {
        serde_json::from_str::<Stamp>(text).ok()?.arrived.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_investigate::event::Instruction;

    #[test]
    fn a_stamp_is_read_and_does_not_change_the_letter() {
        let said =
            HumanMessage { who: "U1".to_owned(), text: "so?".to_owned(), instruction: Instruction::Steer };
        let (message, at) = (InboxMessage::Again(said), Timestamp::from_millis(1_700_000_000_123));
        let text = message.stamped(at).unwrap();
        assert_eq!(serde_json::from_str::<InboxMessage>(&text).unwrap(), message);
        assert_eq!(InboxMessage::arrived(&text), Some(at));
        assert_eq!(InboxMessage::arrived(&serde_json::to_string(&message).unwrap()), None);
        assert_eq!(InboxMessage::arrived("{\"arrived\":\"soon\"}"), None);
    }
}
