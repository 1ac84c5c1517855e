//! How often a method may be called: Slack's tiers, and one message a second and channel.

use std::collections::{HashMap, VecDeque};

use ghost_base::Timestamp;

const MINUTE: i64 = 60_000;

/// How many messages may come at once before the one-a-second rule bites.
const BURST: usize = 5;

/// What was called lately, for as long as tiers are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    /// Whether the tiers are kept; a local workspace does not, unless set.
    pub(crate) kept: bool,
    calls: HashMap<String, VecDeque<i64>>,
}

impl Limits {
    /// Notes a call; returns how many seconds to wait instead, where there were too many.
    pub(crate) fn call(
        &mut self,
        app: &str,
        method: &str,
        tier: u32,
        channel: Option<&str>,
        now: Timestamp,
    ) -> Option<u64> {
        if !self.kept {
            return None;
        }
        let now = now.as_millis();
        match (method, channel) {
            ("chat.postMessage", Some(channel)) => self.note(
                format!("{app} {method} {channel}"),
                BURST,
                i64::try_from(BURST).unwrap_or(5) * 1000,
                now,
            ),
            _ => self.note(format!("{app} {method}"), per_minute(tier), MINUTE, now),
        }
    }

    fn note(&mut self, key: String, most: usize, window: i64, now: i64) -> Option<u64> {
        let calls = self.calls.entry(key).or_default();
        while calls.front().is_some_and(|first| *first <= now - window) {
            calls.pop_front();
        }
        if calls.len() < most {
            calls.push_back(now);
            return None;
        }
        let first = calls.front().copied().unwrap_or(now);
        Some(u64::try_from((first + window - now + 999).div_euclid(1000)).unwrap_or(1).max(1))
    }
}

/// How many calls a minute a tier allows.
fn per_minute(tier: u32) -> usize {
    match tier {
        1 => 1,
        2 => 20,
        3 => 50,
        _ => 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn a_tier_allows_so_many_calls_a_minute_and_says_how_long_to_wait() {
        let mut limits = Limits { kept: true, ..Limits::default() };
        for _ in 0..20 {
            assert_eq!(limits.call("A", "usergroups.users.list", 2, None, at(0)), None);
        }
        assert_eq!(limits.call("A", "usergroups.users.list", 2, None, at(50)), Some(10));
        assert_eq!(limits.call("A", "usergroups.users.list", 2, None, at(60)), None);
    }

    #[test]
    fn messages_are_counted_by_channel() {
        let mut limits = Limits { kept: true, ..Limits::default() };
        for _ in 0..BURST {
            assert_eq!(limits.call("A", "chat.postMessage", 4, Some("C1"), at(0)), None);
        }
        assert_eq!(limits.call("A", "chat.postMessage", 4, Some("C1"), at(0)), Some(5));
        assert_eq!(limits.call("A", "chat.postMessage", 4, Some("C2"), at(0)), None);
    }

    #[test]
    fn nothing_is_refused_unless_tiers_are_kept() {
        let mut limits = Limits::default();
        assert!((0..1000).all(|_| limits.call("A", "users.list", 1, None, at(0)).is_none()));
    }
}
