//! What an identity is granted, held against what is needed.

use serde::Deserialize;

use ghost_shell::IdentityCommand;

/// One of the grants that hold for somebody somewhere, as the platform tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RoleGrant {
    /// What may be done.
    pub actions: Vec<String>,
    /// What of it may not.
    pub not_actions: Vec<String>,
    /// What may be done with data.
    pub data_actions: Vec<String>,
    /// What of it may not.
    pub not_data_actions: Vec<String>,
}

/// Why an answer does not tell what somebody is granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer is no list of permissions: {0}")]
pub struct Unreadable(String);

/// Writes the question what somebody is granted in a resource group; nothing where the names are none.
#[must_use]
pub fn question(subscription: &str, group: &str) -> Option<IdentityCommand> {
    let url = format!(
        "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01"
    );
    let words = ["az", "rest", "--method", "get", "--url", &url, "--output", "json"];
    IdentityCommand::parse(&words.map(str::to_owned))
}

/// Writes the question to which subscription somebody keeps.
#[must_use]
pub fn subscription() -> Option<IdentityCommand> {
    let words = ["az", "account", "show", "--query", "id", "--output", "tsv"];
    IdentityCommand::parse(&words.map(str::to_owned))
}

/// Reads the answer.
///
/// # Errors
/// Fails where it is no list of permissions, or not the whole of one.
pub fn read(answer: &str) -> Result<Vec<RoleGrant>, Unreadable> {
    #[derive(Deserialize)]
    struct Answer {
        value: Vec<RoleGrant>,
        #[serde(rename = "nextLink")]
        next: Option<String>,
    }
    let answer: Answer = serde_json::from_str(answer).map_err(|error| Unreadable(error.to_string()))?;
    match answer.next.filter(|next| !next.is_empty()) {
        Some(_) => Err(Unreadable("it goes on on another page".to_owned())),
        None => Ok(answer.value),
    }
}

/// Tells whether an action is granted: by one grant that names it and does not take it away again.
#[must_use]
pub fn allows(granted: &[RoleGrant], action: &str) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| covers(pattern, action));
    granted.iter().any(|grant| {
        if is_data(action) {
            any(&grant.data_actions) && !any(&grant.not_data_actions)
        } else {
            any(&grant.actions) && !any(&grant.not_actions)
        }
    })
}

/// Tells whether an action is one on data, which no action on resources includes: not even an owner may read blobs by that alone.
#[must_use]
pub fn is_data(action: &str) -> bool {
    action.contains("/containers/blobs/")
}

/// Tells whether a pattern covers an action; a star stands for anything, and case means nothing.
fn covers(pattern: &str, action: &str) -> bool {
    let (pattern, action) = (pattern.to_ascii_lowercase(), action.to_ascii_lowercase());
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return pattern == action };
    let Some(mut rest) = action.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(text: &str) -> Vec<RoleGrant> {
        read(text).unwrap()
    }

    #[test]
    fn an_action_is_granted_where_one_grant_names_it_and_keeps_it() {
        let all = granted(
            r#"{"value":[{"actions":["*"],"notActions":["Microsoft.Authorization/*/Delete","*/write"]},
               {"actions":["Microsoft.Network/networkWatchers/packetCaptures/write"],"notActions":[]},
               {"dataActions":["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"]}],"nextLink":null}"#,
        );
        for action in [
            "Microsoft.Network/networkInterfaces/read",
            "microsoft.network/networkwatchers/packetcaptures/write",
            "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete",
        ] {
            assert!(allows(&all, action), "{action}");
        }
        assert!(!allows(&all, "Microsoft.Network/routeTables/write"));
        let owner = granted(r#"{"value":[{"actions":["*"]}]}"#);
        assert!(!allows(&owner, "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"));
        assert!(!allows(&[], "Microsoft.Network/routeTables/read"));
    }

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        for (pattern, is) in [
            ("*/read", true),
            ("Microsoft.Network/*/read", true),
            ("*", true),
            ("Microsoft.Network/virtualNetworks/read", true),
            ("Microsoft.Network/virtualNetworks/*", true),
            ("Microsoft.Network/virtualNetworks", false),
            ("*/write", false),
            ("", false),
            ("Microsoft.Network/virtualNetworks/read*read", false),
        ] {
            assert_eq!(covers(pattern, "Microsoft.Network/virtualNetworks/read"), is, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_whole_list_is_no_answer() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"value\":1}",
            "{\"value\":[],\"nextLink\":\"https://x\"}",
            "{\"value\":[{\"actions\":1}]}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(granted("{\"value\":[]}"), []);
    }

    #[test]
    fn the_questions_are_the_programs_own() {
        assert!(
            question("33333333-3333-3333-3333-333333333333", "rg-1").is_some() && subscription().is_some()
        );
        assert!(
            question("prod", "rg-1").is_none()
                && question("33333333-3333-3333-3333-333333333333", "a/b").is_none()
        );
    }
}
