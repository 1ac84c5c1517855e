//! The arguments, and the parts of the bot put together.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use crate::cli::bot::alerts::endpoints;
use crate::cli::bot::leftover::FoundLast;
use crate::cli::bot::outside;
use crate::cli::bot::settings::settings;
use crate::cli::bot::start;
use crate::cli::bot::tokens::Kept;
use crate::cli::config::checked;
use crate::cli::engine::{engine, owner};
use crate::cli::investigate::{InvestigatorKind, Reports, investigator};
use crate::cli::mcp::{Approvals, Brain, McpRoute, Options, SlackIdentity};
use ghost_agent::bot::{
    Application, Bot, Core, CoreServices, Directory, EventSource, OwnApp, Presenter, Settings,
    StoreFreezeCheck, alerts, requests,
};
use ghost_agent::http::{self, LateRoutes, Patience, Routes, Vitals};
use ghost_agent::telemetry::{Collector, Exporter};
use ghost_base::{Clock, Secret, SystemClock};
use ghost_investigate::model::Model;
use ghost_session::Worker;
use ghost_session::outside::opened;
use ghost_shell::{Cancel, CancelSignal};
use ghost_slack::pace::CallQueue;
use ghost_slack::socket::Settings as SocketSettings;
use ghost_slack::web::{Identity, Roots, Settings as WebSettings, Web};
use ghost_store::Store;
use ghost_tools::config::{LogFormat, Transport, read_small};
use ghost_tools::name::random;
use ghost_tools::print::{Misconfigured, note};
use ghost_tools::reach::Reach;
use ghost_tools::runbooks;
use ghost_tools::setup::Setup;
use ghost_tools::sweep::{sweep_clients_and_log, sweep_own};
use ghost_tools::wait::{drive, interrupted};

/// The arguments of `ghost bot`.
#[derive(Debug, Args)]
#[command(
    after_help = "Tokens come from SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or from files that [slack] of the configuration names.\n\n\
Examples:\n  ghost bot --config /etc/ghost/ghost.toml\n  ghost lab slack --port 7777 > slack.env & sleep 1; . ./slack.env; ghost bot --script demo/first.jsonl"
)]
pub(in crate::cli) struct Arguments {
    /// What investigates; `[model] brain` of the configuration unless said.
    #[arg(long, value_enum)]
    brain: Option<InvestigatorKind>,
    /// The turns of the scripted investigator: JSONL, `{"text", "calls": [{"tool", "arguments"}]}` a line.
    #[arg(long, value_name = "FILE", required_if_eq("brain", "scripted"))]
    script: Option<PathBuf>,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, setup: Setup) -> anyhow::Result<u8> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let setup = Arc::new(setup);
    let model = investigator(&setup, arguments.brain, arguments.script.as_deref()).map_err(Misconfigured)?;
    drive(|| serve(&setup, model, interrupted()))?.map(|()| 0)
}

/// Runs the bot until it is stopped.
pub(in crate::cli) async fn serve(
    setup: &Arc<Setup>,
    model: Arc<dyn Model>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    // A bot does not start with a policy that breaks the promise of an example.
    setup.judged_policy().map_err(Misconfigured)?;
    let tokens = Arc::new(Kept::new(setup).map_err(Misconfigured)?);
    let url = setup
        .environment
        .text("SLACK_API_URL")
        .map(str::to_owned)
        .or_else(|| setup.config.slack.api_url.clone());
    let roots = Roots::load(None).context("reading the certificates that this machine trusts")?;
    let line = CallQueue::times(usize::try_from(setup.config.slack.pace).unwrap_or(1));
    let web = Web::with_queue(WebSettings { url, ..WebSettings::new(roots) }, tokens.clone(), Arc::new(line));
    let (cancel, canceled) = Cancel::new();
    let cancel = Arc::new(cancel);
    let served = Served::default();
    // It listens before anything else is there: `/ready` says what is awaited.
    let listening = listen(setup, &served, canceled.clone())?;
    let over = Arc::clone(&cancel);
    let running = async move {
        // In a box: the futures of a bot are too deep for the compiler to lay out in one.
        let ended = Box::pin(start(setup, model, (web, tokens), &served, canceled)).await;
        // If Slack has refused the bot for good, nothing is left to be served: the supervisor has to see the end.
        over.cancel();
        ended
    };
    let running = async { tokio::join!(running, listening).0 };
    tokio::pin!(running);
    tokio::select! {
        ended = &mut running => ended,
        () = stop => {
            cancel.cancel();
            running.await
        }
    }
}

/// Waits for Slack and the store, then runs the bot until it is stopped.
async fn start(
    setup: &Arc<Setup>,
    model: Arc<dyn Model>,
    (web, tokens): (Web, Arc<Kept>),
    served: &Served,
    canceled: CancelSignal,
) -> anyhow::Result<()> {
    let mut stopped = canceled.clone();
    let (identity, store) = tokio::select! {
        found = start::ready(setup, &web, &served.vitals) => found?,
        () = stopped.canceled() => return Ok(()),
    };
    let left = Arc::new(FoundLast::default());
    let connected = announced(setup, &identity, served.vitals.clone());
    let team = identity.team.clone();
    let own_app = OwnApp::new(identity.team.clone(), identity.enterprise.clone());
    tracing::info!("slack connected, workspace {}", team.as_deref().unwrap_or("unknown"));
    let parts = Parts { web, identity, store, vitals: served.vitals.clone() };
    let application = application(setup, model, parts, left.clone())?;
    let mcp = mcp(setup, &tokens, team, &application.core.store)?;
    let extra = routes(setup, &application, tokens, own_app)?;
    let lasting = mcp.as_ref().map(McpRoute::router).unwrap_or_default();
    served.open(Routes { extra, lasting }, mcp);
    let running = left.beside(setup, Box::pin(application.run(canceled)));
    let running = async {
        tokio::pin!(running);
        tokio::select! {
            biased;
            ended = &mut running => return ended,
            () = connected => {}
        }
        running.await
    };
    running.await.map_err(|error| Misconfigured(error.into()).into())
}

/// How often it is looked whether every part of the bot is there, until it is.
const READY_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Says in one line that the bot is connected, once it is. A demonstration says where its page is, and a log in JSON holds no other lines.
fn announced(setup: &Setup, identity: &Identity, vitals: Vitals) -> impl Future<Output = ()> + use<> {
    let is_said = setup.runner.is_none() && setup.config.log.format == LogFormat::Text;
    let team = identity.team_name.clone().or_else(|| identity.team.clone()).unwrap_or_default();
    let words =
        format!("Connected to Slack, workspace {team}. Mention the bot in a channel; Ctrl-C ends it.");
    async move {
        loop {
            // The parts are known once the bot runs.
            tokio::time::sleep(READY_CHECK_INTERVAL).await;
            if vitals.parts.report().ready {
                break;
            }
        }
        if is_said {
            note(&words);
        }
    }
}

/// The server's side of the bot, which is there before the bot is.
#[derive(Clone, Default)]
struct Served {
    vitals: Vitals,
    routes: LateRoutes,
    mcp: Arc<Mutex<Option<McpRoute>>>,
}

impl Served {
    /// Opens the routes of the bot.
    fn open(&self, routes: Routes, mcp: Option<McpRoute>) {
        *self.mcp.lock().unwrap_or_else(PoisonError::into_inner) = mcp;
        self.routes.open(routes);
    }

    fn take_mcp(&self) -> Option<McpRoute> {
        self.mcp.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Serves health and metrics at once, and the routes of the bot as soon as they are open.
fn listen(
    setup: &Setup,
    served: &Served,
    stop: CancelSignal,
) -> anyhow::Result<impl Future<Output = ()> + use<>> {
    let bind = |address: Option<SocketAddr>| {
        address
            .map(|address| http::listen(address).with_context(|| format!("listening on {address}")))
            .transpose()
    };
    let (listener, probes) = (bind(setup.config.http.listen)?, bind(setup.config.http.probes)?);
    let vitals = served.vitals.clone();
    let shown = probes.is_none().then(|| vitals.clone());
    let served = served.clone();
    let mut ended = (stop.clone(), stop);
    Ok(async move {
        let main = async {
            let Some(listener) = listener else { return ended.0.canceled().await };
            let ending = async {
                ended.0.canceled().await;
                // Streams end first: they would keep their connections.
                if let Some(mcp) = served.take_mcp() {
                    mcp.leave().await;
                }
            };
            http::serve(listener, served.routes.clone(), shown, Patience::default(), ending).await;
        };
        let health = async {
            let Some(listener) = probes else { return };
            let ending = ended.1.canceled();
            http::serve(listener, Routes::default(), vitals, Patience::default(), ending).await;
        };
        tokio::join!(main, health);
    })
}

/// Returns the routes that need the bot: Slack's signed requests, agents elsewhere, alerts.
fn routes(
    setup: &Setup,
    application: &Application,
    tokens: Arc<Kept>,
    own_app: OwnApp,
) -> anyhow::Result<axum::Router> {
    let measures = &application.vitals.measures;
    let bot = Bot { core: Arc::clone(&application.core), measures: measures.clone() };
    let slack = match application.event_source {
        EventSource::Requests => {
            requests(Arc::new(bot), own_app, Arc::new(move || tokens.signing()), Arc::new(SystemClock))
        }
        EventSource::Sockets(_) => axum::Router::new(),
    };
    let agents = outside::server(setup, &application.core.store).map_err(Misconfigured)?;
    let endpoints = endpoints(setup).map_err(Misconfigured)?;
    let core = Arc::clone(&application.core);
    Ok(slack.merge(agents).merge(alerts(core, endpoints, measures.clone())))
}

/// Prepares `/mcp`, where clients can prove who they are and something listens.
fn mcp(
    setup: &Arc<Setup>,
    tokens: &Arc<Kept>,
    team: Option<String>,
    store: &Arc<dyn Store>,
) -> anyhow::Result<Option<McpRoute>> {
    let mcp = &setup.config.mcp;
    let Some(address) = setup.config.http.listen.filter(|_| mcp.knows_clients()) else { return Ok(None) };
    let signing = Arc::clone(tokens);
    let slack =
        mcp.slack_identity.then(|| SlackIdentity { secret: Arc::new(move || signing.signing()), team });
    let options = Options {
        tokens: mcp.token_file.clone(),
        slack,
        folders: Vec::new(),
        brain: Brain::default(),
        approvals: match &setup.config.outside.channel {
            Some(_) => Approvals::slack(Reach::own(setup, Arc::clone(store))?),
            None => Approvals::nobody(),
        },
    };
    McpRoute::new(Arc::clone(setup), address, options).map(Some)
}

/// Returns what an operator should know.
fn warnings(setup: &Setup) -> anyhow::Result<Vec<String>> {
    Ok(setup.one_for_both()?.into_iter().collect())
}

/// The parts that the bot had to wait for, and what it shows of itself.
struct Parts {
    web: Web,
    identity: ghost_slack::web::Identity,
    store: Arc<dyn Store>,
    vitals: Vitals,
}

fn application(
    setup: &Arc<Setup>,
    model: Arc<dyn Model>,
    parts: Parts,
    leftovers: Arc<FoundLast>,
) -> anyhow::Result<Application> {
    let Parts { web, identity, store, vitals } = parts;
    let data = setup.data()?.to_owned();
    let clock = setup.clock();
    let settings = Settings { surroundings: setup.surroundings()?, ..settings(setup) };
    let audit = data.join("audit");
    let presenter = Presenter::new(
        web.clone(),
        &identity.user,
        Arc::clone(&store),
        Arc::clone(&clock),
        Arc::new(move |session| std::fs::read(audit.join(format!("{session}.jsonl"))).ok()),
        Arc::new(Reports::new(&data)),
        settings.broadcast,
    );
    let captures = setup.config.capture.folder.clone();
    let presenter = presenter.showing(Arc::new(move |name| std::fs::read(captures.join(name)).ok()));
    let presenter = match setup.config.site.runbooks.clone() {
        Some(folder) => presenter.with_runbooks(Arc::new(move || {
            let read = runbooks::read(&folder).unwrap_or_else(|error| {
                tracing::warn!("runbooks not shown: {error:#}");
                runbooks::Runbooks::default()
            });
            read.unread.iter().for_each(|file| tracing::warn!("runbook not read: {file}"));
            read.notes
        })),
        None => presenter,
    };
    let presenter = presenter
        .attaching_captures(setup.config.bot.attach_captures)
        .marking_status(setup.config.bot.status_reactions);
    let presenter = presenter.modifier_may_approve(settings.anywhere.approvers.own.modifier);
    let rules = settings.clone();
    let presenter = presenter
        .decided_by(Arc::new(move |channel| rules.rules(channel).map(|rules| rules.approvers.clone())));
    let presenter = Arc::new(match &settings.acts_as {
        Some(identity) => presenter.acting_as(identity.as_str()),
        None => presenter,
    });
    let room = outside::room(setup, &settings, identity.team.as_deref());
    let nonce = || random::<8>().unwrap_or_default();
    let engine = engine(setup, Arc::clone(&store), Arc::clone(&model))?
        .open_outside(move |asked| opened(&room, asked, nonce()))
        .delivery(presenter.clone())
        .freeze(Arc::new(StoreFreezeCheck(Arc::clone(&store))))
        .observer(presenter.clone())
        .build(owner("bot")?);
    let exporting = exporter(setup, &engine.owner, Arc::clone(&clock))?;
    let core = Arc::new(Core::new(CoreServices {
        settings,
        store: Arc::clone(&store),
        clock: Arc::clone(&clock),
        directory: Directory::new(&web, identity),
        web,
        policy: Arc::clone(&engine.policy),
        open_shell: Arc::clone(&engine.open_shell),
        evidence: Arc::clone(&engine.evidence),
        tools: Arc::clone(&engine.tools),
        investigator: model.investigator(),
        nonce: Arc::new(nonce),
        warnings: warnings(setup)?,
        checks: {
            let setup = Arc::clone(setup);
            Arc::new(move || {
                let setup = Arc::clone(&setup);
                Box::pin(async move { checked(&setup).await })
            })
        },
        leftovers,
        // The words behind it are in the journal alone.
        trail: Arc::new(|who, what, _| tracing::warn!(who, "{what}")),
    }));
    let event_source = match setup.config.slack.transport {
        Transport::Socket => EventSource::Sockets(SocketSettings {
            connections: setup.config.slack.connections,
            ..SocketSettings::default()
        }),
        Transport::Http => EventSource::Requests,
    };
    let swept = Arc::clone(setup);
    let sweeping = move || -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        let (store, setup) = (Arc::clone(&store), Arc::clone(&swept));
        Box::pin(async move {
            if let Err(error) = sweep_own(&setup, Some(store)).await {
                tracing::warn!("retention sweep failed: {error:#}");
            }
            sweep_clients_and_log(&setup).await;
        })
    };
    let worker = Worker { engine, max_sessions: setup.config.bot.sessions };
    Ok(Application {
        core,
        presenter,
        worker,
        event_source,
        sweep: Arc::new(sweeping),
        vitals,
        telemetry: exporting,
    })
}

/// Makes who sends traces and metrics, where the configuration names a collector.
fn exporter(setup: &Setup, replica: &str, clock: Arc<dyn Clock>) -> anyhow::Result<Option<Exporter>> {
    let telemetry = &setup.config.telemetry;
    let Some(url) = &telemetry.otlp else { return Ok(None) };
    let token = match &telemetry.token_file {
        Some(file) => {
            let text = read_small(file)
                .with_context(|| format!("reading [telemetry] token_file {}", file.display()))?;
            Some(Secret::new(text.trim()))
        }
        None => None,
    };
    let collector = Collector::new(url, token).context("preparing [telemetry] otlp")?;
    Ok(Some(Exporter::new(collector, replica, telemetry.metrics_every(), clock)))
}
