//! What was found here before, and what the site has written about it: lines below the report, for people. It is read after the session ended, so no verdict hangs on it.

use std::sync::Arc;

use crate::bot::PostedLine;
use crate::bot::Thread;
use crate::bot::present::Presenter;
use crate::bot::show::{Before, Message, before, runbooks};
use crate::bot::target::targets;
use ghost_investigate::memory::{Memory, is_worth};
use ghost_investigate::runbook::naming;
use ghost_investigate::state::State;

/// So many sessions of late are compared.
const MAX_COMPARED: usize = 2_000;

impl Presenter {
    /// Returns the sections of the site's runbooks that name what was found; nothing where none does.
    pub(super) async fn runbooks_about(&self, state: &State) -> Option<Message> {
        let (found, read) = (Memory::of(state), Arc::clone(&self.runbooks));
        if found.causes.is_empty() {
            return None;
        }
        let notes = tokio::task::spawn_blocking(move || read()).await.unwrap_or_default();
        let naming = naming(&notes, &found);
        (!naming.is_empty()).then(|| runbooks(&naming))
    }

    /// Says which session of the same channel found the same, or something at the same machines; nothing where none did, or where
    /// the store does not say.
    pub(super) async fn recall(&self, state: &State, thread: &Thread) -> Option<Message> {
        let posted = match self.store.posted(MAX_COMPARED).await {
            Ok(posted) => posted,
            Err(error) => {
                tracing::warn!(session.id = %state.session, "earlier sessions not compared: {error}");
                return None;
            }
        };
        let own = Memory::of(state);
        let about = targets(&state.opened.symptom);
        let lines = posted.into_iter().filter_map(|(session, line)| {
            let line = serde_json::from_str::<PostedLine>(&line).ok()?;
            let here = line.channel.as_deref() == Some(thread.channel.as_str());
            (session != state.session && here && is_worth(&line.summary, &line.memory)).then_some(line)
        });
        let lines: Vec<PostedLine> = lines.collect();
        // The latest comes first.
        let same = lines.iter().find_map(|line| {
            let cause = line.memory.shared(&own).into_iter().next()?.clone();
            Some((line, Some(cause)))
        });
        let near = || {
            let is_near = |line: &&PostedLine| {
                let symptom = line.summary.symptom.as_deref().unwrap_or_default();
                own.causes.is_empty() && !targets(symptom).is_disjoint(&about)
            };
            lines.iter().find(is_near).map(|line| (line, None))
        };
        let (line, cause) = same.or_else(near)?;
        Some(before(
            &Before {
                session: line.summary.id.clone(),
                opened: line.summary.opened.clone().unwrap_or_default(),
                is_same: cause.is_some(),
                cause: cause.or_else(|| line.memory.causes.first().cloned())?,
                fix: line.memory.fix.clone(),
                is_fixed: line.memory.is_fixed,
            },
            self.clock.now(),
        ))
    }
}
