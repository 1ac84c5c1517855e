//! Tracks what messages show in Slack: no message is ever changed back to something older.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use serde_json::Value;

use crate::bot::present::render::RenderedMessage;
use ghost_base::Digest;
use ghost_slack::web::{CallError, Posted, Streamed, UpdateOutcome, Web};

/// A message changes once in this time: nobody reads faster, and Slack counts each change.
const MIN_CHANGE_INTERVAL: Duration = Duration::from_secs(1);

/// Of so many messages it is remembered what they show.
const MAX_TRACKED_MESSAGES: usize = 10_000;

/// A message that has not changed for so long belongs to a session that goes on elsewhere, or not at all. Whoever changes it
/// then reads it first.
const TRACKED_FOR: Duration = Duration::from_secs(3600);

/// Slack ends a stream after five minutes, whatever comes.
const MAX_STREAM_AGE: Duration = Duration::from_secs(240);

/// Slack lets twenty streams begin in a minute; some of them may be another replica's.
const MAX_STREAMS_A_MINUTE: usize = 5;

const MINUTE: Duration = Duration::from_secs(60);

/// The number of a change that was overtaken before anybody wanted it; others count from one.
const OVERTAKEN: u64 = 0;

/// Slack's word for a message that is still written and cannot be changed.
const STREAMING: &str = "streaming_state_conflict";

/// The messages that stand.
#[derive(Default)]
pub(super) struct MessageTracker {
    rows: Mutex<HashMap<Posted, Tracked>>,
    /// When streams were begun.
    streams: Mutex<VecDeque<Instant>>,
}

#[derive(Default)]
struct Tracked {
    /// The number of the newest change that somebody wants.
    newest: u64,
    /// How much of the ledger that change shows.
    seq: u64,
    /// What is shown, as far as it is known: nothing while a call runs.
    shown: Option<Digest>,
    /// When it was changed last.
    changed: Option<Instant>,
    /// What was written so far, while more can be written.
    stream: Option<Stream>,
}

struct Stream {
    begun: Instant,
    written: Streamed,
}

/// A change that waits for its turn.
pub(super) struct Change {
    posted: Posted,
    number: u64,
    rendered: RenderedMessage,
}

/// How a change is made.
enum Step {
    /// More is written, or nothing where all of it is there.
    Append(Vec<Value>),
    /// Nothing more is written, and then it is changed.
    Stop,
    Update,
}

impl MessageTracker {
    /// Says that a message is to become another one. Whoever said so before has been overtaken, and so is at once what shows less of
    /// the ledger: it was read before the last change and drawn after it.
    pub(super) fn want(&self, posted: Posted, rendered: RenderedMessage) -> Change {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(posted.clone()).or_default();
        if rendered.seq < row.seq {
            return Change { posted, number: OVERTAKEN, rendered };
        }
        row.newest += 1;
        row.seq = rendered.seq;
        Change { posted, number: row.newest, rendered }
    }

    /// Waits until a message has stood for a moment. What is wanted meanwhile overtakes the change.
    pub(super) async fn wait_for_interval(&self, change: &Change) {
        let changed = {
            let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.get(&change.posted).and_then(|row| row.changed)
        };
        sleep(rest_of(changed)).await;
    }

    /// Tells whether somebody wants something newer, or nothing any more.
    pub(super) fn is_overtaken(&self, change: &Change) -> bool {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(&change.posted).is_none_or(|row| row.newest != change.number)
    }

    /// Tells whether a message may still change.
    pub(super) fn knows(&self, posted: &Posted) -> bool {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).contains_key(posted)
    }

    /// Makes a change, unless it was overtaken or shows what stands there already. It waits in the line of calls and nowhere before
    /// it, so that a newer one can take its place there, and one that is urgent goes first.
    pub(super) async fn show(&self, web: &Web, change: Change) -> Result<UpdateOutcome, CallError> {
        let mut is_stopped = false;
        loop {
            if let Some(done) = self.begin(&change) {
                return Ok(done);
            }
            match self.step(&change) {
                Step::Append(more) if more.is_empty() => {
                    self.finish(&change);
                    return Ok(UpdateOutcome::Now);
                }
                Step::Append(more) => match web.append_stream(&change.posted, &more).await {
                    Ok(UpdateOutcome::Now) => {
                        self.written(&change);
                        return Ok(UpdateOutcome::Now);
                    }
                    Ok(UpdateOutcome::Replaced) => {}
                    // It has ended, or holds no more: it is changed like any other.
                    Err(error) if error.code().is_some() => self.stop(web, &change).await?,
                    Err(error) => return Err(error),
                },
                Step::Stop => self.stop(web, &change).await?,
                Step::Update => match web.update(&change.posted, &change.rendered.message).await {
                    Ok(UpdateOutcome::Now) => {
                        self.finish(&change);
                        return Ok(UpdateOutcome::Now);
                    }
                    // An older one that stood up late may have taken its place; then it is not overtaken.
                    Ok(UpdateOutcome::Replaced) => {}
                    // Whoever began to write it is gone.
                    Err(error) if error.code() == Some(STREAMING) && !is_stopped => {
                        is_stopped = true;
                        self.stop(web, &change).await?;
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// Says how a change is made.
    fn step(&self, change: &Change) -> Step {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stream) = rows.get(&change.posted).and_then(|row| row.stream.as_ref()) else {
            return Step::Update;
        };
        let fresh = change.rendered.streamed.as_ref().filter(|_| stream.begun.elapsed() < MAX_STREAM_AGE);
        fresh.and_then(|streamed| streamed.since(&stream.written)).map_or(Step::Stop, Step::Append)
    }

    /// Notes what was written.
    fn written(&self, change: &Change) {
        self.finish(change);
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = rows.get_mut(&change.posted).and_then(|row| row.stream.as_mut());
        if let Some((stream, streamed)) = stream.zip(change.rendered.streamed.clone()) {
            stream.written = streamed;
        }
    }

    /// Ends what is being written.
    async fn stop(&self, web: &Web, change: &Change) -> Result<(), CallError> {
        if let Some(row) = self.rows.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&change.posted) {
            row.stream = None;
        }
        web.stop_stream(&change.posted, change.rendered.standing).await
    }

    /// Tells whether a stream may begin now; whoever asks begins one.
    pub(super) fn may_stream(&self) -> bool {
        let mut begun = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain(|begun| begun.elapsed() < MINUTE);
        let may = begun.len() < MAX_STREAMS_A_MINUTE;
        if may {
            begun.push_back(Instant::now());
        }
        may
    }

    /// Notes a message that is written from now on.
    pub(super) fn note_streamed(&self, posted: &Posted, written: Streamed) {
        self.note(posted, None);
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.entry(posted.clone()).or_default().stream = Some(Stream { begun: Instant::now(), written });
    }

    /// Says what became of a change for which there is nothing to do.
    fn begin(&self, change: &Change) -> Option<UpdateOutcome> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(row) = rows.get_mut(&change.posted).filter(|row| row.newest == change.number) else {
            return Some(UpdateOutcome::Replaced);
        };
        if row.shown == Some(change.rendered.digest) {
            return Some(UpdateOutcome::Now);
        }
        (row.shown, row.changed) = (None, Some(Instant::now()));
        None
    }

    /// Notes what is shown, unless a newer change is waiting.
    fn finish(&self, change: &Change) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = rows.get_mut(&change.posted).filter(|row| row.newest == change.number) {
            row.shown = Some(change.rendered.digest);
        }
    }

    /// Tells whether exactly this is shown, as far as is known here.
    pub(super) fn shows(&self, posted: &Posted, digest: Digest) -> Option<bool> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.get(posted)?;
        // A change that still waits would make it something else.
        Some(row.shown == Some(digest))
    }

    /// Notes what was posted.
    pub(super) fn note(&self, posted: &Posted, shown: Option<Digest>) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.entry(posted.clone()).or_default();
        row.shown = shown;
        row.changed = Some(Instant::now());
        if rows.len() > MAX_TRACKED_MESSAGES {
            rows.retain(|_, row| row.changed.is_some_and(|changed| changed.elapsed() < TRACKED_FOR));
        }
    }

    /// Forgets a message that will not change any more.
    pub(super) fn forget(&self, posted: &Posted) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).remove(posted);
    }
}

/// Returns how much of a moment is left.
pub(super) fn rest_of(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| MIN_CHANGE_INTERVAL.saturating_sub(since.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_slack::web::{Message, SessionState};

    fn shows(seq: u64) -> RenderedMessage {
        RenderedMessage {
            what: "board".to_owned(),
            seq,
            message: Message::text(seq.to_string()),
            digest: Digest::of(seq.to_string()),
            streamed: None,
            standing: SessionState::Active,
        }
    }

    #[test]
    fn what_shows_less_of_the_ledger_is_overtaken_though_it_was_drawn_later() {
        let tracker = MessageTracker::default();
        let there = Posted { channel: "C1".to_owned(), ts: "1.2".to_owned() };
        let first = tracker.want(there.clone(), shows(5));
        let read_before = tracker.want(there.clone(), shows(4));
        assert!(tracker.is_overtaken(&read_before) && !tracker.is_overtaken(&first));
        // Nothing happened, and it is shown anew: a freeze, for instance.
        let again = tracker.want(there, shows(5));
        assert!(tracker.is_overtaken(&first) && !tracker.is_overtaken(&again));
    }
}
