//! `detect_effective_network_drift`: what the platform applies now, against a baseline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Refused, refuse, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::suspect::{Ends, Layer, changed, plain};
use crate::tool::call_replay::CallReplay;
use crate::tool::{FileTask, Site, StoredKind};
use ghost_base::SessionId;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::effective::{Effective, EffectiveQuery, InterfaceResult, InterfaceScope, bundle};
use ghost_cloud::probe::topology::TopologyOperation;
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::effective::{self, Comparison, Kind, Options, Side, Snapshot, Status, Taken};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The machine; the one that the incident is about, where none is given.
    #[serde(default)]
    vm_name: String,
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
}

/// The checked arguments.
pub(super) struct Request {
    resource_group: ResourceGroup,
    machine: Name,
    before: Option<SessionId>,
    is_baseline: bool,
    keep: Option<SessionId>,
}

/// See the module.
pub(super) struct DetectEffectiveNetworkDrift;

impl Inspector for DetectEffectiveNetworkDrift {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = "detect_effective_network_drift";
    const FINDS_MACHINE: bool = true;
    const DESCRIPTION: &'static str = "Compares the effective routes and security rules of a machine with a baseline, or keeps them as \
        one. CLEAN is a result, too: everything was read on both sides and nothing differs. Example: {\"reasoning\":\"did the window \
        change anything?\",\"vm_name\":\"web-1\",\"compare_session_id\":\"eni_before\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        let before = argument::session("compare_session_id", arguments.compare_session_id.as_deref())?;
        let keep = argument::session("session_id", arguments.session_id.as_deref())?;
        if before.is_some() && before == keep {
            return Err(refuse("session_id names the baseline that is compared with; give another name"));
        }
        Ok(Request {
            resource_group: resource_group(site, group)?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            before,
            is_baseline: arguments.is_baseline,
            keep,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let before = request.before.as_ref().map(|session| recalled(session, request, replay)).transpose()?;
        let scope = InterfaceScope::Machine(request.machine.clone());
        let looked = replay.run(&mut Effective::all(
            &request.resource_group,
            &scope,
            &[EffectiveQuery::Routes, EffectiveQuery::Rules],
        ))??;
        let own = replay.context().state.session.clone();
        let taken = Taken {
            session: request.keep.clone().unwrap_or_else(|| own.clone()),
            baseline: request.is_baseline,
            scope: scoped(request),
            at: replay.now(),
            answers_at: None,
            by: None,
            tool: format!("ghost {}", env!("CARGO_PKG_VERSION")),
        };
        let (text, snapshot) = Snapshot::seal(&bundle(&looked), taken)
            .map_err(|error| Issue::new(format!("the state of {}: {error}", request.machine)))?;
        let mut inspection = Inspection::default();
        if request.is_baseline || request.keep.is_some() {
            let session = snapshot.taken.session.to_string();
            let kind = StoredKind::Effective.as_str().to_owned();
            replay.file_task(FileTask::Keep { kind, session: session.clone(), text })?;
            inspection.fact("kept", session);
        }
        let Some(before) = before else {
            inspection.notes.push("nothing was compared: no baseline was named".to_owned());
            return Ok(inspection);
        };
        let comparison = before.compare(&Side::from(snapshot), Options::default());
        // The owners of next hops matter only where something changed.
        let topology = match comparison.status {
            Status::Clean => ghost_cloud::probe::topology::Topology::default(),
            Status::Drift | Status::Inconclusive => {
                replay.run_or_reuse(&mut TopologyOperation::new(&request.resource_group))??
            }
        };
        let printed =
            |one: &InterfaceResult, what| one.text(what).map_or_else(|_| String::new(), str::to_owned);
        let now: Vec<(String, String, String)> = looked
            .iter()
            .map(|one| {
                (
                    one.interface.name.to_string(),
                    printed(one, EffectiveQuery::Routes),
                    printed(one, EffectiveQuery::Rules),
                )
            })
            .collect();
        let ends: Vec<Ends<'_>> =
            now.iter().map(|(nic, routes, rules)| Ends { nic, routes, rules }).collect();
        inspection.suspect(changed(request.machine.as_str(), &comparison, &ends, &topology));
        add_comparison(&comparison, &mut inspection);
        if comparison.status != Status::Inconclusive {
            inspection.looked(Layer::NetworkDrift, request.machine.as_str());
        }
        Ok(inspection)
    }
}

fn scoped(request: &Request) -> effective::Scope {
    effective::Scope {
        kind: Some("vm".to_owned()),
        name: Some(request.machine.to_string()),
        resource_group: Some(request.resource_group.group.to_string()),
    }
}

fn recalled(
    session: &SessionId,
    request: &Request,
    replay: &mut CallReplay<'_, '_>,
) -> Result<Side, Unfinished> {
    let (kind, name) = (StoredKind::Effective.as_str().to_owned(), session.to_string());
    let text = replay.file_task(FileTask::Recall { kind, session: name })?;
    if text.trim() == "null" {
        let hint = "look at the name in the question; a baseline is kept with is_baseline";
        return Err(Issue::hinted(format!("there is no baseline {session}"), hint).into());
    }
    let side = Side::parse(&text).map_err(|error| Issue::new(format!("the baseline {session}: {error}")))?;
    let other = side.taken.as_ref().is_some_and(|taken| taken.scope.contradicts(&scoped(request)));
    if other {
        let text = format!("the baseline {session} is about something else than {}", request.machine);
        return Err(Issue::new(text).into());
    }
    Ok(side)
}

fn add_comparison(comparison: &Comparison, inspection: &mut Inspection) {
    let change = |change: &effective::Change| -> Value {
        let kind = match change.kind {
            Kind::Added => "added",
            Kind::Removed => "removed",
            Kind::Changed => "changed",
        };
        let shown = if change.after.is_null() { &change.before } else { &change.after };
        let name = shown.get("name").and_then(Value::as_str).map(plain);
        json!({"nic": plain(&change.nic), "category": change.category.as_str(), "kind": kind, "name": name, "fields": change.fields})
    };
    let most: Vec<Value> = comparison.changes.iter().take(20).map(change).collect();
    inspection.fact("status", comparison.status.as_str());
    inspection.fact("changes", most);
    inspection.fact("change_count", comparison.changes.len());
    inspection.fact("baseline_sha256", comparison.baseline_sha256.as_str());
    inspection.fact("current_sha256", comparison.current_sha256.as_str());
    if !comparison.nic_errors.is_empty() {
        inspection.notes.push(format!(
            "{} parts could not be read, so that nothing says CLEAN",
            comparison.nic_errors.len()
        ));
    }
    for one in &comparison.changes {
        inspection.line(&format!("{} {} before {} after {}", one.nic, one.key, one.before, one.after));
    }
    for error in &comparison.nic_errors {
        inspection.line(&format!("{} {}: {}", error.side.as_str(), error.at, error.error));
    }
}
