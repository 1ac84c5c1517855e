//! The arguments, and the parts put together.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::brisk::ShortSleep;
use super::case::case_name;
use super::cloud::DemoCloud;
use crate::cli::bot::serve;
use crate::cli::lab::{GROUPS, clusters, hinted, reach};
use ghost_base::{SystemClock, private_dir};
use ghost_investigate::playbook::Playbook;
use ghost_lab::case::{Case, SERVICE_CASES, clean};
use ghost_lab::control::Lab;
use ghost_lab::runner::{InProcess, memory_lab_now};
use ghost_lab_slack::{ChannelInfo, DemoControl as _, Settings, Timing, Workspace};
use ghost_shell::Cancel;
use ghost_tools::config::{
    Channel, ClusterEntry, Config, Environment, People, RequesterMay, Scope, data_dir,
};
use ghost_tools::global::Global;
use ghost_tools::name::random;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::{drive, interrupted};

/// From which all that machines draw follows.
const SEED: u64 = 1;

/// The arguments of `ghost demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is configured, nothing runs but this program, and nothing leaves this machine: a cloud in this process answers every \
        command, and the playbook investigates. On the page `Cases and faults` picks another case, injects a fault more, or makes the \
        cloud as it was. What it shows is thrown away at the end; with --data-dir it stays, and the audit trail in it can be verified.\n\n\
        Examples:\n  ghost demo\n  ghost demo --case K\n  ghost demo --port 7777\n  ghost demo --data-dir /tmp/ghost-demo"
)]
pub(in crate::cli) struct Arguments {
    /// The port of the page on the loopback address; a free one, if none is named.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// What is wrong in the cloud at first: a case that comes with the program; `ghost lab cases` lists them.
    #[arg(long, value_parser = case_name, default_value = "j")]
    case: String,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let environment = Environment::read();
    if let Some(path) = &global.config {
        // A file that is named and cannot be read is a mistake, though nothing of it is needed here.
        Config::load(path).map_err(|error| Hinted::new(error, "the demonstration needs no configuration"))?;
        note("The demonstration brings its own configuration; yours is not used.");
    }
    let folder = Folder::new(global.data_dir.as_deref(), &environment)?;
    drive(|| play(arguments, &folder))?.map(|()| 0)
}

async fn play(arguments: &Arguments, folder: &Folder) -> anyhow::Result<()> {
    let workspace = Workspace::open(Settings {
        port: arguments.port,
        folder: folder.stays.then(|| folder.path.join("slack")),
        timing: Timing::compressed(1),
        clock: Arc::new(SystemClock),
    });
    let workspace = workspace.await.map_err(hinted)?;
    let exports = workspace.exports();
    let named =
        |name: &str| exports.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str());
    let place = workspace.first_channel().context("the workspace has no channel")?;
    let tokens = ["SLACK_API_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"].map(|name| (name, named(name)));
    let lab = memory_lab_now(SEED).context("putting up a cloud")?;
    let clock = lab.clock().clone();
    let mut setup = Setup::of(
        config(&place, &lab, &folder.path),
        folder.path.clone(),
        Environment::from(tokens),
        Arc::new(InProcess::new(Arc::clone(&lab))),
    );
    setup.clock = Some(Arc::new(clock.clone()));
    setup.sleep = Some(Arc::new(ShortSleep::by(clock)));
    let store = setup.store().await?;
    setup.opened = Some(Arc::clone(&store));
    // An earlier cloud in this folder went with its process.
    clean(&folder.path).context("cleaning up after an earlier demonstration")?;
    let stand = DemoCloud::with(&arguments.case, lab, folder.path.clone(), store).await?;
    let opening = stand.opening().unwrap_or_default();
    workspace.set_demo(Arc::new(stand));
    let page = named("SLACK_WORKSPACE_URL").to_owned();
    let (cancel, mut stop) = Cancel::new();
    let connected = workspace.connected();
    let slack = workspace.serve(async move { stop.canceled().await });
    let setup = Arc::new(setup);
    let bot = async {
        let serving = serve(&setup, Arc::new(Playbook), interrupted());
        tokio::pin!(serving);
        let ended = tokio::select! {
            ended = &mut serving => ended,
            announced = async { connected.await; announce(&page, &place, &opening) } => match announced {
                Ok(()) => serving.await,
                Err(error) => Err(error),
            },
        };
        // The workspace goes last, so that the bot's farewell still arrives.
        cancel.cancel();
        ended
    };
    let (slack, bot) = tokio::join!(slack, bot);
    bot.and(slack.map_err(hinted))
}

/// Says where it is, once somebody answers there.
fn announce(page: &str, place: &ChannelInfo, opening: &str) -> anyhow::Result<()> {
    line(page)?;
    line(&format!("# In #{} write:  @{} {opening}", place.name, place.app))?;
    line("# A cloud in this process answers; nothing runs on this machine. Ctrl-C ends it.")?;
    Ok(std::io::stdout().flush()?)
}

/// Everybody in the channel may approve there, and it is about the estate of the cases.
fn config(place: &ChannelInfo, lab: &Lab, data: &Path) -> Config {
    let everybody = People { users: place.members.iter().cloned().collect(), ..People::default() };
    let scope = Scope { resource_groups: GROUPS.map(str::to_owned).to_vec(), ..Scope::default() };
    let channel = Channel {
        scope: Some(scope.clone()),
        measurement: Some(everybody.clone()),
        outage: Some(everybody.clone()),
        change: Some(everybody.clone()),
        ..Channel::default()
    };
    let mut config = Config::default();
    reach(&mut config, lab, data);
    // Whichever case is picked, its clusters are known.
    let cases = SERVICE_CASES.iter().filter_map(|(_, text)| Case::read(text).ok());
    for cluster in cases.flat_map(|case| clusters(&case)) {
        config.clusters.insert(cluster.name, ClusterEntry::default());
    }
    config.approval.requester = Some(RequesterMay::Everything);
    config.approval.measurement = everybody.clone();
    config.approval.outage.users = everybody.users.clone();
    // One click is enough: the demo has one user.
    config.approval.outage.approvers = Some(1);
    config.approval.change.users = everybody.users.clone();
    // The local Slack counts nothing.
    config.slack.pace = 20;
    config.bot.scope = Some(scope);
    config.bot.freezers = everybody;
    config.channel.insert(place.id.clone(), channel);
    config
}

/// Where it keeps what it shows.
struct Folder {
    path: PathBuf,
    stays: bool,
}

impl Folder {
    fn new(named: Option<&Path>, environment: &Environment) -> anyhow::Result<Self> {
        if let Some(path) = named {
            private_dir(path).with_context(|| format!("making {}", path.display()))?;
            return Ok(Self { path: path.to_owned(), stays: true });
        }
        // What is thrown away needs no home: a home that is missing or cannot be written to is none.
        let name = random::<5>()?;
        let own = data_dir(None, environment).map(|data| data.join("demo").join(&name)).ok();
        if let Some(path) = own.filter(|path| private_dir(path).is_ok()) {
            return Ok(Self { path, stays: false });
        }
        let temporary = environment.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        let path = temporary.join(format!("ghost-demo-{name}"));
        private_dir(&path)
            .with_context(|| format!("making {}", path.display()))
            .map_err(|error| Hinted::new(error, "name a folder that can be written to with --data-dir"))?;
        Ok(Self { path, stays: false })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.stays
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            tracing::warn!("removal of {} failed: {error}", self.path.display());
        }
    }
}
