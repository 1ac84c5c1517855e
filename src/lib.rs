//! The application: the Slack bot and the `ghost` command line, over the crates below `crates/`.
//!
//! - [`alert`]: alerts of other programs, read into one form.
//! - [`bot`]: the Slack front end: events become sessions, cards become approvals.
//! - [`session`]: drives one session: every step is durable before its effect.
//! - [`http`]: liveness, readiness, metrics.
//! - [`outside`]: consent for agents that no session drives.
//! - [`export`]: sends a post-mortem where a team keeps them.
//! - `direct`: clients of one address, for `export` and `telemetry`.
//! - [`telemetry`]: traces and metrics for a collector of OpenTelemetry.
//! - [`config`]: the configuration file and the environment.
//! - [`cli`]: the subcommands.

pub mod alert;
pub mod bot;
pub mod cli;
pub mod config;
pub(crate) mod direct;
pub mod export;
pub mod http;
pub mod outside;
pub mod session;
pub mod telemetry;
