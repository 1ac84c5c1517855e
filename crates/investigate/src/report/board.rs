//! The board: where a session stands at one moment, and how a terminal shows it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::event::{ObservationId, Returned, StepId};
use crate::playbook::hypothesis_of;
use crate::report::amount::{clock, count};
use crate::report::looked::Looked as LookedAt;
use crate::report::spell::{fit, plain};
use crate::report::step_outcome::{StepOutcome, command, sentence, step_outcome};
use crate::state::{CallState, Phase, State, Step};
use crate::suspect::{Layer, Looked};
use crate::{Confidence, Fence, Hypothesis, HypothesisState, Outcome};
use ghost_base::Timestamp;

/// Where a session stands at one moment. Its texts are data: whoever draws it escapes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    pub session: String,
    /// The word for where it stands.
    pub standing: &'static str,
    /// What is wrong, in the words of whoever asked.
    pub symptom: String,
    /// What is supposed.
    pub hypotheses: Vec<Hypothesis>,
    /// Those of them that were settled or looked at, by their ids.
    pub looked_at: BTreeSet<String>,
    /// What was looked at, oldest first.
    pub checks: Vec<Check>,
    pub current: Current,
    /// What the command that runs is for.
    pub doing: String,
    /// How long ago it was opened; for one that is over, how long it took.
    pub elapsed: Duration,
    /// What is left to spend.
    pub budget: Vec<Budget>,
}

/// Something that was looked at, or was to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// How it went.
    pub mark: Mark,
    /// What it was, in a line.
    pub what: String,
    /// What came of it where it was not as it should be.
    pub problem: Option<String>,
    /// What it showed.
    pub observations: Vec<ObservationId>,
    /// Which hypothesis it tests.
    pub hypothesis: Option<String>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It ran to its end.
    Good,
    /// It was denied, expired, was refused or went wrong.
    Bad,
    /// Nobody knows whether it took effect.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// A model thinks.
    Thinking {
        /// Which turn, from zero.
        turn: u32,
        /// How long it has been thinking; nothing where that is no news.
        since: Option<Duration>,
    },
    /// A command is being judged, asked about or run.
    Running { step: StepId, command: String },
    /// Somebody has to answer.
    Waiting {
        approval: String,
        step: StepId,
        /// The command that is asked about.
        command: String,
        /// How many said yes so far.
        votes: u32,
        /// How many have to.
        votes_needed: u32,
        /// From then on the answer is no.
        until: Timestamp,
    },
    /// No model answers.
    Stuck {
        /// Why, as far as it is known.
        problem: String,
    },
    /// The next step is being chosen.
    Idle,
    Over {
        /// What came of it.
        outcome: Outcome,
        /// How sure that is.
        confidence: Confidence,
    },
}

/// A budget. A limit of zero is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub what: &'static str,
    /// How much was used.
    pub used: u64,
    /// How much there was.
    pub limit: u64,
}

impl Budget {
    /// Returns how much is left; `None` where there is no limit.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        (self.limit > 0).then(|| self.limit.saturating_sub(self.used))
    }
}

impl Board {
    /// Returns the board of a session.
    #[must_use]
    pub fn of(state: &State, now: Timestamp) -> Self {
        // A session that is over does not grow older.
        let now = state.concluded.as_ref().map_or(now, |(at, _)| *at);
        Self {
            session: state.session.to_string(),
            standing: state.standing(),
            symptom: state.opened.symptom.clone(),
            hypotheses: state.hypotheses.clone(),
            looked_at: looked_at(state),
            checks: checks(state),
            current: current(state, now),
            doing: doing(state),
            elapsed: now.since(state.opened_at),
            budget: budget(state, now),
        }
    }
}

/// Says what is being done; of commands that run side by side, how many are over.
fn doing(state: &State) -> String {
    let Some(step) = state.open_step() else { return String::new() };
    let doing = LookedAt::by(step, step.current()).plain();
    let own = || state.steps.iter().filter(|one| one.call == step.call);
    let (all, done) = (own().count(), own().filter(|one| one.phase == Phase::Done).count());
    if all - done > 1 { format!("{doing}; {done} of {all} are done") } else { doing }
}

/// Returns the hypotheses that were looked at: settled, tested by a call that is over, or about a layer that a call read whole.
fn looked_at(state: &State) -> BTreeSet<String> {
    let settled = state.hypotheses.iter().filter(|one| one.state != HypothesisState::Active);
    let mut ids: BTreeSet<String> = settled.map(|one| one.id.clone()).collect();
    if ids.len() == state.hypotheses.len() {
        return ids;
    }
    let is_over = |call: &&CallState| call.returned.as_ref().is_some_and(|returned| !returned.is_error);
    // What was looked at before an earlier report is not looked at again by that.
    let since = state.reported.as_ref().map_or(0, |reported| reported.calls().count());
    let over = || state.calls().skip(since).filter(is_over);
    let ran = over().flat_map(|call| &call.steps).filter_map(|id| state.step(*id));
    let ran = ran.filter(|step| step_outcome(state, step) == StepOutcome::Ran);
    ids.extend(ran.filter_map(|step| step.hypothesis.clone()));
    let layers = over().filter_map(|call| call.returned.as_ref()).flat_map(layers_of);
    ids.extend(layers.filter_map(hypothesis_of).map(str::to_owned));
    ids.retain(|id| state.hypothesis(id).is_some());
    ids
}

/// Reads which layers a call looked at, whole, out of its result.
fn layers_of(returned: &Returned) -> Vec<Layer> {
    const MARK: &str = "\"looked\":[";
    // The rest of a result can be large, and is not needed.
    let list = returned.content.split_once(MARK).and_then(|(_, rest)| rest.split_once(']'));
    let list = list.map(|(list, _)| format!("[{list}]")).unwrap_or_default();
    let looked: Vec<Looked> = serde_json::from_str(&list).unwrap_or_default();
    looked.into_iter().map(|one| one.layer).collect()
}

fn checks(state: &State) -> Vec<Check> {
    let mut checks = Vec::new();
    for call in state.calls() {
        checks
            .extend(call.steps.iter().filter_map(|id| state.step(*id)).filter_map(|step| check(state, step)));
        let own = call.observations.iter().filter_map(|id| state.observation(*id));
        let own = own.map(|found| &found.observed).filter(|observed| observed.step.is_none());
        checks.extend(own.map(|observed| Check {
            mark: Mark::Good,
            what: LookedAt::at(state, observed).plain(),
            problem: None,
            observations: vec![observed.id],
            hypothesis: None,
        }));
    }
    checks
}

/// Returns the check that a step is; `None` while it is open.
fn check(state: &State, step: &Step) -> Option<Check> {
    let exit = step.done.as_ref().and_then(|done| done.exit_code);
    let (mark, problem) = match step_outcome(state, step) {
        StepOutcome::Open => return None,
        StepOutcome::Ran if step.outcome_unknown => (Mark::Unknown, Some(sentence(state, step))),
        StepOutcome::Ran => (Mark::Good, exit.filter(|code| *code != 0).map(|code| format!("exit {code}"))),
        StepOutcome::Failed | StepOutcome::Refused => (Mark::Bad, Some(sentence(state, step))),
        StepOutcome::Unknown => (Mark::Unknown, Some(sentence(state, step))),
    };
    let observed = state.observations.iter().map(|found| &found.observed);
    let observed = observed.filter(|observed| observed.step == Some(step.id)).collect::<Vec<_>>();
    Some(Check {
        mark,
        what: match observed.first() {
            Some(observed) => LookedAt::by(step, &observed.what).plain(),
            None => LookedAt::by(step, command(step)).plain(),
        },
        problem,
        observations: observed.iter().map(|observed| observed.id).collect(),
        hypothesis: step.hypothesis.clone(),
    })
}

fn current(state: &State, now: Timestamp) -> Current {
    if let Some((_, concluded)) = &state.concluded {
        return Current::Over { outcome: concluded.outcome, confidence: concluded.confidence };
    }
    if let Some(step) = state.open_step() {
        let command = step.current().to_owned();
        let Phase::AwaitingApproval { approval: name } = &step.phase else {
            return Current::Running { step: step.id, command };
        };
        if let Some(approval) = state.approvals.get(name) {
            let yes = approval.votes.iter().filter(|vote| vote.approves).count();
            let command = match approval.requested.plan.as_slice() {
                [] => command,
                plan => format!("{} commands, the first: {command}", plan.len()),
            };
            return Current::Waiting {
                approval: name.clone(),
                step: step.id,
                command,
                votes: u32::try_from(yes).unwrap_or(u32::MAX),
                votes_needed: approval.requested.votes_needed,
                until: approval.requested.expires_at,
            };
        }
    }
    match (&state.asked, state.failures.last()) {
        (Some(asked), _) => {
            let since = now.since(state.last_at);
            Current::Thinking { turn: asked.turn, since: (since >= LONG_THOUGHT).then_some(since) }
        }
        (None, Some(problem)) => Current::Stuck { problem: problem.clone() },
        (None, None) => Current::Idle,
    }
}

fn budget(state: &State, now: Timestamp) -> Vec<Budget> {
    let (spent, limits) = (&state.spent, &state.limits);
    // The fold counts a wait when it ends.
    let waiting = state.open_approval().map_or(Duration::ZERO, |approval| now.since(approval.asked_at));
    let at_work = spent.at_work(state.opened_at, now).saturating_sub(waiting);
    let all = [
        ("turns", u64::from(spent.turns), u64::from(limits.turns)),
        ("commands", spent.commands.into(), limits.commands.into()),
        ("minutes", at_work.as_secs() / 60, limits.minutes.into()),
        ("captured megabytes", spent.captured_bytes / 1_000_000, limits.captured_bytes / 1_000_000),
        ("tokens", spent.tokens, limits.tokens),
    ];
    all.into_iter().map(|(what, used, limit)| Budget { what, used, limit }).collect()
}

/// From then on it is said how long a model has been thinking.
const LONG_THOUGHT: Duration = Duration::from_secs(15);

/// Limits the checks that are shown; older ones are counted.
const MAX_CHECKS: usize = 8;

/// A style of a terminal, by its number.
#[derive(Debug, Clone, Copy)]
enum Style {
    Normal,
    Bold,
    Faint,
    Good,
    Warning,
    Bad,
}

impl Board {
    /// Draws the board for a terminal: lines of at most so many columns, without a character that a terminal obeys
    /// other than the colors, where they are wanted.
    #[must_use]
    pub fn lines(&self, width: usize, color: bool) -> Vec<String> {
        let title = format!("{} · {} · {}", self.session, self.standing, clock(self.elapsed));
        let mut lines = vec![(title, Style::Bold), (format!("  {}", self.symptom), Style::Normal)];
        lines.extend(self.hypotheses.iter().map(|hypothesis| {
            let (id, state, description) = (&hypothesis.id, hypothesis.state, &hypothesis.description);
            let why = hypothesis
                .why
                .as_deref()
                .map(|why| format!(" ({})", Fence::without_markers(why)))
                .unwrap_or_default();
            (format!("  {id:<4} {state:<12}  {description}{why}"), style(state))
        }));
        let older = self.checks.len().saturating_sub(MAX_CHECKS);
        if older > 0 {
            lines.push((format!("  … {older} earlier"), Style::Faint));
        }
        lines.extend(self.checks.iter().skip(older).map(check_line));
        lines.extend(self.current_line());
        let budget = self.budget.iter().filter(|budget| budget.limit > 0 || budget.used > 0).map(left);
        lines.push((format!("  {}", budget.collect::<Vec<_>>().join(" · ")), Style::Faint));
        lines.into_iter().map(|(line, style)| paint(&fit(&plain(&line), width), style, color)).collect()
    }

    /// Says in one line what is done now, and what it took so far.
    #[must_use]
    pub fn progress(&self, width: usize, color: bool) -> String {
        let doing = match &self.current {
            Current::Thinking { since: Some(since), .. } => {
                format!("the model has been thinking for {}", clock(*since))
            }
            Current::Idle | Current::Thinking { .. } => "choosing the next step".to_owned(),
            Current::Running { .. } => self.doing.clone(),
            Current::Waiting { .. } => "waiting for an approval".to_owned(),
            Current::Stuck { problem } => format!("no answer: {problem}"),
            Current::Over { outcome, .. } => format!("{outcome}"),
        };
        let commands =
            self.budget.iter().find(|budget| budget.what == "commands").map_or(0, |budget| budget.used);
        let line = format!("▸ {} · {} · {doing}", clock(self.elapsed), count(commands, "command"));
        let style = match &self.current {
            Current::Waiting { .. } | Current::Stuck { .. } => Style::Warning,
            Current::Idle | Current::Thinking { .. } | Current::Running { .. } | Current::Over { .. } => {
                Style::Faint
            }
        };
        paint(&fit(&plain(&line), width), style, color)
    }

    fn current_line(&self) -> Vec<(String, Style)> {
        match &self.current {
            Current::Idle => Vec::new(),
            Current::Thinking { turn, since } => {
                let since = since.map(|since| format!(", for {}", clock(since))).unwrap_or_default();
                vec![(format!("  ▸ thinking, turn {turn}{since}"), Style::Normal)]
            }
            Current::Running { step, command } => vec![(format!("  ▸ {step} {command}"), Style::Normal)],
            Current::Waiting { step, command, votes, votes_needed, until, .. } => vec![
                (format!("  ▸ {step} {command}"), Style::Normal),
                (format!("    waits for approval, {votes} of {votes_needed}, until {until}"), Style::Warning),
            ],
            Current::Stuck { problem } => vec![(format!("  ▸ no answer: {problem}"), Style::Warning)],
            Current::Over { outcome, confidence } => {
                vec![(format!("  ▸ {outcome}, confidence {confidence}"), Style::Bold)]
            }
        }
    }
}

fn style(state: HypothesisState) -> Style {
    match state {
        HypothesisState::Active => Style::Normal,
        HypothesisState::Confirmed => Style::Good,
        HypothesisState::Refuted | HypothesisState::Withdrawn => Style::Faint,
        HypothesisState::Unverifiable | HypothesisState::Contradicted => Style::Warning,
    }
}

fn check_line(check: &Check) -> (String, Style) {
    let (mark, style) = match check.mark {
        Mark::Good => ('✔', Style::Good),
        Mark::Bad => ('✘', Style::Bad),
        Mark::Unknown => ('?', Style::Warning),
    };
    let ids = check.observations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let ids = if ids.is_empty() { ids } else { format!(" ({ids})") };
    let hypothesis = check.hypothesis.as_deref().map(|id| format!(" → {id}")).unwrap_or_default();
    let problem = check.problem.as_deref().map(|problem| format!("{problem}: ")).unwrap_or_default();
    (format!("  {mark}{ids}{hypothesis} {problem}{}", check.what), style)
}

fn left(budget: &Budget) -> String {
    match budget.left() {
        Some(left) => format!("{left} {} left", budget.what),
        None => format!("{} {}", budget.used, budget.what),
    }
}

fn paint(line: &str, style: Style, color: bool) -> String {
    let code = match style {
        Style::Normal => None,
        Style::Bold => Some("1"),
        Style::Faint => Some("2"),
        Style::Good => Some("32"),
        Style::Warning => Some("33"),
        Style::Bad => Some("31"),
    };
    match code.filter(|_| color) {
        Some(code) => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
        None => line.to_owned(),
    }
}
