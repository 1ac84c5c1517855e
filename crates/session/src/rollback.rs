//! A store that forgets: how it is noticed, and what this process writes back.
//!
//! Goes in: the ledgers that this process read and wrote, and a number that it counts up in the store. Comes out: the lines that
//! the store has lost, written back once; and the moment since when what the store says of open questions is not the whole truth.
//!
//! A store loses what it acknowledged when a server is promoted that did not have it, or is started from an older file.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::owned::OwnedSession;
use crate::{Engine, EngineError};
use futures_util::future::BoxFuture;
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{ApprovalExpired, Event, Reply, Unknown};
use ghost_investigate::state::{Ending, Phase, State, Step};
use ghost_store::{Claimed, Store, StoreError};
use tokio::time::Instant;

/// The flag that says when the store was last found to have lost something, in milliseconds.
const FLAG: &str = "rolled_back";

/// How long the number of a process is remembered.
const COUNT_KEPT: Duration = Duration::from_secs(24 * 3_600);

/// How many bytes of ledgers one process keeps: those of some thousand sessions.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// How long a ledger is kept after it was driven here: a loss is noticed within seconds, and a deleted text must not stay in memory.
const LEDGER_KEPT: Duration = Duration::from_secs(3_600);

/// For how long no question expires while something is still to be written back: longer than a lease that nobody holds any more.
const EXPIRY_PAUSE: Duration = Duration::from_secs(30);

/// What one process knows of the store's past. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct StoreHistory(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The number that the store acknowledged last, and the one that was sent since without an answer.
    count: Option<u64>,
    sent: u64,
    /// The ledgers that were driven here, as they were when they were given back, the oldest first.
    ledgers: HashMap<SessionId, Kept>,
    order: VecDeque<SessionId>,
    bytes: usize,
    /// The sessions that were not compared with the store since it was found to have lost something.
    unchecked: HashSet<SessionId>,
    /// When this process last found that.
    noticed: Option<Instant>,
}

#[derive(Debug)]
struct Kept {
    since: Instant,
    lines: Arc<Vec<String>>,
}

impl Known {
    /// Forgets the ledgers that are too old or too many.
    fn prune(&mut self) {
        while let Some(oldest) = self.order.front() {
            let is_old = self.ledgers.get(oldest).is_none_or(|kept| kept.since.elapsed() > LEDGER_KEPT);
            if !is_old && self.bytes <= MAX_KEPT_BYTES {
                return;
            }
            let gone = self.order.pop_front().and_then(|oldest| self.ledgers.remove(&oldest));
            self.bytes -= gone.map_or(0, |gone| size(&gone.lines));
        }
    }
}

fn size(lines: &[String]) -> usize {
    lines.iter().map(String::len).sum()
}

impl StoreHistory {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the lines of a ledger that is given back.
    pub(super) fn keep(&self, session: &SessionId, lines: Vec<String>) {
        let mut known = self.known();
        known.bytes += size(&lines);
        let kept = Kept { since: Instant::now(), lines: Arc::new(lines) };
        if let Some(before) = known.ledgers.insert(session.clone(), kept) {
            known.bytes -= size(&before.lines);
            known.order.retain(|other| other != session);
        }
        known.order.push_back(session.clone());
        known.prune();
    }

    /// Returns the lines of a ledger as this process knew them last.
    pub(super) fn ledger(&self, session: &SessionId) -> Option<Arc<Vec<String>>> {
        self.known().ledgers.get(session).map(|kept| Arc::clone(&kept.lines))
    }

    /// Returns the sessions that are to be compared with the store, with the number of lines known here.
    fn unchecked(&self) -> Vec<(SessionId, u64)> {
        let mut known = self.known();
        known.prune();
        let Known { ledgers, unchecked, .. } = &mut *known;
        unchecked.retain(|session| ledgers.contains_key(session));
        let length = |kept: &Kept| u64::try_from(kept.lines.len()).unwrap_or(u64::MAX);
        let kept = ledgers.iter().filter(|(session, _)| unchecked.contains(*session));
        kept.map(|(session, kept)| (session.clone(), length(kept))).collect()
    }

    /// Returns whether questions may expire: not while an answer to one may yet be written back.
    pub(super) fn may_expire(&self) -> bool {
        let known = self.known();
        known.unchecked.is_empty() || known.noticed.is_none_or(|noticed| noticed.elapsed() > EXPIRY_PAUSE)
    }

    fn is_checked(&self, session: &SessionId) {
        self.known().unchecked.remove(session);
    }

    /// Counts the number of this process up in the store. Returns whether the store has another number than it acknowledged.
    async fn went_back(&self, store: &dyn Store, owner: &str) -> Result<bool, StoreError> {
        let (count, next) = {
            let mut known = self.known();
            known.sent += 1;
            (known.count, known.sent)
        };
        let (expected, value) = (count.map(|count| count.to_string()), next.to_string());
        let name = format!("history {owner}");
        let claimed = store.claim(&name, expected.as_deref(), &value, COUNT_KEPT).await?;
        let mut known = self.known();
        let found = match claimed {
            Claimed::Set => {
                known.count = Some(next);
                return Ok(false);
            }
            Claimed::Held(found) => found.and_then(|text| text.parse::<u64>().ok()),
        };
        known.count = found;
        // A number that was sent without an answer may have arrived, and so may one that another task sent meanwhile.
        let went_back = found < count;
        if went_back {
            known.unchecked = known.ledgers.keys().cloned().collect();
            known.noticed = Some(Instant::now());
        }
        Ok(went_back)
    }
}

impl Engine {
    /// Notices whether the store lost something since it was asked last, and lets every replica know.
    ///
    /// # Errors
    /// Fails where the store cannot be reached.
    pub(super) async fn check_history(&self) -> Result<bool, StoreError> {
        if !self.history.went_back(self.store.as_ref(), &self.owner).await? {
            return Ok(false);
        }
        let now = self.clock.now();
        tracing::error!("the store lost what it had acknowledged; open questions are asked again");
        self.observer.trouble("the store lost what it had acknowledged; open questions are asked again");
        self.store.set_flag(FLAG, Some(&now.as_millis().to_string())).await?;
        Ok(true)
    }

    /// Returns the sessions of which the store has less than this process knows, since it was last found to have lost something.
    /// Whoever noticed that loss, the sessions come up here until each is whole again or somebody else goes on with it.
    pub(super) async fn lost_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let mut lost = Vec::new();
        for (session, length) in self.history.unchecked() {
            if self.store.length(&session).await? < length {
                lost.push(session);
            } else {
                self.history.is_checked(&session);
            }
        }
        Ok(lost)
    }

    /// Writes back what the store has lost of a session, and lets it come up for work.
    pub(super) async fn write_back(&self, session: &SessionId) -> Result<(), EngineError> {
        let Some(lease) = self.store.acquire(session, &self.owner, self.lease_ttl).await? else {
            // Its owner finds out when it writes. The lease may also be one of the past, which nobody holds: it is tried again.
            return Ok(());
        };
        let owned = OwnedSession::open(self, lease).await?;
        // What cannot be put behind the store's lines now never can.
        self.history.is_checked(session);
        Ok(self.store.hand_over(&owned.lease).await?)
    }
}

/// Closes the question of a step that was asked before the store lost something: whether it was answered, and its command ran, may
/// be among what is lost. Returns whether there was one.
pub(super) fn doubt<'s>(owned: &'s mut OwnedSession<'_>) -> BoxFuture<'s, Result<bool, EngineError>> {
    Box::pin(async move {
        let is_asked = |state: &State| state.open_step().is_some_and(|step| asked(state, step).is_some());
        if !owned.state().is_some_and(is_asked) {
            return Ok(false);
        }
        let Some(flag) = owned.engine.store.flag(FLAG).await? else { return Ok(false) };
        let Some(noticed) = flag.parse().ok().map(Timestamp::from_millis) else { return Ok(false) };
        let Some(state) = owned.state() else { return Ok(false) };
        let Some(step) = state.open_step() else { return Ok(false) };
        let Some((approval, is_open, at)) = asked(state, step) else { return Ok(false) };
        if at >= noticed {
            return Ok(false);
        }
        let expired = Event::ApprovalExpired(ApprovalExpired { approval, step: step.id });
        let unknown = Event::Unknown(Unknown { step: step.id, epoch: owned.lease.epoch() });
        let events: Vec<Event> = is_open.then_some(expired).into_iter().chain([unknown]).collect();
        owned.record(&events, 0).await?;
        Ok(true)
    })
}

/// Returns the question that a step waits for or was allowed by, whether it is open, and when it was asked; none where the command
/// began, or where its outcome is asked about already.
fn asked(state: &State, step: &Step) -> Option<(String, bool, Timestamp)> {
    let name = match &step.phase {
        Phase::AwaitingApproval { approval }
        | Phase::Decided { approval, .. }
        | Phase::Expired { approval } => approval,
        Phase::Intended { approval } => approval.as_ref()?,
        Phase::Proposed | Phase::Judged | Phase::Executing { .. } | Phase::Unknown | Phase::Done => {
            return None;
        }
    };
    let asked = state.approvals.get(name)?;
    let is_denied =
        matches!(&asked.ending, Some(Ending::Decided { answer, .. }) if *answer != Reply::Approve);
    // What says already that the command may have run is not asked once more, and an agent elsewhere knows itself what it did.
    let is_warned = asked.requested.outcome_unknown || state.opened.outside.is_some();
    (!is_denied && !is_warned).then(|| (name.clone(), asked.ending.is_none(), asked.asked_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_store::{EmbeddedStore, Settings};

    fn session(name: &str) -> SessionId {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn a_store_that_is_older_than_what_it_acknowledged_is_noticed_once() {
        let folder = tempfile::tempdir().unwrap();
        let (now, before) = (folder.path().join("store"), folder.path().join("before"));
        let history = StoreHistory::default();
        let count = async |file: &std::path::Path| {
            let store = EmbeddedStore::open(file, Settings::default()).unwrap();
            history.went_back(&store, "a").await.unwrap()
        };
        assert!(!count(&now).await);
        std::fs::copy(&now, &before).unwrap();
        assert!(!count(&now).await);
        assert!(!count(&now).await);
        assert!(count(&before).await);
        assert!(!count(&before).await);
        let empty = folder.path().join("empty");
        assert!(count(&empty).await);
        assert!(!count(&empty).await);
    }

    #[test]
    fn the_oldest_ledgers_are_forgotten_first() {
        let history = StoreHistory::default();
        history.keep(&session("s1"), vec!["x".repeat(MAX_KEPT_BYTES / 2)]);
        history.keep(&session("s1"), vec!["y".repeat(MAX_KEPT_BYTES / 2)]);
        history.keep(&session("s2"), vec!["z".to_owned()]);
        assert!(history.ledger(&session("s1")).is_some());
        history.keep(&session("s3"), vec!["x".repeat(MAX_KEPT_BYTES / 2 + 1)]);
        assert!(history.ledger(&session("s1")).is_none());
        assert_eq!(history.ledger(&session("s2")).unwrap().as_slice(), ["z"]);
    }
}
