//! An answer while it arrives: bounded in size, in silence and in time.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::model::ModelError;
use crate::model::wire::client::Client;
use crate::model::wire::sse::{Event, Reader};
use crate::model::wire::status::{Class, Failed};

/// The most that is read of an answer.
pub(super) const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// The bytes of an answer.
pub(super) struct Body<'a> {
    client: &'a Client,
    response: Response,
    /// When the whole answer must be there.
    deadline: Instant,
    left: usize,
}

impl<'a> Body<'a> {
    pub(super) fn new(client: &'a Client, response: Response, deadline: Instant) -> Self {
        Self { client, response, deadline, left: MAX_RESPONSE_BYTES }
    }

    /// Returns the next bytes, nothing at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Failed> {
        let chunk = self.client.within(self.deadline, self.response.chunk()).await?;
        let Some(chunk) = chunk.map_err(|error| self.client.broken(error))? else { return Ok(None) };
        match self.left.checked_sub(chunk.len()) {
            Some(left) => self.left = left,
            None => {
                return Err(self.client.unreadable(format!("it is longer than {MAX_RESPONSE_BYTES} bytes")));
            }
        }
        Ok(Some(chunk.to_vec()))
    }

    /// Returns as much as is wanted, and whatever arrived of it where the rest fails to.
    pub(super) async fn beginning(mut self, bytes: usize) -> Vec<u8> {
        let mut read = Vec::new();
        while read.len() < bytes {
            match self.chunk().await {
                Ok(Some(chunk)) => read.extend(chunk),
                Ok(None) | Err(_) => break,
            }
        }
        read.truncate(bytes);
        read
    }
}

/// The events of an answer.
pub(crate) struct Events<'a> {
    body: Body<'a>,
    reader: Reader,
    ready: VecDeque<Event>,
}

impl<'a> Events<'a> {
    pub(super) fn new(body: Body<'a>) -> Self {
        Self { body, reader: Reader::default(), ready: VecDeque::new() }
    }

    /// Returns the next event, nothing where the stream ended. Whether it ended too early is for the provider to say.
    ///
    /// # Errors
    /// Fails where the connection breaks, is silent for too long or delivers too much.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, Failed> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.body.chunk().await? else { return Ok(None) };
            let mut events = Vec::new();
            let read = self.reader.push(&chunk, &mut events);
            read.map_err(|_| self.body.client.unreadable("an event has no end".to_owned()))?;
            self.ready.extend(events);
        }
    }

    /// Reads the data of an event as JSON.
    ///
    /// # Errors
    /// Fails where it is none.
    pub(crate) fn json(&self, event: &Event) -> Result<Value, Failed> {
        serde_json::from_str(&event.data)
            .map_err(|error| self.body.client.unreadable(format!("an event is no JSON: {error}")))
    }

    /// Makes the error that an event reports in the middle of a stream.
    ///
    /// `status` is the one that the same error has outside of a stream; `body` is the data of the event.
    pub(crate) fn reported(&self, status: u16, body: &str) -> Failed {
        self.body.client.failed(status, body, None)
    }

    /// Makes the error of a stream that ended before the turn did.
    pub(crate) fn cut(&self) -> Failed {
        let what = "the answer broke off".to_owned();
        Class::Unavailable.failed(self.body.client.provider(), what, None)
    }
}

impl Client {
    /// Waits for the network, but neither longer than it may be silent nor past the deadline.
    pub(super) async fn within<T>(
        &self,
        deadline: Instant,
        wait: impl Future<Output = T>,
    ) -> Result<T, Failed> {
        let timeouts = self.timeouts();
        let silence = Instant::now() + timeouts.idle;
        let after = |late: Duration| {
            Failed::from(ModelError::Timeout { provider: self.provider().to_owned(), after: late })
        };
        timeout_at(silence.min(deadline), wait)
            .await
            .map_err(|_| after(if silence < deadline { timeouts.idle } else { timeouts.total }))
    }
}
