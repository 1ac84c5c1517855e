//! The report: what other modules read.

use serde::Serialize;

/// What could be read, and what could not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Read {
    /// One entry per queueing discipline, in the order of the text.
    pub devices: Vec<Qdisc>,
    /// Whether any of them delays, loses, changes or limits traffic.
    pub impaired: bool,
    /// What could not be read or decided.
    pub warnings: Vec<Warning>,
    /// What packets meet and no figure describes: filters with actions, disciplines that are not known.
    pub gaps: Vec<String>,
}

/// A queueing discipline, where it is attached, and what it does.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Qdisc {
    /// The device; absent where `tc … dev NAME` left it out.
    pub dev: Option<String>,
    /// The kind: `netem`, `tbf`, `htb` …
    pub discipline: String,
    /// Its handle, as in `1:`.
    pub handle: Option<String>,
    /// What it hangs below; absent at the root.
    pub parent: Option<String>,
    /// Whether it delays, loses, changes or limits traffic.
    pub impairs: bool,
    /// Whether what it does to packets is described by no figure here.
    #[serde(skip)]
    pub is_open: bool,
    /// Delay in milliseconds.
    pub delay_ms: Option<f64>,
    /// Jitter in milliseconds.
    pub jitter_ms: Option<f64>,
    /// Loss in percent; of a bursty model its long-term share.
    pub loss_pct: Option<f64>,
    /// Corrupted packets in percent.
    pub corrupt_pct: Option<f64>,
    /// Duplicated packets in percent.
    pub duplicate_pct: Option<f64>,
    /// Reordered packets in percent.
    pub reorder_pct: Option<f64>,
    /// The rate in bits a second.
    pub rate_bps: Option<f64>,
    /// How much may wait, as printed: packets or bytes.
    pub limit: Option<String>,
    /// Dropped packets.
    pub drops: Option<u64>,
    /// How often it was over its limits.
    pub overlimits: Option<u64>,
    /// What filters lead around it, as `tcp/22`.
    pub exempt: Vec<String>,
}

/// A line or a part that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Warning {
    /// The line, from 1.
    pub line: usize,
    /// What is odd.
    pub what: String,
}
