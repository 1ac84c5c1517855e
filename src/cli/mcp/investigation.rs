//! Investigations that this process drives: they go on whether or not anybody listens.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::job::{Attendance, Speaker};
use super::workplace::Workplace;
use crate::cli::engine::{engine_for, limits, owner};
use crate::cli::investigate::{
    QuestionOutcome, Reports, ask, configured_clusters, configured_hosts, investigator, knows_cloud, line,
    machines, recorded, rule, with_nodes,
};
use ghost_base::SessionId;
use ghost_cloud::guest::HostAccess;
use ghost_investigate::event::{
    HumanMessage, Instruction, Opened, Origin, Recorded, SessionHost, StepId, read,
};
use ghost_investigate::report::Board;
use ghost_investigate::state::State;
use ghost_session::{DriveControl, DriveOutcome, Engine, InboxMessage, Observer};
use ghost_shell::CancelSignal;
use ghost_store::{Item, Store};
use ghost_tools::host::SshArguments;
use ghost_tools::name::{new_session, random};
use ghost_tools::print::Hinted;

/// Whoever says more has a report, no symptom.
const MAX_SYMPTOM_BYTES: usize = 20_000;

/// How wide a board is drawn.
const BOARD_WIDTH: usize = 120;

/// How it ended here. What is recorded says how the session itself stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    Over,
    /// It paused; whoever asks for it again lets it go on.
    Paused,
    /// It cannot go on, and why.
    Stopped(String),
}

/// Listens to a session that goes on here, or lets it go on.
pub(super) async fn attend(place: &Arc<Workplace>, session: &SessionId) -> anyhow::Result<Attendance<Ended>> {
    if let Some(there) = place.investigations.running(session.as_str()) {
        return Ok(there);
    }
    let store = place.setup.store().await?;
    // Nobody attends a session that there is not.
    let before = state(store.as_ref(), session).await?;
    let model = investigator(&place.setup, place.brain.kind, place.brain.script.as_deref())?;
    let hosts = match before {
        Some(before) => recorded(&before)?,
        // It has not begun; what it reads is what it was begun with.
        None => waiting(store.as_ref(), session).await?,
    };
    let begun =
        engine_for(&place.setup, store, model, &hosts)?.delivery(Arc::new(Reports::new(place.setup.data()?)));
    let owner = owner("mcp")?;
    let (place, session) = (Arc::clone(place), session.clone());
    let jobs = Arc::clone(&place);
    jobs.investigations.attend(session.clone().as_str(), move |speaker, paused| {
        let engine = begun.observer(Arc::new(Lines { speaker, trouble: Mutex::default() })).build(owner);
        async move {
            let how = driven(&place, &engine, &session, paused).await;
            how.unwrap_or_else(|error| Ended::Stopped(format!("{error:#}")))
        }
    })
}

/// Returns the machines of a session that waits to begin.
async fn waiting(store: &dyn Store, session: &SessionId) -> anyhow::Result<Vec<SessionHost>> {
    let opened = |item: &Item| {
        let Item::Delivered(text) = item else { return None };
        let Ok(InboxMessage::Open(opened)) = serde_json::from_str(text) else { return None };
        Some(opened.hosts)
    };
    let hosts = store.inbox(session).await?.iter().find_map(opened).unwrap_or_default();
    Ok(hosts.into_iter().filter(|host| HostAccess::of_carrier(&host.carrier).is_some()).collect())
}

/// Records the symptom as a new session, which nobody drives yet.
pub(super) async fn open(place: &Workplace, symptom: &str) -> anyhow::Result<SessionId> {
    let symptom = symptom.trim();
    if symptom.is_empty() || symptom.len() > MAX_SYMPTOM_BYTES {
        let error = anyhow::anyhow!("the symptom is empty, or longer than {MAX_SYMPTOM_BYTES} bytes");
        return Err(Hinted::new(error, "say in a few plain sentences what is wrong").into());
    }
    let model = investigator(&place.setup, place.brain.kind, place.brain.script.as_deref())?;
    let session = new_session("ghost")?;
    let (hosts, clusters) = (hosts(place, symptom)?, configured_clusters(&place.setup.config));
    let clusters =
        if clusters.is_empty() { clusters } else { with_nodes(clusters, &configured_hosts(&place.setup)) };
    let opened = Opened {
        symptom: symptom.to_owned(),
        requester: place.client.clone(),
        origin: Origin { place: "mcp".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: random::<8>()?,
        investigator: model.investigator(),
        limits: limits(&place.setup),
        scope: None,
        cloud_too: knows_cloud(&place.setup)
            && if hosts.is_empty() { !clusters.is_empty() } else { SessionHost::may_be_of_cloud(&hosts) },
        clusters,
        hosts,
        surroundings: Some(place.setup.surroundings()?),
        // A model wrote the symptom: a name in it is none that a human gave.
        gathered: Box::default(),
        by_program: true,
        outside: None,
        alert: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let message = serde_json::to_string(&InboxMessage::Open(Box::new(opened)))?;
    place.setup.store().await?.deliver(&session, "open", &message).await?;
    Ok(session)
}

/// Returns the machines that an investigation reads itself: those of `[hosts]` that its words name. Whoever comes from elsewhere does not
/// mean the machine that this program runs on.
fn hosts(place: &Workplace, symptom: &str) -> anyhow::Result<Vec<SessionHost>> {
    let found = machines(&[], None, symptom, &SshArguments::default(), &place.setup)?;
    let configured = |host: &SessionHost| place.setup.config.hosts.contains_key(&host.name);
    Ok(found.into_iter().filter(|host| place.is_local || configured(host)).collect())
}

/// Says a word to a session, as its client.
pub(super) async fn say(
    place: &Workplace,
    session: &SessionId,
    instruction: Instruction,
    text: &str,
) -> anyhow::Result<()> {
    let said = HumanMessage { who: place.client.clone(), text: text.to_owned(), instruction };
    let message = serde_json::to_string(&InboxMessage::Said(said))?;
    place.setup.store().await?.deliver(session, &random::<8>()?, &message).await?;
    Ok(())
}

/// Returns how a session stands; nothing where it has not begun.
///
/// # Errors
/// Fails where there is no such session.
pub(super) async fn state(store: &dyn Store, session: &SessionId) -> anyhow::Result<Option<State>> {
    let lines = store.read(session, 0).await?;
    if lines.is_empty() && store.inbox(session).await?.is_empty() {
        let error = anyhow::anyhow!("there is no session {session}");
        return Err(Hinted::new(error, "the resource ghost://sessions lists those that there are").into());
    }
    if lines.is_empty() {
        return Ok(None);
    }
    Ok(Some(State::fold(session, &read(session, lines.iter().map(String::as_str))?)?))
}

/// Draws the board of a session.
pub(super) fn board(place: &Workplace, state: &State) -> Vec<String> {
    Board::of(state, place.setup.clock().now()).lines(BOARD_WIDTH, false)
}

/// Drives a session until it is over or cannot go on.
async fn driven(
    place: &Workplace,
    engine: &Engine,
    session: &SessionId,
    pause: CancelSignal,
) -> anyhow::Result<Ended> {
    let control = DriveControl { pause: pause.clone(), transfers: false };
    loop {
        match engine.drive(session, &control).await? {
            DriveOutcome::Over => return Ok(Ended::Over),
            DriveOutcome::Waiting { approval, until } => {
                let Some(state) = state(engine.store.as_ref(), session).await? else {
                    return Ok(Ended::Paused);
                };
                let observer = Arc::clone(&engine.observer);
                let tell = move |line: String| observer.trouble(&line);
                let approver = place.approver(session.as_str(), pause.clone(), tell)?;
                let mut paused = pause.clone();
                let left = until.since(engine.clock.now());
                let asked = tokio::select! {
                    biased;
                    // The question stays open: nobody said no to it.
                    () = paused.canceled() => {
                        place.stop_waiting(session.as_str()).await;
                        return Ok(Ended::Paused);
                    }
                    asked = ask(engine, &state, &approval, &approver, rule(&place.setup)) => asked?,
                    () = tokio::time::sleep(left) => QuestionOutcome::Lost("nobody answered in time".to_owned()),
                };
                if let QuestionOutcome::Lost(why) = asked {
                    engine.observer.trouble(&why);
                }
            }
            DriveOutcome::Offered { .. } | DriveOutcome::Paused => return Ok(Ended::Paused),
            DriveOutcome::Stuck { why } => return Ok(Ended::Stopped(why)),
            DriveOutcome::Undelivered { why } => {
                return Ok(Ended::Stopped(format!("the report could not be written: {why}")));
            }
            DriveOutcome::Taken => {
                return Ok(Ended::Stopped(format!("another process drives the session {session}")));
            }
            DriveOutcome::Missing => return Ok(Ended::Stopped(format!("the session {session} never began"))),
        }
    }
}

/// Tells whoever listens what happens.
struct Lines {
    speaker: Speaker,
    /// What was said last: the same trouble is not said again and again.
    trouble: Mutex<Option<String>>,
}

impl Observer for Lines {
    fn recorded(&self, state: &State, event: &Recorded) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(line) = line::human(state, event) {
            self.speaker.say(line);
        }
    }

    fn words(&self, _words: &str) {}

    fn trouble(&self, what: &str) {
        let before = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).replace(what.to_owned());
        if before.as_deref() != Some(what) {
            self.speaker.say(format!("… {what}"));
        }
    }

    fn running(&self, _state: &State, step: StepId, since: Duration) {
        self.speaker.say(format!("… {step} still runs, {} s", since.as_secs()));
    }
}
