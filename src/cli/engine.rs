//! The engine that the configuration describes: the terminal, the bot and the evaluation begin with the same one.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;

use crate::cli::capture::configured;
use crate::cli::files::Folders;
use crate::cli::investigate::prices;
use ghost_cloud::Name;
use ghost_cloud::guest::{GuestAccess, HostAccess, Ssh};
use ghost_investigate::Limits;
use ghost_investigate::event::SessionHost;
use ghost_investigate::model::{Cost, Model};
use ghost_investigate::state::State;
use ghost_investigate::tool::{Registry, Site};
use ghost_session::{Engine, EngineBuilder, ShellError};
use ghost_shell::{ClipLimits, Policy};
use ghost_store::Store;
use ghost_tools::config::read_small;
use ghost_tools::guest::{SshOptions, ssh};
use ghost_tools::host::SshArguments;
use ghost_tools::name::random;
use ghost_tools::setup::Setup;

/// Begins the engine that the configuration describes, for sessions that read the machines of the configuration.
pub(super) fn engine(
    setup: &Arc<Setup>,
    store: Arc<dyn Store>,
    model: Arc<dyn Model>,
) -> anyhow::Result<EngineBuilder> {
    engine_for(setup, store, model, &[])
}

/// Begins the engine that the configuration describes. It reads the given machines, too. Who delivers, freezes and observes is for the caller to set.
pub(super) fn engine_for(
    setup: &Arc<Setup>,
    store: Arc<dyn Store>,
    model: Arc<dyn Model>,
    hosts: &[SessionHost],
) -> anyhow::Result<EngineBuilder> {
    let data = setup.data()?;
    let policy = policy_for(setup, hosts)?;
    let prices = prices(setup)?;
    let (shell_policy, shell_setup) = (Arc::clone(&policy), Arc::clone(setup));
    Ok(Engine::builder(store, model, policy, data)
        .clock(setup.clock())
        .sleep(setup.sleep())
        .tools(tools(setup)?)
        .file_tasks(Arc::new(Folders {
            captures: setup.config.capture.folder.clone(),
            data: data.to_owned(),
        }))
        .turn_cost(move |investigator, usage| match &investigator.host {
            Some(_) => prices.cost(&investigator.model, usage).map(Cost::micros),
            // What asks nobody costs nothing.
            None => Some(0),
        })
        .site_prompt(site(setup)?)
        .acts_as(setup.acts_as())
        .open_shell(move |state: &State| {
            let tokens = usize::try_from(shell_setup.config.limits.result_tokens).unwrap_or(usize::MAX);
            let clip = ClipLimits { tokens, ..ClipLimits::MODEL };
            let (session, scope) = (state.session.clone(), state.opened.scope.clone());
            let builder =
                shell_setup.shell(session, None).map_err(|error| ShellError::from(format!("{error:#}")))?;
            Ok(builder.policy(Arc::clone(&shell_policy)).clip(clip).scope(scope))
        }))
}

/// Draws the name of an owner, so that no two processes share one.
pub(super) fn owner(what: &str) -> anyhow::Result<String> {
    Ok(format!("{what}-{}-{}", std::process::id(), random::<4>()?))
}

/// Returns the tools of sessions: what they know of the place comes from the configuration alone.
pub(super) fn tools(setup: &Setup) -> anyhow::Result<Registry> {
    let subscription = setup.config.azure.reader.as_ref().and_then(|reader| reader.subscription.as_deref());
    Ok(Registry::with(Site {
        subscription: subscription
            .map(Name::parse)
            .transpose()
            .context("checking [azure.reader] subscription")?,
        group: None,
        ssh: guests(setup),
        storage: configured(setup, (&None, &None, &None))?,
        captures: setup.config.capture.folder.to_string_lossy().into_owned(),
    }))
}

/// Returns how the guests of the configuration are reached by ssh. One that cannot be, as nothing to sign in with is there, is left out.
pub(super) fn guests(setup: &Setup) -> BTreeMap<String, Ssh> {
    let hosts = setup.config.ssh.hosts.iter();
    hosts
        .filter_map(|(name, host)| Some((name.clone(), ssh(setup, host, &SshOptions::default()).ok()?)))
        .collect()
}

/// Returns the policy of sessions: it knows the words of ssh that carry declared scripts to the guests of the
/// configuration, and where captures lie.
pub(super) fn policy(setup: &Setup) -> anyhow::Result<Arc<Policy>> {
    let policy = setup.policy()?;
    let carriers = guests(setup).into_values().filter_map(|guest| GuestAccess::Ssh(Box::new(guest)).known());
    let carriers: Vec<_> = carriers.collect();
    let account = setup.config.capture.storage_account.clone();
    Ok(if carriers.is_empty() && account.is_none() {
        policy
    } else {
        Arc::new((*policy).clone().carried_by(carriers).captures_into(account))
    })
}

/// Returns the policy of sessions that read machines themselves, too: those given, and those of `[hosts]`. One that cannot be reached,
/// as nothing to sign in with is there, is left out.
pub(super) fn policy_for(setup: &Setup, hosts: &[SessionHost]) -> anyhow::Result<Arc<Policy>> {
    let ssh = SshArguments::default();
    let configured = setup.config.hosts.keys().filter_map(|name| Some(ssh.access(setup, name).ok()?.1));
    let named = hosts.iter().filter_map(|host| HostAccess::of_carrier(&host.carrier));
    let all: Vec<HostAccess> = named.chain(configured).collect();
    // What reads the guest of a cloud runs as root there.
    let as_guests = all.iter().filter_map(|access| match access {
        HostAccess::Ssh(ssh) => GuestAccess::Ssh(ssh.clone()).known(),
        HostAccess::Here => None,
    });
    let carriers: Vec<Vec<String>> =
        all.iter().map(|access| access.carrier().words().to_vec()).chain(as_guests).collect();
    let policy = policy(setup)?;
    if carriers.is_empty() {
        return Ok(policy);
    }
    let here = HostAccess::Here.carrier();
    let is_here = carriers.iter().any(|words| words == here.words());
    let policy = (*policy).clone().carried_by(carriers);
    Ok(Arc::new(if is_here { policy.carried_here() } else { policy }))
}

/// Returns what the operator adds to the system prompt.
pub(super) fn site(setup: &Setup) -> anyhow::Result<Option<String>> {
    let Some(path) = &setup.config.model.site_prompt else { return Ok(None) };
    let text = read_small(path);
    Ok(Some(text.with_context(|| format!("reading [model] site_prompt {}", path.display()))?))
}

/// Returns what a session may spend; one person approves: who sits at a terminal is alone there.
pub(super) fn limits(setup: &Setup) -> Limits {
    let (config, shell) = (&setup.config.limits, &setup.config.shell);
    Limits {
        turns: config.turns,
        commands: config.commands,
        minutes: config.minutes,
        captured_bytes: u64::from(config.captured_megabytes) * 1_000_000,
        tokens: config.tokens,
        cost_micros: micros(config.dollars),
        approval_minutes: u32::try_from(shell.approval_minutes).unwrap_or(u32::MAX),
        result_tokens: config.result_tokens,
        answer_tokens: config.answer_tokens,
        approvers: 1,
        outage_approvers: 1,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the configuration holds it between zero and a million"
)]
fn micros(dollars: f64) -> u64 {
    (dollars * 1_000_000.0).round() as u64
}
