//! What the platform itself says of a flow, held against the judgement.
//!
//! Goes in: what `az network watcher test-ip-flow`, `show-next-hop` or `test-connectivity` printed, alone or several in a list, and a report.
//! Comes out: for each whether both say the same; nothing where it cannot be compared. Never: another verdict, as the platform does not see
//! into machines and answers for one interface and one moment.

use serde::Serialize;
use serde_json::Value;

use super::fault::Fault;
use super::hop::{Kind, Verdict};
use super::report::{Report, ReportedHop};
use crate::net::{DocumentError, Fields, document};

/// A verdict of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlatformVerdict {
    /// The command that printed it.
    pub command: &'static str,
    /// What it says.
    pub said: String,
    /// Whether the judgement says the same; `None` if they cannot be compared.
    pub agrees: Option<bool>,
    /// Why.
    pub why: String,
}

impl Report {
    /// Compares what the platform printed about the same flow.
    ///
    /// # Errors
    /// Fails if the text is no JSON, or none of the answers of these commands.
    pub fn compared(&self, text: &str) -> Result<Vec<PlatformVerdict>, DocumentError> {
        let whole = document(text)?;
        let answers: Vec<&Value> = match &whole {
            Value::Array(all) => all.iter().collect(),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => {
                vec![other]
            }
        };
        let compared = answers.into_iter().map(|answer| self.compared_one(answer));
        let found: Option<Vec<PlatformVerdict>> = compared.collect();
        found
            .filter(|all| !all.is_empty())
            .ok_or(DocumentError::WrongShape { expected: "verdicts of Network Watcher" })
    }

    fn compared_one(&self, answer: &Value) -> Option<PlatformVerdict> {
        if let Some(access) = answer.text("access") {
            return Some(self.ip_flow(access, answer.text("ruleName").unwrap_or_default()));
        }
        if let Some(kind) = answer.text("nextHopType") {
            return Some(self.next_hop(kind, answer.text("nextHopIpAddress")));
        }
        let status = answer.text("connectionStatus")?;
        Some(self.connectivity(status, &issues(answer)))
    }

    fn hops(&self, kinds: &[Kind]) -> impl Iterator<Item = &ReportedHop> {
        let all = self.forward.iter().chain(&self.back);
        all.filter(move |hop| kinds.contains(&hop.kind))
    }

    fn ip_flow(&self, access: &str, rule: &str) -> PlatformVerdict {
        let name = plain_rule(rule);
        let groups: Vec<&ReportedHop> = self.hops(&[Kind::GroupInbound, Kind::GroupOutbound]).collect();
        let is_denied = |hop: &&&ReportedHop| hop.fault == Some(Fault::NsgDeny);
        let names = |hop: &&&ReportedHop| {
            hop.rule.as_deref().is_some_and(|own| own.split(", ").any(|own| plain_rule(own) == name))
        };
        let denied: Vec<&&ReportedHop> = groups.iter().filter(is_denied).collect();
        let (agrees, why) = if access.eq_ignore_ascii_case("deny") {
            match (denied.iter().any(names), denied.is_empty()) {
                (true, _) => (Some(true), format!("the rule {name} denies it here, too")),
                (false, false) => (Some(false), "another rule denies it here".to_owned()),
                (false, true) if self.verdict == "INDETERMINATE" => {
                    (None, "it is not decided here".to_owned())
                }
                (false, true) => (Some(false), "no security rule denies it here".to_owned()),
            }
        } else if access.eq_ignore_ascii_case("allow") {
            let allows = groups.iter().filter(|hop| !is_denied(hop)).any(|hop| names(&hop));
            match (denied.is_empty(), allows) {
                (_, true) => (Some(true), format!("the rule {name} lets it through here, too")),
                (true, false) if self.verdict == "INDETERMINATE" => {
                    (None, "it is not decided here".to_owned())
                }
                (true, false) => (Some(true), "no security rule denies it here".to_owned()),
                (false, false) => (None, "the denial here is of another interface or direction".to_owned()),
            }
        } else {
            (None, format!("`{access}` is not known here"))
        };
        let said = if name.is_empty() { access.to_owned() } else { format!("{access} by {name}") };
        PlatformVerdict { command: "test-ip-flow", said, agrees, why }
    }

    fn next_hop(&self, kind: &str, address: Option<&str>) -> PlatformVerdict {
        let route = self.forward.iter().find(|hop| hop.kind == Kind::Route);
        // Of a route that was not read nobody knows where it leads.
        let first = route.filter(|hop| hop.verdict != Verdict::Unknown);
        let nowhere = [Fault::RouteBlackhole, Fault::RouteDeadNva, Fault::NoPath];
        let leads_nowhere = first.and_then(|hop| hop.fault).map(|fault| nowhere.contains(&fault));
        let is_none = kind.eq_ignore_ascii_case("none");
        let (agrees, why) = match (first.is_some(), leads_nowhere, is_none) {
            (false, ..) if route.is_some() => (None, "it is not decided here".to_owned()),
            (false, ..) => (None, "no route is asked here".to_owned()),
            (true, Some(true), true) => (Some(true), "the route leads nowhere here, too".to_owned()),
            (true, Some(true), false) => (Some(false), "the route leads nowhere here".to_owned()),
            (true, Some(false) | None, true) => (Some(false), "the route leads on here".to_owned()),
            (true, Some(false) | None, false) => (Some(true), "the route leads on here, too".to_owned()),
        };
        let said = address.map_or_else(|| kind.to_owned(), |address| format!("{kind} {address}"));
        PlatformVerdict { command: "show-next-hop", said, agrees, why }
    }

    fn connectivity(&self, status: &str, issues: &[String]) -> PlatformVerdict {
        let passes = matches!(self.verdict, "PASSES" | "DEGRADED");
        let is = |words: &[&str]| words.iter().any(|word| status.eq_ignore_ascii_case(word));
        let reached = if is(&["reachable", "connected", "degraded"]) {
            Some(true)
        } else {
            is(&["unreachable", "disconnected"]).then_some(false)
        };
        let (agrees, why) = match (reached, self.verdict) {
            (None, _) => (None, format!("`{status}` is not known here")),
            (_, "INDETERMINATE") => (None, "it is not decided here".to_owned()),
            (Some(reached), own) => (Some(reached == passes), format!("it is {own} here")),
        };
        let named = if issues.is_empty() { String::new() } else { format!(": {}", issues.join(", ")) };
        PlatformVerdict { command: "test-connectivity", said: format!("{status}{named}"), agrees, why }
    }
}

/// Returns the name of a rule without what stands before it: `UserRule_no` and `securityRules/no` are `no`.
fn plain_rule(name: &str) -> String {
    let own = name.rsplit('/').next().unwrap_or(name);
    let own = own.strip_prefix("UserRule_").or_else(|| own.strip_prefix("DefaultRule_")).unwrap_or(own);
    own.to_ascii_lowercase()
}

/// Returns the issues that hops of a connectivity check name, each once.
fn issues(answer: &Value) -> Vec<String> {
    let list = |of: &Value, name: &str| of.field(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for issue in list(answer, "hops").iter().flat_map(|hop| list(hop, "issues")) {
        if let Some(kind) = issue.text("type").filter(|kind| !found.iter().any(|own| own == kind)) {
            found.push(kind.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::tests::draft::Draft;
    use crate::path::{Estate, Protocol};

    /// The report about a flow that a rule denies, or that nothing stops.
    fn draft_report(is_closed: bool) -> Report {
        let draft = Draft::two();
        let deny = ("no", 110, "Inbound", "Deny", "Tcp", "*", "*", "5432");
        let draft = if is_closed { draft.rule("app/db", deny) } else { draft };
        let estate = Estate::of(&draft.bundle());
        estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432)).report(&estate)
    }

    fn agrees(report: &Report, answer: &Value) -> Option<bool> {
        report.compared(&answer.to_string()).unwrap()[0].agrees
    }

    #[test]
    fn the_platform_and_the_judgement_are_compared() {
        let (open, closed) = (draft_report(false), draft_report(true));
        let deny = json!({"access": "Deny", "ruleName": "UserRule_no"});
        let allow = json!({"access": "Allow", "ruleName": "defaultSecurityRules/AllowVnetInBound"});
        assert_eq!((agrees(&closed, &deny), agrees(&open, &deny)), (Some(true), Some(false)));
        assert_eq!(agrees(&open, &allow), Some(true));
        let other = json!({"access": "Deny", "ruleName": "securityRules/else"});
        assert_eq!(agrees(&closed, &other), Some(false));
        let hop = |kind: &str| json!({"nextHopType": kind, "routeTableId": "System Route"});
        assert_eq!(
            (agrees(&open, &hop("VnetLocal")), agrees(&open, &hop("None"))),
            (Some(true), Some(false))
        );
        let reached = |status: &str| json!({"connectionStatus": status, "hops": [{"issues": [{"type": "GuestFirewall"}]}]});
        assert_eq!(agrees(&open, &reached("Reachable")), Some(true));
        assert_eq!(
            (agrees(&closed, &reached("Reachable")), agrees(&closed, &reached("Unknown"))),
            (Some(false), None)
        );
        let both = open.compared(&json!([deny, reached("Unreachable")]).to_string()).unwrap();
        assert_eq!(both[1].said, "Unreachable: GuestFirewall");
        assert!(open.compared("{}").is_err() && open.compared("[]").is_err());
    }

    #[test]
    fn with_what_was_not_read_nothing_agrees() {
        let draft = Draft::two().rule("app/db", ("x", 100, "Inbound", "Allow", "*", "*", "*", "*"));
        let mut bundle = draft.bundle();
        (bundle.cloud.groups, bundle.cloud.networks) = (None, None);
        let estate = Estate::of(&bundle);
        let report = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432)).report(&estate);
        assert_eq!(report.verdict, "INDETERMINATE");
        for answer in [
            json!({"access": "Allow", "ruleName": "defaultSecurityRules/AllowVnetInBound"}),
            json!({"access": "Deny", "ruleName": "UserRule_no"}),
            json!({"nextHopType": "VnetLocal", "routeTableId": "System Route"}),
            json!({"connectionStatus": "Reachable"}),
        ] {
            assert_eq!(agrees(&report, &answer), None, "{answer}");
        }
    }
}
