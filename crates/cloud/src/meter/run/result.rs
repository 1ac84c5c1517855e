//! A run: the result of a command.

use ghost_base::Timestamp;

use super::baseline::Baseline;
use super::endpoint::{Endpoint, resolve};
use super::guest::ended;
use super::preflight::{self, GuestCheck};
use super::progress::{Run, Servers, State};
use super::request::MeasurementRequest;
use super::sample::Outcome;
use super::step::{DocumentKind, RunStep, Side};
use crate::meter::{ParseError, Tool, parse};
use crate::operation::{CommandError, CommandOutcome, Issue, printed};
use crate::{FailureClass, guest};

impl Run {
    /// Takes the result of the front of the list.
    pub(super) fn take(&mut self, answer: &CommandOutcome, now: Timestamp) {
        let Some(step) = self.todo.front().copied() else { return };
        self.wait = None;
        let doing = step.words(&self.ask, self.ends.as_ref());
        let output = printed(answer, &doing).map(str::to_owned);
        if !step.changes()
            && let Err(setback) = &output
            && self.once_more(setback, now)
        {
            return;
        }
        self.patience = Default::default();
        self.todo.pop_front();
        // A command that was denied did not run; whatever else came of it may have begun.
        let began = match answer {
            CommandOutcome::Ran { .. } | CommandOutcome::Unknown { .. } => true,
            CommandOutcome::Denied { .. }
            | CommandOutcome::Refused { .. }
            | CommandOutcome::NotRun { .. } => false,
        };
        if let RunStep::Start(side) = step
            && began
        {
            *side.of_mut(&mut self.servers) = Servers::MayRun;
        }
        let denied = matches!(answer, CommandOutcome::Denied { .. } | CommandOutcome::Refused { .. });
        match (step, output) {
            (RunStep::Stop(side), Err(setback)) => self.stopped(side, false, &setback.trouble.text),
            (RunStep::Upload(_), Err(setback)) => self.aside(step, &setback),
            (step, Err(setback)) if step.changes() && denied => {
                self.give_up(State::Denied, setback.trouble, now);
            }
            (RunStep::Fetch, Err(setback)) => self.aside(step, &setback),
            (RunStep::Measure { server, latency, at }, Err(setback)) => {
                self.sampled(server, latency, at, Outcome::Unreadable(setback.trouble.text));
            }
            (RunStep::Report { server, at }, Err(setback)) => {
                self.sampled(server, false, at, Outcome::Unreadable(setback.trouble.text));
            }
            (_, Err(setback)) => {
                let state =
                    if self.state == State::Preflight { State::AbortedPreflight } else { State::Failed };
                self.give_up(state, setback.trouble, now);
            }
            (step, Ok(text)) => self.went(step, &text, &doing, now),
        }
        self.end_if_dead(now);
        self.settle(now);
    }

    /// Waits where the same may go well in a moment.
    fn once_more(&mut self, setback: &CommandError, now: Timestamp) -> bool {
        let seconds = self.patience.again(setback);
        if let Some(seconds) = seconds {
            let until = now.plus(std::time::Duration::from_secs(seconds));
            self.wait = Some((until, format!("{}; once more in {seconds} s", setback.trouble.text)));
        }
        seconds.is_some()
    }

    /// Takes what a command printed that went well.
    fn went(&mut self, step: RunStep, text: &str, doing: &str, now: Timestamp) {
        let unreadable = |what: &str| Issue::new(format!("{doing}: {what}"));
        match step {
            RunStep::Find => match self.ask.place.clone().map(|place| resolve(text, &self.ask, &place)) {
                Some(Ok(ends)) => self.found(ends),
                Some(Err(trouble)) => self.give_up(State::AbortedPreflight, trouble, now),
                None => {}
            },
            RunStep::Rules(side) => {
                if let Err(what) = self.ruled(side, text) {
                    self.give_up(State::AbortedPreflight, unreadable(&what), now);
                }
            }
            RunStep::GuestCheck(side) | RunStep::Check(side) => {
                match self.said(side, text).map(|said| GuestCheck::read(&said)) {
                    Ok(Some(look)) => {
                        *side.of_mut(&mut self.checks) = look;
                        if step == RunStep::Check(side) {
                            self.checked(side, now);
                        }
                    }
                    Ok(None) => {
                        self.give_up(self.early(), unreadable("what the guest printed is not whole"), now);
                    }
                    Err(what) => self.give_up(self.early(), unreadable(&what), now),
                }
            }
            RunStep::Install(_) => self.actions.push(doing.to_owned()),
            RunStep::Clear(side) => {
                self.actions.push(doing.to_owned());
                if let Err(what) = self.succeeded(side, text) {
                    self.give_up(State::Failed, unreadable(&what), now);
                }
            }
            RunStep::Fetch => match Baseline::parse(text) {
                Ok(baseline) => self.baseline = Some(baseline),
                Err(error) => self.missing = Some(format!("the baseline cannot be read: {error}")),
            },
            RunStep::Start(side) => {
                if let Err(what) = self.succeeded(side, text) {
                    self.give_up(State::Failed, unreadable(&what), now);
                }
            }
            RunStep::Measure { server, latency, at } => {
                let outcome = match self.said(server.other(), text) {
                    Ok(said) => client(&self.ask, latency, &said),
                    Err(what) => Some(Outcome::Unreadable(what)),
                };
                // Without an outcome it is the server that tells it.
                if let Some(outcome) = outcome {
                    if !latency && self.todo.front() == Some(&(RunStep::Report { server, at })) {
                        self.todo.pop_front();
                    }
                    self.sampled(server, latency, at, outcome);
                }
            }
            RunStep::Report { server, at } => {
                let said = self.said(server, text);
                let outcome = said.and_then(|said| self.reported(server, &said));
                self.sampled(server, false, at, outcome.unwrap_or_else(Outcome::Unreadable));
            }
            RunStep::Stop(side) => match self.succeeded(side, text) {
                Ok(()) => self.stopped(side, true, ""),
                Err(what) => self.stopped(side, false, &what),
            },
            RunStep::Upload(paper) => {
                if let (Some((account, container)), Some(ends)) = (&self.ask.storage, &self.ends) {
                    let name = match paper {
                        DocumentKind::Result => format!("{}_result.json", self.ask.session),
                        DocumentKind::Baseline => self.ask.baseline_name(ends),
                    };
                    let place = format!("https://{account}.blob.core.windows.net/{container}/{name}");
                    self.uploaded.get_or_insert(place);
                }
            }
        }
    }

    fn early(&self) -> State {
        if self.state == State::Preflight { State::AbortedPreflight } else { State::Failed }
    }

    fn found(&mut self, ends: [Endpoint; 2]) {
        let rules =
            Side::BOTH.into_iter().filter(|side| side.of(&ends).interface.is_some()).map(RunStep::Rules);
        self.todo
            .extend(rules.chain([RunStep::GuestCheck(Side::Source), RunStep::GuestCheck(Side::Destination)]));
        self.ends = Some(ends);
    }

    /// Judges the rules at one end: what leaves there towards a server, and what arrives at its own.
    fn ruled(&mut self, side: Side, text: &str) -> Result<(), String> {
        let Some(ends) = self.ends.clone() else { return Ok(()) };
        let (own, other) = (side.of(&ends), side.other().of(&ends));
        let ports = super::guest::ports(self.ask.test_type);
        let serves = self.serves();
        if serves.contains(&side.other()) {
            let addresses = (own.address, other.address);
            self.passages.extend(preflight::judge(text, &own.name, "outbound", addresses, &ports)?);
        }
        if serves.contains(&side) {
            let addresses = (other.address, own.address);
            self.passages.extend(preflight::judge(text, &own.name, "inbound", addresses, &ports)?);
        }
        Ok(())
    }

    /// Returns what a guest printed.
    fn said(&self, side: Side, text: &str) -> Result<String, String> {
        let end = self.ends.as_ref().map(|ends| side.of(ends)).ok_or("nobody knows where it ran")?;
        guest::printed(&end.reach, text).map_err(|error| error.to_string())
    }

    /// Tells whether a script of ours ran to its end, and well.
    fn succeeded(&self, side: Side, text: &str) -> Result<(), String> {
        let said = self.said(side, text)?;
        match ended(&said) {
            Some((_, 0)) => Ok(()),
            Some((body, _)) => {
                let last = body.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
                Err(last.chars().take(200).collect())
            }
            None => Err("what the guest printed is not whole".to_owned()),
        }
    }

    /// Checks whether an installation brought what was missing.
    fn checked(&mut self, side: Side, now: Timestamp) {
        let test = self.ask.test_type;
        let lacks = side.of(&self.checks).lacks(test.latency(), test.throughput());
        if !lacks.is_empty() {
            let name = self.ends.as_ref().map_or_else(String::new, |ends| side.of(ends).name.clone());
            let text = format!("{} could not be installed on {name}", lacks.join(" and "));
            let hint = "look whether the machine reaches its package sources, or install it there";
            self.give_up(State::AbortedPreflight, Issue::hinted(text, hint), now);
        }
    }

    /// Notes a sample; the warm-up is none.
    fn sampled(&mut self, server: Side, latency: bool, at: u16, outcome: Outcome) {
        if at > 0 {
            server.of_mut(&mut self.series).push(latency, outcome);
        }
    }

    /// Ends a run over a path that is dead: two iterations in a row that were refused or timed out say what all others would.
    fn end_if_dead(&mut self, now: Timestamp) {
        if self.state != State::Measuring || self.trouble.is_some() {
            return;
        }
        for server in Side::BOTH {
            for latency in [true, false] {
                let done = server.of(&self.series).of(latency);
                let left = usize::from(self.ask.iterations).saturating_sub(done.len());
                if let [.., Outcome::Failed(_), Outcome::Failed(error)] = done
                    && left > 0
                {
                    let what = if latency { "latency" } else { "throughput" };
                    let text = format!(
                        "two iterations of {what} in a row failed ({error}); it was ended, and {left} more were not run"
                    );
                    let hint =
                        "find what drops it on the path: rules, routes, the guests' own packet filters";
                    return self.give_up(State::Failed, Issue::hinted(text, hint), now);
                }
            }
        }
    }

    /// Reads a server's own account of an iteration.
    fn reported(&mut self, server: Side, said: &str) -> Result<Outcome, String> {
        let (body, code) = ended(said).ok_or("what the guest printed is not whole")?;
        let (head, rest) = body.split_once('\n').filter(|_| code == 0).ok_or("it has no header")?;
        let mut numbers =
            head.strip_prefix("ghost-meter report ").ok_or("it has no header")?.split_whitespace();
        let (from, size) = (numbers.next(), numbers.next().and_then(|size| size.parse::<u64>().ok()));
        let size = size.filter(|_| from == Some(server.of(&self.read).to_string().as_str()));
        *server.of_mut(&mut self.read) = size.ok_or("it is the account of another iteration")?;
        parse(Tool::Iperf, rest)
            .map(Outcome::Measured)
            .map_err(|error| format!("the server's account cannot be read: {error}"))
    }

    fn stopped(&mut self, side: Side, gone: bool, what: &str) {
        let state = side.of_mut(&mut self.servers);
        if gone {
            *state = Servers::None;
            return;
        }
        *state = Servers::Left;
        let name = self.ends.as_ref().map_or_else(String::new, |ends| side.of(ends).name.clone());
        self.warnings.push(format!(
            "the servers on {name} may still run: {what}; they end by themselves within {} minutes",
            self.ask.lifetime().div_ceil(60)
        ));
    }

    /// Notes that something beside the measurement failed.
    fn aside(&mut self, step: RunStep, setback: &CommandError) {
        if step == RunStep::Fetch {
            let missing = setback.is(FailureClass::NotFound);
            let why = if missing { "there is no baseline of these two yet" } else { &setback.trouble.text };
            self.missing = Some(why.to_owned());
        } else {
            self.warnings.push(setback.trouble.text.clone());
        }
    }

    /// Goes on to the next part where one is over.
    fn settle(&mut self, now: Timestamp) {
        if self.over.is_some() {
            return;
        }
        if self.state == State::Preflight && self.todo.is_empty() {
            self.decide(now);
        }
        let rest = self.todo.iter().all(|step| matches!(step, RunStep::Upload(_)));
        if self.state == State::Measuring && rest {
            (self.state, self.measured) = (State::Success, Some(now));
            if self.ask.is_baseline && !self.is_baseline() {
                self.todo.retain(|step| *step != RunStep::Upload(DocumentKind::Baseline));
                self.warnings
                    .push("the run is not stable and is not kept as a baseline; --force keeps it".to_owned());
            }
        }
        if self.todo.is_empty() {
            self.over = Some(now);
        }
    }
}

/// Judges what a client printed; `None` where all went well and the server is to be asked.
fn client(ask: &MeasurementRequest, latency: bool, said: &str) -> Option<Outcome> {
    let Some((body, code)) = ended(said) else {
        return Some(Outcome::Unreadable("what the guest printed is not whole".to_owned()));
    };
    let tool = if latency { Tool::Qperf } else { Tool::Iperf };
    Some(match (parse(tool, body), code) {
        (Err(ParseError::Failed(error)), _) => Outcome::Failed(error),
        (_, 124 | 137) => Outcome::Failed(format!("no end within {} s", ask.limit(latency))),
        (_, 126 | 127) => Outcome::Unreadable("the tool could not be started".to_owned()),
        (Ok(figure), 0) if latency => Outcome::Measured(figure),
        (Ok(_), 0) => return None,
        (Ok(_), code) => Outcome::Unreadable(format!("the tool ended with {code}")),
        (Err(error), _) => Outcome::Unreadable(error.to_string()),
    })
}
