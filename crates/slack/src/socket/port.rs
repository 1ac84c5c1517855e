//! What a socket needs from others.

use async_trait::async_trait;
use serde_json::Value;

use crate::arrive::Arrival;
use crate::web::{CallError, Web};

/// The acknowledgement of an arrival.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It is safe with us: Slack may forget it.
    Done,
    /// It is safe with us, and this is the answer: what is wrong with a form, for instance. Arrivals that take no answer are
    /// acknowledged without one.
    With(Value),
    /// It is not: Slack may send it again. Events come again, clicks as a rule do not.
    Refuse,
}

/// Takes what arrives.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Takes one arrival. What arrives over one connection is begun in its order; then many run side by side. Slack waits for
    /// three seconds, so that this should end as soon as the arrival is durable. A panic counts as [`Answer::Refuse`].
    async fn take(&self, arrival: Arrival) -> Answer;
}

/// Opens sockets.
#[async_trait]
pub trait Opener: Send + Sync {
    /// Returns the address of a new socket.
    ///
    /// # Errors
    /// Fails where Slack refuses or cannot be reached.
    async fn open(&self) -> Result<String, CallError>;
}

#[async_trait]
impl Opener for Web {
    async fn open(&self) -> Result<String, CallError> {
        self.connections_open().await
    }
}
