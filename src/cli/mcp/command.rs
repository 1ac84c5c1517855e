//! The arguments, and the life of the server.

use std::path::PathBuf;

use clap::Args;
use rmcp::ServiceExt as _;

use super::server::Server;
use super::workplace::Workplace;
use crate::cli::print::Hinted;
use crate::cli::root::Global;
use crate::cli::setup::Setup;
use crate::cli::wait::{drive, interrupted};

/// The arguments of `ghost mcp`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost mcp --config /etc/ghost/ghost.toml\n  claude mcp add ghost -- ghost mcp\n  codex mcp add ghost -- ghost mcp\n  ghost mcp --folder /srv/captures\n\nA client starts it and speaks on standard input and output. Commands run through the same gate as those of `ghost shell run`: SAFE runs,\nBLOCKED never does, and what asks is never approved by the client. Files are read below the working folder, the data folder, the\ncaptures folder, and what --folder names. The environment does not choose the configuration: --config does."
)]
pub(in crate::cli) struct Arguments {
    /// A folder whose files tools may read, beside the working folder, the data folder and the captures folder; repeatable.
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,
}

/// Serves one client until it goes away.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::of_line(global)?;
    let server = Server::new(Workplace::open(setup, &arguments.folders)?)?;
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

async fn serve(server: Server) -> anyhow::Result<()> {
    let serving = server.serve(rmcp::transport::stdio()).await.map_err(|error| {
        let error = anyhow::anyhow!("no client began to speak the protocol: {error}");
        Hinted::new(error, "a client starts this program: docs/tools/mcp.md says how, client by client")
    })?;
    serving.waiting().await?;
    Ok(())
}
