//! `ghost shell run`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use crate::consent::Consent;
use crate::name::new_session;
use crate::print::{line, note};
use crate::setup::Setup;
use crate::wait::{drive, interrupted};
use ghost_base::SessionId;
use ghost_shell::{Cancel, Response, Shell, Status, Verdict};

/// Nothing ran.
const NOTHING_RAN: u8 = 3;

/// The arguments of `ghost shell run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the command ran, whatever it did; 3 nothing ran, because it was denied, blocked, or could not be started.\n\nExamples:\n  ghost shell run 'ip -br addr' --reasoning 'which addresses does this host have?'\n  ghost shell run 'systemctl restart nginx' --reasoning 'pick up the new certificate' --approve ask\n  ghost shell run 'ss -tn' --reasoning 'open connections' --json | jq -r .output"
)]
pub(super) struct Arguments {
    /// The command, as one argument.
    #[arg(allow_hyphen_values = true)]
    command: String,
    /// Why it is wanted; a human who is asked sees it word for word.
    #[arg(long)]
    reasoning: String,
    /// What to do when a human has to be asked.
    #[arg(long, value_enum, default_value_t = Consent::Deny)]
    approve: Consent,
    /// The folder of the audit files; `DATA/audit` unless said.
    #[arg(long, value_name = "DIR")]
    audit_dir: Option<PathBuf>,
    /// The session that the command belongs to; a new one unless said.
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// How long the command may run, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let session = arguments.session.clone().map_or_else(|| new_session("shell"), Ok)?;
    let mut builder = setup.shell(session, arguments.timeout)?.approver(arguments.approve.approver(setup));
    if let Some(folder) = &arguments.audit_dir {
        builder = builder.audit_dir(folder.clone());
    }
    let shell = builder.build()?;
    if shell.judge(arguments.command.trim()).verdict == Verdict::Risky {
        note(&arguments.approve.describe(setup));
    }
    let response = drive(|| one(&shell, &arguments.command, &arguments.reasoning))?;
    if arguments.json {
        line(&serde_json::to_string(&response)?)?;
    } else {
        show(&response)?;
    }
    Ok(if ran(&response) { 0 } else { NOTHING_RAN })
}

/// Tells whether a command ran, whatever it did.
fn ran(response: &Response) -> bool {
    response.status == Status::Completed || response.duration_seconds.is_some()
}

/// Runs one command; Ctrl-C stops it, with all that it started, and keeps what it printed.
async fn one(shell: &Shell, command: &str, reasoning: &str) -> Response {
    let (cancel, signal) = Cancel::new();
    let running = shell.run_until(command, reasoning, signal);
    tokio::pin!(running);
    tokio::select! {
        response = &mut running => response,
        () = interrupted() => {
            cancel.cancel();
            running.await
        }
    }
}

fn show(response: &Response) -> anyhow::Result<()> {
    io::stdout().lock().write_all(response.output.as_bytes())?;
    drop(io::stderr().lock().write_all(response.stderr.as_bytes()));
    note(&summary(response));
    if let Some(hint) = &response.hint {
        note(&format!("hint: {hint}"));
    }
    Ok(())
}

/// Sums up a response in a line.
pub(super) fn summary(response: &Response) -> String {
    let end = match (response.status, response.error) {
        (Status::Completed, _) => match (response.exit_code, response.duration_seconds) {
            (Some(code), Some(seconds)) => format!("exit {code} after {seconds:.3} s"),
            (Some(code), None) => format!("exit {code}"),
            (None, _) => "ended by a signal".to_owned(),
        },
        (Status::Denied, _) => format!("denied: {}", response.reason),
        (Status::Error, Some(problem)) => format!("{}: {}", problem.as_str(), response.reason),
        (Status::Error, None) => response.reason.clone(),
    };
    format!("{} · {} · {end} · {}", response.classification, response.action.as_str(), response.audit_id)
}
