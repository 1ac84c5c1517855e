//! Sends changes to Slack while a session runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bot::present::render::{RenderedMessage, board_of, card_of, context, line, posted};
use crate::bot::present::status::Statuses;
use crate::bot::present::tracker::{Change, MessageTracker};
use crate::bot::show::{RenderContext, agent_status};
use crate::bot::{Approvers, Freeze, Thread};
use ghost_base::{Clock, SessionId};
use ghost_investigate::Outcome;
use ghost_investigate::event::{Content, Delivered, Event, Recorded, StepId};
use ghost_investigate::runbook::Note;
use ghost_investigate::state::State;
use ghost_session::{DriveOutcome, EngineError, Observer, ReportDelivery};
use ghost_shell::CancelSignal;
use ghost_slack::pace::Priority;
use ghost_slack::web::{CallError, Posted, Web};
use ghost_store::Store;

/// How often the flag that holds everything back is looked at, for the boards.
const FREEZE_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Slack's words for blocks that it does not know.
const REFUSED_BLOCKS: [&str; 3] = ["invalid_blocks", "invalid_blocks_format", "invalid_arguments"];

/// Emoji that show how an investigation stands.
const LOOKING: &str = "eyes";
const CLEAR: &str = "white_check_mark";
const TROUBLE: &str = "warning";

/// How long what is still to be said may take once everything ends.
const GRACE: Duration = Duration::from_secs(10);

/// Returns the audit file of a session, where it lies on this machine.
pub type Trail = dyn Fn(&SessionId) -> Option<Vec<u8>> + Send + Sync;

/// Returns a picture or a report from the folder of captures, by its name, where it lies on this machine.
pub type Pictures = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// The sections of what a site has written.
pub type Runbooks = dyn Fn() -> Vec<Note> + Send + Sync;

/// Returns who decides in a channel, by its id.
pub type Deciders = dyn Fn(&str) -> Option<Approvers> + Send + Sync;

/// Shows people where sessions stand.
pub struct Presenter {
    pub(super) web: Web,
    /// The bot's own user: what others post is never taken for ours.
    pub(super) user: String,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tracker: MessageTracker,
    pub(super) broadcast: bool,
    pub(super) trail: Arc<Trail>,
    pub(super) pictures: Arc<Pictures>,
    /// What the site has written about its machines, as it is now.
    pub(super) runbooks: Arc<Runbooks>,
    /// Whether recorded packets themselves go with the report.
    pub(super) attach_captures: bool,
    /// Whether the message at the top of a thread shows as an emoji how the investigation stands.
    marks_status: bool,
    /// Who brings reports of sessions that did not begin in Slack.
    pub(super) elsewhere: Arc<dyn ReportDelivery>,
    pub(super) frozen: RwLock<Option<Freeze>>,
    /// Whether the workspace refused a plan with task cards. It is not asked again.
    pub(super) refused_plan: AtomicBool,
    /// As whom what is approved runs.
    acts_as: Option<String>,
    modifier: bool,
    /// Who decides, by channel, for the cards.
    deciders: Arc<Deciders>,
    /// What was recorded here first, so that nobody else can have shown it yet.
    fresh: Mutex<HashMap<SessionId, BTreeSet<String>>>,
    pub(super) statuses: Statuses,
    /// The sessions that are driven here.
    pub(super) driven: Mutex<HashMap<SessionId, Driven>>,
    /// Whether everything ends: nobody waits for a store that is away then.
    pub(super) is_ending: AtomicBool,
    jobs: mpsc::UnboundedSender<Job>,
    queue: Mutex<Option<mpsc::UnboundedReceiver<Job>>>,
}

/// A session that is driven here.
#[derive(Debug, Default)]
pub(super) struct Driven {
    /// How often at once: it may begin again before the end of its last run is reported.
    times: usize,
    /// The freeze that its board shows.
    pub(super) drawn: Option<Freeze>,
    /// How much of its ledger was shown from here.
    seq: u64,
}

/// Something to be sent.
enum Job {
    /// A board, and what was known when it was drawn: what the ledger held, and whether everything was held back.
    Board {
        session: SessionId,
        seq: u64,
        frozen: Option<Freeze>,
        change: Change,
    },
    /// A card, and what was known when it was drawn.
    Card {
        session: SessionId,
        approval: String,
        seq: u64,
        frozen: Option<Freeze>,
        change: Change,
    },
    Line {
        session: SessionId,
        line: String,
    },
    Status {
        session: SessionId,
        seq: u64,
        thread: Thread,
    },
    /// How an investigation stands, as an emoji.
    Mark {
        thread: Thread,
        gone: Option<&'static str>,
        now: &'static str,
    },
    /// All of a session that was lost to another replica.
    Lost {
        session: SessionId,
        seq: u64,
    },
}

impl Presenter {
    /// Makes a presenter; [`Presenter::run`] has to run beside it.
    #[must_use]
    pub fn new(
        web: Web,
        user: &str,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        trail: Arc<Trail>,
        elsewhere: Arc<dyn ReportDelivery>,
        broadcast: bool,
    ) -> Self {
        let (jobs, queue) = mpsc::unbounded_channel();
        Self {
            web,
            user: user.to_owned(),
            store,
            clock,
            tracker: MessageTracker::default(),
            broadcast,
            trail,
            pictures: Arc::new(|_| None),
            runbooks: Arc::new(Vec::new),
            attach_captures: false,
            marks_status: false,
            elsewhere,
            frozen: RwLock::default(),
            refused_plan: AtomicBool::new(false),
            acts_as: None,
            modifier: false,
            deciders: Arc::new(|_| None),
            fresh: Mutex::default(),
            statuses: Statuses::default(),
            driven: Mutex::default(),
            is_ending: AtomicBool::new(false),
            jobs,
            queue: Mutex::new(Some(queue)),
        }
    }

    /// Says as whom what is approved runs, for the cards.
    #[must_use]
    pub fn acting_as(self, identity: impl Into<String>) -> Self {
        Self { acts_as: Some(identity.into()), ..self }
    }

    /// Says whether whoever changed a command may be the only one to approve it, for the cards.
    #[must_use]
    pub fn modifier_may_approve(self, modifier: bool) -> Self {
        Self { modifier, ..self }
    }

    /// Says who decides in a channel, for the cards.
    #[must_use]
    pub fn decided_by(self, deciders: Arc<Deciders>) -> Self {
        Self { deciders, ..self }
    }

    /// Says whether recorded packets themselves go with the report.
    #[must_use]
    pub fn attaching_captures(self, attach_captures: bool) -> Self {
        Self { attach_captures, ..self }
    }

    /// Says whether the message at the top of a thread shows as an emoji how the investigation stands.
    #[must_use]
    pub fn marking_status(self, marks_status: bool) -> Self {
        Self { marks_status, ..self }
    }

    /// Says what the site has written about its machines; it is read anew for each report.
    #[must_use]
    pub fn with_runbooks(self, runbooks: Arc<Runbooks>) -> Self {
        Self { runbooks, ..self }
    }

    /// Says where pictures of captures are found, for the reports.
    #[must_use]
    pub fn showing(self, pictures: Arc<Pictures>) -> Self {
        Self { pictures, ..self }
    }

    /// Sends queued changes until it is stopped. What is lost then is sent when sessions are reconciled.
    pub async fn run(self: Arc<Self>, mut stop: CancelSignal) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut queue) = queue else { return };
        let mut sending = JoinSet::new();
        let mut look = tokio::time::interval(FREEZE_CHECK_INTERVAL);
        loop {
            tokio::select! {
                biased;
                () = stop.canceled() => break,
                Some(_) = sending.join_next() => {}
                _ = look.tick() => self.check_freeze().await,
                job = queue.recv() => {
                    let Some(job) = job else { break };
                    let own = Arc::clone(&self);
                    sending.spawn(async move { own.send(job).await });
                }
            }
        }
        self.is_ending.store(true, Ordering::Relaxed);
        // What was wanted last is still shown, so that nothing claims to go on that does not.
        while let Ok(job) = queue.try_recv() {
            let own = Arc::clone(&self);
            sending.spawn(async move { own.send(job).await });
        }
        drop(timeout(GRACE, async { while sending.join_next().await.is_some() {} }).await);
        sending.shutdown().await;
    }

    async fn send(&self, job: Job) {
        let sent = match job {
            Job::Board { session, seq, frozen, change } => {
                self.tracker.wait_for_interval(&change).await;
                let shown = self.board(&session, seq, change).await;
                self.recheck_freeze(&session, frozen.as_ref()).await;
                shown.map_err(|error| error.to_string())
            }
            Job::Card { session, approval, seq, frozen, change } => {
                self.tracker.wait_for_interval(&change).await;
                let shown = self.card(&session, &approval, seq, change).await;
                self.recheck_freeze(&session, frozen.as_ref()).await;
                shown.map_err(|error| error.to_string())
            }
            Job::Line { session, line } => {
                let posted = self.store.post(&session, &line, self.clock.now()).await;
                posted.map_err(|error| error.to_string())
            }
            Job::Status { session, seq, thread } => {
                let shown = self.statuses.show(&self.web, &session, &thread).await;
                self.follow(&session, seq).await;
                shown.map_err(|error| error.to_string())
            }
            Job::Mark { thread, gone, now } => {
                let web = self.web.at(Priority::Board);
                let there = Posted { channel: thread.channel, ts: thread.ts };
                let removed = match gone {
                    Some(gone) => web.unreact(&there, gone).await,
                    None => Ok(()),
                };
                removed.and(web.react(&there, now).await).map_err(|error| error.to_string())
            }
            Job::Lost { session, seq } => {
                self.follow_whole(&session, seq).await;
                Ok(())
            }
        };
        if let Err(error) = sent {
            tracing::warn!("slack message update failed: {error}");
        }
    }

    pub(super) fn context(&self, state: &State) -> RenderContext {
        self.context_in(state, self.known_freeze().as_ref())
    }

    pub(super) fn context_in(&self, state: &State, frozen: Option<&Freeze>) -> RenderContext {
        let around = context(state, frozen);
        let deciders = state.opened.origin.channel.as_deref().and_then(|channel| (self.deciders)(channel));
        let plan = !self.refused_plan.load(Ordering::Relaxed);
        RenderContext { acts_as: self.acts_as.clone(), modifier: self.modifier, deciders, plan, ..around }
    }

    /// Tells whether a board was refused for its plan. From then on boards have lines in its place.
    pub(super) fn plan_was_refused(&self, error: &CallError) -> bool {
        let by_blocks = error.code().is_some_and(|code| REFUSED_BLOCKS.contains(&code));
        let first = by_blocks && !self.refused_plan.swap(true, Ordering::Relaxed);
        if first {
            tracing::warn!("slack refused a plan block ({error}); boards are drawn as text");
        }
        first
    }

    fn queue(&self, job: Job) {
        // Nobody listens any more where everything is ending.
        drop(self.jobs.send(job));
    }

    pub(super) fn show_board(&self, state: &State) {
        let Some(place) = state.place_of(Delivered::BOARD).and_then(|board| posted(&board.place)) else {
            return;
        };
        let frozen = self.known_freeze();
        let board = board_of(state, &self.context_in(state, frozen.as_ref()), self.clock.now());
        self.show_later(state, place, board, frozen);
    }

    /// Shows a board when Slack has time for it. `frozen` is the freeze that was known when it was drawn.
    pub(super) fn show_later(
        &self,
        state: &State,
        place: Posted,
        rendered: RenderedMessage,
        frozen: Option<Freeze>,
    ) {
        self.note_drawn(&state.session, frozen.as_ref());
        let change = self.tracker.want(place, rendered);
        self.queue(Job::Board { session: state.session.clone(), seq: state.seq, frozen, change });
    }

    pub(super) fn show_card(&self, state: &State, approval: &str) {
        let what = Delivered::card_of(approval);
        let Some(place) = state.place_of(&what).and_then(|card| posted(&card.place)) else { return };
        let frozen = self.known_freeze();
        let context = self.context_in(state, frozen.as_ref());
        let Some(rendered) = card_of(state, approval, &context, self.clock.now()) else { return };
        let change = self.tracker.want(place, rendered);
        let (session, approval) = (state.session.clone(), approval.to_owned());
        self.queue(Job::Card { session, approval, seq: state.seq, frozen, change });
    }

    /// Tells whether a session is at work here.
    pub(super) fn is_driven(&self, session: &SessionId) -> bool {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner).contains_key(session)
    }

    fn note_seq(&self, state: &State) {
        let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driven) = driven.get_mut(&state.session) {
            driven.seq = state.seq;
        }
    }

    fn note_fresh(&self, state: &State, what: String) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.entry(state.session.clone()).or_default().insert(what);
    }

    pub(super) fn forget_fresh(&self, state: &State) {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).remove(&state.session);
    }

    /// Tells, once, whether something was recorded here first, so that nobody else can have shown it yet.
    pub(super) fn take_fresh(&self, state: &State, what: &str) -> bool {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(of_session) = fresh.get_mut(&state.session) else { return false };
        let is_fresh = of_session.remove(what);
        if of_session.is_empty() {
            fresh.remove(&state.session);
        }
        is_fresh
    }

    /// Shows below a thread what is being done there. A request from outside is worked on elsewhere.
    pub(super) fn show_status(&self, state: &State, thread: &Thread) {
        if state.opened.outside.is_some() {
            return;
        }
        if self.statuses.want(&state.session, &agent_status(state, &self.context(state))) {
            let (session, seq) = (state.session.clone(), state.seq);
            self.queue(Job::Status { session, seq, thread: thread.clone() });
        }
    }
}

/// Returns the question whose card an event changes.
fn card_in(state: &State, event: &Event) -> Option<String> {
    let step = match event {
        Event::ApprovalVoted(voted) => return Some(voted.approval.clone()),
        Event::ApprovalDecided(decided) => return Some(decided.approval.clone()),
        Event::ApprovalExpired(expired) => return Some(expired.approval.clone()),
        Event::Intent(intent) => intent.step,
        Event::Executing(executing) => executing.step,
        Event::Unknown(unknown) => unknown.step,
        Event::Done(done) => done.step,
        Event::Observed(observed) => observed.step?,
        Event::Taken(taken) => taken.step,
        Event::ForecastChecked(checked) => checked.step,
        Event::Attended(_) => state.steps.first()?.id,
        Event::Classified(classified) if classified.round > 1 => {
            let round = state.step(classified.step)?.rounds.iter().rev().nth(1)?;
            return round.approvals.last().cloned();
        }
        Event::Opened(_)
        | Event::HypothesisSet(_)
        | Event::ModelAsked(_)
        | Event::ModelAnswered(_)
        | Event::AnswerFailed(_)
        | Event::Proposed(_)
        | Event::Classified(_)
        | Event::ApprovalRequested(_)
        | Event::Returned(_)
        | Event::FindingAccepted(_)
        | Event::FindingRejected(_)
        | Event::HumanMessage(_)
        | Event::Noted(_)
        | Event::Discarded(_)
        | Event::BudgetSpent(_)
        | Event::Resumed(_)
        | Event::Concluded(_)
        | Event::Delivered(_)
        | Event::Reopened(_)
        | Event::TakeRequested(_)
        | Event::Reworded(_)
        | Event::Alerted(_) => return None,
    };
    state.step(step)?.rounds.iter().rev().find_map(|round| round.approvals.last()).cloned()
}

/// Returns the emoji that an event takes away and the one that it puts there: looking, clear, or something to read.
fn mark_of(state: &State, event: &Event) -> Option<(Option<&'static str>, &'static str)> {
    let done = |state: &State| {
        let outcome = state.concluded.as_ref().map(|(_, concluded)| concluded.outcome);
        if outcome == Some(Outcome::NoFaultFound) { CLEAR } else { TROUBLE }
    };
    if matches!(event, Event::Opened(_)) {
        return Some((None, LOOKING));
    }
    if matches!(event, Event::Reopened(_)) {
        let before = state.earlier.last().map(|(_, concluded)| concluded.outcome);
        return Some((Some(if before == Some(Outcome::NoFaultFound) { CLEAR } else { TROUBLE }), LOOKING));
    }
    matches!(event, Event::Concluded(_)).then(|| (Some(LOOKING), done(state)))
}

impl Observer for Presenter {
    fn recorded(&self, state: &State, event: &Recorded) {
        self.note_seq(state);
        let Content::Known(event) = &event.content else { return };
        let thread = Thread::of_state(state);
        if thread.is_none() && Thread::wanted(state).is_none() {
            return;
        }
        // What is shown now needs not be shown again.
        if let Event::Delivered(sent) = event.as_ref() {
            // The time to the answer belongs to what every replica can read.
            if sent.is_report() {
                self.queue(Job::Line { session: state.session.clone(), line: line(state) });
            }
            return;
        }
        if matches!(event.as_ref(), Event::Opened(_)) {
            self.note_fresh(state, Delivered::BOARD.to_owned());
            self.note_fresh(state, Delivered::ALERT.to_owned());
        }
        if let Event::ApprovalRequested(requested) = event.as_ref() {
            self.note_fresh(state, Delivered::card_of(&requested.approval));
        }
        if matches!(event.as_ref(), Event::Concluded(_)) {
            self.note_fresh(state, Delivered::REPORT.to_owned());
        }
        let standing = matches!(
            event.as_ref(),
            Event::Opened(_)
                | Event::Reopened(_)
                | Event::Reworded(_)
                | Event::Taken(_)
                | Event::ApprovalRequested(_)
                | Event::ApprovalDecided(_)
                | Event::ApprovalExpired(_)
                | Event::Concluded(_)
        );
        if let Some(thread) = thread.as_ref().filter(|_| self.marks_status)
            && let Some((gone, now)) = mark_of(state, event.as_ref())
        {
            self.queue(Job::Mark { thread: thread.clone(), gone, now });
        }
        if standing {
            self.queue(Job::Line { session: state.session.clone(), line: line(state) });
        }
        self.show_board(state);
        if let Some(approval) = card_in(state, event) {
            self.show_card(state, &approval);
        }
        if let Some(thread) = thread {
            self.show_status(state, &thread);
        }
    }

    fn words(&self, _words: &str) {}

    fn trouble(&self, what: &str) {
        tracing::warn!("session delayed: {what}");
    }

    fn thinking(&self, state: &State, _since: Duration) {
        self.note_seq(state);
        self.show_board(state);
    }

    fn running(&self, state: &State, _step: StepId, _since: Duration) {
        self.note_seq(state);
        self.show_board(state);
    }

    fn began(&self, session: &SessionId, _orphaned: bool) {
        let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
        driven.entry(session.clone()).or_default().times += 1;
    }

    fn ended(&self, session: &SessionId, how: Option<&Result<DriveOutcome, EngineError>>) {
        let ended = {
            let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
            match driven.get_mut(session) {
                Some(known) if known.times > 1 => {
                    known.times -= 1;
                    None
                }
                Some(_) | None => driven.remove(session),
            }
        };
        if let Some(ended) = ended
            && !matches!(how, Some(Ok(_)))
        {
            self.queue(Job::Lost { session: session.clone(), seq: ended.seq });
        }
    }
}
