//! The names of everything that is counted. `docs/operations/monitoring.md` lists the same, and a test compares them.

/// What a metric does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It counts how often a value lay below a bound.
    Histogram,
}

impl Kind {
    /// Returns the word of the text format.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// Its name in queries. Buckets, sum and count of a histogram have their usual endings behind it.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    pub labels: &'static [&'static str],
    /// What it means, without a full stop.
    pub help: &'static str,
}

impl Described {
    /// Returns the name without the ending that the text format gives to counters.
    pub(super) fn family(&self) -> &'static str {
        match self.kind {
            Kind::Counter => self.name.strip_suffix("_total").unwrap_or(self.name),
            Kind::Gauge | Kind::Histogram => self.name,
        }
    }
}

macro_rules! table {
    ($($key:ident: $kind:ident $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(pub(super) const $key: Described =
            Described { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help };)*

        /// Every metric that `/metrics` prints.
        pub const TABLE: &[Described] = &[$($key),*];
    };
}

table! {
    ACK: Histogram "ghost_event_to_ack_seconds" [] "From the arrival of an event to its acknowledgement, the durable append included";
    FIRST_REPLY: Histogram "ghost_mention_to_first_reply_seconds" [] "From the arrival of a mention to the first message in its thread";
    APPROVAL_WAIT: Histogram "ghost_approval_wait_seconds" [] "From an approval card to its end, whichever it was";
    EVENTS: Counter "ghost_events_total" ["kind"] "What arrived from Slack for the first time";
    EVENTS_REFUSED: Counter "ghost_events_refused_total" [] "Events from Slack that were not taken because the store did not accept them";
    REPEATED: Counter "ghost_events_repeated_total" [] "What Slack delivered again";
    ALERTS: Counter "ghost_alerts_total" ["source", "outcome"] "Requests with alerts, by the name of their source and what became of them";
    COMMANDS: Counter "ghost_commands_total" ["verdict"] "Commands that the policy judged";
    APPROVALS: Counter "ghost_approvals_total" ["answer"] "Questions to humans that ended";
    CLICKS_REFUSED: Counter "ghost_clicks_refused_total" [] "Clicks and dialogs of people who may not decide";
    TOKENS: Counter "ghost_model_tokens_total" ["direction"] "Tokens that models counted";
    COST: Counter "ghost_model_cost_micro_dollars_total" [] "What models cost by the configured prices, in millionths of a dollar";
    SESSIONS: Gauge "ghost_sessions" ["state"] "Sessions: active ones of this process; waiting and queued ones of the store, the same on every replica";
    QUEUE: Gauge "ghost_queue_depth" [] "Calls of Slack that wait for their turn in this process";
    SOCKETS: Gauge "ghost_sockets" ["state"] "Connections of this process to Slack";
    CALLS: Counter "ghost_slack_calls_total" ["method", "outcome"] "Calls of Slack's Web API";
    LIMITED: Counter "ghost_slack_rate_limited_total" ["method"] "Calls that Slack put off";
    TAKEOVERS: Counter "ghost_takeovers_total" [] "Sessions taken over from a process that was gone";
    FAULTS: Counter "ghost_faults_total" ["whose"] "Failures by whose fault they were";
    READY: Gauge "ghost_ready" ["part"] "1 where a part is ready, 0 where it is not";
    BUILD: Gauge "ghost_build_info" ["version"] "Always 1";
}
