//! What is put into a session's inbox.

use serde::{Deserialize, Serialize};

use crate::agent::event::{Opened, Said};

/// A letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Letter {
    /// An incident. It begins the session; a second one is kept as words.
    Open(Box<Opened>),
    /// Words of a human.
    Said(Said),
    /// Words of a human who means this session whatever its state: behind its report it goes on.
    Again(Said),
}

/// The incident that a session begins with.
pub type Opening = Opened;
