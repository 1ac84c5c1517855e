//! `ghost capture start`.

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::command::Common;
use super::summary::finish;
use super::terminal::{Terminal, known};
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_cloud::capture::{
    CaptureRequest, CaptureStep, CaptureTask, Filter, Group, Limits, SNAPLEN, Storage, TaskStore,
};
use ghost_cloud::{Account, Container, Name};
use ghost_shell::Ruling;
use ghost_tools::name::new_session;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// The arguments of `ghost capture start`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The machine; or the source and the destination with a comma between them.
    #[arg(long, value_name = "VM[,VM]", value_delimiter = ',', required = true)]
    target: Vec<String>,
    /// The machines' resource group.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: String,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, value_name = "ID")]
    subscription: Option<String>,
    /// The storage account that the platform writes to; that of `[capture]` in the configuration unless said.
    #[arg(long, value_name = "ACCOUNT")]
    storage_account: Option<String>,
    /// The container in it; that of `[capture]` unless said.
    #[arg(long, value_name = "CONTAINER")]
    container: Option<String>,
    /// The account's resource group, where it is not that of the machines.
    #[arg(long, value_name = "GROUP")]
    storage_group: Option<String>,
    /// How long to capture, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    duration: u32,
    /// How many bytes of each packet to keep; 0 is all, payload included.
    #[arg(long, value_name = "BYTES", default_value_t = SNAPLEN)]
    snaplen: u32,
    /// How large each capture may become, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 100_000_000)]
    max_bytes: u64,
    /// Which packets to keep; may be given several times.
    #[arg(long, value_name = "FILTER")]
    filter: Vec<Filter>,
    /// The session that the capture belongs to; a new one unless said.
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Print every command that it may run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// Return as soon as it records; `wait` goes on.
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let order = order(arguments, setup)?;
    let session = arguments.session.clone().map_or_else(|| new_session("capture"), Ok)?;
    let now = SystemClock.now();
    if arguments.plan {
        return plan(&CaptureTask::new(session, 1, order, now).map_err(hinted)?, arguments, setup);
    }
    let store = TaskStore::open(setup.data()?)?;
    let number = store.number(&session)?;
    let mut task = CaptureTask::new(session, number, order, now).map_err(hinted)?;
    let Some(_held) = store.hold(&task.id())? else {
        anyhow::bail!("another process works on {}", task.id());
    };
    if store.load(&task.id()).is_ok() {
        anyhow::bail!("another process has just begun {}: try again", task.id());
    }
    note(&format!("capture {}; every change asks first", task.id()));
    let ended = drive(|| async {
        let terminal = Terminal::new(setup, &store, &task, &arguments.common, arguments.detach)?;
        terminal.drive(&mut task).await
    })??;
    finish(&task, ended, &arguments.common, setup)
}

pub(in crate::cli) fn hinted(error: ghost_cloud::capture::CaptureRequestError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => Hinted::new(error, hint).into(),
        None => error.into(),
    }
}

fn order(arguments: &Arguments, setup: &Setup) -> anyhow::Result<CaptureRequest> {
    let named = (&arguments.storage_account, &arguments.container, &arguments.storage_group);
    let wanted = WantedCapture {
        target: arguments.target.clone(),
        resource_group: arguments.resource_group.clone(),
        subscription: arguments.subscription.clone(),
        limits: Limits {
            seconds: arguments.duration,
            bytes: arguments.max_bytes,
            snaplen: arguments.snaplen,
        },
        filters: arguments.filter.clone(),
    };
    wanted.checked(storage(setup, named)?, setup)
}

/// What is to be captured, as somebody said it.
pub(in crate::cli) struct WantedCapture {
    /// The machine; or the source and the destination.
    pub(in crate::cli) target: Vec<String>,
    /// The machines' resource group.
    pub(in crate::cli) resource_group: String,
    /// The subscription; the one that is signed in to unless said.
    pub(in crate::cli) subscription: Option<String>,
    /// How much.
    pub(in crate::cli) limits: Limits,
    /// Which packets; all unless said.
    pub(in crate::cli) filters: Vec<Filter>,
}

impl WantedCapture {
    /// Puts the order together, into that storage, and checks it.
    pub(in crate::cli) fn checked(self, storage: Storage, setup: &Setup) -> anyhow::Result<CaptureRequest> {
        let group = |text: &Option<String>| text.as_deref().map(Name::parse).transpose();
        let order = CaptureRequest {
            group: Group {
                subscription: group(&self.subscription).context("checking the subscription")?,
                name: Name::parse(&self.resource_group).context("checking the resource group")?,
            },
            machines: self.target,
            storage,
            folder: setup.config.capture.folder.display().to_string(),
            limits: self.limits,
            filters: self.filters,
        };
        order.check(&[]).map_err(hinted)
    }
}

/// Returns the storage that is named, or configured.
pub(in crate::cli) fn storage(
    setup: &Setup,
    named: (&Option<String>, &Option<String>, &Option<String>),
) -> anyhow::Result<Storage> {
    match configured(setup, named)? {
        Some(storage) => Ok(storage),
        None => {
            let error = anyhow::anyhow!("no storage account is named that the platform can write to");
            let hint = "name one with --storage-account, or once and for all in the configuration: [capture] storage_account";
            Err(Hinted::new(error, hint).into())
        }
    }
}

/// Returns the storage that is named, or configured; `None` where there is none.
pub(in crate::cli) fn configured(
    setup: &Setup,
    (account, container, group): (&Option<String>, &Option<String>, &Option<String>),
) -> anyhow::Result<Option<Storage>> {
    let known = &setup.config.capture;
    let Some(name) = account.as_ref().or(known.storage_account.as_ref()) else { return Ok(None) };
    // The configured group is that of the configured account.
    let known_group = known.storage_group.as_ref().filter(|_| account.is_none());
    Ok(Some(Storage {
        account: Account::parse(name).context("checking the storage account")?,
        container: Container::parse(container.as_ref().unwrap_or(&known.storage_container))
            .context("checking the container")?,
        group: group
            .as_ref()
            .or(known_group)
            .map(|name| Name::parse(name))
            .transpose()
            .context("checking the storage group")?,
    }))
}

/// Returns every command that a task may run, as the gate judges it.
pub(in crate::cli) fn planned(
    task: &CaptureTask,
    setup: &Setup,
) -> anyhow::Result<Vec<(Ruling, CaptureStep)>> {
    let gate = setup.shell(task.session.clone(), None)?.known(known(setup, std::slice::from_ref(task))?);
    let judged = |step: CaptureStep| anyhow::Ok((gate.judge(&step.command())?, step));
    task.foreseen().into_iter().map(judged).collect()
}

/// Prints what would run.
fn plan(task: &CaptureTask, arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let steps = planned(task, setup)?;
    if arguments.common.json {
        let commands: Vec<_> = steps
            .iter()
            .map(|(ruling, step)| json!({"command": step.command(), "verdict": ruling.verdict, "why": step.why}))
            .collect();
        line(&json!({"plan": commands}).to_string())?;
    } else {
        for (ruling, step) in &steps {
            line(&format!("{:<5} {}\n      {}", ruling.verdict.to_string(), step.command(), step.why))?;
        }
        line(
            "REGION is that of the machine. Nothing was run; what is RISKY asks first, what belongs together asks once.",
        )?;
    }
    Ok(0)
}
