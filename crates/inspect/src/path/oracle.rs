//! What the platform itself says of a flow, held against the judgement.
//!
//! Goes in: what `az network watcher test-ip-flow`, `show-next-hop`, `test-connectivity` or `run-configuration-diagnostic` printed, alone or
//! several in a list, and a report.
//! Comes out: for each whether both say the same; nothing where it cannot be compared. Never: another verdict, as the platform does not see
//! into machines and answers for one interface and one moment.

use std::net::IpAddr;

use serde::Serialize;
use serde_json::Value;

use super::fault::Fault;
use super::flow::Protocol;
use super::hop::{Kind, Verdict};
use super::report::{Report, ReportedHop};
use crate::net::{DocumentError, Fields, document, parse_prefix};

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

/// Where the first route of a flow leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstRoute {
    /// No route is asked on the path.
    NotAsked,
    /// It was not read.
    NotKnown,
    /// The packet is dropped there.
    Nowhere,
    /// To something that takes the packet.
    Onward,
}

/// What was judged of a flow, as far as the platform can be asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFacts {
    /// Who calls.
    pub src: IpAddr,
    /// Who is called.
    pub dst: IpAddr,
    /// The port that is called.
    pub dst_port: Option<u16>,
    /// The protocol.
    pub protocol: Protocol,
    /// `PASSES`, `BLOCKED`, `DEGRADED` or `INDETERMINATE`.
    pub verdict: String,
    /// The codes of the faults that stop or degrade it.
    pub faults: Vec<String>,
    /// The names of the security rules that deny it.
    pub denied_by: Vec<String>,
    /// The names of the security rules that let it through.
    pub allowed_by: Vec<String>,
    /// Where its first route leads.
    pub first_route: FirstRoute,
}

impl Report {
    /// Compares what the platform printed about the same flow.
    ///
    /// # Errors
    /// Fails if the text is no JSON, or none of the answers of these commands.
    pub fn compared(&self, text: &str) -> Result<Vec<PlatformVerdict>, DocumentError> {
        FlowFacts::of(self).compared(text)
    }
}

impl FlowFacts {
    fn of(report: &Report) -> Self {
        let hops = || report.forward.iter().chain(&report.back);
        let is_group = |hop: &&ReportedHop| matches!(hop.kind, Kind::GroupInbound | Kind::GroupOutbound);
        let rules = |is_denied: bool| {
            let own =
                move |hop: &&ReportedHop| is_group(hop) && (hop.fault == Some(Fault::NsgDeny)) == is_denied;
            let names = hops().filter(own).filter_map(|hop| hop.rule.as_deref());
            names.flat_map(|rules| rules.split(", ")).map(str::to_owned).collect()
        };
        let nowhere = [Fault::RouteBlackhole, Fault::RouteDeadNva, Fault::NoPath];
        let first_route = match report.forward.iter().find(|hop| hop.kind == Kind::Route) {
            None => FirstRoute::NotAsked,
            // Of a route that was not read nobody knows where it leads.
            Some(hop) if hop.verdict == Verdict::Unknown => FirstRoute::NotKnown,
            Some(hop) if hop.fault.is_some_and(|fault| nowhere.contains(&fault)) => FirstRoute::Nowhere,
            Some(_) => FirstRoute::Onward,
        };
        Self {
            src: report.flow.src,
            dst: report.flow.dst,
            dst_port: report.flow.dst_port,
            protocol: report.flow.protocol,
            verdict: report.verdict.to_owned(),
            faults: report.causes.iter().map(|cause| cause.fault.as_str().to_owned()).collect(),
            denied_by: rules(true),
            allowed_by: rules(false),
            first_route,
        }
    }

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
        let found: Option<Vec<Vec<PlatformVerdict>>> = compared.collect();
        found
            .map(|all| all.concat())
            .filter(|all| !all.is_empty())
            .ok_or(DocumentError::WrongShape { expected: "verdicts of Network Watcher" })
    }

    fn compared_one(&self, answer: &Value) -> Option<Vec<PlatformVerdict>> {
        if let Some(results) = answer.field("results").and_then(Value::as_array) {
            return results.iter().map(|result| self.diagnostic(result)).collect();
        }
        if let Some(access) = answer.text("access") {
            return Some(vec![self.ip_flow(access, answer.text("ruleName").unwrap_or_default())]);
        }
        if let Some(kind) = answer.text("nextHopType") {
            return Some(vec![self.next_hop(kind, answer.text("nextHopIpAddress"))]);
        }
        let status = answer.text("connectionStatus")?;
        Some(vec![self.connectivity(status, &issues(answer))])
    }

    /// Compares one result of a configuration diagnostic: the question that was asked, and the rule that decides at each group.
    fn diagnostic(&self, result: &Value) -> Option<PlatformVerdict> {
        let profile = result.field("profile")?;
        let groups = result.field("networkSecurityGroupResult")?;
        let access = groups.text("securityRuleAccessResult")?;
        let evaluated = groups.field("evaluatedNetworkSecurityGroups").and_then(Value::as_array);
        let matched = evaluated.into_iter().flatten().filter_map(|group| group.field("matchedRule"));
        let decides =
            |rule: &&Value| rule.text("action").is_some_and(|action| action.eq_ignore_ascii_case(access));
        let rule = matched.filter(decides).find_map(|rule| rule.text("ruleName")).unwrap_or_default();
        let command = "run-configuration-diagnostic";
        if self.is_asked(profile) {
            return Some(PlatformVerdict { command, ..self.ip_flow(access, rule) });
        }
        let said = format!("{access} by {}", plain_rule(rule));
        Some(PlatformVerdict { command, said, agrees: None, why: "it is about another flow".to_owned() })
    }

    /// True if the question of a configuration diagnostic is this flow.
    fn is_asked(&self, profile: &Value) -> bool {
        let holds = |name: &str, address: IpAddr| {
            let text = profile.text(name).unwrap_or("*");
            text == "*" || parse_prefix(text).is_some_and(|prefix| prefix.contains(&address))
        };
        let port = profile.text("destinationPort").unwrap_or("*");
        let is_port = port == "*" || port.parse().ok() == self.dst_port;
        let protocol = profile.text("protocol").unwrap_or("*");
        let is_protocol =
            ["*", "any", self.protocol.as_str()].iter().any(|word| protocol.eq_ignore_ascii_case(word));
        is_port && is_protocol && holds("source", self.src) && holds("destination", self.dst)
    }

    fn is_open(&self) -> bool {
        self.verdict == "INDETERMINATE"
    }

    fn ip_flow(&self, access: &str, rule: &str) -> PlatformVerdict {
        let name = plain_rule(rule);
        let names = |rules: &[String]| rules.iter().any(|own| plain_rule(own) == name);
        let (agrees, why) = if access.eq_ignore_ascii_case("deny") {
            match (names(&self.denied_by), self.denied_by.is_empty()) {
                (true, _) => (Some(true), format!("the rule {name} denies it here, too")),
                (false, false) => (Some(false), "another rule denies it here".to_owned()),
                (false, true) if self.is_open() => (None, "it is not decided here".to_owned()),
                (false, true) => (Some(false), "no security rule denies it here".to_owned()),
            }
        } else if access.eq_ignore_ascii_case("allow") {
            match (self.denied_by.is_empty(), names(&self.allowed_by)) {
                (_, true) => (Some(true), format!("the rule {name} lets it through here, too")),
                (true, false) if self.is_open() => (None, "it is not decided here".to_owned()),
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
        let (agrees, why) = match (self.first_route, kind.eq_ignore_ascii_case("none")) {
            (FirstRoute::NotKnown, _) => (None, "it is not decided here"),
            (FirstRoute::NotAsked, _) => (None, "no route is asked here"),
            (FirstRoute::Nowhere, true) => (Some(true), "the route leads nowhere here, too"),
            (FirstRoute::Nowhere, false) => (Some(false), "the route leads nowhere here"),
            (FirstRoute::Onward, true) => (Some(false), "the route leads on here"),
            (FirstRoute::Onward, false) => (Some(true), "the route leads on here, too"),
        };
        let said = address.map_or_else(|| kind.to_owned(), |address| format!("{kind} {address}"));
        PlatformVerdict { command: "show-next-hop", said, agrees, why: why.to_owned() }
    }

    fn connectivity(&self, status: &str, issues: &[String]) -> PlatformVerdict {
        let passes = matches!(self.verdict.as_str(), "PASSES" | "DEGRADED");
        let is = |words: &[&str]| words.iter().any(|word| status.eq_ignore_ascii_case(word));
        let reached = if is(&["reachable", "connected", "degraded"]) {
            Some(true)
        } else {
            is(&["unreachable", "disconnected"]).then_some(false)
        };
        let is_said = |issue: &&Issue| issues.iter().any(|word| word.eq_ignore_ascii_case(issue.word));
        let known: Vec<&Issue> = ISSUES.iter().filter(is_said).collect();
        let is_cause = |issue: &&Issue| {
            issue.faults.iter().any(|fault| self.faults.iter().any(|own| own == fault.as_str()))
        };
        let (agrees, why) = match (reached, self.verdict.as_str()) {
            (None, _) => (None, format!("`{status}` is not known here")),
            (_, "INDETERMINATE") => (None, "it is not decided here".to_owned()),
            (Some(false), "BLOCKED") if !known.is_empty() && !known.iter().any(is_cause) => {
                (Some(false), format!("it is BLOCKED here for another reason: {}", self.faults.join(", ")))
            }
            (Some(reached), own) => (Some(reached == passes), format!("it is {own} here")),
        };
        let named = if issues.is_empty() { String::new() } else { format!(": {}", issues.join(", ")) };
        PlatformVerdict { command: "test-connectivity", said: format!("{status}{named}"), agrees, why }
    }
}

/// What a hop of a connectivity check names.
struct Issue {
    word: &'static str,
    /// The same thing, as it is called here.
    faults: &'static [Fault],
}

/// The issues of the network. Those of the check itself, as `AgentStopped`, say nothing of the flow.
const ISSUES: &[Issue] = &[
    Issue { word: "NetworkSecurityRule", faults: &[Fault::NsgDeny] },
    Issue {
        word: "UserDefinedRoute",
        faults: &[Fault::RouteBlackhole, Fault::RouteDeadNva, Fault::RouteDetour],
    },
    Issue {
        word: "GuestFirewall",
        faults: &[
            Fault::GuestFirewallDrop,
            Fault::GuestFirewallReject,
            Fault::GuestFirewallPolicyDrop,
            Fault::Fail2banBan,
            Fault::ContainerFirewallChange,
        ],
    },
    Issue {
        word: "NoListenerOnDestination",
        faults: &[Fault::TcpRefused, Fault::UdpRefused, Fault::NotListening],
    },
    Issue {
        word: "NoRouteLearned",
        faults: &[Fault::BgpRouteMissing, Fault::BgpPeerDown, Fault::RoutePropagationOff],
    },
    Issue {
        word: "DnsResolution",
        faults: &[
            Fault::DnsServerWrong,
            Fault::DnsForwarderMissing,
            Fault::PrivateDnsUnlinked,
            Fault::PrivateDnsShadow,
            Fault::PrivateDnsRecordMissing,
            Fault::PrivateDnsRecordStale,
        ],
    },
    Issue { word: "VMNotRunning", faults: &[Fault::VmStopped] },
];

/// Returns the name of a rule without what stands before it: `UserRule_no` and `securityRules/no` are `no`.
fn plain_rule(name: &str) -> String {
    let own = name.rsplit('/').next().unwrap_or(name);
    let own = own.strip_prefix("UserRule_").or_else(|| own.strip_prefix("DefaultRule_")).unwrap_or(own);
    own.to_ascii_lowercase()
}

/// Returns the issues that hops of a connectivity check and the links between them name, each once.
fn issues(answer: &Value) -> Vec<String> {
    let list = |of: &Value, name: &str| of.field(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    let of_hop = |hop: &Value| {
        let links = list(hop, "links").into_iter().flat_map(|link| list(&link, "issues"));
        list(hop, "issues").into_iter().chain(links).collect::<Vec<Value>>()
    };
    for issue in list(answer, "hops").iter().flat_map(of_hop) {
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
        let unreachable = |issue: &str| json!({"connectionStatus": "Unreachable", "hops": [{"links": [{"issues": [{"type": issue}]}]}]});
        assert_eq!(agrees(&closed, &unreachable("NetworkSecurityRule")), Some(true));
        assert_eq!(agrees(&closed, &unreachable("GuestFirewall")), Some(false));
        assert_eq!(agrees(&closed, &unreachable("AgentStopped")), Some(true));
        let both = open.compared(&json!([deny, reached("Unreachable")]).to_string()).unwrap();
        assert_eq!(both[1].said, "Unreachable: GuestFirewall");
        assert!(open.compared("{}").is_err() && open.compared("[]").is_err());
    }

    #[test]
    fn a_configuration_diagnostic_is_compared_where_it_asks_the_same() {
        let (open, closed) = (draft_report(false), draft_report(true));
        let asked = |port: &str, access: &str, rule: &str| {
            json!({"results": [{
                "profile": {"direction": "Inbound", "protocol": "TCP", "source": "*", "destination": closed.flow.dst.to_string(), "destinationPort": port},
                "networkSecurityGroupResult": {"securityRuleAccessResult": access, "evaluatedNetworkSecurityGroups": [
                    {"matchedRule": {"ruleName": "DefaultRule_AllowVnetInBound", "action": "Allow"}},
                    {"matchedRule": {"ruleName": rule, "action": access}}]}}]})
        };
        assert_eq!(agrees(&closed, &asked("5432", "Deny", "UserRule_no")), Some(true));
        assert_eq!(agrees(&open, &asked("5432", "Deny", "UserRule_no")), Some(false));
        assert_eq!(agrees(&closed, &asked("22", "Deny", "UserRule_no")), None);
        assert_eq!(
            closed.compared(&asked("22", "Deny", "UserRule_no").to_string()).unwrap()[0].said,
            "Deny by no"
        );
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
