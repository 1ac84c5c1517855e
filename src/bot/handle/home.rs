//! The Home tab.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::bot::Person;
use crate::bot::core::Core;
use crate::bot::show;
use ghost_slack::arrive::Home;
use ghost_slack::pace::Priority;
use ghost_slack::web::Prompt;
use ghost_store::StoreError;

/// What can be said first, and the words on the button for it.
const PROMPTS: [(&str, &str); 4] = [
    ("A connection fails", "web-1 cannot reach db-1 on tcp 5432 since this morning"),
    ("Is this port open?", "does web-1 reach db-1 on tcp 5432?"),
    ("What is open to the internet?", "what is web-1 exposed to?"),
    ("What can you do?", "help"),
];

/// How many of each kind are shown.
const SHOWN: usize = 10;

/// Among so many open questions it is looked for those that somebody may answer.
const MAX_SEARCHED_SESSIONS: usize = 500;

impl Core {
    /// Draws the tab of somebody who opened it.
    pub(super) fn home_opened(self: &Arc<Self>, home: &Home) {
        match (home.tab.as_str(), &home.channel) {
            ("home", _) => self.refresh_home(&home.user),
            ("messages", Some(channel)) => self.suggest_words(channel),
            _ => {}
        }
    }

    /// Offers what can be said in a direct conversation.
    fn suggest_words(self: &Arc<Self>, channel: &str) {
        let (web, channel) = (self.web.at(Priority::Other), channel.to_owned());
        self.spawn(async move {
            let prompts = PROMPTS
                .map(|(title, message)| Prompt { title: title.to_owned(), message: message.to_owned() });
            if let Err(error) = web.suggest(&channel, "What is wrong?", &prompts).await {
                tracing::debug!("suggested prompts not shown: {error}");
            }
        });
    }

    /// Draws the tab of somebody anew.
    pub(super) fn refresh_home(self: &Arc<Self>, user: &str) {
        let (core, user) = (Arc::clone(self), user.to_owned());
        self.spawn(async move {
            let view = match core.home_of(&user).await {
                Ok(view) => view,
                Err(error) => return tracing::warn!("home tab not rendered: {error}"),
            };
            let arguments = json!({"user_id": user, "view": view});
            if let Err(error) = core.web.at(Priority::Other).call("views.publish", &arguments).await {
                tracing::warn!("home tab not published: {error}");
            }
        });
    }

    async fn home_of(&self, user: &str) -> Result<serde_json::Value, StoreError> {
        let now = self.clock.now();
        // Whoever takes no part sees nothing of the sessions.
        let Ok(person) = self.participant(user).await else {
            return Ok(show::home(&show::Home::default(), now));
        };
        let (over, running): (Vec<_>, Vec<_>) =
            self.seen("", user).await?.into_iter().partition(|line| line.summary.state == "concluded");
        let home = show::Home {
            approvals: self.mine(&person).await?,
            sessions: running.into_iter().take(SHOWN).collect(),
            reports: over.into_iter().take(SHOWN).collect(),
            frozen: self.frozen().await?,
            may_freeze: self.may_freeze(user).await.is_ok(),
            warnings: self.warnings.clone(),
            captures: self.left_for(user).await?,
            people: show::People::default(),
        };
        Ok(show::home(&home, now))
    }

    /// Returns the questions that somebody may answer with a yes. Who belongs to which group is asked once for all of them, and
    /// after whatever a decision waits for: a look at this tab holds nobody up.
    async fn mine(&self, person: &Person) -> Result<Vec<show::Pending>, StoreError> {
        let open = self.store.pending(None, self.clock.now()).await?;
        let mut questions = Vec::new();
        for approval in open.iter().take(MAX_SEARCHED_SESSIONS) {
            if let Ok(question) = self.question(approval.record.id.as_str()).await? {
                questions.push((approval, question));
            }
        }
        let people = questions.iter().map(|(_, question)| question.approvers());
        let named: BTreeSet<&String> = people.flat_map(|people| &people.groups).collect();
        let groups = self.directory.groups(named, Priority::Other).await;
        let mut mine = Vec::new();
        for (approval, question) in questions {
            if mine.len() < SHOWN * 2 && question.may_vote(person, &groups).is_ok() {
                mine.extend(self.described(approval).await?);
            }
        }
        Ok(mine)
    }
}
