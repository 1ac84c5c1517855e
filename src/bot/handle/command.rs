//! `/ghost …`

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::bot::core::{Core, words};
use crate::bot::handle::open::Incident;
use crate::bot::show::{self, Message, Pending, Refusal, RenderContext, SessionLine, refusal};
use crate::bot::{ChannelRules, Freeze, PostedLine, Thread};
use ghost_investigate::event::{ApprovalRequested, Gathered};
use ghost_investigate::memory;
use ghost_slack::arrive::{Command, Origin};
use ghost_slack::pace::Priority;
use ghost_slack::socket::Answer;
use ghost_slack::web::Address;
use ghost_store::{Approval, StoreError};

/// What somebody asked with a command, or with a button that has no thread.
pub(super) struct Request {
    pub(super) team: String,
    pub(super) key: String,
    pub(super) channel: String,
    pub(super) user: String,
    pub(super) symptom: String,
    pub(super) rules: ChannelRules,
}

/// Slack waits three seconds for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(2_000);

/// How many sessions are listed.
const MAX_LISTED_SESSIONS: usize = 50;

/// Among so many of late it is looked for those that somebody may see.
const MAX_SEARCHED_SESSIONS: usize = 10_000;

impl Core {
    /// Takes a command.
    pub(super) async fn commanded(
        self: &Arc<Self>,
        origin: &Origin,
        command: &Command,
    ) -> Result<Answer, StoreError> {
        let user = command.user.id.as_str();
        if let Err(why) = self.participant(user).await {
            return Ok(private(&words(&why.to_string())));
        }
        let text = crate::bot::words::plain(command.text.trim());
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text.as_str(), ""));
        let rest = rest.trim();
        Ok(match word.to_lowercase().as_str() {
            "investigate" if !rest.is_empty() => return self.investigate(origin, command, rest).await,
            "investigate" => {
                private(&words("Say what is wrong: /ghost investigate web-1 cannot reach web-2:5001"))
            }
            "status" => {
                self.tell_checks(command);
                let seen = self.seen(&command.channel, user).await?;
                let active: Vec<SessionLine> =
                    seen.into_iter().filter(|line| line.summary.state != "concluded").collect();
                private(&show::sessions(&active))
            }
            "sessions" => private(&show::sessions(&self.seen(&command.channel, user).await?)),
            "similar" if !rest.is_empty() => {
                private(&show::sessions(&self.similar(&command.channel, user, rest).await?))
            }
            "similar" => private(&words(
                "Say what it is about: /ghost similar web-1, or the name of a rule or a fault",
            )),
            "usage" => private(&self.usage_in(&command.channel).await?),
            "approvals" => {
                private(&show::approvals(&self.pending(&command.channel).await?, self.clock.now()))
            }
            "policy" => {
                private(&show::policy(&self.policy.rules().collect::<Vec<_>>(), self.policy.digest()))
            }
            "freeze" | "thaw" => {
                self.frozen_or_not(command, word.eq_ignore_ascii_case("freeze"), rest).await?
            }
            _ => private(&show::help()),
        })
    }

    /// Tells those who may hold everything back whether it works as configured, as soon as that is known.
    fn tell_checks(self: &Arc<Self>, command: &Command) {
        let (core, user, channel) = (Arc::clone(self), command.user.id.clone(), command.channel.clone());
        self.spawn(async move {
            if core.may_freeze(&user).await.is_err() {
                return;
            }
            let lines = (core.checks)().await;
            let thread = Thread { team: String::new(), channel, ts: String::new() };
            core.whisper(&thread, &user, &show::checks(&lines));
        });
    }

    async fn frozen_or_not(&self, command: &Command, freeze: bool, why: &str) -> Result<Answer, StoreError> {
        let user = command.user.id.as_str();
        if let Err(why) = self.may_freeze(user).await {
            self.record_no_freeze(user, &command.channel, freeze, &why.to_string()).await?;
            return Ok(private(&words(&format!("Not yours to hold back or let go: {why}"))));
        }
        self.set_freeze(user, why, &command.channel, freeze).await?;
        Ok(private(&words(if freeze {
            "All commands are on hold. None begins on any replica until somebody says /ghost thaw."
        } else {
            "Commands begin again."
        })))
    }

    /// Opens a session below a message of the bot's own, because a command leaves none. Slack brings a command once and waits three
    /// seconds: what takes longer continues, and whoever asked gets an answer when it ended.
    async fn investigate(
        self: &Arc<Self>,
        origin: &Origin,
        command: &Command,
        symptom: &str,
    ) -> Result<Answer, StoreError> {
        let Some(rules) = self.settings.rules(&command.channel).cloned() else {
            return Ok(private(&words("I do not work in this channel.")));
        };
        if let Some(what) = rules.outside(symptom) {
            return Ok(private(&refusal(&Refusal::OutOfScope { what }, &RenderContext::default())));
        }
        if let Some(spent) = self.exceeded(&command.channel, rules.day).await? {
            return Ok(private(&words(&super::usage::refusal(&spent))));
        }
        let request = Request {
            team: origin.team.clone().unwrap_or_default(),
            key: origin.key.clone(),
            channel: command.channel.clone(),
            user: command.user.id.clone(),
            symptom: symptom.to_owned(),
            rules,
        };
        let (sender, receiver) = oneshot::channel();
        let core = Arc::clone(self);
        self.spawn(async move {
            let failed = core.begin(&request).await.err();
            // Nobody waits any more.
            if let Err(Some(why)) = sender.send(failed) {
                let thread = Thread { team: request.team, channel: request.channel, ts: String::new() };
                core.whisper(&thread, &request.user, &words(why));
            }
        });
        Ok(match timeout(ANSWER_TIMEOUT, receiver).await {
            Ok(Ok(None)) => Answer::Done,
            Ok(Ok(Some(why))) => private(&words(why)),
            Ok(Err(_)) => private(&words("The session could not begin. Ask again.")),
            Err(_) => {
                private(&words("This takes a moment. The session appears here, or I tell you why not."))
            }
        })
    }

    /// Says in the channel what somebody asked, and opens a session below; says why that failed. Then nothing of it is left.
    pub(super) async fn begin(self: &Arc<Self>, request: &Request) -> Result<(), &'static str> {
        let nowhere = |error: StoreError| {
            tracing::warn!("session start failed: {error}");
            "The session could not begin, because my store does not answer. Nothing was started; ask again in a moment."
        };
        // A message that nothing follows would be worse than none.
        self.store.posted(1).await.map_err(nowhere)?;
        let asks = words(&request.symptom);
        let asks = Message { text: format!("<@{}> asks: {}", request.user, asks.text), ..asks };
        let web = self.web.at(Priority::Approval);
        let to = Address::channel(&request.channel);
        let posted = web.post(&to, &crate::bot::core::sent(&asks)).await.map_err(|error| {
            tracing::warn!("session start failed, no message can be posted: {error}");
            "I cannot write here. Invite me to the channel first."
        })?;
        let thread =
            Thread { team: request.team.clone(), channel: posted.channel.clone(), ts: posted.ts.clone() };
        // Slack shows a private message below one without answers to nobody.
        let seen = Thread { ts: String::new(), ..thread.clone() };
        let opened = self.open_for(
            &seen,
            Incident {
                thread: &thread,
                key: &request.key,
                who: &request.user,
                symptom: &request.symptom,
                rules: &request.rules,
                gathered: Gathered::default(),
                quotes: Vec::new(),
            },
        );
        let Err(error) = opened.await else { return Ok(()) };
        if let Err(error) = web.delete(&posted).await {
            tracing::warn!("deletion of an opening message failed: {error}");
        }
        Err(nowhere(error))
    }

    /// Returns the sessions that somebody may see from a channel, the latest first: those of that channel, and their own. What
    /// goes on in other channels is for the people there.
    pub(super) async fn seen(&self, channel: &str, user: &str) -> Result<Vec<SessionLine>, StoreError> {
        let mine = self.visible_lines(channel, user).await?;
        Ok(mine.into_iter().take(MAX_LISTED_SESSIONS).map(|line| self.line(line)).collect())
    }

    /// Returns those of them that were about the same, by names of objects, codes of faults and words, the best first.
    async fn similar(&self, channel: &str, user: &str, query: &str) -> Result<Vec<SessionLine>, StoreError> {
        let mine = self.visible_lines(channel, user).await?;
        let fits = mine.into_iter().filter_map(|line| {
            let fit = memory::fit(&line.summary, &line.memory, query)?;
            Some((fit, line))
        });
        let mut found: Vec<_> = fits.collect();
        // Of those that fit as well, the latest comes first, as it came.
        found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        Ok(found.into_iter().take(MAX_LISTED_SESSIONS).map(|(_, line)| self.line(line)).collect())
    }

    async fn visible_lines(&self, channel: &str, user: &str) -> Result<Vec<PostedLine>, StoreError> {
        let posted = self.store.posted(MAX_SEARCHED_SESSIONS).await?;
        let lines = posted.iter().filter_map(|(_, line)| serde_json::from_str::<PostedLine>(line).ok());
        let mine = lines.filter(|line| line.channel.as_deref() == Some(channel) || line.requester == user);
        Ok(mine.collect())
    }

    fn line(&self, line: PostedLine) -> SessionLine {
        let place = line.channel.zip(line.thread);
        let link = place.and_then(|(channel, ts)| self.link(&channel, &ts));
        SessionLine { summary: line.summary, link }
    }

    /// Returns the address of a message, as Slack's clients open it.
    pub(super) fn link(&self, channel: &str, ts: &str) -> Option<String> {
        let base = self.directory.identity().url.clone()?;
        Some(format!("{}/archives/{channel}/p{}", base.trim_end_matches('/'), ts.replace('.', "")))
    }

    /// Returns what waits for an answer in a channel.
    async fn pending(&self, channel: &str) -> Result<Vec<Pending>, StoreError> {
        let open = self.store.pending(None, self.clock.now()).await?;
        let posted = self.store.posted(MAX_SEARCHED_SESSIONS).await?;
        let here = posted.iter().filter(|(_, line)| {
            let line = serde_json::from_str::<PostedLine>(line).ok();
            line.and_then(|line| line.channel).as_deref() == Some(channel)
        });
        let here: std::collections::BTreeSet<&ghost_base::SessionId> =
            here.map(|(session, _)| session).collect();
        let mut pending = Vec::new();
        for approval in
            open.iter().filter(|approval| here.contains(&approval.record.session)).take(MAX_LISTED_SESSIONS)
        {
            pending.extend(self.described(approval).await?);
        }
        Ok(pending)
    }

    pub(super) async fn described(&self, approval: &Approval) -> Result<Option<Pending>, StoreError> {
        let Ok(requested) = serde_json::from_str::<ApprovalRequested>(&approval.record.body) else {
            return Ok(None);
        };
        let Some(state) = self.state(&approval.record.session).await? else { return Ok(None) };
        let Some(step) = state.step(requested.step) else { return Ok(None) };
        let place = state.place_of(&ghost_investigate::event::Delivered::card_of(&requested.approval));
        let link = place.and_then(|card| crate::bot::present::posted(&card.place));
        let command = match requested.plan.as_slice() {
            [] => step.current().to_owned(),
            plan => format!("{} commands: {}", plan.len(), plan.join("; ")),
        };
        Ok(Some(Pending {
            session: state.session.to_string(),
            command,
            impact: requested.impact,
            until: requested.expires_at,
            link: link.and_then(|there| self.link(&there.channel, &there.ts)),
        }))
    }

    /// Returns the freeze as the Home tab shows it.
    pub(super) async fn frozen(&self) -> Result<Option<show::Frozen>, StoreError> {
        let freeze = Freeze::current(self.store.as_ref()).await?;
        Ok(self.context(freeze.as_ref(), self.clock.now()).frozen)
    }
}

/// Answers a command so that only whoever typed it sees it.
fn private(message: &Message) -> Answer {
    Answer::With(json!({"response_type": "ephemeral", "text": message.text, "blocks": message.blocks}))
}
