//! An operation at a terminal: its commands go through the shell and its audit, progress goes to standard error.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clap::Args;
use futures_util::StreamExt as _;
use serde_json::json;

use super::guest::place;
use super::name::new_session;
use super::print::harmless;
use super::print::{Hinted, line, note};
use super::setup::Setup;
use super::wait::{drive, interrupted};
use crate::config::Reader;
use ghost_base::{Clock as _, SessionId, SystemClock, Timestamp};
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::operation::{
    CommandKind, CommandOutcome, CommandRequest, Issue, Operation, OperationExecutor, ReadOperation,
    ShellExecutor,
};
use ghost_cloud::probe::GuestProbe;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceResult, InterfaceScope};
use ghost_cloud::{Name, line as az};
use ghost_shell::{Cancel, DenyAll, Policy, Verdict};

/// A machine that is busy answers late.
const MAX_COMMAND_SECONDS: u64 = 600;

/// A machine that is read at once answers within this, or does not answer.
const MAX_HOST_SECONDS: u64 = 90;

/// So many commands that only read run at the same time where this process reads by itself.
const MAX_AT_ONCE: usize = 256;

/// What stands for an interface that is not known before the machine was looked at.
const PLACEHOLDER_INTERFACE: &str = "INTERFACE";

/// An interface of the cloud in place of a file.
#[derive(Debug, Args)]
pub struct LiveQuery {
    /// Ask the cloud about this machine; its primary interface unless --nic names another.
    #[arg(
        long,
        visible_alias = "vm-name",
        value_name = "NAME",
        requires = "resource_group",
        help_heading = "Live"
    )]
    vm: Option<String>,
    /// Ask the cloud about this interface.
    #[arg(
        long,
        visible_alias = "nic-name",
        value_name = "NAME",
        requires = "resource_group",
        help_heading = "Live"
    )]
    nic: Option<String>,
    /// The resource group of the machine or the interface.
    #[arg(long, short = 'g', value_name = "GROUP", help_heading = "Live")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID", help_heading = "Live")]
    subscription: Option<String>,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long, requires = "resource_group", help_heading = "Live")]
    pub plan: bool,
}

/// What came of looking.
pub struct LiveInterface {
    /// What was printed about the interface.
    pub looked: InterfaceResult,
    /// Who owns which address, where that could be read.
    pub inventory: Option<String>,
}

impl LiveQuery {
    /// Asks about a machine or an interface of a group.
    pub fn of(vm: Option<String>, nic: Option<String>, group: String, subscription: Option<String>) -> Self {
        Self { vm, nic, resource_group: Some(group), subscription, plan: false }
    }

    /// Reads the interface; `None` where only the plan was wanted.
    pub fn look(
        &self,
        setup: &Setup,
        what: &[EffectiveQuery],
        json: bool,
    ) -> anyhow::Result<Option<LiveInterface>> {
        let Some(group) = &self.resource_group else {
            let error = anyhow::anyhow!("neither a file nor a machine is named");
            return Err(Hinted::new(error, "name a file, or --vm NAME -g GROUP").into());
        };
        let place = place(group, self.subscription.as_deref())?;
        let name = |text: &Option<String>| text.as_deref().map(Name::parse).transpose();
        let (vm, nic) = (name(&self.vm)?, name(&self.nic)?);
        let operation = match (&vm, &nic) {
            (Some(vm), nic) => Effective::of_machine(&place, vm, nic.as_ref(), what),
            (None, Some(nic)) => Effective::all(&place, &InterfaceScope::Interface(nic.clone()), what),
            (None, None) => {
                let error = anyhow::anyhow!("neither a machine nor an interface is named");
                return Err(Hinted::new(error, "--vm NAME, or --nic NAME").into());
            }
        };
        let others = CommandRequest::line(
            az::interfaces(&place),
            format!("find out who owns which address in {group}"),
        );
        if self.plan {
            let mut orders: Vec<CommandRequest> = vm
                .iter()
                .map(|vm| CommandRequest::line(az::machine(&place, vm), "find its interfaces"))
                .collect();
            let nic = nic.or_else(|| Name::parse(PLACEHOLDER_INTERFACE).ok());
            orders.extend(nic.iter().flat_map(|nic| foreseen(&place, nic, what)));
            orders.push(others);
            plan(setup, None, &orders, json)?;
            return Ok(None);
        }
        let live = Live::open(setup, "look", None, None)?;
        let looked = or_fail(live.drive(operation)?)?;
        let Some(looked) = looked.into_iter().next() else { anyhow::bail!("no interface was found") };
        // Without it some answers are less certain; with a reader of few rights it cannot be had.
        let inventory = match live.drive(ReadOperation::new(others, "looking who owns which address"))? {
            Ok(text) => Some(text),
            Err(trouble) => {
                note(&format!("note: {}; whose addresses are whose is not known", harmless(&trouble.text)));
                None
            }
        };
        Ok(Some(LiveInterface { looked, inventory }))
    }
}

/// Gathers on a guest; `None` where only the plan was wanted.
pub fn gather<T: Clone + Send + 'static>(
    setup: &Setup,
    reach: &GuestAccess,
    gathering: GuestProbe<T>,
    (planned, json): (bool, bool),
    session: Option<&SessionId>,
) -> anyhow::Result<Option<T>> {
    if planned {
        plan(setup, Some(reach), &[gathering.foreseen()], json)?;
        return Ok(None);
    }
    or_fail(Live::open(setup, "inspect", session, Some(reach))?.drive(gathering)?).map(Some)
}

/// Returns what is asked about an interface.
pub fn foreseen(
    place: &ghost_cloud::ResourceGroup,
    nic: &Name,
    what: &[EffectiveQuery],
) -> Vec<CommandRequest> {
    let order = |what: &EffectiveQuery| match what {
        EffectiveQuery::Routes => {
            CommandRequest::line(az::effective_routes(place, nic), "read its effective routes")
        }
        EffectiveQuery::Rules => {
            CommandRequest::line(az::effective_rules(place, nic), "read its effective rules")
        }
        EffectiveQuery::Itself => CommandRequest::line(az::interface(place, nic), "read its addresses"),
    };
    what.iter().map(order).collect()
}

/// Turns trouble into an error with its hint.
pub fn or_fail<T>(result: Result<T, Issue>) -> anyhow::Result<T> {
    result.map_err(|trouble| {
        let error = anyhow::anyhow!(harmless(&trouble.text));
        match trouble.hint {
            Some(hint) => Hinted::new(error, hint).into(),
            None => error,
        }
    })
}

/// Prints what would run, each with its verdict.
pub fn plan(
    setup: &Setup,
    reach: Option<&GuestAccess>,
    orders: &[CommandRequest],
    json: bool,
) -> anyhow::Result<()> {
    plan_by(setup, knowing(setup, reach)?, orders, json)
}

/// Prints what would run, each with its verdict by a policy.
pub fn plan_by(
    setup: &Setup,
    policy: Arc<Policy>,
    orders: &[CommandRequest],
    json: bool,
) -> anyhow::Result<()> {
    let gate = setup.shell(new_session("plan")?, None)?.policy(Arc::clone(&policy));
    let mut rows = Vec::new();
    for order in orders {
        let (command, verdict) = match &order.what {
            CommandKind::Line(line) => {
                let text = line.text();
                let ruling = gate.judge(&text)?;
                (text, ruling.verdict)
            }
            CommandKind::Script { carrier, script, variables } => {
                let values: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let filled = policy.script(script).map(|script| script.fill(&values)).transpose()?;
                let ruling = filled.map(|filled| gate.judge_script(carrier.words(), &filled)).transpose()?;
                let verdict = ruling.map_or(Verdict::Risky, |ruling| ruling.verdict);
                (format!("{} <script {script}>", carrier.text()), verdict)
            }
        };
        rows.push((verdict, command, &order.why));
    }
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(verdict, command, why)| json!({"command": command, "verdict": verdict, "why": why}))
            .collect();
        return line(&json!({ "plan": rows }).to_string());
    }
    for (verdict, command, why) in rows {
        line(&format!("{:<5} {command}\n      {why}", verdict.to_string()))?;
    }
    line("Nothing was run.")
}

/// Returns the policy, which knows the guest's ssh.
fn knowing(setup: &Setup, reach: Option<&GuestAccess>) -> anyhow::Result<Arc<Policy>> {
    let policy = setup.policy()?;
    Ok(match reach.and_then(GuestAccess::known) {
        Some(words) => Arc::new((*policy).clone().carried_by([words])),
        None => policy,
    })
}

/// Drives operations at a terminal.
pub struct Live {
    gate: ShellExecutor,
    /// How many commands that only read run at the same time.
    at_once: usize,
    opened: Timestamp,
    said: std::sync::Mutex<String>,
}

impl Live {
    /// Opens a shell for a session; one that is not named begins with `prefix`.
    pub fn open(
        setup: &Setup,
        prefix: &str,
        session: Option<&SessionId>,
        reach: Option<&GuestAccess>,
    ) -> anyhow::Result<Self> {
        let session = session.cloned().map_or_else(|| new_session(prefix), Ok)?;
        let timeout = setup.config.shell.timeout_seconds.max(MAX_COMMAND_SECONDS);
        Self::with(setup, session, knowing(setup, reach)?, timeout)
    }

    /// Opens a shell for a session of its own that judges by a policy.
    pub fn by_policy(setup: &Setup, prefix: &str, policy: Arc<Policy>) -> anyhow::Result<Self> {
        Self::with(setup, new_session(prefix)?, policy, MAX_HOST_SECONDS)
    }

    fn with(setup: &Setup, session: SessionId, policy: Arc<Policy>, timeout: u64) -> anyhow::Result<Self> {
        // All of it reads: whatever would ask is a mistake, and nobody is asked.
        let shell =
            setup.shell(session, Some(timeout))?.policy(policy).approver(Arc::new(DenyAll)).build()?;
        let gate = ShellExecutor::new(Arc::new(shell), setup.data()?.join("evidence"));
        // Each process of `az` keeps a processor busy; a request of this process waits for the platform.
        let at_once = match setup.config.cloud.reader {
            Reader::Native => MAX_AT_ONCE,
            Reader::Az => 1,
        };
        Ok(Self { gate, at_once, opened: SystemClock.now(), said: std::sync::Mutex::new(String::new()) })
    }

    /// Drives an operation to its end; Ctrl-C ends it, too.
    pub fn drive<E: Operation>(&self, mut operation: E) -> anyhow::Result<E::Result> {
        let ended = drive(|| ghost_cloud::operation::drive(&mut operation, self, &SystemClock))?;
        ended.ok_or_else(|| anyhow::anyhow!("interrupted"))
    }

    /// Drives operations side by side, so many at once, and returns their results in their order.
    pub fn drive_all<T, E: Operation<Result = Result<T, Issue>>>(
        &self,
        operations: Vec<E>,
        at_once: usize,
    ) -> anyhow::Result<Vec<Result<T, Issue>>> {
        let stopped = || Err(Issue::new("it was interrupted"));
        drive(|| async {
            futures_util::stream::iter(operations)
                .map(|mut operation| async move {
                    let ended = ghost_cloud::operation::drive(&mut operation, self, &SystemClock).await;
                    ended.unwrap_or_else(stopped)
                })
                .buffered(at_once)
                .collect()
                .await
        })
    }

    /// Prints a line unless it is the one that stands there.
    fn say(&self, what: &str) {
        let Ok(mut said) = self.said.lock() else { return };
        if said.as_str() != what {
            let seconds = SystemClock.now().since(self.opened).as_secs();
            note(&harmless(&format!("{:02}:{:02} {what}", seconds / 60, seconds % 60)));
            what.clone_into(&mut said);
        }
    }
}

#[async_trait]
impl OperationExecutor for Live {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        self.say(&order.why);
        let (cancel, stop) = Cancel::new();
        let running = self.gate.run(order, stop);
        tokio::pin!(running);
        tokio::select! {
            answer = &mut running => answer,
            () = interrupted() => {
                cancel.cancel();
                drop(running.await);
                CommandOutcome::Denied { reason: "it was interrupted".to_owned(), all: false }
            }
        }
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    async fn wait(&self, until: Timestamp, why: &str) -> bool {
        self.say(&format!("{why}; Ctrl-C ends it"));
        let left: Duration = until.since(SystemClock.now());
        tokio::select! {
            () = tokio::time::sleep(left) => true,
            () = interrupted() => false,
        }
    }
}
