//! The gate between any agent and a machine: judge, ask, run, redact, clip, audit.
//!
//! ```
//! use ghost_shell::{Approver, Choice, Decision, Request, Reviewer, Shell};
//! struct OnCall;
//! #[async_trait::async_trait]
//! impl Approver for OnCall {
//!     async fn decide(&self, request: &Request) -> Decision {
//!         let reason = format!("not at night: {}", request.command);
//!         Decision { choice: Choice::Deny { reason }, who: Reviewer::new("ana") }
//!     }
//! }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let data = tempfile::tempdir()?;
//! let shell = Shell::builder("s1".parse()?, data.path()).approver(std::sync::Arc::new(OnCall)).build()?;
//! assert!(shell.run("cat /proc/net/dev", "which interfaces are there?").await.output.contains("lo:"));
//! assert!(shell.run("ip link set eth0 down", "restart it").await.is_refused());
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - One file starts processes, `exec.rs`, and only for a [`Permit`], which nothing outside this crate can make.
//! - The words that were judged are the words that run. A text that needs a shell runs as exactly the text that a human
//!   approved.
//! - What is not understood asks. Silence, an error and a panic mean no. Nobody is asked about what is BLOCKED.
//! - Classification does no IO and knows no clock, no environment and no model.
//! - Nothing runs before its intent is on the disk. Nothing is shown before it is redacted.
#![warn(missing_docs)]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod approve;
pub mod audit;
mod clip;
mod exec;
mod gate;
mod identity;
mod judge;
mod known;
mod list;
mod mask;
mod permit;
mod policy;
mod process;
mod profile;
mod redact;
mod resolve;
mod run;
mod sandbox;
mod text;
mod verdict;

#[cfg(feature = "terminal")]
pub use approve::TerminalApprover;
pub use approve::{Approver, Choice, Decision, DenyAll, Grant, PlannedCommand, Request};
pub use clip::{Clipping, Kind as OutputKind, Limits as ClipLimits, ModelText, clip};
pub use gate::{
    Action, Admission, Admitted, BuildError, Builder, OutputMetadata, Problem, Response, Sandbox, Shell,
    Status,
};
pub use identity::{Identities, Identity, IdentityCommand, SignIn, SignInError, SignInStep};
pub use judge::{MAX_COMMAND_BYTES, Scope};
pub use known::{DestinationError, Known, Surroundings, is_inventory};
pub use list::{Fill, List, Pipeline, Stage, Stderr, Stdout, When};
pub use mask::Mask;
pub use permit::{Permit, Reviewer};
pub use policy::quote;
pub use policy::{Example, FilledScript, Policy, PolicyError, RuleSummary, Script, ScriptError, script_line};
pub use process::{Cancel, CancelSignal, ExecError, Limits, Output, ProcessBound, Setting, StageRun};
pub use profile::{Profile, Socket};
pub use redact::{Redacted, redact, redact_with_ids};
pub use resolve::{ProgramError, Programs};
pub use run::{Processes, Recorded, Recording, RecordingError, Runner};
pub use sandbox::{Confinement, Support, support, sweep};
pub use text::{lookalikes, plain_commands, visible};
pub use verdict::{Impact, Ruling, Tier, Verdict};
