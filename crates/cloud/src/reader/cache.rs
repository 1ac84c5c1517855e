//! What was read in one turn of a session: the same read, wanted again in it, is answered from here.
//!
//! Goes in: a read, and what it came to. Comes out: the same, with who read it when, and for which line. Never: a failure; what was
//! read in another turn, before a change that this process has made, or minutes ago; anything outside of a turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ghost_base::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::request::Request;

/// Something older is read again, however long a turn takes: somebody may have been asked meanwhile.
const MAX_AGE: Duration = Duration::from_secs(120);

/// So many reads are kept at the most, and none with a larger answer.
const MAX_KEPT: usize = 256;
const MAX_KEPT_BYTES: usize = 4 << 20;

/// What is read: how it is worded, and what is picked from it, does not matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    command: &'static str,
    values: BTreeMap<&'static str, String>,
    subscription: String,
}

impl Key {
    pub(super) fn of(request: &Request, subscription: &str) -> Self {
        Self {
            command: request.row.name,
            values: request.values.clone(),
            subscription: subscription.to_ascii_lowercase(),
        }
    }
}

/// What a read came to, and what it was read with.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) document: Arc<Value>,
    /// As whom.
    pub(super) identity: Arc<str>,
    /// The line that it was read for.
    pub(super) line: String,
    pub(super) at: Timestamp,
    pub(super) since: Instant,
    /// How many changes had begun or ended by then.
    pub(super) changes: u64,
}

/// The place of one read. Whoever holds it reads; who wants the same waits, and then has it.
pub(super) type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// What one session has read in this turn.
#[derive(Debug, Default)]
pub(super) struct TurnCache(Mutex<Turn>);

#[derive(Debug, Default)]
struct Turn {
    /// Nothing outside of a turn.
    number: Option<u64>,
    slots: BTreeMap<Key, Slot>,
}

impl TurnCache {
    /// Says which turn it is. What was read in another one is forgotten.
    pub(super) fn begin(&self, number: Option<u64>) {
        let mut turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.number != number {
            *turn = Turn { number, slots: BTreeMap::new() };
        }
    }

    /// Returns the place of a read; nothing where it has to be read in any case.
    pub(super) fn slot(&self, key: Key) -> Option<Slot> {
        let mut turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turn.number?;
        let is_full = turn.slots.len() >= MAX_KEPT && !turn.slots.contains_key(&key);
        (!is_full).then(|| Arc::clone(turn.slots.entry(key).or_default()))
    }
}

/// Tells whether what was kept answers now.
pub(super) fn is_good(kept: &Kept, changes: u64) -> bool {
    kept.changes == changes && kept.since.elapsed() < MAX_AGE
}

/// Tells whether an answer of so many bytes is kept.
pub(super) const fn is_small(bytes: usize) -> bool {
    bytes <= MAX_KEPT_BYTES
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn key(line: &str) -> Key {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let request = Request::read(&words, &BTreeMap::<String, OsString>::new()).unwrap();
        Key::of(&request, "S-1")
    }

    fn kept() -> Kept {
        Kept {
            document: Arc::new(Value::Null),
            identity: "reader".into(),
            line: "az vm list".to_owned(),
            at: Timestamp::from_millis(0),
            since: Instant::now(),
            changes: 4,
        }
    }

    #[test]
    fn how_a_read_is_worded_does_not_matter() {
        let one = key("az vm show -g rg -n web-1 -o json");
        assert_eq!(one, key("az vm show --name web-1 --resource-group rg --query name"));
        for other in ["az vm show -g rg -n web-2", "az vm show -g rg -n web-1 -d", "az vm list -g rg"] {
            assert_ne!(one, key(other), "{other}");
        }
    }

    #[test]
    fn a_read_has_one_place_in_a_turn_and_none_outside_of_one() {
        let cache = TurnCache::default();
        assert!(cache.slot(key("az vm list")).is_none());
        cache.begin(Some(1));
        let first = cache.slot(key("az vm list")).unwrap();
        cache.begin(Some(1));
        assert!(Arc::ptr_eq(&first, &cache.slot(key("az vm list")).unwrap()));
        cache.begin(Some(2));
        assert!(!Arc::ptr_eq(&first, &cache.slot(key("az vm list")).unwrap()));
        cache.begin(None);
        assert!(cache.slot(key("az vm list")).is_none());
    }

    #[test]
    fn a_turn_keeps_so_many_reads_and_no_more() {
        let cache = TurnCache::default();
        cache.begin(Some(1));
        let named = |number: usize| key(&format!("az vm show -g rg -n vm-{number}"));
        assert!((0..MAX_KEPT).all(|number| cache.slot(named(number)).is_some()));
        assert!(cache.slot(named(MAX_KEPT)).is_none() && cache.slot(named(0)).is_some());
        assert!(is_small(MAX_KEPT_BYTES) && !is_small(MAX_KEPT_BYTES + 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_and_two_minutes_end_what_was_kept() {
        let kept = kept();
        assert!(is_good(&kept, 4) && !is_good(&kept, 5));
        tokio::time::advance(MAX_AGE).await;
        assert!(!is_good(&kept, 4));
    }
}
