//! The subcommand: every part is checked side by side, then printed in order.

use clap::{Args, Subcommand};

use super::finding::{Finding, State};
use super::machine;
use ghost_tools::global::Global;
use ghost_tools::print::line;
use ghost_tools::setup::Setup;

/// The exit code if a check failed: scripts and the runbook rely on it.
const FAILED: u8 = 1;

/// The same where the caller wants to tell findings from an error of the program.
const BAD_NEWS: u8 = 3;

/// The arguments of `ghost config`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost config check\n  ghost config check --offline\n  ghost config check --config /etc/ghost.toml --json --exit-code"
)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Checks every part of the configuration, whether all that it names answers, and what the machine offers to the sandbox.
    ///
    /// It asks Slack, the store, the model (one question of a few tokens) and az, and changes nothing.
    Check {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3, not with 1, if a check fails.
        #[arg(long)]
        exit_code: bool,
        /// Ask nobody outside of this machine's own files but the store.
        #[arg(long)]
        offline: bool,
    },
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let Sub::Check { json, exit_code, offline } = arguments.command;
    let setup = Setup::new(global)?;
    let findings = findings(&setup, offline)?;
    let ok = findings.iter().all(|finding| finding.state != State::Problem);
    if json {
        line(&document(ok, &findings).to_string())?;
    } else {
        findings.iter().try_for_each(|finding| line(&finding.to_text()))?;
    }
    Ok(match (ok, exit_code) {
        (true, _) => 0,
        (false, false) => FAILED,
        (false, true) => BAD_NEWS,
    })
}

fn document(ok: bool, findings: &[Finding]) -> serde_json::Value {
    serde_json::json!({ "ok": ok, "findings": findings, "permissions": super::cloud::needed() })
}

fn findings(setup: &Setup, offline: bool) -> anyhow::Result<Vec<Finding>> {
    let mut found = machine::place(setup);
    found.extend(ghost_tools::wait::drive(|| asked(setup, offline))?);
    found.extend(super::approval::check(setup));
    found.extend(super::alerts::check(setup));
    found.extend(super::export::check(setup));
    found.extend(super::site::check(setup));
    found.extend(super::telemetry::check(setup));
    found.extend(machine::shell(setup));
    found.extend(super::measuring::check(&setup.config.meter));
    Ok(found)
}

/// Checks everything, and tells it a line each; what can be done about it stands behind it.
pub(in crate::cli) async fn checked(setup: &Setup) -> Vec<String> {
    let mut found = machine::place(setup);
    found.extend(asked(setup, false).await);
    found.extend(super::approval::check(setup));
    found.extend(super::alerts::check(setup));
    found.extend(super::export::check(setup));
    found.extend(super::site::check(setup));
    found.extend(super::telemetry::check(setup));
    found.extend(machine::shell(setup));
    found.extend(super::measuring::check(&setup.config.meter));
    found.iter().map(Finding::to_line).collect()
}

/// A part of the configuration that can be checked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Part {
    /// Where sessions are kept.
    Store,
    /// Tokens and scopes.
    Slack,
    /// `az`, and as whom it is signed in.
    Cloud,
    /// What investigates.
    Model,
    /// Who approves.
    Approvers,
}

/// What came of checking one part.
pub(in crate::cli) struct PartFinding {
    /// Whether something is left to do.
    pub(in crate::cli) is_open: bool,
    /// The finding with its hint in a line of its own.
    pub(in crate::cli) text: String,
    /// The same in one line.
    pub(in crate::cli) line: String,
}

/// Checks one part.
pub(in crate::cli) fn check_part(
    setup: &Setup,
    part: Part,
    offline: bool,
) -> anyhow::Result<Vec<PartFinding>> {
    let found = ghost_tools::wait::drive(|| async {
        match part {
            Part::Store => super::store::check(setup).await,
            Part::Slack => super::slack::check(setup, offline).await,
            Part::Cloud => super::cloud::check(setup, offline).await,
            Part::Model => super::model::check(setup, offline).await,
            Part::Approvers => super::approval::check(setup),
        }
    })?;
    let open = |finding: &Finding| matches!(finding.state, State::Problem | State::Warning);
    let of = |finding: &Finding| PartFinding {
        is_open: open(finding),
        text: finding.to_text(),
        line: finding.to_line(),
    };
    Ok(found.iter().map(of).collect())
}

/// Asks everybody at the same time.
async fn asked(setup: &Setup, offline: bool) -> Vec<Finding> {
    let store = super::store::check(setup);
    let model = super::model::check(setup, offline);
    let cloud = super::cloud::check(setup, offline);
    let slack = super::slack::check(setup, offline);
    let clusters = super::clusters::check(setup, offline);
    let (store, slack, model, cloud, clusters) = tokio::join!(store, slack, model, cloud, clusters);
    [store, slack, model, cloud, clusters].concat()
}
