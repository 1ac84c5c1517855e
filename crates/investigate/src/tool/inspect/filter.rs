//! `detect_config_drift`: the packet filter of a guest, as it is or against a baseline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Direction, Protocol, Provider, Refused, place, refuse};
use super::guest::Guest;
use super::inspecting::Inspector;
use super::packet::{Chain, Flow};
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, Suspect, plain, stops};
use crate::tool::errand::Trail;
use crate::tool::{Chore, Kept, Site};
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
    /// Which way, seen from the machine; inbound where none is given.
    #[serde(default)]
    #[schemars(with = "Direction")]
    direction: Option<Direction>,
    /// Every result says which rules stop what; asking for it changes nothing.
    #[serde(default)]
    #[expect(dead_code, reason = "what it asks for is always told")]
    explain: bool,
}

/// What is asked.
pub(super) struct Wish {
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
    type Wish = Wish;
    const NAME: &'static str = "detect_config_drift";
    const FINDS_MACHINE: bool = true;
    const DESCRIPTION: &'static str = "Reads the packet filter of a machine, all rulesets of it, and names every rule and policy that \
        stops traffic; with a baseline also what changed since, with a flow also what becomes of it. The platform knows nothing of these \
        rules: ask the destination for what arrives, the source for what leaves. Examples: {\"reasoning\":\"the security group allows 5001, \
        and nothing answers\",\"vm_name\":\"web-1\",\"src_ip\":\"10.0.1.4\",\"dst_ip\":\"10.0.1.5\",\"proto\":\"tcp\",\"dst_port\":5001}, \
        {\"reasoning\":\"what did the hardening change?\",\"vm_name\":\"web-1\",\"compare_session_id\":\"fw_before\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Wish, Refused> {
        let machine = argument::name("vm_name", &arguments.vm_name)?;
        let found = place(site, group);
        let place = if arguments.provider == Some(Provider::Ssh) { found.ok() } else { Some(found?) };
        let before = argument::session("compare_session_id", arguments.compare_session_id.as_deref())?;
        let keep = argument::session("session_id", arguments.session_id.as_deref())?;
        if before.is_some() && before == keep {
            return Err(refuse("session_id names the baseline that is compared with; give another name"));
        }
        Ok(Wish {
            guest: Guest { machine, place, provider: arguments.provider },
            before,
            is_baseline: arguments.is_baseline,
            keep,
            flow: flow(arguments)?,
        })
    }

    fn look(&self, wish: &Wish, site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let before = wish.before.as_ref().map(|session| recalled(session, trail)).transpose()?;
        let bundle = wish.guest.gather(&WANTED, site, trail)?;
        let (machine, host) = (wish.guest.machine.as_str(), Host::read(&bundle));
        let mut seen = Seen::default();
        if wish.is_baseline || wish.keep.is_some() {
            keep(wish, bundle, trail, &mut seen)?;
        }
        let stops = stops(machine, &host);
        if let Some(flow) = &wish.flow {
            // What decides over the flow comes first.
            let found = flow.walk(&host, &stops, &mut seen)?;
            seen.suspect(found);
        }
        let all: Vec<Suspect> = stops.into_iter().flat_map(|stop| stop.suspects).collect();
        match &before {
            Some(before) => compared(machine, before, &host, all, &mut seen),
            None => seen.suspect(all),
        }
        facts(&host, &mut seen);
        if host.unread.is_empty() {
            seen.looked(Layer::Guest, machine);
        } else {
            seen.notes.push(format!("{} sources of rules could not be read", host.unread.len()));
        }
        Ok(seen)
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

fn recalled(session: &SessionId, trail: &mut Trail<'_, '_>) -> Result<Host, Halt> {
    let (kind, name) = (Kept::Netfilter.word().to_owned(), session.to_string());
    let text = trail.chore(Chore::Recall { kind, session: name })?;
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

fn keep(wish: &Wish, bundle: Bundle, trail: &mut Trail<'_, '_>, seen: &mut Seen) -> Result<(), Halt> {
    let session = wish.keep.as_ref().unwrap_or(&trail.bench().state.session).to_string();
    let scope = wish.guest.machine.as_str();
    let moment = trail.now().to_string();
    let trouble = |why: String| Issue::new(format!("keeping the rules of {scope}: {why}"));
    let snapshot = Snapshot::take(bundle, &session, scope, &moment, "ghost", wish.is_baseline)
        .map_err(|error| trouble(error.to_string()))?;
    let text = serde_json::to_string(&snapshot).map_err(|error| trouble(error.to_string()))?;
    trail.chore(Chore::Keep { kind: Kept::Netfilter.word().to_owned(), session: session.clone(), text })?;
    seen.fact("kept", session);
    Ok(())
}

/// Puts what came since a baseline first, and says what changed.
fn compared(machine: &str, before: &Host, host: &Host, all: Vec<Suspect>, seen: &mut Seen) {
    let old: Vec<Suspect> = stops(machine, before).into_iter().flat_map(|stop| stop.suspects).collect();
    let (mut came, stayed): (Vec<Suspect>, Vec<Suspect>) =
        all.into_iter().partition(|one| !old.iter().any(|other| other.is(one)));
    for one in &mut came {
        one.why.push_str("; it was not so in the baseline");
    }
    let found = diff_hosts(before, host);
    let new: Vec<String> = came.iter().map(|one| one.object.clone()).collect();
    seen.fact("compared", json!({"status": status(&found), "changes": changes(&found), "new_suspects": new}));
    seen.suspect(came);
    seen.suspect(stayed);
    for own in found.changes.iter().filter(|own| !own.change.churn) {
        let rule = own.change.rule.as_deref().unwrap_or_default();
        seen.line(&format!("changed: {} {} {rule}", own.source, own.change.detail));
    }
    if found.status == Status::Inconclusive {
        seen.notes.push("something could not be read on one side, so that nothing says CLEAN".to_owned());
    } else {
        seen.looked(Layer::GuestDrift, machine);
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

fn facts(host: &Host, seen: &mut Seen) {
    seen.fact("framework", host.framework.framework);
    seen.fact("rules", host.rules);
    for (source, ruleset) in host.rulesets() {
        for table in &ruleset.tables {
            for chain in &table.chains {
                if let Some(policy) = chain.policy.as_deref().filter(|_| chain.base.is_some()) {
                    seen.line(&format!("{source} {}/{} policy {policy}", table.name, chain.name));
                }
                for rule in &chain.rules {
                    seen.line(&format!(
                        "{source} {}/{} {}: {}",
                        table.name, chain.name, rule.position, rule.raw
                    ));
                }
            }
        }
    }
    for unread in &host.unread {
        seen.line(&format!("not read: {}: {}", unread.place, unread.what));
    }
}
