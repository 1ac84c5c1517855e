//! The arguments, and the life of the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rmcp::ServiceExt as _;

use super::approval::Approvals;
use super::http::{Options, SlackIdentity, listen};
use super::message::Checked;
use super::server::Server;
use super::workplace::{Brain, Workplace};
use crate::cli::bot::found;
use crate::cli::investigate::InvestigatorKind;
use ghost_tools::config::McpApprove;
use ghost_tools::global::Global;
use ghost_tools::print::Hinted;
use ghost_tools::reach::Reach;
use ghost_tools::setup::Setup;
use ghost_tools::wait::{drive, interrupted};

/// The arguments of `ghost mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost mcp --config /etc/ghost/ghost.toml\n  claude mcp add ghost -- ghost mcp\n  codex mcp add ghost -- ghost mcp\n  ghost mcp --folder /srv/captures\n\nA client starts it and speaks on standard input and output. Commands run through the same gate as those of `ghost shell run`: SAFE runs, BLOCKED never does, and what asks is never approved by the client. Files are read below the working folder, the data folder, the captures folder, and what --folder names. The environment does not choose the configuration: --config does."
)]
pub(in crate::cli) struct Arguments {
    /// A folder whose files tools may read, beside the working folder, the data folder and the captures folder; repeatable.
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Listen for clients over HTTP (streamable, path /mcp) in place of one on standard input.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The file with a client's name and its token on each line, which only you can read; `[mcp] token_file` unless said. Without one
    /// only clients on this machine are served.
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,
    /// Who is asked about what needs consent; `[mcp] approve` unless said. Whoever drives the client is never asked.
    #[arg(long, value_enum)]
    approve: Option<AskWhom>,
    /// What investigates; `[model] brain` of the configuration unless said, else the playbook.
    #[arg(long, value_enum)]
    brain: Option<InvestigatorKind>,
    /// The turns of the scripted investigator: JSONL, `{"text", "calls": [{"tool", "arguments"}]}` a line.
    #[arg(long, value_name = "FILE", required_if_eq("brain", "scripted"))]
    script: Option<PathBuf>,
}

/// Serves one client until it goes away.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::of_line(global)?;
    if let Some(address) = arguments.listen {
        return listening(arguments, address, setup);
    }
    let brain = Brain { kind: arguments.brain, script: arguments.script.clone() };
    let approvals = approvals(arguments, &setup)?;
    let place = Workplace::local(setup, &arguments.folders, brain, approvals)?;
    let server = Server::new(place)?;
    drive(|| async {
        let served = tokio::select! {
            served = serve(server.clone()) => served,
            () = interrupted() => Ok(()),
        };
        server.leave().await;
        served
    })??;
    Ok(0)
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AskWhom {
    /// People in Slack, through a bot that `[outside]` of the configuration names, or through the shared store.
    Slack,
    /// Nobody: what needs consent does not run.
    Deny,
}

fn approvals(arguments: &Arguments, setup: &Setup) -> anyhow::Result<Approvals> {
    let configured = match setup.config.mcp.approve {
        McpApprove::Slack => AskWhom::Slack,
        McpApprove::Deny => AskWhom::Deny,
    };
    Ok(match arguments.approve.unwrap_or(configured) {
        AskWhom::Slack => Approvals::slack(Reach::new(setup)?),
        AskWhom::Deny => Approvals::nobody(),
    })
}

/// Serves whoever comes over HTTP until it is stopped.
fn listening(arguments: &Arguments, address: SocketAddr, setup: Setup) -> anyhow::Result<u8> {
    let slack = setup.config.mcp.slack_identity.then(|| slack(&setup)).transpose()?;
    let options = Options {
        tokens: arguments.token_file.clone().or_else(|| setup.config.mcp.token_file.clone()),
        slack,
        folders: arguments.folders.clone(),
        brain: Brain { kind: arguments.brain, script: arguments.script.clone() },
        approvals: approvals(arguments, &setup)?,
    };
    drive(|| listen(Arc::new(setup), address, options, interrupted()))??;
    Ok(0)
}

/// Knows people of Slack by the app's signing secret.
fn slack(setup: &Setup) -> anyhow::Result<SlackIdentity> {
    let file = setup.config.slack.signing_secret_file.as_deref();
    let secret = found(setup, "SLACK_SIGNING_SECRET", file)?.ok_or_else(|| {
        let error = anyhow::anyhow!("[mcp] slack_identity needs the app's signing secret");
        Hinted::new(error, "set SLACK_SIGNING_SECRET, or [slack] signing_secret_file")
    })?;
    Ok(SlackIdentity { secret: Arc::new(move || secret.clone()), team: None })
}

async fn serve(server: Server) -> anyhow::Result<()> {
    let (input, output) = rmcp::transport::stdio();
    let serving = server.serve(Checked::new(input, output)).await.map_err(|error| {
        let error = anyhow::anyhow!("no client began to speak the protocol: {error}");
        Hinted::new(error, "a client starts this program: docs/tools/mcp.md says how, client by client")
    })?;
    serving.waiting().await?;
    Ok(())
}
