//! The body of a request, with a time limit.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::http::admission::Place;

/// Why a body was not read to its end.
type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A body that fails if it is not whole in time, and notes when it is: from then on the server works.
pub(super) struct TimedBody {
    body: Incoming,
    place: Arc<Place>,
    deadline: Pin<Box<Sleep>>,
}

impl TimedBody {
    pub(super) fn new(body: Incoming, place: Arc<Place>, limit: Duration) -> Self {
        Self { body, place, deadline: Box::pin(sleep(limit)) }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.place.working();
        }
        match polled {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(BodyError::from))),
            Poll::Pending => match self.deadline.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err("the body did not arrive in time".into()))),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
