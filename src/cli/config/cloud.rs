//! Whether `az` is there, as whom commands run, what those may do, and which captures are left over.

use serde_json::Value;

use super::finding::{Finding, State};
use super::permission;
use ghost_base::SessionId;
use ghost_shell::{Response, Shell};
use ghost_tools::setup::Setup;

const WHAT: &str = "az";

/// Under which name what runs is on record.
const SESSION: &str = "config-check";

/// How long `az` may take; it is slow to start.
const SECONDS: u64 = 20;

pub(super) use permission::needed;

/// Tries `az`, and says what is known of identities, permissions and left-over captures.
pub(super) async fn check(setup: &Setup, offline: bool) -> Vec<Finding> {
    let mut found = identities(setup);
    let asked = match open(setup, offline) {
        Ok(shell) => Some(shell),
        Err(finding) => {
            found.push(finding);
            None
        }
    };
    match &asked {
        Some(shell) => {
            let (az, permissions) = tokio::join!(ask(shell), permission::check(setup, shell));
            found.push(az);
            found.extend(permissions);
        }
        None => found.push(unasked()),
    }
    found.push(captures(setup, asked.is_some()).await);
    found
}

/// Says as whom commands run.
fn identities(setup: &Setup) -> Vec<Finding> {
    let identities = match setup.identities() {
        Ok(identities) => identities,
        Err(error) => {
            let hint = "[azure.reader] and [azure.actor] of the configuration";
            return vec![Finding::new(State::Problem, "identity", format!("{error:#}")).hint(hint)];
        }
    };
    if identities.is_one() {
        let text = format!("one for both: {}", identities.reader().name());
        let hint = "what only reads could act, too: give what acts an identity of its own, [azure.actor]";
        return vec![Finding::new(State::Warning, "identity", text).hint(hint)];
    }
    let text = |identity: &ghost_shell::Identity| Finding::new(State::Ok, "identity", identity.name());
    vec![text(identities.reader()), text(identities.actor())]
}

/// Opens a shell to ask through, or says why nobody is asked.
fn open(setup: &Setup, offline: bool) -> Result<Shell, Finding> {
    let absent = |error: String| {
        Finding::new(State::Warning, WHAT, error)
            .hint("without it Ghost examines this machine and the network from here")
    };
    let programs = setup.programs().map_err(|error| absent(error.to_string()))?;
    let path = programs.find("az").map_err(|error| {
        let finding = Finding::new(State::Warning, WHAT, error.to_string());
        finding.hint(format!(
            "{}; without it Ghost examines this machine and the network from here",
            error.hint()
        ))
    })?;
    let there = setup.data().is_ok_and(std::path::Path::is_dir);
    if offline || !there {
        // What runs is on record, and to check makes no folder.
        let why = if offline { "not asked" } else { "asked as soon as the data folder is there" };
        return Err(Finding::new(State::Skipped, WHAT, format!("{}: {why}", path.display())));
    }
    let built = || -> anyhow::Result<Shell> {
        let session: SessionId = SESSION.parse()?;
        Ok(setup.shell(session, Some(SECONDS))?.build()?)
    };
    built().map_err(|error| Finding::new(State::Problem, WHAT, format!("{error:#}")))
}

/// Asks through the safety shell, so that it is judged and on record as everything else.
async fn ask(shell: &Shell) -> Finding {
    let why = "ghost config check";
    let (version, account) =
        tokio::join!(shell.run("az version -o json", why), shell.run("az account show -o json", why));
    finding(&version, &account)
}

/// Says what nobody was asked about.
fn unasked() -> Finding {
    let count = |role: &str| needed().iter().filter(|needed| needed.role == role).count();
    let wanted = format!("{} actions as reader, {} as actor", count("reader"), count("actor"));
    Finding::new(State::Skipped, "permissions", format!("{wanted}; nobody was asked which are granted"))
        .hint("deploy/azure names each action and the tool that needs it; so does --json")
}

/// Says which captures were left behind; nothing is searched where `az` is not asked.
async fn captures(setup: &Setup, asked: bool) -> Finding {
    if !asked {
        return Finding::new(State::Skipped, "captures", "nobody looked for captures that were left behind");
    }
    let looking = async {
        let session: SessionId = SESSION.parse()?;
        crate::cli::capture::left_behind(setup, &session).await
    };
    match looking.await {
        Ok(left) if left.is_empty() => Finding::new(State::Ok, "captures", "none is left over"),
        Ok(left) => {
            let text = left.into_iter().map(|left| {
                format!("{} of {}, session {}, since {}", left.name, left.machine, left.session, left.since)
            });
            let text = text.collect::<Vec<_>>().join("; ");
            Finding::new(State::Warning, "captures", format!("left over: {text}"))
                .hint("`ghost capture orphans` says what can be done")
        }
        Err(error) => Finding::new(State::Warning, "captures", format!("could not be looked for: {error:#}")),
    }
}

fn finding(version: &Response, account: &Response) -> Finding {
    let read = |response: &Response| serde_json::from_str::<Value>(&response.output).unwrap_or_default();
    let (version, who) = (read(version), permission::account(&read(account)));
    let version = version.pointer("/azure-cli").and_then(Value::as_str).unwrap_or("of an unknown version");
    match who {
        Some((user, subscription)) => Finding::new(
            State::Ok,
            WHAT,
            format!("{version}, signed in as {user}, subscription {subscription}"),
        ),
        None if account.exit_code == Some(0) => {
            Finding::new(State::Warning, WHAT, format!("{version}, signed in, and does not say as whom"))
        }
        None if account.error.is_some() => Finding::new(State::Problem, WHAT, account.reason.clone()),
        None => Finding::new(State::Problem, WHAT, format!("{version}, not signed in"))
            .hint("`az login`, or say in [azure.reader] how Ghost signs in"),
    }
}
