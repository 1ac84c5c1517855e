//! What each identity is granted, held against the table of `deploy/azure`, action by action.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::finding::{Finding, State};
use ghost_cloud::permission::{RoleGrant, allows, question, read, subscription};
use ghost_shell::{Identity, IdentityCommand, Response, Shell};
use ghost_tools::setup::Setup;

const WHAT: &str = "permissions";

/// The table of what needs which permission, by action.
const NEEDS: &str = include_str!("../../../deploy/azure/README.md");

/// What lies in the group of the network watchers, wherever the machines lie.
const WATCHERS: &str = "Microsoft.Network/networkWatchers/";

/// So many groups are asked about where nobody named some.
const MAX_GROUPS: usize = 10;

/// A permission, the role that has it, and what needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Needed {
    pub(super) action: &'static str,
    pub(super) role: &'static str,
    #[serde(rename = "for")]
    pub(super) purpose: &'static str,
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

/// Asks what each identity is granted, and tells what is missing.
pub(super) async fn check(setup: &Setup, shell: &Shell) -> Vec<Finding> {
    let identities = match setup.identities() {
        Ok(identities) => identities,
        // What is wrong with them was reported already.
        Err(_) => return Vec::new(),
    };
    let groups = groups(setup, shell).await;
    if groups.is_empty() {
        let none = Finding::new(State::Skipped, WHAT, "no resource group is known to ask about");
        return vec![none.hint("name some in [azure] resource_groups")];
    }
    let watchers = setup.config.azure.watcher_group.as_str();
    let both: &[&str] = &["reader", "actor"];
    if identities.is_one() {
        return vec![of(shell, identities.reader(), &groups, watchers, both).await];
    }
    let (reader, actor) = tokio::join!(
        of(shell, identities.reader(), &groups, watchers, &["reader"]),
        of(shell, identities.actor(), &groups, watchers, both),
    );
    vec![reader, actor]
}

/// Returns the resource groups that are asked about: those that are configured, else those that the reader sees.
async fn groups(setup: &Setup, shell: &Shell) -> Vec<String> {
    let mut named = setup.config.azure.resource_groups.clone();
    if named.is_empty() {
        let places =
            setup.config.channel.values().map(|channel| &channel.scope).chain([&setup.config.bot.scope]);
        named.extend(places.flatten().flat_map(|scope| scope.resource_groups.iter().cloned()));
    }
    if named.is_empty() {
        let answer = shell.run("az group list --query [].name --output json", "ghost config check").await;
        named = serde_json::from_str(&answer.output).unwrap_or_default();
        named.truncate(MAX_GROUPS);
    }
    let watchers = &setup.config.azure.watcher_group;
    named.retain(|name| !name.eq_ignore_ascii_case(watchers));
    named.sort_unstable();
    named.dedup();
    named
}

/// Asks what one identity is granted.
async fn of(
    shell: &Shell,
    identity: &Arc<Identity>,
    groups: &[String],
    watchers: &str,
    roles: &[&str],
) -> Finding {
    let who = identity.name();
    let problem = |what: String| {
        Finding::new(State::Problem, WHAT, format!("{who}: {what}"))
            .hint("deploy/azure has the roles; see [azure] of the configuration")
    };
    let subscription = match ask(shell, identity, subscription()).await {
        Ok(id) => id.trim().to_owned(),
        Err(why) => return problem(why),
    };
    let asked = groups.iter().map(String::as_str).chain([watchers]).map(|group| {
        let operation = question(&subscription, group);
        async move {
            (
                group,
                ask(shell, identity, operation)
                    .await
                    .and_then(|answer| read(&answer).map_err(|error| error.to_string())),
            )
        }
    });
    let (mut lacks, mut silent, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (group, answer) in futures_util::future::join_all(asked).await {
        match answer {
            Ok(granted) => {
                lacks.extend(missing(&granted, group, group.eq_ignore_ascii_case(watchers), roles));
                all.extend(granted);
            }
            Err(why) => silent.push(format!("{group}: {why}")),
        }
    }
    let wanted = needed().iter().filter(|needed| roles.contains(&needed.role)).count();
    let more = optional(&all, roles);
    if !silent.is_empty() {
        return problem(format!("nobody says what it may do in {}", silent.join("; ")));
    }
    if !lacks.is_empty() {
        return problem(format!("missing {}{more}", lacks.join("; ")));
    }
    Finding::new(
        State::Ok,
        WHAT,
        format!("{who}: all {wanted} actions in {} and {watchers}{more}", groups.join(", ")),
    )
}

/// Names each action that is missing in a group, and what needs it.
fn missing(granted: &[RoleGrant], group: &str, watchers: bool, roles: &[&str]) -> Vec<String> {
    let needed = needed().into_iter().filter(|needed| roles.contains(&needed.role));
    let here = needed.filter(|needed| needed.action.starts_with(WATCHERS) == watchers);
    // Where files are kept is a group of its own in most places; it is looked at by itself.
    let here =
        here.filter(|needed| !needed.action.starts_with("Microsoft.Storage/storageAccounts/blobServices/"));
    let lacking = here.filter(|needed| !allows(granted, needed.action));
    lacking
        .map(|needed| format!("in {group}: {} ({}: {})", needed.action, needed.role, needed.purpose))
        .collect()
}

/// Says what of the rest is not granted anywhere that was asked about: some need it, and nobody has to.
fn optional(granted: &[RoleGrant], roles: &[&str]) -> String {
    let rest = needed().into_iter().filter(|needed| {
        let files = needed.action.starts_with("Microsoft.Storage/storageAccounts/blobServices/");
        let own = roles.contains(&needed.role) && files || matches!(needed.role, "prober" | "files");
        own && !allows(granted, needed.action)
    });
    let text: Vec<String> = rest.map(|needed| format!("{} ({})", needed.action, needed.purpose)).collect();
    if text.is_empty() {
        String::new()
    } else {
        format!("; not granted there, and not always needed: {}", text.join("; "))
    }
}

async fn ask(
    shell: &Shell,
    identity: &Arc<Identity>,
    operation: Option<IdentityCommand>,
) -> Result<String, String> {
    let operation = operation.ok_or("that cannot be asked in words of az")?;
    let answer = shell.run_identity_command(identity, operation).await;
    if answer.exit_code == Some(0) { Ok(answer.output) } else { Err(why(&answer)) }
}

/// Says why there is no answer, in a line.
fn why(response: &Response) -> String {
    let first = response.stderr.lines().map(str::trim).find(|line| !line.is_empty());
    first.map_or_else(
        || response.reason.clone(),
        |line| line.trim_start_matches("ERROR:").trim().chars().take(300).collect(),
    )
}

/// Says whom `az` is signed in as, from its own words.
pub(super) fn account(document: &Value) -> Option<(String, String)> {
    let field = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let subscription = [field("/name"), field("/id")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some((field("/user/name")?, subscription))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_of_the_page_has_a_role_and_a_purpose() {
        let needed = needed();
        assert!(needed.len() > 30, "{}", needed.len());
        assert!(needed.iter().all(|needed| matches!(needed.role, "reader" | "prober" | "files" | "actor")
            && !needed.purpose.is_empty()));
        assert!(
            needed
                .iter()
                .any(|needed| needed.action.ends_with("packetCaptures/write") && needed.role == "actor")
        );
    }

    #[test]
    fn a_missing_action_is_named_with_what_needs_it_where_it_is_needed() {
        let granted = |actions: &str| read(&format!(r#"{{"value":[{{"actions":[{actions}]}}]}}"#)).unwrap();
        let reader: &[&str] = &["reader"];
        let all = granted(r#""*/read","*/action""#);
        assert_eq!(missing(&all, "rg", false, reader), Vec::<String>::new());
        let lacks = missing(&granted(r#""*/read""#), "rg", false, reader);
        // What asks a question is an action, not a read.
        let asks = [
            "virtualNetworkGateways/getBgpPeerStatus/action (reader: whether a gateway",
            "virtualNetworkGateways/getLearnedRoutes/action (reader: which routes",
            "applicationGateways/backendhealth/action (reader: how the servers",
            "networkInterfaces/effectiveNetworkSecurityGroups/action (reader: effective",
            "networkInterfaces/effectiveRouteTable/action (reader: effective",
        ];
        assert_eq!(lacks.len(), asks.len(), "{lacks:?}");
        for ask in asks {
            let start = format!("in rg: Microsoft.Network/{ask}");
            assert!(lacks.iter().any(|lack| lack.starts_with(&start)), "{ask}: {lacks:?}");
        }
        let watchers = missing(&granted(""), "NetworkWatcherRG", true, &["reader", "actor"]);
        assert!(watchers.iter().any(|lack| lack.contains("packetCaptures/write (actor: ")), "{watchers:?}");
        assert!(!watchers.iter().any(|lack| lack.contains("virtualMachines")), "{watchers:?}");
    }
}
