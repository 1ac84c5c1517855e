//! A run: what is next.

use std::collections::VecDeque;

use ghost_base::Timestamp;
use ghost_inspect::nsg::Verdict;

use super::baseline::{Baseline, Comparison};
use super::endpoint::{self, Endpoint};
use super::guest;
use super::preflight::{GuestCheck, Listener, RuleCheck};
use super::request::{Compare, MeasurementRequest};
use super::sample::{Assessment, Series, judge};
use super::step::{DocumentKind, RunStep, Side};
use crate::operation::{CommandKind, CommandOutcome, CommandRequest, Issue, Next, Operation, RetryPolicy};

/// How far a run is, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It checks whether it can measure.
    Preflight,
    Measuring,
    /// It measured all that was asked for.
    Success,
    /// Nothing was measured: a port is blocked, a tool lacks.
    AbortedPreflight,
    /// A human said no.
    Denied,
    /// Somebody ended it early.
    Canceled,
    /// It could not go on.
    Failed,
}

impl State {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Measuring => "measuring",
            Self::Success => "success",
            Self::AbortedPreflight => "aborted_preflight",
            Self::Denied => "denied",
            Self::Canceled => "canceled",
            Self::Failed => "failed",
        }
    }
}

/// What is known of the servers at one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Servers {
    /// None of ours was started, or all ended.
    #[default]
    None,
    /// They run, or may.
    MayRun,
    /// They could not be ended; they end by themselves.
    Left,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub(super) ask: MeasurementRequest,
    pub(super) begun: Timestamp,
    pub(super) over: Option<Timestamp>,
    /// When the last sample was there.
    pub(super) measured: Option<Timestamp>,
    pub(super) todo: VecDeque<RunStep>,
    pub(super) wait: Option<(Timestamp, String)>,
    pub(super) patience: RetryPolicy,
    pub(super) state: State,
    pub(super) trouble: Option<Issue>,
    pub(super) ends: Option<[Endpoint; 2]>,
    pub(super) passages: Vec<RuleCheck>,
    pub(super) checks: [GuestCheck; 2],
    pub(super) actions: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) servers: [Servers; 2],
    pub(super) read: [u64; 2],
    /// What was measured towards each end.
    pub(super) series: [Series; 2],
    pub(super) baseline: Option<Baseline>,
    pub(super) missing: Option<String>,
    pub(super) uploaded: Option<String>,
}

impl Run {
    /// Begins with a checked order.
    #[must_use]
    pub fn new(ask: MeasurementRequest, now: Timestamp) -> Self {
        let (baseline, missing) = match &ask.compare {
            Compare::With(baseline) => (Some(Baseline::clone(baseline)), None),
            Compare::Missing(why) => (None, Some(why.clone())),
            Compare::Nothing | Compare::Blob(_) | Compare::Pair(_) => (None, None),
        };
        let mut run = Self {
            begun: now,
            over: None,
            measured: None,
            todo: VecDeque::from([RunStep::Find]),
            wait: None,
            patience: RetryPolicy::default(),
            state: State::Preflight,
            trouble: None,
            ends: None,
            passages: Vec::new(),
            checks: [GuestCheck::default(), GuestCheck::default()],
            actions: Vec::new(),
            warnings: Vec::new(),
            servers: [Servers::None; 2],
            read: [0; 2],
            series: [Series::default(), Series::default()],
            baseline,
            missing,
            uploaded: None,
            ask,
        };
        if run.ask.place.is_none() {
            run.todo =
                VecDeque::from([RunStep::GuestCheck(Side::Source), RunStep::GuestCheck(Side::Destination)]);
            run.warnings.push("no resource group is named: security rules were not looked at".to_owned());
            match endpoint::named(&run.ask) {
                Ok(ends) => run.ends = Some(ends),
                Err(trouble) => run.give_up(State::AbortedPreflight, trouble, now),
            }
        }
        run
    }

    /// Returns what was asked for.
    #[must_use]
    pub fn ask(&self) -> &MeasurementRequest {
        &self.ask
    }

    /// Returns how far it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns why it ended early.
    #[must_use]
    pub fn trouble(&self) -> Option<&Issue> {
        self.trouble.as_ref()
    }

    /// Says what it does now.
    #[must_use]
    pub fn doing(&self) -> Option<String> {
        self.todo.front().map(|step| step.words(&self.ask, self.ends.as_ref()))
    }

    /// Ends it early: servers that may run are ended, everything else is left out.
    pub fn cancel(&mut self, now: Timestamp) {
        if self.over.is_none() {
            self.give_up(State::Canceled, Issue::new("it was ended early"), now);
        }
    }

    /// Judges what was measured from the source to the destination, and the return path where that was asked for.
    #[must_use]
    pub fn judged(&self) -> [Option<Assessment>; 2] {
        let of = |side: Side| {
            let series = side.of(&self.series);
            let some = !series.latency.is_empty() || !series.throughput.is_empty();
            some.then(|| judge(self.ask.test_type, self.ask.iterations, series))
        };
        [of(Side::Destination), of(Side::Source)]
    }

    /// Compares it with an earlier run.
    #[must_use]
    pub fn comparison(&self) -> Option<Comparison> {
        let [judged, _] = self.judged();
        let asked = self.ask.compare != Compare::Nothing;
        let (baseline, missing) = (self.baseline.clone(), self.missing.clone());
        judged.filter(|_| asked).map(|judged| Comparison::new(&judged, baseline, missing, self.ask.tolerance))
    }

    /// Tells whether it may be what later runs are compared with.
    #[must_use]
    pub fn is_baseline(&self) -> bool {
        let [judged, _] = self.judged();
        let stable = judged.is_some_and(|judged| judged.is_stable == Some(true));
        self.ask.is_baseline && self.state == State::Success && (stable || self.ask.force)
    }

    /// Names the machines on which servers of ours may still run.
    #[must_use]
    pub fn left(&self) -> Vec<String> {
        let named = |side: &Side| self.ends.as_ref().map(|ends| side.of(ends).name.clone());
        let left = |side: &Side| *side.of(&self.servers) != Servers::None;
        Side::BOTH.iter().filter(|side| left(side)).filter_map(named).collect()
    }

    /// Leaves out all that is not needed any more.
    pub(super) fn give_up(&mut self, state: State, trouble: Issue, now: Timestamp) {
        self.wait = None;
        if self.trouble.is_none() {
            (self.state, self.trouble) = (state, Some(trouble));
        }
        let servers = self.servers;
        self.todo.retain(|step| matches!(step, RunStep::Stop(side) if *side.of(&servers) == Servers::MayRun));
        if self.todo.is_empty() {
            self.over = Some(now);
        }
    }

    /// Decides whether to measure, when everything was looked at.
    pub(super) fn decide(&mut self, now: Timestamp) {
        let Some(ends) = self.ends.clone() else { return };
        if let Some(trouble) = self.obstacle(&ends) {
            return self.give_up(State::AbortedPreflight, trouble, now);
        }
        for passage in &self.passages {
            match passage.verdict {
                Verdict::Deny => self.warnings.push(format!("{}; measured all the same", passage.sentence())),
                Verdict::Indeterminate => self.warnings.push(format!(
                    "whether TCP {} passes {} at {} is open: {}",
                    passage.port,
                    passage.direction,
                    passage.at,
                    passage.rule.as_deref().unwrap_or("the rules do not tell")
                )),
                Verdict::Allow | Verdict::Skipped | Verdict::Absent => {}
            }
        }
        self.choose(&ends);
        self.state = State::Measuring;
        self.todo = self.steps();
    }

    /// Finds the baseline of two ends, now that their addresses are known.
    fn choose(&mut self, ends: &[Endpoint; 2]) {
        let Compare::Pair(all) = &self.ask.compare else { return };
        let name = self.ask.baseline_name(ends);
        self.ask.compare = match all.iter().find(|(own, _)| *own == name) {
            Some((_, baseline)) => {
                self.baseline = Some(baseline.clone());
                Compare::With(Box::new(baseline.clone()))
            }
            None if self.ask.storage.is_some() => Compare::Blob(name),
            None => {
                let missing = "these two have none yet; --is-baseline keeps one".to_owned();
                self.missing = Some(missing.clone());
                Compare::Missing(missing)
            }
        };
    }

    /// Says what keeps it from measuring, and what could be done about it.
    fn obstacle(&self, ends: &[Endpoint; 2]) -> Option<Issue> {
        let blocked: Vec<String> = self
            .passages
            .iter()
            .filter(|passage| passage.verdict == Verdict::Deny)
            .map(RuleCheck::sentence)
            .collect();
        if !blocked.is_empty() && !self.ask.force {
            let hint = "change the rule, or measure all the same with --force";
            return Some(Issue::hinted(blocked.join("; "), hint));
        }
        for side in Side::BOTH {
            let (look, end) = (side.of(&self.checks), side.of(ends));
            if self.ask.test_type.throughput() && look.is_foreign() {
                let text = format!("iperf on {} is not version 2: {}", end.name, look.iperf);
                return Some(Issue::hinted(text, "install the package `iperf` there"));
            }
            let ports = guest::ports(self.ask.test_type);
            let foreign = |one: &&Listener| ports.contains(&one.port) && !one.is_stale();
            if let Some(other) = look.listeners.iter().find(foreign).filter(|_| self.serves().contains(&side))
            {
                let program = other.program.as_deref().unwrap_or("a program that cannot be seen");
                let text = format!("port {} on {} is taken by {program}", other.port, end.name);
                return Some(Issue::hinted(text, "end it there; only servers of qperf and iperf are ended"));
            }
        }
        None
    }

    /// Returns where servers are needed.
    pub(super) fn serves(&self) -> Vec<Side> {
        let back = self.ask.both_directions.then_some(Side::Source);
        std::iter::once(Side::Destination).chain(back).collect()
    }

    /// Returns everything that is to be done when everything was looked at.
    fn steps(&self) -> VecDeque<RunStep> {
        let (ask, mut steps) = (&self.ask, VecDeque::new());
        let test = ask.test_type;
        for side in Side::BOTH {
            if !side.of(&self.checks).lacks(test.latency(), test.throughput()).is_empty() {
                steps.extend([RunStep::Install(side), RunStep::Check(side)]);
            }
        }
        let serves = self.serves();
        for side in &serves {
            if side.of(&self.checks).listeners.iter().any(Listener::is_stale) {
                steps.push_back(RunStep::Clear(*side));
            }
        }
        if matches!(ask.compare, Compare::Blob(_)) {
            steps.push_back(RunStep::Fetch);
        }
        for server in serves {
            steps.push_back(RunStep::Start(server));
            for at in (0..=ask.iterations).filter(|_| test.latency()) {
                steps.push_back(RunStep::Measure { server, latency: true, at });
            }
            for at in (0..=ask.iterations).filter(|_| test.throughput()) {
                steps.push_back(RunStep::Measure { server, latency: false, at });
                steps.push_back(RunStep::Report { server, at });
            }
            steps.push_back(RunStep::Stop(server));
        }
        if ask.storage.is_some() {
            steps.push_back(RunStep::Upload(DocumentKind::Result));
            steps.extend(ask.is_baseline.then_some(RunStep::Upload(DocumentKind::Baseline)));
        }
        steps
    }

    /// Returns every command that it would run if nothing lacked; what is looked up first stands there by the names that were given.
    #[must_use]
    pub fn foreseen(&self) -> Vec<CommandRequest> {
        let checks = [RunStep::Find, RunStep::Rules(Side::Source), RunStep::Rules(Side::Destination)];
        let checks = checks.into_iter().filter(|_| self.ask.place.is_some());
        // Tools that lack and stale servers add to it.
        let mut usual = self.clone();
        for look in &mut usual.checks {
            look.tools = super::guest::MEASURING_PROGRAMS.map(str::to_owned).to_vec();
        }
        let all = checks
            .chain([RunStep::GuestCheck(Side::Source), RunStep::GuestCheck(Side::Destination)])
            .chain(usual.steps());
        let ends = self.ends.clone().or_else(|| endpoint::guessed(&self.ask));
        all.filter_map(|step| step.order(&self.ask, ends.as_ref(), &self.read)).collect()
    }
}

/// Returns the command that a consent is asked for.
fn command(order: &CommandRequest) -> Option<String> {
    match &order.what {
        CommandKind::Line(line) => Some(line.text()),
        CommandKind::Script { .. } => None,
    }
}

impl Operation for Run {
    type Result = State;

    fn next(&self, now: Timestamp) -> Next<State> {
        if let Some((until, why)) = self.wait.as_ref().filter(|(until, _)| *until > now) {
            return Next::Wait { until: *until, why: why.clone() };
        }
        let order = |step: &RunStep| step.order(&self.ask, self.ends.as_ref(), &self.read);
        let Some(front) = self.todo.front() else { return Next::Over(self.state) };
        let Some(mut next) = order(front) else { return Next::Over(State::Failed) };
        if !front.changes() {
            return Next::Run(Box::new(next));
        }
        let plan = self.todo.iter().filter(|step| step.changes()).filter_map(order);
        let plan = plan.filter_map(|order| command(&order)).collect();
        // Who is asked reads what it is all for.
        let began = self.actions.len() + self.series.iter().map(Series::count).sum::<usize>() > 0
            || self.servers != [Servers::None; 2];
        if let Some([source, destination]) = self.ends.as_ref().filter(|_| !began) {
            next.why = format!("measure from {} to {}: {}", source.name, destination.name, next.why);
        }
        Next::Run(Box::new(next.within(plan)))
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.take(answer, now);
    }
}
