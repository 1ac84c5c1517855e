//! `ghost config`: is the configuration right, and what does this machine offer?

use clap::{Args, Subcommand};
use serde::Serialize;

use super::print::line;
use super::root::Global;
use super::setup::Setup;

/// The arguments of `ghost config`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost config check\n  ghost config check --config /etc/ghost.toml --json --exit-code"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Checks every part of the configuration, and what the machine offers to the sandbox.
    Check {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where something is missing.
        #[arg(long)]
        exit_code: bool,
    },
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Problem,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    state: State,
    what: &'static str,
    detail: String,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let Sub::Check { json, exit_code } = arguments.command;
    let setup = Setup::new(global)?;
    let findings = findings(&setup);
    let ok = findings.iter().all(|finding| finding.state != State::Problem);
    if json {
        line(&serde_json::json!({ "ok": ok, "findings": findings }).to_string())?;
    } else {
        for finding in &findings {
            let sign = match finding.state {
                State::Ok => "ok",
                State::Warning => "warning",
                State::Problem => "PROBLEM",
            };
            line(&format!("{sign:<8} {:<12} {}", finding.what, finding.detail))?;
        }
    }
    Ok(if exit_code && !ok { 3 } else { 0 })
}

fn findings(setup: &Setup) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |state, what, detail: String| found.push(Finding { state, what, detail });
    let file =
        setup.file.as_ref().map_or_else(|| "none: defaults".to_owned(), |path| path.display().to_string());
    add(State::Ok, "file", file);
    match setup.data() {
        Ok(data) => add(State::Ok, "data", data.display().to_string()),
        Err(error) => add(State::Problem, "data", format!("{error}; name one with --data-dir")),
    }
    #[cfg(feature = "store")]
    store(setup, &mut add);
    #[cfg(feature = "session")]
    model(setup, &mut add);
    #[cfg(feature = "shell")]
    shell(setup, &mut add);
    found
}

/// Says who receives conversations. Nothing is sent.
#[cfg(feature = "session")]
fn model(setup: &Setup, add: &mut impl FnMut(State, &'static str, String)) {
    use super::investigate::ready;

    let config = &setup.config.model;
    let named: Vec<_> = config.brain.iter().chain(&config.fallback).copied().collect();
    if named.is_empty() {
        add(State::Ok, "model", "none is configured: nothing leaves this machine".to_owned());
    }
    for provider in named {
        match ready(setup, provider).map(|model| model.brain()) {
            Ok(brain) => {
                let host = brain.host.unwrap_or_else(|| "this process".to_owned());
                let what = "symptoms, words of people and redacted output of commands";
                add(
                    State::Ok,
                    "model",
                    format!("{} {}: {host} receives {what}", brain.provider, brain.model),
                );
            }
            Err(error) => add(State::Problem, "model", format!("{error:#}")),
        }
    }
    if config.no_egress {
        add(State::Ok, "egress", format!("none but this machine and {} listed", config.allowed.len()));
    }
}

/// Tries the store. A file that is not there is not made: to check changes nothing.
#[cfg(feature = "store")]
fn store(setup: &Setup, add: &mut impl FnMut(State, &'static str, String)) {
    use super::print::Hinted;
    use super::wait::drive;
    use crate::store::StoreError;

    // That there is no folder for it was said already.
    let Ok(name) = setup.store_name().map_err(|error| {
        if setup.config.store.url.is_some() {
            add(State::Problem, "store", format!("{error:#}"));
        }
    }) else {
        return;
    };
    if setup.store_is_to_be_made() {
        return add(State::Ok, "store", format!("{name}: made when it is needed"));
    }
    match drive(|| setup.store()).and_then(|opened| opened) {
        Ok(_) => add(State::Ok, "store", format!("{name}: answers")),
        Err(error) => {
            let in_use = matches!(Hinted::below(&error).downcast_ref(), Some(StoreError::InUse { .. }));
            let state = if in_use { State::Warning } else { State::Problem };
            add(state, "store", format!("{name}: {error:#}"));
        }
    }
}

#[cfg(feature = "shell")]
fn shell(setup: &Setup, add: &mut impl FnMut(State, &'static str, String)) {
    use crate::config::Anchoring;
    use crate::shell::{Programs, support};

    for (name, path) in &setup.config.programs {
        match Programs::check(path) {
            Ok(()) => add(State::Ok, "program", format!("{name} = {}", path.display())),
            Err(error) => add(State::Problem, "program", format!("{name}: {error} ({})", error.hint())),
        }
    }
    match setup.policy() {
        Ok(policy) => add(
            State::Ok,
            "policy",
            format!("{} examples hold, digest {}", policy.examples().len(), policy.digest()),
        ),
        Err(error) => add(State::Problem, "policy", format!("{error:#}")),
    }
    let data = setup.data().unwrap_or(std::path::Path::new("DATA"));
    match setup.config.anchoring(data) {
        Anchoring::Nowhere => add(
            State::Warning,
            "anchor",
            "none: a chain on one disk proves nothing against its owner".to_owned(),
        ),
        Anchoring::Syslog => add(State::Ok, "anchor", "syslog".to_owned()),
        Anchoring::File(path) if path.starts_with(data) => {
            add(State::Warning, "anchor", format!("{}: on the disk of the chain itself", path.display()));
        }
        Anchoring::File(path) => add(State::Ok, "anchor", path.display().to_string()),
    }
    let support = support();
    let offered = |there: bool| if there { State::Ok } else { State::Warning };
    let landlock = support.landlock.map_or_else(|| "absent".to_owned(), |abi| format!("ABI {abi}"));
    add(offered(support.landlock.is_some()), "landlock", landlock);
    add(offered(support.seccomp), "seccomp", if support.seccomp { "on" } else { "absent" }.to_owned());
    for warning in support.warnings() {
        add(State::Warning, "sandbox", warning);
    }
}
