//! The cloud with what was picked, and the page's orders about it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::fault::{EXTRAS, Extra, whole};
use super::score::score;
use super::story::Story;
use crate::session::InboxMessage;
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_investigate::event::{Said, Wish, read};
use ghost_investigate::state::State;
use ghost_lab::case::{Failed, Pair, inject, reset};
use ghost_lab::control::Lab;
use ghost_lab_slack::{DemoControl, OrderOutcome};
use ghost_store::Store;

/// So long a mention may take to become an investigation.
const ON_ITS_WAY: Duration = Duration::from_secs(5);

/// So many sessions are looked at.
const MOST: usize = 500;

/// What the page orders.
#[derive(Debug, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
enum Order {
    /// A case in place of what is there.
    Case { case: String },
    /// One fault more.
    Fault { fault: String },
    /// Nothing is wrong any more.
    Reset {},
    /// What is under way ends.
    Stop { user: String },
}

/// What is in the cloud.
#[derive(Debug, Clone, Default)]
struct There {
    story: Option<Story>,
    extras: Vec<&'static Extra>,
    /// The sessions that were about something else.
    before: BTreeSet<SessionId>,
    /// When a case was begun whose session is not there yet.
    begun: Option<Timestamp>,
}

impl There {
    fn pairs(&self) -> Vec<Pair> {
        let own = self.story.iter().flat_map(|story| story.expected.iter().cloned());
        let added = self.extras.iter().filter_map(|extra| extra.pair());
        let mut all: Vec<Pair> = own.chain(added).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The cloud, and what is in it.
pub(super) struct Stand {
    parts: Arc<Parts>,
    /// An order that began is done to its end, whether somebody waits for it or not.
    tasks: Mutex<JoinSet<()>>,
}

struct Parts {
    lab: Arc<Lab>,
    data: PathBuf,
    store: Arc<dyn Store>,
    stories: Vec<Story>,
    there: Mutex<There>,
    /// One order at a time.
    turn: tokio::sync::Mutex<()>,
}

/// A poisoned lock holds what was there before a panic, and that is consistent enough for a demonstration.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stand {
    /// Puts it up, with a case in it.
    pub(super) async fn with(
        case: &str,
        lab: Arc<Lab>,
        data: PathBuf,
        store: Arc<dyn Store>,
    ) -> anyhow::Result<Self> {
        let stories = Story::all()?;
        let parts =
            Parts { lab, data, store, stories, there: Mutex::default(), turn: tokio::sync::Mutex::default() };
        let story = parts.story(case).map_err(anyhow::Error::msg)?;
        let before = parts.sessions().await.map_err(anyhow::Error::msg)?;
        let there = There {
            story: Some(story),
            before: before.into_iter().map(|one| one.0).collect(),
            ..There::default()
        };
        parts.put(there).await.map_err(anyhow::Error::msg)?;
        Ok(Self { parts: Arc::new(parts), tasks: Mutex::default() })
    }
}

#[async_trait]
impl DemoControl for Stand {
    fn opening(&self) -> Option<String> {
        lock(&self.parts.there).story.as_ref().map(|story| story.prompt.clone())
    }

    async fn look(&self) -> Value {
        self.parts.look().await
    }

    async fn order(&self, order: &Value) -> Result<OrderOutcome, String> {
        let order: Order = serde_json::from_value(order.clone())
            .map_err(|_| "the order cannot be read: it is case, fault, reset or stop".to_owned())?;
        let (tell, told) = tokio::sync::oneshot::channel();
        {
            let parts = Arc::clone(&self.parts);
            let mut tasks = lock(&self.tasks);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let turn = parts.turn.lock().await;
                drop(tell.send(parts.perform(order).await));
                drop(turn);
            });
        }
        told.await.unwrap_or_else(|_| Err("the order broke off; reset the cloud".to_owned()))
    }
}

impl Parts {
    async fn perform(&self, order: Order) -> Result<OrderOutcome, String> {
        match order {
            Order::Case { case } => self.begin(&case).await,
            Order::Fault { fault } => self.add(&fault).await,
            Order::Reset {} => {
                let before = self.rest().await?;
                self.put(There { before, ..There::default() }).await?;
                Ok(OrderOutcome {
                    summary: "The cloud is as it was: nothing is wrong in it.".to_owned(),
                    ..OrderOutcome::default()
                })
            }
            Order::Stop { user } => self.stop(&user).await,
        }
    }

    async fn begin(&self, case: &str) -> Result<OrderOutcome, String> {
        let story = self.story(case)?;
        let before = self.rest().await?;
        let summary = format!("{} is in the cloud now.", story.title);
        let mention = Some(story.prompt.clone());
        let begun = Some(SystemClock.now());
        self.put(There { story: Some(story), before, begun, ..There::default() }).await?;
        Ok(OrderOutcome { summary, mention, suggested: None })
    }

    async fn add(&self, fault: &str) -> Result<OrderOutcome, String> {
        let extra = Extra::named(fault).ok_or_else(|| {
            let names: Vec<&str> = EXTRAS.iter().map(|extra| extra.name).collect();
            format!("there is no fault `{fault}`; there is {}", names.join(", "))
        })?;
        let before = self.rest().await?;
        let mut there = lock(&self.there).clone();
        let suggested = Some(extra.prompt.to_owned());
        if there.extras.contains(&extra) {
            return Ok(OrderOutcome {
                summary: format!("It is there already: {}.", extra.title),
                suggested,
                ..OrderOutcome::default()
            });
        }
        there.extras.push(extra);
        there.before = before;
        there.begun = None;
        self.put(there).await?;
        Ok(OrderOutcome { summary: format!("Done: {}.", extra.title), suggested, ..OrderOutcome::default() })
    }

    /// Tells every investigation that is under way to end.
    async fn stop(&self, user: &str) -> Result<OrderOutcome, String> {
        let under_way: Vec<SessionId> = self
            .sessions()
            .await?
            .into_iter()
            .filter(|(_, state)| is_under_way(state))
            .map(|one| one.0)
            .collect();
        if under_way.is_empty() {
            return Err("no investigation is under way".to_owned());
        }
        let now = SystemClock.now();
        for session in &under_way {
            let said = Said { who: user.to_owned(), text: "stop".to_owned(), wish: Wish::Stop };
            let message =
                serde_json::to_string(&InboxMessage::Said(said)).map_err(|error| error.to_string())?;
            let key = format!("play-stop-{}", now.as_millis());
            self.store.deliver(session, &key, &message).await.map_err(|error| error.to_string())?;
        }
        Ok(OrderOutcome { summary: "It ends with what it knows.".to_owned(), ..OrderOutcome::default() })
    }

    /// Puts something into the cloud in place of what is there. Where that fails, what was there is there again.
    async fn put(&self, there: There) -> Result<(), String> {
        let Err(why) = self.change(&there).await else {
            *lock(&self.there) = there;
            return Ok(());
        };
        let old = lock(&self.there).clone();
        match self.change(&old).await {
            Ok(()) => Err(format!("that does not go together with what is there: {why}")),
            Err(worse) => {
                *lock(&self.there) = There::default();
                Err(format!("{why}; and what was there could not be put back: {worse}"))
            }
        }
    }

    async fn change(&self, there: &There) -> Result<(), String> {
        let told = |failed: Failed| failed.to_string();
        if reset(&self.lab, &self.data).await.map_err(told)?.is_none() {
            // What somebody repaired by hand is broken again, too.
            self.lab.restore().await.map_err(|error| error.to_string())?;
        }
        if there.story.is_none() && there.extras.is_empty() {
            return Ok(());
        }
        let text = whole(there.story.as_ref(), &there.extras).map_err(|problems| problems.to_string())?;
        let phase = there.story.as_ref().map_or(1, |story| story.phase);
        inject(&self.lab, &self.data, &text, None, phase).await.map(drop).map_err(told)
    }

    /// Makes sure that nothing is under way; returns the sessions that there are.
    async fn rest(&self) -> Result<BTreeSet<SessionId>, String> {
        let sessions = self.sessions().await?;
        if sessions.iter().any(|(_, state)| is_under_way(state)) {
            return Err("an investigation is under way: wait for its report, or stop it first".to_owned());
        }
        let there = lock(&self.there);
        let new = sessions.iter().any(|(session, _)| !there.before.contains(session));
        let coming = there.begun.is_some_and(|begun| SystemClock.now().since(begun) < ON_ITS_WAY);
        if coming && !new {
            return Err("a case has just begun: wait for its report, or stop it first".to_owned());
        }
        Ok(sessions.into_iter().map(|(session, _)| session).collect())
    }

    async fn sessions(&self) -> Result<Vec<(SessionId, State)>, String> {
        let wrong = |error: ghost_store::StoreError| error.to_string();
        let mut all = Vec::new();
        for session in self.store.list(None, MOST).await.map_err(wrong)? {
            let lines = self.store.read(&session, 0).await.map_err(wrong)?;
            let Ok(recorded) = read(&session, lines.iter().map(String::as_str)) else { continue };
            if let Ok(state) = State::fold(&session, &recorded) {
                all.push((session, state));
            }
        }
        Ok(all)
    }

    fn story(&self, name: &str) -> Result<Story, String> {
        let found = self.stories.iter().find(|story| story.name.eq_ignore_ascii_case(name));
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.stories.iter().map(|story| story.name.as_str()).collect();
            format!("there is no case `{name}`; there is {}", names.join(", "))
        })
    }

    async fn look(&self) -> Value {
        let sessions = self.sessions().await.unwrap_or_default();
        let there = lock(&self.there).clone();
        let under_way = sessions.iter().any(|(_, state)| is_under_way(state));
        let about = sessions.iter().filter(|(session, _)| !there.before.contains(session));
        let last = about.max_by_key(|(_, state)| state.concluded.as_ref().map(|(at, _)| *at));
        let may = there.story.as_ref().map_or(&[][..], |story| &story.may);
        let last = last.and_then(|(_, state)| score(state, &there.pairs(), may));
        let cases = self
            .stories
            .iter()
            .map(|story| json!({"name": story.name, "title": story.title, "prompt": story.prompt}));
        let faults = EXTRAS.iter().map(|extra| {
            json!({"name": extra.name, "title": extra.title, "prompt": extra.prompt, "there": there.extras.contains(&extra)})
        });
        json!({
            "cases": cases.collect::<Vec<_>>(),
            "faults": faults.collect::<Vec<_>>(),
            "case": there.story.as_ref().map(|story| json!({"name": story.name, "title": story.title})),
            "under_way": under_way,
            "last": last,
        })
    }
}

fn is_under_way(state: &State) -> bool {
    state.concluded.is_none()
}
