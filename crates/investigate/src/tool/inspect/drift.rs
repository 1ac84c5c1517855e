//! `detect_effective_network_drift`: what the platform applies now, against a baseline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{self, Refused, place, refuse};
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Ends, Layer, changed, plain};
use crate::tool::errand::Trail;
use crate::tool::{Chore, Kept, Site};
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

/// What is asked.
pub(super) struct Wish {
    place: ResourceGroup,
    machine: Name,
    before: Option<SessionId>,
    is_baseline: bool,
    keep: Option<SessionId>,
}

/// See the module.
pub(super) struct DetectEffectiveNetworkDrift;

impl Inspector for DetectEffectiveNetworkDrift {
    type Arguments = Arguments;
    type Wish = Wish;
    const NAME: &'static str = "detect_effective_network_drift";
    const FINDS_MACHINE: bool = true;
    const DESCRIPTION: &'static str = "Compares the effective routes and security rules of a machine with a baseline, or keeps them as \
        one. CLEAN is a result, too: everything was read on both sides and nothing differs. Example: {\"reasoning\":\"did the window \
        change anything?\",\"vm_name\":\"web-1\",\"compare_session_id\":\"eni_before\"}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Wish, Refused> {
        let before = argument::session("compare_session_id", arguments.compare_session_id.as_deref())?;
        let keep = argument::session("session_id", arguments.session_id.as_deref())?;
        if before.is_some() && before == keep {
            return Err(refuse("session_id names the baseline that is compared with; give another name"));
        }
        Ok(Wish {
            place: place(site, group)?,
            machine: argument::name("vm_name", &arguments.vm_name)?,
            before,
            is_baseline: arguments.is_baseline,
            keep,
        })
    }

    fn look(&self, wish: &Wish, _site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let before = wish.before.as_ref().map(|session| recalled(session, wish, trail)).transpose()?;
        let scope = InterfaceScope::Machine(wish.machine.clone());
        let looked = trail.carry(&mut Effective::all(
            &wish.place,
            &scope,
            &[EffectiveQuery::Routes, EffectiveQuery::Rules],
        ))??;
        let own = trail.bench().state.session.clone();
        let taken = Taken {
            session: wish.keep.clone().unwrap_or_else(|| own.clone()),
            baseline: wish.is_baseline,
            scope: scoped(wish),
            at: trail.now(),
            answers_at: None,
            by: None,
            tool: format!("ghost {}", env!("CARGO_PKG_VERSION")),
        };
        let (text, snapshot) = Snapshot::seal(&bundle(&looked), taken)
            .map_err(|error| Issue::new(format!("the state of {}: {error}", wish.machine)))?;
        let mut seen = Seen::default();
        if wish.is_baseline || wish.keep.is_some() {
            let session = snapshot.taken.session.to_string();
            let kind = Kept::Effective.word().to_owned();
            trail.chore(Chore::Keep { kind, session: session.clone(), text })?;
            seen.fact("kept", session);
        }
        let Some(before) = before else {
            seen.notes.push("nothing was compared: no baseline was named".to_owned());
            return Ok(seen);
        };
        let comparison = before.compare(&Side::from(snapshot), Options::default());
        // Whose next hops are, matters where something came.
        let ground = match comparison.status {
            Status::Clean => ghost_cloud::probe::topology::Topology::default(),
            Status::Drift | Status::Inconclusive => {
                trail.around(&mut TopologyOperation::new(&wish.place))??
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
        seen.suspect(changed(wish.machine.as_str(), &comparison, &ends, &ground));
        told(&comparison, &mut seen);
        if comparison.status != Status::Inconclusive {
            seen.looked(Layer::NetworkDrift, wish.machine.as_str());
        }
        Ok(seen)
    }
}

fn scoped(wish: &Wish) -> effective::Scope {
    effective::Scope {
        kind: Some("vm".to_owned()),
        name: Some(wish.machine.to_string()),
        resource_group: Some(wish.place.group.to_string()),
    }
}

fn recalled(session: &SessionId, wish: &Wish, trail: &mut Trail<'_, '_>) -> Result<Side, Halt> {
    let (kind, name) = (Kept::Effective.word().to_owned(), session.to_string());
    let text = trail.chore(Chore::Recall { kind, session: name })?;
    if text.trim() == "null" {
        let hint = "look at the name in the question; a baseline is kept with is_baseline";
        return Err(Issue::hinted(format!("there is no baseline {session}"), hint).into());
    }
    let side = Side::parse(&text).map_err(|error| Issue::new(format!("the baseline {session}: {error}")))?;
    let other = side.taken.as_ref().is_some_and(|taken| taken.scope.contradicts(&scoped(wish)));
    if other {
        let text = format!("the baseline {session} is about something else than {}", wish.machine);
        return Err(Issue::new(text).into());
    }
    Ok(side)
}

fn told(comparison: &Comparison, seen: &mut Seen) {
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
    seen.fact("status", comparison.status.as_str());
    seen.fact("changes", most);
    seen.fact("change_count", comparison.changes.len());
    seen.fact("baseline_sha256", comparison.baseline_sha256.as_str());
    seen.fact("current_sha256", comparison.current_sha256.as_str());
    if !comparison.nic_errors.is_empty() {
        seen.notes.push(format!(
            "{} parts could not be read, so that nothing says CLEAN",
            comparison.nic_errors.len()
        ));
    }
    for one in &comparison.changes {
        seen.line(&format!("{} {} before {} after {}", one.nic, one.key, one.before, one.after));
    }
    for error in &comparison.nic_errors {
        seen.line(&format!("{} {}: {}", error.side.as_str(), error.at, error.error));
    }
}
