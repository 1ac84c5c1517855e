//! What is to be measured: checked before anything is asked of anybody.

use std::net::IpAddr;

use super::baseline::Baseline;
use crate::guest::Ssh;
use crate::meter::TestType;
use crate::{Account, Container, ResourceGroup};
use ghost_base::SessionId;

/// The most iterations.
const MAX_ITERATIONS: u16 = 100;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct MeasurementRequest {
    pub session: SessionId,
    /// The machine that sends: its name, or its address.
    pub source: String,
    /// The machine that receives.
    pub destination: String,
    /// Where their interfaces are; without it no rules are looked at.
    pub place: Option<ResourceGroup>,
    /// How they are reached.
    pub access: AccessMethod,
    /// Which metrics.
    pub test_type: TestType,
    /// How often each; one more before them is not counted.
    pub iterations: u16,
    /// Whether the return path is measured, too.
    pub both_directions: bool,
    /// How long one iteration takes.
    pub seconds: TestSeconds,
    /// Where the result is uploaded to, if anywhere.
    pub storage: Option<(Account, Container)>,
    /// The folder where documents lie.
    pub folder: String,
    /// Whether later runs are compared with this one.
    pub is_baseline: bool,
    /// What it is compared with.
    pub compare: Compare,
    /// How many percent worse than the baseline is a regression.
    pub tolerance: f64,
    /// Measure although rules block a port; keep an unstable run as a baseline.
    pub force: bool,
}

/// How guests are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessMethod {
    /// By the platform's run-command.
    Platform,
    /// By ssh: the source, the destination.
    Ssh(Box<Ssh>, Box<Ssh>),
}

/// How long one iteration takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSeconds {
    pub latency: u16,
    pub throughput: u16,
}

impl Default for TestSeconds {
    fn default() -> Self {
        Self { latency: 2, throughput: 10 }
    }
}

/// What a run is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Compare {
    Nothing,
    /// With this, which lay here.
    With(Box<Baseline>),
    /// With what lies in the storage account under this name.
    Blob(String),
    /// With the baseline of these two: one of those that lie here, by their names; else the one in the storage account.
    Pair(Vec<(String, Baseline)>),
    /// A baseline was asked for, and there is none; the reason.
    Missing(String),
}

/// Why nothing can be measured so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeasurementRequestError {
    /// The ends are the same.
    #[error("the source and the destination are the same: {0}")]
    Same(String),
    /// A number is beyond what makes sense.
    #[error("{what} has to lie between {least} and {most}, and is {given}")]
    Limit {
        what: &'static str,
        least: u16,
        most: u16,
        /// What was given.
        given: u16,
    },
    /// An address is none that the tools are called with.
    #[error("{0} is an IPv6 address: only paths between IPv4 addresses are measured")]
    Family(IpAddr),
    /// Over ssh both ends are addresses.
    #[error("over ssh both ends are named by their addresses, and `{0}` is none")]
    Address(String),
    /// The platform finds machines in a resource group.
    #[error("no resource group is named in which the machines are")]
    Group,
}

impl MeasurementRequest {
    /// Checks it.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(self) -> Result<Self, MeasurementRequestError> {
        if self.source.eq_ignore_ascii_case(&self.destination) {
            return Err(MeasurementRequestError::Same(self.source));
        }
        for (what, given, most) in [
            ("the number of iterations", self.iterations, MAX_ITERATIONS),
            ("the time of an iteration of latency", self.seconds.latency, 60),
            ("the time of an iteration of throughput", self.seconds.throughput, 60),
        ] {
            if !(1..=most).contains(&given) {
                return Err(MeasurementRequestError::Limit { what, least: 1, most, given });
            }
        }
        for end in [&self.source, &self.destination] {
            match (end.parse::<IpAddr>(), &self.access) {
                (Ok(address), _) if address.is_ipv6() => {
                    return Err(MeasurementRequestError::Family(address));
                }
                (Err(_), AccessMethod::Ssh(..)) => return Err(MeasurementRequestError::Address(end.clone())),
                (Ok(_) | Err(_), _) => {}
            }
        }
        if self.place.is_none() && self.access == AccessMethod::Platform {
            return Err(MeasurementRequestError::Group);
        }
        Ok(self)
    }

    /// Returns how long an iteration of a metric may take at most.
    pub(super) fn limit(&self, latency: bool) -> u16 {
        if latency { self.seconds.latency + 15 } else { self.seconds.throughput + 25 }
    }

    /// Returns after how many seconds servers end by themselves, whatever becomes of us.
    pub(super) fn lifetime(&self) -> u32 {
        // Each command takes the platform its time beside what it runs.
        const PLATFORM: u32 = 60;
        let each = |wanted: bool, latency: bool, commands: u32| {
            let time = u32::from(self.limit(latency)) + PLATFORM * commands;
            if wanted { time * (u32::from(self.iterations) + 1) } else { 0 }
        };
        let one = each(self.test_type.latency(), true, 1) + each(self.test_type.throughput(), false, 2);
        120 + one * if self.both_directions { 2 } else { 1 }
    }
}
