//! Cases: what is wrong in the lab, what a person says about it, and what has to be found.
//!
//! Goes in: a case file, an estate, guests. Comes out: a plan of typed steps, the faults themselves, what they look like, and
//! everything as it was before. Never: a step before the whole file is checked, a step that is not in the journal first, a panic
//! on any file.
//!
//! The path of a case: `read` (text to a case) → `plan` (a case and an estate to steps; pure) → `run` (steps over a `LabAccess`, with
//! the journal, and back). `fault` is one type for each thing that can be wrong; `cases` are those that come with the program;
//! `table` is the page about them.

mod cases;
mod estates;
mod fault;
mod history;
mod model;
mod orders;
mod plan;
mod problem;
mod random;
mod read;
mod run;
mod score;

pub use cases::markdown;
pub use cases::{CASES, SERVICE_CASES, embedded, names};
pub use estates::{DrawnCase, Profile, drawn};
pub use fault::{
    Access, ArpConflict, Asymmetric, CODES, Chain, Direction, Dns, DnsDoes, Docker, Fail2ban, Family, Fault,
    Hop, Iptables, MachineStopped, Netem, Nft, NftVerdict, NsgRule, PathMtu, Peering, Policy, PortClosed,
    PortSilent, RateLimit, Route, ServiceEndpoint, StorageFirewall, Target, Verdict,
};
pub use history::{History, write_history};
pub use model::{
    Baseline, BaselineKind, Case, Change, Forbidden, Observation, ObservationKind, Outcome, Pair, Phase,
    PlacedFault, Public, Service, Traffic, Vm,
};
pub use orders::Cases;
pub use plan::{Plan, PlanAction, PlanStep, View, plan};
pub use problem::{Problem, Problems};
pub use random::random;
pub use run::{
    ActiveCase, CaptureAccount, CheckResult, InjectError, Injected, LabAccess, SnapshotAction, active_case,
    check, clean, inject, reset,
};
pub use score::Score;
