//! Whether `az` is there and signed in, and what its identity has to be allowed.

use serde::Serialize;
use serde_json::Value;

use super::finding::{Finding, State};
use crate::base::SessionId;
use crate::cli::setup::Setup;
use crate::shell::{Programs, Response};

const WHAT: &str = "az";

/// The table of what needs which permission, by action.
const NEEDS: &str = include_str!("../../../deploy/azure/README.md");

/// How long `az` may take; it is slow to start.
const SECONDS: u64 = 9;

/// A permission, the role that has it, and what needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Needed {
    action: &'static str,
    role: &'static str,
    #[serde(rename = "for")]
    purpose: &'static str,
}

/// What only somebody who asks the cloud can tell. The tools that ask it fill this in, here and nowhere else: captures that
/// dead sessions left behind, and permissions that are missing.
struct Survey {
    /// Captures that nobody owns any more, in words; `None` where nobody looked.
    leftovers: Option<Vec<String>>,
    /// Actions that the identity lacks; `None` where nobody asked.
    missing: Option<Vec<String>>,
}

/// Asks the cloud. Nothing here can yet.
async fn survey(_setup: &Setup) -> Survey {
    Survey { leftovers: None, missing: None }
}

/// Tries `az`, and says what is known of permissions and left-over captures.
pub(super) async fn check(setup: &Setup, offline: bool) -> Vec<Finding> {
    let mut found = vec![az(setup, offline).await];
    let Survey { leftovers, missing } = survey(setup).await;
    let count = |role: &str| needed().iter().filter(|needed| needed.role == role).count();
    let wanted = format!("{} actions as reader, {} as actor", count("reader"), count("actor"));
    found.push(match missing {
        None => Finding::new(
            State::Skipped,
            "permissions",
            format!("{wanted}; which of them are granted is not asked yet"),
        )
        .hint("deploy/azure names each action and the tool that needs it; so does --json"),
        Some(missing) if missing.is_empty() => {
            Finding::new(State::Ok, "permissions", format!("{wanted}, all granted"))
        }
        Some(missing) => {
            Finding::new(State::Problem, "permissions", format!("missing: {}", missing.join(", ")))
                .hint("assign the roles of deploy/azure")
        }
    });
    found.push(match leftovers {
        None => Finding::new(
            State::Skipped,
            "captures",
            "nothing takes captures yet, so that none can be left over",
        ),
        Some(names) if names.is_empty() => Finding::new(State::Ok, "captures", "none is left over"),
        Some(names) => Finding::new(State::Warning, "captures", format!("left over: {}", names.join(", "))),
    });
    found
}

/// Returns every permission that a tool needs.
pub(super) fn needed() -> Vec<Needed> {
    let row = |line: &'static str| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ");
        let action = cells.next()?.strip_suffix('`')?;
        Some(Needed { action, role: cells.next()?, purpose: cells.next()? })
    };
    NEEDS.lines().filter_map(row).collect()
}

async fn az(setup: &Setup, offline: bool) -> Finding {
    let absent = |error: String| {
        Finding::new(State::Warning, WHAT, error)
            .hint("without it Ghost looks at this machine and at the network from here")
    };
    let path = match Programs::new(setup.config.programs.clone()).and_then(|programs| programs.find("az")) {
        Ok(path) => path,
        Err(error) => return absent(error.to_string()),
    };
    let there = setup.data().is_ok_and(std::path::Path::is_dir);
    if offline || !there {
        // What runs is on record, and to check makes no folder.
        let why = if offline { "not asked" } else { "asked as soon as the data folder is there" };
        return Finding::new(State::Skipped, WHAT, format!("{}: {why}", path.display()));
    }
    match ask(setup).await {
        Ok((version, account)) => told(&version, &account),
        Err(error) => Finding::new(State::Problem, WHAT, format!("{error:#}")),
    }
}

/// Asks through the safety shell, so that it is judged and on record as everything else.
async fn ask(setup: &Setup) -> anyhow::Result<(Response, Response)> {
    let session: SessionId = "config-check".parse()?;
    let shell = setup.shell(session, Some(SECONDS))?.build()?;
    let why = "ghost config check";
    Ok(tokio::join!(shell.run("az version -o json", why), shell.run("az account show -o json", why)))
}

fn told(version: &Response, account: &Response) -> Finding {
    let read = |response: &Response| serde_json::from_str::<Value>(&response.output).unwrap_or_default();
    let (version, who) = (read(version), read(account));
    let field =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let version = field(&version, "/azure-cli").unwrap_or_else(|| "of an unknown version".to_owned());
    match (field(&who, "/user/name"), field(&who, "/name"), field(&who, "/id")) {
        (Some(user), name, id) => {
            let subscription = [name, id].into_iter().flatten().collect::<Vec<_>>().join(" ");
            Finding::new(
                State::Ok,
                WHAT,
                format!("{version}, signed in as {user}, subscription {subscription}"),
            )
        }
        (None, _, _) if account.exit_code == Some(0) => {
            Finding::new(State::Warning, WHAT, format!("{version}, signed in, and does not say as whom"))
        }
        (None, _, _) => Finding::new(State::Problem, WHAT, format!("{version}, not signed in"))
            .hint("`az login`, or `az login --identity` on a machine with a managed identity"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_of_the_page_has_a_role_and_a_purpose() {
        let needed = needed();
        assert!(needed.len() > 30, "{}", needed.len());
        assert!(
            needed
                .iter()
                .all(|needed| matches!(needed.role, "reader" | "actor") && !needed.purpose.is_empty())
        );
        assert!(
            needed
                .iter()
                .any(|needed| needed.action.ends_with("packetCaptures/write") && needed.role == "actor")
        );
    }
}
