//! The Slack bot, over the crates below `crates/`. The command line belongs to the program (`src/cli`, below `main.rs`): nothing stands on it, so a
//! change there compiles the program alone.
//!
//! - [`bot`]: the Slack front end: events become sessions, cards become approvals.
//! - [`http`]: liveness, readiness, metrics.
//! - [`export`]: sends a post-mortem where a team keeps them.
//! - `direct`: clients of one address, for `export` and `telemetry`.
//! - [`telemetry`]: traces and metrics for a collector of OpenTelemetry.

pub mod bot;
pub(crate) mod direct;
pub mod export;
pub mod http;
pub mod telemetry;
