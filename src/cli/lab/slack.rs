//! `ghost lab slack`: a local Slack until Ctrl-C.

use std::io::Write as _;
use std::sync::Arc;

use clap::Args;

use ghost_base::SystemClock;
use ghost_lab_slack::{Settings, Timing, Workspace, WorkspaceError};
use ghost_tools::global::Global;
use ghost_tools::print::{Hinted, line};
use ghost_tools::wait::{drive, interrupted};

/// The arguments of `ghost lab slack`.
#[derive(Debug, Args)]
#[command(
    after_help = "It prints what to export, then `# ready`, and stays until Ctrl-C. With --data-dir it goes on where it was.\n\nExamples:\n  ghost lab slack --port 7777\n  ghost lab slack --port 7777 > slack.env & sleep 1; . ./slack.env; python my_bolt_app.py"
)]
pub(in crate::cli) struct Arguments {
    /// The port on the loopback address; a free one, if none is named.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Makes retries and refreshes come so many times sooner.
    #[arg(long, default_value_t = 1, value_name = "FACTOR", value_parser = clap::value_parser!(u32).range(1..))]
    compress: u32,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    drive(|| serve(arguments, global))?
}

async fn serve(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let settings = Settings {
        port: arguments.port,
        folder: global.data_dir.clone(),
        timing: Timing::compressed(arguments.compress),
        clock: Arc::new(SystemClock),
    };
    let workspace = Workspace::open(settings).await.map_err(hinted)?;
    for (name, value) in workspace.exports() {
        line(&format!("export {name}={value}"))?;
    }
    line("# ready")?;
    std::io::stdout().flush()?;
    workspace.serve(interrupted()).await.map_err(hinted)?;
    Ok(0)
}

pub(in crate::cli) fn hinted(error: WorkspaceError) -> anyhow::Error {
    let hint = match &error {
        WorkspaceError::Port { .. } => "name another port with --port, or none for a free one",
        WorkspaceError::Kept { .. } => {
            "name another folder with --data-dir, or remove slack.json for a fresh start"
        }
        WorkspaceError::Start { .. } => return error.into(),
    };
    Hinted::new(error, hint).into()
}
