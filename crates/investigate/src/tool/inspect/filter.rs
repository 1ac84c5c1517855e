//! `detect_config_drift`: the packet filter of a guest, as it is or against a baseline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Direction, Guest, Protocol, Provider, Refused, refuse, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use super::packet::{Chain, Flow};
use crate::suspect::{Layer, Suspect, plain, stops};
use crate::tool::call_replay::CallReplay;
use crate::tool::{FileTask, Site, StoredKind};
use ghost_base::SessionId;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::firewall::WANTED;
use ghost_inspect::netfilter::{Bundle, Document, Host, HostDiff, Snapshot, Status, diff_hosts, open};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine; the one that the incident is about, where none is given: the destination, or the source where it is outbound.
    #[serde(default)]
    vm_name: String,
    /// How it is reached; by the platform, where none is given.
    #[serde(default)]
    #[schemars(with = "Provider")]
    provider: Option<Provider>,
    /// The name of the baseline to compare with.
    #[serde(default)]
    #[schemars(with = "String")]
    compare_session_id: Option<String>,
    /// Keep what is found as a baseline.
    #[serde(default)]
    is_baseline: bool,
    /// The name under which it is kept.
    #[serde(default)]
    #[schemars(with = "String")]
    session_id: Option<String>,
    /// Where a packet comes from that is walked through the rules, too.
    #[serde(default)]
    #[schemars(with = "String")]
    src_ip: Option<String>,
    /// Where it goes.
    #[serde(default)]
    #[schemars(with = "String")]
    dst_ip: Option<String>,
    /// Its protocol; tcp where a port is given, else icmp.
    #[serde(default)]
    #[schemars(with = "Protocol")]
    proto: Option<Protocol>,
    /// To which port it goes.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 1, max = 65535))]
    dst_port: Option<u16>,
    /// The direction, seen from the machine; inbound where none is given.
    #[serde(default)]
    #[schemars(with = "Direction")]
    direction: Option<Direction>,
    /// Every result says which rules stop what; asking for it changes nothing.
    #[serde(default)]
    #[expect(dead_code, reason = "every result contains the explanation")]
    explain: bool,
}

/// The checked arguments.
pub(super) struct Request {
    guest: Guest,
    before: Option<SessionId>,
    is_baseline: bool,
    keep: Option<SessionId>,
    flow: Option<Flow>,
}

/// See the module.
pub(super) struct DetectConfigDrift;

impl Inspector for DetectConfigDrift {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = "detect_config_drift";
    const FINDS_MACHINE: bool = true;
    const DESCRIPTION: &'static str = "Reads the packet filter of a machine, all rulesets of it, and names every rule and policy that \
        stops traffic; with a baseline also what changed since, with a flow also what becomes of it. The platform knows nothing of these \
        rules: ask the destination for what arrives, the source for what leaves. Examples: {\"reasoning\":\"the security group allows 5001, \
        and nothing answers\",\"vm_name\":\"web-1\",\"src_ip\":\"10.0.1.4\",\"dst_ip\":\"10.0.1.5\",\"proto\":\"tcp\",\"dst_port\":5001}, \
        {\"reasoning\":\"what did the hardening change?\",\"vm_name\":\"web-1\",\"compare_session_id\":\"fw_before\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        let machine = argument::name("vm_name", &arguments.vm_name)?;
        let found = resource_group(site, group);
        let resource_group =
            if arguments.provider == Some(Provider::Ssh) { found.ok() } else { Some(found?) };
        let before = argument::session("compare_session_id", arguments.compare_session_id.as_deref())?;
        let keep = argument::session("session_id", arguments.session_id.as_deref())?;
        if before.is_some() && before == keep {
            return Err(refuse("session_id names the baseline that is compared with; give another name"));
        }
        Ok(Request {
            guest: Guest { machine, resource_group, provider: arguments.provider },
            before,
            is_baseline: arguments.is_baseline,
            keep,
            flow: flow(arguments)?,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let before = request.before.as_ref().map(|session| recalled(session, replay)).transpose()?;
        let bundle = request.guest.gather(&WANTED, site, replay)?;
        let (machine, host) = (request.guest.machine.as_str(), Host::read(&bundle));
        let mut inspection = Inspection::default();
        if request.is_baseline || request.keep.is_some() {
            keep(request, bundle, replay, &mut inspection)?;
        }
        let stops = stops(machine, &host);
        if let Some(flow) = &request.flow {
            // What decides over the flow comes first.
            let found = flow.walk(&host, &stops, &mut inspection)?;
            inspection.suspect(found);
        }
        let all: Vec<Suspect> = stops.into_iter().flat_map(|stop| stop.suspects).collect();
        match &before {
            Some(before) => compared(machine, before, &host, all, &mut inspection),
            None => inspection.suspect(all),
        }
        facts(&host, &mut inspection);
        if host.unread.is_empty() {
            inspection.looked(Layer::Guest, machine);
        } else {
            inspection.notes.push(format!("{} sources of rules could not be read", host.unread.len()));
        }
        Ok(inspection)
    }
}

fn flow(arguments: &Arguments) -> Result<Option<Flow>, Refused> {
    let source = argument::address("src_ip", arguments.src_ip.as_deref())?;
    let destination = argument::address("dst_ip", arguments.dst_ip.as_deref())?;
    let protocol = arguments.proto.or(arguments.dst_port.map(|_| Protocol::Tcp)).unwrap_or(Protocol::Icmp);
    match (source, destination) {
        (Some(source), Some(destination)) => {
            let chain = match arguments.direction {
                Some(Direction::Outbound) => Chain::Output,
                Some(Direction::Inbound) | None => Chain::Input,
            };
            Flow::new(chain, (source, destination), protocol, arguments.dst_port).map(Some)
        }
        (None, None) if arguments.dst_port.is_none() && arguments.proto.is_none() => Ok(None),
        (None | Some(_), _) => Err(refuse("a flow needs both src_ip and dst_ip")),
    }
}

fn recalled(session: &SessionId, replay: &mut CallReplay<'_, '_>) -> Result<Host, Unfinished> {
    let (kind, name) = (StoredKind::Netfilter.as_str().to_owned(), session.to_string());
    let text = replay.file_task(FileTask::Recall { kind, session: name })?;
    if text.trim() == "null" {
        let hint = "look at the name in the question; a baseline is kept with is_baseline";
        return Err(Issue::hinted(format!("there is no baseline {session}"), hint).into());
    }
    match open(&text) {
        Ok(Document::Host(host)) => Ok(*host),
        Ok(Document::Ruleset(_)) => {
            Err(Issue::new(format!("the baseline {session} is no whole machine")).into())
        }
        Err(error) => Err(Issue::new(format!("the baseline {session}: {error}")).into()),
    }
}

fn keep(
    request: &Request,
    bundle: Bundle,
    replay: &mut CallReplay<'_, '_>,
    inspection: &mut Inspection,
) -> Result<(), Unfinished> {
    let session = request.keep.as_ref().unwrap_or(&replay.context().state.session).to_string();
    let scope = request.guest.machine.as_str();
    let moment = replay.now().to_string();
    let trouble = |why: String| Issue::new(format!("keeping the rules of {scope}: {why}"));
    let snapshot = Snapshot::take(bundle, &session, scope, &moment, "ghost", request.is_baseline)
        .map_err(|error| trouble(error.to_string()))?;
    let text = serde_json::to_string(&snapshot).map_err(|error| trouble(error.to_string()))?;
    replay.file_task(FileTask::Keep {
        kind: StoredKind::Netfilter.as_str().to_owned(),
        session: session.clone(),
        text,
    })?;
    inspection.fact("kept", session);
    Ok(())
}

/// Puts what came since a baseline first, and says what changed.
fn compared(machine: &str, before: &Host, host: &Host, all: Vec<Suspect>, inspection: &mut Inspection) {
    let old: Vec<Suspect> = stops(machine, before).into_iter().flat_map(|stop| stop.suspects).collect();
    let (mut came, stayed): (Vec<Suspect>, Vec<Suspect>) =
        all.into_iter().partition(|one| !old.iter().any(|other| other.is(one)));
    for one in &mut came {
        one.why.push_str("; it was not so in the baseline");
    }
    let found = diff_hosts(before, host);
    let new: Vec<String> = came.iter().map(|one| one.object.clone()).collect();
    inspection
        .fact("compared", json!({"status": status(&found), "changes": changes(&found), "new_suspects": new}));
    inspection.suspect(came);
    inspection.suspect(stayed);
    for own in found.changes.iter().filter(|own| !own.change.churn) {
        let rule = own.change.rule.as_deref().unwrap_or_default();
        inspection.line(&format!("changed: {} {} {rule}", own.source, own.change.detail));
    }
    if found.status == Status::Inconclusive {
        inspection
            .notes
            .push("something could not be read on one side, so that nothing says CLEAN".to_owned());
    } else {
        inspection.looked(Layer::GuestDrift, machine);
    }
}

fn status(found: &HostDiff) -> &'static str {
    match found.status {
        Status::Clean => "CLEAN",
        Status::Drift => "DRIFT",
        Status::Inconclusive => "INCONCLUSIVE",
    }
}

fn changes(found: &HostDiff) -> Vec<Value> {
    let real = found.changes.iter().filter(|own| !own.change.churn).take(20);
    real.map(|own| {
        let chain = own.change.chain.as_deref().map(plain);
        json!({"source": own.source, "kind": own.change.kind, "table": plain(&own.change.table), "chain": chain,
            "severity": own.change.severity})
    })
    .collect()
}

fn facts(host: &Host, inspection: &mut Inspection) {
    inspection.fact("framework", host.framework.framework);
    inspection.fact("rules", host.rules);
    for (source, ruleset) in host.rulesets() {
        for table in &ruleset.tables {
            for chain in &table.chains {
                if let Some(policy) = chain.policy.as_deref().filter(|_| chain.base.is_some()) {
                    inspection.line(&format!("{source} {}/{} policy {policy}", table.name, chain.name));
                }
                for rule in &chain.rules {
                    inspection.line(&format!(
                        "{source} {}/{} {}: {}",
                        table.name, chain.name, rule.position, rule.raw
                    ));
                }
            }
        }
    }
    for unread in &host.unread {
        inspection.line(&format!("not read: {}: {}", unread.place, unread.what));
    }
}
