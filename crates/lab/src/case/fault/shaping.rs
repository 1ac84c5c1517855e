//! What can be wrong with how a guest sends.

use serde::Deserialize;

use super::check;
use crate::case::problem::Problem;

/// Damage to what a device sends. Port 22 is spared, so that whoever repairs it can come in.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Netem {
    /// The machine.
    pub vm: String,
    #[serde(default = "first")]
    pub device: String,
    /// How long packets wait: `100ms`.
    pub delay: Option<String>,
    /// More or less so much.
    pub jitter: Option<String>,
    /// How many of a hundred are lost.
    pub loss: Option<f64>,
    /// How many of a hundred are damaged.
    pub corrupt: Option<f64>,
    /// How many of a hundred go twice.
    pub duplicate: Option<f64>,
    /// How many of a hundred overtake the others.
    pub reorder: Option<f64>,
    /// Nothing is spared.
    #[serde(default)]
    pub also_ssh: bool,
}

fn first() -> String {
    "eth0".to_owned()
}

impl Netem {
    /// Writes it as `tc` reads it.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = vec!["netem".to_owned()];
        if let Some(delay) = &self.delay {
            words.push(format!("delay {delay}"));
            words.extend(self.jitter.clone());
        }
        let shares = [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("corrupt", self.corrupt),
            ("reorder", self.reorder),
        ];
        words.extend(shares.iter().filter_map(|(word, share)| share.map(|share| format!("{word} {share}%"))));
        words.join(" ")
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let shares = [
            ("loss", self.loss),
            ("corrupt", self.corrupt),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
        ];
        let nothing = (self.delay.is_none()
            && shares.iter().all(|(_, share)| share.is_none_or(|share| share == 0.0)))
        .then(|| Problem::new("nothing is wrong with it", "give delay, loss, corrupt, duplicate or reorder"));
        let waits = (self.delay.is_none() && (self.jitter.is_some() || self.reorder.is_some())).then(|| {
            Problem::new(
                "`jitter` and `reorder` need a `delay`",
                "add delay = \"10ms\": packets overtake those that wait",
            )
        });
        let shares = shares.iter().filter_map(|(field, share)| check::percent(field, (*share)?));
        let times = [("delay", &self.delay), ("jitter", &self.jitter)];
        let times = times.iter().filter_map(|(field, time)| check::duration(field, time.as_deref()?));
        [nothing, waits, check::machine("vm", &self.vm), check::interface("device", &self.device)]
            .into_iter()
            .flatten()
            .chain(shares)
            .chain(times)
            .collect()
    }
}

/// A rate that a device keeps to. Port 22 is spared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The machine.
    pub vm: String,
    #[serde(default = "first")]
    pub device: String,
    /// The rate: `5mbit`.
    pub rate: String,
    /// What may go at once.
    #[serde(default = "burst")]
    pub burst: String,
    /// How long a packet waits at most.
    #[serde(default = "latency")]
    pub latency: String,
    /// Nothing is spared.
    #[serde(default)]
    pub also_ssh: bool,
}

fn burst() -> String {
    "20kb".to_owned()
}

fn latency() -> String {
    "400ms".to_owned()
}

impl RateLimit {
    /// Writes it as `tc` reads it.
    #[must_use]
    pub fn words(&self) -> String {
        format!("tbf rate {} burst {} latency {}", self.rate, self.burst, self.latency)
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        [
            check::machine("vm", &self.vm),
            check::interface("device", &self.device),
            check::rate("rate", &self.rate),
            check::size("burst", &self.burst),
            check::duration("latency", &self.latency),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
