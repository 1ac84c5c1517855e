//! Where a session takes place, and the name that follows from it.
//!
//! Every replica computes the same name from the same thread, so that no index has to be asked and none can be wrong.

use ghost_base::{Digest, SessionId};
use ghost_investigate::event::{Delivered, Origin};
use ghost_investigate::state::State;

/// The place in [`Origin`] of what came through Slack.
pub const SLACK: &str = "slack";

/// A thread of a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    /// The workspace; empty where Slack names none.
    pub team: String,
    pub channel: String,
    /// The message that the thread hangs on.
    pub ts: String,
}

impl Thread {
    /// Returns the session of the thread.
    #[must_use]
    pub fn session(&self) -> SessionId {
        let digest = Digest::of_fields(["thread", &self.channel, &self.ts]);
        SessionId::drawn(&digest)
    }

    /// Returns what the ledger notes of it.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let team = Some(self.team.clone()).filter(|team| !team.is_empty());
        Origin {
            place: SLACK.to_owned(),
            team,
            channel: Some(self.channel.clone()),
            thread: Some(self.ts.clone()),
        }
    }

    /// Returns the name under which the store knows the session of a thread that Ghost itself began.
    #[must_use]
    pub fn claim(&self) -> String {
        format!("thread {}/{}", self.channel, self.ts)
    }

    /// Returns the thread in which a session is shown: its own, or for an alert or a request from outside the one that was opened
    /// for it.
    #[must_use]
    pub fn of_state(state: &State) -> Option<Self> {
        let opened = || {
            let root = root_of(state)?;
            let (channel, ts) = state.place_of(root)?.place.split_once('/')?;
            let team = state.opened.origin.team.clone().unwrap_or_default();
            Some(Self { team, channel: channel.to_owned(), ts: ts.to_owned() })
        };
        Self::of(&state.opened.origin).or_else(opened)
    }

    /// Returns the channel in which a thread is to be opened for an alert or a request from outside; its message is not known yet.
    #[must_use]
    pub fn wanted(state: &State) -> Option<Self> {
        let origin = &state.opened.origin;
        let channel = origin.channel.clone().filter(|_| origin.place == SLACK && origin.thread.is_none())?;
        root_of(state)?;
        Some(Self { team: origin.team.clone().unwrap_or_default(), channel, ts: String::new() })
    }

    /// Returns the thread of a session that came through Slack.
    #[must_use]
    pub fn of(origin: &Origin) -> Option<Self> {
        let (channel, ts) = (origin.channel.clone()?, origin.thread.clone()?);
        (origin.place == SLACK).then(|| Self { team: origin.team.clone().unwrap_or_default(), channel, ts })
    }
}

/// Names the message that the thread of a session hangs on, where Ghost itself posts it.
fn root_of(state: &State) -> Option<&'static str> {
    match (&state.opened.outside, &state.opened.alert) {
        (Some(_), _) => Some(Delivered::BOARD),
        (None, Some(_)) => Some(Delivered::ALERT),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(channel: &str, ts: &str) -> Thread {
        Thread { team: "T1".to_owned(), channel: channel.to_owned(), ts: ts.to_owned() }
    }

    #[test]
    fn a_thread_has_one_session_wherever_it_is_computed() {
        let name = thread("C1", "1700000000.000100").session();
        assert_eq!(name, thread("C1", "1700000000.000100").session());
        // The same thread is seen from two workspaces in a shared channel.
        let elsewhere = Thread { team: "T2".to_owned(), ..thread("C1", "1700000000.000100") };
        assert_eq!(name, elsewhere.session());
        assert!(name.as_str().starts_with("ghost-") && name.as_str().len() == 18, "{name}");
    }

    #[test]
    fn two_threads_have_two_sessions() {
        let name = thread("C1", "1700000000.000100").session();
        for other in [
            thread("C1", "1700000000.000101"),
            thread("C11", "700000000.000100"),
            thread("C", "11700000000.000100"),
        ] {
            assert_ne!(name, other.session());
        }
    }

    #[test]
    fn a_thread_comes_back_from_the_ledger() {
        let thread = thread("C1", "1.2");
        assert_eq!(Thread::of(&thread.origin()), Some(thread.clone()));
        let terminal = Origin { place: "terminal".to_owned(), ..thread.origin() };
        assert_eq!(Thread::of(&terminal), None);
    }
}
