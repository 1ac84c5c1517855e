//! The roles, and the page that says which tool needs what.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::deploy::rows;
use crate::yaml::{text, words};

/// The roles: what the reader may, what it may with files and in guests, what the acting identity may beside that.
const ROLES: [&str; 4] = ["reader", "prober", "files", "actor"];

fn role(name: &str) -> Value {
    serde_json::from_str(&text(&format!("deploy/azure/{name}.json"))).unwrap()
}

/// Returns everything that a role allows.
fn allowed(name: &str) -> BTreeSet<String> {
    let role = role(name);
    let lists = ["/Actions", "/DataActions"].map(|list| role.pointer(list).unwrap());
    lists.into_iter().flat_map(words).map(str::to_owned).collect()
}

#[test]
fn the_page_says_of_every_action_what_needs_it_and_of_no_other() {
    let page = text("deploy/azure/README.md");
    let reported: BTreeSet<(String, String)> = rows(&page)
        .into_iter()
        .filter(|row| row[0].starts_with("`Microsoft."))
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].to_owned()))
        .collect();
    let real = ROLES
        .iter()
        .flat_map(|name| allowed(name).into_iter().map(|action| (action, (*name).to_owned())))
        .collect();
    assert_eq!(reported, real);
}

#[test]
fn the_reader_only_reads_and_asks() {
    for action in allowed("reader") {
        let reads = action.ends_with("/read");
        // These are POST requests that answer a question.
        let asks = [
            "connectivityCheck/action",
            "effectiveNetworkSecurityGroups/action",
            "effectiveRouteTable/action",
            "ipFlowVerify/action",
            "nextHop/action",
            "topology/action",
            "queryStatus/action",
            "getBgpPeerStatus/action",
            "getLearnedRoutes/action",
            "queryTroubleshootResult/action",
            "backendhealth/action",
        ]
        .iter()
        .any(|end| action.ends_with(end));
        assert!(reads || asks, "{action}");
    }
    assert_eq!(role("reader")["DataActions"], serde_json::json!([]));
}

#[test]
fn nobody_gets_keys_tokens_or_more_than_is_named() {
    for action in ROLES.iter().flat_map(|name| allowed(name)) {
        let small = action.to_lowercase();
        for word in ["listkeys", "sas", "secret", "vault", "token", "disks", "/extensions/write", "*"] {
            assert!(!small.contains(word), "{action}");
        }
        assert!(
            !small.contains("authorization") || small == "microsoft.authorization/permissions/read",
            "{action}"
        );
    }
}

#[test]
fn what_changes_something_is_in_the_actors_role_alone_but_for_scripts() {
    let actor = allowed("actor");
    assert_eq!(actor.intersection(&allowed("reader")).count(), 0);
    for action in actor.iter().filter(|action| action.ends_with("/write")) {
        assert!(action.contains("/packetCaptures/") || action.contains("/blobs/"), "{action}");
    }
    assert!(allowed("files").iter().all(|action| action.ends_with("/read")));
    let script = "Microsoft.Compute/virtualMachines/runCommand/action".to_owned();
    assert_eq!(allowed("prober"), BTreeSet::from([script]));
}

#[test]
fn a_role_is_assignable_nowhere_until_somebody_says_where() {
    for name in ROLES {
        let role = role(name);
        assert_eq!(words(&role["AssignableScopes"]), ["/subscriptions/00000000-0000-0000-0000-000000000000"]);
        assert_eq!(role["IsCustom"], true);
        let actions = words(&role["Actions"]);
        assert_eq!(actions.iter().collect::<BTreeSet<_>>().len(), actions.len(), "{name}");
    }
}
