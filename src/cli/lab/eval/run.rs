//! One case: injected, investigated in all its phases, and gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use super::changes::ChangeCounts;
use super::chosen::Chosen;
use super::consent::Consent;
use super::counts::LedgerCounts;
use super::row::{Row, is_right};
use super::served::Served;
use super::world::{engine, scope, seconds, setup};
use crate::cli::engine::limits;
use crate::cli::lab::{clusters, found};
use ghost_base::{Clock as _, SessionId, private_dir, write_private};
use ghost_investigate::event::{Opened, Origin, read};
use ghost_investigate::model::Model;
use ghost_investigate::state::State;
use ghost_investigate::{RequesterMay, SelfApproval};
use ghost_lab::case::{Profile, Score, inject, write_history};
use ghost_lab::control::Lab;
use ghost_lab::runner::{memory_lab, memory_lab_now};
use ghost_session::{DriveControl, DriveOutcome, Engine, InboxMessage, SubmittedVote, submit_vote};
use ghost_shell::CancelSignal;
use ghost_tools::name::random;
use ghost_tools::setup::Setup;

/// Whoever asks again and again is stopped.
const QUESTIONS: usize = 500;

/// What holds for all cases of a call.
pub(super) struct Terms<'a> {
    /// Whoever calls.
    pub(super) own: &'a Setup,
    /// Makes whoever thinks ready, anew for each investigation.
    pub(super) investigator: &'a dyn Fn(&Setup) -> anyhow::Result<Arc<dyn Model>>,
    pub(super) consent: Consent,
    /// What is asked in place of the case's own words.
    pub(super) prompt: Option<&'a str>,
    /// Where everything is kept, if it is.
    pub(super) keep: Option<&'a Path>,
    /// Where it lies meanwhile, if it is not.
    pub(super) place: &'a Path,
    /// The `az` that is run; where there is none, the built-in one answers.
    pub(super) az: Option<&'a Path>,
    /// Whether what needs no `az` is read within this process.
    pub(super) native: bool,
    /// From which everything follows that the machines draw.
    pub(super) seed: u64,
}

/// A folder that goes away, unless it is kept.
struct Folder {
    path: PathBuf,
    stays: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.stays
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            tracing::warn!("removal of {} failed: {error}", self.path.display());
        }
    }
}

/// Investigates a case; a row for each of its phases.
pub(super) async fn case(chosen: &Chosen, terms: &Terms<'_>) -> anyhow::Result<Vec<Row>> {
    let path = match terms.keep {
        Some(keep) => keep.join(&chosen.case.id),
        None => terms.place.join(random::<6>()?),
    };
    // Paths stand in the configuration of a session.
    let path = std::path::absolute(&path)?;
    if terms.keep.is_some() && path.exists() {
        std::fs::remove_dir_all(&path).with_context(|| format!("clearing {}", path.display()))?;
    }
    private_dir(&path).with_context(|| format!("making {}", path.display()))?;
    let folder = Folder { path, stays: terms.keep.is_some() };
    if folder.stays && chosen.profile.is_some() {
        keep_case(chosen, &folder.path)?;
    }
    let (lab, served) = match terms.az {
        None => (memory_lab(terms.seed)?, None),
        Some(az) => {
            let lab = memory_lab_now(terms.seed)?;
            let served = Served::up(&lab, az, &folder.path).await?;
            (lab, Some(served))
        }
    };
    let mut rows = Vec::new();
    for at in 1..=chosen.case.phases.len() {
        let injected = inject(&lab, &folder.path, &chosen.text, chosen.estate.as_ref(), at).await;
        injected.with_context(|| format!("injecting {}", chosen.case.id))?;
        let history = write_history(&lab, &chosen.case, at);
        let mut row = phase(chosen, at, (&lab, served.as_ref()), &folder, terms).await?;
        row.changes.count(&history);
        rows.push(row);
    }
    if let Some(served) = served {
        served.down().await?;
    }
    Ok(rows)
}

/// Writes what was drawn as files, so that `ghost lab eval FILE` repeats it.
fn keep_case(chosen: &Chosen, folder: &Path) -> anyhow::Result<()> {
    let id = &chosen.case.id;
    let estate = chosen.estate.as_ref().map(ToString::to_string).unwrap_or_default();
    for (name, text) in [(format!("{id}.toml"), &chosen.text), (format!("{id}.json"), &estate)] {
        let path = folder.join(name);
        write_private(&path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

async fn phase(
    chosen: &Chosen,
    at: usize,
    (lab, served): (&Arc<Lab>, Option<&Served>),
    folder: &Folder,
    terms: &Terms<'_>,
) -> anyhow::Result<Row> {
    let case = &chosen.case;
    let phase = at.checked_sub(1).and_then(|at| case.phases.get(at)).context("there is no such phase")?;
    let several = case.phases.len() > 1;
    let id = if several { format!("{}/{at}", case.id) } else { case.id.clone() };
    let session: SessionId = format!("eval-{}", id.replace('/', "-")).parse()?;
    let (setup, paced) = setup(lab, &folder.path, terms.own, (served, terms.native))?;
    let setup = Arc::new(setup);
    let model = (terms.investigator)(terms.own)?;
    let (began, since) = (Instant::now(), lab.clock().now());
    let (state, trouble) = {
        let engine = engine(lab, &folder.path, &setup, Arc::clone(&model))?;
        let opened = opened(terms.prompt.unwrap_or(&phase.prompt), &setup, model.as_ref())?;
        let clusters = clusters(case);
        let opened = Opened { cloud_too: !clusters.is_empty(), clusters, ..opened };
        open(&engine, &session, opened).await?;
        let trouble = attend(&engine, &session, terms.consent).await?;
        (state(&engine, &session).await?, trouble)
    };
    let text = claims(&state);
    let found = found(&state);
    let outcome = state.concluded.as_ref().map(|(_, concluded)| concluded.outcome);
    let file = folder.path.join("reports").join(session.as_str()).join("rca.md");
    Ok(Row {
        id,
        title: case.title.clone(),
        profile: chosen.profile.map(Profile::name),
        expected: phase.expected.clone(),
        may: phase.may.clone(),
        score: Score::of(phase, &case.forbidden, &found, &text),
        found,
        outcome,
        outcome_right: is_right(outcome, &phase.outcome),
        counts: LedgerCounts::of(&state),
        changes: ChangeCounts::of(&state),
        seconds: (began.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0,
        lab_seconds: seconds(since, lab.clock().now()),
        overhead_ms: paced.median(),
        report: folder.stays.then(|| file.display().to_string()),
        trouble,
    })
}

/// Returns what the investigation claims. What people asked and what machines printed stands in its report, too, and claims nothing.
fn claims(state: &State) -> String {
    let concluded = state.concluded.iter().flat_map(|(_, concluded)| {
        std::iter::once(&concluded.summary).chain(&concluded.actions).chain(&concluded.open_questions)
    });
    let findings = state.accepted.iter().map(|accepted| &accepted.finding.statement);
    concluded.chain(findings).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Returns the incident.
pub(super) fn opened(prompt: &str, setup: &Setup, model: &dyn Model) -> anyhow::Result<Opened> {
    Ok(Opened {
        symptom: prompt.trim().to_owned(),
        requester: "eval".to_owned(),
        origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: random::<8>()?,
        investigator: model.investigator(),
        limits: limits(setup),
        scope: Some(scope()),
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: Some(setup.surroundings()?),
        gathered: Box::default(),
        by_program: false,
        outside: None,
        alert: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Puts the incident into the inbox.
pub(super) async fn open(engine: &Engine, session: &SessionId, opened: Opened) -> anyhow::Result<()> {
    let message = serde_json::to_string(&InboxMessage::Open(Box::new(opened)))?;
    engine.store.deliver(session, "open", &message).await?;
    Ok(())
}

/// Drives a session to its end and answers what it asks. Returns why it has none.
pub(super) async fn attend(
    engine: &Engine,
    session: &SessionId,
    consent: Consent,
) -> anyhow::Result<Option<String>> {
    let control = DriveControl { pause: CancelSignal::never(), transfers: false };
    for _ in 0..QUESTIONS {
        match engine.drive(session, &control).await? {
            DriveOutcome::Over => return Ok(None),
            DriveOutcome::Waiting { approval, .. } => answer(engine, session, &approval, consent).await?,
            DriveOutcome::Stuck { why } | DriveOutcome::Undelivered { why } => return Ok(Some(why)),
            DriveOutcome::Offered { .. }
            | DriveOutcome::Paused
            | DriveOutcome::Taken
            | DriveOutcome::Missing => {
                return Ok(Some("the session did not go on".to_owned()));
            }
        }
    }
    Ok(Some(format!("it asked more than {QUESTIONS} questions")))
}

async fn answer(
    engine: &Engine,
    session: &SessionId,
    approval: &str,
    consent: Consent,
) -> anyhow::Result<()> {
    let state = state(engine, session).await?;
    let asked = state.approvals.get(approval).context("the question is gone")?;
    let step = state.step(asked.requested.step).context("the question is about nothing")?;
    // A plan is answered as a whole.
    let plan = &asked.requested.plan;
    let whole = if plan.is_empty() { step.current().to_owned() } else { plan.join("\n") };
    let vote = SubmittedVote {
        approval: approval.to_owned(),
        who: "eval".to_owned(),
        name: String::new(),
        answer: consent.answer(&whole),
        key: approval.to_owned(),
        at: engine.clock.now(),
    };
    let rule = SelfApproval { requester: RequesterMay::Everything, modifier: true };
    submit_vote(engine.store.as_ref(), &state, rule, &vote).await?;
    Ok(())
}

pub(super) async fn state(engine: &Engine, session: &SessionId) -> anyhow::Result<State> {
    let lines = engine.store.read(session, 0).await?;
    Ok(State::fold(session, &read(session, lines.iter().map(String::as_str))?)?)
}
