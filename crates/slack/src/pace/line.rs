//! Waiting in the line.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::pace::queue::{Ask, Pace, Ticket};

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
pub struct Line {
    inner: Mutex<Inner>,
    began: Instant,
    /// Told when a call is over for which another one of its name waits.
    landed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    pace: Pace,
    told: HashMap<Ticket, oneshot::Sender<Turn>>,
    /// When to look again, as long as nothing changes: where thousands wait, one of them looks for all.
    known: Option<Option<Duration>>,
}

impl Default for Line {
    fn default() -> Self {
        Self { inner: Mutex::default(), began: Instant::now(), landed: Notify::new() }
    }
}

impl Line {
    /// Makes a line for a workspace that allows so many times what Slack publishes.
    #[must_use]
    pub fn times(times: usize) -> Self {
        let inner = Inner { pace: Pace::times(times), ..Inner::default() };
        Self { inner: Mutex::new(inner), ..Self::default() }
    }

    /// Puts a call in line. Whoever drops the place leaves the line.
    pub fn stand(&self, ask: Ask) -> Standing<'_> {
        let (tell, told) = oneshot::channel();
        let mut inner = self.lock();
        let (ticket, replaced) = inner.pace.stand(ask.clone());
        inner.told.insert(ticket, tell);
        inner.known = None;
        if let Some(tell) = replaced.and_then(|replaced| inner.told.remove(&replaced)) {
            // Its caller may have gone away; then nobody needs to know.
            let _ = tell.send(Turn::Replaced);
        }
        Standing { line: self, ask, ticket, told, went: false }
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
    fn look(&self) -> Option<Instant> {
        let now = self.now();
        let mut inner = self.lock();
        if let Some(known) = inner.known.filter(|known| known.is_none_or(|next| now < next)) {
            return known.map(|next| self.began + next);
        }
        for ticket in inner.pace.ready(now) {
            if let Some(tell) = inner.told.remove(&ticket) {
                let _ = tell.send(Turn::Go);
            }
        }
        let next = inner.pace.next(now);
        inner.known = Some(next);
        next.map(|next| self.began + next)
    }
}

/// A place in the line.
#[derive(Debug)]
pub struct Standing<'a> {
    line: &'a Line,
    ask: Ask,
    ticket: Ticket,
    told: oneshot::Receiver<Turn>,
    /// Whether its call may be under way.
    went: bool,
}

impl Standing<'_> {
    /// Waits for the turn.
    pub async fn turn(&mut self) -> Turn {
        loop {
            // Whoever is told while we look is not missed.
            let mut landed = std::pin::pin!(self.line.landed.notified());
            landed.as_mut().enable();
            let next = self.line.look();
            let pause = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    // Nobody waits: then the turn has been told already.
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // The line lives as long as the place; without it there is nobody to wait for.
                turn = &mut self.told => {
                    let turn = turn.unwrap_or(Turn::Go);
                    self.went = turn == Turn::Go;
                    return turn;
                }
                () = pause => {}
                () = landed => {}
            }
        }
    }

    /// Says that Slack refused with 429, and stands in line again, before all that came later.
    pub fn refused(&mut self, retry_after: Duration) {
        let (tell, told) = oneshot::channel();
        self.told = told;
        let now = self.line.now();
        let mut inner = self.line.lock();
        self.went = false;
        inner.known = None;
        if inner.pace.stand_again(self.ticket, self.ask.clone(), now, retry_after) {
            inner.told.insert(self.ticket, tell);
        } else {
            let _ = tell.send(Turn::Replaced);
        }
        drop(inner);
        self.line.landed.notify_waiters();
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let mut inner = self.line.lock();
        // It may have been told to go without having heard it.
        let waits = inner.told.remove(&self.ticket).is_some();
        let told = !waits && matches!(self.told.try_recv(), Ok(Turn::Go));
        if waits {
            inner.pace.leave(self.ticket);
            inner.known = None;
        }
        if self.went || told {
            inner.pace.landed(&self.ask);
            if self.ask.name.is_some() {
                inner.known = None;
            }
        }
        drop(inner);
        if self.ask.name.is_some() {
            self.line.landed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Priority;
    use std::sync::Arc;

    fn ask(name: Option<&str>) -> Ask {
        let name = name.map(str::to_owned);
        Ask { name, ..Ask::new(Priority::Board, "chat.update", Some("C1")) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_replaced_call_is_told_and_the_newer_one_goes() {
        let line = Line::default();
        let mut old = line.stand(ask(Some("1")));
        let mut new = line.stand(ask(Some("1")));
        assert_eq!((old.turn().await, new.turn().await), (Turn::Replaced, Turn::Go));
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_of_a_name_goes_when_the_one_before_is_over_or_given_up() {
        let line = Line::default();
        let mut one = line.stand(ask(Some("1")));
        assert_eq!(one.turn().await, Turn::Go);
        let mut two = line.stand(ask(Some("1")));
        let over = async {
            tokio::task::yield_now().await;
            drop(one);
        };
        let (turn, ()) = tokio::join!(two.turn(), over);
        assert_eq!(turn, Turn::Go);
        // This one was told to go, and its caller never heard of it.
        let three = line.stand(ask(Some("2")));
        line.look();
        drop(three);
        assert_eq!(line.stand(ask(Some("2"))).turn().await, Turn::Go);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_call_goes_again_when_it_may() {
        let line = Line::default();
        let mut place = line.stand(ask(Some("1")));
        assert_eq!(place.turn().await, Turn::Go);
        place.refused(Duration::from_secs(30));
        let began = Instant::now();
        assert_eq!(place.turn().await, Turn::Go);
        assert_eq!(began.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_goes_in_the_end_and_those_who_gave_up_are_gone() {
        let line = Arc::new(Line::default());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..200 {
            let line = Arc::clone(&line);
            tasks.spawn(async move { line.stand(ask(None)).turn().await });
        }
        drop(line.stand(ask(None)));
        assert!(tasks.join_all().await.iter().all(|turn| *turn == Turn::Go));
        assert_eq!(line.waiting(), 0);
    }
}
