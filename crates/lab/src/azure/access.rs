//! Who may do what: the permissions of principals, as the platform tells them and holds to them.
//!
//! Somebody of whom nothing was said may do everything, as the owner of the subscription.

use serde::Deserialize;
use serde_json::{Value, json};

use super::cloud::Cloud;
use super::identity::Caller;
use super::refusal::Refusal;
use super::request::{Answer, Request, Verb};

/// What somebody is granted, in the form of a role definition's permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Grant {
    /// The resource group where it holds; everywhere unless said.
    pub group: Option<String>,
    /// What may be done; `*` stands for anything.
    pub actions: Vec<String>,
    /// What of it may not.
    pub not_actions: Vec<String>,
    /// What may be done with data.
    pub data_actions: Vec<String>,
    /// What of it may not.
    pub not_data_actions: Vec<String>,
}

impl Grant {
    fn everything() -> Self {
        let all = || vec!["*".to_owned()];
        Self { actions: all(), data_actions: all(), ..Self::default() }
    }

    fn holds_in(&self, group: Option<&str>) -> bool {
        match (&self.group, group) {
            (Some(own), Some(group)) => own.eq_ignore_ascii_case(group),
            // A list above all groups shows what somebody may see, and is refused to nobody who may see something.
            (Some(_), None) | (None, _) => true,
        }
    }

    fn allows(&self, action: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, action));
        any(&self.actions) && !any(&self.not_actions)
    }

    fn to_json(&self) -> Value {
        json!({"actions": self.actions, "notActions": self.not_actions, "dataActions": self.data_actions,
            "notDataActions": self.not_data_actions})
    }
}

impl Cloud {
    /// Somebody, by object id, is granted this and nothing else from now on; everything again where nothing is said.
    pub fn grant(&mut self, object: &str, grants: Option<Vec<Grant>>) {
        match grants {
            Some(grants) => drop(self.grants.insert(object.to_ascii_lowercase(), grants)),
            None => drop(self.grants.remove(&object.to_ascii_lowercase())),
        }
    }

    /// Nobody's permissions are limited any more.
    pub fn grant_everything(&mut self) {
        self.grants.clear();
    }

    fn granted(&self, who: Option<&Caller>) -> Vec<Grant> {
        let known = who.and_then(|who| self.grants.get(&who.object.to_ascii_lowercase()));
        known.cloned().unwrap_or_else(|| vec![Grant::everything()])
    }
}

/// Answers what somebody may do in a resource group, or with a resource; nothing where that is not the question.
pub(super) fn answer(
    cloud: &Cloud,
    request: &Request,
    who: Option<&Caller>,
) -> Option<Result<Answer, Refusal>> {
    const ENDS: [&str; 2] = ["microsoft.authorization", "permissions"];
    let parts = parts(request);
    let below = parts.len().checked_sub(3)?;
    let end: Vec<String> = parts.iter().skip(below).map(|part| part.to_ascii_lowercase()).collect();
    if request.verb != Verb::Get || end.first()? != "providers" || end.get(1..)? != ENDS {
        return None;
    }
    let group = group(&parts)?;
    let is = |document: &&Value| {
        document.get("name").and_then(Value::as_str).is_some_and(|name| name.eq_ignore_ascii_case(group))
    };
    if !cloud.estate.of("Microsoft.Resources/resourceGroups").any(|document| is(&document)) {
        return Some(Err(Refusal::no_group(group)));
    }
    let granted = cloud.granted(who);
    let here = granted.iter().filter(|grant| grant.holds_in(Some(group))).map(Grant::to_json);
    Some(Ok(Answer::json(200, json!({"value": here.collect::<Vec<_>>()}))))
}

/// Refuses what somebody may not do.
pub(super) fn refuse(cloud: &Cloud, request: &Request, who: Option<&Caller>) -> Option<Refusal> {
    let object = &who?.object;
    let parts = parts(request);
    let action = action(request.verb, &parts)?;
    let group = group(&parts);
    let is_closed = match parts.as_slice() {
        [first, id, ..] if first.eq_ignore_ascii_case("subscriptions") => cloud.about.is_closed(id),
        _ => false,
    };
    if !is_closed {
        let grants = cloud.grants.get(&object.to_ascii_lowercase())?;
        if grants.iter().any(|grant| grant.holds_in(group) && grant.allows(&action)) {
            return None;
        }
    }
    let scope = request.path.trim_end_matches('/');
    let message = format!(
        "The client '{object}' with object id '{object}' does not have authorization to perform action '{action}' over scope \
         '{scope}' or the scope is invalid. If access was recently granted, please refresh your credentials."
    );
    Some(Refusal::new(403, "AuthorizationFailed", message))
}

fn parts(request: &Request) -> Vec<&str> {
    request.path.split('/').filter(|part| !part.is_empty()).collect()
}

fn group<'a>(parts: &[&'a str]) -> Option<&'a str> {
    match parts {
        [_, _, groups, name, ..] if groups.eq_ignore_ascii_case("resourceGroups") => Some(name),
        _ => None,
    }
}

/// Returns the action that a request takes; nothing for what everybody may ask who is signed in.
fn action(verb: Verb, parts: &[&str]) -> Option<String> {
    let at = parts.iter().rposition(|part| part.eq_ignore_ascii_case("providers"));
    let provider = at.and_then(|at| Some((*parts.get(at + 1)?, parts.get(at + 2..)?)));
    let (kinds, odd) = match provider {
        Some((namespace, rest)) if !rest.is_empty() => {
            let kinds: Vec<&str> = rest.iter().step_by(2).copied().collect();
            (format!("{namespace}/{}", kinds.join("/")), rest.len() % 2 == 1)
        }
        _ => {
            let kinds: Vec<&str> = match parts {
                [_] | [] => return None,
                [first, ..] if !first.eq_ignore_ascii_case("subscriptions") => return None,
                _ => parts.iter().step_by(2).copied().collect(),
            };
            // The platform's own spelling of what clients write in one case or the other.
            let kind = kinds.join("/").replace("resourcegroups", "resourceGroups");
            (format!("Microsoft.Resources/{kind}"), false)
        }
    };
    let verb_name = match verb {
        Verb::Get | Verb::Head => "read",
        Verb::Put | Verb::Patch => "write",
        Verb::Delete => "delete",
        Verb::Post if odd => "action",
        Verb::Post => return None,
    };
    Some(format!("{kinds}/{verb_name}"))
}

/// Tells whether a pattern covers an action; a star stands for anything, slashes as well.
fn fits(pattern: &str, action: &str) -> bool {
    let (pattern, action) = (pattern.to_ascii_lowercase(), action.to_ascii_lowercase());
    let mut literals = pattern.split('*');
    let Some(mut rest) = literals.next().and_then(|first| action.strip_prefix(first)) else { return false };
    let mut literals = literals.peekable();
    if literals.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(literal) = literals.next() {
        if literals.peek().is_none() {
            return rest.ends_with(literal);
        }
        let Some((_, behind)) = rest.split_once(literal) else { return false };
        rest = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(verb: Verb, path: &str, expected: Option<&str>) {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        assert_eq!(action(verb, &parts).as_deref(), expected, "{path}");
    }

    #[test]
    fn a_request_takes_the_action_of_its_path() {
        check(Verb::Get, "/subscriptions", None);
        check(Verb::Get, "/subscriptions/s", Some("Microsoft.Resources/subscriptions/read"));
        check(
            Verb::Head,
            "/subscriptions/s/resourcegroups/g",
            Some("Microsoft.Resources/subscriptions/resourceGroups/read"),
        );
        let group = "/subscriptions/s/resourceGroups/g/providers";
        check(
            Verb::Get,
            &format!("{group}/Microsoft.Compute/virtualMachines/v"),
            Some("Microsoft.Compute/virtualMachines/read"),
        );
        check(
            Verb::Get,
            &format!("{group}/Microsoft.Compute/virtualMachines"),
            Some("Microsoft.Compute/virtualMachines/read"),
        );
        check(
            Verb::Post,
            &format!("{group}/Microsoft.Compute/virtualMachines/v/runCommand"),
            Some("Microsoft.Compute/virtualMachines/runCommand/action"),
        );
        check(
            Verb::Put,
            &format!("{group}/Microsoft.Network/networkWatchers/w/packetCaptures/c"),
            Some("Microsoft.Network/networkWatchers/packetCaptures/write"),
        );
        check(
            Verb::Get,
            "/subscriptions/s/providers/Microsoft.Network/locations/eastus/operations/o",
            Some("Microsoft.Network/locations/operations/read"),
        );
    }

    #[test]
    fn a_star_stands_for_anything() {
        for pattern in [
            "*",
            "*/read",
            "Microsoft.Network/*",
            "microsoft.network/*/READ",
            "Microsoft.Network/x/read",
            "*x*",
        ] {
            assert!(fits(pattern, "Microsoft.Network/x/read"), "{pattern}");
        }
        for pattern in ["", "Microsoft.Network", "*/write", "Microsoft.Compute/*", "*/y/read", "*read/"] {
            assert!(!fits(pattern, "Microsoft.Network/x/read"), "{pattern}");
        }
    }
}
