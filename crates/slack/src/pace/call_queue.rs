//! Waiting in the line.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::pace::queue::{CallRequest, Pace, Ticket};

/// What became of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The call may be made.
    Go,
    /// A newer one with the same name takes its place.
    Replaced,
}

/// A line in which calls wait for their turn.
#[derive(Debug)]
pub struct CallQueue {
    inner: Mutex<Inner>,
    began: Instant,
    /// Notified when a call ends for which another one of its name waits.
    finished: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    pace: Pace,
    turns: HashMap<Ticket, oneshot::Sender<Turn>>,
    /// When to check again, as long as nothing changes: where thousands wait, one of them checks for all.
    next_check: Option<Option<Duration>>,
}

impl Default for CallQueue {
    fn default() -> Self {
        Self { inner: Mutex::default(), began: Instant::now(), finished: Notify::new() }
    }
}

impl CallQueue {
    /// Makes a line for a workspace that allows so many times what Slack publishes.
    #[must_use]
    pub fn times(times: usize) -> Self {
        let inner = Inner { pace: Pace::times(times), ..Inner::default() };
        Self { inner: Mutex::new(inner), ..Self::default() }
    }

    /// Puts a call in line. Whoever drops the place leaves the line.
    pub fn enqueue(&self, request: CallRequest) -> QueuedCall<'_> {
        let (sender, turns) = oneshot::channel();
        let mut inner = self.lock();
        let (ticket, replaced) = inner.pace.enqueue(request.clone());
        inner.turns.insert(ticket, sender);
        inner.next_check = None;
        if let Some(sender) = replaced.and_then(|replaced| inner.turns.remove(&replaced)) {
            // Its caller may have gone away; then nobody needs to know.
            let _ = sender.send(Turn::Replaced);
        }
        QueuedCall { queue: self, request, ticket, turns, started: false }
    }

    /// Returns how many calls wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().pace.waiting()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Lets go who may; returns when to look again.
    fn advance(&self) -> Option<Instant> {
        let now = self.now();
        let mut inner = self.lock();
        if let Some(next_check) =
            inner.next_check.filter(|next_check| next_check.is_none_or(|next| now < next))
        {
            return next_check.map(|next| self.began + next);
        }
        for ticket in inner.pace.ready(now) {
            if let Some(sender) = inner.turns.remove(&ticket) {
                let _ = sender.send(Turn::Go);
            }
        }
        let next = inner.pace.next(now);
        inner.next_check = Some(next);
        next.map(|next| self.began + next)
    }
}

/// A place in the line.
#[derive(Debug)]
pub struct QueuedCall<'a> {
    queue: &'a CallQueue,
    request: CallRequest,
    ticket: Ticket,
    turns: oneshot::Receiver<Turn>,
    /// Whether its call may be running.
    started: bool,
}

impl QueuedCall<'_> {
    /// Waits for the turn.
    pub async fn turn(&mut self) -> Turn {
        loop {
            // A notification that arrives during the check is not missed.
            let mut finished = std::pin::pin!(self.queue.finished.notified());
            finished.as_mut().enable();
            let next = self.queue.advance();
            let pause = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    // Nobody waits: then the turn has been sent already.
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // The line lives as long as the place; without it there is nobody to wait for.
                turn = &mut self.turns => {
                    let turn = turn.unwrap_or(Turn::Go);
                    self.started = turn == Turn::Go;
                    return turn;
                }
                () = pause => {}
                () = finished => {}
            }
        }
    }

    /// Says that Slack refused with 429, and stands in line again, before all that came later.
    pub fn refused(&mut self, retry_after: Duration) {
        let (sender, turns) = oneshot::channel();
        self.turns = turns;
        let now = self.queue.now();
        let mut inner = self.queue.lock();
        self.started = false;
        inner.next_check = None;
        if inner.pace.requeue(self.ticket, self.request.clone(), now, retry_after) {
            inner.turns.insert(self.ticket, sender);
        } else {
            let _ = sender.send(Turn::Replaced);
        }
        drop(inner);
        self.queue.finished.notify_waiters();
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        let mut inner = self.queue.lock();
        // Its turn may have come without having been received.
        let waits = inner.turns.remove(&self.ticket).is_some();
        let turns = !waits && matches!(self.turns.try_recv(), Ok(Turn::Go));
        if waits {
            inner.pace.leave(self.ticket);
            inner.next_check = None;
        }
        if self.started || turns {
            inner.pace.finished(&self.request);
            if self.request.name.is_some() {
                inner.next_check = None;
            }
        }
        drop(inner);
        if self.request.name.is_some() {
            self.queue.finished.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Priority;
    use std::sync::Arc;

    fn request(name: Option<&str>) -> CallRequest {
        let name = name.map(str::to_owned);
        CallRequest { name, ..CallRequest::new(Priority::Board, "chat.update", Some("C1")) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_replaced_call_is_notified_and_the_newer_one_goes() {
        let queue = CallQueue::default();
        let mut old = queue.enqueue(request(Some("1")));
        let mut new = queue.enqueue(request(Some("1")));
        assert_eq!((old.turn().await, new.turn().await), (Turn::Replaced, Turn::Go));
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_of_a_name_goes_when_the_one_before_is_over_or_given_up() {
        let queue = CallQueue::default();
        let mut one = queue.enqueue(request(Some("1")));
        assert_eq!(one.turn().await, Turn::Go);
        let mut two = queue.enqueue(request(Some("1")));
        let over = async {
            tokio::task::yield_now().await;
            drop(one);
        };
        let (turn, ()) = tokio::join!(two.turn(), over);
        assert_eq!(turn, Turn::Go);
        // The turn of this one came, and its caller never received it.
        let three = queue.enqueue(request(Some("2")));
        queue.advance();
        drop(three);
        assert_eq!(queue.enqueue(request(Some("2"))).turn().await, Turn::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_call_goes_again_when_it_may() {
        let queue = CallQueue::default();
        let mut place = queue.enqueue(request(Some("1")));
        assert_eq!(place.turn().await, Turn::Go);
        place.refused(Duration::from_secs(30));
        let began = Instant::now();
        assert_eq!(place.turn().await, Turn::Go);
        assert_eq!(began.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_goes_in_the_end_and_those_who_gave_up_are_gone() {
        let queue = Arc::new(CallQueue::default());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..200 {
            let queue = Arc::clone(&queue);
            tasks.spawn(async move { queue.enqueue(request(None)).turn().await });
        }
        drop(queue.enqueue(request(None)));
        assert!(tasks.join_all().await.iter().all(|turn| *turn == Turn::Go));
        assert_eq!(queue.waiting(), 0);
    }
}
