//! One session in full, and the human of it. Whatever happens meanwhile, it has to come to the same end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_investigate::event::{Opened, Origin, Reply, read};
use ghost_investigate::model::{Investigator, Model, Scripted};
use ghost_investigate::state::{Ending, State};
use ghost_investigate::{Limits, SelfApproval};
use ghost_session::{DriveOutcome, Engine, EngineError, InboxMessage, Observer, SubmittedVote, submit_vote};
use ghost_shell::{Policy, Shell};
use ghost_store::{Store, StoreError};
use serde_json::json;

use super::world::{Folder, REFUSED, control, run, turn};

const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn session() -> SessionId {
    "crash".parse().unwrap()
}

/// Returns a command that asks: it leaves a line in a file each time it runs, and lasts while one of two other files is there.
pub(super) fn writes(name: &str) -> String {
    format!(
        "sh -c 'while test -e {name}.wait; do sleep 0.02; done; echo ran >> {name}; \
         while test -e {name}.hold; do sleep 0.02; done'"
    )
}

/// Returns how often such a command ran.
pub(super) fn runs(folder: &Path, name: &str) -> usize {
    std::fs::read_to_string(folder.join(name)).map_or(0, |text| text.lines().count())
}

/// The files of the commands that ask. The human approves the first, changes the second into the third, denies the last.
pub(super) const NAMES: [&str; 4] = ["one", "draft", "two", "refused"];

/// Returns the turns: hypotheses, a command that reads, three that ask, a finding, a conclusion.
pub(super) fn script() -> Vec<String> {
    let add = json!({"add": [{"id": "H1", "description": "the port is closed"},
        {"id": "H2", "description": "the link is down"}]});
    let update = json!({"update": [{"id": "H1", "state": "CONFIRMED"}, {"id": "H2", "state": "REFUTED"}]});
    let finding = json!({"code": "tcp_refused", "object": "flow/10.0.0.4/127.0.0.1/tcp/1",
        "statement": "nobody listens", "evidence": [{"observation": "o1", "quote": "refused"}]});
    let complete = json!({"confidence": "high", "root_cause_summary": "nobody listens there (o1)",
        "confirmed_hypotheses": ["H1"], "refuted_hypotheses": ["H2"], "findings": [finding]});
    vec![
        turn(&[("manage_hypotheses", add)]),
        run(REFUSED),
        run(&writes("one")),
        run(&writes("refused")),
        run(&writes("draft")),
        turn(&[("manage_hypotheses", update), ("complete_investigation", complete)]),
    ]
}

/// Returns what drives sessions whose files lie in a folder.
pub(super) fn engine(folder: &Path, store: Arc<dyn Store>, owner: &str, ttl: Duration) -> Engine {
    let (data, cwd) = (folder.join("data"), folder.to_owned());
    let model = Arc::new(Scripted::parse(&script().join("\n")).unwrap());
    let policy = Arc::new(Policy::builtin().unwrap().clone());
    Engine::builder(store, model, policy, &folder.join("data"))
        .lease_ttl(ttl)
        .open_shell(move |state: &State| {
            let builder = Shell::builder(state.session.clone(), &data);
            Ok(builder.scope(state.opened.scope.clone()).cwd(cwd.clone()))
        })
        .delivery(Arc::new(Folder(folder.to_owned())))
        .build(owner)
}

/// Returns an engine with another model.
pub(super) fn thinking(engine: Engine, model: Arc<dyn Model>) -> Engine {
    Engine { model, ..engine }
}

/// Returns an engine with another observer.
pub(super) fn observed(engine: Engine, observer: Arc<dyn Observer>) -> Engine {
    Engine { observer, ..engine }
}

/// Tells a session of its incident; again changes nothing.
pub(super) async fn mention(store: &dyn Store, session: &SessionId) {
    let brain =
        Investigator { provider: "scripted".to_owned(), model: String::new(), host: None, window: 200_000 };
    let opened = Opened {
        symptom: "look at 5001".to_owned(),
        requester: "ana".to_owned(),
        origin: Origin { place: "test".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: "nonce".to_owned(),
        investigator: brain,
        limits: Limits::default(),
        scope: None,
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: None,
        gathered: Box::default(),
        by_program: false,
        outside: None,
        alert: None,
        version: "test".to_owned(),
    };
    let message = serde_json::to_string(&InboxMessage::Open(Box::new(opened))).unwrap();
    patient(async || store.deliver(session, "open", &message).await).await;
}

/// Plays a session to its end, in both roles. Somebody else may have begun.
pub(super) async fn play(engine: &Engine, folder: &Path) {
    mention(engine.store.as_ref(), &session()).await;
    loop {
        match engine.drive(&session(), &control()).await {
            Ok(DriveOutcome::Over) => return,
            Ok(DriveOutcome::Waiting { approval, .. }) => answer(engine, folder, &approval).await,
            // A dead owner, or an acquisition of our own whose answer got lost: the lease ends, and the session comes up.
            Ok(DriveOutcome::Taken) | Err(EngineError::Fenced) => {
                patient(async || engine.store.next_work(&engine.owner, PATIENCE).await).await;
            }
            rest => panic!("{rest:?}"),
        }
    }
}

/// Answers a question as a careful human does.
pub(super) async fn answer(engine: &Engine, folder: &Path, approval: &str) {
    let state = state(engine.store.as_ref(), &session()).await;
    let asked = state.approvals.get(approval).unwrap();
    let step = state.step(asked.requested.step).unwrap();
    let name = *NAMES.iter().find(|name| step.current().contains(&format!(">> {name};"))).unwrap();
    let deny = |reason: &str| Reply::Deny { reason: reason.to_owned() };
    let reply = match name {
        // Whether it took effect is not known to the program; it can be seen.
        _ if asked.requested.outcome_unknown && runs(folder, name) > 0 => deny("its line is there"),
        "draft" => Reply::Modify { command: writes("two") },
        "refused" => deny("not now"),
        _ => Reply::Approve,
    };
    // Whoever changed a command is not the one who approves it.
    let who = if state.modified(&asked.requested).is_some() { "cem" } else { "ben" };
    let vote = SubmittedVote {
        approval: approval.to_owned(),
        who: who.to_owned(),
        name: String::new(),
        answer: reply,
        key: format!("click-{approval}"),
        at: SystemClock.now(),
    };
    patient(async || submit_vote(engine.store.as_ref(), &state, SelfApproval::default(), &vote).await).await;
}

/// Reads and folds a session.
pub(super) async fn state(store: &dyn Store, session: &SessionId) -> State {
    let lines = patient(async || store.read(session, 0).await).await;
    let events = read(session, lines.iter().map(String::as_str)).unwrap();
    State::fold(session, &events).unwrap()
}

/// Tells how the questions about a step ended: who said what to which round.
pub(super) fn endings(state: &State) -> Vec<String> {
    let mut all: Vec<_> = state.approvals.values().collect();
    all.sort_by_key(|approval| (approval.requested.step, approval.requested.round, approval.asked_at));
    let outcomes = all.into_iter().filter(|approval| !approval.requested.outcome_unknown).map(|approval| {
        let ending = match &approval.ending {
            Some(Ending::Decided { answer, who, .. }) => format!("{who}: {answer:?}"),
            Some(Ending::Expired { .. }) => "nobody".to_owned(),
            None => "open".to_owned(),
        };
        format!("{} {} {ending}", approval.requested.step, approval.requested.round)
    });
    outcomes.collect()
}

/// Asks a store until it answers.
pub(super) async fn patient<T>(mut ask: impl AsyncFnMut() -> Result<T, StoreError>) -> T {
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(StoreError::Unavailable { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => panic!("{error:?}"),
        }
    }
}
