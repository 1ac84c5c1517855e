//! The cloud with what was picked, and the page's orders about it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::case::DemoCase;
use super::fault::{EXTRAS, Extra, whole};
use super::score::score;
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_investigate::event::{HumanMessage, Instruction, read};
use ghost_investigate::state::State;
use ghost_lab::case::{InjectError, Pair, inject, reset, write_history};
use ghost_lab::control::Lab;
use ghost_lab_slack::{DemoControl, OrderError, OrderOutcome};
use ghost_session::InboxMessage;
use ghost_store::Store;

/// So long a mention may take to become an investigation.
const MENTION_TIMEOUT: Duration = Duration::from_secs(5);

/// So many sessions are looked at.
const MAX_SESSIONS: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
enum PageOrder {
    /// A case in place of what is there.
    Case { case: String },
    /// One fault more.
    Fault { fault: String },
    /// Nothing is wrong any more.
    Reset {},
    /// Running investigations end.
    Stop { user: String },
}

/// What is in the cloud.
#[derive(Debug, Clone, Default)]
struct Contents {
    case: Option<DemoCase>,
    extras: Vec<&'static Extra>,
    /// The sessions that were about something else.
    before: BTreeSet<SessionId>,
    /// When a case was begun whose session is not there yet.
    begun: Option<Timestamp>,
}

impl Contents {
    fn pairs(&self) -> Vec<Pair> {
        let own = self.case.iter().flat_map(|case| case.expected.iter().cloned());
        let added = self.extras.iter().filter_map(|extra| extra.pair());
        let mut all: Vec<Pair> = own.chain(added).collect();
        all.sort();
        all.dedup();
        all
    }
}

pub(super) struct DemoCloud {
    shared: Arc<SharedCloud>,
    /// An order that began is done to its end, whether somebody waits for it or not.
    tasks: Mutex<JoinSet<()>>,
}

struct SharedCloud {
    lab: Arc<Lab>,
    data: PathBuf,
    store: Arc<dyn Store>,
    cases: Vec<DemoCase>,
    contents: Mutex<Contents>,
    /// One order at a time.
    turn: tokio::sync::Mutex<()>,
}

/// A poisoned lock holds what was there before a panic, and that is consistent enough for a demonstration.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DemoCloud {
    /// Puts it up, with a case in it.
    pub(super) async fn with(
        case: &str,
        lab: Arc<Lab>,
        data: PathBuf,
        store: Arc<dyn Store>,
    ) -> anyhow::Result<Self> {
        let cases = DemoCase::all()?;
        let shared = SharedCloud {
            lab,
            data,
            store,
            cases,
            contents: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        };
        let case = shared.find_case(case).map_err(anyhow::Error::msg)?;
        let before = shared.sessions().await.map_err(anyhow::Error::msg)?;
        let contents = Contents {
            case: Some(case),
            before: before.into_iter().map(|one| one.0).collect(),
            ..Contents::default()
        };
        shared.put(contents).await.map_err(anyhow::Error::msg)?;
        Ok(Self { shared: Arc::new(shared), tasks: Mutex::default() })
    }
}

#[async_trait]
impl DemoControl for DemoCloud {
    fn opening(&self) -> Option<String> {
        lock(&self.shared.contents).case.as_ref().map(|case| case.prompt.clone())
    }

    fn note(&self) -> Option<String> {
        let ahead = self.shared.lab.clock().now().since(SystemClock.now()).as_secs();
        (ahead > 0).then(|| {
            let (minutes, seconds) = (ahead / 60, ahead % 60);
            let ahead =
                if minutes > 0 { format!("{minutes} min {seconds:02} s") } else { format!("{seconds} s") };
            format!("The demo skips waits: times in this thread run up to {ahead} ahead of your clock.")
        })
    }

    async fn look(&self) -> Value {
        self.shared.look().await
    }

    async fn order(&self, order: &Value) -> Result<OrderOutcome, OrderError> {
        let order: PageOrder = serde_json::from_value(order.clone())
            .map_err(|_| "the order cannot be read: it is case, fault, reset or stop".to_owned())?;
        let (sender, receiver) = tokio::sync::oneshot::channel();
        {
            let shared = Arc::clone(&self.shared);
            let mut tasks = lock(&self.tasks);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let turn = shared.turn.lock().await;
                drop(sender.send(shared.perform(order).await));
                drop(turn);
            });
        }
        let done =
            receiver.await.unwrap_or_else(|_| Err("the order broke off; reset the cloud".to_owned()))?;
        Ok(done)
    }
}

impl SharedCloud {
    async fn perform(&self, order: PageOrder) -> Result<OrderOutcome, String> {
        match order {
            PageOrder::Case { case } => self.begin(&case).await,
            PageOrder::Fault { fault } => self.add(&fault).await,
            PageOrder::Reset {} => {
                let before = self.rest().await?;
                self.put(Contents { before, ..Contents::default() }).await?;
                Ok(OrderOutcome {
                    summary: "The cloud is as it was: nothing is wrong in it.".to_owned(),
                    ..OrderOutcome::default()
                })
            }
            PageOrder::Stop { user } => self.stop(&user).await,
        }
    }

    async fn begin(&self, case: &str) -> Result<OrderOutcome, String> {
        let case = self.find_case(case)?;
        let before = self.rest().await?;
        let summary = format!("{} is in the cloud now.", case.title);
        let mention = Some(case.prompt.clone());
        let begun = Some(SystemClock.now());
        self.put(Contents { case: Some(case), before, begun, ..Contents::default() }).await?;
        Ok(OrderOutcome { summary, mention, suggested: None })
    }

    async fn add(&self, fault: &str) -> Result<OrderOutcome, String> {
        let extra = Extra::named(fault).ok_or_else(|| {
            let names: Vec<&str> = EXTRAS.iter().map(|extra| extra.name).collect();
            format!("there is no fault `{fault}`; there is {}", names.join(", "))
        })?;
        let before = self.rest().await?;
        let mut contents = lock(&self.contents).clone();
        let suggested = Some(extra.prompt.to_owned());
        if contents.extras.contains(&extra) {
            return Ok(OrderOutcome {
                summary: format!("It is there already: {}.", extra.title),
                suggested,
                ..OrderOutcome::default()
            });
        }
        contents.extras.push(extra);
        contents.before = before;
        contents.begun = None;
        self.put(contents).await?;
        Ok(OrderOutcome { summary: format!("Done: {}.", extra.title), suggested, ..OrderOutcome::default() })
    }

    /// Stops every running investigation.
    async fn stop(&self, user: &str) -> Result<OrderOutcome, String> {
        let running: Vec<SessionId> = self
            .sessions()
            .await?
            .into_iter()
            .filter(|(_, state)| is_running(state))
            .map(|one| one.0)
            .collect();
        if running.is_empty() {
            return Err("no investigation is running".to_owned());
        }
        let now = SystemClock.now();
        for session in &running {
            let said = HumanMessage {
                who: user.to_owned(),
                text: "stop".to_owned(),
                instruction: Instruction::Stop,
            };
            let message =
                serde_json::to_string(&InboxMessage::Said(said)).map_err(|error| error.to_string())?;
            let key = format!("play-stop-{}", now.as_millis());
            self.store.deliver(session, &key, &message).await.map_err(|error| error.to_string())?;
        }
        Ok(OrderOutcome { summary: "It ends with what it knows.".to_owned(), ..OrderOutcome::default() })
    }

    /// Puts something into the cloud in place of what is there. Where that fails, what was there is there again.
    async fn put(&self, contents: Contents) -> Result<(), String> {
        let Err(why) = self.change(&contents).await else {
            *lock(&self.contents) = contents;
            return Ok(());
        };
        let old = lock(&self.contents).clone();
        match self.change(&old).await {
            Ok(()) => Err(format!("that does not go together with what is there: {why}")),
            Err(worse) => {
                *lock(&self.contents) = Contents::default();
                Err(format!("{why}; and what was there could not be put back: {worse}"))
            }
        }
    }

    async fn change(&self, contents: &Contents) -> Result<(), String> {
        let failure = |failed: InjectError| failed.to_string();
        if reset(&self.lab, &self.data).await.map_err(failure)?.is_none() {
            // What somebody repaired by hand is broken again, too.
            self.lab.restore().await.map_err(|error| error.to_string())?;
        }
        if contents.case.is_none() && contents.extras.is_empty() {
            return Ok(());
        }
        let text =
            whole(contents.case.as_ref(), &contents.extras).map_err(|problems| problems.to_string())?;
        let phase = contents.case.as_ref().map_or(1, |case| case.phase);
        let injected = inject(&self.lab, &self.data, &text, None, phase).await.map_err(failure)?;
        write_history(&self.lab, &injected.case, phase);
        Ok(())
    }

    /// Makes sure that no investigation runs; returns all sessions.
    async fn rest(&self) -> Result<BTreeSet<SessionId>, String> {
        let sessions = self.sessions().await?;
        if sessions.iter().any(|(_, state)| is_running(state)) {
            return Err("an investigation is running: wait for its report, or stop it first".to_owned());
        }
        let contents = lock(&self.contents);
        let new = sessions.iter().any(|(session, _)| !contents.before.contains(session));
        let coming = contents.begun.is_some_and(|begun| SystemClock.now().since(begun) < MENTION_TIMEOUT);
        if coming && !new {
            return Err("a case has just begun: wait for its report, or stop it first".to_owned());
        }
        Ok(sessions.into_iter().map(|(session, _)| session).collect())
    }

    async fn sessions(&self) -> Result<Vec<(SessionId, State)>, String> {
        let wrong = |error: ghost_store::StoreError| error.to_string();
        let mut all = Vec::new();
        for session in self.store.list(None, MAX_SESSIONS).await.map_err(wrong)? {
            let lines = self.store.read(&session, 0).await.map_err(wrong)?;
            let Ok(recorded) = read(&session, lines.iter().map(String::as_str)) else { continue };
            if let Ok(state) = State::fold(&session, &recorded) {
                all.push((session, state));
            }
        }
        Ok(all)
    }

    fn find_case(&self, name: &str) -> Result<DemoCase, String> {
        let found = self.cases.iter().find(|case| case.name.eq_ignore_ascii_case(name));
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
            format!("there is no case `{name}`; there is {}", names.join(", "))
        })
    }

    async fn look(&self) -> Value {
        let sessions = self.sessions().await.unwrap_or_default();
        let contents = lock(&self.contents).clone();
        let running = sessions.iter().any(|(_, state)| is_running(state));
        let about = sessions.iter().filter(|(session, _)| !contents.before.contains(session));
        let last = about.max_by_key(|(_, state)| state.concluded.as_ref().map(|(at, _)| *at));
        let may = contents.case.as_ref().map_or(&[][..], |case| &case.may);
        let last = last.and_then(|(_, state)| score(state, &contents.pairs(), may));
        let cases = self
            .cases
            .iter()
            .map(|case| json!({"name": case.name, "title": case.title, "prompt": case.prompt}));
        let faults = EXTRAS.iter().map(|extra| {
            json!({"name": extra.name, "title": extra.title, "prompt": extra.prompt, "there": contents.extras.contains(&extra)})
        });
        json!({
            "cases": cases.collect::<Vec<_>>(),
            "faults": faults.collect::<Vec<_>>(),
            "case": contents.case.as_ref().map(|case| json!({"name": case.name, "title": case.title})),
            "under_way": running,
            "last": last,
        })
    }
}

fn is_running(state: &State) -> bool {
    state.concluded.is_none()
}
