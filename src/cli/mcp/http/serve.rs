//! Listening, alone or inside the bot.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tokio::net::TcpListener;

use super::access::{Access, SlackIdentity};
use super::client::Clients;
use super::limit::RateLimit;
use super::route::{Gate, MAX_STRANGERS, PATH, route};
use super::token::TokenFile;
use crate::cli::mcp::approval::Approvals;
use crate::cli::mcp::server::Server;
use crate::cli::mcp::workplace::{Brain, Workplace};
use ghost_agent::http::{self, Patience, Routes, Vitals};
use ghost_base::{Clock as _, SystemClock};
use ghost_tools::print::{Hinted, note};
use ghost_tools::setup::Setup;
use ghost_tools::sweep::sweep_clients_and_log;

/// How often it is looked for what is kept no longer.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3_600);

/// Names of this machine, under which clients on it reach a server.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Pages of this machine, as the protocol wants them to be served.
const LOOPBACK_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// What is served, and to whom.
pub(in crate::cli) struct Options {
    /// The file of tokens.
    pub(in crate::cli) tokens: Option<PathBuf>,
    /// People of Slack.
    pub(in crate::cli) slack: Option<SlackIdentity>,
    /// Folders whose files every client may read.
    pub(in crate::cli) folders: Vec<PathBuf>,
    /// What investigates.
    pub(in crate::cli) brain: Brain,
    /// Who is asked.
    pub(in crate::cli) approvals: Approvals,
}

/// The route `/mcp`, and how it ends.
pub(in crate::cli) struct McpRoute(Arc<Gate>);

impl McpRoute {
    /// Prepares it for an address that is listened on.
    ///
    /// # Errors
    /// Fails where the tokens cannot be used, or nobody would have to prove anything although others than this machine get in.
    pub(in crate::cli) fn new(
        setup: Arc<Setup>,
        address: SocketAddr,
        options: Options,
    ) -> anyhow::Result<Self> {
        let Options { tokens, slack, folders, brain, approvals } = options;
        let tokens = tokens.map(|path| TokenFile::open(&path)).transpose()?;
        if tokens.is_none() && slack.is_none() && !address.ip().is_loopback() {
            let error = anyhow::anyhow!(
                "{address} is reached from other machines, and nobody would have to say who they are"
            );
            let hint = "name the clients in a file, --token-file or [mcp] token_file; or listen on 127.0.0.1";
            return Err(Hinted::new(error, hint).into());
        }
        let mcp = &setup.config.mcp;
        let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        hosts.extend(mcp.hosts.iter().cloned());
        // A page that came from this machine is one that this machine's people run.
        let own: &[&str] = if address.ip().is_loopback() { &LOOPBACK_ORIGINS } else { &[] };
        let origins = own.iter().map(|origin| (*origin).to_owned());
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins.chain(mcp.origins.iter().cloned()))
            .enforce_origin_validation();
        let per_minute = mcp.requests_per_minute;
        let making = Arc::clone(&setup);
        let make = move |client: &str| {
            let apart = making.client(client).with_context(|| format!("preparing the client {client}"))?;
            let approvals = approvals.of_client(apart.data()?);
            Server::new(Workplace::remote(apart, client, &folders, brain.clone(), approvals)?)
        };
        Ok(Self(Arc::new(Gate {
            access: Access::new(tokens, slack, Arc::new(SystemClock)),
            clients: Clients::new(Box::new(make), config, per_minute),
            strangers: RateLimit::new(MAX_STRANGERS, SystemClock.now()),
        })))
    }

    /// Returns the route.
    pub(in crate::cli) fn router(&self) -> Router {
        route(Arc::clone(&self.0))
    }

    /// Ends every session, and waits until what ran is on record.
    pub(in crate::cli) async fn leave(&self) {
        self.0.clients.leave().await;
    }
}

/// Listens until it is stopped.
pub(in crate::cli::mcp) async fn listen(
    setup: Arc<Setup>,
    address: SocketAddr,
    options: Options,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
    let address = listener.local_addr().context("asking where it listens")?;
    let mcp = McpRoute::new(Arc::clone(&setup), address, options)?;
    let vitals = Vitals::default();
    vitals.parts.check("mcp").ready();
    note(&format!("listening on http://{address}{PATH}"));
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let routes = Routes { extra: Router::new(), lasting: mcp.router() };
    let served = http::serve(listener, routes, vitals, Patience::default(), async {
        drop(stopped.await);
    });
    let sweeping = async {
        let mut hour = tokio::time::interval(RETENTION_INTERVAL);
        loop {
            hour.tick().await;
            sweep_clients_and_log(&setup).await;
        }
    };
    let ended = async {
        tokio::select! {
            () = stop => {}
            () = sweeping => {}
        }
        // Streams end first: they would keep their connections.
        mcp.leave().await;
        drop(stopping);
    };
    tokio::join!(served, ended);
    Ok(())
}
