//! The numbers themselves.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use crate::http::measure::table::{self, Described};
use crate::http::measure::word::{
    AlertOutcome, Answer, Arrived, Direction, Judged, Outcome, SessionState, SocketState, Whose,
};

/// Slack gives three seconds.
const ACK: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0];
const FIRST_REPLY: [f64; 11] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0];
/// An approval lives for 15 minutes unless the configuration says something else.
const APPROVAL: [f64; 11] = [1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0];

/// The longest name of a method that is kept.
const MAX_METHOD_LEN: usize = 64;

type One = [(&'static str, &'static str); 1];
type Named = [(&'static str, Cow<'static, str>); 1];
type NamedAnd = [(&'static str, Cow<'static, str>); 2];

/// Counts what the other rooms note. A clone counts into the same numbers.
#[derive(Clone)]
pub struct Measures(Arc<Inner>);

/// Updates a gauge right before the metrics are printed.
type Refresh = Box<dyn Fn(&Measures) + Send + Sync>;

struct Inner {
    refreshers: Mutex<Vec<Refresh>>,
    registry: Registry,
    ack: Histogram,
    first_reply: Histogram,
    approval_wait: Histogram,
    events: Family<One, Counter>,
    repeated: Counter,
    alerts: Family<NamedAnd, Counter>,
    commands: Family<One, Counter>,
    approvals: Family<One, Counter>,
    clicks_refused: Counter,
    events_refused: Counter,
    tokens: Family<One, Counter>,
    cost: Counter,
    sessions: Family<One, Gauge>,
    queue: Gauge,
    sockets: Family<One, Gauge>,
    calls: Family<NamedAnd, Counter>,
    limited: Family<Named, Counter>,
    takeovers: Counter,
    faults: Family<One, Counter>,
    ready: Family<One, Gauge>,
}

impl fmt::Debug for Measures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Measures").finish_non_exhaustive()
    }
}

impl Default for Measures {
    fn default() -> Self {
        Self::new()
    }
}

/// Notes a metric under the name that the table has for it.
fn add<M: Metric + Clone>(registry: &mut Registry, described: &Described, metric: M) -> M {
    registry.register(described.family(), described.help, metric.clone());
    metric
}

/// Starts a family at zero for every word, so that a rate is known from the first scrape on.
fn counters(
    registry: &mut Registry,
    described: &Described,
    words: impl Iterator<Item = &'static str>,
) -> Family<One, Counter> {
    let family = add(registry, described, Family::<One, Counter>::default());
    words.for_each(|word| drop(family.get_or_create(&labels(described, word))));
    family
}

fn gauges(
    registry: &mut Registry,
    described: &Described,
    words: impl Iterator<Item = &'static str>,
) -> Family<One, Gauge> {
    let family = add(registry, described, Family::<One, Gauge>::default());
    words.for_each(|word| drop(family.get_or_create(&labels(described, word))));
    family
}

fn labels(described: &Described, word: &'static str) -> One {
    [(described.labels.first().copied().unwrap_or("what"), word)]
}

/// Reduces what should be the name of a method to one: whatever else it is, it is `other`.
fn method(name: &str) -> Cow<'static, str> {
    let fits = |char: char| char.is_ascii_alphanumeric() || char == '.' || char == '_';
    if name.is_empty() || name.len() > MAX_METHOD_LEN || !name.chars().all(fits) {
        return Cow::Borrowed("other");
    }
    Cow::Owned(name.to_owned())
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Measures {
    /// Starts counting at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let to = &mut registry;
        let build = add(to, &table::BUILD, Family::<One, Gauge>::default());
        build.get_or_create(&labels(&table::BUILD, env!("CARGO_PKG_VERSION"))).set(1);
        let ack = add(to, &table::ACK, Histogram::new(ACK));
        let first_reply = add(to, &table::FIRST_REPLY, Histogram::new(FIRST_REPLY));
        let approval_wait = add(to, &table::APPROVAL_WAIT, Histogram::new(APPROVAL));
        let events = counters(to, &table::EVENTS, Arrived::ALL.iter().map(|kind| kind.word()));
        let events_refused = add(to, &table::EVENTS_REFUSED, Counter::default());
        let repeated = add(to, &table::REPEATED, Counter::default());
        let alerts = add(to, &table::ALERTS, Family::default());
        let commands = counters(to, &table::COMMANDS, Judged::ALL.iter().map(|verdict| verdict.word()));
        let approvals = counters(to, &table::APPROVALS, Answer::ALL.iter().map(|answer| answer.word()));
        let clicks_refused = add(to, &table::CLICKS_REFUSED, Counter::default());
        let tokens = counters(to, &table::TOKENS, Direction::ALL.iter().map(|direction| direction.word()));
        let cost = add(to, &table::COST, Counter::default());
        let sessions = gauges(to, &table::SESSIONS, SessionState::ALL.iter().map(|state| state.word()));
        let queue = add(to, &table::QUEUE, Gauge::default());
        let sockets = gauges(to, &table::SOCKETS, SocketState::ALL.iter().map(|state| state.word()));
        let calls = add(to, &table::CALLS, Family::default());
        let limited = add(to, &table::LIMITED, Family::default());
        let takeovers = add(to, &table::TAKEOVERS, Counter::default());
        let faults = counters(to, &table::FAULTS, Whose::ALL.iter().map(|whose| whose.word()));
        let ready = gauges(to, &table::READY, std::iter::empty());
        Self(Arc::new(Inner {
            refreshers: Mutex::default(),
            registry,
            ack,
            first_reply,
            approval_wait,
            events,
            events_refused,
            repeated,
            alerts,
            commands,
            approvals,
            clicks_refused,
            tokens,
            cost,
            sessions,
            queue,
            sockets,
            calls,
            limited,
            takeovers,
            faults,
            ready,
        }))
    }

    /// Has something looked at right before the numbers are printed, which sets gauges then. It has to answer at once, and it
    /// gets the numbers rather than keep them, so that nothing keeps itself alive.
    pub fn ask(&self, refresh: impl Fn(&Self) + Send + Sync + 'static) {
        self.0.refreshers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(refresh));
    }

    /// Notes that an event was acknowledged so long after it arrived.
    pub fn acknowledged(&self, after: Duration) {
        self.0.ack.observe(after.as_secs_f64());
    }

    /// Notes that a mention had its first reply so long after it arrived.
    pub fn first_reply(&self, after: Duration) {
        self.0.first_reply.observe(after.as_secs_f64());
    }

    /// Notes that a question to humans ended so long after it was shown.
    pub fn answered(&self, answer: Answer, after: Duration) {
        self.0.approvals.get_or_create(&labels(&table::APPROVALS, answer.word())).inc();
        self.0.approval_wait.observe(after.as_secs_f64());
    }

    /// Notes something new from Slack.
    pub fn arrived(&self, kind: Arrived) {
        self.0.events.get_or_create(&labels(&table::EVENTS, kind.word())).inc();
    }

    /// Notes something that Slack delivered again.
    pub fn repeated(&self) {
        self.0.repeated.inc();
    }

    /// Notes that the policy judged a command.
    pub fn command(&self, verdict: Judged) {
        self.0.commands.get_or_create(&labels(&table::COMMANDS, verdict.word())).inc();
    }

    /// Counts an event that was not taken because the store did not accept it.
    pub fn event_refused(&self) {
        self.0.events_refused.inc();
    }

    /// Notes a click of somebody who may not decide.
    pub fn click_refused(&self) {
        self.0.clicks_refused.inc();
    }

    /// Notes a request with an alert. The source is a name of the configuration.
    pub fn alert(&self, source: &str, outcome: AlertOutcome) {
        let alert = [("source", Cow::Owned(source.to_owned())), ("outcome", Cow::Borrowed(outcome.word()))];
        self.0.alerts.get_or_create(&alert).inc();
    }

    /// Notes tokens that a model counted.
    pub fn tokens(&self, direction: Direction, count: u64) {
        self.0.tokens.get_or_create(&labels(&table::TOKENS, direction.word())).inc_by(count);
    }

    /// Notes what a model cost, in millionths of a dollar.
    pub fn cost(&self, micro_dollars: u64) {
        self.0.cost.inc_by(micro_dollars);
    }

    /// Says how many sessions stand there now.
    pub fn sessions(&self, state: SessionState, count: u64) {
        self.0.sessions.get_or_create(&labels(&table::SESSIONS, state.word())).set(whole(count));
    }

    /// Says how much waits now.
    pub fn queue_depth(&self, count: u64) {
        self.0.queue.set(whole(count));
    }

    /// Says how many connections stand there now.
    pub fn sockets(&self, state: SocketState, count: u64) {
        self.0.sockets.get_or_create(&labels(&table::SOCKETS, state.word())).set(whole(count));
    }

    /// Notes a call of the Web API; one that Slack put off is counted as such too.
    pub fn slack_call(&self, name: &str, outcome: Outcome) {
        let name = method(name);
        if outcome == Outcome::RateLimited {
            self.0.limited.get_or_create(&[("method", name.clone())]).inc();
        }
        let calls = [("method", name), ("outcome", Cow::Borrowed(outcome.word()))];
        self.0.calls.get_or_create(&calls).inc();
    }

    /// Notes a session that was taken over from a process that was gone.
    pub fn took_over(&self) {
        self.0.takeovers.inc();
    }

    /// Notes a failure.
    pub fn fault(&self, whose: Whose) {
        self.0.faults.get_or_create(&labels(&table::FAULTS, whose.word())).inc();
    }

    /// Says whether a part is ready now.
    pub(in crate::http) fn ready(&self, part: &'static str, ready: bool) {
        self.0.ready.get_or_create(&labels(&table::READY, part)).set(i64::from(ready));
    }

    /// Prints everything in the OpenMetrics text format, which Prometheus reads.
    #[must_use]
    pub fn print(&self) -> String {
        self.0
            .refreshers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .for_each(|refresh| refresh(self));
        let mut text = String::new();
        // Writing into a text cannot fail; what the library refuses to encode would be missing, and a test would see it.
        let _ = encode(&mut text, &self.0.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn holds(measures: &Measures, line: &str) {
        let text = measures.print();
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }

    #[test]
    fn every_word_starts_at_zero() {
        let measures = Measures::new();
        holds(&measures, r#"ghost_commands_total{verdict="blocked"} 0"#);
        holds(&measures, r#"ghost_sockets{state="open"} 0"#);
        holds(&measures, "ghost_model_cost_micro_dollars_total 0");
        holds(&measures, "ghost_event_to_ack_seconds_count 0");
    }

    #[test]
    fn a_clone_counts_into_the_same_numbers() {
        let measures = Measures::new();
        measures.clone().command(Judged::Risky);
        measures.command(Judged::Risky);
        holds(&measures, r#"ghost_commands_total{verdict="risky"} 2"#);
    }

    #[test]
    fn a_gauge_shows_the_last_number() {
        let measures = Measures::new();
        measures.sessions(SessionState::Waiting, 7);
        measures.sessions(SessionState::Waiting, 2);
        measures.queue_depth(u64::MAX);
        holds(&measures, r#"ghost_sessions{state="waiting"} 2"#);
        holds(&measures, &format!("ghost_queue_depth {}", i64::MAX));
    }

    #[test]
    fn a_call_that_slack_put_off_is_counted_twice_over() {
        let measures = Measures::new();
        measures.slack_call("chat.postMessage", Outcome::RateLimited);
        holds(&measures, r#"ghost_slack_calls_total{method="chat.postMessage",outcome="rate_limited"} 1"#);
        holds(&measures, r#"ghost_slack_rate_limited_total{method="chat.postMessage"} 1"#);
    }

    #[test]
    fn what_is_no_name_of_a_method_is_other() {
        let measures = Measures::new();
        for name in ["", "a\n# EOF", "xoxb-1-2", "https://x/y", &"a".repeat(65)] {
            measures.slack_call(name, Outcome::Ok);
        }
        holds(&measures, r#"ghost_slack_calls_total{method="other",outcome="ok"} 5"#);
    }

    #[test]
    fn an_approval_counts_and_waits() {
        let measures = Measures::new();
        measures.answered(Answer::Expired, Duration::from_secs(900));
        holds(&measures, r#"ghost_approvals_total{answer="expired"} 1"#);
        holds(&measures, r#"ghost_approval_wait_seconds_bucket{le="900.0"} 1"#);
        holds(&measures, r#"ghost_approval_wait_seconds_bucket{le="600.0"} 0"#);
    }
}
