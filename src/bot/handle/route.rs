//! Which handler takes an arrival.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use tracing::Instrument as _;

use crate::bot::Thread;
use crate::bot::core::Core;
use crate::bot::handle::speech::thread_of;
use crate::bot::show::Meta;
use crate::http::{Arrived, Measures, Whose};
use ghost_base::SessionId;
use ghost_slack::arrive::{Arrival, View, What};
use ghost_slack::socket::{Answer, Handler};
use ghost_store::StoreError;

/// Events that say that the app may do nothing any more.
const UNINSTALLED: [&str; 2] = ["app_uninstalled", "tokens_revoked"];

/// Takes everything that arrives.
pub struct Bot {
    /// What the handlers hold.
    pub core: Arc<Core>,
    /// What is counted.
    pub measures: Measures,
}

#[async_trait]
impl Handler for Bot {
    async fn take(&self, arrival: Arrival) -> Answer {
        let span = span(&arrival);
        self.taken(&arrival).instrument(span).await
    }
}

impl Bot {
    async fn taken(&self, arrival: &Arrival) -> Answer {
        let since = Instant::now();
        if arrival.origin.retry > 0 {
            self.measures.repeated();
        } else {
            self.measures.arrived(kind(&arrival.what));
        }
        match route(&self.core, arrival).await {
            Ok(answer) => {
                let took = since.elapsed();
                self.measures.acknowledged(took);
                tracing::info!(wait_ms = took.as_millis(), "slack event acknowledged");
                answer
            }
            // Slack delivers events again; a person who pressed a button sees a warning and presses again.
            Err(error) => {
                self.measures.fault(Whose::Upstream);
                self.measures.event_refused();
                let why = ghost_base::causes(&error);
                tracing::warn!("slack event refused, the store did not take it: {why}");
                Answer::Refuse
            }
        }
    }
}

/// Opens the span of an arrival. It is on at every level, so that each log line has the fields by which the others are found.
fn span(arrival: &Arrival) -> tracing::Span {
    let none = tracing::field::Empty;
    let span = tracing::error_span!(
        "slack.event",
        event.id = %arrival.origin.key,
        event.kind = word(&arrival.what),
        event.retry = arrival.origin.retry,
        session.id = none,
    );
    if let Some(session) = session(arrival) {
        span.record("session.id", tracing::field::display(session));
    }
    span
}

/// Returns the session whose thread something happened in.
fn session(arrival: &Arrival) -> Option<SessionId> {
    let of = |channel: &str, root: &str| Some(thread_of(&arrival.origin, channel, root).session());
    match &arrival.what {
        What::Mention(words) | What::Message(words) => of(&words.channel, words.root()),
        What::Stopped(stopped) => of(&stopped.channel, &stopped.thread_ts),
        What::Press(press) => of(press.channel.as_deref()?, press.thread_ts.as_deref()?),
        What::Submit(submit) => spot(&submit.view).map(|thread| thread.session()),
        What::Edited(_)
        | What::Deleted(_)
        | What::HomeOpened(_)
        | What::ContextChanged(_)
        | What::Closed(_)
        | What::Command(_)
        | What::Shortcut(_)
        | What::Suggest(_)
        | What::Joined(_)
        | What::Left(_)
        | What::Reaction(_)
        | What::Other { .. } => None,
    }
}

fn spot(view: &View) -> Option<Thread> {
    let meta: Meta = serde_json::from_str(&view.private_metadata).ok()?;
    (!meta.thread.is_empty()).then(|| Thread { team: String::new(), channel: meta.channel, ts: meta.thread })
}

/// Names what arrived.
fn word(what: &What) -> &'static str {
    match what {
        What::Mention(_) => "mention",
        What::Message(_) => "message",
        What::Edited(_) => "edited",
        What::Deleted(_) => "deleted",
        What::HomeOpened(_) => "home_opened",
        What::ContextChanged(_) => "context_changed",
        What::Stopped(_) => "stopped",
        What::Press(_) => "press",
        What::Submit(_) => "submit",
        What::Closed(_) => "closed",
        What::Command(_) => "command",
        What::Shortcut(_) => "shortcut",
        What::Suggest(_) => "suggest",
        What::Joined(_) => "joined",
        What::Left(_) => "left",
        What::Reaction(_) => "reaction",
        What::Other { .. } => "other",
    }
}

async fn route(core: &Arc<Core>, arrival: &Arrival) -> Result<Answer, StoreError> {
    let origin = &arrival.origin;
    match &arrival.what {
        What::Mention(words) => core.mentioned(origin, words).await,
        What::Message(words) => core.on_message(origin, words).await,
        What::Stopped(stopped) => core.stopped(origin, stopped).await,
        What::Press(press) => core.pressed(press).await,
        What::Submit(submit) => core.submitted(submit).await,
        What::Command(command) => core.commanded(origin, command).await,
        What::Shortcut(shortcut) => core.shortcut(shortcut).await,
        What::HomeOpened(home) => {
            core.home_opened(home);
            Ok(Answer::Done)
        }
        What::Edited(edited) => core.on_edit(origin, edited).await,
        What::Deleted(deleted) => core.deleted(origin, deleted).await,
        What::Reaction(reaction) => core.reacted(origin, reaction).await,
        // Nothing of a session hangs on them.
        What::ContextChanged(_) | What::Closed(_) | What::Suggest(_) | What::Joined(_) | What::Left(_) => {
            Ok(Answer::Done)
        }
        What::Other { kind, body } if kind == "channel_created" || kind == "channel_rename" => {
            core.channel_created(body);
            Ok(Answer::Done)
        }
        What::Other { kind, .. } if UNINSTALLED.contains(&kind.as_str()) => {
            tracing::error!(
                slack.event = kind,
                "slack says {kind}: the app was removed or its token taken back; nothing works until it is installed again"
            );
            Ok(Answer::Done)
        }
        What::Other { kind, .. } => {
            tracing::debug!("slack event of kind {kind:?} ignored");
            Ok(Answer::Done)
        }
    }
}

fn kind(what: &What) -> Arrived {
    match what {
        What::Press(_) | What::Suggest(_) | What::Submit(_) | What::Closed(_) | What::Shortcut(_) => {
            Arrived::Interaction
        }
        What::Command(_) => Arrived::Command,
        What::Other { .. } => Arrived::Unknown,
        What::Mention(_)
        | What::Message(_)
        | What::Edited(_)
        | What::Deleted(_)
        | What::HomeOpened(_)
        | What::ContextChanged(_)
        | What::Stopped(_)
        | What::Joined(_)
        | What::Left(_)
        | What::Reaction(_) => Arrived::Event,
    }
}
